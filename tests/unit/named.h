/* named.h - for tests of films and outputs: options as a command line leaves them. */
#ifndef BARCODE_TESTS_NAMED_H
#define BARCODE_TESTS_NAMED_H

#include "files.h"
#include "cli/cli.h"
#include "cli/inputs/inputs.h"

static inline struct options options_for(char **input, size_t inputs)
{
    return (struct options){
        .input = input, .inputs = inputs, .strip = {strip_table[0]}, .strips = 1};
}

/* Expands a list of words that ends in NULL; the caller frees `in`. */
static inline struct options expand(char **input, struct inputs *in)
{
    size_t count = 0;
    while (input[count])
        count++;
    struct options o = options_for(input, count);
    struct err e = ERR_INIT;
    if (!inputs_expand(&o, in, &e))
        fail_msg("%s", e.text);
    return o;
}

#define LIST(...) ((char *[]){__VA_ARGS__, NULL})

#endif
