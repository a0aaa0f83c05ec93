/* align_exact.h - `barcode align --exact`: edits to the frame, by the pictures around them. */
#ifndef BARCODE_MATCH_ALIGN_EXACT_H
#define BARCODE_MATCH_ALIGN_EXACT_H

#include "align_output.h"
#include "command.h"

/*
 * Decodes the frames around each edit of the map, in confined processes as ever, and moves the edit
 * (align_frames.h). Edits that the pictures do not show stay. film[] has the extents of the
 * pictures. Returns false with `e`, or with *status if a batch failed, or in a worker process.
 */
bool align_exact(const struct command_line *line, const struct align_film film[2],
                 struct align_map *map, int *status, struct err *e);

#endif
