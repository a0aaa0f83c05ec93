/* json_sound.h - the film's sound in JSON. */
#ifndef BARCODE_FORMATS_JSON_SOUND_H
#define BARCODE_FORMATS_JSON_SOUND_H

#include "json.h"
#include "output/modes/column_sound.h"

/* Returns the sound of the film: the stream and its values; null if the film has none. */
json_t *json_sound_value(const struct report *r);

/* Adds loudness, peak and centroid of a column, if the film has sound. Returns 0 on success. */
int json_put_sound(json_t *value, const struct column_sound *sound, uint64_t i);

#endif
