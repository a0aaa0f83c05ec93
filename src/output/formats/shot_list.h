/* shot_list.h - what the formats of --shot-list share. */
#ifndef BARCODE_SHOT_LIST_H
#define BARCODE_SHOT_LIST_H

#include "output/modes/strip.h"
#include "output/writer.h"
#include "shots/shots.h"

/*
 * Defines the writer of a format with the function write_FORMAT. In folders its names end in
 * .shots.FORMAT, so -o never selects it: -o FILE.csv is the table of columns.
 */
#define SHOT_WRITER(format, shown, ...) \
    const struct writer writer_shots_##format = { \
        .name = "shots-" #format, \
        .title = shown, \
        .option = "shot-list", \
        .ending = (const char *const[]){"shots." #format, NULL}, \
        .shots = true, \
        .write = write_##format, \
        __VA_ARGS__}

/* Returns the column of shot i, with its main colours. Returns NULL if it has none, or if the modes
 * need none. */
const struct column *shot_colours(const struct report *r, struct strips strips, size_t i);

#endif
