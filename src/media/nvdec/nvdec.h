/* nvdec.h - decoding on an NVIDIA GPU by libavcodec. The driver is loaded at run time. */
#ifndef BARCODE_NVDEC_NVDEC_H
#define BARCODE_NVDEC_NVDEC_H

#include "media/decode/decoder.h"

/*
 * What one GPU can decode of one kind of stream: CUVIDDECODECAPS of NVIDIA's Video Codec SDK
 * (cuviddec.h, 8.0 and later), part of the driver's binary interface. The caller fills the first
 * three members, and the driver fills the others.
 */
struct nvdec_caps {
    int codec, chroma; /* cudaVideoCodec, cudaVideoChromaFormat */
    unsigned bits_above_8, reserved_in[3];
    unsigned char supported, engines;
    unsigned short output_formats;
    unsigned max_width, max_height, max_macroblocks;
    unsigned short min_width, min_height;
    unsigned char histogram, counter_bits;
    unsigned short histogram_bins;
    unsigned reserved_out[10];
};

/* The state that all NVDEC workers of one decode pass share. */
struct nvdec {
    void *context;            /* CUcontext; NULL: emulated by software */
    AVBufferRef *film_device; /* the device, if the context is not an engine's */
    int engines;              /* decoding engines that can decode the stream */
};

/*
 * Prepares decoding `stream`, in the engine's context or, if `device` has none, in a new context on
 * device 0. Fails with ERR_ENGINE if there is no GPU, and with ERR_INPUT if the GPU cannot decode
 * the stream (codec, depth, chroma format or size). Sets n->engines. The driver's capabilities are
 * cached in `pool`, which may be NULL. Call nvdec_close after all workers have ended.
 *
 * BARCODE_NVDEC=software in the environment, for tests without a GPU: the workers do all that they
 * do, with libavcodec's software decoders.
 */
bool nvdec_open(struct nvdec *n, struct engine_device device, struct decoders *pool,
                const AVStream *stream, struct err *e);
void nvdec_close(struct nvdec *n);

/*
 * Opens a decoder with a CUDA stream of its own. Its frames stay on the device, or are in software
 * if the driver refuses (nvdec_is_device_frame). It may outlive `n` if it works in an engine's
 * context.
 */
AVCodecContext *nvdec_decoder_open(const struct nvdec *n, const AVStream *stream, struct err *e);

/* Returns how many workers keep the engines busy: one sends packets while another waits. */
int nvdec_workers(const struct nvdec *n);

/* Returns true if the engine can read frames where they are: in its own context. */
bool nvdec_shares(const struct nvdec *n);

/* Returns true if less than a quarter of the device's memory is free. */
bool nvdec_is_memory_low(const struct nvdec *n);

/* Returns true if BARCODE_NVDEC is "software". */
bool nvdec_is_emulated(void);

/*
 * Corrects the address of an NVDEC frame's second plane: libavcodec's nvdec_retrieve_data places it
 * after frame->height rows, NVDEC after an even number of rows. Leaves other frames as they are.
 */
void nvdec_fix_chroma(AVFrame *frame);

/* Returns true if NVDEC's frames of the codec are the software decoder's (table in nvdec.c). */
bool nvdec_is_exact(enum AVCodecID codec);

/* Records the only frame size that NVDEC decodes correctly, if the codec has one (nvdec.c). */
void nvdec_expect_size(struct corruption_watch *w, const AVCodecParameters *par);

/* Returns true once a frame of another size has begun: all frames from then on are wrong. */
bool nvdec_is_resized(const AVCodecContext *decoder);

/* Returns true for a frame in device memory. */
bool nvdec_is_device_frame(const AVFrame *frame);

/* Copies a frame's samples from the device to `host`, whose previous ones are freed. */
bool nvdec_download(const AVFrame *frame, AVFrame *host, struct err *e);

/* Describes `picture`, a frame of `decoder`. `data` has its planes: itself, or a copy. */
bool nvdec_view(const AVCodecContext *decoder, const AVFrame *picture, const AVFrame *data,
                const struct film *film, struct frame_view *view, struct err *e);

/* nvdec_worker.c */
extern const struct decoder_backend nvdec_backend;

/* ---- decoder_pool.c: decoders that films share (struct decoders) ---- */

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
