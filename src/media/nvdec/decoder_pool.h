/*
 * decoder_pool.h - private to the files that speak libav: decoders that go from film to film
 * (barcode/media/decoders.h).
 */
#ifndef BARCODE_NVDEC_DECODER_POOL_H
#define BARCODE_NVDEC_DECODER_POOL_H

#include "nvdec.h"
#include "media/schedule/decode_pass.h"

/* A decoder, and what is known of its past. A worker's, until it is given back. */
struct nvdec_decoder {
    AVCodecContext *context;
    AVCodecParameters *of;      /* what it was opened for */
    void *device;               /* the CUcontext that it works in */
    int films;                  /* so many have used it; its pictures may still be in it (H.264) */
    struct nvdec_decoder *next; /* the pool's */
};

/* True if another film may come to have what a film is done with: that is worth some work at the
 * film's end. `pool` may be NULL. */
bool nvdec_pool_is_shared(const struct decoders *pool);

/* What asks the driver. False: it did not answer; then also `e`, if it is not there. */
typedef bool nvdec_ask(const struct nvdec *n, struct nvdec_caps *caps, struct err *e);

/*
 * What the driver says of such streams on n's GPU: as it said to a film before, or else what `ask`
 * gets, one film at a time. To ask for each film cost a folder of 480p clips a tenth of its time.
 * No answer is not kept. `pool` may be NULL.
 */
bool nvdec_pool_ask(struct decoders *pool, const struct nvdec *n, struct nvdec_caps *caps,
                    nvdec_ask *ask, struct err *e);

/*
 * Waits until one more worker may work in n's context; without a pool it may at once. False: `s`
 * was stopped meanwhile, or has no run left. Places are given in the order of the calls, so that a
 * film never waits for one that began after it.
 */
bool nvdec_pool_enter(struct decoders *pool, const struct nvdec *n, struct decode_pass *s);

/* The worker ends; its decoder is given back. */
void nvdec_pool_leave(struct decoders *pool, const struct nvdec *n);

/*
 * A decoder for `stream`: one that is kept and was opened for the same parameters, to the byte, or
 * a new one. What a kept one learnt from its last film is put right by the extradata that
 * nvdec_pool_refresh gives its first packet. `pool` may be NULL.
 */
struct nvdec_decoder *nvdec_pool_take(struct decoders *pool, const struct nvdec *n,
                                      const AVStream *stream, struct err *e);

/*
 * To the first packet of a decoder that other films have used: the parameter sets of its stream's
 * extradata, which replace those that were in the other films' pictures. False: memory.
 */
bool nvdec_pool_refresh(const struct nvdec_decoder *d, AVPacket *packet, struct err *e);

/*
 * Takes the decoder back; sets *d to NULL, which is fine too. It is kept for another film if it is
 * `reusable`, and nothing is left for it to do. Another one is spent: it is destroyed when a new
 * one is made in its place, or with the pool. To destroy one takes the driver 25 ms, one at a time,
 * and the last of all at times 0.25 s: a film's picture does not wait for that. One that no film
 * can have is destroyed at once where the GPU's memory is tight; so is any without a pool, or in a
 * context of the film's own.
 */
void nvdec_pool_give(struct decoders *pool, const struct nvdec *n, struct nvdec_decoder **d,
                     bool reusable);

/*
 * Adds to a packet's time what makes it this film's among all that the decoder had; a picture's
 * time minus it is < 0 for pictures of other films. Times are serials (open.h).
 */
static inline int64_t nvdec_pool_base(const struct nvdec_decoder *d)
{
    return (int64_t)d->films << 40;
}

#endif
