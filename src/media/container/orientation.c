#include "orientation.h"

#include <libavutil/display.h>
#include <math.h>
#include <string.h>

#include "read_ahead.h"
#include "media/bitstream/display_orientation.h"
#include "media/ffmpeg/libav.h"
#include "base/interrupt.h"

/* A display matrix, which maps (x, y) to (ax + cy, bx + dy); not `found`: there is none. */
struct display_matrix {
    bool found;
    int32_t m[9];
};

/* Reads the matrix of side data; `data` may be NULL. */
static struct display_matrix matrix_of(const uint8_t *data, size_t size)
{
    struct display_matrix x = {.found = data && size >= sizeof x.m};
    if (x.found)
        memcpy(x.m, data, sizeof x.m);
    return x;
}

/* Where the bitstream of a codec may have an orientation. */
struct carrier {
    enum AVCodecID codec;
    enum bitstream stream; /* H.264, HEVC: in an SEI message */
    const char *exif;      /* images: in EXIF, which begins with these four letters */
};

static const struct carrier *find_carrier(enum AVCodecID codec)
{
    static const struct carrier carriers[] = {{AV_CODEC_ID_H264, STREAM_H264, NULL},
                                              {AV_CODEC_ID_HEVC, STREAM_HEVC, NULL},
                                              {AV_CODEC_ID_MJPEG, STREAM_OTHER, "Exif"},
                                              {AV_CODEC_ID_PNG, STREAM_OTHER, "eXIf"},
                                              {AV_CODEC_ID_WEBP, STREAM_OTHER, "EXIF"}};
    for (size_t i = 0; i < sizeof carriers / sizeof *carriers; i++)
        if (carriers[i].codec == codec)
            return &carriers[i];
    return NULL;
}

/* ------------------------------------------------------------------ SEI */

/*
 * Makes the matrix as libavcodec does: av_display_matrix_flip flips after the rotation, the
 * standard before it, so each flip negates the angle. A message that changes nothing is ignored.
 */
static struct display_matrix matrix_of_sei(const struct display_orientation *o)
{
    struct display_matrix x = {.found = o->anticlockwise || o->hor_flip || o->ver_flip};
    double clockwise = -360.0 * o->anticlockwise / 65536;
    av_display_rotation_set(x.m, o->hor_flip == o->ver_flip ? clockwise : -clockwise);
    av_display_matrix_flip(x.m, o->hor_flip, o->ver_flip);
    return x;
}

static struct display_matrix read_sei(enum bitstream kind, const AVCodecParameters *par,
                                      const AVPacket *packet)
{
    struct display_orientation o;
    size_t extradata = (size_t)par->extradata_size;
    int length_size = nal_length_size(kind, par->extradata, extradata);
    bool found =
        nal_display_orientation(kind, length_size, packet->data, (size_t)packet->size, &o) ||
        (kind == STREAM_HEVC && nal_extradata_display_orientation(par->extradata, extradata, &o));
    return found ? matrix_of_sei(&o) : (struct display_matrix){.found = false};
}

/* ------------------------------------------------------------------ EXIF */

static struct display_matrix matrix_of_frame(const AVFrame *frame)
{
    const AVFrameSideData *side = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
    return matrix_of(side ? side->data : NULL, side ? side->size : 0);
}

/* Decodes one image: libavcodec parses EXIF and has no function for it alone. */
static struct display_matrix decode_exif(const AVCodecParameters *par, const AVPacket *packet)
{
    struct display_matrix x = {.found = false};
    const AVCodec *codec = avcodec_find_decoder(par->codec_id);
    AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
    AVFrame *frame = av_frame_alloc();
    if (c && frame && avcodec_parameters_to_context(c, par) >= 0) {
        c->thread_count = 1;
        if (avcodec_open2(c, codec, NULL) >= 0 && avcodec_send_packet(c, packet) >= 0 &&
            avcodec_receive_frame(c, frame) >= 0)
            x = matrix_of_frame(frame);
    }
    av_frame_free(&frame);
    avcodec_free_context(&c);
    return x;
}

/* ------------------------------------------------------------------ the film */

static struct display_matrix read_container(const AVStream *s)
{
    size_t size = 0;
    const uint8_t *data = av_compat_side_data(s, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return matrix_of(data, size);
}

/* Returns -value; INT32_MIN, which a broken file may have, has none. */
static int32_t negated(int32_t value) { return value == INT32_MIN ? INT32_MAX : -value; }

/* Returns the orientation. A negative determinant means a mirrored picture. */
static struct orientation orientation_of(struct display_matrix x)
{
    struct orientation o = {0, false};
    if (!x.found)
        return o;
    o.mirror = (double)x.m[0] * x.m[4] - (double)x.m[1] * x.m[3] < 0;
    if (o.mirror) {
        x.m[0] = negated(x.m[0]);
        x.m[1] = negated(x.m[1]);
    }
    double degrees = av_display_rotation_get(x.m); /* counter-clockwise */
    if (!isnan(degrees))
        o.quarter_turns = ((int)lround(-degrees / 90) % 4 + 4) % 4;
    return o;
}

/*
 * Sets *key to the first key frame of the stream, NULL if there is none soon: what precedes a key
 * frame are at most some seconds of a recording. Returns false if out of memory.
 */
static bool read_to_key(AVFormatContext *format, const AVStream *s, const AVPacket **key)
{
    enum { PACKETS = 1000, BYTES = 32 << 20 };
    const AVPacket *packet;
    int64_t bytes = 0;
    *key = NULL;
    for (int i = 0; i < PACKETS && bytes < BYTES && !*key && !interrupted(); i++) {
        if (!container_read_ahead(format, &packet))
            return false;
        if (!packet)
            return true;
        bytes += packet->size;
        if (packet->stream_index == s->index && packet->size > 0 && packet->flags & AV_PKT_FLAG_KEY)
            *key = packet;
    }
    return true;
}

static struct display_matrix read_bitstream(const struct carrier *carrier,
                                            const AVCodecParameters *par, const AVPacket *packet)
{
    if (!carrier->exif)
        return read_sei(carrier->stream, par, packet);
    return memmem(packet->data, (size_t)packet->size, carrier->exif, strlen(carrier->exif))
               ? decode_exif(par, packet)
               : (struct display_matrix){.found = false};
}

bool container_find_orientation(AVFormatContext *format, const AVStream *s, struct orientation *o,
                                struct err *e)
{
    const struct carrier *carrier = find_carrier(s->codecpar->codec_id);
    const AVPacket *key = NULL;
    if (carrier && !read_to_key(format, s, &key))
        return err_set(e, ERR_MEMORY, "out of memory to open '%s'", format->url);
    if (interrupted())
        return interrupt_error(e);
    struct display_matrix x = {.found = false};
    if (key)
        x = read_bitstream(carrier, s->codecpar, key);
    *o = orientation_of(x.found ? x : read_container(s));
    return true;
}
