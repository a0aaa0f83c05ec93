/* shot_columns.h - from the columns of a film to a column a shot. */
#ifndef BARCODE_MODES_SHOT_COLUMNS_H
#define BARCODE_MODES_SHOT_COLUMNS_H

#include "output/report.h"
#include "shots/shots.h"

/*
 * Returns a column for each shot, from the columns of the report whose frame is in it:
 *
 *   frame, time_us  those of the shot's start; repeat is 1
 *   status          DAMAGED if one of the columns is, otherwise OK
 *   clusters        pooled and clustered again as in FIT_POOL (strip.h), every column with the same
 *                   weight, the shot's number as the frame number; of a single column they are the
 *                   same
 *   average, row    the mean as in FIT_MEAN; with report.analysis.means of light
 *   dominant        the medoid as in FIT_MEDOID
 *   slit            that of the middle column
 *
 * Of a shot without such a column all of these have the mean colour of shots.h. What the report's
 * columns do not have, the result does not have either; modes are not kept.
 *
 * The columns must be finished; those of steady_columns are chosen before. Uses as many threads as
 * the report permits. The caller frees the result with columns_free. Returns NULL if out of memory,
 * or with ERR_INTERRUPTED if interrupted() is true.
 */
struct columns *shot_columns(const struct report *r, const struct shots *shots, struct err *e);

#endif
