/*
 * make_film.c - draws the sample film: about 90 seconds of shots whose colours are known, and the
 * file of right answers beside it: of each frame's picture, without its bars.
 *
 *   make_film out/sample.mkv        also writes out/sample.answers.tsv
 *
 * Every sample is drawn on a canvas of 2 x 2 pixel cells that are stored as the integer Y'CbCr
 * triple that goes to the encoder, so 4:2:0 costs nothing and the film's true colour is known
 * exactly: the answers come from these triples by the real-valued BT.709 equations, not from
 * barcode's own code.
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

#include "make_film_draw.h"

enum { RATE = 24 };

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
    fprintf(stderr, "make_film: %s '%s'%s%s\n", what, on, code < 0 ? ": " : "",
            code < 0 ? av_err2str(code) : "");
    return 1;
}

/* ---- colour ---- */

static void decode_colour(struct cell s, double rgb[3])
{
    double y = (s.y - 16) * 255.0 / 219, cb = (s.cb - 128) * 255.0 / 224,
           cr = (s.cr - 128) * 255.0 / 224;
    rgb[0] = y + 1.5748 * cr;
    rgb[1] = y - 0.2126 * 1.5748 / 0.7152 * cr - 0.0722 * 1.8556 / 0.7152 * cb;
    rgb[2] = y + 1.8556 * cb;
    for (int c = 0; c < 3; c++)
        rgb[c] = fmin(fmax(rgb[c], 0), 255);
}

/* ---- answers ---- */

static int apart(struct cell a, struct cell b)
{
    return abs(a.y - b.y) + abs(a.cb - b.cb) + abs(a.cr - b.cr);
}

/* What a picture is made of. */
struct contents {
    int count[COLOURS], cells;
    struct cell colour[COLOURS];
    const struct cell *other; /* the picture's cells, for those that are NO_PATCH */
    int others;
};

/* Patches of the same colour (two windows, everything at the end of a fade) count as one. */
static struct contents take_stock(const struct cell *picture, int cells)
{
    struct contents k = {.cells = cells, .other = picture};
    for (int i = 0; i < cells; i++) {
        if (picture[i].patch == NO_PATCH) {
            k.others++;
            continue;
        }
        int p = 0;
        while (p < COLOURS - 1 && k.count[p] && memcmp(&k.colour[p], &picture[i], 3) != 0)
            p++;
        k.colour[p] = picture[i];
        k.count[p]++;
    }
    return k;
}

/*
 * The dominant colour is known where flat colours are all that there is (no more than k clusters by
 * default) and the largest leads clearly; or where it covers more than half and what is no flat
 * colour is far from it. None may be so near to it that coding noise could join them.
 */
static void dominate(const struct contents *k, struct answer *a)
{
    enum { NOISE = 6, FAR = 44 };
    int best = 0, second = 0;
    a->share = -1;
    for (int p = 0; p < COLOURS; p++)
        best = k->count[p] > k->count[best] ? p : best;
    for (int p = 0; p < COLOURS; p++) {
        if (p == best || !k->count[p])
            continue;
        second = k->count[p] > second ? k->count[p] : second;
        if (apart(k->colour[p], k->colour[best]) < NOISE)
            return;
    }
    if (second * 5 > k->count[best] * 4 || (k->others && k->count[best] * 2 <= k->cells))
        return;
    for (int i = 0; i < k->cells && k->others; i++)
        if (k->other[i].patch == NO_PATCH && apart(k->other[i], k->colour[best]) < FAR)
            return;
    double rgb[3];
    decode_colour(k->colour[best], rgb);
    for (int c = 0; c < 3; c++)
        a->dominant[c] = (int)lround(rgb[c]);
    a->share = (double)k->count[best] / k->cells;
}

/* Of the picture alone: bars are no part of it. */
static struct answer solve(const struct cell *canvas, const struct shot *s)
{
    struct answer a = {{0, 0, 0}, 0, {0, 0, 0}};
    const struct cell *picture = canvas + (size_t)picture_top(s) * CW;
    double rgb[3] = {0, 0, 0};
    int cells = picture_rows(s) * CW;
    for (int i = 0; i < cells; i++) {
        if (i == 0 || memcmp(&picture[i], &picture[i - 1], 3) != 0)
            decode_colour(picture[i], rgb);
        for (int c = 0; c < 3; c++)
            a.average[c] += rgb[c];
    }
    for (int c = 0; c < 3; c++)
        a.average[c] = round(a.average[c] / cells * 100) / 100;
    struct contents k = take_stock(picture, cells);
    dominate(&k, &a);
    return a;
}

static void print_answer(FILE *f, int first, int last, const struct answer *a, const struct shot *s)
{
    fprintf(f, "%d\t%d\t", first, last);
    if (a->share < 0)
        fprintf(f, "-\t-\t");
    else
        fprintf(f, "%d,%d,%d\t%.4f\t", a->dominant[0], a->dominant[1], a->dominant[2], a->share);
    fprintf(f, "%.2f,%.2f,%.2f\t%d:%d:0:%d\t%s\n", a->average[0], a->average[1], a->average[2],
            WIDTH, 2 * picture_rows(s), 2 * picture_top(s), s->name);
}

/* ---- encoding ---- */

/*
 * Near-lossless and without the shortcuts that let x264 leave a flat area one level off; pyramids
 * of B-frames and short closed GOPs, because that is what the program's decoding has to cope with.
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
    av_opt_set(
        c->priv_data, "x264-params",
        "b-pyramid=normal:b-adapt=0:fast-pskip=0:dct-decimate=0:weightp=0:weightb=0:aq-mode=0:"
        "mbtree=0:psy=0:"
        "no-deblock=1:chroma-qp-offset=-4:deadzone-inter=6:deadzone-intra=6:scenecut=0:open-gop=0",
        0);
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
    int number;           /* of the next frame of the film */
    int used[SHOT_COUNT]; /* frames of each shot so far */
};

static int same_answer(const struct answer *a, const struct answer *b)
{
    int same = a->share == b->share;
    for (int c = 0; c < 3; c++)
        same &= a->dominant[c] == b->dominant[c] && a->average[c] == b->average[c];
    return same;
}

/* The next `frames` frames of shot i, or what is left of it. Frames in a row with one answer share
 * a line. */
static int make_piece(struct cutter *c, int i, int frames)
{
    const struct shot *s = &SHOTS[i];
    struct answer held = {{0, 0, 0}, 0, {0, 0, 0}};
    int since = c->number, first = c->number;
    for (int n = 0; n < frames && c->used[i] < s->frames; n++) {
        draw(c->canvas, s, c->used[i]++, c->number);
        struct answer now = solve(c->canvas, s);
        if (c->number > first && !same_answer(&now, &held)) {
            print_answer(c->answers, since, c->number - 1, &held, s);
            since = c->number;
        }
        held = now;
        if (encoder_put(c->encoder, c->canvas, c->number++))
            return 1;
    }
    if (c->number > since)
        print_answer(c->answers, since, c->number - 1, &held, s);
    return 0;
}

/* The whole of shot i, with glimpses of the next ones where the table asks for them. */
static int make_shot(struct cutter *c, int i)
{
    static const int stay[] = {17, 11, 22, 14, 9}, glimpse[] = {7, 4, 9, 5};
    int pace = SHOTS[i].intercut;
    if (!pace)
        return make_piece(c, i, SHOTS[i].frames);
    for (int n = 0; c->used[i] < SHOTS[i].frames; n++) {
        int other = i + (n % 3 == 2 && SHOTS[i + 1].intercut ? 2 : 1);
        if (make_piece(c, i, stay[(i + n) % 5] * pace / 16) ||
            make_piece(c, other, glimpse[(i + n) % 4] * pace / 16))
            return 1;
    }
    return 0;
}

static int make_all(struct encoder *e, FILE *answers, const char *path)
{
    struct cutter c = {e, answers, calloc(CELLS, sizeof(struct cell)), 0, {0}};
    if (!c.canvas)
        return die("out of memory on", path, 0);
    fprintf(answers, "first\tlast\tdominant\tshare\taverage\tpicture\tshot\n");
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
