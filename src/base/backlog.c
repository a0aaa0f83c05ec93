#include "barcode/backlog.h"

#include <stdatomic.h>
#include <stdlib.h>

struct backlog_film {
    struct backlog *of;
    atomic_uint_fast64_t left;
};

struct backlog {
    atomic_uint_fast64_t left;       /* of all films, of which each has its part */
    struct backlog_film film[];
};

struct backlog *backlog_open(uint64_t bytes, int places, struct err *e)
{
    size_t size = sizeof(struct backlog) + (size_t)places * sizeof(struct backlog_film);
    struct backlog *b = calloc(1, size);
    if (!b) {
        err_memory(e, size);
        return NULL;
    }
    atomic_init(&b->left, bytes);
    for (int i = 0; i < places; i++)
        b->film[i].of = b;
    return b;
}

struct backlog_film *backlog_begin(struct backlog *b, int place, uint64_t bytes)
{
    if (!b)
        return NULL;
    atomic_store(&b->film[place].left, bytes);
    return &b->film[place];
}

void backlog_did(struct backlog_film *f, uint64_t bytes)
{
    if (!f)
        return;
    uint_fast64_t left = atomic_load(&f->left), done;
    do
        done = bytes < left ? bytes : left;
    while (!atomic_compare_exchange_weak(&f->left, &left, left - done));
    atomic_fetch_sub(&f->of->left, done);
}

void backlog_end(struct backlog_film *f)
{
    backlog_did(f, UINT64_MAX);
}

uint64_t backlog_others(const struct backlog_film *f)
{
    if (!f)
        return 0;
    /* Somebody may do something between the two: what the film has left may be more than what was left of all. */
    uint64_t own = atomic_load(&f->left), all = atomic_load(&f->of->left);
    return all > own ? all - own : 0;
}

void backlog_free(struct backlog **b)
{
    free(*b);
    *b = NULL;
}
