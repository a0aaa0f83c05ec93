/*
 * admission.h - when the next film of a run begins to decode: where several are under way, one
 * holds the cores, and the next one begins as soon as that one has nothing left to hand out and a
 * core is idle.
 *
 * So the end of a film, where its last runs keep a few cores busy, and its clustering, painting and
 * writing lie beside the beginning of the next one. Long films still come one after another: no
 * more than one film's packets wait in memory, and less than twice as many decoders as there are
 * cores work. Any thread.
 */
#ifndef BARCODE_ADMISSION_H
#define BARCODE_ADMISSION_H

#include <stdbool.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct admission;

/* One film's way through the admission: zeroed but for the first. The admission's lock guards
 * `holds`. */
struct admission_ticket {
    struct admission *admission; /* NULL: none. Else an open one */
    bool holds;
};

/* For `cores` (1 or more). NULL: memory. */
struct admission *admission_open(int cores, struct err *e);

/*
 * Waits until no film feeds and a core is idle; from here on this one does. Those who wait go on in
 * the order of their calls. False: ERR_INTERRUPTED, and this film does not feed.
 */
bool admission_enter(struct admission_ticket *t, struct err *e);

/* The film has handed out all it has, or is done with: it feeds no longer, if it did. NULL is fine.
 */
void admission_release(struct admission_ticket *t);

/* That many cores more (or, negative, fewer) are at work for the film. NULL is fine. */
void admission_add_cores(struct admission_ticket *t, int cores);

/*
 * What this film may have beyond what it is at work with. True: *cores becomes the number of cores
 * on which no film's runs are at work, less than 0 where more were counted than there are; without
 * a admission it stays as it is. False: another film waits at the admission, and begins as soon as
 * a core is idle, so that nothing is to spare.
 */
bool admission_spare_cores(struct admission_ticket *t, int *cores);

/* Cores on which no film's runs are at work, 0 or more. INT_MAX without a admission; NULL is fine.
 */
int admission_idle_cores(struct admission_ticket *t);

/* Frees; sets *g to NULL. NULL is fine. Nobody waits or feeds. */
void admission_free(struct admission **g);

#ifdef __cplusplus
}
#endif
#endif
