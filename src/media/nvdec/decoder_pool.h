/* decoder_pool.h - NVDEC decoders that films share (struct decoders). */
#ifndef BARCODE_NVDEC_DECODER_POOL_H
#define BARCODE_NVDEC_DECODER_POOL_H

#include "nvdec.h"
#include "media/schedule/decode_pass.h"

/* A decoder and its past. A worker's, until the worker returns it to the pool. */
struct nvdec_decoder {
    AVCodecContext *context;
    AVCodecParameters *of;      /* for which it was opened */
    void *device;               /* the CUcontext that it works in */
    int films;                  /* that have used it; their frames may still be in it (H.264) */
    struct nvdec_decoder *next; /* in the pool */
};

/* Returns true if another film may reuse a film's decoders. `pool` may be NULL. */
bool nvdec_pool_is_shared(const struct decoders *pool);

/* Queries the driver. Returns false if the query fails, and sets `e` if there is no driver. */
typedef bool nvdec_ask(const struct nvdec *n, struct nvdec_caps *caps, struct err *e);

/*
 * Fills `caps`, for such streams on n's GPU, from the pool if an earlier film queried them,
 * otherwise by calling `ask`: a query takes a tenth of a short film's time. One film queries at a
 * time. A failed query is not cached. `pool` may be NULL.
 */
bool nvdec_pool_ask(struct decoders *pool, const struct nvdec *n, struct nvdec_caps *caps,
                    nvdec_ask *ask, struct err *e);

/*
 * Waits until one more worker may work in n's context; without a pool it may at once. Returns false
 * if `s` was stopped meanwhile, or has no chunk left. Places are given in the order of the calls,
 * so a film never waits for one that began after it.
 */
bool nvdec_pool_enter(struct decoders *pool, const struct nvdec *n, struct decode_pass *s);

/* Gives the worker's place back. Its decoder was returned before. */
void nvdec_pool_leave(struct decoders *pool, const struct nvdec *n);

/*
 * Returns a decoder for `stream`: a pooled one that was opened for the same parameters, to the
 * byte, or a new one. What a pooled one kept of its last film is corrected by the extradata that
 * nvdec_pool_refresh adds to its first packet. `pool` may be NULL. Returns NULL on failure.
 */
struct nvdec_decoder *nvdec_pool_take(struct decoders *pool, const struct nvdec *n,
                                      const AVStream *stream, struct err *e);

/*
 * Adds the parameter sets of the stream's extradata to the first packet of a reused decoder. They
 * replace those of the other films' pictures. Returns false if out of memory.
 */
bool nvdec_pool_refresh(const struct nvdec_decoder *d, AVPacket *packet, struct err *e);

/*
 * Returns a decoder to the pool and sets *d to NULL. Does nothing if *d is NULL. A `reusable`
 * decoder is empty: it is pooled. Any other is retired: it is destroyed when a new one is created
 * in its place, or with the pool, because destroying a decoder blocks the driver for 25 to 250 ms.
 *
 * A decoder that no film can reuse is destroyed immediately if the GPU's memory is low. So is every
 * decoder without a pool, or in a context of the film's own.
 */
void nvdec_pool_give(struct decoders *pool, const struct nvdec *n, struct nvdec_decoder **d,
                     bool reusable);

/*
 * Returns what is added to a packet's pts, a serial, so that it differs from those of other films
 * of the decoder. A frame's pts minus the base is < 0 for frames of other films.
 */
static inline int64_t nvdec_pool_base(const struct nvdec_decoder *d)
{
    return (int64_t)d->films << 40;
}

#endif
