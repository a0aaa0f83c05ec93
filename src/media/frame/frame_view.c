#include "frame_view.h"

#include <libavutil/pixdesc.h>

#include "colour_tags.h"
#include "pixfmt.h"

bool view_format_known(enum AVPixelFormat format)
{
    return view_format_direct(format) || unpack_knows(format);
}

static int plane_side(int size, int shift) { return -(-size >> shift); }

static struct plane plane_of(const AVFrame *frame, const AVPixFmtDescriptor *d, int component,
                             bool chroma)
{
    const AVComponentDescriptor *c = &d->comp[component];
    return (struct plane){
        .data = frame->data[c->plane] + c->offset,
        .pitch = frame->linesize[c->plane],
        .step = c->step,
        .width = chroma ? plane_side(frame->width, d->log2_chroma_w) : frame->width,
        .height = chroma ? plane_side(frame->height, d->log2_chroma_h) : frame->height,
    };
}

bool view_of_frame(const AVFrame *frame, const struct film *film, AVFrame **planes,
                   struct frame_view *view, struct err *e)
{
    enum AVPixelFormat coded = frame->format;
    if (!view_format_known(coded)) {
        const char *name = av_get_pix_fmt_name(coded);
        return err_set(e, ERR_INPUT, "cannot decode '%s': pixel format '%s' is not supported",
                       film->path, name ? name : "unknown");
    }
    *view = (struct frame_view){
        .orientation = film->orientation, .width = frame->width, .height = frame->height};
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
    for (int i = 0; i < (grey ? 1 : 3); i++)
        view->plane[i] = plane_of(frame, d, i, !rgb && i > 0);
    if (d->flags & AV_PIX_FMT_FLAG_ALPHA && !film->alpha_unused)
        view->alpha = plane_of(frame, d, d->nb_components - 1, false);
    return true;
}
