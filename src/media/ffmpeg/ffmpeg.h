/* ffmpeg.h - what FFmpeg's libraries know beside films. */
#ifndef BARCODE_FFMPEG_FFMPEG_H
#define BARCODE_FFMPEG_FFMPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes a line for FFmpeg and, if libavcodec has the decoder libdav1d, a line for dav1d. The
 * versions are those of the loaded libraries, which may be newer than the headers. Any thread.
 */
void libraries_describe(char *text, size_t size);

/*
 * Parses "#1c2b3a" or "#fff" (also without #), or a colour of CSS by its name in any case ("navy",
 * "DarkSlateGrey") as R'G'B' of sRGB. Returns false if the text is none of these. Any thread.
 */
bool colour_name_parse(const char *text, uint8_t rgb[3]);

/* Writes base64 (RFC 4648), (size + 2) / 3 * 4 characters and a 0, and returns their number without
 * the 0. A piece that is not the last of its text must have a multiple of 3 bytes. Any thread. */
size_t base64_encode(const void *data, size_t size, char *out);

/* Continues the CRC of ISO 3309 (zlib's, PNG's), without its inversions. Any thread. */
uint32_t crc32_add(uint32_t crc, const uint8_t *bytes, size_t size);

#endif
