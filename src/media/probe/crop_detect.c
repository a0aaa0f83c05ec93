/*
 * crop_detect.c - runs the workers of crop detection.
 *
 * CROP_SAMPLES key frames show the shape of a film: a shape that fewer than CROP_QUORUM of them
 * have is not cropped. A key frame counts once, even if several seeks lead to it. A short film may
 * have one or two key frames: then some of the frames after the first one are sampled as well.
 */
#include "crop_detect.h"

#include "crop_worker.h"
#include "base/interrupt.h"
#include "base/watch.h"

/*
 * Returns the first error that is not about the film, such as no memory. A film that cannot be read
 * fails when it is decoded, with a better message.
 */
static bool check_errors(const struct crop_worker *worker, int count, struct err *e)
{
    if (interrupted())
        return interrupt_error(e);
    for (int i = 0; i < count; i++)
        if (worker[i].error.code == ERR_FAILED || worker[i].error.code == ERR_MEMORY) {
            *e = worker[i].error;
            return false;
        }
    return true;
}

/*
 * Samples all places. It is not an error if fewer than `count` threads start. Returns the number of
 * workers.
 */
static int run_workers(struct crop_worker *worker, int count)
{
    pthread_t thread[PROBE_THREADS];
    int started = 0;
    while (started + 1 < count &&
           watch_thread(&thread[started], crop_worker_main, &worker[started + 1]) == 0)
        started++;
    crop_worker_main(&worker[0]);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    return started + 1;
}

/* Collects the results of all samples that are done. Returns their number. */
static int collect_samples(const struct crop_samples *samples, struct crop_seen *seen)
{
    int count = 0;
    for (int i = 0; i < CROP_SAMPLES + CROP_SAMPLES_MORE; i++)
        if (samples->sample[i].done)
            seen[count++] = samples->sample[i].seen;
    return count;
}

bool film_bars_probe(const struct film *film, int requested, const AVFormatContext *opened,
                     const struct probe_request *request, struct probe_facts *facts, struct err *e)
{
    struct crop_samples samples = {
        .film = film, .requested = requested, .opened = opened, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct crop_worker worker[PROBE_THREADS];
    struct crop_seen seen[CROP_SAMPLES + CROP_SAMPLES_MORE];
    for (int i = 0; i < PROBE_THREADS; i++)
        worker[i] = (struct crop_worker){.samples = &samples, .error = ERR_INIT};
    int count = request->threads < PROBE_THREADS ? request->threads : PROBE_THREADS;
    count = run_workers(worker, count);
    bool ok = check_errors(worker, count, e);
    int done = collect_samples(&samples, seen);
    if (ok && done > 0 && done < CROP_SAMPLES_FEW) {
        crop_worker_sample_more(&worker[0]);
        ok = check_errors(worker, 1, e);
        done = collect_samples(&samples, seen);
    }
    for (int i = 0; i < count; i++)
        crop_worker_close(&worker[i]);
    if (!ok)
        return false;
    for (int i = 0; i < done; i++)
        facts->conclusive += crop_sample_is_conclusive(&seen[i]);
    facts->sampled = done;
    facts->crop = crop_find(seen, (size_t)done, film->coded_width, film->coded_height);
    facts->found |= PROBE_BARS;
    return true;
}
