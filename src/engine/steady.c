#include "steady.h"

#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"

enum { FAR = 96 * 96, COLUMNS_A_LOOK = 4096 };

/* The best value that ends in each colour of the last non-empty column. */
struct front {
    struct steady_list list;
    int64_t best[CLUSTERS_MAX];
    uint64_t unit; /* pixels * percent */
};

static int64_t cost(const struct front *f, const struct cluster *a, const struct cluster *b)
{
    int r = a->rgb[0] - b->rgb[0], g = a->rgb[1] - b->rgb[1], blue = a->rgb[2] - b->rgb[2];
    int d = 2 * r * r + 4 * g * g + 3 * blue * blue;
    return (int64_t)(f->unit * (uint64_t)(d < FAR ? d : FAR) / (UINT64_C(100) * FAR));
}

/* Advances by one column. back[j] gets the best previous choice for colour j. */
static void advance(struct front *f, struct steady_list next, uint8_t *back)
{
    int64_t best[CLUSTERS_MAX];
    bool same_frame = next.cluster == f->list.cluster;
    for (int j = 0; j < next.count; j++) {
        int from = same_frame ? j : 0;
        int64_t most = 0;
        if (f->list.count > 0 && same_frame)
            most = f->best[j];
        else if (f->list.count > 0)
            most = f->best[0] - cost(f, &f->list.cluster[0], &next.cluster[j]);
        for (int i = 1; i < f->list.count && !same_frame; i++) {
            int64_t value = f->best[i] - cost(f, &f->list.cluster[i], &next.cluster[j]);
            if (value > most) {
                most = value;
                from = i;
            }
        }
        best[j] = most + next.cluster[j].count;
        back[j] = (uint8_t)from;
    }
    memcpy(f->best, best, (size_t)next.count * sizeof *best);
    f->list = next;
}

/* Returns the colour in which the best value ends. */
static int last_choice(const struct front *f)
{
    int last = 0;
    for (int j = 1; j < f->list.count; j++)
        if (f->best[j] > f->best[last])
            last = j;
    return last;
}

static int longest_list(steady_ask *ask, const void *user, uint64_t columns)
{
    int most = 1;
    for (uint64_t i = 0; i < columns; i++) {
        int count = ask(user, i).count;
        most = count > most ? count : most;
    }
    return most;
}

bool steady_choose(steady_ask *ask, const void *user, uint64_t columns, uint64_t pixels,
                   int percent, uint8_t *chosen, struct err *e)
{
    struct front f = {.unit = pixels * (uint64_t)percent};
    size_t stride = (size_t)longest_list(ask, user, columns);
    uint8_t *back = calloc(columns, stride);
    if (!back)
        return err_memory(e, columns * stride);
    for (uint64_t i = 0; i < columns; i++) {
        struct steady_list list = ask(user, i);
        if (i % COLUMNS_A_LOOK == 0 && interrupted()) {
            free(back);
            return interrupt_error(e);
        }
        if (list.count > 0)
            advance(&f, list, back + i * stride);
    }
    int choice = last_choice(&f);
    for (uint64_t i = columns; i-- > 0;) {
        bool any = ask(user, i).count > 0;
        chosen[i] = any ? (uint8_t)choice : 0;
        choice = any ? back[i * stride + (size_t)choice] : choice;
    }
    free(back);
    return true;
}

static struct steady_list clusters_of(const void *user, uint64_t column)
{
    const struct column *c = columns_get(user, column);
    return (struct steady_list){c->cluster,
                                c->status == COLUMN_MISSING || !c->cluster ? 0 : c->clusters};
}

static struct steady_list modes_of(const void *user, uint64_t column)
{
    const struct column *c = columns_get(user, column);
    return (struct steady_list){c->mode, c->status == COLUMN_MISSING || !c->mode ? 0 : c->modes};
}

static void choose_cluster(struct column *c, uint8_t chosen) { c->chosen = chosen; }

static void choose_mode(struct column *c, uint8_t chosen)
{
    c->mode_chosen = chosen;
    memcpy(c->dominant, c->mode[chosen].rgb, sizeof c->dominant);
}

static bool choose_all(struct columns *c, steady_ask *ask, void (*choose)(struct column *, uint8_t),
                       uint64_t pixels, int percent, struct err *e)
{
    uint64_t count = columns_count(c);
    uint8_t *chosen = calloc(count + 1, 1);
    if (!chosen)
        return err_memory(e, count + 1);
    bool ok = steady_choose(ask, c, count, pixels, percent, chosen, e);
    for (uint64_t i = 0; ok && i < count; i++) {
        struct column *column = ask(c, i).count > 0 ? columns_at(c, i, e) : NULL;
        if (column)
            choose(column, chosen[i]);
    }
    free(chosen);
    return ok;
}

bool steady_columns(struct columns *c, uint64_t pixels, int percent, struct err *e)
{
    return choose_all(c, clusters_of, choose_cluster, pixels, percent, e) &&
           choose_all(c, modes_of, choose_mode, pixels, percent, e);
}
