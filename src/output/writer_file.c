/* writer_file.c - writes output files completely or not at all, and recognizes them later. */
#include <pthread.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "writer.h"

bool writer_made(const struct writer *w, const char *path, char film[FILM_ID_TEXT])
{
    uint8_t head[WRITER_HEAD];
    film[0] = 0;
    FILE *f = w->recognizes ? file_open_regular(path) : NULL;
    if (!f)
        return false;
    if (w->tail && fseek(f, -(long)sizeof head, SEEK_END) != 0)
        rewind(f); /* the file is shorter */
    size_t size = fread(head, 1, sizeof head, f);
    fclose(f);
    return w->recognizes(head, size, film);
}

bool writer_read_metadata(const struct writer *w, const char *path,
                          struct writer_metadata *metadata)
{
    *metadata = (struct writer_metadata){.columns = 0};
    FILE *f = w->read_metadata ? file_open_regular(path) : NULL;
    bool whole = f && w->read_metadata(f, metadata);
    if (f)
        fclose(f);
    return whole && (!w->parts_there || w->parts_there(path, metadata));
}

/* Serializes films that finish at the same time and write to stdout. */
static pthread_mutex_t stdout_turn = PTHREAD_MUTEX_INITIALIZER;

static bool save(const struct writer *w, const struct report *r, struct strips strips,
                 const char *path, struct err *e)
{
    bool to_stdout = strcmp(path, "-") == 0;
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
        return interrupt_output(to_stdout ? "standard output" : path, e);
    if (to_stdout)
        err_prefix(&why, "cannot write to standard output");
    else
        err_prefix(&why, "cannot write '%s'", path);
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
