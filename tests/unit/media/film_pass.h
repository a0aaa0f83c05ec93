/* film_pass.h - for tests: a film that the test reads, and a pass over it without threads. */
#ifndef BARCODE_TESTS_FILM_PASS_H
#define BARCODE_TESTS_FILM_PASS_H

#include "media/container/open.h"
#include "media/ffmpeg/packet.h"
#include "media/reader/reader.h"
#include "clip.h"

/* The caller frees film->path, and closes *format also after a failure. */
static inline bool container_open(const char *path, int requested, AVFormatContext **format,
                                  struct film *film, struct err *e)
{
    *film = (struct film){.sound = SOURCE_SOUND_NONE};
    return container_open_parts(path, NULL, requested, format, film, e);
}

/* A film and its reader. */
struct open_film {
    AVFormatContext *format;
    struct film film;
    struct demux reader;
};

static inline void film_open(struct open_film *f, const char *name)
{
    struct err e = ERR_INIT;
    *f = (struct open_film){.format = NULL};
    if (!container_open(name, SOURCE_STREAM_CHOICE, &f->format, &f->film, &e) ||
        !demux_open(&f->reader, f->format, f->film.stream, &e))
        fail_msg("%s: %s", name, e.text);
}

static inline void film_close(struct open_film *f)
{
    demux_close(&f->reader);
    container_close(&f->format);
    free(f->film.path);
}

/* Its queue has room for all chunks, and its engine stages frames of 16x12 on one port. */
struct film_pass {
    struct open_film of;
    struct engine *engine;
    struct columns *columns;
    struct decode_job job;
    struct decode_pass pass;
};

static inline void film_pass_open(struct film_pass *p, const char *name)
{
    struct err e = ERR_INIT;
    struct engine_config config = {.threads = 1};
    film_open(&p->of, name);
    p->engine = engine_open("cpu", &config, &e);
    p->columns = columns_open(0, 0, &e);
    struct engine_job job = {.width = 16, .height = 12, .ports = 2, .columns = p->columns};
    assert_true(p->engine && p->columns && engine_begin(p->engine, &job, &e));
    p->job = (struct decode_job){
        .selection = every(1), .threads = 1, .engine = p->engine, .columns = p->columns};
    decode_pass_open(&p->pass, &p->of.film, p->of.reader.stream, p->of.reader.traits, &p->job);
    p->pass.workers[ON_CORES] = 100;
    assert_true(decode_pass_open_queue(&p->pass, &e));
}

/* Waits until all frames are in their columns. No more may be staged. */
static inline void film_pass_finish(struct film_pass *p)
{
    struct err e = ERR_INIT;
    struct engine_times times;
    if (p->engine)
        engine_finish(p->engine, &times, &e);
    engine_close(&p->engine);
}

static inline void film_pass_close(struct film_pass *p)
{
    film_pass_finish(p);
    decode_pass_close(&p->pass);
    columns_free(&p->columns);
    film_close(&p->of);
}

#endif
