#include "barcode/engines.h"

#include "barcode/log.h"

/*
 * A GPU run costs at least 0.5 s. The CPU estimate may be as low as half the measured time (tests/bench/RESULTS.md).
 */
#define WORTH_A_GPU_SECONDS 1.0

/* Of a group of pictures, about, by the defaults of most encoders: a core each. */
#define GOP_FRAMES 240.0

double engine_work_seconds(const struct engine_work *w, int threads)
{
    double decoded = (double)w->frames * w->width * w->height;
    double clustered = (double)w->columns * w->staged_width * w->staged_height;
    double gops = (double)w->frames / GOP_FRAMES;
    double decoders = gops < 1 ? 1 : gops < threads ? gops : threads;
    return decoded / 334e6 / decoders + clustered / 6.9e6 / threads;
}

bool engine_worth_a_gpu(const struct engine_work *w, int threads)
{
    return w->frames == 0 || engine_work_seconds(w, threads) > WORTH_A_GPU_SECONDS;
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
    bool worth = g->cuda || engine_worth_a_gpu(w, g->config.threads);
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
