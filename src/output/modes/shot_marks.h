/* shot_marks.h - where the shots of a film begin along the axis of its columns (time_axis.h). */
#ifndef BARCODE_MODES_SHOT_MARKS_H
#define BARCODE_MODES_SHOT_MARKS_H

#include "output/report.h"
#include "shots/shots.h"

/* Positions along the columns, 0..1. */
struct shot_mark {
    double at; /* where the shot begins */
    /* the fade or dissolve around `at`, within this shot and the one before; `at` for a cut */
    double from, to;
};

/*
 * Returns mark[count + 1] for the shots of the report (report.media.shots). The `at` of the last one
 * is where the last shot ends. The caller frees the array with free(). Pure; any thread. Returns NULL if out
 * of memory.
 */
struct shot_mark *shot_marks(const struct report *r, struct err *e);

#endif
