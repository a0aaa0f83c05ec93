/* job_sound.c - the film's sound: from the cache, or read beside the pictures or alone. */
#include <inttypes.h>

#include "cache/sound_cache.h"
#include "output/sinks.h"
#include "barcode/sound/spectrogram.h"
#include "phases.h"

/* Opens the store of the spectrogram. */
static bool open_spectrum(struct job_sound *s, struct report *r, struct err *e)
{
    r->media.spectrum = spectrum_open(e);
    s->job.tap = spectrum_put;
    s->job.tap_user = r->media.spectrum;
    return r->media.spectrum != NULL;
}

bool job_begin_sound(const struct job_sound *s, const struct report *r, struct err *e)
{
    return !r->media.spectrum || s->job.done || spectrum_clear(r->media.spectrum, e);
}

bool job_look_for_sound(const struct job_order *order, struct job_sound *s, struct report *r,
                        struct err *e)
{
    const struct plan *plan = order->plan;
    if (!order->needs->sound)
        return true;
    if (!isa_choose(&s->job.isa, e) || (order->needs->spectrum && !open_spectrum(s, r, e)))
        return false;
    if (!plan->film.verify && !r->media.spectrum)
        s->job.done = s->cached =
            sound_cache_load(&plan->cache, order->path, order->parts, plan->film.stream,
                             plan->film.sound_stream, &s->job.sound);
    return true;
}

int job_sound_stream(const struct job_order *order, const struct job_sound *s)
{
    return order->needs->sound && !s->job.done ? order->plan->film.sound_stream : SOURCE_SOUND_NONE;
}

/* Logs what the sound is, and warns of what is silent because it cannot be decoded. */
static void assess_sound(const struct job_order *order, const struct job_sound *sound,
                         struct report *r)
{
    const struct film_sound *s = &sound->job.sound;
    if (s->stream < 0 && order->plan->outputs.sound_only)
        log_msg(LOG_VERBOSE, "'%s' has no sound", order->path);
    else if (s->stream < 0)
        job_warn(r, "'%s' has no sound%s", order->path,
                 order->needs->sound_only ? "" : ": sound and spectrum are dark");
    else
        log_msg(LOG_VERBOSE, "'%s': sound %d: %s by %s, %d Hz, %s, %.3f s, %" PRIu32 " gaps%s",
                order->path, s->stream, s->codec, s->decoder, s->rate, s->layout,
                (double)s->samples / SPECTROGRAM_RATE, s->gaps,
                sound->cached ? ", from the cache" : "");
    if (s->stream >= 0 && !s->decoder[0])
        job_warn(r, "'%s': its sound (%s) cannot be decoded, and is silent", order->path, s->codec);
    else if (s->errors > 0)
        job_warn(r, "'%s': %" PRIu64 " packet%s of its sound cannot be decoded (silent there)",
                 order->path, s->errors, s->errors == 1 ? "" : "s");
}

/* Keeps the sound in the cache, unless another file or another FFmpeg may give a better one. */
static void keep_sound(const struct job_order *order, const struct job_film *film,
                       const struct job_sound *sound, struct job_passes *p)
{
    const struct plan *plan = order->plan;
    const struct film_sound *s = &sound->job.sound;
    p->changed |= job_film_changed(order, film);
    bool decoded = s->stream < 0 || s->decoder[0];
    if (!sound->cached && decoded && !p->changed && !plan->film.keep_going &&
        source_can(film->source, SOURCE_CACHEABLE))
        sound_cache_save(&plan->cache, order->path, order->parts, plan->film.stream,
                         plan->film.sound_stream, s);
}

bool job_end_sound(const struct job_order *order, const struct job_film *film, struct job_sound *s,
                   struct job_passes *p, struct report *r, struct err *e)
{
    if (!order->needs->sound)
        return true;
    if (!source_can(film->source, SOURCE_HAS_SOUND))
        return err_set(e, ERR_FAILED, "cannot read the sound of '%s'", order->path);
    if (!s->job.done && (!job_begin_sound(s, r, e) || !source_sound(film->source, &s->job, e)))
        return false;
    assess_sound(order, s, r);
    keep_sound(order, film, s, p);
    r->media.sound = &s->job.sound;
    return true;
}

bool job_sound_is_whole(const struct film_sound *s)
{
    return !s || s->stream < 0 || (s->decoder[0] && s->errors == 0);
}

bool job_read_sound(const struct job_order *order, struct job_film *film, struct job_sound *s,
                    struct job_passes *p, struct report *r, struct err *e)
{
    const struct plan *plan = order->plan;
    film->stamp = film_stamp(order->path, order->parts);
    if (!job_look_for_sound(order, s, r, e))
        return false;
    r->media.sound = &s->job.sound;
    if (s->job.done) {
        assess_sound(order, s, r);
        return true;
    }
    int stream =
        plan->film.stream == SOURCE_STREAM_CHOICE ? SOURCE_STREAM_OR_SOUND : plan->film.stream;
    film->source = source_open_stream(order->path, order->parts, stream, plan->film.sound_stream,
                                      plan->film.keep_going, e);
    if (!film->source)
        return false;
    const struct film_length *length = &film->source->film.length;
    const struct engine_work work = {.sound_seconds = (double)film_length_end(length) / 1e6};
    film->engine = s->job.engine = engines_for(order->context->engines, &work, e);
    return film->engine && job_end_sound(order, film, s, p, r, e);
}
