/* live_names.h - how a stream is called. Any thread. */
#ifndef BARCODE_LIVE_LIVE_NAMES_H
#define BARCODE_LIVE_LIVE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "barcode/media/stream_name.h"

enum { LIVE_NAME = STREAM_NAME };

/* Writes a name without what may be secret, for messages: stream_name_show. */
void live_label(const char *name, char label[LIVE_NAME]);

/*
 * Writes a name for files, of letters, digits, '.', '_' and '-': the label without its scheme
 * ("host-a"), "stdin" for "-", and the last component of a device or folder.
 */
void live_stem(const char *name, char stem[LIVE_NAME]);

#endif
