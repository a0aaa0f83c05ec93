/* shot_list.h - what the formats of --shot-list share. */
#ifndef BARCODE_SHOT_LIST_H
#define BARCODE_SHOT_LIST_H

#include "output/modes/strip.h"
#include "output/report.h"
#include "shots/shots.h"

/* The main colours of a film's shots. One thread. */
struct shot_colours {
    const struct columns *columns; /* one per shot (shot_columns.h); NULL: the modes need none */
    struct columns *own;           /* the memory of `columns`; NULL: those of the report */
    int k;                         /* colours of a shot, at most; 0 without columns */
};

bool shot_colours_open(struct shot_colours *c, const struct report *r, struct strips strips,
                       struct err *e);
void shot_colours_close(struct shot_colours *c);

/* Returns the column of shot i, with its clusters; NULL if the shot has none. */
const struct column *shot_colours_get(const struct shot_colours *c, size_t i);

#endif
