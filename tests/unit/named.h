/* named.h - for tests of films and outputs: options as a command line leaves them. */
#ifndef BARCODE_TESTS_NAMED_H
#define BARCODE_TESTS_NAMED_H

#include "files.h"
#include "plan/inputs.h"
#include "plan/plan.h"

static inline struct plan options_for(char **input, size_t inputs)
{
    return (struct plan){.inputs.argument = input,
                         .inputs.count = inputs,
                         .picture.strip = {strip_table[0]},
                         .picture.strips = 1};
}

/* Expands a list of words that ends in NULL; the caller frees `in`. */
static inline struct plan expand(char **input, struct inputs *in)
{
    size_t count = 0;
    while (input[count])
        count++;
    struct plan o = options_for(input, count);
    struct err e = ERR_INIT;
    assert_ok(inputs_expand(&o.inputs, &o.outputs, in, &e), &e);
    return o;
}

#define LIST(...) ((char *[]){__VA_ARGS__, NULL})

#endif
