/*
 * size.h - the staged size: which rule the user gave, and what it makes of a film.
 */
#ifndef BARCODE_SIZE_H
#define BARCODE_SIZE_H

#ifdef __cplusplus
extern "C" {
#endif

enum size_kind {
    SIZE_SIDE,   /* longer side = side (default 320) */
    SIZE_EXACT,  /* width x height */
    SIZE_DIVIDE, /* 1/divisor of the film's size */
    SIZE_FULL
};

struct size_rule {
    enum size_kind kind;
    int side, width, height, divisor;
};

/* The staged size by the rule for a film of width x height (displayed); never larger than the film.
 */
void size_resolve(const struct size_rule *rule, int width, int height, int *out_width,
                  int *out_height);

#ifdef __cplusplus
}
#endif
#endif
