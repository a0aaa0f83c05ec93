/*
 * idr_splice.h - what stands between two H.264 runs in place of a flush: a whole IDR picture of the
 * film's own.
 *
 * libavcodec's H.264 throws its NVDEC decoder away when it is flushed, and 0.2 to 0.85 s go by
 * until it has another. An IDR picture does all that a flush is for, inside the bitstream: frame
 * numbers, the order of display and the references begin anew, and pictures that wait for their
 * turn come out as others follow. The decoder lives on. The picture itself is marked DISCARD: it
 * never comes out, and no count of pictures knows of it.
 *
 * Two runs may be parted by it only where one and the same parameter sets are in force for both and
 * for it (h264_params.h): its slices name them by their numbers. A film without IDR pictures has
 * none, and so have films whose packets hold fields.
 */
#ifndef BARCODE_SCHEDULE_IDR_SPLICE_H
#define BARCODE_SCHEDULE_IDR_SPLICE_H

#include "media/bitstream/coded_picture.h"
#include "media/bitstream/h264_params.h"

struct AVPacket;
struct decode_pass;

/* As a worker has it. Zero it first. */
struct idr_splice {
    struct AVPacket *packet; /* as the film has it; NULL: there is none */
    struct nal_sets sets;    /* that were in force there */
    int sps;                 /* the one of them that its slices name */
    int length_size;
    unsigned made; /* so many were found before this one and with it */
};

/*
 * The reading thread's, of each picture: keeps `p` if it can separate and is smaller than the one
 * that is kept. `sets` are those in force at `p` (if they are not, nothing is done), `length_size`
 * packet_scan's. Cannot fail: without memory the film just has no idr splice.
 */
void idr_splice_offer(struct decode_pass *s, const struct picture *p, const struct nal_sets *sets,
                      int length_size);

/* Brings `mine` to what is kept now. A worker's thread, for itself. */
void idr_splice_fetch(struct decode_pass *s, struct idr_splice *mine);

/* It did not please the decoder: unless another one is kept by now, none is from here on, for what
 * is wrong may be wrong with all. */
void idr_splice_refuse(struct decode_pass *s, const struct idr_splice *mine);

/* True if it may stand between pictures of the sets `before` and `after` (struct picture's). */
bool idr_splice_fits(const struct idr_splice *mine, uint64_t before, uint64_t after);

/*
 * Makes `to`, empty, the packet to be sent before `next`, the key of a run that is no IDR; NULL:
 * nothing in particular follows. The caller unrefs it. False: it cannot stand there, or there is no
 * memory.
 */
bool idr_splice_packet(const struct idr_splice *mine, const struct picture *next,
                       struct AVPacket *to);

/* Frees what it holds. */
void idr_splice_drop(struct idr_splice *mine);

#endif
