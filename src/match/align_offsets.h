/*
 * align_offsets.h - the offsets that parts of film B may have in film A.
 *
 * A landmark (landmarks.h) that both films have is a vote for an offset: the frame of its anchor in
 * A less that in B. Blocks of B's time each propose their offsets with the most votes.
 */
#ifndef BARCODE_MATCH_ALIGN_OFFSETS_H
#define BARCODE_MATCH_ALIGN_OFFSETS_H

#include "align_peaks.h"

enum { ALIGN_OFFSETS_MOST = 120 };

struct align_offset {
    int32_t frames;
    uint32_t votes; /* in its best block */
};

/* Film A's landmarks by key. */
struct align_index;

/* Returns NULL if out of memory. */
struct align_index *align_index_open(const struct align_peaks *a, struct err *e);
void align_index_free(struct align_index **index);

/*
 * Finds *n offsets, at most `most`, in order of time, at least two frames from each other; those
 * with the most votes. With b->reach, each of a landmark's three numbers may differ by one. Keys
 * that are very frequent in A, such as those of a constant hum, have no votes. Returns false if out
 * of memory.
 */
bool align_offsets_find(const struct align_index *index, const struct align_peaks *b, size_t most,
                        struct align_offset *out, size_t *n, struct err *e);

#endif
