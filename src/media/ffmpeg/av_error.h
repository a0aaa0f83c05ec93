/* av_error.h - errors of libav as sentences. */
#ifndef BARCODE_FFMPEG_AV_ERROR_H
#define BARCODE_FFMPEG_AV_ERROR_H

#include <stdbool.h>

#include "barcode/base/err.h"

/* Fills `e` (ERR_MEMORY): libavcodec was out of memory for the film `path`. Returns false. */
bool av_out_of_memory(const char *path, struct err *e);

/* Returns the text of a libav error, such as "Invalid data found", in text[]. */
const char *av_error_text(int code, char text[128]);

#endif
