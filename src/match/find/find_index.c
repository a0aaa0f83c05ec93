#include "find_index.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/path.h"
#include "base/sort_words.h"
#include "cache/cache_options.h"

/* ---- Files that are merged ---- */

struct merge {
    struct find_file **file; /* [files], borrowed; FIND_NOT_WANTED films are dropped */
    size_t files;
    struct find_film *film; /* the films of the result */
    uint64_t **base;        /* of each film of each file: its first frame in the result */
    uint64_t frames;        /* of all films */
    uint32_t films;
};

static bool list_films(struct merge *m, size_t f, struct err *e)
{
    const struct find_file *file = m->file[f];
    m->base[f] = err_calloc((size_t)file->films + 1, sizeof **m->base, e);
    if (!m->base[f])
        return false;
    for (uint32_t i = 0; i < file->films; i++)
        if (file->number[i] != FIND_NOT_WANTED) {
            m->base[f][i] = m->frames;
            m->frames += file->film[i].frames;
            m->film[m->films++] = file->film[i];
        }
    return true;
}

static void close_merge(struct merge *m)
{
    for (size_t i = 0; m->base && i < m->files; i++)
        free(m->base[i]);
    free(m->base);
    free(m->film);
    *m = (struct merge){0};
}

/* Lists the films. On failure *m is empty. */
static bool open_merge(struct merge *m, struct find_file **file, size_t files, struct err *e)
{
    size_t films = 0;
    for (size_t i = 0; i < files; i++)
        films += file[i]->films;
    *m = (struct merge){.file = file, .files = files};
    m->film = err_calloc(films + 1, sizeof *m->film, e);
    m->base = err_calloc(files + 1, sizeof *m->base, e);
    bool ok = m->film && m->base;
    for (size_t i = 0; ok && i < files; i++)
        ok = list_films(m, i, e);
    if (ok && films >= FIND_FILMS_MOST)
        ok = err_set(e, ERR_FAILED, "an index has at most %d films", FIND_FILMS_MOST - 1);
    if (!ok)
        close_merge(m);
    return ok;
}

/* A file's next landmark of a film that is not dropped. */
struct merge_source {
    struct find_cursor cursor;
    uint64_t word; /* in the result; UINT64_MAX at the end */
};

static bool next_wanted(const struct merge *m, size_t f, struct merge_source *s, bool step,
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
        if (file->number[film] == FIND_NOT_WANTED)
            continue;
        s->word = key * m->frames + m->base[f][film] + position - file->base[film];
        return true;
    }
}

static bool merge_words(const struct merge *m, struct merge_source *source, struct find_writer *w,
                        struct err *e)
{
    for (size_t i = 0; i < m->files; i++)
        if (!find_cursor_open(&source[i].cursor, m->file[i], e) ||
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

static bool write_merge(const struct merge *m, const char *path, struct err *e)
{
    struct merge_source *source = err_calloc(m->files + 1, sizeof *source, e);
    struct find_writer *w = source ? find_writer_open(path, e) : NULL;
    bool ok = w && merge_words(m, source, w, e);
    free(source);
    return find_writer_end(&w, ok ? m->film : NULL, m->films, e) && ok;
}

/* ---- The index ---- */

/* A file is written when so many landmarks are waiting: 128 MB, and as much for sorting. */
enum { WORDS_MOST = 1 << 24 };

static const char ending[] = CACHE_INDEX_ENDING;

static bool is_of(const char *library, const char *name)
{
    size_t length = strlen(name), start = strlen(library), end = sizeof ending - 1;
    return length > start + end && strncmp(name, library, start) == 0 && name[start] == '-' &&
           strcmp(name + length - end, ending) == 0;
}

static void drop_file(struct find_index *x, size_t i, bool remove)
{
    if (remove)
        unlink(x->file[i]->path);
    find_file_close(&x->file[i]);
    x->files--;
    memmove(x->file + i, x->file + i + 1, (x->files - i) * sizeof *x->file);
}

/* Opens a file of the folder. Sets *gone if another process has merged it meanwhile. */
static bool open_one(struct find_index *x, const char *path, bool *gone, struct err *e)
{
    struct err reason = ERR_INIT;
    struct stat st;
    bool there = lstat(path, &st) == 0;
    *gone |= !there && errno == ENOENT;
    if (!there || st.st_uid != geteuid())
        return true;
    struct find_file *f = find_file_open(path, &reason);
    if (f) {
        static const struct timespec now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
        futimens(f->fd, now); /* the time of use; fails harmlessly in a read-only cache */
        if (err_reserve(&x->file, x->files + 1, &x->room, sizeof *x->file, e)) {
            x->file[x->files++] = f;
            return true;
        }
        find_file_close(&f);
        return false;
    }
    if (reason.code == ERR_MEMORY)
        return err_memory(e, sizeof *f);
    if (reason.code == ERR_INPUT && unlink(path) == 0)
        log_msg(LOG_WARNING, "%s; it is made again", reason.text);
    *gone |= access(path, F_OK) != 0 && reason.code != ERR_INPUT;
    return true;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool open_all(struct find_index *x, bool *gone, struct err *e)
{
    struct dirent **entry = NULL;
    int entries = scandir(x->folder, &entry, NULL, compare_names);
    bool ok = true;
    *gone = false;
    for (int i = 0; i < entries; i++) {
        if (ok && is_of(x->name, entry[i]->d_name)) {
            char *path = path_join(x->folder, entry[i]->d_name, "", e);
            ok = path && open_one(x, path, gone, e);
            free(path);
        }
        free(entry[i]);
    }
    free(entry);
    return ok && (interrupted() ? interrupt_error(e) : true);
}

/* Opens the files that are there. A file may be merged while the folder is read. */
static bool load_files(struct find_index *x, struct err *e)
{
    bool gone = true, ok = true;
    for (int tries = 0; ok && gone && tries < 4; tries++) {
        while (x->files > 0)
            drop_file(x, x->files - 1, false);
        ok = open_all(x, &gone, e);
    }
    return ok;
}

bool find_index_open(struct find_index *x, const char *folder, const char *name, struct err *e)
{
    *x = (struct find_index){.folder = strdup(folder), .name = strdup(name)};
    bool ok = x->folder && x->name ? true : err_memory(e, strlen(folder) + 1);
    ok = ok && load_files(x, e);
    if (!ok)
        find_index_close(x);
    return ok;
}

static int compare_ids(const void *a, const void *b)
{
    const struct hash128 *p = a, *q = b;
    if (p->high != q->high)
        return p->high < q->high ? -1 : 1;
    return p->low < q->low ? -1 : p->low > q->low;
}

/* Returns the first of the wanted films with this identity, or NULL. Links to a file share it. */
static const struct find_wanted *find_wanted(const struct find_index *x, struct hash128 id)
{
    const struct find_wanted *w = bsearch(&id, x->wanted, x->wants, sizeof *x->wanted, compare_ids);
    while (w && w > x->wanted && hash_same(w[-1].id, id))
        w--;
    return w;
}

/* Numbers the films of the files. One that is in several counts in the first. */
static bool number_films(struct find_index *x, struct err *e)
{
    bool *has = err_calloc(x->wants + 1, sizeof *has, e);
    for (size_t f = 0; has && f < x->files; f++)
        for (uint32_t i = 0; i < x->file[f]->films; i++) {
            const struct find_wanted *w = find_wanted(x, x->file[f]->film[i].id);
            bool counts = w && !has[w->number];
            x->file[f]->number[i] = counts ? w->number : FIND_NOT_WANTED;
            if (counts)
                has[w->number] = true;
        }
    free(has);
    return has != NULL;
}

bool find_index_want(struct find_index *x, const struct hash128 *id, size_t films, bool *has,
                     struct err *e)
{
    free(x->wanted);
    x->wants = 0;
    x->wanted = err_calloc(films + 1, sizeof *x->wanted, e);
    if (!x->wanted)
        return false;
    for (size_t i = 0; i < films; i++)
        x->wanted[i] = (struct find_wanted){id[i], (uint32_t)i};
    x->wants = films;
    qsort(x->wanted, films, sizeof *x->wanted, compare_ids);
    if (!number_films(x, e))
        return false;
    find_index_has(x, has);
    return true;
}

void find_index_has(const struct find_index *x, bool *has)
{
    for (size_t i = 0; i < x->wants; i++)
        has[i] = false;
    for (size_t f = 0; f < x->files; f++)
        for (uint32_t i = 0; i < x->file[f]->films; i++)
            if (x->file[f]->number[i] != FIND_NOT_WANTED)
                has[x->file[f]->number[i]] = true;
    for (size_t i = 1; i < x->wants; i++)
        if (hash_same(x->wanted[i].id, x->wanted[i - 1].id))
            has[x->wanted[i].number] = has[x->wanted[i - 1].number];
}

/* Returns FOLDER/NAME-HASH.landmarks, of the identities of the films. */
static char *file_path(const struct find_index *x, const struct find_film *film, size_t films,
                       struct err *e)
{
    char hash[33], *name = NULL, *path;
    struct hash128 *id = err_calloc(films + 1, sizeof *id, e);
    if (!id)
        return NULL;
    for (size_t i = 0; i < films; i++)
        id[i] = film[i].id;
    hash_hex(hash_128(id, films * sizeof *id), hash);
    free(id);
    if (asprintf(&name, "%s-%s", x->name, hash) < 0) {
        err_memory(e, sizeof hash);
        return NULL;
    }
    path = path_join(x->folder, name, ending, e);
    free(name);
    return path;
}

/* Writes the waiting words as film number i's. */
static bool write_words(struct find_index *x, struct find_writer *w, struct err *e)
{
    const uint64_t time_mask = FIND_FRAMES_MOST - 1, film_mask = FIND_FILMS_MOST - 1;
    uint64_t *base = err_calloc(x->films + 1, sizeof *base, e);
    if (!base)
        return false;
    for (size_t i = 0; i < x->films; i++)
        base[i + 1] = base[i] + x->film[i].frames;
    bool ok = true;
    for (size_t i = 0; ok && i < x->words; i++) {
        uint64_t word = x->word[i], key = word >> (LANDMARK_FILM_BITS + LANDMARK_TIME_BITS);
        uint64_t film = word >> LANDMARK_TIME_BITS & film_mask;
        ok = find_writer_add(w, key * base[x->films] + base[film] + (word & time_mask), e);
    }
    free(base);
    return ok;
}

/* Writes the waiting films to a file. */
static bool flush_films(struct find_index *x, struct err *e)
{
    if (x->films == 0)
        return true;
    if (mkdir(x->folder, 0700) != 0 && errno != EEXIST)
        return err_set(e, ERR_FAILED, "cannot make '%s': %s", x->folder, strerror(errno));
    uint64_t *room = err_calloc(x->words + 1, sizeof *room, e);
    char *path = room ? file_path(x, x->film, x->films, e) : NULL;
    struct find_writer *w = path ? find_writer_open(path, e) : NULL;
    if (w)
        sort_words(x->word, room, x->words, 63);
    free(room);
    bool ok = w && write_words(x, w, e);
    ok = find_writer_end(&w, ok ? x->film : NULL, (uint32_t)x->films, e) && ok;
    free(path);
    x->films = x->words = 0;
    return ok;
}

bool find_index_add(struct find_index *x, struct hash128 id, uint32_t frames,
                    const struct landmark *landmark, size_t n, struct err *e)
{
    if ((x->words + n > WORDS_MOST || x->films + 1 >= FIND_FILMS_MOST) && !flush_films(x, e))
        return false;
    if (frames > FIND_FRAMES_MOST)
        frames = FIND_FRAMES_MOST;
    if (!err_reserve(&x->film, x->films + 1, &x->films_room, sizeof *x->film, e) ||
        !err_reserve(&x->word, x->words + n, &x->words_room, sizeof *x->word, e))
        return false;
    size_t before = x->words;
    for (size_t i = 0; i < n; i++)
        if (landmark[i].frame < frames)
            x->word[x->words++] = landmark_word(landmark[i], (uint32_t)x->films);
    x->film[x->films++] = (struct find_film){id, frames, (uint32_t)(x->words - before)};
    return true;
}

/* Merges files `from` and later, or removes them if none of their films is wanted. */
static bool merge_files(struct find_index *x, size_t from, struct err *e)
{
    struct merge m;
    if (!open_merge(&m, x->file + from, x->files - from, e))
        return false;
    char *path = m.films > 0 ? file_path(x, m.film, m.films, e) : NULL;
    bool ok = m.films == 0 || (path && write_merge(&m, path, e));
    close_merge(&m);
    while (ok && x->files > from) {
        /* films of which there are copies elsewhere are merged to a file of the same name */
        bool same = path && strcmp(path, x->file[x->files - 1]->path) == 0;
        drop_file(x, x->files - 1, !same);
    }
    free(path);
    return ok && load_files(x, e) && number_films(x, e);
}

static uint64_t wanted_landmarks(const struct find_file *f)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->films; i++)
        if (f->number[i] != FIND_NOT_WANTED)
            sum += f->film[i].landmarks;
    return sum;
}

/* Files with the most wanted landmarks come first. */
static int compare_files(const void *a, const void *b)
{
    const struct find_file *const *f = a, *const *g = b;
    uint64_t x = wanted_landmarks(*f), y = wanted_landmarks(*g);
    return x == y ? strcmp((*f)->path, (*g)->path) : x < y ? 1 : -1;
}

bool find_index_save(struct find_index *x, struct err *e)
{
    if (!flush_films(x, e) || !load_files(x, e) || !number_films(x, e))
        return false;
    if (x->files > 0)
        qsort(x->file, x->files, sizeof *x->file, compare_files);
    uint64_t smaller = 0;
    size_t from = x->files;
    for (size_t i = x->files; i-- > 0;) {
        uint64_t wanted = wanted_landmarks(x->file[i]);
        if (wanted <= 2 * smaller || wanted * 2 < x->file[i]->landmarks)
            from = i;
        smaller += wanted;
    }
    bool alone =
        from + 1 == x->files && wanted_landmarks(x->file[from]) == x->file[from]->landmarks;
    return from >= x->files || alone || merge_files(x, from, e);
}

struct look {
    struct find_index *x;
    size_t file;
    find_index_hit *hit;
    void *user;
};

static bool look_up(const struct look *l, struct find_cursor *c, size_t i, uint64_t key,
                    struct err *e)
{
    const struct find_file *f = l->x->file[l->file];
    uint64_t frames = f->base[f->films], begin = key * frames;
    if (!find_cursor_forward(c, begin, e))
        return false;
    for (uint32_t film = 0; !c->ended && c->word - begin < frames;) {
        film = find_file_film(f, c->word - begin, film);
        uint32_t number = f->number[film];
        uint32_t frame = (uint32_t)(c->word - begin - f->base[film]);
        if ((number != FIND_NOT_WANTED && !l->hit(l->user, i, number, frame, e)) ||
            !find_cursor_next(c, e))
            return false;
    }
    return true;
}

bool find_index_look(struct find_index *x, const uint32_t *key, size_t keys, find_index_hit *hit,
                     void *user, struct err *e)
{
    struct look l = {x, x->files, hit, user};
    bool damaged = false;
    while (l.file-- > 0) {
        struct err reason = ERR_INIT;
        struct find_cursor c;
        bool ok = find_cursor_open(&c, x->file[l.file], &reason);
        for (size_t i = 0; ok && i < keys; i++)
            ok =
                (!interrupted() || interrupt_error(&reason)) && look_up(&l, &c, i, key[i], &reason);
        if (ok)
            continue;
        *e = reason;
        if (reason.code != ERR_INPUT)
            return false;
        log_msg(LOG_WARNING, "%s; it is made again", reason.text);
        drop_file(x, l.file, true);
        damaged = true;
    }
    return !damaged;
}

void find_index_close(struct find_index *x)
{
    while (x->files > 0)
        drop_file(x, x->files - 1, false);
    free(x->file);
    free(x->folder);
    free(x->name);
    free(x->film);
    free(x->word);
    free(x->wanted);
    *x = (struct find_index){0};
}
