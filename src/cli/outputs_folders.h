/* outputs_folders.h - the folders that outputs lie in: for outputs.c. Any thread. */
#ifndef BARCODE_OUTPUTS_FOLDERS_H
#define BARCODE_OUTPUTS_FOLDERS_H

#include "barcode/outputs.h"

/*
 * True if the folder of the output is there and can be written to, or could be made below the one that was named. (Opening the
 * output finds that out too, but after hours of work.)
 */
bool outputs_check_folder(const struct output *output, struct err *e);

#endif
