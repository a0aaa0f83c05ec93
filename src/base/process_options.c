#include "process_options.h"

#include "limits.h"

#define OPTION_STRUCT struct process_options

static bool set_memory(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    const uint64_t least = (uint64_t)256 << 20;
    struct process_options *o = options;
    if (!option_read_bytes(arg, &o->memory) || o->memory < least)
        return err_set(e, ERR_USAGE, "--%s: '%s' is not a size such as 500M or 2G (at least 256M)",
                       row->name, arg);
    return true;
}

static bool set_quiet(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct process_options *o = options;
    (void)row, (void)arg, (void)e;
    o->log = LOG_ERROR;
    return true;
}

static bool set_verbose(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct process_options *o = options;
    (void)row, (void)arg, (void)e;
    o->log = o->log < LOG_VERBOSE ? LOG_VERBOSE : LOG_DEBUG;
    return true;
}

static const struct option_row rows[] = {
    {"threads", "N", "number of threads (one per core)", .group = OPTION_RUN,
     OPTION_WHOLE(threads, 1, 1024)},
    {"memory", "SIZE", "memory for all films at once (15/16 of what is allowed)",
     .group = OPTION_RUN, OPTION_CUSTOM(set_memory)},
    {"max-pixels", "N", "refuse films with larger frames (134217728)", .group = OPTION_EXPERTS,
     OPTION_WHOLE(max_pixels, 1, INT64_MAX)},
    {"sandbox", "WHEN",
     "confine the processes that decode: auto (default, as far as the kernel can), require, off",
     .group = OPTION_RUN, .words = OPTION_WORDS("auto", "require", "off"), OPTION_WORD(sandbox)},
    {"quiet", NULL, "print errors only", 'q', OPTION_RUN, OPTION_CUSTOM(set_quiet)},
    {"verbose", NULL, "print more; twice for debugging", 'v', OPTION_RUN,
     OPTION_CUSTOM(set_verbose)},
    {0}};

static const struct process_options defaults = {.log = LOG_INFO};

const struct option_table process_options = {rows, &defaults, sizeof defaults};

int process_threads(const struct process_options *o)
{
    return o->threads > 0 ? o->threads : machine_cores();
}
