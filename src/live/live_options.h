/* live_options.h - the options of --live. */
#ifndef BARCODE_LIVE_OPTIONS_H
#define BARCODE_LIVE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/option.h"

/* --serve */
struct serve_address {
    char host[256]; /* a name or an address, without brackets */
    uint16_t port;  /* 0: the kernel chooses */
    bool given;
};

/* --live-format, for -o - */
enum live_format { LIVE_FORMAT_NONE, LIVE_FORMAT_RGB, LIVE_FORMAT_JSONL };

/* When a day of --live begins. */
struct live_day_rule {
    bool local;  /* by the time zone of the process; else UTC */
    int minutes; /* after 0:00 */
};

struct live_run_options {
    int64_t column_us;          /* --live: the time of a column; 0: not given */
    int64_t timeout_us;         /* --timeout */
    struct serve_address serve; /* --serve */
    enum live_format format;    /* --live-format; LIVE_FORMAT_NONE: not given */
    struct live_day_rule day;   /* --day */
};

extern const struct option_table live_options;

/* Returns true if columns are shown while they are made. */
bool live_is_shown(const struct live_run_options *o);

#endif
