/*
 * align_edges.h - moves the ends of a path's runs (align_path.h) from its windows to where the
 * peaks that both films have end and begin.
 *
 * Between two runs, the peaks of one offset should end before a frame x of B, and those of the
 * other begin at x, or where an insertion that begins at x ends. The x with the fewest exceptions
 * is chosen. If several are as good, the middle is, unless many other peaks lie between: then
 * neither run goes on there. The same holds before the first run and after the last one.
 */
#ifndef BARCODE_MATCH_ALIGN_EDGES_H
#define BARCODE_MATCH_ALIGN_EDGES_H

#include "align_path.h"

/* `path` has at least one run. Returns false if out of memory. */
bool align_edges_refine(const struct align_peaks *a, const struct align_peaks *b,
                        struct align_path *path, struct err *e);

#endif
