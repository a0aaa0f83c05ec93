/*
 * heap.h - what malloc does with what was freed.
 */
#ifndef BARCODE_HEAP_H
#define BARCODE_HEAP_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * For a process that opens and closes decoders on many threads: from now on malloc keeps what is
 * freed for what comes next, at the ends of its arenas together about an eighth of this process's
 * memory (machine.h) at most. By default most of what a decoder had goes back to the kernel, which
 * hands it out again a page at a time, each zeroed first, and threads that wait for pages wait for
 * one another.
 *
 * Once, before other threads use malloc. False: nothing is changed, for malloc is not glibc's, or
 * memory is short. How glibc keeps memory: mallopt(3); malloc/arena.c (heap_trim). test_heap
 */
bool heap_keep(void);

#ifdef __cplusplus
}
#endif
#endif
