/*
 * film_bars.c - see film_bars.h.
 *
 * A picture that decodes alone costs 10 to 40 ms at 1080p, and a place in a file with an index one reading. Two dozen of them tell
 * what shape a film has: a shape that fewer than TRIM_QUORUM of them have is left whole. A key frame counts once, wherever it was sought
 * from. A short film may have one or two: then some of the pictures that follow the first one are looked at as well, up to the first
 * few that tell something. What comes before those has to be decoded, by which 24 films of 10 s with one key frame each took ten times
 * as long as one film of their sum, when one film at a time was looked at on one thread. No look goes on once too few pictures are left
 * for a shape.
 */
#include "film_bars.h"

#include <stdlib.h>
#include <string.h>

#include "looker.h"
#include "shortage.h"
#include "barcode/gate.h"
#include "barcode/interrupt.h"

enum { THREADS = PROBE_THREADS };
enum { AT_ONCE = 8 };                              /* films that are looked at side by side, about               */

/* A film that this finds no way into fails where it is staged, with the better words: only what is the machine's fault counts here. */
static bool judge(const struct looker *looker, int count, struct err *e)
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

/* The looks at different pictures, moved to the front. Returns how many there are. */
static int distinct(struct look *look, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        bool again = !look[i].looked;
        for (int k = 0; k < kept; k++)
            again |= look[k].key == look[i].key;
        if (!again)
            look[kept++] = look[i];
    }
    return kept;
}

/* What is to be looked at, by the index that the first looker's file has. */
static void plan(struct looker *l)
{
    const struct film *film = l->looks->film;
    struct key_index index = {.kind = KEY_INDEX_NONE};
    shortage_begin();
    if (looker_open(l) && l->index == KEY_INDEX_SAMPLES) {
        struct demux r = {.format = l->format, .stream = l->stream};
        key_index_open(&index, l->index, &r, film, &l->error);
    }
    if (shortage_met())
        shortage_error(film->path, "looked at", &l->error);
    film_looks_plan(&l->looks->plan, &index, film, l->stream ? looker_start_us(l->stream) : 0);
    key_index_close(&index);
}

/* The places [from, to) of the plan. A thread that cannot be had is no loss: the caller's does its share. Returns how many lookers were at work. */
static int run_lookers(struct looker *looker, int count, int from, int to)
{
    struct looks *looks = looker[0].looks;
    pthread_t thread[THREADS];
    int started = 0;
    count = count < to - from ? count : to - from;
    atomic_store(&looks->next, from);
    looks->until = to;
    while (started + 1 < count && pthread_create(&thread[started], NULL, looker_main, &looker[started + 1]) == 0)
        started++;
    for (int i = started + 1; i < count; i++)
        looker_is_open(looks);
    looker_main(&looker[0]);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    return started + 1;
}

/*
 * True if all sure places were seen, and the others could make no shape of them: what is left need not be looked at. The others might
 * also be damaged, so that what follows the first key frame would count, where the sure ones are few.
 */
static bool is_settled(const struct looks *looks)
{
    const struct film_looks *p = &looks->plan;
    struct looks_tally tally = {0};
    for (int i = 0; i < p->sure; i++) {
        const struct look *look = &looks->look[p->at[i].place];
        if (!look->looked)
            return false;
        looker_count(&tally, &look->seen);
    }
    bool enough = p->sure >= LOOKS_FEW || looker_is_hopeless(tally.suggested, LOOKS_ENOUGH - tally.told);
    return p->sure < p->count && enough && looker_is_hopeless(tally.suggested, p->count - p->sure);
}

/* The key frames. *settled: nothing else need be looked at. */
static bool look_at_keys(struct looks *looks, bool *settled, struct err *e)
{
    struct looker looker[THREADS];
    int count = looks->request->threads < THREADS ? looks->request->threads : THREADS;
    for (int i = 0; i < THREADS; i++)
        looker[i] = (struct looker){.looks = looks, .threads = 1, .error = ERR_INIT};
    plan(&looker[0]);
    const struct film_looks *p = &looks->plan;
    count = count < p->sure ? count : p->sure;
    /* What follows few key frames is looked at in a file that is opened for it. */
    bool lets_go = looks->request->lets_go && p->count >= LOOKS_FEW;
    atomic_store(&looks->to_open, lets_go ? count : 0);
    count = run_lookers(looker, count, 0, p->sure);
    if (lets_go)
        looks->opened = NULL;
    *settled = is_settled(looks);
    if (!*settled && p->sure < p->count && judge(looker, count, e))
        run_lookers(looker, count, p->sure, p->count);
    for (int i = 0; i < count; i++)
        looker_close(&looker[i]);
    return judge(looker, count, e);
}

/* Frame threads show the same of what is sound, and of damage what memory held. */
static bool takes_threads(const struct film *film)
{
    static const char *const codec[] = {"h264", "hevc", "vp9"};
    bool takes = false;
    for (size_t i = 0; i < sizeof codec / sizeof *codec; i++)
        takes |= strcmp(film->codec, codec[i]) == 0;
    return takes;
}

/*
 * At what follows the first key frame; `tally` is of the key frames. A decoder with threads has a try; at the first doubt, or where it
 * cannot be had, one without does it all again.
 */
static bool look_further(struct looks *looks, struct looks_tally tally, int threads, struct err *e)
{
    for (int tries = takes_threads(looks->film) && threads > 1 ? 2 : 1; tries > 0; tries--) {
        struct looker l = {.looks = looks, .on = true, .threads = tries == 2 ? threads : 1, .tally = tally, .error = ERR_INIT};
        memset(looks->look + LOOKS, 0, LOOKS_MORE * sizeof *looks->look);
        looker_main(&l);
        looker_close(&l);
        bool fine = judge(&l, 1, e);
        if (fine ? !l.doubted : tries == 1 || e->code == ERR_INTERRUPTED)
            return fine;
        err_clear(e);
    }
    return true;
}

/* How many threads a look at pictures that follow one another is worth while other films wait for theirs, or none does. */
static int threads_for(const struct probe_request *request)
{
    int idle = request->threads;
    int threads = gate_spare(request->turn, &idle) ? idle : request->threads / AT_ONCE;
    return threads < 1 ? 1 : threads < THREADS ? threads : THREADS;
}

/* Looks on where the key frames are few and leave it open; its looks are added to the first `*looked`. */
static bool look_where_few(struct looks *looks, int *looked, struct err *e)
{
    const struct probe_request *request = looks->request;
    struct looks_tally tally = {0};
    for (int i = 0; i < *looked; i++)
        looker_count(&tally, &looks->look[i].seen);
    if (*looked == 0 || *looked >= LOOKS_FEW || looker_is_hopeless(tally.suggested, LOOKS_ENOUGH - tally.told))
        return true;
    gate_fed(request->turn);
    int threads = threads_for(request);
    gate_busy(request->turn, threads);
    bool fine = look_further(looks, tally, threads, e);
    gate_busy(request->turn, -threads);
    for (int i = LOOKS; i < LOOKS + LOOKS_MORE && fine; i++)
        if (looks->look[i].looked)
            looks->look[(*looked)++] = looks->look[i];
    return fine;
}

bool film_bars_probe(const struct film *film, int wanted, const AVFormatContext *opened, const struct probe_request *request, struct probe_facts *facts, struct err *e)
{
    struct looks looks = {.film = film, .wanted = wanted, .opened = opened, .request = request, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct trim_seen seen[LOOKS + LOOKS_MORE];
    bool settled;
    if (!look_at_keys(&looks, &settled, e))
        return false;
    int looked = distinct(looks.look, LOOKS);
    if (!settled && !look_where_few(&looks, &looked, e))
        return false;
    for (int i = 0; i < looked; i++) {
        seen[i] = looks.look[i].seen;
        facts->told += looker_tells(&seen[i]);
    }
    facts->looked = looked;
    facts->trim = trim_find(seen, (size_t)looked, film->coded_width, film->coded_height);
    facts->found |= PROBE_BARS;
    return true;
}
