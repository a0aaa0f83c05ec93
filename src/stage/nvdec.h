/*
 * nvdec.h - private to the files that speak libav: decoding on an NVIDIA GPU through libavcodec's NVDEC hwaccel.
 *
 * The driver is loaded at run time, so the program starts where there is none.
 */
#ifndef BARCODE_SRC_NVDEC_H
#define BARCODE_SRC_NVDEC_H

#include "staging.h"

/*
 * What the driver says of one kind of stream on one GPU: CUVIDDECODECAPS of NVIDIA's Video Codec SDK (cuviddec.h, 8.0 and later), part of the
 * driver's binary interface. The first three members ask.
 */
struct nvdec_caps {
    int codec, chroma;               /* cudaVideoCodec, cudaVideoChromaFormat */
    unsigned bits_above_8, reserved_in[3];
    unsigned char supported, engines;
    unsigned short output_formats;
    unsigned max_width, max_height, max_macroblocks;
    unsigned short min_width, min_height;
    unsigned char histogram, counter_bits;
    unsigned short histogram_bins;
    unsigned reserved_out[10];
};

/* What all NVDEC sessions of one staging share. */
struct nvdec {
    void *context;             /* CUcontext; NULL: software stands in                        */
    AVBufferRef *own;          /* the device, when no engine lends its context               */
    int engines;               /* decoding engines that take this stream                     */
    struct nvdec_check *check; /* of this GPU's pictures. NULL: they are not checked. Owned by who opened it */
    atomic_uint_fast64_t staged;   /* pictures that its sessions put into the engine         */
    bool lies;                 /* BARCODE_NVDEC has the word "wrong": every picture has some bits flipped, for the check to notice */
};

/*
 * Makes ready to decode `stream`, in the engine's context or, when it has none, in one of its own on device 0.
 * False with a sentence when there is no GPU (ERR_ENGINE), or when it cannot decode this stream (ERR_INPUT: codec,
 * depth, chroma sampling or size). n->engines says how many sessions are worth having (nvdec_sessions).
 * Thread of the caller; nvdec_close after all sessions. What the driver says is kept in `pool`, which may be NULL.
 *
 * The word "software" in the environment's BARCODE_NVDEC (for tests where there is no GPU): the sessions do all that they do,
 * on libavcodec's software decoders.
 */
bool nvdec_open(struct nvdec *n, struct engine_device device, struct decoders *pool, const AVStream *stream, struct err *e);
void nvdec_close(struct nvdec *n);

/*
 * A decoder whose pictures stay on the device (or come in software when the driver refuses: see nvdec_is_picture), with a stream of
 * its own. It may outlive `n`, in whose context it works, where that is an engine's.
 */
AVCodecContext *nvdec_decoder_open(const struct nvdec *n, const AVStream *stream, struct err *e);

/* How many sessions keep its engines busy: while one waits for its pictures, another one feeds the engine. */
int nvdec_sessions(const struct nvdec *n);

/* True if the engine can read pictures where they lie: in its own context. */
bool nvdec_shares(const struct nvdec *n);

/* True if less than a quarter of the device's memory is free. */
bool nvdec_is_tight(const struct nvdec *n);

/* True when BARCODE_NVDEC has the word "software". */
bool nvdec_stands_in(void);

/* True when BARCODE_NVDEC has the word "unchecked": no picture is compared. For measuring what the check costs. */
bool nvdec_unchecked(void);

/*
 * What came out of a decoder, put right: libavcodec takes NVDEC's second plane to begin after as many rows as the picture has,
 * and NVDEC leaves an even number (FFmpeg's nvdec.c, nvdec_retrieve_data). Flips the bits of n->lies. False: memory.
 */
bool nvdec_mend(const struct nvdec *n, AVFrame *frame, struct err *e);

/* True for a picture in device memory. */
bool nvdec_is_picture(const AVFrame *frame);

/* Copies a picture's samples from the device to `host`, whose own are let go, and flips the bits of n->lies. */
bool nvdec_download(const struct nvdec *n, const AVFrame *frame, AVFrame *host, struct err *e);

/*
 * Describes a picture of `decoder` that lies on the device, or its copy on the host: `picture` is what came out of
 * the decoder, `data` the frame whose planes are meant (the same one, or the copy).
 */
bool nvdec_view(const AVCodecContext *decoder, const AVFrame *picture, const AVFrame *data, const struct film *film,
                struct frame_view *view, struct err *e);

/*
 * True for a picture for which a session gives its run up: a RADL picture of the run's first GOP, whose CRA is `key` (NULL: `p` is
 * of a later one). NVDEC's surfaces may hold no picture there, and libavcodec does not tell (session_nvdec.c, untrusted).
 */
static inline bool nvdec_gives_up(const struct picture *key, const struct picture *p)
{
    return key && !key->closed && p->marked_leading && !p->needs_before;
}

/* ---- session_nvdec.c: a thread that decodes runs on the GPU ---- */

void *session_nvdec_main(void *staging);

#endif
