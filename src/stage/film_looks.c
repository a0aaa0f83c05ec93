#include "film_looks.h"

#include <stdlib.h>

int64_t film_looks_part(int64_t length, int place)
{
    return av_rescale(length, (int64_t)place * 2 + 1, (int64_t)LOOKS * 2);
}

int64_t film_looks_time(const struct film *film, int64_t start_us, int place)
{
    return av_sat_add64(start_us, film_looks_part(film->duration_us, place));
}

/* A key frame of the index, and the first place from which a search comes to it. */
struct listed {
    size_t size;
    struct film_place at;
};

static int by_size(const void *a, const void *b)
{
    const struct listed *p = a, *q = b;
    return p->size != q->size ? (p->size > q->size) - (p->size < q->size) : p->at.place - q->at.place;
}

/* Those that the places come to; returns how many. */
static int list(struct listed *key, const struct key_index *index, const struct film *film, int64_t start_us)
{
    int count = 0;
    size_t at = 0, last = SIZE_MAX;
    for (int place = 0; place < LOOKS && index->count > 0 && film->duration_us > 0; place++) {
        while (at + 1 < index->count && index->key[at + 1].from_us <= film_looks_time(film, start_us, place))
            at++;
        if (at != last)
            key[count++] = (struct listed){index->key[at].size, {place, index->key[at].seek}};
        last = at;
    }
    return count;
}

void film_looks_plan(struct film_looks *looks, const struct key_index *index, const struct film *film, int64_t start_us)
{
    struct listed key[LOOKS];
    int count = list(key, index, film, start_us);
    bool listed = count > 0;
    for (; count < LOOKS && !listed; count++)
        key[count] = (struct listed){.at = {count, AV_NOPTS_VALUE}};
    qsort(key, (size_t)count, sizeof *key, by_size);
    for (int i = 0; i < count; i++)
        looks->at[i] = key[i].at;
    looks->count = count;
    looks->sure = listed && count >= LOOKS_FEW ? count - (TRIM_QUORUM - 1) : count;
}
