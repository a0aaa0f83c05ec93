/*
 * source.h - sources of analysis frames. One table: a film through libav, and frames of the cache
 * (cache/source_cache.c). Tests have one of their own (tests/unit/synth.h).
 *
 * A source declares what it can do (source_can); its name decides nothing. A field of decode_job
 * that needs an ability names it: a source without that ability ignores the field.
 */
#ifndef BARCODE_SOURCE_H
#define BARCODE_SOURCE_H

#include "barcode/base/isa.h"
#include "barcode/engine/crop.h"
#include "barcode/engine/engine.h"
#include "base/admission.h"
#include "media/gop/decode_counts.h"
#include "media/select/frame_times.h"
#include "sound/film_sound.h"

/*
 * Facts that take reading or decoding to find (source_probe). All that are needed of a film go into
 * one request, so that a source may find several in one reading.
 */
enum probe_want {
    /* how many frames are displayed and for how long: reads the complete film, decodes nothing */
    PROBE_LENGTH = 1 << 0,
    /* how many key frames: by the index, or by reading the film, with PROBE_LENGTH too */
    PROBE_KEYS = 1 << 1,
    /* the same, if the container's index of key frames makes it cheap; else nothing */
    PROBE_END = 1 << 4,
    PROBE_LIGHT = 1 << 3, /* the peak of an HDR film, from the metadata of its first frame */
    /* black bars, in up to two dozen key frames; not found in a film that is not seekable */
    PROBE_BARS = 1 << 2
};

enum { PROBE_THREADS = 8 }; /* PROBE_BARS: more threads gain nothing */

struct probe_request {
    unsigned want; /* PROBE_ flags, combined; 0 asks nothing and costs nothing */
    int threads;   /* PROBE_BARS: cores to decode on, 1 or more; at most PROBE_THREADS are used */
};

struct probe_facts {
    unsigned found; /* PROBE_ flags: which of the fields below are set; the others are zero */
    /* PROBE_LENGTH; a duration of 0: no frame. By an index, the frames are an estimate */
    struct film_length length;
    int64_t keys;            /* PROBE_KEYS: key frames, 0 or more */
    struct crop crop;        /* PROBE_BARS */
    int peak;                /* PROBE_LIGHT: as film.peak */
    int sampled, conclusive; /* PROBE_BARS: frames; how many are bright enough to show edges */
};

/* Which decoders are used. */
enum decode_choice {
    DECODE_AUTO, /* a device and software side by side if the engine is on a GPU; else software */
    DECODE_CPU,  /* software alone */
    DECODE_NVDEC /* NVDEC alone, for the codecs that it supports */
};

/* Returns the word of a choice in options, reports and cache keys; NULL for no choice. */
const char *decode_word(enum decode_choice choice);

/* Returns true if the choice is a device alone. */
static inline bool decode_is_device(enum decode_choice choice) { return choice > DECODE_CPU; }

/* Returns the word of the choice's device; for DECODE_AUTO, of the device tried first. */
const char *decode_device_word(enum decode_choice choice);

/*
 * ---- a pool of the GPU's decoders, for one film or several ----
 *
 * NVIDIA's driver opens one decoder at a time and closes it as slowly. So a film reuses the
 * decoders that earlier films of the same stream parameters have finished with, and never are more
 * at work than keep the GPU busy. Those of the last film are closed after all images are written.
 */

struct decoders;

/* Opens an empty pool, for one film or `several`. Returns NULL if out of memory. Any thread. */
struct decoders *decoders_open(bool several, struct err *e);

/* Closes the decoders and sets *d to NULL, if it is not. No film may be decoding. Any thread. */
void decoders_free(struct decoders **d);

/* ---- decoding ---- */

enum decode_plan {
    DECODE_PARALLEL,  /* chunks of GOPs, one worker a core; sequential where that is not exact */
    DECODE_SEQUENTIAL /* one decoder, every picture: what --verify compares with */
};

/* What a source can do. */
enum source_ability {
    /* it may be decoded and probed any number of times, each time from its start */
    SOURCE_RESTARTABLE = 1 << 0,
    /* its frames depend on one file's bytes only: the cache may keep them and serve them */
    SOURCE_CACHEABLE = 1 << 1,
    /* decode_job.frame_times: it receives the display time of each frame */
    SOURCE_HAS_FRAME_TIMES = 1 << 2,
    SOURCE_SPARING = 1 << 3,      /* decode_job.have: it skips frames that exist already */
    SOURCE_EXACT_DAMAGE = 1 << 4, /* decode_job.exact_damage: it counts damage_found */
    SOURCE_HAS_SOUND = 1 << 5     /* decode_job.sound, source_sound */
};

/* The sound of a film that a source reads. */
struct sound_job {
    enum isa isa;            /* that analyses the sound */
    struct engine *engine;   /* its device analyses the sound, if it has one; NULL: `isa` does */
    sound_spectrum_tap *tap; /* see sound_maker_open; may be NULL */
    void *tap_user;
    bool done;               /* the sound was read to its end, and `sound` is filled */
    struct film_sound sound; /* the caller frees it with film_sound_free */
};

/* The arguments of source_decode, borrowed for the call. */
struct decode_job {
    struct selection selection; /* decided: every >= 1; a real end for SELECT_COLUMNS */
    enum decode_plan plan;      /* a source that decodes nothing ignores these two */
    enum decode_choice decode;
    int threads;           /* cores of this process for the film, 1 or more */
    struct engine *engine; /* begun */
    /* selected frames are announced here (frame, time) before they are decoded */
    struct columns *columns;
    bool exact_damage; /* SOURCE_EXACT_DAMAGE: a sequential decoder has a single thread */
    /* SOURCE_HAS_FRAME_TIMES: emptied, then filled, by the calling thread. NULL: not needed */
    struct frame_times *frame_times;
    /* SOURCE_SPARING: a selected frame that exists may be put all the same. NULL: none exists */
    frame_have *have;
    void *have_user;
    struct decoders *decoders; /* reused from film to film; NULL: none */
    /* released when all chunks are queued, and told how many cores work. NULL: a single film */
    struct admission_ticket *ticket;
    /* worker processes that share the machine's memory; 0: one */
    int worker_processes;
    /*
     * SOURCE_HAS_SOUND: decoded beside the pictures, to its end, and sound->done set. Not if it is
     * done already, nor if --keyframes reads key frames alone (source_sound). NULL: not needed
     */
    struct sound_job *sound;
};

/* The main thread reads it for the progress line while decoding runs. */
struct decode_progress {
    uint64_t frames;      /* film frames covered so far */
    uint64_t bytes;       /* of the file read so far */
    uint64_t total_bytes; /* 0 when unknown */
    /* Of software decoders. All are 0 with --keyframes, or if that would find no index. */
    double decode_seconds; /* processor time of the decoding threads so far */
    double key_share;      /* share of key frames among the pictures read so far */
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
    /* `want` has only flags of `probes`. NULL if `probes` is 0. */
    bool (*probe)(struct source *s, const struct probe_request *request, struct probe_facts *facts,
                  struct err *e);
    bool (*read_sound)(struct source *s, struct sound_job *sound, struct err *e); /* or NULL */
    void (*close)(struct source **s);
};

/* The private data of an implementation begins with this struct. */
struct source {
    const struct source_ops *ops;
    struct film film;
    unsigned lacks; /* flags of ops->can that this source lacks */
};

enum {
    /* by most pixels a frame, of streams marked as default or else all; sound: most channels */
    SOURCE_STREAM_CHOICE = -1,
    /* as SOURCE_STREAM_CHOICE, or only sound: a film without pictures */
    SOURCE_STREAM_OR_SOUND = -2,
    SOURCE_SOUND_NONE = -3 /* no sound will be read */
};

/*
 * Opens a film, which may have several files, `parts`, borrowed until it is closed (NULL: the file
 * `path`), with one of its video streams: SOURCE_STREAM_CHOICE, or a number from 0 in the
 * container's order. Cover pictures do not count unless there is nothing else. With
 * SOURCE_STREAM_OR_SOUND a film may have sound alone: then its film.width is 0, and source_sound is
 * all that may be called. `sound` is SOURCE_SOUND_NONE, SOURCE_STREAM_CHOICE or a number among the
 * streams of sound. With `keep_going`, bytes that the disk cannot read are skipped
 * (counts->bytes_unread). Returns NULL with ERR_INPUT, ERR_FAILED (disk), ERR_MEMORY, or ERR_USAGE
 * if there is no stream of that number, of sound if there is any. Any thread.
 */
struct source *source_open_stream(const char *path, const struct film_parts *parts, int stream,
                                  int sound, bool keep_going, struct err *e);

/* Returns true if the source has all of these SOURCE_ abilities, which never change. */
bool source_can(const struct source *s, unsigned abilities);

/*
 * Puts each selected frame into the engine, from the film's start; waits until the last one is put.
 * Fills *counts (zero before) and adds seconds to *times. Returns true also if a film decodes in
 * part: counts has what is missing. Returns true also if the result is invalid, and the film must
 * be decoded again into new columns:
 *
 * - counts->contradicted, only with DECODE_PARALLEL: again with DECODE_SEQUENTIAL;
 * - counts->damage_found, only with SOURCE_EXACT_DAMAGE and not with `exact_damage`: a decoder with
 *   threads went over the complete film and found damage; again with `exact_damage`;
 * - counts->keys_again, only with --keyframes: again, without the damaged key frames;
 * - counts->cache_failed, only of the cache's source: again from the film itself.
 *
 * Returns false on the first error; ERR_FAILED if the system fails, for instance the disk;
 * ERR_INPUT for a film that was read already and is not SOURCE_RESTARTABLE; ERR_INTERRUPTED if
 * interrupted() turned true. One thread at a time.
 */
bool source_decode(struct source *s, const struct decode_job *job, struct decode_counts *counts,
                   struct decode_times *times, struct err *e);

/* Fills the progress of the current or last source_decode. Any thread, also while that runs. */
void source_progress(struct source *s, struct decode_progress *p);

/*
 * Finds the requested facts, as far as this source can: facts->found has those that were found.
 * Afterwards s->film contains them where film.h has a field, no longer as guesses. Call it before
 * or between decodes, on one thread. A source that is not SOURCE_RESTARTABLE cannot be decoded
 * after something was found. Returns false on the first error (ERR_INPUT, ERR_FAILED, or
 * ERR_INTERRUPTED if interrupted() turned true); then nothing was found, and s->film is unchanged.
 */
bool source_probe(struct source *s, const struct probe_request *request, struct probe_facts *facts,
                  struct err *e);

/*
 * Reads the film's sound without decoding pictures, with the same result and errors as
 * source_decode. Sound that cannot be decoded is no error. Only with SOURCE_HAS_SOUND.
 */
bool source_sound(struct source *s, struct sound_job *sound, struct err *e);

/* Frees the source; sets *s to NULL. Does nothing if *s is NULL. */
void source_close(struct source **s);

/* ---- one pass over a film: the calling thread gets the progress ---- */

/* How far a pass is. */
struct pass_state {
    struct decode_progress film; /* of the film */
    uint64_t columns;            /* done so far */
    bool done;                   /* the pass succeeded: all columns exist */
};

/* Called ten times a second by pass_run, and at the end unless the film is decoded again. */
typedef void pass_tick(void *user, const struct pass_state *state);

/* The arguments of pass_run, borrowed for the call. */
struct pass {
    struct source *source;
    struct engine_job job;       /* all fields but `ports`, which pass_run decides */
    struct decode_job decode;    /* all but `columns` and `ticket`; its engine is not begun */
    struct admission *admission; /* with several films, for its turn. NULL: a single film */
    pass_tick *tick;             /* NULL: silent */
    void *tick_user;
};

/*
 * Begins the engine, decodes the film into it, finishes it. *counts is overwritten, also after a
 * failure; seconds are added to *times. Returns true if each selected frame is in its column,
 * unless decode_must_restart. Returns false on the first error of the source or the engine; the
 * engine can be used again. ERR_INTERRUPTED also while it waits for admission. Any thread, one at a
 * time for an engine.
 */
bool pass_run(const struct pass *p, struct decode_counts *counts, struct decode_times *times,
              struct err *e);

#endif
