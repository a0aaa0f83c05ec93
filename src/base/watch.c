#include "barcode/base/watch.h"

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "barcode/base/shared.h"

struct watch {
    alignas(64) _Atomic uint64_t turn; /* odd while a film is in progress */
    _Atomic uint64_t stopped;          /* the turn whose film must end; 0: none */
    atomic_bool moved;
    atomic_int untimed; /* how many threads have called watch_untimed(true) */
    _Atomic size_t film;
    char reason[128]; /* written before `stopped` */
};

static _Thread_local struct watch *mine;

struct watch *watch_open(size_t count, struct err *e)
{
    return shared_alloc(count * sizeof(struct watch), e);
}

struct watch *watch_at(struct watch *w, size_t i) { return w ? w + i : NULL; }

void watch_free(struct watch *w, size_t count) { shared_free(w, count * sizeof *w); }

void watch_begin(struct watch *w, size_t film)
{
    mine = w;
    if (!w)
        return;
    atomic_store(&w->film, film);
    atomic_store(&w->untimed, 0);
    atomic_store(&w->moved, true);
    atomic_fetch_add(&w->turn, 1);
}

void watch_end(void)
{
    if (mine)
        atomic_fetch_add(&mine->turn, 1);
}

struct start {
    void *(*main)(void *);
    void *argument;
    struct watch *watch;
};

static void *begin_thread(void *argument)
{
    struct start s = *(struct start *)argument;
    free(argument);
    mine = s.watch;
    return s.main(s.argument);
}

int watch_thread(pthread_t *thread, void *(*thread_main)(void *), void *argument)
{
    struct start *s = malloc(sizeof *s);
    if (!s)
        return ENOMEM;
    *s = (struct start){thread_main, argument, mine};
    int code = pthread_create(thread, NULL, begin_thread, s);
    if (code != 0)
        free(s);
    return code;
}

void watch_moved(void)
{
    /* reading first keeps the cache line shared between the cores */
    if (mine && !atomic_load_explicit(&mine->moved, memory_order_relaxed))
        atomic_store_explicit(&mine->moved, true, memory_order_relaxed);
}

void watch_untimed(bool untimed)
{
    if (mine)
        atomic_fetch_add(&mine->untimed, untimed ? 1 : -1);
}

bool watch_stopped(void)
{
    uint64_t stopped = mine ? atomic_load_explicit(&mine->stopped, memory_order_acquire) : 0;
    return stopped != 0 && stopped == atomic_load_explicit(&mine->turn, memory_order_relaxed);
}

bool watch_error(struct err *e)
{
    if (!watch_stopped())
        return false;
    err_clear(e);
    err_set(e, ERR_FAILED, "%s", mine->reason);
    atomic_fetch_add(&mine->turn, 2);
    return true;
}

struct watch_state watch_check(struct watch *w)
{
    uint64_t turn = atomic_load(&w->turn);
    return (struct watch_state){.in_progress = turn % 2 == 1,
                                .turn = turn,
                                .film = atomic_load(&w->film),
                                .moved = atomic_exchange(&w->moved, false),
                                .untimed = atomic_load(&w->untimed) > 0,
                                .stopped = turn == atomic_load(&w->stopped)};
}

void watch_stop(struct watch *w, uint64_t turn, const char *reason)
{
    snprintf(w->reason, sizeof w->reason, "%s", reason);
    atomic_store_explicit(&w->stopped, turn, memory_order_release);
}

const char *watch_reason(const struct watch *w) { return w->reason; }

void watch_clear(struct watch *w)
{
    atomic_store(&w->turn, (atomic_load(&w->turn) + 1) / 2 * 2);
    atomic_store(&w->stopped, 0);
}
