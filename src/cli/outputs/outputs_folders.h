/* outputs_folders.h - the folders that outputs lie in: for outputs.c. Any thread. */
#ifndef BARCODE_OUTPUTS_OUTPUTS_FOLDERS_H
#define BARCODE_OUTPUTS_OUTPUTS_FOLDERS_H

#include "barcode/cli/outputs.h"

/*
 * True if the folder of the output is there and can be written to, or could be made below the one
 * that was named. (Opening the output finds that out too, but after hours of work.)
 */
bool outputs_check_folder(const struct output *output, struct err *e);

/* Returns true if a folder that an option names is there and can be written to, or can be made. */
bool outputs_check_named(const char *folder, struct err *e);

#endif
