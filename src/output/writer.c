#include "writer.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "output/formats/provenance.h"

/* One line per writer. NAME stands for writer_NAME, which a file of formats/ defines. The first is
 * the default of -o. */
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
    DO(shots_csv) \
    DO(shots_json) \
    DO(shots_edl) \
    DO(shots_otio) \
    DO(shots_ffmeta) \
    DO(shots_xml) \
    DO(shots_vtt) \
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

/* ---- Files ---- */

bool writer_failed(struct err *e)
{
    return err_set(e, errno == ENOMEM ? ERR_MEMORY : ERR_FAILED, "%s",
                   strerror(errno ? errno : EIO));
}

bool writer_recognizes(const struct writer *w, const uint8_t *head, size_t size,
                       char film[FILM_ID_TEXT])
{
    if (w->recognizes)
        return w->recognizes(head, size, film);
    if (w->trailer)
        return trailer_recognizes(head, size, film);
    return w->begin && provenance_recognizes(head, size, w->begin, film);
}

bool writer_has_metadata(const struct writer *w)
{
    return w->read_metadata || w->trailer || w->end;
}

bool writer_read(const struct writer *w, FILE *f, struct writer_metadata *metadata)
{
    if (w->read_metadata)
        return w->read_metadata(f, metadata);
    if (w->trailer)
        return trailer_read_metadata(f, w->trailer, metadata);
    return w->end && provenance_read(f, w->begin, w->end, metadata);
}

bool writer_made(const struct writer *w, const char *path, char film[FILM_ID_TEXT])
{
    uint8_t head[WRITER_HEAD];
    film[0] = 0;
    const bool known = w->recognizes || w->trailer || w->begin;
    FILE *f = known ? file_open_regular(path) : NULL;
    if (!f)
        return false;
    if (w->tail && fseek(f, -(long)sizeof head, SEEK_END) != 0)
        rewind(f); /* the file is shorter */
    size_t size = fread(head, 1, sizeof head, f);
    fclose(f);
    return writer_recognizes(w, head, size, film);
}

bool writer_read_metadata(const struct writer *w, const char *path,
                          struct writer_metadata *metadata)
{
    *metadata = (struct writer_metadata){.columns = 0};
    FILE *f = writer_has_metadata(w) ? file_open_regular(path) : NULL;
    bool whole = f && writer_read(w, f, metadata);
    if (f)
        fclose(f);
    return whole && (!w->has_all_parts || w->has_all_parts(path, metadata));
}

/* Serializes films that finish at the same time and write to stdout. */
static pthread_mutex_t stdout_turn = PTHREAD_MUTEX_INITIALIZER;

static bool save(const struct writer *w, const struct report *r, struct strips strips,
                 const char *path, struct err *e)
{
    struct err why = ERR_INIT;
    if (w->save)
        return w->save(r, strips, path, e);
    struct atomic_file *f = atomic_file_open(path, w->binary, e);
    if (!f)
        return false;
    if (w->write(r, strips, atomic_file_stream(f), &why))
        return atomic_file_commit(&f, e);
    atomic_file_discard(&f);
    if (interrupted()) /* replaces the writer's own message */
        return interrupt_output(atomic_file_shown(path), e);
    err_prefix(&why, "cannot write '%s'", atomic_file_shown(path));
    if (e)
        *e = why;
    return false;
}

bool writer_save(const struct writer *w, const struct report *r, struct strips strips,
                 const char *path, struct err *e)
{
    bool to_stdout = strcmp(path, "-") == 0;
    if (to_stdout)
        pthread_mutex_lock(&stdout_turn);
    bool ok = save(w, r, strips, path, e);
    if (to_stdout)
        pthread_mutex_unlock(&stdout_turn);
    return ok;
}
