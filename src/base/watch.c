#include "watch.h"

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

struct watch {
    alignas(64) _Atomic uint64_t stopped; /* by the parent: the serial that must end; 0: none */
    _Atomic uint64_t serial;              /* by the worker, for itself; 0: no film */
    _Atomic uint64_t frames, columns, columns_total;
    _Atomic uint32_t share; /* of PARTS */
    atomic_int untimed;     /* how many threads have called watch_untimed(true) */
    atomic_uchar moved;     /* not a bool, which may hold no other value than 0 and 1 */
};

_Static_assert(WATCHES * sizeof(struct watch) == 4096, "they fill a page");

static const uint32_t PARTS = 1000000;

static _Thread_local struct watch *current;

struct watch *watch_open(struct err *e)
{
    const size_t bytes = WATCHES * sizeof(struct watch);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        return memory;
    err_memory(e, bytes);
    return NULL;
}

struct watch *watch_at(struct watch *w, int i) { return w ? w + i : NULL; }

void watch_keep(struct watch *w) { (void)madvise(w, WATCHES * sizeof *w, MADV_DONTFORK); }

void watch_free(struct watch *w)
{
    if (w)
        munmap(w, WATCHES * sizeof *w);
}

void watch_begin(struct watch *w, uint64_t serial)
{
    current = w;
    if (!w)
        return;
    atomic_store(&w->untimed, 0);
    atomic_store(&w->moved, 1);
    atomic_store(&w->serial, serial);
    watch_set_progress(&(struct watch_progress){.frames = 0});
}

int watch_number(void)
{
    /* the page begins at a multiple of its size, as all that mmap returns */
    return current ? (int)((uintptr_t)current % (WATCHES * sizeof *current) / sizeof *current) : -1;
}

void watch_end(void)
{
    if (current)
        atomic_store(&current->serial, 0);
}

struct start {
    void *(*run)(void *);
    void *argument;
    struct watch *watch;
};

static void *begin_thread(void *argument)
{
    struct start s = *(struct start *)argument;
    free(argument);
    current = s.watch;
    return s.run(s.argument);
}

int watch_thread(pthread_t *thread, void *(*thread_main)(void *), void *argument)
{
    struct start *s = malloc(sizeof *s);
    if (!s)
        return ENOMEM;
    *s = (struct start){thread_main, argument, current};
    int code = pthread_create(thread, NULL, begin_thread, s);
    if (code != 0)
        free(s);
    return code;
}

void watch_moved(void)
{
    /* reading first keeps the cache line shared between the cores */
    if (current && !atomic_load_explicit(&current->moved, memory_order_relaxed))
        atomic_store_explicit(&current->moved, 1, memory_order_relaxed);
}

void watch_set_progress(const struct watch_progress *p)
{
    if (!current)
        return;
    uint32_t share = PARTS;
    if (p->share < 0)
        share = UINT32_MAX;
    else if (p->share < 1)
        share = (uint32_t)(p->share * PARTS);
    atomic_store_explicit(&current->share, share, memory_order_relaxed);
    atomic_store_explicit(&current->frames, p->frames, memory_order_relaxed);
    atomic_store_explicit(&current->columns, p->columns, memory_order_relaxed);
    atomic_store_explicit(&current->columns_total, p->columns_total, memory_order_relaxed);
}

void watch_untimed(bool untimed)
{
    if (current)
        atomic_fetch_add(&current->untimed, untimed ? 1 : -1);
}

bool watch_stopped(void)
{
    if (!current)
        return false;
    uint64_t serial = atomic_load_explicit(&current->serial, memory_order_relaxed);
    return serial != 0 && serial == atomic_load_explicit(&current->stopped, memory_order_relaxed);
}

bool watch_error(struct err *e)
{
    if (!watch_stopped())
        return false;
    err_clear(e);
    err_set(e, ERR_FAILED, "stopped");
    atomic_store(&current->serial, 0);
    return true;
}

static uint64_t load_count(_Atomic uint64_t *count)
{
    const uint64_t most = (uint64_t)1 << 40, found = atomic_load(count);
    return found < most ? found : most;
}

struct watch_state watch_check(struct watch *w)
{
    const uint32_t share = atomic_load(&w->share);
    return (struct watch_state){.moved = atomic_exchange(&w->moved, 0) != 0,
                                .untimed = atomic_load(&w->untimed) > 0,
                                .progress = {.share = share <= PARTS ? (double)share / PARTS : -1,
                                             .frames = load_count(&w->frames),
                                             .columns = load_count(&w->columns),
                                             .columns_total = load_count(&w->columns_total)}};
}

void watch_stop(struct watch *w, uint64_t serial) { atomic_store(&w->stopped, serial); }
