/*
 * colour_map.h - inferno, a perceptually uniform colour map from black over red to light yellow.
 *
 * The table is that of Matplotlib 3.11 (lib/matplotlib/_cm_listed.py, _inferno_data), each value
 * times 255, rounded half up. By Nathaniel J. Smith and Stefan van der Walt, 2015, who published it
 * under CC0: https://bids.github.io/colormap/
 */
#ifndef BARCODE_MODES_COLOUR_MAP_H
#define BARCODE_MODES_COLOUR_MAP_H

#include <stdint.h>

/* Writes the colour of a level, interpolated between the entries of the table. Any thread. */
void colour_map_at(uint16_t level, uint8_t rgb[3]);

#endif
