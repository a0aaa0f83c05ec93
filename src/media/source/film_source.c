/*
 * film_source.c - a film through libav: one thread reads (reader.c), workers of the backends
 * decode.
 *
 *   reader --pictures--> chunker --chunks--> [queue] --> workers 1..n --> engine
 *
 * The reading thread is the caller's.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "media/container/open.h"
#include "media/nvdec/nvdec.h"
#include "media/reader/reader.h"
#include "media/sound/sound_reading.h"
#include "barcode/base/clock.h"
#include "base/admission.h"
#include "base/interrupt.h"
#include "base/limits.h"
#include "base/log.h"
#include "barcode/base/queue.h"
#include "base/watch.h"

/* Software on the cores, then devices, of which a film uses the first that can decode it. */
static const struct decoder_backend *const backends[] = {&software_backend, &nvdec_backend, NULL};

static const struct decoder_backend *find_backend(enum decode_choice choice)
{
    const struct decoder_backend *const *row = backends;
    while (*row && (*row)->choice != choice)
        row++;
    return *row;
}

const char *decode_word(enum decode_choice choice)
{
    const struct decoder_backend *row = find_backend(choice);
    if (choice == DECODE_AUTO)
        return "auto";
    return row ? row->word : NULL;
}

const char *decode_device_word(enum decode_choice choice)
{
    return decode_is_device(choice) ? decode_word(choice) : backends[1]->word;
}

struct source_film {
    struct source base;
    AVFormatContext *format;
    int requested; /* which video stream: SOURCE_STREAM_CHOICE or its number */
    bool used;     /* packets were read: the file must be opened again to start over */
    uint64_t file_bytes;
    struct decode_pass *pass;      /* for progress; NULL if none is running */
    struct bad_key_list bad_keys;  /* that --keyframes skips */
    int bad_key_rounds;            /* how often the film was decoded again for them */
    struct decode_progress before; /* of the last pass, at its end */
    pthread_mutex_t pass_lock;
};

/* Opens the file again, whose container and stream parameters must be unchanged. */
static bool reopen_film(struct source_film *f, struct err *e)
{
    if (!f->used) {
        f->used = true;
        return true;
    }
    /* Opening a pipe once more would wait for a writer. */
    if (!source_can(&f->base, SOURCE_RESTARTABLE))
        return err_set(e, ERR_INPUT,
                       "cannot decode '%s' a second time, and a pipe can be read only once: "
                       "use a file",
                       f->base.film.path);
    container_close(&f->format);
    return container_reopen(&f->base.film, f->requested, &f->format, e);
}

/* Opens the reader at the film's start. A fault of the disk counts more than what libav reports. */
static bool begin_reading(struct source_film *f, struct demux *reader, struct err *e)
{
    const struct film *film = &f->base.film;
    if (!reopen_film(f, e) || !demux_open(reader, f->format, film->stream, e)) {
        read_faults_check(film->faults, film->path, e);
        return false;
    }
    reader->faults = film->faults;
    return true;
}

/* The threads of the workers. */
struct workers {
    pthread_t *thread;
    int count;
};

/* Starts the threads. It is an error if none starts, but not if fewer start than chosen. */
static bool start_workers(struct decode_pass *s, struct workers *c, struct err *e)
{
    int on_device = s->workers[ON_DEVICE], all = on_device + s->workers[ON_CORES];
    c->thread = calloc((size_t)all + 1, sizeof *c->thread);
    if (!c->thread)
        return err_memory(e, ((size_t)all + 1) * sizeof *c->thread);
    for (; c->count < all; c->count++) {
        enum decoder_place place = c->count < on_device ? ON_DEVICE : ON_CORES;
        if (watch_thread(&c->thread[c->count], s->backend[place]->worker_main, s) != 0)
            break;
    }
    if (all > 0 && c->count == 0)
        return err_set(e, ERR_MEMORY, "cannot start a decoding thread");
    return true;
}

/* Waits for the workers, which end after the queued chunks, or at once if the user interrupted. */
static void join_workers(struct decode_pass *s, struct workers *c)
{
    decode_pass_read_to_end(s);
    if (interrupted())
        queue_abort(s->chunks);
    queue_close(s->chunks);
    admission_release(s->job->ticket);
    for (int i = 0; i < c->count; i++)
        pthread_join(c->thread[i], NULL);
}

/* Records what is missing of an HLS playlist's sum of #EXTINF, unless these are rounded. */
static void compare_listed_time(const struct decode_pass *s, const struct demux *r)
{
    int64_t listed_us = r->quirks->lists_durations ? r->format->duration : 0;
    bool exact = listed_us > 0 && listed_us % 1000000 != 0;
    int64_t slack_us = film_length_slack(listed_us);
    if (exact && s->counts.to_end && listed_us - s->counts.end_us > slack_us)
        read_faults_lack(r->faults, "its files end at %.1f s of the %.1f s that it lists",
                         (double)s->counts.end_us / 1e6, (double)listed_us / 1e6);
}

/* Sums up reading and decoding, which have ended. */
static bool assess_decode_pass(struct decode_pass *s, const struct demux *r, struct err *e)
{
    s->counts.bytes_unread = read_faults_bytes(r->faults);
    compare_listed_time(s, r);
    bool failed = r->failed || read_faults_lacking(r->faults)[0];
    s->counts.read_failed = failed || s->counts.bytes_unread > 0;
    s->counts.to_end &= !failed && !interrupted();
    s->counts.contradicted = atomic_load(&s->contradicted);
    s->counts.damage_found = atomic_load(&s->damage_found);
    if (interrupted())
        return interrupt_error(e);
    if (s->error.code != ERR_NONE) {
        *e = s->error;
        return false;
    }
    if (!failed)
        frame_times_end(s->job->frame_times);
    return true;
}

static struct decode_progress read_progress(struct decode_pass *s)
{
    struct decode_progress p = {
        .frames = atomic_load(&s->frames_done),
        .bytes = atomic_load(&s->bytes_read),
    };
    decode_pass_key_costs(s, &p);
    return p;
}

static void publish_pass(struct source_film *f, struct decode_pass *s)
{
    pthread_mutex_lock(&f->pass_lock);
    f->before = f->pass ? read_progress(f->pass) : (struct decode_progress){0};
    f->pass = s;
    pthread_mutex_unlock(&f->pass_lock);
}

/* `reading`: processor time of the reading thread, which may be the only decoder. */
static void sum_up_times(const struct decode_pass *s, int64_t reading, struct decode_times *times)
{
    *(s->counts.sequential ? &times->decode : &times->demux) += (double)reading / 1e9;
    times->decode += s->decode_seconds;
    double wall = clock_since(s->began_ns);
    double *share[] = {[ON_CORES] = &times->software_busy, [ON_DEVICE] = &times->device_busy};
    for (int i = 0; i < DECODER_PLACES; i++)
        *share[i] = s->workers[i] > 0 ? s->busy_seconds[i] / wall / s->workers[i] : 0;
}

static bool must_restart(struct decode_pass *s)
{
    return atomic_load(&s->contradicted) || atomic_load(&s->damage_found);
}

/* How often a film is decoded again without damaged key frames; then it is shown as it is. */
enum { BAD_KEY_ROUNDS = 4 };

static void set_bad_keys(struct source_film *f, struct decode_pass *s)
{
    if (!s->job->selection.keyframes || !source_can(&f->base, SOURCE_RESTARTABLE) ||
        f->bad_key_rounds > BAD_KEY_ROUNDS)
        return;
    if (f->bad_key_rounds == BAD_KEY_ROUNDS)
        bad_key_list_clear(&f->bad_keys);
    else
        s->bad_keys = &f->bad_keys;
}

static void assess_bad_keys(struct source_film *f, struct decode_pass *s)
{
    if (s->bad_keys)
        s->counts.bad_keys = s->bad_keys->count;
    bool nothing = s->bad_keys && s->bad_keys->count > 0 && columns_count(s->job->columns) == 0;
    s->counts.keys_again = atomic_load(&s->bad_keys_found) || nothing;
    f->bad_key_rounds = nothing ? BAD_KEY_ROUNDS : f->bad_key_rounds + s->counts.keys_again;
}

/* Closes a list of files. Returns false if some file, maybe the last one, was unreadable. */
static bool close_list(struct source_film *f, struct err *e)
{
    struct av_log_counts logged = {0};
    if (f->format && container_quirks(f->format)->is_playlist) {
        struct av_log_counts *before = av_log_listen(&logged);
        container_close(&f->format);
        av_log_listen(before);
    }
    read_faults_add_logged(f->base.film.faults, &logged);
    return read_faults_check(f->base.film.faults, f->base.film.path, e);
}

/* Adds what the film lacks. Returns false if no frame is left because of a read error. */
static bool check_lack(const struct film *film, struct decode_counts *counts, struct err *e)
{
    snprintf(counts->lack, sizeof counts->lack, "%s", read_faults_lacking(film->faults));
    counts->read_failed |= counts->lack[0] != 0;
    counts->to_end &= counts->lack[0] == 0;
    if (counts->displayed == 0)
        read_faults_explain(film->faults, film->path, e);
    return e->code == ERR_NONE;
}

/* Begins to read needed sound beside the pictures. An index of --keyframes leads past it. */
static bool begin_sound(struct sound_reading **sound, struct demux *r, const struct film *film,
                        const struct decode_job *job, struct err *e)
{
    *sound = NULL;
    bool by_index = job->selection.keyframes && job->plan != DECODE_SEQUENTIAL &&
                    key_index_kind(r->format, film) != KEY_INDEX_NONE;
    if (!job->sound || job->sound->done || by_index)
        return true;
    *sound = sound_reading_open(r, film, job->sound, e);
    return *sound != NULL;
}

/* Reads the film, then on for its sound while workers decode; *sound_complete: to its end. */
static void read_film(struct decode_pass *s, struct demux *r, struct sound_reading *sound,
                      bool *sound_complete)
{
    struct err why = ERR_INIT;
    bool ok = film_read(s, r, &why);
    if (ok && sound && !decode_pass_stopped(s)) {
        decode_pass_read_to_end(s);
        queue_close(s->chunks);
        *sound_complete = sound_reading_rest(sound, &why);
        ok = why.code == ERR_NONE;
    }
    if (!ok && !must_restart(s))
        decode_pass_fail(s, &why);
}

static bool film_decode(struct source *base, const struct decode_job *job,
                        struct decode_counts *counts, struct decode_times *times, struct err *e)
{
    struct source_film *f = (struct source_film *)base;
    struct demux reader;
    if (!begin_reading(f, &reader, e))
        return false;
    struct decode_pass s;
    struct workers workers = {0};
    struct sound_reading *sound = NULL;
    bool sound_complete = false;
    decode_pass_open(&s, &base->film, reader.stream, reader.traits, job);
    s.file_bytes = f->file_bytes;
    s.is_list = reader.quirks->is_playlist;
    bool exact = !job->selection.keyframes;
    s.has_key_index = exact && key_index_kind(reader.format, &base->film) != KEY_INDEX_NONE;
    set_bad_keys(f, &s);
    frame_times_begin(job->frame_times, film_frame_us(&base->film));
    bool ok = scheduler_choose_workers(&s, backends, e) && decode_pass_open_queue(&s, e) &&
              begin_sound(&sound, &reader, &base->film, job, e);
    publish_pass(f, &s);
    int64_t before = clock_thread_ns();
    ok = ok && start_workers(&s, &workers, e);
    if (ok) {
        read_film(&s, &reader, sound, &sound_complete);
        join_workers(&s, &workers);
        ok = assess_decode_pass(&s, &reader, e);
    }
    ok = sound_reading_close(&sound, sound_complete, e) && ok;
    assess_bad_keys(f, &s);
    s.counts.bytes_read = demux_bytes_read(&reader);
    sum_up_times(&s, clock_thread_ns() - before, times);
    publish_pass(f, NULL);
    const struct decoder_backend *device = s.backend[ON_DEVICE];
    bool worked = device && !s.device.emulated && s.counts.fallbacks == 0;
    s.counts.on_device = worked && s.counts.chunks > 0;
    *counts = s.counts;
    free(workers.thread);
    decode_pass_close(&s);
    if (device)
        device->close(&s.device);
    demux_close(&reader);
    ok = close_list(f, e) && ok;
    if (!ok)
        return false;
    return check_lack(&base->film, counts, e);
}

static bool read_sound(struct source *base, struct sound_job *job, struct err *e)
{
    struct source_film *f = (struct source_film *)base;
    struct demux reader;
    if (!begin_reading(f, &reader, e))
        return false;
    struct sound_reading *sound = sound_reading_open(&reader, &base->film, job, e);
    bool complete = sound && sound_reading_rest(sound, e);
    bool ok = sound_reading_close(&sound, complete, e) && e->code == ERR_NONE;
    demux_close(&reader);
    ok = close_list(f, e) && ok;
    const char *lack = read_faults_lacking(base->film.faults);
    uint64_t unread = read_faults_bytes(base->film.faults);
    if (ok && lack[0])
        log_msg(LOG_WARNING, "'%s': %s", base->film.path, lack);
    if (ok && unread > 0)
        log_msg(LOG_WARNING, "'%s': %" PRIu64 " bytes cannot be read (skipped)", base->film.path,
                unread);
    job->sound.errors += lack[0] || unread > 0;
    if (interrupted())
        return interrupt_error(e);
    return ok;
}

static void film_progress(struct source *base, struct decode_progress *p)
{
    struct source_film *f = (struct source_film *)base;
    pthread_mutex_lock(&f->pass_lock);
    *p = f->pass ? read_progress(f->pass) : f->before;
    pthread_mutex_unlock(&f->pass_lock);
    p->total_bytes = f->file_bytes;
}

static bool probe_keys(struct source_film *f, unsigned want, struct probe_facts *facts,
                       struct err *e)
{
    struct demux r;
    const struct film *film = &f->base.film;
    if (!reopen_film(f, e) || !demux_open(&r, f->format, film->stream, e))
        return false;
    r.faults = film->faults;
    bool ok = film_keys_probe(&r, &f->base.film, want, facts, e);
    demux_close(&r);
    return ok;
}

static bool probe_bars(struct source_film *f, const struct probe_request *request,
                       struct probe_facts *facts, struct err *e)
{
    struct probe_request bars = *request;
    bars.threads = scheduler_max_threads(&f->base.film, request->threads, limits_memory() / 2);
    return film_bars_probe(&f->base.film, f->requested, f->format, &bars, facts, e);
}

static bool film_probe(struct source *base, const struct probe_request *request,
                       struct probe_facts *facts, struct err *e)
{
    struct source_film *f = (struct source_film *)base;
    bool ok = true;
    if (request->want & PROBE_LIGHT)
        ok = film_light_probe(&base->film, f->requested, facts, e);
    if (ok && request->want & PROBE_BARS)
        ok = probe_bars(f, request, facts, e);
    if (ok && request->want & ~(unsigned)(PROBE_BARS | PROBE_LIGHT))
        ok = probe_keys(f, request->want, facts, e);
    return read_faults_check(base->film.faults, base->film.path, e) && ok;
}

static void film_close(struct source **base)
{
    struct source_film *f = (struct source_film *)*base;
    container_close(&f->format);
    pthread_mutex_destroy(&f->pass_lock);
    bad_key_list_clear(&f->bad_keys);
    free(f->base.film.path);
    free(f->base.film.list);
    read_faults_free(&f->base.film.faults);
    free(f);
    *base = NULL;
}

static const struct source_ops film_ops = {
    .name = "film",
    .can = SOURCE_RESTARTABLE | SOURCE_CACHEABLE | SOURCE_HAS_FRAME_TIMES | SOURCE_SPARING |
           SOURCE_EXACT_DAMAGE | SOURCE_HAS_SOUND,
    .probes = PROBE_LENGTH | PROBE_END | PROBE_KEYS | PROBE_BARS | PROBE_LIGHT,
    .decode_frames = film_decode,
    .progress = film_progress,
    .probe = film_probe,
    .read_sound = read_sound,
    .close = film_close,
};

/* Returns the abilities that this film lacks. Without `pb` a container can open files again. */
static unsigned find_lacks(const struct source_film *f)
{
    bool pipe = f->format->pb && !container_is_seekable(f->format);
    bool unknown = container_quirks(f->format)->is_playlist && !f->base.film.parts;
    if (pipe)
        return SOURCE_RESTARTABLE | SOURCE_CACHEABLE;
    return unknown ? SOURCE_CACHEABLE : 0;
}

/* Opens the container. A fault of the disk counts more than what libavformat makes of it. */
static bool open_film(struct source_film *f, const char *path, const struct film_parts *parts,
                      bool keep_going, struct err *e)
{
    struct read_faults *faults = f->base.film.faults = read_faults_new(keep_going, e);
    if (!faults)
        return false;
    if (!container_open_parts(path, parts, f->requested, &f->format, &f->base.film, e))
        return read_faults_explain(faults, path, e);
    return read_faults_check(faults, path, e);
}

/* A test may define another one. */
__attribute__((weak)) struct source *source_open_stream(const char *path,
                                                        const struct film_parts *parts, int stream,
                                                        int sound, bool keep_going, struct err *e)
{
    struct source_film *f = err_calloc(1, sizeof *f, e);
    if (!f)
        return NULL;
    f->base.ops = &film_ops;
    pthread_mutex_init(&f->pass_lock, NULL);
    f->requested = stream;
    f->base.film.sound = sound;
    if (!open_film(f, path, parts, keep_going, e)) {
        struct source *s = &f->base;
        source_close(&s);
        return NULL;
    }
    int64_t size = f->format->pb ? avio_size(f->format->pb) : -1;
    if (parts)
        f->file_bytes = film_parts_bytes(parts);
    else
        f->file_bytes = size > 0 ? (uint64_t)size : 0;
    f->base.lacks = find_lacks(f);
    film_stream_log(f->format, &f->base.film);
    return &f->base;
}
