#include <stdlib.h>
#include <string.h>

#include "barcode/cli.h"
#include "cli_values.h"

bool cli_parse_shard(const char *text, struct options *o, struct err *e)
{
    enum { SHARDS_MOST = 100000 };
    const char *slash = strchr(text, '/');
    char *first = slash ? strndup(text, (size_t)(slash - text)) : NULL;
    uint64_t shard, shards;
    bool good = first && cli_read_whole(slash + 1, 1, SHARDS_MOST, &shards) && cli_read_whole(first, 1, shards, &shard);
    free(first);
    if (!good)
        return err_set(e, ERR_USAGE, "--shard: '%s' is not I/N, a number from 1 to N and the number of shards", text);
    o->shard = (int)shard;
    o->shards = (int)shards;
    return true;
}
