/*
 * phases.h - the state of a job by its phases. Each phase gets what the ones before it have made,
 * and sets its own:
 *
 *   job_order -> job_open.c: job_film -> job_decode.c: job_stores, job_passes
 *   -> job_shots.c: job_shots -> job.c: report, outputs
 *
 * The report (report.h) is what outputs are made from: each phase adds to it.
 */
#ifndef BARCODE_JOB_PHASES_H
#define BARCODE_JOB_PHASES_H

#include "base/log.h"
#include "cache/frame_cache.h"
#include "job.h"
#include "media/source.h"
#include "output/report.h"

/* What is asked of the job. */
struct job_order {
    const struct job_context *context;
    const struct plan *plan;
    size_t input; /* its number in the inputs */
    const char *path;
    const struct film_parts *parts; /* NULL: one file */
    const struct outputs *outputs;
    const struct output_needs *needs;
};

/* The opened film, and what was decided about it. */
struct job_film {
    struct source *source;
    uint64_t stamp;         /* film_stamp before the film was opened */
    uint64_t total_bytes;   /* of the film's file; 0: unknown */
    int64_t keys;           /* --keyframes: number of key frames in the film; 0: not counted */
    struct engine *engine;  /* owned by the context's engines */
    struct slit_line *slit; /* NULL: no mode needs it */
    struct light *light;    /* the converter of the film's frames */
    /* tone mapping, averaging and primaries as text for the cache key; "": usual SDR */
    char light_words[64];
    char crop_words[CROP_TEXT]; /* --crop as text for the cache key; "": off */
    struct frame_cache_ask ask; /* what the cache is asked for */
    bool scan_cached;           /* what is known of its scan frames comes from the cache */
};

/* The film's sound. */
struct job_sound {
    struct sound_job job;
    bool cached; /* it comes from the cache */
};

/* The film's shots. */
struct job_shots {
    struct film_scan scan; /* empty until the frames are decoded, or if no output shows shots */
    struct shots shots;
};

/* Where the frames of a decode pass go. What no output needs is NULL. */
struct job_stores {
    struct columns *columns;
    struct columns *shot_columns; /* a column a shot, of `columns` */
    struct dump *dump;
    struct thumbs *thumbs;
    struct previews *previews;
    struct colour_histogram *histogram; /* of the film's palette */
    struct scan *scan;                  /* takes scan frames */
    struct frame_cache *cache;          /* NULL: the cache is off for this film */
    struct digest *first, *second;      /* --verify: digests of the two decode passes */
    struct digest *digest;              /* the one that the current pass fills, or NULL */
    size_t frame_bytes;                 /* of an analysis frame */
};

/* What the decode passes showed beside report.run.counts. */
struct job_passes {
    bool exact_damage; /* see source.h */
    bool hinted;       /* the hint at --keyframes was logged */
    bool cut_short;    /* a truncated film, whose columns were spread again */
    bool changed;      /* the film was written or replaced while it was read */
};

/*
 * Logs a warning and adds it to the film's report. Ignores it if the report already has
 * REPORT_WARNINGS warnings.
 */
void job_warn(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- job_open.c ---- */

/* The columns that are aimed at if no option selects frames; with --keyframes, the most. */
enum { JOB_COLUMNS = 1920 };

/*
 * Reads the facts that the options need and the headers lack, into film->source->film and
 * film->keys. Returns false with ERR_INPUT if the input is a pipe and would have to be read for
 * that.
 */
bool job_probe(const struct job_order *order, struct job_film *film, struct err *e);

/* Decides selection, sizes, light and engine. The film must be probed. Sets film->ask. */
bool job_decide(const struct job_order *order, struct job_film *film, struct report *r,
                struct err *e);

/* Opens the cache and looks for the frames of report.selection. */
void job_look_in_cache(const struct job_order *order, const struct job_film *film,
                       struct job_stores *s, struct report *r);

/*
 * Sets the crop in the report: from --crop, from the cached frames, or from crop detection. Call it
 * after job_look_in_cache.
 */
bool job_decide_crop(const struct job_order *order, const struct job_film *film,
                     struct frame_cache *cache, struct report *r, struct err *e);

/* Sets r->selection for the film's length. */
bool job_decide_selection(const struct job_order *order, const struct job_film *film,
                          struct report *r, struct err *e);

/*
 * Sets the default length of the picture along time, if no option gives one or selects frames: by
 * picture_repeats, and at most 2,040 (JOB_COLUMNS for -m all), by merging columns. Otherwise the
 * picture has one pixel per column. If columns are shots, options that select frames do not matter,
 * and shots as wide as their time get JOB_COLUMNS pixels. The columns must be complete.
 */
void job_decide_width(const struct plan *plan, struct report *r);

/* Returns true if no option selects frames: --every, --interval and --columns. */
bool job_is_default(const struct selection *asked);

/*
 * Returns the default N of --every for a film of this length: about JOB_COLUMNS columns, at most
 * 2,040, or fewer for a short film. Returns 24 if the number of frames is unknown.
 */
uint64_t job_default_every(const struct selection *s, const struct film_length *length);

/*
 * Returns true if the film is so short that its length is checked to half a frame: that costs
 * little.
 */
bool job_is_short(const struct film *f);

/* Returns true if the film was written or replaced since it was opened. */
bool job_film_changed(const struct job_order *order, const struct job_film *film);

void job_close_film(struct job_film *film);

/* ---- job_decode.c ---- */

/* Decodes and clusters, and restarts the decode pass if needed. Verifies if --verify is given. */
bool job_decode(const struct job_order *order, struct job_film *film, struct job_stores *s,
                struct job_passes *p, struct job_sound *sound, struct report *r, struct err *e);

/* Returns the log level of "decoded in software": a warning only if the user demanded a device. */
enum log_level job_device_level(enum decode_choice choice);

/* Prepares the sound for a pass that reads it. */
bool job_begin_sound(const struct job_sound *s, const struct report *r, struct err *e);

/* Frees the stores of the passes. */
void job_close_stores(struct job_stores *s);

/* ---- job_shots.c: both do nothing if no output shows shots ---- */

/*
 * Looks for what the cache has of the film's scan frames. Else every frame will be decoded, which is
 * logged if the columns alone would not need that. Call it after job_decide.
 */
void job_look_for_shots(const struct job_order *order, struct job_film *film, struct job_shots *s,
                        struct report *r);

/*
 * Finds the shots after the decode pass and sets them in the report. With --columns shots replaces
 * the report's columns. `whole`: no frame is missing or damaged, so the cache may keep the scan.
 */
bool job_end_shots(const struct job_order *order, const struct job_film *film,
                   struct job_stores *stores, bool whole, struct job_shots *s, struct report *r,
                   struct err *e);

/* ---- job_decode.c: progress ---- */

/* The resources used and the columns finished at some moment. */
struct job_usage {
    double seconds, cpu_seconds; /* on any clock; of the whole process */
    double decode_seconds;       /* of struct decode_progress */
    uint64_t columns;            /* finished; 0: no moment was recorded */
};

/*
 * Returns the progress. The share is that of the columns if their number is known.
 * The position of the last decoded frame cannot be used, because chunks end in any order.
 */
struct watch_progress job_progress(const struct film *f, uint64_t columns_total,
                                   const struct pass_state *now);

/*
 * Returns the seconds that the film would take with --keyframes, or 0 if unknown. Each of `keys`
 * key frames takes key_seconds of one core to decode, plus the time of a column. The time of a
 * column and the number of busy cores are those measured between `first` and `now`.
 */
double job_key_seconds(double keys, double key_seconds, const struct job_usage *first,
                       const struct job_usage *now);

#endif
