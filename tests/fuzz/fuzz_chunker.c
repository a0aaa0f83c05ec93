/*
 * fuzz_chunker.c - bytes are dice: for a film with a known display order, or for pictures of no
 * film at all.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "chunker_trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dice d = {.data = data, .size = size, .state = size};
    const char *broken;
    if (chance(&d, 50)) {
        bool stuck;
        struct film_shape shape = random_shape(&d);
        broken = chunker_trial(&shape, &d, &stuck);
    } else {
        broken = chunker_chaos(&d);
    }
    if (broken) {
        fprintf(stderr, "broken: %s\n", broken);
        abort();
    }
    return 0;
}
