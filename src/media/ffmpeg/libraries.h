/* libraries.h - which libraries decode films in this process. */
#ifndef BARCODE_LIBRARIES_H
#define BARCODE_LIBRARIES_H

#include <stddef.h>

/*
 * Writes a line for FFmpeg and, if libavcodec has the decoder libdav1d, a line for dav1d. The
 * versions are those of the loaded libraries, which may be newer than the headers. Any thread.
 */
void libraries_describe(char *text, size_t size);

#endif
