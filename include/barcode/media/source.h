/*
 * source.h - where staged frames come from. One table: a film through libav, and frames of the
 * cache (cache/source_cache.h). Tests have one of their own (tests/unit/synth.h).
 *
 * A source says itself what it can do (source_can); its name decides nothing. A field of a
 * decode_job that needs an ability names it: a source without that ability ignores the field.
 */
#ifndef BARCODE_SOURCE_H
#define BARCODE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/base/admission.h"
#include "barcode/engine/engine.h"
#include "barcode/media/decoders.h"
#include "barcode/media/film.h"
#include "barcode/media/probe.h"
#include "barcode/media/selection.h"
#include "barcode/media/decode_counts.h"
#include "barcode/media/frame_times.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which decoders take part. */
enum decode_choice {
    DECODE_AUTO, /* NVDEC and software side by side where the engine is on a GPU; else software */
    DECODE_CPU,  /* software alone */
    DECODE_NVDEC /* NVDEC alone, for the codecs that it knows */
};

enum decode_plan {
    DECODE_PARALLEL,  /* runs of GOPs on one worker a core; sequential where that is not exact */
    DECODE_SEQUENTIAL /* one decoder, every picture: what --verify compares with */
};

/* What a source can do. */
enum source_ability {
    /* it may be staged and probed any number of times, each time from its start */
    SOURCE_RESTARTABLE = 1 << 0,
    /* its frames are a function of one file's bytes: the cache may keep them and serve them */
    SOURCE_CACHEABLE = 1 << 1,
    /* decode_job.timetable: it tells when each displayed frame was on the screen */
    SOURCE_HAS_FRAME_TIMES = 1 << 2,
    SOURCE_SPARING = 1 << 3, /* decode_job.have: it need not decode frames that are there already */
    SOURCE_EXACT_DAMAGE = 1 << 4 /* decode_job.careful: it counts damage_found */
};

/* What source_decode is to do. All of it is lent for the call. */
struct decode_job {
    struct selection selection; /* decided: every >= 1, or a real end for SELECT_COLUMNS */
    enum decode_plan plan;      /* these two mean nothing to a source that decodes nothing */
    enum decode_choice decode;
    int threads;           /* cores to work on, 1 or more */
    struct engine *engine; /* begun */
    /* selected frames are announced here (frame, time) before they decode */
    struct columns *columns;
    bool exact_damage; /* SOURCE_EXACT_DAMAGE: a decoder over everything is single-threaded */
    /* SOURCE_HAS_FRAME_TIMES: emptied, then filled, by the thread that called. NULL: not wanted */
    struct frame_times *frame_times;
    /*
     * SOURCE_SPARING: asked of each selected frame; one that is there may be put all the same.
     * NULL: none is there
     */
    frame_have *have;
    void *have_user;
    struct decoders *decoders; /* kept from film to film; NULL: none is */
    /*
     * the film's, which feeds: it is told when all is handed out, and of cores at work. NULL: it is
     * alone
     */
    struct admission_ticket *ticket;
    /* that have films under way at once, and divide the machine's memory; 0: one */
    int worker_processes;
};

/* Read by the main thread for the progress line while staging runs. */
struct decode_progress {
    uint64_t frames;      /* film frames covered so far */
    uint64_t bytes;       /* of the file read so far */
    uint64_t total_bytes; /* 0 when unknown */
    /* Of software decoders. All are 0 with --keyframes, or where it would find no index. */
    double decode_seconds; /* processor time of the decoding threads so far */
    double key_share;      /* key frames among the pictures that were read so far */
    double key_seconds;    /* processor time that one key frame takes, estimated */
};

struct source;

struct source_ops {
    const char *name; /* for messages and tests */
    unsigned can;     /* SOURCE_ abilities of this kind of source */
    unsigned probes;  /* PROBE_ flags: what `probe` can find out */
    bool (*decode_frames)(struct source *s, const struct decode_job *job,
                          struct decode_counts *counts, struct decode_times *times, struct err *e);
    void (*progress)(struct source *s, struct decode_progress *p);
    /* `want` has nothing but what `probes` has. NULL where that is nothing. */
    bool (*probe)(struct source *s, const struct probe_request *request, struct probe_facts *facts,
                  struct err *e);
    void (*close)(struct source **s);
};

/* Private data of an implementation begins with this. */
struct source {
    const struct source_ops *ops;
    struct film film;
    unsigned lacks; /* of ops->can: what this source cannot do, though its kind can */
};

/*
 * Opens a film through libav. The caller's, source_close. NULL: ERR_INPUT, or ERR_FAILED without
 * memory. Any thread.
 */
struct source *source_open(const char *path, struct err *e);

/* the largest picture among the streams marked as default, or else among all */
enum { SOURCE_STREAM_CHOICE = -1 };

/*
 * The same with one of its video streams: SOURCE_STREAM_CHOICE, or a number from 0, in the order of
 * the container; cover pictures do not count unless there is nothing else. ERR_USAGE for one that
 * is not there.
 */
struct source *source_open_stream(const char *path, int stream, struct err *e);

/* True when the source has all of these abilities (SOURCE_ flags, together). From opening to
 * closing the answer is the same. */
bool source_can(const struct source *s, unsigned abilities);

/*
 * Puts every selected frame into the engine, from the film's start; waits for the last one to be
 * put. *counts (zero before) is filled, seconds are added to *times. True also when a film decodes
 * in part: counts say what is missing. True also when what was put is no good and the film must be
 * staged again, into new columns:
 * - counts->contradicted, only with DECODE_PARALLEL: again with DECODE_SEQUENTIAL;
 * - counts->damage_found, only with SOURCE_EXACT_DAMAGE and not with `exact_damage`: one decoder
 * with threads went over all of the film and found damage; again with `exact_damage`;
 * - counts->cache_failed, only of the cache's source: again from the film itself.
 * False: the first failure; ERR_INPUT for a film that is read already and not SOURCE_RESTARTABLE;
 * ERR_INTERRUPTED when interrupted() turned true. One thread at a time.
 */
bool source_decode(struct source *s, const struct decode_job *job, struct decode_counts *counts,
                   struct decode_times *times, struct err *e);

/* Any thread, while source_decode runs, and afterwards: then what the last staging covered. */
void source_progress(struct source *s, struct decode_progress *p);

/*
 * Finds out what is wanted of the film, as far as this source can: facts->found says what was
 * found. From then on s->film holds what film.h has a place for, no longer as a guess. Before or
 * between stagings, by one thread; a source that is not SOURCE_RESTARTABLE cannot be staged after
 * something was found. False: the first failure (ERR_INPUT, ERR_FAILED, or ERR_INTERRUPTED when
 * interrupted() turned true); nothing was found then, and s->film is as it was.
 */
bool source_probe(struct source *s, const struct probe_request *request, struct probe_facts *facts,
                  struct err *e);

/* Frees all; sets *s to NULL. NULL is fine. */
void source_close(struct source **s);

struct source *source_film_open(const char *path, int stream, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
