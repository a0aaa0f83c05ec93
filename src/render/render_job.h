/*
 * render_job.h - the state of one film while it is rendered.
 *
 *   render.c opens -> render_probe.c -> render_decide.c -> render_decode.c (-> render_verify.c)
 *   -> render_assess.c -> render_write.c
 */
#ifndef BARCODE_RENDER_JOB_H
#define BARCODE_RENDER_JOB_H

#include "base/log.h"
#include "cache/frame_cache.h"
#include "plan/outputs.h"
#include "media/source.h"
#include "output/palette/colour_histogram.h"
#include "output/digest.h"
#include "output/dump.h"
#include "output/formats/previews.h"
#include "output/report.h"
#include "output/formats/thumbs.h"
#include "render.h"

/* One film in progress. */
struct render_job {
    const struct render *render;
    size_t input;
    struct source *source;
    struct engine *engine; /* owned by render->engines */
    struct report report;
    struct columns *columns;
    struct slit_line *slit; /* NULL: no mode needs it */
    struct outputs outputs; /* the outputs to write */
    struct dump *dump;
    struct thumbs *thumbs;              /* NULL: no output needs thumbnails */
    struct previews *previews;          /* NULL: no output needs previews */
    struct colour_histogram *histogram; /* NULL: no output needs the film's palette */
    struct frame_cache *cache;          /* NULL: the cache is off for this film */
    struct digest *first, *second;      /* --verify: digests of the two decode passes */
    bool exact_damage;                  /* see source.h */
    struct digest *digest;              /* the digest that the current pass fills, or NULL */
    struct light *light;                /* the converter of the film's frames */
    /* tone mapping, averaging and primaries as text for the cache key; "": usual SDR */
    char light_words[64];
    char crop_words[CROP_TEXT]; /* --crop as text for the cache key; "": off */
    char decode[32];            /* the report's, if a device decoded */
    bool cut_short;             /* a truncated film, whose columns were spread again */
    struct frame_cache_ask ask; /* what the cache is asked for */
    uint64_t total_bytes;       /* of the film's file; 0: unknown */
    int64_t keys;               /* --keyframes: number of key frames in the film; 0: not counted */
    bool hinted;                /* the hint at --keyframes was logged */
    bool written;               /* all outputs are written */
    uint64_t stamp;             /* film_stamp before the film was opened */
    struct sound_job sound;     /* of the film */
    bool wants_sound;           /* an output shows it */
    bool sound_cached;          /* it comes from the cache */
    bool changed;               /* the film was written or replaced while it was read */
    bool unsettled;       /* bytes were unreadable or the film changed: --update renders it again */
    uint64_t lost_to_end; /* columns missing at the end of a damaged or truncated film */
};

/*
 * Logs a warning and adds it to the film's report. Ignores it if the report already has
 * REPORT_WARNINGS warnings.
 */
void render_warn(struct render_job *j, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- render.c ---- */

/* Opens the cache and looks for the frames of report.selection. j->ask is set. */
void render_look_in_cache(struct render_job *j);

/* ---- render_probe.c ---- */

/*
 * Reads the facts that the options need and the headers lack, into j->source->film and j->keys.
 * Returns false with ERR_INPUT if the input is a pipe and would have to be read for that.
 */
bool render_probe(struct render_job *j, struct err *e);

/*
 * Sets the crop in the report: from --crop, from the cached frames, or from crop detection. Call it
 * after frame_cache_look.
 */
bool render_crop(struct render_job *j, struct err *e);

/*
 * Decides on tone mapping, primaries and --light linear: sets report.light, report.primaries,
 * report.means, light and light_words. Probes a PQ film that does not declare its peak.
 */
bool render_light(struct render_job *j, struct err *e);

/* Fills j->crop_words. */
void render_crop_words(struct render_job *j);

/* ---- render_decide.c ---- */

enum { RENDER_COLUMNS = 1920 }; /* wanted without a rule; the most that --keyframes then gives */

/* Returns true if no option selects frames: --every, --interval and --columns. */
bool render_is_default(const struct render_job *j);

/*
 * Returns the default N of --every for a film of this length: about RENDER_COLUMNS columns, at most
 * 2,040, or fewer for a short film. Returns 24 if the number of frames is unknown.
 */
uint64_t render_default_every(const struct selection *s, const struct film_length *length);

/* Returns true if the film is so short that its length is checked to half a frame: that costs
 * little.
 */
bool render_is_short(const struct film *f);

/* Return true if an output shows previews, and if one shows columns. */
bool render_wants_previews(const struct render_job *j);
bool render_wants_columns(const struct render_job *j);

/* Completes j->report.selection. The film must be probed. */
bool render_decide_selection(struct render_job *j, struct err *e);

/*
 * Sets the default length of the picture along time, if no option gives one or selects frames: at
 * least 320 pixels, by repeating those of each column, and at most 2,040 (RENDER_COLUMNS for -m
 * all), by merging columns. Otherwise the picture has one pixel per column. The columns must be
 * complete.
 */
void render_decide_width(struct render_job *j);

/* Chooses j->engine and adds it to the report. The selection and the analysis size must be set. */
bool render_decide_engine(struct render_job *j, struct err *e);

/* ---- render_decode.c ---- */

/* Decodes and clusters, and restarts the decode pass if needed. Verifies if --verify is given. */
bool render_decode(struct render_job *j, struct err *e);

/*
 * Decodes the film once into `columns`, under a progress line. The caller checks
 * decode_must_restart().
 */
bool render_attempt(struct render_job *j, enum decode_plan plan, struct columns *columns,
                    struct decode_counts *counts, struct decode_times *times, struct err *e);

/* Returns the log level of "decoded in software": a warning only if the user demanded a device. */
enum log_level render_warning_level(const struct render_job *j);

/* ---- render_sound.c ---- */

/* Decides whether an output shows the film's sound, and looks for it in the cache. */
bool render_look_for_sound(struct render_job *j, struct err *e);

/* Returns the stream of sound for source_open_stream. */
int render_sound_stream(const struct render_job *j);

/*
 * Completes the sound after the decode pass, and keeps it in the cache: sets report.sound. Does
 * nothing if no output shows it.
 */
bool render_sound(struct render_job *j, struct err *e);

/* Returns false if packets of the sound could not be decoded, or none of it. */
bool render_sound_is_whole(const struct render_job *j);

/* Prepares for a pass that reads the sound. */
bool render_begin_sound(struct render_job *j, struct err *e);

/* Returns true if no output shows pictures, or with options.sound_only: render_sound_only. */
bool render_sound_alone(const struct render_job *j);

/* Reads the film's sound, or takes it from the cache, without decoding its pictures. */
bool render_sound_only(struct render_job *j, struct err *e);

/* ---- render_verify.c ---- */

/* Decodes again, frame by frame in one decoder, and compares every analysis frame. */
bool render_verify(struct render_job *j, struct err *e);

/* ---- render_assess.c ---- */

/*
 * Finishes the columns, chooses their colours, and warns of missing or damaged frames. Returns
 * false if there is nothing to paint.
 */
bool render_assess(struct render_job *j, struct err *e);

/*
 * Returns true if no frame of the film is missing or damaged, selected or not, and the film was
 * read to its end (--strict).
 */
bool render_is_whole(const struct render_job *j);

/* ---- render_write.c ---- */

/* Writes all outputs and the dump. `started` (clock_ns) is when the work on the film began. */
bool render_write(struct render_job *j, int64_t started, struct err *e);

#endif
