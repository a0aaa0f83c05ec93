/*
 * absent.h - pictures that were lost before the film was written: what refers to them tells so.
 *
 * A recorder that drops packets leaves a file in which nothing is torn. The next pictures refer to what is gone, and decoders show
 * something in its place without a word, or with one that whole films draw too. So the reader looks at what each picture says itself:
 *
 *   H.264   frame_num counts the pictures that others may refer to; a number that is left out is one that is gone (7.4.3). Which
 *           picture refers to it is not known, so everything up to the next cut counts. A cut needs nothing of what was before.
 *   HEVC    a slice names what it refers to and what later ones may (8.3.2): what is named and never came is gone.
 *
 * What is gone and referred to by nothing leaves no sign here. Pure; one thread.
 */
#ifndef BARCODE_SRC_ABSENT_H
#define BARCODE_SRC_ABSENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/err.h"
#include "nal.h"
#include "nal_sets.h"

#ifdef __cplusplus
extern "C" {
#endif

struct absent;

struct absent_sign {
    bool hurts;               /* the picture shows, or may show, what refers to an absent one           */
    bool before;              /* some are gone right before it, or not long before, that no sign told of yet */
};

/* A packet of the film, in decoding order. */
struct absent_packet {
    int length_size;          /* as nal_scan's  */
    const uint8_t *data;
    size_t size;
    const struct nal_info *info;   /* nal_scan's     */
    int64_t dts_us;           /* TIME_NONE: unknown */
};

/* False: memory. */
bool absent_open(struct absent **a, enum bitstream stream, struct err *e);

/* Forgets everything but parameter sets: the next packet is from another place. NULL is fine. */
void absent_jumped(struct absent *a);

/* HEVC: keeps the sets of the extradata. NULL is fine. */
void absent_extradata(struct absent *a, const uint8_t *extradata, size_t size);

/* `sets`: those in force at the packet, of H.264. NULL is fine: there is no sign. */
struct absent_sign absent_look(struct absent *a, const struct nal_sets *sets, const struct absent_packet *packet);

void absent_close(struct absent **a);

#ifdef __cplusplus
}
#endif
#endif
