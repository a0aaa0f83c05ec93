/* live_picture.h - one picture of a folder: when it was taken, and its frame. One thread. */
#ifndef BARCODE_LIVE_LIVE_PICTURE_H
#define BARCODE_LIVE_LIVE_PICTURE_H

#include "live_source.h"

struct live_picture {
    int64_t modified_ns; /* the file's modification, since 1970 */
    /*
     * EXIF's DateTimeOriginal, else the modification, else the present: the first that is no more
     * than a day in the future. Microseconds of UTC since 1970
     */
    int64_t time_us;
    struct orientation orientation;
};

/* Returns true for the name of a picture, by its ending. Hidden files are none. */
bool live_picture_is_name(const char *name);

/*
 * Describes the regular file `path` by its beginning. EXIF without a time zone is in that of the
 * process. Returns false if it cannot be read.
 */
bool live_picture_read(const char *path, struct live_picture *p);

/*
 * Decodes the picture and calls the sink for its frame, with `film`, which gets the picture's facts
 * and keeps its path. A file that is no picture is logged and passed over. Returns false if the
 * sink does, or if out of memory.
 */
bool live_picture_give(const char *path, const struct live_picture *p, const struct live_options *o,
                       struct film *film, const struct live_sink *sink, struct err *e);

#endif
