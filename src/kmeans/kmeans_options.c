#include "barcode/kmeans/kmeans.h"

#include "base/option.h"

#define OPTION_STRUCT struct kmeans_params

static const char *init_word(size_t i)
{
    return i <= INIT_RANDOM ? kmeans_init_name((enum kmeans_init)i) : NULL;
}

static const struct option_row rows[] = {
    {"clusters", "N", "clusters per frame, 1 to 64 (8)", 'k', OPTION_COLOURS, .common = true,
     OPTION_WHOLE(k, 1, 64)},
    {"n-init", "N", "k-means restarts; the best is kept (20)", .group = OPTION_COLOURS,
     OPTION_WHOLE(n_init, 1, 1000)},
    {"no-race", NULL, "finish every restart, as scikit-learn does; palette and all always do",
     .group = OPTION_COLOURS, OPTION_UNSET(race)},
    {"init", "METHOD", "seeding: scalable (default), k-means++, random", .group = OPTION_COLOURS,
     .word_at = init_word, OPTION_WORD(init)},
    {"max-iter", "N", "limit of iterations per restart (300)", .group = OPTION_COLOURS,
     OPTION_WHOLE(max_iter, 1, 100000)},
    {"seed", "N", "random seed (0)", .group = OPTION_COLOURS, OPTION_WHOLE(seed, 0, UINT64_MAX)},
    {0}};

static const struct kmeans_params defaults = {
    .k = 8, .n_init = 20, .max_iter = 300, .init = INIT_SCALABLE, .seed = 0, .race = true};

const struct option_table kmeans_options = {rows, &defaults, sizeof defaults};
