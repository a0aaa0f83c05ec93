#include "seed_nearest.h"

#include <stdlib.h>
#include <string.h>

#include "kmeans_lines.h"
#include "kmeans_vector.h"

bool seed_nearest_open(struct nearest *n, size_t capacity, struct err *e)
{
    size_t padded = (capacity + POINTS_STEP - 1) / POINTS_STEP * POINTS_STEP;
    size_t groups = padded / POINTS_GROUP_LEAST;
    memset(n, 0, sizeof *n);
    n->key = kmeans_lines(padded * sizeof *n->key);
    n->reach = kmeans_lines(groups * sizeof *n->reach);
    n->mass = kmeans_lines(groups * sizeof *n->mass);
    n->before = kmeans_lines(groups * sizeof *n->before);
    if (n->key && n->reach && n->mass && n->before)
        return true;
    seed_nearest_close(n);
    return err_memory(e, padded * sizeof *n->key);
}

void seed_nearest_close(struct nearest *n)
{
    free(n->key);
    free(n->reach);
    free(n->mass);
    free(n->before);
    memset(n, 0, sizeof *n);
}

static uint32_t distance2(uint32_t a, uint32_t b)
{
    int r = colour_red(a) - colour_red(b);
    int g = colour_green(a) - colour_green(b);
    int u = colour_blue(a) - colour_blue(b);
    return (uint32_t)(r * r + g * g + u * u);
}

static void add_plain(struct nearest *n, const uint32_t *colour, int first, int count)
{
    const struct points *p = n->p;
    n->total = 0;
    for (size_t i = 0; i < p->n; i++) {
        uint32_t best = first ? n->key[i] : UINT32_MAX;
        for (int c = 0; c < count; c++) {
            uint32_t key =
                distance2(p->colour[i], colour[c]) << NEAREST_INDEX | (uint32_t)(first + c);
            best = key < best ? key : best;
        }
        n->key[i] = best;
        n->total += (uint64_t)p->weight[i] * nearest_distance(best);
    }
}

/* Computes what a draw needs from the masses of the groups, for the vector code. */
static void settle(struct nearest *n)
{
    uint64_t before = 0;
    for (size_t g = 0; g < n->p->groups; g++) {
        n->before[g] = before;
        before += n->mass[g];
    }
    n->total = before;
}

void seed_nearest_add(struct nearest *n, enum isa isa, const uint32_t *colour, int first, int count,
                      bool last)
{
    const struct kmeans_vector *vector = kmeans_vector_of(isa);
    if (!vector) {
        add_plain(n, colour, first, count);
        return;
    }
    if (first == 0) {
        n->alone = true;
        n->origin = colour[0];
        vector->begin(n);
    } else {
        vector->add(n, colour, first, count, last);
        n->alone = false;
    }
    if (!last)
        settle(n);
}

/*
 * Writes the keys of candidate 0, which seed_nearest_add postpones, if no other candidate followed
 * it.
 */
static void write_keys(struct nearest *n, const struct kmeans_vector *vector)
{
    if (!vector || !n->alone)
        return;
    vector->add(n, NULL, 1, 0, false);
    n->alone = false;
}

static void try_plain(const struct nearest *n, const uint32_t *colour, int count,
                      uint64_t *potential)
{
    const struct points *p = n->p;
    memset(potential, 0, (size_t)count * sizeof *potential);
    for (size_t i = 0; i < p->n; i++) {
        for (int c = 0; c < count; c++) {
            uint32_t d = distance2(p->colour[i], colour[c]), old = nearest_distance(n->key[i]);
            potential[c] += (uint64_t)p->weight[i] * (d < old ? d : old);
        }
    }
}

void seed_nearest_try(struct nearest *n, enum isa isa, const uint32_t *colour, int count,
                      uint64_t *potential)
{
    const struct kmeans_vector *vector = kmeans_vector_of(isa);
    write_keys(n, vector);
    (vector ? vector->try : try_plain)(n, colour, count, potential);
}

/*
 * Returns the last group that begins at or before t; preceding groups of mass 0 begin at the same
 * value. There is no branch on t, here and below, because t is random.
 */
static size_t group_of(const struct nearest *n, uint64_t t)
{
    const uint64_t *low = n->before;
    for (size_t count = n->p->groups; count > 1; count -= count / 2) {
        const uint64_t *middle = low + count / 2;
        low = *middle <= t ? middle : low;
    }
    return (size_t)(low - n->before);
}

/* Implements seed_nearest_find for t within a group, by counting the points before t. */
static size_t find_in_group(const struct nearest *n, size_t group, uint64_t t)
{
    size_t first = group * n->p->each, before = 0;
    uint64_t sum = 0;
    for (size_t i = first; i < first + n->p->each; i++) {
        uint32_t d = n->alone ? distance2(n->p->colour[i], n->origin) : nearest_distance(n->key[i]);
        sum += (uint64_t)n->p->weight[i] * d;
        before += sum <= t;
    }
    return first + before;
}

size_t seed_nearest_find(const struct nearest *n, enum isa isa, uint64_t t)
{
    size_t i = 0;
    if (isa != ISA_C) {
        size_t group = group_of(n, t);
        return find_in_group(n, group, t - n->before[group]);
    }
    for (; i + 1 < n->p->n; i++) {
        uint64_t here = (uint64_t)n->p->weight[i] * nearest_distance(n->key[i]);
        if (t < here)
            break;
        t -= here;
    }
    return i;
}

static void count_plain(const struct nearest *n, uint32_t *weight, int count)
{
    memset(weight, 0, (size_t)count * sizeof *weight);
    for (size_t i = 0; i < n->p->n; i++)
        weight[nearest_index(n->key[i])] += n->p->weight[i];
}

void seed_nearest_count(struct nearest *n, enum isa isa, uint32_t *weight, int count)
{
    const struct kmeans_vector *vector = kmeans_vector_of(isa);
    write_keys(n, vector);
    (vector ? vector->count : count_plain)(n, weight, count);
}
