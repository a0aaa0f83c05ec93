/*
 * shortage.h - tells whether memory was short in a call of libav's.
 *
 * libav turns a failed allocation into some other error, or into nothing: a slice that is left out, a stream of which less is
 * known. So the program's own malloc, calloc, realloc and posix_memalign stand before the allocator's (libav's calls come here
 * too, as those of every library do) and note a refusal. That also tells real shortage from an absurd size in a damaged
 * file, which libav refuses with AVERROR(ENOMEM) by itself, without asking the allocator.
 *
 * errno was tried as the sign. glibc leaves ENOMEM there after allocations that went well: where the heap cannot grow in place,
 * because a mapping follows it as CUDA's may, it fails to move the break and maps pages instead. On an H200 one run of six
 * of a 2-hour film failed for that.
 *
 * All of it is about the calling thread. In a build with sanitizers nothing is noted: their allocators end the program.
 */
#ifndef BARCODE_SHORTAGE_H
#define BARCODE_SHORTAGE_H

#include <stdbool.h>

#include "barcode/err.h"

/* To be called right before a call of libav's. */
void shortage_begin(void);

/* True when memory was short since shortage_begin, whatever the calls in between returned. */
bool shortage_met(void);

/* Notes that an allocation was refused. */
void shortage_note(void);

/* Fills `e` (ERR_FAILED): memory was short while the film `path` was being `doing` ("opened"). Returns false. */
bool shortage_error(const char *path, const char *doing, struct err *e);

#endif
