/*
 * render_job.h - one film on its way through this room: what its steps share.
 *
 *   render.c opens -> render_probe.c -> render_decide.c -> render_decode.c (-> render_verify.c) ->
 * render_assess.c -> render_write.c
 */
#ifndef BARCODE_RENDER_JOB_H
#define BARCODE_RENDER_JOB_H

#include "barcode/base/log.h"
#include "barcode/cache/frame_cache.h"
#include "barcode/cli/outputs.h"
#include "barcode/media/source.h"
#include "barcode/output/digest.h"
#include "barcode/output/dump.h"
#include "barcode/output/report.h"
#include "barcode/output/thumbs.h"
#include "barcode/render/render.h"

/* One film on its way. */
struct render_job {
    const struct render *render;
    size_t input;
    struct source *source;
    struct engine *engine; /* the engines' */
    struct report report;
    struct columns *columns;
    struct outputs outputs; /* what the film is to give */
    struct dump *dump;
    struct thumbs *thumbs;         /* NULL: no output wants them */
    struct frame_cache *cache;     /* NULL: this film has none */
    struct digest *first, *second; /* --verify: the two ways of decoding */
    bool exact_damage;             /* see source.h */
    struct digest *digest;         /* the one being filled, or NULL */
    struct light *light;           /* NULL: no picture goes through it */
    char light_words[64];          /* the same for the cache's key; "": as every SDR film is */
    char crop_words[CROP_TEXT];    /* what --crop says, for the cache's key; "": off */
    bool spread;          /* the columns asked for, over a film that is shorter than it says */
    uint64_t total_bytes; /* of the film's file, 0: unknown */
    int64_t keys; /* --keyframes: how many key frames the film has, 0: nobody counted them */
    bool hinted;  /* the user knows what --keyframes would take */
    bool written; /* all outputs are there */
    uint64_t lost_to_end; /* columns that a damaged or cut-off film does not have */
};

/* A warning for the log and the report, where there is room for REPORT_WARNINGS of them. */
void render_warn(struct render_job *j, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- render_probe.c ---- */

/*
 * Finds out what the options need to know of the film and its headers do not say; the source's film
 * has it from then on. ERR_INPUT for a pipe that would have to be read for that.
 */
bool render_probe(struct render_job *j, struct err *e);

/* Reads the film for its length, where that is not what the film says. The source is
 * SOURCE_RESTARTABLE. */
bool render_probe_length(struct render_job *j, struct err *e);

/*
 * What pictures are cut to, into the report: as --crop says, as the cache's frames were, or as
 * looking finds. The cache has been looked at.
 */
bool render_crop(struct render_job *j, struct err *e);

/*
 * Decides how HDR and --light linear are worked out: report.light, report.means, light and
 * light_words. Looks at an HDR film that does not say how bright it gets.
 */
bool render_light(struct render_job *j, struct err *e);

/* Fills j->crop_words. */
void render_crop_words(struct render_job *j);

/* ---- render_decide.c ---- */

enum { RENDER_KEY_COLUMNS = 1600 }; /* the most that --keyframes gives without another rule */

/* Decides which frames: j->report.selection has nothing left open then. The film is probed. */
bool render_decide_selection(struct render_job *j, struct err *e);

/* Decides which engine: j->engine, in the report too. The selection and the staged size are
 * decided. */
bool render_decide_engine(struct render_job *j, struct err *e);

/* ---- render_decode.c ---- */

/* Decodes and clusters, again where staging says that it must be done anew; verifies when asked to.
 */
bool render_decode(struct render_job *j, struct err *e);

/* One pass over the film, under a progress line, into `columns`; it may have to be made again
 * (source_decode). */
bool render_attempt(struct render_job *j, enum decode_plan plan, struct columns *columns,
                    struct decode_counts *counts, struct decode_times *times, struct err *e);

/* The log level of "decoded in software": a warning only for a user who demanded NVDEC. */
enum log_level render_loudness(const struct render_job *j);

/* ---- render_verify.c ---- */

/* Decodes once more, one picture after another in one decoder, and compares every staged frame. */
bool render_verify(struct render_job *j, struct err *e);

/* ---- render_assess.c ---- */

/* Finishes the columns and chooses their colours, warns of what is missing or damaged. False: there
 * is nothing to paint. */
bool render_assess(struct render_job *j, struct err *e);

/* True when no picture of the film was lost or damaged, selected or not, and nothing behind it was
 * left unread (--strict). */
bool render_is_whole(const struct render_job *j);

/* ---- render_report.c ---- */

/* Says what became of a film: with -v, and to the report. `seconds` it took; `ok`: as the film
 * ended so far. False: it failed. */
bool render_report_film(const struct render_job *j, bool ok, double seconds, struct err *e);

/* ---- render_write.c ---- */

/* All outputs that were asked for, and the dump. `started` (clock_ns) is when the film's turn came.
 */
bool render_write(struct render_job *j, int64_t started, struct err *e);

#endif
