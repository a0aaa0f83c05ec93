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
            uint32_t key = distance2(p->colour[i], colour[c]) << NEAREST_INDEX | (uint32_t)(first + c);
            best = key < best ? key : best;
        }
        n->key[i] = best;
        n->total += (uint64_t)p->weight[i] * nearest_distance(best);
    }
}

/* The masses are the truth of the vector versions; everything that a draw needs follows from them. */
static void settle(struct nearest *n)
{
    uint64_t before = 0;
    for (size_t g = 0; g < n->p->groups; g++) {
        n->before[g] = before;
        before += n->mass[g];
    }
    n->total = before;
}

void seed_nearest_add(struct nearest *n, enum isa isa, const uint32_t *colour, int first, int count, bool last)
{
    const struct kmeans_vector *vector = kmeans_vector_of(isa);
    if (!vector) {
        add_plain(n, colour, first, count);
        return;
    }
    vector->add(n, colour, first, count, last);
    if (!last)
        settle(n);
}

static void try_plain(const struct nearest *n, const uint32_t *colour, int count, uint64_t *potential)
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

void seed_nearest_try(const struct nearest *n, enum isa isa, const uint32_t *colour, int count, uint64_t *potential)
{
    const struct kmeans_vector *vector = kmeans_vector_of(isa);
    (vector ? vector->try : try_plain)(n, colour, count, potential);
}

/* The last group that begins at or before t: groups of mass 0 before it share its beginning. */
static size_t group_of(const struct nearest *n, uint64_t t)
{
    size_t low = 0, high = n->p->groups;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (n->before[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

size_t seed_nearest_find(const struct nearest *n, enum isa isa, uint64_t t)
{
    size_t i = 0;
    if (isa != ISA_C) {
        size_t g = group_of(n, t);
        t -= n->before[g];
        i = g * n->p->each;
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

void seed_nearest_count(const struct nearest *n, enum isa isa, uint32_t *weight, int count)
{
    const struct kmeans_vector *vector = kmeans_vector_of(isa);
    (vector ? vector->count : count_plain)(n, weight, count);
}
