/*
 * options_fingerprint.h - the text of all options that can change an output. Two outputs of one
 * film with the same fingerprint are the same. Images and JSON contain it under the name
 * "fingerprint", and --update compares it.
 *
 * The fingerprint has the options as given ("columns=auto", not the resulting number), so it is
 * known before the film is opened. Engines, decoders, threads and the cache change no pixel and are
 * not in it.
 */
#ifndef BARCODE_OPTIONS_FINGERPRINT_H
#define BARCODE_OPTIONS_FINGERPRINT_H

#include "output/report.h"
#include "plan.h"

/*
 * Writes the fingerprint of an output of this writer that shows `strips`: "NAME=VALUE
 * NAME=VALUE...", ASCII without quotes. Options that do not change this output are omitted.
 * `format` is that of the outputs of -o. Pure; any thread.
 */
void options_fingerprint(const struct plan *plan, const struct writer *format,
                         const struct writer *w, struct strips strips,
                         char text[REPORT_FINGERPRINT]);

/*
 * Appends to the fingerprint of an output, if the film could not be read completely or changed
 * meanwhile, what no options have, and a hash of the film's place. So --update makes the output
 * again, and knows the film by its place: the id (film_id.h) is missing or has changed.
 */
void fingerprint_add_again(char text[REPORT_FINGERPRINT], const char *film);

/* Returns true if the fingerprint is that of such an output; of this film, unless it is NULL. */
bool fingerprint_is_again(const char *text, const char *film);

#endif
