/* live_names.h - how a stream is called. Any thread. */
#ifndef BARCODE_LIVE_LIVE_NAMES_H
#define BARCODE_LIVE_LIVE_NAMES_H

#include "barcode/media/stream_name.h"

/*
 * Writes a name for files, of letters, digits, '.', '_' and '-': the shown name without its scheme
 * ("host-a"), "stdin" for "-", and the last component of a device or folder.
 */
void live_stem(const char *name, char stem[STREAM_NAME]);

#endif
