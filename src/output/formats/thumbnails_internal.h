/* thumbnails_internal.h - the thumbnail set of thumbnail_set.c, shared with thumbnail_sheets.c. */
#ifndef BARCODE_FORMATS_THUMBNAILS_INTERNAL_H
#define BARCODE_FORMATS_THUMBNAILS_INTERNAL_H

#include <pthread.h>

#include "thumbs.h"

/* The thumbnail of a column that is a multiple of the stride. */
struct kept {
    uint8_t *rgb; /* [height][width][3]; NULL: no frame arrived */
    uint64_t frame;
    int64_t time_us;
};

struct thumbs {
    int from_width, from_height, width, height;
    size_t most;
    pthread_mutex_t lock; /* guards the fields below */
    uint64_t stride;      /* a power of two */
    struct kept *slot;    /* [most], slot i for column i * stride; each slot owns its pixels */
};

#endif
