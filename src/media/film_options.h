/* film_options.h - the options that say which frames are read from a film, and how. */
#ifndef BARCODE_FILM_OPTIONS_H
#define BARCODE_FILM_OPTIONS_H

#include "barcode/engine/crop.h"
#include "barcode/engine/light.h"
#include "media/select/selection.h"
#include "media/select/size.h"
#include "source.h"

struct film_options {
    struct selection selection; /* every == 0: chosen by the film's length */
    struct size_rule size;
    struct crop_rule crop;
    struct light_rule light; /* --tone-map, --hdr-peak, --light */
    int stream;              /* --stream: a number from 0, or SOURCE_STREAM_CHOICE */
    int sound_stream;        /* --sound-stream: likewise, of sound */
    enum decode_choice decode;
    bool keep_going; /* skip bytes that the disk cannot read */
    bool verify;     /* decode twice and compare */
};

#endif
