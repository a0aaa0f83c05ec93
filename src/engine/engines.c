#include "barcode/engines.h"

#include <string.h>

#include "barcode/log.h"

/*
 * A GPU run costs at least 0.5 s. The CPU estimate may be as low as half the measured time (tests/bench/RESULTS.md).
 */
#define WORTH_A_GPU_SECONDS 1.0

/* The length of a group of pictures by most encoders' defaults, about. Each group is decoded on one core. */
#define GOP_FRAMES 240.0

double engine_work_seconds(const struct engine_work *w, int threads)
{
    double decoded = (double)w->frames * w->width * w->height;
    double clustered = (double)w->columns * w->staged_width * w->staged_height;
    double gops = (double)w->frames / GOP_FRAMES;
    double decoders = gops < 1 ? 1 : gops < threads ? gops : threads;
    return decoded / ENGINES_DECODE_RATE / decoders + clustered / 6.9e6 / threads;
}

bool engine_worth_a_gpu(const struct engine_work *w, int threads)
{
    return w->frames == 0 || engine_work_seconds(w, threads) > WORTH_A_GPU_SECONDS;
}

static void add(struct engines *g, const char *kind, int device)
{
    g->slot[g->count++] = (struct engine_slot){.kind = kind, .device = device};
}

void engines_init(struct engines *g, enum engine_choice choice, int device, int threads)
{
    *g = (struct engines){.threads = threads};
    if (choice == ENGINE_CUDA || (choice == ENGINE_AUTO && engine_built("cuda")))
        add(g, "cuda", device);
    if (choice != ENGINE_CUDA)
        add(g, "cpu", 0);
}

static bool is_cpu(const struct engine_slot *s)
{
    return strcmp(s->kind, "cpu") == 0;
}

static const char *in_words(const struct engine_slot *s)
{
    return is_cpu(s) ? "the CPU" : "the next GPU";
}

static bool open_slot(const struct engines *g, struct engine_slot *s, struct err *e)
{
    struct engine_config config = {.threads = g->threads, .device = s->device};
    if (!s->opened)
        s->opened = engine_open(s->kind, &config, e);
    s->failed = !s->opened;
    return s->opened != NULL;
}

struct engine *engines_for(struct engines *g, const struct engine_work *w, struct err *e)
{
    struct engine_slot *last = &g->slot[g->count - 1];
    bool worth = !is_cpu(last) || engine_worth_a_gpu(w, g->threads);
    for (struct engine_slot *s = g->slot; s < last; s++) {
        if (s->failed || (!s->opened && !worth))
            continue;
        struct err why = ERR_INIT;
        if (open_slot(g, s, &why))
            return s->opened;
        log_msg(LOG_VERBOSE, "%s: clustering on %s", why.text, in_words(s + 1));
    }
    return open_slot(g, last, e) ? last->opened : NULL;
}

const char *engines_give_up(struct engines *g, const struct engine *failed)
{
    for (struct engine_slot *s = g->slot; failed && s < &g->slot[g->count - 1]; s++) {
        if (s->opened != failed)
            continue;
        engine_close(&s->opened);
        s->failed = true;
        return in_words(s + 1);
    }
    return NULL;
}

void engines_close(struct engines *g)
{
    for (int i = 0; i < g->count; i++)
        engine_close(&g->slot[i].opened);
}
