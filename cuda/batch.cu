#include "batch.h"

#include <cstdlib>
#include <cstring>

#include "cuda_check.h"

size_t gpu_frame_bytes(const struct engine_job *job)
{
    return (size_t)job->width * job->height * 3;
}

bool gpu_plan_choose(const struct engine_job *job, struct gpu_plan *plan, struct err *e)
{
    size_t free_bytes, total;
    int device, multiprocessors;
    if (!cuda_check(cudaMemGetInfo(&free_bytes, &total), "see the free memory", e) ||
        !cuda_check(cudaGetDevice(&device), "find the device", e) ||
        !cuda_check(
            cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
            "ask the device", e))
        return false;
    /*
     * Decoders need memory too. So the batches use a third of the free memory, and each at most 192
     * MiB for frames.
     */
    size_t budget = free_bytes / 3, most = (size_t)192 << 20, bytes = gpu_frame_bytes(job);
    plan->batches = 3;
    int frames = 2 * multiprocessors;
    while (frames > 1 && frames * bytes > most)
        frames = (frames + 1) / 2;
    for (; frames >= 1; frames /= 2) {
        size_t workspace =
            job->cluster ? kmeans_gpu_bytes(&job->kmeans, (int)(bytes / 3), frames) : 0;
        workspace += job->modes ? dominant_gpu_bytes(frames) : 0;
        if (plan->batches * frames * bytes + workspace <= budget || frames == 1)
            break;
    }
    plan->frames = frames;
    return true;
}

bool gpu_batch_open(struct gpu_batch *b, const struct engine_job *job, int frames, struct err *e)
{
    size_t bytes = gpu_frame_bytes(job), n = (size_t)frames, rows = n * job->height * 3;
    const char *what = "take memory for frames";
    b->tag = (struct frame_tag *)calloc(n, sizeof *b->tag);
    if (!b->tag)
        return err_memory(e, n * sizeof *b->tag);
    return cuda_check(cudaEventCreate(&b->begun), what, e) &&
           cuda_check(cudaEventCreateWithFlags(&b->done, cudaEventBlockingSync), what, e) &&
           cuda_check(cudaMalloc(&b->rgb, n * bytes), what, e) &&
           cuda_check(cudaMalloc(&b->frame, n * sizeof *b->frame), what, e) &&
           cuda_check(cudaMalloc(&b->sum, rows * sizeof *b->sum), what, e) &&
           cuda_check(cudaMallocHost(&b->host_frame, n * sizeof *b->frame), what, e) &&
           cuda_check(cudaMallocHost(&b->host_sum, rows * sizeof *b->sum), what, e) &&
           (!job->tap || cuda_check(cudaMallocHost(&b->host_rgb, n * bytes), what, e)) &&
           (!job->modes ||
            (cuda_check(cudaMalloc(&b->modes, n * sizeof *b->modes), what, e) &&
             cuda_check(cudaMallocHost(&b->host_modes, n * sizeof *b->modes), what, e))) &&
           (!job->cluster ||
            (cuda_check(cudaMalloc(&b->column, n * sizeof *b->column), what, e) &&
             cuda_check(cudaMallocHost(&b->host_column, n * sizeof *b->column), what, e)));
}

void gpu_batch_close(struct gpu_batch *b)
{
    free(b->tag);
    if (b->begun)
        cudaEventDestroy(b->begun);
    if (b->done)
        cudaEventDestroy(b->done);
    cudaFree(b->rgb);
    cudaFree(b->frame);
    cudaFree(b->sum);
    cudaFree(b->column);
    cudaFree(b->modes);
    cudaFreeHost(b->host_frame);
    cudaFreeHost(b->host_sum);
    cudaFreeHost(b->host_column);
    cudaFreeHost(b->host_modes);
    cudaFreeHost(b->host_rgb);
    memset(b, 0, sizeof *b);
}

static bool deliver_one(const struct gpu_batch *b, int i, const struct engine_job *job,
                        struct err *e)
{
    const struct frame_tag *tag = &b->tag[i];
    struct column *to = columns_at(job->columns, tag->column, e);
    if (!to)
        return false;
    column_fill(to, tag, b->host_sum + (size_t)i * job->height * 3, job->width, job->height,
                job->rows, job->means);
    if (job->cluster) {
        const struct gpu_column *from = &b->host_column[i];
        to->clusters = (uint8_t)from->clusters;
        memcpy(to->cluster, from->cluster, (size_t)from->clusters * sizeof *to->cluster);
    }
    if (job->modes)
        column_fill_modes(to, b->host_modes[i].mode, b->host_modes[i].modes);
    columns_note_done(job->columns, tag);
    return true;
}

bool gpu_batch_deliver(struct gpu_batch *b, const struct engine_job *job, struct err *e)
{
    for (int i = 0; i < b->taken; i++) {
        if (job->tap &&
            !job->tap(job->tap_user, &b->tag[i], b->host_rgb + (size_t)i * gpu_frame_bytes(job), e))
            return false;
        if (!frame_is_preview_only(&b->tag[i]) && !deliver_one(b, i, job, e))
            return false;
    }
    return true;
}
