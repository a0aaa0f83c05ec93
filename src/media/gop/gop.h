/*
 * gop.h - private to chunker.c: moves, copies and checks the pictures of one GOP or chunk. Pure;
 * one thread.
 */
#ifndef BARCODE_GOP_GOP_H
#define BARCODE_GOP_GOP_H

#include "chunk.h"

/*
 * Returns true if a picture of the chunk is lost, or if something is missing right before a
 * picture.
 */
bool gop_has_gap(const struct chunk *r);

/*
 * Moves all pictures of `from` to the end of `to`. Returns false if out of memory; then each keeps
 * what it holds.
 */
bool gop_move_pictures(struct chunk *to, struct chunk *from, struct err *e);

/*
 * Appends copies of the next GOP's key frame and leading pictures to the chunk if one of them is
 * selected. `gaps`: frames are missing at the gaps nearby. Returns false if out of memory.
 */
bool gop_add_next_leading(struct chunk *chunk, struct chunk *following, bool gaps, struct err *e);

/*
 * Returns true if a picture of the chunk is selected. `leading`: only leading pictures count;
 * otherwise only the others.
 */
bool gop_is_selected(const struct chunk *r, bool leading);

#endif
