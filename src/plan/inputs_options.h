/* inputs_options.h - the options that say which films there are. */
#ifndef BARCODE_INPUTS_OPTIONS_H
#define BARCODE_INPUTS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/option.h"

struct inputs_options {
    char **argument; /* FILM|FOLDER..., as given; points into argv */
    size_t count;
    bool recursive;             /* -r: include subfolders */
    bool join;                  /* --join: all arguments are one film */
    bool no_join;               /* --no-join: each file is a film, also a chapter */
    bool playlists;             /* --playlists: a playlist may have any name */
    bool sequence;              /* --sequence: the images of a folder are one film */
    bool any;                   /* --any: take files with any ending from folders */
    int64_t rate_num, rate_den; /* --rate, of images; 0/0: not given */
    int shard, shards;          /* --shard I/N: I from 1; both 0: not given */
};

extern const struct option_table inputs_options;

#endif
