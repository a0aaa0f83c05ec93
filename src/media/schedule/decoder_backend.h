/*
 * decoder_backend.h - what decodes the chunks of a film: libavcodec on the cores, or a device.
 *
 * A backend is one file that defines a `const struct decoder_backend` (nvdec/nvdec_backend.c), and
 * one row of the table in source/film_source.c. Other code in media uses this struct.
 */
#ifndef BARCODE_SCHEDULE_DECODER_BACKEND_H
#define BARCODE_SCHEDULE_DECODER_BACKEND_H

#include <libavformat/avformat.h>
#include <stdbool.h>

#include "media/bitstream/packet_scan.h"
#include "barcode/base/err.h"
#include "media/source.h"

/* Where a backend decodes. A film has workers of one backend on the cores and of one on a device.
 */
enum decoder_place {
    ON_CORES,  /* a decoder needs a core for each of its threads */
    ON_DEVICE, /* workers come on top of the cores; each is several times as fast as a core */
    DECODER_PLACES
};

/* A device that is open for one film. */
struct decoder_device {
    void *state;   /* the backend's */
    int workers;   /* that keep the device busy */
    bool emulated; /* software replaces the device, for tests */
};

struct decoder_backend {
    const char *name;          /* in messages */
    const char *word;          /* in options, reports and cache keys */
    enum decode_choice choice; /* the option that demands this backend alone */
    enum decoder_place place;
    /*
     * Main function of a worker's thread; the argument is the struct decode_pass. It decodes chunks
     * until scheduler_next_chunk returns false:
     * - it puts the selected frames of a chunk into the engine, then calls scheduler_chunk_done and
     *   chunk_free. A device redoes in software what it cannot be trusted with;
     * - on failure it calls decode_pass_fail; if frames contradict the chunk,
     * decode_pass_contradict;
     * - at its end it calls decode_pass_add_counts, and decode_pass_thread_ends. If the device does
     *   not start, it calls scheduler_leave_device and goes on as decode_worker_main.
     */
    void *(*worker_main)(void *pass);

    /* ---- on the cores ---- */

    /* Returns how many threads a decoder of one chunk may have, 1 or more. */
    int (*max_threads)(const AVStream *stream, const struct codec_traits *traits);

    /* ---- on a device ---- */

    /* A flush costs an H.264 decoder: workers send a spliced IDR picture instead (idr_splice.h). */
    bool flush_is_slow;
    /*
     * Flags 1 << STREAM_: of these streams DECODE_AUTO leaves all chunks to the device, because
     * software is too slow to add to the device's rate.
     */
    unsigned alone;
    /*
     * Returns true if DECODE_AUTO may use the device beside software: its frames are the software
     * decoder's, byte for byte, and the engine can read them.
     */
    bool (*is_eligible)(const struct decode_job *job, const AVStream *stream);
    /*
     * Opens the device for the stream and fills `*d`. Fails with ERR_ENGINE if there is no device,
     * with ERR_INPUT if the device cannot decode the stream, with ERR_MEMORY.
     */
    bool (*open)(struct decoder_device *d, const struct decode_job *job, const AVStream *stream,
                 struct err *e);
    /* Closes the device. All workers have ended. */
    void (*close)(struct decoder_device *d);
};

#endif
