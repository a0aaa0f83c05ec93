/*
 * fuzz_film.c - any bytes as a film: opened, staged both ways with its sound, and probed. What
 * comes of it is the file's business; that nothing breaks, hangs, leaks or fails without a sentence
 * is ours.
 */
#include <stdio.h>

#include "base/log.h"
#include "barcode/engine/engine.h"
#include "media/source.h"
#include "fuzz.h"

static void stage(struct source *s, struct engine *g, enum decode_plan plan,
                  enum selection_kind kind, struct sound_job *sound)
{
    struct err e = ERR_INIT, engine_error = ERR_INIT;
    struct columns *c = columns_open(0, 0, &e);
    struct engine_job job = {.width = 4, .height = 3, .ports = 2, .columns = c};
    struct decode_job what = {
        .plan = plan, .threads = 1, .engine = g, .columns = c, .sound = sound};
    what.selection = (struct selection){.kind = kind,
                                        .every = 3,
                                        .columns = 50,
                                        .end_us = kind == SELECT_COLUMNS ? 10000000 : INT64_MAX};
    struct decode_counts counts;
    struct decode_times times = {0};
    struct engine_times engine_times;
    fuzz_demand(c && engine_begin(g, &job, &e));
    bool ok = source_decode(s, &what, &counts, &times, &e);
    fuzz_demand(ok == (e.code == ERR_NONE) && (ok || e.text[0]));
    fuzz_demand(engine_finish(g, &engine_times, &engine_error) || !ok || engine_error.text[0]);
    columns_finish(c, NULL);
    fuzz_demand(!ok || columns_count(c) <= counts.displayed + 50);
    columns_free(&c);
}

static void probe(struct source *s)
{
    struct err e = ERR_INIT;
    struct probe_request request = {.want = PROBE_LENGTH};
    struct probe_facts facts;
    bool ok = source_probe(s, &request, &facts, &e);
    fuzz_demand(ok ? facts.found == PROBE_LENGTH && facts.length.frames >= 0 &&
                         facts.length.duration_us >= 0
                   : e.text[0] && !facts.found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct engine *g;
    struct err e = ERR_INIT;
    if (!g) {
        struct engine_config config = {.threads = 1};
        log_set_level(LOG_ERROR);
        g = engine_open("cpu", &config, &e);
        fuzz_demand(g != NULL);
    }
    const int fd = fuzz_file(data, size);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct source *s =
        source_open_stream(path, NULL, SOURCE_STREAM_OR_SOUND, SOURCE_STREAM_CHOICE, false, &e);
    fuzz_demand((s != NULL) == (e.code == ERR_NONE) && (s || e.text[0]));
    /* A header may ask for pictures of 16,384 x 16,384: slow, and nothing new. */
    if (s && (int64_t)s->film.coded_width * s->film.coded_height <= 512 * 512) {
        struct sound_job sound = {.isa = ISA_BASE}, alone = {.isa = ISA_BASE};
        bool pictures = s->film.width > 0;
        fuzz_demand(pictures ? s->film.height > 0 : s->film.sound_stream >= 0);
        if (pictures) {
            stage(s, g, DECODE_PARALLEL, SELECT_EVERY, &sound);
            stage(s, g, DECODE_SEQUENTIAL, SELECT_COLUMNS, &sound);
        }
        bool heard = source_sound(s, &alone, &e);
        fuzz_demand(heard == (e.code == ERR_NONE) && heard == alone.done);
        film_sound_free(&sound.sound);
        film_sound_free(&alone.sound);
        err_clear(&e);
        if (pictures)
            probe(s);
    }
    source_close(&s);
    close(fd);
    return 0;
}
