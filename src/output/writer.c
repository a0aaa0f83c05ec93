#include "writer.h"

#include <string.h>
#include <strings.h>

/* One line per writer. NAME stands for writer_NAME, the entry in formats/NAME.c. The first is the
 * default of -o. */
#define EACH_WRITER(DO) \
    DO(png) \
    DO(jpeg) \
    DO(webp) \
    DO(svg) \
    DO(pdf) \
    DO(json) \
    DO(csv) \
    DO(gpl) \
    DO(ase) \
    DO(css) \
    DO(swatches) \
    DO(thumbnails) \
    DO(jellyfin) \
    DO(bif) \
    DO(landmarks) \
    DO(spectrogram) \
    DO(bench) \
    DO(html)

#define DECLARE(name) extern const struct writer writer_##name;
#define POINT(name) &writer_##name,

EACH_WRITER(DECLARE)
const struct writer *const writer_table[] = {EACH_WRITER(POINT)};
const size_t writer_count = sizeof writer_table / sizeof *writer_table;
_Static_assert(sizeof writer_table / sizeof *writer_table <= WRITERS_MOST,
               "WRITERS_MOST is too small");

const struct writer *writer_find(const char *name)
{
    for (size_t i = 0; i < writer_count; i++) {
        if (strcmp(writer_table[i]->name, name) == 0)
            return writer_table[i];
    }
    return NULL;
}

const char *writer_option(const struct writer *w) { return w->option ? w->option : w->name; }

bool writer_has_ending(const char *path, const char *const *ending)
{
    const char *dot = strrchr(path, '.');
    for (; dot && ending && *ending; ending++) {
        if (strcasecmp(dot + 1, *ending) == 0)
            return true;
    }
    return false;
}

const struct writer *writer_by_ending(const char *path)
{
    for (size_t i = 0; i < writer_count; i++) {
        if (writer_has_ending(path, writer_table[i]->ending))
            return writer_table[i];
    }
    return NULL;
}

const char *writer_usual_ending(const struct writer *w)
{
    return w->ending ? w->ending[0] : w->name;
}
