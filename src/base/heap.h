/* heap.h - tunes how much freed memory malloc keeps. */
#ifndef BARCODE_HEAP_H
#define BARCODE_HEAP_H

#include <stdbool.h>

/*
 * Makes malloc keep freed memory for reuse, for a process that opens and closes decoders on many
 * threads. All arenas together keep at most about an eighth of this process's memory (machine.h).
 * By default most of a decoder's memory returns to the kernel, and getting zeroed pages back slows
 * all threads down.
 *
 * Call it once, before other threads use malloc. Returns false and changes nothing if malloc is not
 * glibc's or memory is low. Sources: mallopt(3); heap_trim in glibc's malloc/arena.c.
 */
bool heap_keep(void);

#endif
