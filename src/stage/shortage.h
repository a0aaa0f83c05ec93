/*
 * shortage.h - was memory short in a call of libav's?
 *
 * libav turns a failed allocation into some other error, or into nothing: a slice that is left out, a stream of which less is
 * known. One sign is always there, for the allocator leaves ENOMEM in errno. It also tells real shortage from an absurd size
 * in a damaged file, which libav refuses with AVERROR(ENOMEM) by itself, without asking the allocator.
 *
 * All of it is about the calling thread.
 */
#ifndef BARCODE_SHORTAGE_H
#define BARCODE_SHORTAGE_H

#include <stdbool.h>

#include "barcode/err.h"

/* To be called right before a call of libav's. */
void shortage_begin(void);

/* To be called right after it: true when memory was short since shortage_begin, whatever the call returned. */
bool shortage_met(void);

/* libav logs something on this thread: what errno says now, a later call may have overwritten by the time of shortage_met. */
void shortage_look(void);

/* Fills `e` (ERR_FAILED): memory was short while the film `path` was being `doing` ("opened"). Returns false. */
bool shortage_error(const char *path, const char *doing, struct err *e);

#endif
