/*
 * film_table.h - an MP4's table of pictures against the pictures that came of it.
 */
#ifndef BARCODE_FILM_TABLE_H
#define BARCODE_FILM_TABLE_H

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * True if fewer packets `came` of the stream than an MP4's table has entries, or if that has fewer than it says that the film has pictures.
 * Edit lists leave entries out, which nothing tells: only who reads the table again without them knows. False of other containers.
 */
bool film_table_lacks(const AVFormatContext *format, const AVStream *stream, uint64_t came);

#endif
