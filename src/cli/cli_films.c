#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cli_values.h"

bool cli_parse_shard(const char *text, struct options *o, struct err *e)
{
    enum { SHARDS_MOST = 100000 };
    const char *slash = strchr(text, '/');
    char *first = slash ? strndup(text, (size_t)(slash - text)) : NULL;
    uint64_t shard, shards;
    bool good = first && cli_read_whole(slash + 1, 1, SHARDS_MOST, &shards) &&
                cli_read_whole(first, 1, shards, &shard);
    free(first);
    if (!good)
        return err_set(e, ERR_USAGE,
                       "--shard: '%s' is not I/N, a number from 1 to N and the number of shards",
                       text);
    o->inputs.shard = (int)shard;
    o->inputs.shards = (int)shards;
    return true;
}

bool cli_parse_rate(const char *text, struct options *o, struct err *e)
{
    enum { RATE_MOST = 1000000, DECIMALS_MOST = 3 };
    uint64_t num = 0, den = 1, decimals = 0;
    const char *split = strpbrk(text, "./");
    char *first = split ? strndup(text, (size_t)(split - text)) : NULL;
    bool good = cli_read_whole(first ? first : text, 0, RATE_MOST, &num);
    if (first && *split == '/')
        good = good && cli_read_whole(split + 1, 1, RATE_MOST, &den);
    else if (first) {
        size_t digits = strlen(split + 1);
        good =
            good && digits <= DECIMALS_MOST && cli_read_whole(split + 1, 0, RATE_MOST, &decimals);
        for (size_t i = 0; i < digits && good; i++)
            den *= 10;
        num = num * den + decimals;
    }
    free(first);
    if (!good || num == 0 || num > den * 1000)
        return err_set(e, ERR_USAGE,
                       "--rate: '%s' is not a number of images a second such as 24, 23.976 or "
                       "30000/1001 (at most 1000)",
                       text);
    o->inputs.rate_num = (int64_t)num;
    o->inputs.rate_den = (int64_t)den;
    return true;
}

bool cli_parse_name(const char *text, struct options *o, struct err *e)
{
    if (!*text || strchr(text, '/'))
        return err_set(e, ERR_USAGE, "--name: '%s' is not a file name", text);
    for (const char *c = text + strcspn(text, "{}"); *c; c += strcspn(c, "{}")) {
        size_t length = strcspn(c, "}") + 1;
        if (strncmp(c, OUTPUTS_NAME_STEM, length) != 0 &&
            strncmp(c, OUTPUTS_NAME_MODE, length) != 0)
            return err_set(e, ERR_USAGE,
                           "--name: '%s' has a brace outside of " OUTPUTS_NAME_STEM
                           " or " OUTPUTS_NAME_MODE,
                           text);
        c += length;
    }
    o->outputs.name = text;
    return true;
}
