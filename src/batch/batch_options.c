#include "batch_options.h"

#define OPTION_STRUCT struct batch_options

static const struct option_row rows[] = {
    {"jobs", "N", "films at once (enough to keep the cores busy)", 'j', OPTION_RUN, .by_name = true,
     OPTION_WHOLE(jobs, 1, BATCH_JOBS_MOST)},
    {"film-timeout", "TIME", "give up a film that takes longer than TIME", .group = OPTION_RUN,
     OPTION_TIME(film_timeout_us, 1)},
    {"progress", "WHEN", "auto (default: on a terminal), always, never", .group = OPTION_RUN,
     .words = OPTION_WORDS("auto", "always", "never"), OPTION_WORD(progress)},
    {0}};

static const struct batch_options defaults = {.jobs = 0};

const struct option_table batch_options = {rows, &defaults, sizeof defaults};
