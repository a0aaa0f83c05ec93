/*
 * film_more.h - pictures of a file that no reader of its film comes to: what stands behind the film, and streams that go on where its own
 * ends.
 */
#ifndef BARCODE_FILM_MORE_H
#define BARCODE_FILM_MORE_H

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * True if another film stands behind the first one in an MP4 (two were joined byte by byte): a second `moov` of which libavformat takes
 * no notice. Not of a fragmented one, of which it reads on. The file's position stays.
 */
bool film_more_behind(const AVFormatContext *format);

/*
 * An MPEG-TS was read to its end, where `stream`'s last packet began at `last`: true if another video stream, of which there is nothing at the
 * film's beginning nor in the last megabytes of it, goes on behind it, for some recorders give the pictures another PID in mid-film. The file's position stays.
 */
bool film_more_goes_on(const AVFormatContext *format, const AVStream *stream, int64_t last);

#endif
