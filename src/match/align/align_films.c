#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "align.h"
#include "output/writer.h"

enum { FRAMES_MOST = 4096 };

/* What a job writes about its film, and behind it the times of `columns` columns. */
struct facts {
    double rate;
    int64_t start_us, duration_us;
    uint64_t columns;
};

/* ---- In a worker process ---- */

static bool write_facts(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    const struct film *film = r->film;
    const bool has_rate = film->rate_num > 0 && film->rate_den > 0;
    const struct facts facts = {.rate =
                                    has_rate ? (double)film->rate_num / (double)film->rate_den : 0,
                                .start_us = film->length.start_us,
                                .duration_us = film->length.duration_us,
                                .columns = r->count};
    (void)strips;
    errno = 0;
    fwrite(&facts, sizeof facts, 1, f);
    for (uint64_t i = 0; i < r->count; i++)
        fwrite(&columns_get(r->columns, i)->time_us, sizeof(int64_t), 1, f);
    if (ferror(f))
        return err_set(e, ERR_FAILED, "%s", strerror(errno ? errno : EIO));
    return true;
}

static const struct writer facts_writer = {
    .name = "facts", .title = "facts", .binary = true, .modeless = true, .write = write_facts};

/* ---- In the parent ---- */

/* Returns a time, or 0 if it is none that a film has. */
static int64_t check_time(int64_t us) { return us >= 0 && us < INT64_C(1000000000000000) ? us : 0; }

bool align_facts_read(const uint8_t *bytes, size_t size, struct align_film *film,
                      struct align_frames *frames)
{
    struct facts facts;
    errno = EINVAL;
    if (size < sizeof facts)
        return false;
    memcpy(&facts, bytes, sizeof facts);
    if (facts.columns != (size - sizeof facts) / sizeof(int64_t))
        return false;
    film->rate = facts.rate > 0 && facts.rate < 1e9 ? facts.rate : 0; /* 0 for a NaN */
    film->start_us = check_time(facts.start_us);
    film->duration_us = check_time(facts.duration_us);
    if (!frames)
        return true;
    frames->count = facts.columns < FRAMES_MOST ? (size_t)facts.columns : FRAMES_MOST;
    free(frames->time_us);
    frames->time_us = calloc(frames->count + 1, sizeof *frames->time_us);
    if (!frames->time_us)
        return false;
    memcpy(frames->time_us, bytes + sizeof facts, frames->count * sizeof *frames->time_us);
    for (size_t i = 0; i < frames->count; i++)
        frames->time_us[i] = check_time(frames->time_us[i]);
    return true;
}

/* What the outputs of a run are taken into. */
struct sink {
    struct align_film *film; /* [2] */
    struct align_frames *frames;
    size_t rgb_bytes;
};

/* Implements batch_sink.take. */
static bool take_output(void *user, size_t film, const struct writer *writer, uint8_t *bytes,
                        size_t size)
{
    struct sink *s = user;
    if (writer == &facts_writer) {
        bool ok = align_facts_read(bytes, size, &s->film[film], s->frames);
        free(bytes);
        return ok;
    }
    uint8_t **to = writer ? &s->film[film].png : &s->frames->rgb;
    free(*to);
    *to = bytes;
    if (writer)
        s->film[film].png_bytes = size;
    else
        s->rgb_bytes = size;
    return true;
}

bool align_films_render(const struct command_films *films, const struct plan *plan,
                        struct align_film film[2], struct align_frames *frames, int *status,
                        struct err *e)
{
    struct sink s = {.film = film, .frames = frames};
    const struct batch_sink sink = {take_output, &s};
    struct plan with = *plan;
    with.outputs.sound_only = false;
    with.outputs.in_memory = true;
    with.outputs.extra[with.outputs.extras++] =
        (struct options_extra){&facts_writer, facts_writer.name};
    if (frames)
        with.outputs.dump = "frames";
    *status = command_films_render(films, &with, true, &sink);
    if (*status != 0 || batch_is_worker())
        return false;
    if (!frames)
        return true;
    if (!frames->time_us || !frames->rgb)
        return err_set(e, ERR_FAILED, "a worker process handed over no frames");
    if (frames->count > s.rgb_bytes / ALIGN_FRAME_BYTES)
        frames->count = s.rgb_bytes / ALIGN_FRAME_BYTES;
    return true;
}
