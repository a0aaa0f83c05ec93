/* ffmpeg.h - what FFmpeg's libraries know beside films: their versions, and colours by name. */
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

#endif
