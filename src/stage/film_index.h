/*
 * film_index.h - which pictures a film's own index has that the demuxer did not find.
 *
 * After a hole an AVI's demuxer looks for the next chunk and goes on counting from there, in silence. The index names every
 * chunk: where it lies and its time. A picture that no packet came of is lost if the file really is torn there: indexes are
 * wrong more often than films are damaged, and what lies chunk by chunk lost nothing.
 */
#ifndef BARCODE_FILM_INDEX_H
#define BARCODE_FILM_INDEX_H

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/err.h"

struct film_index_entry {
    int64_t at, time;        /* of the chunk's head in the file; in the stream's time base */
};

struct film_index {
    struct film_index_entry *entry;     /* [count], of chunks that have bytes; NULL: there is none to be believed */
    size_t count;
    size_t next;             /* the entry after that of the last packet that has one    */
    size_t strange;          /* packets since then that no entry has                    */
    bool found;              /* some packet had an entry                                */
    int64_t last_dts;        /* of the last packet that has an entry, as the demuxer counts */
    int64_t shift;           /* what the demuxer's count lacks                          */
};

/*
 * Copies the stream's index, as it is before anything is read: libavformat adds to it what it finds. None of a container
 * other than AVI, or of a pipe. film_index_close frees it.
 */
bool film_index_open(struct film_index *x, const AVFormatContext *format, const AVStream *stream, struct err *e);

/*
 * How many pictures are lost right before `packet`, of this stream, or before the film's end (NULL); *first is the first one's
 * entry, which the others' follow. Corrects the packet's times. The file's position stays.
 */
size_t film_index_lost(struct film_index *x, AVIOContext *file, AVPacket *packet, const struct film_index_entry **first);

void film_index_close(struct film_index *x);

#endif
