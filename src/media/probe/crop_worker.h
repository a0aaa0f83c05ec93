/*
 * crop_worker.h - one thread of crop detection (crop_detect.c): it samples key frames at places
 * spread over a film, or the frames that follow the first key frame.
 *
 * Each worker opens the film's file for itself, so that other readers of the film are not
 * disturbed.
 */
#ifndef BARCODE_PROBE_CROP_WORKER_H
#define BARCODE_PROBE_CROP_WORKER_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <pthread.h>
#include <stdatomic.h>

#include "media/decode/decoder.h"
#include "media/ffmpeg/av_log.h"
#include "media/ffmpeg/packet.h"
#include "barcode/engine/crop.h"
#include "media/film.h"

enum { CROP_SAMPLES = 24 };    /* places, spread evenly over the film */
enum { CROP_SAMPLES_FEW = 4 }; /* fewer different frames do not show the shape of a film */

/* Frames after a key frame: the maximum number, and the number of conclusive ones that suffices. */
enum { CROP_SAMPLES_MORE = 10, CROP_SAMPLES_ENOUGH = CROP_SAMPLES_FEW };

/* How to seek to a place. */
enum way { BY_TIME, BY_BYTE, NO_WAY };

/* The result at one place. */
struct crop_sample {
    bool done; /* a frame was decoded, and is in `seen` */
    bool claimed;
    int64_t key; /* position of the key frame, once it is claimed */
    struct crop_seen seen;
};

/* Shared by all workers of a film. */
struct crop_samples {
    const struct film *film;
    int requested;                 /* the video stream, as for container_open */
    const AVFormatContext *opened; /* the film as the caller has it open, borrowed; or NULL */
    atomic_int next;               /* place */
    pthread_mutex_t lock;          /* guards each sample's `key` and `claimed` */
    /* By place; then the frames that follow the first key frame. */
    struct crop_sample sample[CROP_SAMPLES + CROP_SAMPLES_MORE];
};

struct crop_worker {
    struct crop_samples *samples; /* borrowed */
    bool alone;                   /* a key frame decodes without the packets after it */
    bool corrupt;                 /* a packet of this sample was damaged */
    bool fresh;                   /* the decoder is new */
    enum way way;
    AVFormatContext *format; /* NULL: not open */
    AVStream *stream;
    AVCodecContext *decoder;
    struct corruption_watch watch;
    struct av_log_counts logged; /* of demuxers */
    struct side_data side;
    AVPacket *packet;
    AVFrame *frame, *planes;
    uint32_t *room;
    struct err error; /* the first one */
};

/*
 * The main function of a thread. Opens the film for `worker`, a struct crop_worker, and samples
 * places until none is left. Results are in `worker->samples`, an error is in `worker->error`.
 * Returns NULL.
 */
void *crop_worker_main(void *worker);

/*
 * Samples some of the frames that follow the film's first key frame. Does nothing if
 * CROP_SAMPLES_ENOUGH frames are conclusive or if no rectangle can result. Call it after
 * crop_worker_main.
 */
void crop_worker_sample_more(struct crop_worker *w);

/* Frees the worker's resources; `samples` stay valid. Also after an error. */
void crop_worker_close(struct crop_worker *w);

/* Returns true if the frame shows the edges of one axis at least. */
bool crop_sample_is_conclusive(const struct crop_seen *seen);

#endif
