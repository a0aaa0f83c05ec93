/* poster_options.h - the options of posters and of the text around a picture. */
#ifndef BARCODE_POSTER_OPTIONS_H
#define BARCODE_POSTER_OPTIONS_H

#include "base/option.h"
#include "poster.h"

struct writer;

struct poster_options {
    /* --poster; SVG and PDF outputs are posters without it, see outputs_are_posters */
    bool wanted;
    const struct writer *format; /* --poster=FORMAT; NULL: by -o's ending, or PNG */
    struct paper page;
    int dpi;           /* of a PNG poster; PAPER_DPI_USUAL by default */
    const char *title; /* --title; NULL: not given */
    /* --subtitle, --font, --bare, --svg-text, --background */
    struct paper_style style;
};

extern const struct option_table poster_options;

#endif
