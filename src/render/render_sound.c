/* render_sound.c - the film's sound: from the cache, or read beside the pictures or alone. */
#include <inttypes.h>

#include "cache/sound_cache.h"
#include "output/spectrum.h"
#include "barcode/sound/spectrogram.h"
#include "render_job.h"

bool render_sound_alone(const struct render_job *j)
{
    const struct options *o = j->render->options;
    bool alone =
        o->outputs.sound_only || (j->outputs.count > 0 && !j->outputs.dump.path && !o->film.verify);
    for (size_t i = 0; i < j->outputs.count; i++)
        alone &= j->outputs.output[i].writer->sound;
    return alone;
}

/* Opens the store of the spectrogram if an output shows it. */
static bool open_spectrum(struct render_job *j, struct err *e)
{
    bool wanted = false;
    for (size_t i = 0; i < j->outputs.count; i++)
        wanted |= j->outputs.output[i].writer->spectrum;
    if (!wanted)
        return true;
    j->report.spectrum = spectrum_open(e);
    j->sound.tap = spectrum_put;
    j->sound.tap_user = j->report.spectrum;
    return j->report.spectrum != NULL;
}

bool render_begin_sound(struct render_job *j, struct err *e)
{
    j->sound.engine = j->engine;
    return !j->report.spectrum || j->sound.done || spectrum_clear(j->report.spectrum, e);
}

/* Returns true if the output shows sound. */
static bool shows_sound(const struct options *o, const struct output *output)
{
    const struct writer *w = output->writer;
    return w->sound || (!w->modeless && strips_need(output->strips) & STRIP_SOUND) ||
           (w->table && csv_columns_need(&o->formats.csv_columns) & STRIP_SOUND);
}

static const struct film_parts *parts_of(const struct render_job *j)
{
    return j->render->inputs->parts[j->input];
}

static const char *path_of(const struct render_job *j) { return j->render->inputs->path[j->input]; }

bool render_look_for_sound(struct render_job *j, struct err *e)
{
    const struct options *o = j->render->options;
    j->wants_sound = o->outputs.sound_only;
    for (size_t i = 0; i < j->outputs.count; i++)
        j->wants_sound |= shows_sound(o, &j->outputs.output[i]);
    if (!j->wants_sound)
        return true;
    if (!isa_choose(&j->sound.isa, e) || !open_spectrum(j, e))
        return false;
    if (!o->film.verify && !j->report.spectrum)
        j->sound.done = j->sound_cached =
            sound_cache_load(&o->cache, path_of(j), parts_of(j), o->film.stream,
                             o->film.sound_stream, &j->sound.sound);
    return true;
}

int render_sound_stream(const struct render_job *j)
{
    return j->wants_sound && !j->sound.done ? j->render->options->film.sound_stream
                                            : SOURCE_SOUND_NONE;
}

/* Logs what the sound is, and warns of what is silent because it cannot be decoded. */
static void assess_sound(struct render_job *j)
{
    const struct film_sound *s = &j->sound.sound;
    if (s->stream < 0 && j->render->options->outputs.sound_only)
        log_msg(LOG_VERBOSE, "'%s' has no sound", path_of(j));
    else if (s->stream < 0)
        render_warn(j, "'%s' has no sound%s", path_of(j),
                    render_sound_alone(j) ? "" : ": sound and spectrum are dark");
    else
        log_msg(LOG_VERBOSE, "'%s': sound %d: %s by %s, %d Hz, %s, %.3f s, %" PRIu32 " gaps%s",
                path_of(j), s->stream, s->codec, s->decoder, s->rate, s->layout,
                (double)s->samples / SPECTROGRAM_RATE, s->gaps,
                j->sound_cached ? ", from the cache" : "");
    if (s->stream >= 0 && !s->decoder[0])
        render_warn(j, "'%s': its sound (%s) cannot be decoded, and is silent", path_of(j),
                    s->codec);
    else if (s->errors > 0)
        render_warn(j, "'%s': %" PRIu64 " packet%s of its sound cannot be decoded (silent there)",
                    path_of(j), s->errors, s->errors == 1 ? "" : "s");
}

/* Keeps the sound in the cache, unless another file or another FFmpeg may give a better one. */
static void keep_sound(struct render_job *j)
{
    const struct options *o = j->render->options;
    const struct film_sound *s = &j->sound.sound;
    j->changed |= j->stamp != 0 && film_stamp(path_of(j), parts_of(j)) != j->stamp;
    bool decoded = s->stream < 0 || s->decoder[0];
    if (!j->sound_cached && decoded && !j->changed && !o->film.keep_going &&
        source_can(j->source, SOURCE_CACHEABLE))
        sound_cache_save(&o->cache, path_of(j), parts_of(j), o->film.stream, o->film.sound_stream,
                         s);
}

bool render_sound(struct render_job *j, struct err *e)
{
    if (!j->wants_sound)
        return true;
    if (!source_can(j->source, SOURCE_HAS_SOUND))
        return err_set(e, ERR_FAILED, "cannot read the sound of '%s'", path_of(j));
    if (!j->sound.done && (!render_begin_sound(j, e) || !source_sound(j->source, &j->sound, e)))
        return false;
    assess_sound(j);
    keep_sound(j);
    j->report.sound = &j->sound.sound;
    return true;
}

bool render_sound_is_whole(const struct render_job *j)
{
    const struct film_sound *s = j->report.sound;
    return !s || s->stream < 0 || (s->decoder[0] && s->errors == 0);
}

bool render_sound_only(struct render_job *j, struct err *e)
{
    const struct options *o = j->render->options;
    j->stamp = film_stamp(path_of(j), parts_of(j));
    if (!render_look_for_sound(j, e))
        return false;
    j->report.sound = &j->sound.sound;
    if (j->sound.done) {
        assess_sound(j);
        return true;
    }
    int stream = o->film.stream == SOURCE_STREAM_CHOICE ? SOURCE_STREAM_OR_SOUND : o->film.stream;
    j->source = source_open_stream(path_of(j), parts_of(j), stream, o->film.sound_stream,
                                   o->film.keep_going, e);
    if (!j->source)
        return false;
    const struct film_length *length = &j->source->film.length;
    const struct engine_work work = {.sound_seconds = (double)film_length_end(length) / 1e6};
    j->engine = engines_for(j->render->engines, &work, e);
    return j->engine && render_sound(j, e);
}
