/* size.h - the size of analysis frames: the rule of --size, and the size that a film gets. */
#ifndef BARCODE_SIZE_H
#define BARCODE_SIZE_H

enum size_kind {
    SIZE_SIDE,   /* longer side = side (default 320) */
    SIZE_ROWS,   /* height = side (default with the mode `slit`: the height of a strip) */
    SIZE_EXACT,  /* width x height */
    SIZE_DIVIDE, /* 1/divisor of the film's width and height */
    SIZE_FULL
};

struct size_rule {
    enum size_kind kind;
    int side, width, height, divisor;
};

/*
 * Computes the size of the analysis frames of a film with the displayed size width x height. The
 * result is never larger than the film.
 */
void size_resolve(const struct size_rule *rule, int width, int height, int *out_width,
                  int *out_height);

#endif
