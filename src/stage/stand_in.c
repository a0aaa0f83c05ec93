/*
 * stand_in.c - what HEVC's decoder fills with grey in place of pictures that are not there.
 *
 * A key frame of an open GOP names the pictures that those which lead it refer to. A decoder that starts there has none of them and makes
 * them up, four or five of them, and fills each: 30 MB at 1080p and 10 bits. A look for bars at seven key frames had the kernel hand
 * out 50,000 pages for these (tests/bench/RESULTS.md, "pictures that stand in").
 */
#include <libavutil/pixdesc.h>
#include <string.h>

#include "av.h"

enum { EDGE = 128 };              /* samples on either side: what is predicted from beyond a picture is read no further off, or from a copy */

/* The grey that libavcodec 59 and 60 write themselves, but only as far as a picture's rows lie apart. */
static void fill(uint8_t *row, size_t samples, int depth)
{
    uint16_t grey = (uint16_t)(1 << (depth - 1));
    for (size_t i = 0; i < samples; i++)
        if (depth > 8)
            memcpy(row + 2 * i, &grey, 2);
        else
            row[i] = (uint8_t)grey;
}

/* A row for such pictures: the one that is there, if it is of their kind, grey anew whatever came of it. False without memory. */
static bool make_row(struct stand_in *s, const AVFrame *frame, int depth)
{
    size_t samples = (size_t)frame->width + (size_t)2 * EDGE;
    if (!s->row || s->format != frame->format || s->width != frame->width) {
        av_buffer_unref(&s->row);         /* pictures that have it keep it */
        s->row = av_buffer_alloc(samples * (depth > 8 ? 2 : 1));
    }
    if (!s->row)
        return false;
    s->format = frame->format;
    s->width = frame->width;
    fill(s->row->data, samples, depth);
    return true;
}

int stand_in_lend(struct stand_in *s, AVFrame *frame)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(frame->format);
    if (!d || frame->width <= 0)
        return AVERROR(EINVAL);
    int depth = d->comp[0].depth;
    if (!make_row(s, frame, depth) || !(frame->buf[0] = av_buffer_ref(s->row)))
        return AVERROR(ENOMEM);
    for (int i = 0; i < d->nb_components; i++) {
        frame->data[d->comp[i].plane] = s->row->data + (ptrdiff_t)EDGE * (depth > 8 ? 2 : 1);
        frame->linesize[d->comp[i].plane] = 0;
    }
    frame->extended_data = frame->data;
    return 0;
}

bool stand_in_is(const struct stand_in *s, const AVFrame *frame)
{
    return s->row && frame->buf[0] && frame->data[0] && frame->linesize[0] == 0;
}

void stand_in_close(struct stand_in *s)
{
    av_buffer_unref(&s->row);
}
