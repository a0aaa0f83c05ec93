/* batch_options.h - the options of a run over many films. */
#ifndef BARCODE_BATCH_OPTIONS_H
#define BARCODE_BATCH_OPTIONS_H

#include <stdint.h>

#include "base/option.h"
#include "base/progress.h"

enum { BATCH_JOBS_MOST = 64 };

struct batch_options {
    int jobs;                /* films in progress at once: 1..BATCH_JOBS_MOST; 0: chosen */
    int64_t film_timeout_us; /* --film-timeout; 0: none */
    enum progress_when progress;
};

extern const struct option_table batch_options;

#endif
