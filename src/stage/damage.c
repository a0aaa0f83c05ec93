/*
 * damage.c - what libavcodec knows and tells of damage, and what it does not.
 */
#include <libavutil/avstring.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <string.h>

#include "av.h"
#include "av_compat.h"

/* A mark stands in every square of this size, the smallest that a coding tree block has. */
enum { SQUARE = 16 };

static bool may_be_marked(const AVFrame *frame, const AVPixFmtDescriptor **d)
{
    *d = av_pix_fmt_desc_get(frame->format);
    return *d && (*d)->nb_components == 3 && (*d)->comp[1].plane == 1 && (*d)->comp[2].plane == 2 &&
           !((*d)->flags & AV_PIX_FMT_FLAG_RGB);
}

static uint8_t *sample_at(const AVFrame *frame, const AVPixFmtDescriptor *d, int plane, int x, int y)
{
    if (plane > 0) {
        x >>= d->log2_chroma_w;
        y >>= d->log2_chroma_h;
    }
    return frame->data[plane] + (ptrdiff_t)y * frame->linesize[plane] + (ptrdiff_t)x * d->comp[plane].step;
}

/* The brightest luma with the lowest chroma: outside RGB, so that hardly any film shows it. */
static int mark_of(const AVPixFmtDescriptor *d, int plane)
{
    return plane == 0 ? (1 << d->comp[0].depth) - 1 : 0;
}

static void put(uint8_t *sample, int step, int value)
{
    uint16_t wide = (uint16_t)value;
    if (step == 2)
        memcpy(sample, &wide, 2);
    else
        *sample = (uint8_t)value;
}

static int get(const uint8_t *sample, int step)
{
    uint16_t wide = *sample;
    if (step == 2)
        memcpy(&wide, sample, 2);
    return wide;
}

/* In the middle of a square; in one that the edge cuts, at the edge. */
static int place(int square, int size)
{
    int at = square * SQUARE + SQUARE / 2;
    return at < size ? at : size - 1;
}

static void mark(const AVFrame *frame)
{
    const AVPixFmtDescriptor *d;
    if (!may_be_marked(frame, &d))
        return;
    for (int v = 0; v * SQUARE < frame->height; v++)
        for (int u = 0; u * SQUARE < frame->width; u++)
            for (int c = 0; c < 3; c++)
                put(sample_at(frame, d, c, place(u, frame->width), place(v, frame->height)), d->comp[c].step, mark_of(d, c));
}

/* A mark that is left: a lone one, for a film may show a whole area of its colour. */
static bool is_marked(const AVFrame *frame, const AVPixFmtDescriptor *d, int x, int y)
{
    for (int c = 0; c < 3; c++)
        if (get(sample_at(frame, d, c, x, y), d->comp[c].step) != mark_of(d, c))
            return false;
    return x > 0 && get(sample_at(frame, d, 0, x - 1, y), d->comp[0].step) != mark_of(d, 0);
}

/* The sample of the plane to the left of the one at x > 0. */
static int beside(const AVPixFmtDescriptor *d, int plane, int x)
{
    return plane == 0 ? x - 1 : x - (1 << d->log2_chroma_w);
}

/* How many marks are left; `clear`: they turn into what is beside them, which was not decoded either. */
static int count_marks(const AVFrame *frame, bool clear)
{
    const AVPixFmtDescriptor *d;
    int left = 0;
    if (!may_be_marked(frame, &d))
        return 0;
    for (int v = 0; v * SQUARE < frame->height; v++)
        for (int u = 0; u * SQUARE < frame->width; u++) {
            int x = place(u, frame->width), y = place(v, frame->height);
            bool is = is_marked(frame, d, x, y);
            for (int c = 0; is && clear && c < 3; c++)
                put(sample_at(frame, d, c, x, y), d->comp[c].step, get(sample_at(frame, d, c, beside(d, c, x), y), d->comp[c].step));
            left += is;
        }
    return left;
}

/* Everything black; the margins, which av_image_fill_black leaves alone, zero. */
static void blacken(const AVCodecContext *c, AVFrame *frame)
{
    ptrdiff_t stride[4];
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++)
        memset(frame->buf[i]->data, 0, (size_t)frame->buf[i]->size);
    for (int i = 0; i < 4; i++)
        stride[i] = frame->linesize[i];
    av_image_fill_black(frame->data, stride, frame->format, c->color_range, frame->width, frame->height);
}

/* The same size and format, each plane and what lies around it in the same place: true after a copy of all bytes. */
static bool begin_as(AVFrame *frame, const AVFrame *last)
{
    if (!last->buf[0] || frame->format != last->format || frame->width != last->width || frame->height != last->height)
        return false;
    for (int i = 0; i < AV_NUM_DATA_POINTERS; i++) {
        if (!frame->buf[i] != !last->buf[i] || frame->linesize[i] != last->linesize[i])
            return false;
        if (frame->buf[i] && (frame->buf[i]->size != last->buf[i]->size || frame->data[i] - frame->buf[i]->data != last->data[i] - last->buf[i]->data))
            return false;
    }
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++)
        memcpy(frame->buf[i]->data, last->buf[i]->data, (size_t)frame->buf[i]->size);
    return true;
}

/*
 * What is not decoded of a picture shows the one that was decoded before it, as a player's window would. A decoder's very
 * first one shows black: it stands for nothing else that every run of the program would have.
 */
static int begin_picture(struct damage_watch *w, const AVCodecContext *c, AVFrame *frame)
{
    if (!begin_as(frame, w->last))
        blacken(c, frame);
    av_frame_unref(w->last);
    return av_frame_ref(w->last, frame);
}

static int watched_buffer(AVCodecContext *c, AVFrame *frame, int flags)
{
    struct damage_watch *w = c->opaque;
    /* A packet's first: HEVC's later ones stand in for references that are missing. (libavcodec refuses a packet's second picture.) */
    bool first = !w->picture || !w->picture->buf[0];
    int code = first ? avcodec_default_get_buffer2(c, frame, flags) : stand_in_lend(&w->stand_in, frame);
    if (code == AVERROR(ENOMEM))
        atomic_store(&w->out_of_memory, true);
    if (code < 0 || !first)
        return code;
    if (w->careful && (code = begin_picture(w, c, frame)) < 0)
        return code;
    if (w->marked)
        mark(frame);
    if (w->settle)
        return damage_settle_add(w->settle, frame);
    return w->picture ? av_frame_ref(w->picture, frame) : 0;
}

static void watch_buffers(AVCodecContext *c)
{
    c->get_buffer2 = watched_buffer;
    av_compat_thread_safe_callbacks(c);
}

bool damage_watch_open(struct damage_watch *w, AVCodecContext *c, bool careful, struct err *e)
{
    bool alone = c->active_thread_type == 0;
    damage_watch_messages(w, c);
    w->careful = careful && alone;
    w->marked = c->codec_id == AV_CODEC_ID_HEVC;
    if (alone && w->marked && !w->picture && !(w->picture = av_frame_alloc()))
        return err_set(e, ERR_FAILED, "out of memory for a decoder");
    if (w->careful && !w->last && !(w->last = av_frame_alloc()))
        return err_set(e, ERR_FAILED, "out of memory for a decoder");
    watch_buffers(c);
    return true;
}

bool damage_watch_strictly(struct damage_watch *w, const AVCodecContext *c, struct err *e)
{
    w->strict = true;
    if (!w->marked || c->active_thread_type == 0)
        return true;
    w->settle = damage_settle_open(e);
    return w->settle != NULL;
}

bool damage_doubted(struct damage_watch *w, int64_t serial)
{
    return atomic_load(&w->complaints) > w->heard || (w->settle && damage_settle_look(w->settle, serial, w));
}

void damage_watch_messages(struct damage_watch *w, AVCodecContext *c)
{
    c->opaque = w;
}

void damage_packet(struct damage_watch *w)
{
    if (!w->picture || !w->picture->buf[0])
        return;
    w->unfinished |= count_marks(w->picture, true) > 0;
    av_frame_unref(w->picture);
}

bool damage_found(struct damage_watch *w, int code)
{
    uint_fast64_t before = w->heard;
    damage_packet(w);
    bool unfinished = w->unfinished;
    w->unfinished = false;
    w->heard = atomic_load(&w->complaints);
    return code < 0 || w->heard > before || unfinished;
}

bool damage_lent(struct damage_watch *w)
{
    uint_fast64_t before = w->lent_before;
    w->lent_before = atomic_load(&w->lent);
    return w->lent_before > before;
}

bool damage_unfinished(const struct damage_watch *w, const AVFrame *frame)
{
    return w->marked && !w->picture && count_marks(frame, false) > 0;
}

bool damage_spreads(struct damage_watch *w, const struct picture *p, bool hurt)
{
    bool leads = p->leading || p->marked_leading || p->needs_before;
    if (p->packet->flags & AV_PKT_FLAG_KEY) {
        w->tainted_before = w->tainted;
        w->tainted = false;
    }
    bool spoilt = hurt || w->tainted || (leads && w->tainted_before);
    /* What follows an HEVC key in display order refers to nothing that leads it: H.265 7.4.2.2. */
    *(p->marked_leading ? &w->tainted_before : &w->tainted) |= hurt && !p->droppable;
    return spoilt;
}

void damage_forget(struct damage_watch *w)
{
    w->tainted = w->tainted_before = w->unfinished = false;
    if (w->picture)
        av_frame_unref(w->picture);
    w->heard = atomic_load(&w->complaints);
    w->lent_before = atomic_load(&w->lent);
    if (w->settle)
        damage_settle_clear(w->settle);
}

void damage_everywhere(struct damage_watch *w)
{
    w->tainted = true;
}

bool damage_flagged(const AVFrame *frame)
{
    return damage_concealed(frame) || frame->flags & AV_FRAME_FLAG_CORRUPT;
}

bool damage_concealed(const AVFrame *frame)
{
    return frame->decode_error_flags != 0;
}

void damage_watch_close(struct damage_watch *w)
{
    av_frame_free(&w->picture);
    av_frame_free(&w->last);
    stand_in_close(&w->stand_in);
    damage_settle_free(&w->settle);
}

/*
 * How the messages begin that the MPEG family, its offspring, MJPEG and ProRes have for blocks that cannot be right; then those of
 * Theora, Dirac, Indeo 4 and 5, Flash Screen Video, GoToMeeting, JPEG 2000, TIFF, GIF, Road Pizza and PNG for parts of a picture that
 * they step over.
 */
static const char *const about_blocks[] = {
    "ac-tex damaged", "ac tex damaged", "dc overflow-", "ignoring overflow at", "Error at MB", "error y=",
    "More blocks ended than coded", "Data unit with size", "Corrupted tile data", "error in decompression of block",
    "Zlib resync occurred", "Error decoding tile", "Segmentation symbol value incorrect", "Read went out of bounds",
    "Copy went out of bounds", "Run went out of bounds", "LZW decode failed", "First chunk byte is",
    "IEND without all image",
};

/*
 * Codecs whose decoders call nothing an error but damage, and show the picture all the same, or what they have of it: there every
 * error counts. Read in FFmpeg 5.1's sources, decoder by decoder. Of others some errors are in whole films too: MPEG-4 with junk
 * behind its pictures, MJPEG of cameras, JPEG 2000 and PNG without their last marker, animations whose chunks have odd lengths.
 * They have lists.
 */
static const enum AVCodecID frank[] = {
    AV_CODEC_ID_FFV1, AV_CODEC_ID_DVVIDEO, AV_CODEC_ID_QTRLE, AV_CODEC_ID_SNOW, AV_CODEC_ID_ZMBV, AV_CODEC_ID_CINEPAK,
    AV_CODEC_ID_UTVIDEO, AV_CODEC_ID_MAGICYUV, AV_CODEC_ID_LAGARITH, AV_CODEC_ID_HAP, AV_CODEC_ID_HQ_HQA, AV_CODEC_ID_CLLC,
};

static bool is_frank(enum AVCodecID codec)
{
    for (size_t i = 0; i < sizeof frank / sizeof *frank; i++)
        if (frank[i] == codec)
            return true;
    return false;
}

/*
 * How HEVC's messages about slices that are lost, whole or in part, begin. Not among them is "Could not find ref with POC": the
 * standard allows that a picture names references which it does not use.
 */
static const char *const about_slices[] = {
    "CABAC_MAX_BIN", "The cu_qp_delta", "The slice_qp", "Invalid slice segment address", "Previous slice segment missing",
    "Two slices reporting", "Independent slice segment missing", "First slice in a frame missing", "Zero refs",
    "Overread slice header", "Invalid collocated_ref_idx", "Invalid number of merging MVP", "entry_point_offset table",
    "WPP ctb", "Error constructing the", "Impossible slice segment", "Impossible initial tile", "Invalid reference index",
    "Duplicate POC", "PPS id out of range",
};

/* How messages about references that are missing begin, HEVC's and H.264's. */
static const char *const about_references[] = {
    "Could not find ref with POC", "Missing reference picture", "reference picture missing",
};

/*
 * How what no strict watch minds begins. H.264's pictures after an open GOP's key tell the decoder to let go of pictures before it,
 * which a decoder that starts there never had: every run of such a film begins so.
 */
static const char *const of_no_account[] = {"mmco: unref short failure"};

static bool begins(const char *text, const char *const *start, size_t starts)
{
    for (size_t i = 0; i < starts; i++)
        if (av_strstart(text, start[i], NULL))
            return true;
    return false;
}

void damage_message(const AVCodecContext *c, int level, const char *format)
{
    struct damage_watch *w = c->opaque;
    if (!w)
        return;
    if (level > AV_LOG_INFO)
        return;
    static const char *const concealing[] = {"concealing "};
    bool heard = begins(format, concealing, 1);
    if (w->strict)
        heard |= !begins(format, of_no_account, sizeof of_no_account / sizeof *of_no_account);
    if (level <= AV_LOG_ERROR && is_frank(c->codec_id))
        heard = true;
    else if (level <= AV_LOG_ERROR)
        heard |= c->codec_id == AV_CODEC_ID_HEVC ? begins(format, about_slices, sizeof about_slices / sizeof *about_slices)
                                                 : begins(format, about_blocks, sizeof about_blocks / sizeof *about_blocks);
    if (heard)
        atomic_fetch_add(&w->complaints, 1);
    if (begins(format, about_references, sizeof about_references / sizeof *about_references))
        atomic_fetch_add(&w->lent, 1);
}
