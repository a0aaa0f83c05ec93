/* fuzz_metadata.c - what a file says of itself (--update, and what may be replaced): byte 0 picks
 * the writer, the rest is the file. */
#include <stdio.h>
#include <string.h>

#include "output/writer.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const struct writer *w = writer_table[data[0] % writer_count];
    char film[FILM_ID_TEXT] = "";
    size_t head = size - 1 < WRITER_HEAD ? size - 1 : WRITER_HEAD;
    writer_recognizes(w, w->tail ? data + size - head : data + 1, head, film);
    fuzz_demand(memchr(film, 0, sizeof film) != NULL);
    struct writer_metadata told = {.columns = 0};
    FILE *f = fmemopen((void *)(uintptr_t)(data + 1), size - 1, "rb");
    if (!f)
        return 0;
    writer_read(w, f, &told);
    fuzz_demand(memchr(told.film, 0, sizeof told.film) &&
                memchr(told.fingerprint, 0, sizeof told.fingerprint));
    fuzz_demand(told.width >= 0 && told.height >= 0 && told.width <= 65536 && told.height <= 65536);
    fclose(f);
    return 0;
}
