#include "find_merge.h"

#include <stdlib.h>

#include "base/interrupt.h"
#include "find_index.h"

static bool list_films(struct find_merge *m, size_t f, struct err *e)
{
    const struct find_file *file = m->file[f];
    m->base[f] = err_calloc((size_t)file->films + 1, sizeof **m->base, e);
    if (!m->base[f])
        return false;
    for (uint32_t i = 0; i < file->films; i++)
        if (m->number[f][i] != FIND_NOT_WANTED) {
            m->base[f][i] = m->frames;
            m->frames += file->film[i].frames;
            m->film[m->films++] = file->film[i];
        }
    return true;
}

bool find_merge_open(struct find_merge *m, struct find_file **file, uint32_t **number, size_t files,
                     struct err *e)
{
    size_t films = 0;
    for (size_t i = 0; i < files; i++)
        films += file[i]->films;
    *m = (struct find_merge){.file = file, .number = number, .files = files};
    m->film = err_calloc(films + 1, sizeof *m->film, e);
    m->base = err_calloc(files + 1, sizeof *m->base, e);
    bool ok = m->film && m->base;
    for (size_t i = 0; ok && i < files; i++)
        ok = list_films(m, i, e);
    if (ok && films >= FIND_FILMS_MOST)
        ok = err_set(e, ERR_FAILED, "an index has at most %d films", FIND_FILMS_MOST - 1);
    if (!ok)
        find_merge_close(m);
    return ok;
}

/* A file's next landmark of a film that is not dropped. */
struct source {
    struct find_cursor cursor;
    uint64_t word; /* in the result; UINT64_MAX at the end */
};

static bool next_wanted(const struct find_merge *m, size_t f, struct source *s, bool step,
                        struct err *e)
{
    const struct find_file *file = m->file[f];
    uint64_t frames = file->base[file->films];
    for (;; step = true) {
        if (step && !find_cursor_next(&s->cursor, e))
            return false;
        if (s->cursor.ended) {
            s->word = UINT64_MAX;
            return true;
        }
        uint64_t key = s->cursor.word / frames, position = s->cursor.word % frames;
        uint32_t film = find_file_film(file, position, 0);
        if (m->number[f][film] == FIND_NOT_WANTED)
            continue;
        s->word = key * m->frames + m->base[f][film] + position - file->base[film];
        return true;
    }
}

static bool merge_words(const struct find_merge *m, struct source *source, struct find_writer *w,
                        struct err *e)
{
    for (size_t i = 0; i < m->files; i++)
        if (!find_cursor_seek(&source[i].cursor, m->file[i], 0, e) ||
            !next_wanted(m, i, &source[i], false, e))
            return false;
    for (uint64_t n = 1;; n++) {
        size_t least = 0;
        for (size_t i = 1; i < m->files; i++)
            if (source[i].word < source[least].word)
                least = i;
        if (source[least].word == UINT64_MAX)
            return true;
        if (n % 65536 == 0 && interrupted())
            return interrupt_error(e);
        if (!find_writer_add(w, source[least].word, e) ||
            !next_wanted(m, least, &source[least], true, e))
            return false;
    }
}

bool find_merge_write(const struct find_merge *m, const char *path, struct err *e)
{
    struct source *source = err_calloc(m->files + 1, sizeof *source, e);
    struct find_writer *w = source ? find_writer_open(path, e) : NULL;
    bool ok = w && merge_words(m, source, w, e);
    free(source);
    return find_writer_end(&w, ok ? m->film : NULL, m->films, e) && ok;
}

void find_merge_close(struct find_merge *m)
{
    for (size_t i = 0; m->base && i < m->files; i++)
        free(m->base[i]);
    free(m->base);
    free(m->film);
    *m = (struct find_merge){0};
}
