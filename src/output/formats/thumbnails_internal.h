/* thumbnails_internal.h - what thumbnail_set.c keeps, for thumbnail_sheets.c. */
#ifndef BARCODE_FORMATS_THUMBNAILS_INTERNAL_H
#define BARCODE_FORMATS_THUMBNAILS_INTERNAL_H

#include <pthread.h>

#include "barcode/output/thumbs.h"

/* The frame of a column that is a multiple of the stride. */
struct kept {
    uint8_t *rgb; /* [height][width][3]; NULL: no frame came */
    uint64_t frame;
    int64_t time_us;
};

struct thumbs {
    int from_width, from_height, width, height;
    size_t most;
    pthread_mutex_t lock; /* guards what follows */
    uint64_t stride;      /* a power of two */
    struct kept *slot;    /* [most], slot i for column i * stride; two of one frame share nothing */
};

#endif
