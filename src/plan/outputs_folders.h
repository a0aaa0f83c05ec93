/* outputs_folders.h - the folders of outputs: for outputs.c. Any thread. */
#ifndef BARCODE_OUTPUTS_OUTPUTS_FOLDERS_H
#define BARCODE_OUTPUTS_OUTPUTS_FOLDERS_H

#include "outputs.h"

/*
 * Returns true if the output's folder exists and can be written to, or can be made below the folder
 * that an option names. Opening the output would also find that out, but only after hours of work.
 */
bool outputs_check_folder(const struct output *output, struct err *e);

/* Returns true if a folder that an option names exists and can be written to, or can be made. */
bool outputs_check_named(const char *folder, struct err *e);

#endif
