/* film_options.h - the options that say which frames are read from a film, and how. */
#ifndef BARCODE_FILM_OPTIONS_H
#define BARCODE_FILM_OPTIONS_H

#include "barcode/engine/crop.h"
#include "barcode/engine/light.h"
#include "base/option.h"
#include "source.h"

/* limit of --columns, of --width, and of the columns that --interval gives */
enum { FILM_COLUMNS_MOST = 10000000 };

/* The size of analysis frames. */
enum size_kind {
    SIZE_SIDE,   /* longer side = side (default 320), but `height` rows or more; 0: any */
    SIZE_ROWS,   /* height = side (default with the mode `slit`: the height of a strip) */
    SIZE_EXACT,  /* width x height */
    SIZE_DIVIDE, /* 1/divisor of the film's width and height */
    SIZE_FULL
};

struct size_rule {
    enum size_kind kind;
    int side, width, height, divisor;
};

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
    bool shots;      /* --shots, or what implies it: find the film's shots */
    bool by_shot;    /* --columns shots: the columns of a shot become one */
    int shot_threshold;
};

extern const struct option_table film_options;

/* Computes the size of analysis frames of a film of width x height, never larger than the film. */
void size_resolve(const struct size_rule *rule, int width, int height, int *out_width,
                  int *out_height);

#endif
