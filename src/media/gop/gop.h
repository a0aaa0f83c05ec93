/*
 * gop.h - private to chunker.c: what it does with GOPs and runs themselves, whatever else is being gathered. Pure, one thread.
 */
#ifndef BARCODE_GOP_GOP_H
#define BARCODE_GOP_GOP_H

#include "chunk.h"

/* True if a picture of the run is lost, or something is gone right before one. */
bool gather_gop_torn(const struct run *r);

/* Moves all pictures of `from` to the end of `to`. False: memory; both own what they hold then. */
bool gather_gop_move(struct run *to, struct run *from, struct err *e);

/*
 * Puts copies of the following GOP's key and leading pictures at the run's end when one of them is wanted. `holes`: those
 * near took something of the film. False: memory.
 */
bool gather_gop_add_extras(struct run *run, struct run *following, bool holes, struct err *e);

/* True if a picture is wanted that leads its GOP's key (`leading`), or one that does not. */
bool gather_gop_wanted(const struct run *r, bool leading);

#endif
