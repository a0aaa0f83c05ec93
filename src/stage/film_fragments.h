/*
 * film_fragments.h - fragments that are missing from a fragmented MP4: segments that a download of DASH or HLS left out.
 *
 * Each fragment has a number, one more than the fragment's before it (ISO/IEC 14496-12, 8.8.5), and the time at which it begins. libavformat
 * goes by the times. A jump of the times alone is none: films of variable rate have such. Nor is one of the numbers alone: packagers count
 * as they like.
 */
#ifndef BARCODE_FILM_FRAGMENTS_H
#define BARCODE_FILM_FRAGMENTS_H

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

struct film_fragments {
    int64_t next;            /* the first box of the file that was not looked at; -1: there are no fragments to look for */
    int64_t frame;           /* how long a picture stays, in the stream's time base; 0: unknown */
    int64_t dts, at;         /* the last packet's time and place, of any container; AV_NOPTS_VALUE, -1: none came that has one */
    unsigned others;         /* boxes that are no fragments' heads, since the last one */
    uint32_t number, step;   /* of the last fragment; the least from one to the next, 0: none is known yet */
};

void film_fragments_open(struct film_fragments *f, const AVFormatContext *format, AVStream *stream);

/* True if fragments are missing right before `packet`, the stream's next one. The file's position stays. */
bool film_fragments_lost(struct film_fragments *f, const AVFormatContext *format, const AVPacket *packet);

#endif
