/*
 * recipe.h - everything that was asked for and can change an output, as text: two outputs of one film with the same recipe are the
 * same. It goes into pictures and JSON, and --update compares it.
 *
 * It says what the user asked, not what the film made of it ("every=auto", not the number), so that it is known before the film is
 * opened. It says nothing of engines, decoders, threads and cache, which change no pixel.
 */
#ifndef BARCODE_RECIPE_H
#define BARCODE_RECIPE_H

#include "barcode/cli/options.h"
#include "barcode/output/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The recipe of an output of this writer that shows `strips`: "NAME=VALUE NAME=VALUE...", ASCII without quotes. What none of these obeys is
 * left out. Pure; any thread.
 */
void recipe_text(const struct options *o, const struct writer *w, struct strips strips, char text[REPORT_RECIPE]);

#ifdef __cplusplus
}
#endif
#endif
