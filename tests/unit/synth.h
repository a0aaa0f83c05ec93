/*
 * synth.h - for tests: a film of known colours without a file, "WxH,FRAMES[,RATE]".
 *
 * Frame n is R'G'B': the left synth_split(W) pixels of each row are synth_major(n), the rest is
 * synth_minor(n).
 */
#ifndef BARCODE_TESTS_SYNTH_H
#define BARCODE_TESTS_SYNTH_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "media/source.h"

struct synth {
    struct source base;
    atomic_uint_fast64_t done;
};

/* A slow walk through the hues. */
static inline void synth_major(uint64_t frame, uint8_t rgb[3])
{
    unsigned t = (unsigned)(frame * 3 % 1536), ramp = t % 256;
    static const uint8_t corner[7][3] = {{230, 40, 40},  {230, 200, 40}, {60, 200, 60},
                                         {40, 200, 210}, {50, 60, 220},  {200, 50, 200},
                                         {230, 40, 40}};
    for (int c = 0; c < 3; c++)
        rgb[c] =
            (uint8_t)((corner[t / 256][c] * (256 - ramp) + corner[t / 256 + 1][c] * ramp) / 256);
}

static inline void synth_minor(uint64_t frame, uint8_t rgb[3])
{
    uint8_t major[3];
    synth_major(frame, major);
    for (int c = 0; c < 3; c++)
        rgb[c] = (uint8_t)(major[c] / 4);
}

/* Returns how many pixels of a row are in the major colour. */
static inline int synth_split(int width) { return (5 * width + 7) / 8; }

static inline void draw(uint8_t *rgb, int width, int height, uint64_t frame)
{
    uint8_t major[3], minor[3];
    synth_major(frame, major);
    synth_minor(frame, minor);
    for (int x = 0; x < width; x++)
        memcpy(rgb + (size_t)x * 3, x < synth_split(width) ? major : minor, 3);
    for (int y = 1; y < height; y++)
        memcpy(rgb + (size_t)y * (size_t)width * 3, rgb, (size_t)width * 3);
}

static inline bool put_frame(struct synth *s, const struct decode_job *job,
                             struct engine_port *port, uint8_t *rgb, struct frame_tag *tag,
                             struct err *e)
{
    int w = s->base.film.width, h = s->base.film.height;
    draw(rgb, w, h, tag->frame);
    struct frame_view view = {.model = MODEL_RGB,
                              .matrix = MATRIX_RGB,
                              .range = RANGE_FULL,
                              .bits = 8,
                              .width = w,
                              .height = h};
    for (int c = 0; c < 3; c++)
        view.plane[c] = (struct plane){rgb + c, (ptrdiff_t)w * 3, 3, w, h};
    return columns_announce(job->columns, tag, e) && engine_put(port, &view, tag, e);
}

static inline bool synth_stage(struct source *base, const struct decode_job *job,
                               struct decode_counts *counts, struct decode_times *times,
                               struct err *e)
{
    (void)times;
    struct synth *s = (struct synth *)base;
    const struct film *f = &base->film;
    struct selection_cursor cursor = selection_begin(&job->selection);
    size_t bytes = (size_t)f->width * (size_t)f->height * 3;
    uint8_t *rgb = malloc(bytes);
    if (!rgb)
        return err_memory(e, bytes);
    struct engine_port *port = engine_port_open(job->engine, e);
    bool ok = port != NULL;
    *counts = (struct decode_counts){.last_us = -1};
    for (int64_t n = 0; n < f->length.frames && ok; n++) {
        struct frame_tag tag = {.frame = (uint64_t)n,
                                .time_us = n * 1000000 * f->rate_den / f->rate_num};
        tag.repeat = selection_take(&cursor, tag.time_us,
                                    (n + 1) * 1000000 * f->rate_den / f->rate_num, &tag.column);
        ok = tag.repeat == 0 || put_frame(s, job, port, rgb, &tag, e);
        counts->displayed = (uint64_t)n + 1;
        counts->last_us = tag.time_us;
        atomic_store(&s->done, counts->displayed);
        if (interrupted())
            ok = interrupt_error(e);
    }
    counts->packets = counts->sent = counts->decoded = counts->displayed;
    engine_port_close(&port);
    free(rgb);
    return ok;
}

static inline void synth_progress(struct source *base, struct decode_progress *p)
{
    *p = (struct decode_progress){.frames = atomic_load(&((struct synth *)base)->done)};
}

static inline void synth_close(struct source **base)
{
    free((*base)->film.path);
    free(*base);
    *base = NULL;
}

static const struct source_ops synth_ops = {
    .name = "synth",
    .can = SOURCE_RESTARTABLE,
    .decode_frames = synth_stage,
    .progress = synth_progress,
    .close = synth_close,
};

/* A whole number from 1 to `most` at *text, followed by one of `after`; *text moves past it. */
static inline bool read_number(const char **text, long long most, const char *after,
                               long long *value)
{
    char *end;
    *value = strtoll(*text, &end, 10);
    if (end == *text || *value < 1 || *value > most || !strchr(after, *end))
        return false;
    *text = *end ? end + 1 : end;
    return true;
}

/* Opens the film that `spec` describes. Returns NULL with ERR_INPUT if it describes none. */
static inline struct source *synth_open(const char *spec, struct err *e)
{
    long long width, height, frames, rate = 24;
    const char *at = spec;
    bool good = read_number(&at, 16384, "x", &width) && read_number(&at, 16384, ",", &height) &&
                read_number(&at, 100000000, ",", &frames);
    if (good && at[-1] == ',')
        good = read_number(&at, 1000, "", &rate);
    if (!good) {
        err_set(e, ERR_INPUT, "cannot open '%s': it is not WxH,FRAMES[,RATE]", spec);
        return NULL;
    }
    struct synth *s = calloc(1, sizeof *s);
    char *path = strdup(spec);
    if (!s || !path) {
        free(s);
        free(path);
        err_memory(e, sizeof *s);
        return NULL;
    }
    s->base.ops = &synth_ops;
    s->base.film = (struct film){
        .path = path,
        .container = "synth",
        .codec = "rawvideo",
        .pixel_format = "rgb24",
        .width = (int)width,
        .height = (int)height,
        .videos = 1,
        .coded_width = (int)width,
        .coded_height = (int)height,
        .matrix = MATRIX_RGB,
        .range = RANGE_FULL,
        .rate_num = rate,
        .rate_den = 1,
        .length = {0, frames * 1000000 / rate, frames, LENGTH_INDEX},
    };
    return &s->base;
}

#endif
