/* version.h - the program's version, and the versions of its results. */
#ifndef BARCODE_VERSION_H
#define BARCODE_VERSION_H

#define BARCODE_VERSION "0.1.0"

/*
 * Increase this when an analysis frame of any film may change: scaling, colour, selection, or the
 * order of frames. The golden frame in test_cache_key.c fails if the arithmetic changes
 * and this does not.
 */
enum { ANALYSIS_VERSION = 9 };

/*
 * Increase this when the same analysis frames and options may give a different image or different
 * numbers: k-means, modes, --steady, or the contents of the JSON. A change that is visible in the
 * options fingerprint (bands=follow) needs no increase. --update recreates images of another
 * version.
 */
enum { PICTURE_VERSION = 1 };

/* The version of posters and of the comparison image; only their options fingerprint has it. */
enum { LAYOUT_VERSION = 2 };

#endif
