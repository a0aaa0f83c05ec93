/*
 * film_cut.h - files that are shorter than they say.
 *
 * libavformat shortens a film's length to what is there, or forgets it. Only the head of the container, or a page that breaks
 * off at the file's end, tells that there was more.
 */
#ifndef BARCODE_FILM_CUT_H
#define BARCODE_FILM_CUT_H

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

struct film_cut {
    bool off;               /* the file is shorter than it says                              */
    int64_t duration_us;    /* then: how long the film was, -1 where nothing says so         */
    int64_t slack_us;       /* then: by so much a whole film's last picture may begin before */
};

/* AVI, ASF, FLV, Ogg, RealMedia and SWF; film_end.h has others. The file's position stays. */
struct film_cut film_cut_of(const AVFormatContext *format, const AVStream *stream);

/*
 * How long the pictures last, where the container only says how long the longest stream does, goes on as long as that, and has no more
 * pictures long before; -1 elsewhere. FLV. The file's position stays.
 */
int64_t film_cut_pictures(const AVFormatContext *format, const AVStream *stream);

/* True if the file is as long as it says that it is, so that pictures that end before it have sound behind them. ASF. */
bool film_cut_is_whole(const AVFormatContext *format, const struct film_cut *cut);

#endif
