/* nvdec_backend.c - NVDEC as a backend of the decode pass (decoder_backend.h). */
#include <stdlib.h>

#include "nvdec.h"
#include "media/schedule/decoder_backend.h"
#include "barcode/base/err.h"
#include "barcode/engine/engine.h"

static bool is_nvdec_eligible(const struct decode_job *job, const AVStream *stream)
{
    return nvdec_is_exact(stream->codecpar->codec_id) &&
           (engine_device(job->engine).context || nvdec_is_emulated());
}

static bool open_nvdec_device(struct decoder_device *d, const struct decode_job *job,
                              const AVStream *stream, struct err *e)
{
    struct nvdec *nvdec = calloc(1, sizeof *nvdec);
    if (!nvdec)
        return err_memory(e, sizeof *nvdec);
    if (!nvdec_open(nvdec, engine_device(job->engine), job->decoders, stream, e)) {
        free(nvdec);
        return false;
    }
    *d = (struct decoder_device){
        .state = nvdec, .workers = nvdec_workers(nvdec), .emulated = nvdec_is_emulated()};
    return true;
}

static void close_nvdec_device(struct decoder_device *d)
{
    nvdec_close(d->state);
    free(d->state);
    d->state = NULL;
}

const struct decoder_backend nvdec_backend = {
    .name = "NVDEC",
    .word = "nvdec",
    .choice = DECODE_NVDEC,
    .place = ON_DEVICE,
    .worker_main = nvdec_worker_main,
    .flush_is_slow = true,
    .alone = 1u << STREAM_HEVC,
    .is_eligible = is_nvdec_eligible,
    .open = open_nvdec_device,
    .close = close_nvdec_device,
};
