/* cli_modes.h - the help text of -m, and the modes that are computed. */
#ifndef BARCODE_OPTIONS_CLI_MODES_H
#define BARCODE_OPTIONS_CLI_MODES_H

#include "plan/options.h"

/*
 * Returns the help text of -m, which lists all modes, the default first. The caller frees it.
 * Returns NULL if out of memory. Any thread.
 */
char *cli_modes_help(void);

/*
 * Fills o->computed from o->strip, and turns off the k-means race if a selected mode needs finished
 * restarts. Call it after the last option.
 */
void cli_finalize_modes(struct options *o);

/*
 * Makes the analysis frames as high as the strip if there is a slit and `sized` is false. Rejects
 * --rotate without a slit. Call it after cli_finalize_picture.
 */
bool cli_finalize_slit(struct options *o, bool sized, struct err *e);

#endif
