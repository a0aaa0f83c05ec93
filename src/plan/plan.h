/* plan.h - the plan of a run: which films are rendered, and to which outputs. */
#ifndef BARCODE_PLAN_H
#define BARCODE_PLAN_H

#include "inputs.h"

/*
 * Lists the films of `o`, decides which of them this process renders (--shard, --update), and names
 * and checks their outputs. Returns false if nothing can be rendered. A problem of one film is kept
 * in `*in`, which is empty before the call; the caller calls inputs_free(in) in any case. Main
 * thread only.
 */
bool plan_films(const struct options *o, struct inputs *in, struct err *e);

#endif
