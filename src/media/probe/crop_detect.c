/*
 * crop_detect.c - see crop_detect.h.
 *
 * A key frame costs 10 to 40 ms at 1080p, and a place in a file with an index one reading. LOOKS of
 * them tell what shape a film has: a shape that fewer than TRIM_QUORUM of them have is left whole. A
 * key frame counts once, wherever it was sought from. A short film may have one or two: then some of
 * the pictures that follow the first one are looked at as well.
 */
#include "crop_detect.h"

#include "crop_worker.h"
#include "barcode/base/interrupt.h"

/*
 * A film that this finds no way into fails where it is staged, with the better words: only what is
 * the machine's fault counts here.
 */
static bool check_errors(const struct looker *looker, int count, struct err *e)
{
    if (interrupted())
        return interrupt_error(e);
    for (int i = 0; i < count; i++)
        if (looker[i].error.code == ERR_FAILED) {
            *e = looker[i].error;
            return false;
        }
    return true;
}

/* Looks at the places. A thread that cannot be had is no loss. Returns how many lookers worked. */
static int run_lookers(struct looker *looker, int count)
{
    pthread_t thread[PROBE_THREADS];
    int started = 0;
    while (started + 1 < count &&
           pthread_create(&thread[started], NULL, looker_main, &looker[started + 1]) == 0)
        started++;
    looker_main(&looker[0]);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    return started + 1;
}

/* Collects what was seen. Returns in how many different pictures. */
static int collect(const struct looks *looks, struct trim_seen *seen)
{
    int count = 0;
    for (int i = 0; i < LOOKS + LOOKS_MORE; i++)
        if (looks->look[i].looked)
            seen[count++] = looks->look[i].seen;
    return count;
}

bool film_bars_probe(const struct film *film, int wanted, const AVFormatContext *opened,
                     const struct probe_request *request, struct probe_facts *facts, struct err *e)
{
    struct looks looks = {.film = film, .wanted = wanted, .opened = opened,
                          .lock = PTHREAD_MUTEX_INITIALIZER};
    struct looker looker[PROBE_THREADS];
    struct trim_seen seen[LOOKS + LOOKS_MORE];
    for (int i = 0; i < PROBE_THREADS; i++)
        looker[i] = (struct looker){.looks = &looks, .error = ERR_INIT};
    int count = request->threads < PROBE_THREADS ? request->threads : PROBE_THREADS;
    count = run_lookers(looker, count);
    bool fine = check_errors(looker, count, e);
    int looked = collect(&looks, seen);
    if (fine && looked > 0 && looked < LOOKS_FEW) {
        looker_look_on(&looker[0]);
        fine = check_errors(looker, 1, e);
        looked = collect(&looks, seen);
    }
    for (int i = 0; i < count; i++)
        looker_close(&looker[i]);
    if (!fine)
        return false;
    for (int i = 0; i < looked; i++)
        facts->told += looker_tells(&seen[i]);
    facts->looked = looked;
    facts->trim = trim_find(seen, (size_t)looked, film->coded_width, film->coded_height);
    facts->found |= PROBE_BARS;
    return true;
}
