#include "digest.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct mark {
    uint64_t hash;
    bool there;
};

struct digest {
    pthread_mutex_t lock;
    struct mark *mark;
    size_t count; /* marks allocated */
};

struct digest *digest_open(struct err *e)
{
    struct digest *d = err_calloc(1, sizeof *d, e);
    if (d)
        pthread_mutex_init(&d->lock, NULL);
    return d;
}

bool digest_put(struct digest *d, uint64_t column, const void *data, size_t bytes, struct err *e)
{
    struct mark m = {hash_64(data, bytes), true};
    pthread_mutex_lock(&d->lock);
    const size_t before = d->count;
    bool ok = err_reserve(&d->mark, (size_t)column + 1, &d->count, sizeof *d->mark, e);
    if (ok) {
        memset(d->mark + before, 0, (d->count - before) * sizeof *d->mark);
        d->mark[column] = m;
    }
    pthread_mutex_unlock(&d->lock);
    return ok;
}

void digest_drop(struct digest *d, uint64_t column)
{
    if (column < d->count)
        d->mark[column].there = false;
}

struct digest_result digest_compare(const struct digest *a, const struct digest *b)
{
    struct digest_result r = {0, 0, 0, 0};
    uint64_t most = a->count > b->count ? a->count : b->count;
    for (uint64_t i = 0; i < most; i++) {
        bool in_a = i < a->count && a->mark[i].there, in_b = i < b->count && b->mark[i].there;
        r.alone += in_a != in_b;
        r.both += in_a && in_b;
        if (in_a && in_b && a->mark[i].hash != b->mark[i].hash && r.different++ == 0)
            r.first_difference = i;
    }
    return r;
}

void digest_free(struct digest **d)
{
    if (!*d)
        return;
    pthread_mutex_destroy(&(*d)->lock);
    free((*d)->mark);
    free(*d);
    *d = NULL;
}
