/*
 * gate.h - when the next film of a run begins to decode: where several are under way, one feeds the cores, and the next one begins
 * as soon as that one has nothing left to hand out and a core is idle.
 *
 * So the end of a film, where its last runs keep a few cores busy, and its clustering, painting and writing lie beside the beginning
 * of the next one. Long films still come one after another: no more than one film's packets wait in memory, and less than twice as
 * many decoders as there are cores work. Any thread.
 */
#ifndef BARCODE_GATE_H
#define BARCODE_GATE_H

#include <stdbool.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gate;

/* One film's way through the gate: zeroed but for the first. The gate's lock guards `feeds`. */
struct gate_turn {
    struct gate *gate;       /* NULL: none. Else an open one */
    bool feeds;
};

/* For `cores` (1 or more). NULL: memory. */
struct gate *gate_open(int cores, struct err *e);

/*
 * Waits until no film feeds and a core is idle; from here on this one does. Those who wait go on in the order of their calls. False:
 * ERR_INTERRUPTED, and this film does not feed.
 */
bool gate_enter(struct gate_turn *t, struct err *e);

/* The film has handed out all it has, or is done with: it feeds no longer, if it did. NULL is fine. */
void gate_fed(struct gate_turn *t);

/* That many cores more (or, negative, fewer) are at work for the film. NULL is fine. */
void gate_busy(struct gate_turn *t, int cores);

/*
 * What this film may have beyond what it is at work with. True: *cores becomes the number of cores on which no film's runs are at work,
 * less than 0 where more were counted than there are; without a gate it stays as it is. False: another film waits at the gate, and
 * begins as soon as a core is idle, so that nothing is to spare.
 */
bool gate_spare(struct gate_turn *t, int *cores);

/* Cores on which no film's runs are at work, 0 or more. INT_MAX without a gate; NULL is fine. */
int gate_idle(struct gate_turn *t);

/* Frees; sets *g to NULL. NULL is fine. Nobody waits or feeds. */
void gate_free(struct gate **g);

#ifdef __cplusplus
}
#endif
#endif
