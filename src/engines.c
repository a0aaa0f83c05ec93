#include "barcode/engines.h"

#include "barcode/log.h"

/* What starting a GPU costs beside its gain, with a margin: tests/bench/RESULTS.md has the measurement. */
#define WORTH_A_GPU_SECONDS 0.25

double engine_work_seconds(const struct engine_work *w, int threads)
{
    double decoded = (double)w->frames * w->width * w->height;
    double clustered = (double)w->columns * w->staged_width * w->staged_height;
    return (decoded / 334e6 + clustered / 6.9e6) / threads;
}

static struct engine *open_cpu(struct engines *g, struct err *e)
{
    if (!g->cpu)
        g->cpu = engine_open("cpu", &g->config, e);
    return g->cpu;
}

static struct engine *open_cuda(struct engines *g, struct err *e)
{
    if (!g->cuda)
        g->cuda = engine_open("cuda", &g->config, e);
    g->cuda_failed |= !g->cuda;
    return g->cuda;
}

struct engine *engines_for(struct engines *g, const struct engine_work *w, struct err *e)
{
    if (g->choice == ENGINE_CUDA)
        return open_cuda(g, e);
    bool worth = g->cuda || w->frames == 0 || engine_work_seconds(w, g->config.threads) > WORTH_A_GPU_SECONDS;
    if (g->choice == ENGINE_AUTO && engine_built("cuda") && !g->cuda_failed && worth) {
        struct err why = ERR_INIT;
        if (open_cuda(g, &why))
            return g->cuda;
        log_msg(LOG_VERBOSE, "%s: clustering on the CPU", why.text);
    }
    return open_cpu(g, e);
}

bool engines_give_up_cuda(struct engines *g)
{
    if (g->choice != ENGINE_AUTO || !g->cuda)
        return false;
    engine_close(&g->cuda);
    g->cuda_failed = true;
    return true;
}

void engines_close(struct engines *g)
{
    engine_close(&g->cpu);
    engine_close(&g->cuda);
}
