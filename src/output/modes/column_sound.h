/* column_sound.h - the sound of each column, from its frame's time to the next column's (the edges
 * of time_axis.h). */
#ifndef BARCODE_MODES_COLUMN_SOUND_H
#define BARCODE_MODES_COLUMN_SOUND_H

#include "output/report.h"

struct column_sound {
    const struct film_sound *sound; /* NULL: the film has none, or none was read */
    int64_t *edge;
};

/* Returns the film's sound, or NULL if it has none or none was read. Any thread. */
const struct film_sound *report_sound(const struct report *r);

/* Prepares for the columns of a report, which must outlive *c. Returns false if out of memory. */
bool column_sound_open(struct column_sound *c, const struct report *r, struct err *e);

/* Writes the sound of column i of the report. Returns false if the film has none. Any thread. */
bool column_sound_at(const struct column_sound *c, uint64_t i, struct sound_row *row);

void column_sound_close(struct column_sound *c);

/* Writes the colour of a level in the mode `spectrum`. Any thread. */
void colour_map_at(uint16_t level, uint8_t rgb[3]);

#endif
