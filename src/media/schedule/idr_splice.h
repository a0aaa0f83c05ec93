/*
 * idr_splice.h - a complete IDR picture of the film, sent between two H.264 chunks in place of a
 * flush.
 *
 * libavcodec's H.264 destroys its hardware decoder when it is flushed, and creating another takes
 * 0.2 to 0.85 s. An IDR picture does all that a flush does, inside the bitstream: frame numbers,
 * display order and references begin again, and the decoder outputs delayed frames as others
 * follow. The decoder stays open. The picture is marked DISCARD: its frame is never output and
 * never counted.
 *
 * It may be sent between two chunks only if the same parameter sets are active for both and for it
 * (h264_params.h): its slices name them by their numbers. A film without IDR pictures has none, nor
 * does a film whose packets hold fields.
 */
#ifndef BARCODE_SCHEDULE_IDR_SPLICE_H
#define BARCODE_SCHEDULE_IDR_SPLICE_H

#include "media/bitstream/coded_picture.h"
#include "media/bitstream/h264_params.h"

struct AVPacket;
struct decode_pass;

/* A worker's copy, or the pass's. Zero it first. */
struct idr_splice {
    struct AVPacket *packet; /* as in the film; NULL: none is kept */
    struct nal_sets sets;    /* active at that picture there */
    int sps;                 /* the SPS that its slices name */
    int length_size;
    unsigned made; /* how many were kept so far, with this one */
};

/*
 * Keeps `p` if it can be spliced and is smaller than the one that is kept. Does nothing if `sets`
 * are not those active at `p`. `length_size` is packet_scan's. Cannot fail: without memory the film
 * has no spliced IDR. The reading thread calls it for each picture.
 */
void idr_splice_offer(struct decode_pass *s, const struct picture *p, const struct nal_sets *sets,
                      int length_size);

/* Updates `copy` to the one that is kept now. A worker's thread, for itself. */
void idr_splice_fetch(struct decode_pass *s, struct idr_splice *copy);

/*
 * Records that a decoder rejected `copy`. Unless another one is kept by now, no more are kept: what
 * is wrong with one may be wrong with all.
 */
void idr_splice_refuse(struct decode_pass *s, const struct idr_splice *copy);

/*
 * Returns true if it may be sent between pictures of the sets `before` and `after` (struct
 * picture's).
 */
bool idr_splice_fits(const struct idr_splice *copy, uint64_t before, uint64_t after);

/*
 * Makes `to`, an empty packet, the one to send before `next`, the key of a chunk that is not an
 * IDR, or NULL if no picture follows. The caller unrefs it. Returns false if it cannot be sent
 * there, or if out of memory.
 */
bool idr_splice_packet(const struct idr_splice *copy, const struct picture *next,
                       struct AVPacket *to);

/* Frees what it holds. */
void idr_splice_drop(struct idr_splice *copy);

#endif
