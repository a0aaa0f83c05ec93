/*
 * read_ahead.h - packets that are read for a fact of the film, and returned again when the film is
 * read. A pipe cannot be read twice, and libavformat's probing has read the first packets anyway.
 */
#ifndef BARCODE_CONTAINER_READ_AHEAD_H
#define BARCODE_CONTAINER_READ_AHEAD_H

#include <libavformat/avformat.h>
#include <stdbool.h>

/*
 * Reads the next packet and keeps it for container_read. Sets *packet to it, owned by `format`, or
 * to NULL at the end of the film or after an error. Returns false if out of memory.
 */
bool container_read_ahead(AVFormatContext *format, const AVPacket **packet);

/* Reads as av_read_frame does, the packets of container_read_ahead first. */
int container_read(AVFormatContext *format, AVPacket *packet);

/* Seeks as av_seek_frame does, and drops the packets of container_read_ahead. */
int container_seek(AVFormatContext *format, int stream, int64_t time, int flags);

/* Frees the packets of container_read_ahead. */
void container_drop_ahead(AVFormatContext *format);

#endif
