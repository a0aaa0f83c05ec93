/*
 * admission.h - decides when the next film of a run starts to decode.
 *
 * One film at a time holds the cores. The next film starts when the holder has handed out all its
 * work and a core is idle. So the end of one film overlaps with the start of the next: its last
 * chunks, clustering, painting and writing keep only a few cores busy.
 *
 * Otherwise films are decoded one after another. The packets of only one film wait in memory, and
 * fewer than twice as many decoders run as there are cores. Any thread.
 */
#ifndef BARCODE_ADMISSION_H
#define BARCODE_ADMISSION_H

#include "barcode/base/err.h"

struct admission;

/* One film's ticket. Set `admission` and zero the rest. The admission's lock guards `holds`. */
struct admission_ticket {
    struct admission *admission; /* open, or NULL for no admission control */
    bool holds;
};

/* Creates an admission for `cores` (1 or more) cores. */
struct admission *admission_open(int cores, struct err *e);

/*
 * Waits until no film holds the cores and a core is idle, then makes this film the holder. Waiting
 * films are admitted in the order of their calls. Returns false with ERR_INTERRUPTED if
 * interrupted() is true; the film then does not hold the cores.
 */
bool admission_enter(struct admission_ticket *t, struct err *e);

/* Releases the cores: this film has handed out all its work. Does nothing if NULL. */
void admission_release(struct admission_ticket *t);

/* Adds `cores` to the number of busy cores; a negative value subtracts. Does nothing if NULL. */
void admission_add_cores(struct admission_ticket *t, int cores);

/*
 * Returns true if this film may use more cores than it uses now, and sets *cores to the number of
 * idle cores. That number is negative if more cores were counted as busy than exist. Without an
 * admission, returns true and leaves *cores unchanged. Returns false if another film waits: that
 * film starts as soon as a core is idle.
 */
bool admission_spare_cores(struct admission_ticket *t, int *cores);

/* Returns how many cores no film's chunks use, 0 or more; INT_MAX without an admission. */
int admission_idle_cores(struct admission_ticket *t);

/* No film may wait or hold the cores. */
void admission_free(struct admission **a);

#endif
