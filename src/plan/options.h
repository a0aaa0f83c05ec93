/* options.h - the parsed and checked command line: the options of all rooms. */
#ifndef BARCODE_OPTIONS_H
#define BARCODE_OPTIONS_H

#include "base/process_options.h"
#include "batch/batch_options.h"
#include "cache/cache_options.h"
#include "engine/engines.h"
#include "live/live_options.h"
#include "media/film_options.h"
#include "output/formats/format_options.h"
#include "output/picture_options.h"
#include "output/poster/poster.h"
#include "inputs_options.h"
#include "outputs_options.h"

struct options {
    struct inputs_options inputs;
    struct film_options film;
    struct kmeans_params kmeans; /* race: false if strips_forbid_race */
    struct engine_options engine;
    struct picture_options picture;
    struct poster_options poster;
    struct format_options formats;
    struct outputs_options outputs;
    struct cache_options cache; /* of analysis frames */
    struct live_run_options live;
    struct process_options process;
    struct batch_options batch;
};

#endif
