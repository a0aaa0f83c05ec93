/*
 * make_film.c - draws the sample film: about 90 seconds of shots whose colours are known, and the
 * file of right answers beside it.
 *
 *   make_film out/sample.mkv        also writes out/sample.answers.tsv
 *
 * Every sample is drawn on a canvas of 2 x 2 pixel cells that are stored as the integer Y'CbCr triple
 * that goes to the encoder, so 4:2:0 costs nothing and the film's true colour is known exactly: the
 * answers come from these triples by the real-valued BT.709 equations, not from barcode's own code.
 */
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "make_film_shots.h"

enum { WIDTH = 768, HEIGHT = 432, RATE = 24, CW = WIDTH / 2, CH = HEIGHT / 2, UNIT = 24, CELLS = CW * CH, NO_PATCH = 255 };

struct cell {
    uint8_t y, cb, cr;
    uint8_t patch;      /* which flat patch it shows; NO_PATCH when its colour is not one of a few */
};

/* What a frame's column must be. share < 0: the dominant colour is not known by design. */
struct answer {
    int dominant[3];
    double share, average[3];
};

/* One film being written. */
struct encoder {
    AVFormatContext *out;
    AVCodecContext *codec;
    AVStream *stream;
    AVFrame *frame;
    AVPacket *packet;
};

static int die(const char *what, const char *on, int code)
{
    fprintf(stderr, "make_film: %s '%s'%s%s\n", what, on, code < 0 ? ": " : "", code < 0 ? av_err2str(code) : "");
    return 1;
}

/* ---- colour ---- */

static double mix(double a, double b, double t)
{
    return a + (b - a) * t;
}

static void unpack(unsigned hex, double rgb[3])
{
    for (int c = 0; c < 3; c++)
        rgb[c] = (hex >> (16 - 8 * c)) & 255;
}

static struct cell encode_colour(const double rgb[3])
{
    double luma = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
    return (struct cell){
        .y = (uint8_t)lround(16 + luma * 219 / 255),
        .cb = (uint8_t)lround(128 + (rgb[2] - luma) / 1.8556 * 224 / 255),
        .cr = (uint8_t)lround(128 + (rgb[0] - luma) / 1.5748 * 224 / 255),
        .patch = NO_PATCH,
    };
}

static void decode_colour(struct cell s, double rgb[3])
{
    double y = (s.y - 16) * 255.0 / 219, cb = (s.cb - 128) * 255.0 / 224, cr = (s.cr - 128) * 255.0 / 224;
    rgb[0] = y + 1.5748 * cr;
    rgb[1] = y - 0.2126 * 1.5748 / 0.7152 * cr - 0.0722 * 1.8556 / 0.7152 * cb;
    rgb[2] = y + 1.8556 * cb;
    for (int c = 0; c < 3; c++)
        rgb[c] = fmin(fmax(rgb[c], 0), 255);
}

/* ---- drawing ---- */

/* How much of the shot's fade colour lies over frame t: 0 none, 1 all. */
static double fade_at(const struct shot *s, int t)
{
    if (t < s->fade_in)
        return 1 - (double)t / s->fade_in;
    int left = s->frames - 1 - t;
    return left < s->fade_out ? 1 - (double)left / s->fade_out : 0;
}

/* The colour between two, under the fade. */
static struct cell shade(const struct shot *s, const struct patch *p, double share, double fade)
{
    double from[3], to[3], over[3];
    unpack(p->from, from);
    unpack(p->to, to);
    unpack(s->fade, over);
    for (int c = 0; c < 3; c++)
        from[c] = mix(mix(from[c], to[c], share), over[c], fade);
    return encode_colour(from);
}

/* A number in -3..3 that depends on the place and time alone: the same film on every machine. */
static int noise(int x, int y, int t)
{
    uint32_t h = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)y * 0x85ebca77u ^ (uint32_t)t * 0xc2b2ae3du;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (int)((h ^ h >> 15) % 7) - 3;
}

static void draw_patch(struct cell *canvas, const struct shot *s, int index, int t)
{
    const struct patch *p = &s->patch[index];
    double fade = fade_at(s, t), time = s->frames > 1 ? (double)t / (s->frames - 1) : 0;
    bool pan = p->paint == PAN;
    int w = p->w * UNIT, h = p->h * UNIT;
    int left = p->x * UNIT + (pan ? 0 : p->dx * t), top = p->y * UNIT + p->dy * t;

    struct cell line[CW];
    for (int x = 0; x < w; x++) {
        double phase = (double)((x + p->dx * t) % w) / w;
        line[x] = shade(s, p, pan ? 1 - fabs(2 * phase - 1) : time, fade);
        if (p->paint == FLAT)
            line[x].patch = (uint8_t)index;
        if (p->paint != PAN && x > 0)
            line[x] = line[0];
    }
    for (int y = 0; y < h; y++) {
        if (top + y < 0 || top + y >= CH)
            continue;
        struct cell gradient = shade(s, p, h > 1 ? (double)y / (h - 1) : 0, fade);
        for (int x = 0; x < w; x++) {
            if (left + x < 0 || left + x >= CW)
                continue;
            struct cell c = p->paint == GRADIENT ? gradient : line[x];
            if (p->paint == GRAIN)
                c.y = (uint8_t)(c.y + noise(x, y, t));
            canvas[(top + y) * CW + left + x] = c;
        }
    }
}

static void draw(struct cell *canvas, const struct shot *s, int t)
{
    for (int i = 0; i < PATCHES && s->patch[i].w; i++)
        draw_patch(canvas, s, i, t);
}

/* ---- answers ---- */

static bool near(struct cell a, struct cell b)
{
    return abs(a.y - b.y) + abs(a.cb - b.cb) + abs(a.cr - b.cr) < 6;
}

/*
 * The dominant colour is known where every cell shows one of a few flat colours (no more than k clusters
 * by default), the largest leads clearly, and none is so near to it that coding noise could join them.
 */
static void dominate(const struct cell *canvas, struct answer *a)
{
    int count[PATCHES] = {0}, best = 0, second = 0;
    struct cell colour[PATCHES] = {{0, 0, 0, 0}};
    a->share = -1;
    for (int i = 0; i < CELLS; i++) {
        if (canvas[i].patch == NO_PATCH)
            return;
        /* Patches of the same colour (two windows, everything at the end of a fade) count as one. */
        int p = 0;
        while (p < PATCHES - 1 && count[p] && memcmp(&colour[p], &canvas[i], 3) != 0)
            p++;
        colour[p] = canvas[i];
        count[p]++;
    }
    for (int p = 0; p < PATCHES; p++)
        best = count[p] > count[best] ? p : best;
    for (int p = 0; p < PATCHES; p++) {
        if (p == best || !count[p])
            continue;
        second = count[p] > second ? count[p] : second;
        if (near(colour[p], colour[best]))
            return;
    }
    if (second * 5 > count[best] * 4)
        return;
    double rgb[3];
    decode_colour(colour[best], rgb);
    for (int c = 0; c < 3; c++)
        a->dominant[c] = (int)lround(rgb[c]);
    a->share = (double)count[best] / CELLS;
}

static struct answer solve(const struct cell *canvas)
{
    struct answer a = {{0, 0, 0}, 0, {0, 0, 0}};
    double rgb[3] = {0, 0, 0};
    for (int i = 0; i < CELLS; i++) {
        if (i == 0 || memcmp(&canvas[i], &canvas[i - 1], 3) != 0)
            decode_colour(canvas[i], rgb);
        for (int c = 0; c < 3; c++)
            a.average[c] += rgb[c];
    }
    for (int c = 0; c < 3; c++)
        a.average[c] = round(a.average[c] / CELLS * 100) / 100;
    dominate(canvas, &a);
    return a;
}

static void print_answer(FILE *f, int first, int last, const struct answer *a, const char *name)
{
    fprintf(f, "%d\t%d\t", first, last);
    if (a->share < 0)
        fprintf(f, "-\t-\t");
    else
        fprintf(f, "%d,%d,%d\t%.4f\t", a->dominant[0], a->dominant[1], a->dominant[2], a->share);
    fprintf(f, "%.2f,%.2f,%.2f\t%s\n", a->average[0], a->average[1], a->average[2], name);
}

/* ---- encoding ---- */

/*
 * Near-lossless and without the shortcuts that let x264 leave a flat area one level off; pyramids of
 * B-frames and short closed GOPs, because that is what the program's decoding has to cope with.
 */
static void set_quality(AVCodecContext *c)
{
    if (strcmp(c->codec->name, "libx264") != 0) {
        c->flags |= AV_CODEC_FLAG_QSCALE;
        c->global_quality = FF_QP2LAMBDA;
        return;
    }
    av_opt_set(c->priv_data, "preset", "veryfast", 0);
    av_opt_set(c->priv_data, "qp", "4", 0);
    av_opt_set(c->priv_data, "x264-params",
               "b-pyramid=normal:b-adapt=0:fast-pskip=0:dct-decimate=0:weightp=0:weightb=0:aq-mode=0:mbtree=0:psy=0:"
               "no-deblock=1:chroma-qp-offset=-4:deadzone-inter=6:deadzone-intra=6:scenecut=0:open-gop=0", 0);
}

static bool open_codec(struct encoder *e)
{
    const char *const names[] = {"libx264", "mpeg4", "mpeg2video"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const AVCodec *codec = avcodec_find_encoder_by_name(names[i]);
        if (!codec)
            continue;
        AVCodecContext *c = e->codec = avcodec_alloc_context3(codec);
        if (!c)
            return false;
        c->width = WIDTH;
        c->height = HEIGHT;
        c->pix_fmt = AV_PIX_FMT_YUV420P;
        c->time_base = (AVRational){1, RATE};
        c->framerate = (AVRational){RATE, 1};
        c->sample_aspect_ratio = (AVRational){1, 1};
        c->gop_size = 2 * RATE;
        c->max_b_frames = 3;
        c->color_range = AVCOL_RANGE_MPEG;
        c->colorspace = AVCOL_SPC_BT709;
        c->color_primaries = AVCOL_PRI_BT709;
        c->color_trc = AVCOL_TRC_BT709;
        c->thread_count = 0;
        if (e->out->oformat->flags & AVFMT_GLOBALHEADER)
            c->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
        set_quality(c);
        if (avcodec_open2(c, codec, NULL) >= 0)
            return true;
        avcodec_free_context(&e->codec);
    }
    return false;
}

static int encoder_open(struct encoder *e, const char *path)
{
    int r = avformat_alloc_output_context2(&e->out, NULL, NULL, path);
    if (r < 0)
        return die("no container for", path, r);
    if (!open_codec(e))
        return die("no encoder that works for", path, 0);
    e->stream = avformat_new_stream(e->out, NULL);
    e->frame = av_frame_alloc();
    e->packet = av_packet_alloc();
    if (!e->stream || !e->frame || !e->packet)
        return die("out of memory on", path, 0);
    avcodec_parameters_from_context(e->stream->codecpar, e->codec);
    e->stream->time_base = e->codec->time_base;
    e->stream->avg_frame_rate = e->codec->framerate;
    e->frame->width = WIDTH;
    e->frame->height = HEIGHT;
    e->frame->format = AV_PIX_FMT_YUV420P;
    if ((r = av_frame_get_buffer(e->frame, 0)) < 0)
        return die("no frame for", path, r);
    if ((r = avio_open(&e->out->pb, path, AVIO_FLAG_WRITE)) < 0)
        return die("cannot write", path, r);
    av_dict_set(&e->out->metadata, "title", "One day, in known colours", 0);
    if ((r = avformat_write_header(e->out, NULL)) < 0)
        return die("cannot begin", path, r);
    return 0;
}

/* Sends one frame (NULL: the end) and writes whatever comes out. */
static int encoder_send(struct encoder *e, const AVFrame *frame)
{
    int r = avcodec_send_frame(e->codec, frame);
    while (r >= 0) {
        r = avcodec_receive_packet(e->codec, e->packet);
        if (r == AVERROR(EAGAIN) || r == AVERROR_EOF)
            return 0;
        if (r < 0)
            break;
        e->packet->stream_index = 0;
        e->packet->duration = 1;
        av_packet_rescale_ts(e->packet, e->codec->time_base, e->stream->time_base);
        r = av_interleaved_write_frame(e->out, e->packet);
    }
    return die("cannot encode into", e->out->url, r);
}

static int encoder_put(struct encoder *e, const struct cell *canvas, int number)
{
    AVFrame *f = e->frame;
    int r = av_frame_make_writable(f);
    if (r < 0)
        return die("no frame for", e->out->url, r);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            f->data[0][y * f->linesize[0] + x] = canvas[y / 2 * CW + x / 2].y;
    for (int y = 0; y < CH; y++) {
        for (int x = 0; x < CW; x++) {
            f->data[1][y * f->linesize[1] + x] = canvas[y * CW + x].cb;
            f->data[2][y * f->linesize[2] + x] = canvas[y * CW + x].cr;
        }
    }
    f->pts = number;
    return encoder_send(e, f);
}

static void encoder_free(struct encoder *e)
{
    if (e->out && e->out->pb)
        avio_closep(&e->out->pb);
    avcodec_free_context(&e->codec);
    av_frame_free(&e->frame);
    av_packet_free(&e->packet);
    avformat_free_context(e->out);
}

/* ---- the film ---- */

/* The film as it is being cut together. */
struct cutter {
    struct encoder *encoder;
    FILE *answers;
    struct cell *canvas;
    int number;                 /* of the next frame of the film  */
    int used[SHOT_COUNT];       /* frames of each shot so far     */
};

static int same_answer(const struct answer *a, const struct answer *b)
{
    int same = a->share == b->share;
    for (int c = 0; c < 3; c++)
        same &= a->dominant[c] == b->dominant[c] && a->average[c] == b->average[c];
    return same;
}

/* The next `frames` frames of shot i, or what is left of it. Frames in a row with one answer share a line. */
static int make_piece(struct cutter *c, int i, int frames)
{
    const struct shot *s = &SHOTS[i];
    struct answer held = {{0, 0, 0}, 0, {0, 0, 0}};
    int since = c->number, first = c->number;
    for (int n = 0; n < frames && c->used[i] < s->frames; n++) {
        draw(c->canvas, s, c->used[i]++);
        struct answer now = solve(c->canvas);
        if (c->number > first && !same_answer(&now, &held)) {
            print_answer(c->answers, since, c->number - 1, &held, s->name);
            since = c->number;
        }
        held = now;
        if (encoder_put(c->encoder, c->canvas, c->number++))
            return 1;
    }
    if (c->number > since)
        print_answer(c->answers, since, c->number - 1, &held, s->name);
    return 0;
}

/* The whole of shot i, with glimpses of the next one where the table asks for them. */
static int make_shot(struct cutter *c, int i)
{
    static const int stay[] = {17, 11, 22, 14, 9}, glimpse[] = {7, 4, 9, 5};
    if (!SHOTS[i].intercut)
        return make_piece(c, i, SHOTS[i].frames);
    for (int n = 0; c->used[i] < SHOTS[i].frames; n++)
        if (make_piece(c, i, stay[(i + n) % 5]) || make_piece(c, i + 1, glimpse[(i + n) % 4]))
            return 1;
    return 0;
}

static int make_all(struct encoder *e, FILE *answers, const char *path)
{
    struct cutter c = {e, answers, calloc(CELLS, sizeof(struct cell)), 0, {0}};
    if (!c.canvas)
        return die("out of memory on", path, 0);
    fprintf(answers, "first\tlast\tdominant\tshare\taverage\tshot\n");
    int failed = 0;
    for (int i = 0; i < SHOT_COUNT && !failed; i++)
        failed = make_shot(&c, i);
    free(c.canvas);
    if (failed || encoder_send(e, NULL))
        return 1;
    int r = av_write_trailer(e->out);
    return r < 0 ? die("cannot finish", path, r) : 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_film FILM.mkv   (writes FILM.answers.tsv too)\n");
        return 2;
    }
    char beside[4096];
    const char *slash = strrchr(argv[1], '/'), *dot = strrchr(argv[1], '.');
    int stem = dot && (!slash || dot > slash) ? (int)(dot - argv[1]) : (int)strlen(argv[1]);
    snprintf(beside, sizeof beside, "%.*s.answers.tsv", stem, argv[1]);

    av_log_set_level(AV_LOG_ERROR);
    FILE *answers = fopen(beside, "w");
    if (!answers)
        return die("cannot write", beside, 0);
    struct encoder e = {NULL, NULL, NULL, NULL, NULL};
    int failed = encoder_open(&e, argv[1]) || make_all(&e, answers, argv[1]);
    encoder_free(&e);
    failed |= fclose(answers) != 0;
    if (failed) {
        /* Half a film must not pass for a whole one. */
        remove(argv[1]);
        remove(beside);
    }
    return failed;
}
