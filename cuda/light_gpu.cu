#include "light_gpu.h"

#include <cuda_runtime.h>
#include <pthread.h>
#include <cstdlib>

#include "cuda_check.h"

struct light_gpu {
    struct light *light;
    pthread_mutex_t lock; /* guards the fields below */
    struct light_table *copy[TRANSFERS];
};

struct light_gpu *light_gpu_open(struct light *light, struct err *e)
{
    struct light_gpu *g = (struct light_gpu *)err_calloc(1, sizeof *g, e);
    if (!g)
        return NULL;
    pthread_mutex_init(&g->lock, NULL);
    g->light = light;
    return g;
}

static bool copy_table(struct light_table **to, const struct light_table *from, struct err *e)
{
    const char *what = "take memory for tables of light";
    /*
     * cudaMemcpy may return before the copy is complete, and the streams that read the copy do not
     * wait for it.
     */
    if (cuda_check(cudaMalloc(to, sizeof **to), what, e) &&
        cuda_check(cudaMemcpy(*to, from, sizeof **to, cudaMemcpyHostToDevice), what, e) &&
        cuda_check(cudaStreamSynchronize(cudaStreamLegacy), what, e))
        return true;
    cudaFree(*to);
    *to = NULL;
    return false;
}

const struct light_table *light_gpu_table(struct light_gpu *g, enum transfer transfer,
                                          struct err *e)
{
    const struct light_table *host = light_table(g->light, transfer, e);
    if (!host)
        return NULL;
    pthread_mutex_lock(&g->lock);
    struct light_table **copy = &g->copy[host->transfer];
    bool ok = *copy || copy_table(copy, host, e);
    const struct light_table *found = ok ? *copy : NULL;
    pthread_mutex_unlock(&g->lock);
    return found;
}

void light_gpu_free(struct light_gpu **g)
{
    if (!*g)
        return;
    for (int i = 0; i < TRANSFERS; i++)
        cudaFree((*g)->copy[i]);
    pthread_mutex_destroy(&(*g)->lock);
    free(*g);
    *g = NULL;
}
