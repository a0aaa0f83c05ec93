#include "inputs_options.h"

#include <stdlib.h>
#include <string.h>

#define OPTION_STRUCT struct inputs_options

/* Parses "2/8". */
static bool set_shard(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct inputs_options *o = options;
    (void)row;
    enum { SHARDS_MOST = 100000 };
    const char *slash = strchr(arg, '/');
    char *first = slash ? strndup(arg, (size_t)(slash - arg)) : NULL;
    uint64_t shard, shards;
    bool good = first && option_read_whole(slash + 1, 1, SHARDS_MOST, &shards) &&
                option_read_whole(first, 1, shards, &shard);
    free(first);
    if (!good)
        return err_set(e, ERR_USAGE,
                       "--shard: '%s' is not I/N, a number from 1 to N and the number of shards",
                       arg);
    o->shard = (int)shard;
    o->shards = (int)shards;
    return true;
}

/* Parses "24", "23.976" or "30000/1001". */
static bool set_rate(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct inputs_options *o = options;
    (void)row;
    enum { RATE_MOST = 1000000, DECIMALS_MOST = 3 };
    uint64_t num = 0, den = 1, decimals = 0;
    const char *split = strpbrk(arg, "./");
    char *first = split ? strndup(arg, (size_t)(split - arg)) : NULL;
    bool good = option_read_whole(first ? first : arg, 0, RATE_MOST, &num);
    if (first && *split == '/')
        good = good && option_read_whole(split + 1, 1, RATE_MOST, &den);
    else if (first) {
        size_t digits = strlen(split + 1);
        good = good && digits <= DECIMALS_MOST &&
               option_read_whole(split + 1, 0, RATE_MOST, &decimals);
        for (size_t i = 0; i < digits && good; i++)
            den *= 10;
        num = num * den + decimals;
    }
    free(first);
    if (!good || num == 0 || num > den * 1000)
        return err_set(e, ERR_USAGE,
                       "--rate: '%s' is not a number of images a second such as 24, 23.976 or "
                       "30000/1001 (at most 1000)",
                       arg);
    o->rate_num = (int64_t)num;
    o->rate_den = (int64_t)den;
    return true;
}

static const struct option_row rows[] = {
    {"recursive", NULL, "include subfolders, also for the outputs", 'r', OPTION_FILMS,
     .common = TASK_FILMS, OPTION_FLAG(recursive)},
    {"any", NULL, "in a FOLDER, take files of any name (GIF, APNG)", .group = OPTION_FILMS,
     OPTION_FLAG(any)},
    {"join", NULL, "all FILMs are one film, in this order", .group = OPTION_FILMS,
     OPTION_FLAG(join)},
    {"no-join", NULL, "do not join a film's chapters (GoPro, DVD)", .group = OPTION_FILMS,
     OPTION_FLAG(no_join)},
    {"playlists", NULL, "read playlists by any name (.m3u8, .m3u, .ffconcat: always)",
     .group = OPTION_FILMS, OPTION_FLAG(playlists)},
    {"sequence", NULL, "the images of a FOLDER are one film", .group = OPTION_FILMS,
     OPTION_FLAG(sequence)},
    {"rate", "N", "images a second in a film of images: 12, 23.976 or 30000/1001 (24)",
     .group = OPTION_FILMS, OPTION_CUSTOM(set_rate)},
    {"shard", "I/N", "do only share I (from 1) of N shares of the films", .group = OPTION_FILMS,
     OPTION_CUSTOM(set_shard)},
    {0}};

static const struct inputs_options defaults = {.count = 0};

const struct option_table inputs_options = {rows, &defaults, sizeof defaults};
