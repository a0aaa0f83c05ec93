/*
 * synth.h - a film of known colours that needs no file: "synth:WxH,FRAMES[,RATE]".
 *
 * Frame n is R'G'B', the left ceil(5W/8) pixels of each row in source_synth_major(n), the rest in source_synth_minor(n).
 * Golden tests compare columns with these two functions; a bug report can name such a film.
 */
#ifndef BARCODE_SYNTH_H
#define BARCODE_SYNTH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void source_synth_major(uint64_t frame, uint8_t rgb[3]);
void source_synth_minor(uint64_t frame, uint8_t rgb[3]);
int source_synth_split(int width);    /* pixels of a row that are in the major colour */

#ifdef __cplusplus
}
#endif
#endif
