#include <libavutil/pixdesc.h>
#include <string.h>

#include "av.h"

bool view_format_direct(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    const uint64_t never = AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL |
                           AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BAYER;
    if (!d || d->flags & never || d->comp[0].depth < 8)
        return false;
    int colours = d->nb_components - (d->flags & AV_PIX_FMT_FLAG_ALPHA ? 1 : 0);
    if (colours != 1 && colours != 3)
        return false;
    bool wide = d->comp[0].depth > 8;
    for (int i = 0; i < colours; i++) {
        bool same = d->comp[i].depth == d->comp[0].depth && d->comp[i].shift == d->comp[0].shift;
        bool native = !wide || (!(d->flags & AV_PIX_FMT_FLAG_BE) && d->comp[i].offset % 2 == 0 && d->comp[i].step % 2 == 0);
        bool whole = wide ? d->comp[i].shift + d->comp[i].depth <= 16 : d->comp[i].shift == 0;
        if (!same || !native || !whole || d->comp[i].depth > 16)
            return false;
    }
    /* Not our colours; and luma samples at uneven distances, whatever the descriptor says. */
    return strcmp(d->name, "xyz12le") != 0 && strcmp(d->name, "uyyvyy411") != 0;
}

bool view_format_known(enum AVPixelFormat format)
{
    return view_format_direct(format) || unpack_knows(format);
}

static int shifted(int size, int shift)
{
    return -(-size >> shift);
}

bool view_of_frame(const AVFrame *frame, const struct film *film, AVFrame **planes, struct frame_view *view, struct err *e)
{
    enum AVPixelFormat coded = frame->format;
    if (!view_format_known(coded)) {
        const char *name = av_get_pix_fmt_name(coded);
        return err_set(e, ERR_INPUT, "'%s': pixel format '%s' cannot be read", film->path, name ? name : "unknown");
    }
    *view = (struct frame_view){.orientation = film->orientation, .width = frame->width, .height = frame->height};
    film_colour_of_frame(frame, coded, film, view);
    if (!view_format_direct(coded)) {
        if (!unpack_frame(planes, frame, e))
            return false;
        frame = *planes;
    }
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(frame->format);
    bool rgb = d->flags & AV_PIX_FMT_FLAG_RGB, grey = d->nb_components < 3;
    view->model = rgb ? MODEL_RGB : grey ? MODEL_GREY : MODEL_YCBCR;
    view->bits = d->comp[0].depth;
    view->shift = d->comp[0].shift;
    for (int i = 0; i < (grey ? 1 : 3); i++) {
        const AVComponentDescriptor *c = &d->comp[i];
        bool chroma = !rgb && i > 0;
        view->plane[i] = (struct plane){
            .data = frame->data[c->plane] + c->offset, .pitch = frame->linesize[c->plane], .step = c->step,
            .width = chroma ? shifted(frame->width, d->log2_chroma_w) : frame->width,
            .height = chroma ? shifted(frame->height, d->log2_chroma_h) : frame->height,
        };
    }
    return true;
}
