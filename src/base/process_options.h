/* process_options.h - the options that limit what the processes may take and do. */
#ifndef BARCODE_PROCESS_OPTIONS_H
#define BARCODE_PROCESS_OPTIONS_H

#include <stdint.h>

#include "log.h"
#include "option.h"
#include "sandbox.h"

struct process_options {
    int threads;         /* 1..1024; 0: one per core */
    uint64_t memory;     /* --memory: bytes for all films; 0: chosen */
    uint64_t max_pixels; /* --max-pixels, of a frame; 0: not given */
    enum sandbox_choice sandbox;
    enum log_level log; /* -q, -v, -vv */
};

extern const struct option_table process_options;

int process_threads(const struct process_options *o);

#endif
