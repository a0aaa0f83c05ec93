/* version.h - the version of the program, for --version, pictures and JSON. */
#ifndef BARCODE_VERSION_H
#define BARCODE_VERSION_H

#define BARCODE_VERSION "0.1.0"

#endif
