/*
 * nvdec.h - private to the files that speak libav: decoding on an NVIDIA GPU through libavcodec's
 * NVDEC hwaccel.
 *
 * The driver is loaded at run time, so the program starts where there is none.
 */
#ifndef BARCODE_NVDEC_NVDEC_H
#define BARCODE_NVDEC_NVDEC_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "media/bitstream/coded_picture.h"
#include "media/decode/corruption.h"
#include "barcode/base/err.h"
#include "barcode/engine/engine.h"
#include "barcode/media/decoders.h"
#include "barcode/media/film.h"

/*
 * What the driver says of one kind of stream on one GPU: CUVIDDECODECAPS of NVIDIA's Video Codec
 * SDK (cuviddec.h, 8.0 and later), part of the driver's binary interface. The first three members
 * ask.
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

/* What all NVDEC workers of one staging share. */
struct nvdec {
    void *context;    /* CUcontext; NULL: software stands in */
    AVBufferRef *own; /* the device, when no engine lends its context */
    int engines;      /* decoding engines that take this stream */
};

/*
 * Makes ready to decode `stream`, in the engine's context or, when it has none, in one of its own
 * on device 0. False with a sentence when there is no GPU (ERR_ENGINE), or when it cannot decode
 * this stream (ERR_INPUT: codec, depth, chroma sampling or size). n->engines says how many workers
 * are worth having (nvdec_workers). Thread of the caller; nvdec_close after all workers. What the
 * driver says is kept in `pool`, which may be NULL.
 *
 * The word "software" in the environment's BARCODE_NVDEC (for tests where there is no GPU): the
 * workers do all that they do, on libavcodec's software decoders.
 */
bool nvdec_open(struct nvdec *n, struct engine_device device, struct decoders *pool,
                const AVStream *stream, struct err *e);
void nvdec_close(struct nvdec *n);

/*
 * A decoder whose pictures stay on the device (or come in software when the driver refuses: see
 * nvdec_is_device_frame), with a stream of its own. It may outlive `n`, in whose context it works,
 * where that is an engine's.
 */
AVCodecContext *nvdec_decoder_open(const struct nvdec *n, const AVStream *stream, struct err *e);

/* How many workers keep its engines busy: while one waits for its pictures, another one feeds the
 * engine. */
int nvdec_workers(const struct nvdec *n);

/* True if the engine can read pictures where they lie: in its own context. */
bool nvdec_shares(const struct nvdec *n);

/* True if less than a quarter of the device's memory is free. */
bool nvdec_is_memory_low(const struct nvdec *n);

/* True when BARCODE_NVDEC has the word "software". */
bool nvdec_is_emulated(void);

/*
 * Corrects the address of the second plane of an NVDEC frame: libavcodec (nvdec_retrieve_data in
 * nvdec.c) has it begin after frame->height rows, NVDEC after an even number. Leaves other frames
 * as they are.
 */
void nvdec_fix_chroma(AVFrame *frame);

/*
 * Returns true if DECODE_AUTO may use NVDEC for the codec: its frames are the software decoder's,
 * byte for byte (the table in nvdec.c). DECODE_NVDEC may use NVDEC for the other codecs of the
 * table, too.
 */
bool nvdec_is_exact(enum AVCodecID codec);

/*
 * Notes in a decoder's watch the only size of frame that NVDEC decodes rightly, for a codec that
 * has one (the table in nvdec.c).
 */
void nvdec_expect_size(struct corruption_watch *w, const AVCodecParameters *par);

/*
 * Returns true if the watched decoder has begun a frame of another size than nvdec_expect_size
 * noted. All frames that come out from then on are wrong, even after the size has changed back.
 */
bool nvdec_is_resized(const AVCodecContext *decoder);

/* True for a picture in device memory. */
bool nvdec_is_device_frame(const AVFrame *frame);

/* Copies a picture's samples from the device to `host`, whose own are let go. */
bool nvdec_download(const AVFrame *frame, AVFrame *host, struct err *e);

/*
 * Describes a picture of `decoder` that lies on the device, or its copy on the host: `picture` is
 * what came out of the decoder, `data` the frame whose planes are meant (the same one, or the
 * copy).
 */
bool nvdec_view(const AVCodecContext *decoder, const AVFrame *picture, const AVFrame *data,
                const struct film *film, struct frame_view *view, struct err *e);

/*
 * True for a picture for which a worker gives its run up: a RADL picture of the run's first GOP,
 * whose CRA is `key` (NULL: `p` is of a later one). NVDEC's surfaces may hold no picture there, and
 * libavcodec does not tell (nvdec_worker.c, untrusted).
 */
static inline bool nvdec_gives_up(const struct picture *key, const struct picture *p)
{
    return key && !key->closed && p->marked_leading && !p->needs_before;
}

/* ---- nvdec_backend.c: NVDEC for the scheduler ---- */

extern const struct decoder_backend nvdec_backend;

/* ---- nvdec_worker.c: a thread that decodes chunks on the GPU ---- */

void *nvdec_worker_main(void *pass);

#endif
