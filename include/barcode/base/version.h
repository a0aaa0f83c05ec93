/* version.h - the version of the program, for --version, pictures and JSON, and those of what it
 * computes. */
#ifndef BARCODE_VERSION_H
#define BARCODE_VERSION_H

#define BARCODE_VERSION "0.1.0"

/*
 * Raise this when a staged frame of any film may come out different from before: shrink, colour,
 * selection, order of frames. tests/unit/test_cache_key.c holds a golden frame that fails when the
 * arithmetic changes and this does not.
 */
enum { ANALYSIS_VERSION = 9 };

/*
 * Raise this when the same staged frames and options may give another picture or other numbers than
 * before: k-means, modes, steady, strips, what the JSON has. A change that a recipe's words tell
 * (race=no) needs none. --update makes pictures of another version again.
 */
enum { PICTURE_VERSION = 1 };

/* Of what is drawn around strips: posters and the comparison picture. In the recipe of these alone.
 */
enum { LAYOUT_VERSION = 1 };

#endif
