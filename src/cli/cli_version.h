/* cli_version.h - the text of --version. Private to cli/. */
#ifndef BARCODE_OPTIONS_CLI_VERSION_H
#define BARCODE_OPTIONS_CLI_VERSION_H

#include <stdio.h>

/*
 * Prints `barcode VERSION`, then a line each for FFmpeg, dav1d, CUDA (if built in) and the
 * compiler.
 */
void cli_print_version(FILE *out);

#endif
