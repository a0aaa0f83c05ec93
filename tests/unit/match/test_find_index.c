#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "match/find/find_index.h"
#include "test.h"
#include "folder.h"

enum { FILMS = 12, MARKS_MOST = 4000, KEYS = 300 };

static struct landmark mark[FILMS][MARKS_MOST];
static size_t marks[FILMS];
static uint32_t frames[FILMS];
static struct hash128 id[FILMS];

static int compare_marks(const void *a, const void *b)
{
    const struct landmark *p = a, *q = b;
    return p->key != q->key ? (p->key > q->key) - (p->key < q->key)
                            : (p->frame > q->frame) - (p->frame < q->frame);
}

/* Films of 0 to MARKS_MOST landmarks without repetition, of which many have the same few keys. */
FIXTURE(make_films)
{
    log_set_level(LOG_ERROR);
    srand(3);
    for (int f = 0; f < FILMS; f++) {
        size_t n = f == 5 ? 0 : (size_t)rand() % MARKS_MOST, kept = 0;
        frames[f] = f == 5 ? 0 : 1 + (uint32_t)rand() % 9000;
        for (size_t i = 0; i < n; i++)
            mark[f][i] = (struct landmark){rand() % 3 ? (uint32_t)rand() % KEYS
                                                      : (uint32_t)rand() % (1 << LANDMARK_KEY_BITS),
                                           (uint32_t)rand() % frames[f]};
        qsort(mark[f], n, sizeof **mark, compare_marks);
        for (size_t i = 0; i < n; i++)
            if (i == 0 || compare_marks(&mark[f][i], &mark[f][i - 1]) != 0)
                mark[f][kept++] = mark[f][i];
        marks[f] = kept;
        id[f] = (struct hash128){(uint64_t)f + 1, 77};
    }
    return 0;
}

static void open_index(struct find_index *x)
{
    struct err e = ERR_INIT;
    assert_ok(find_index_open(x, folder, "library", &e), &e);
}

static void add_films(struct find_index *x, int from, int to)
{
    struct err e = ERR_INIT;
    for (int f = from; f < to; f++)
        assert_true(find_index_add(x, id[f], frames[f], mark[f], marks[f], &e));
}

/* Wants films from .. to, and returns how many are in the index. */
static int want_films(struct find_index *x, int from, int to)
{
    struct err e = ERR_INIT;
    bool has[FILMS];
    int known = 0;
    assert_true(find_index_want(x, id + from, (size_t)(to - from), has, &e));
    for (int i = 0; i < to - from; i++)
        known += has[i];
    return known;
}

struct seen {
    int first; /* number 0 of the wanted films */
    bool got[FILMS][MARKS_MOST];
    size_t hits;
    const uint32_t *key;
};

static bool take_hit(void *user, size_t i, uint32_t film, uint32_t frame, struct err *e)
{
    struct seen *s = user;
    struct landmark l = {s->key[i], frame};
    int f = s->first + (int)film;
    assert_true(f < FILMS);
    const struct landmark *at = bsearch(&l, mark[f], marks[f], sizeof *mark[f], compare_marks);
    assert_non_null(at);
    assert_false(s->got[f][at - mark[f]]);
    s->got[f][at - mark[f]] = true;
    s->hits++;
    (void)e;
    return true;
}

static bool look_up(struct find_index *x, struct seen *s, int first, struct err *e)
{
    static uint32_t key[KEYS];
    for (uint32_t i = 0; i < KEYS; i++)
        key[i] = i;
    *s = (struct seen){.first = first, .key = key};
    return find_index_look(x, key, KEYS, take_hit, s, e);
}

/* All landmarks of films from .. to with a key below KEYS are found once, and no other. */
static void check_films(struct find_index *x, int from, int to)
{
    static struct seen s;
    struct err e = ERR_INIT;
    size_t due = 0;
    assert_int_equal(want_films(x, from, to), to - from);
    assert_true(look_up(x, &s, from, &e));
    for (int f = from; f < to; f++)
        for (size_t i = 0; i < marks[f]; i++)
            due += mark[f][i].key < KEYS;
    assert_int_equal(s.hits, due);
}

static void save(struct find_index *x)
{
    struct err e = ERR_INIT;
    assert_ok(find_index_save(x, &e), &e);
}

TEST_WITH(has_what_was_added, enter, leave)
{
    struct find_index x;
    open_index(&x);
    assert_int_equal(want_films(&x, 0, FILMS), 0);
    add_films(&x, 0, FILMS);
    save(&x);
    check_films(&x, 0, FILMS);
    find_index_close(&x);
    open_index(&x);
    check_films(&x, 0, FILMS);
    find_index_close(&x);
}

/* One film at a time: small files are merged, and no landmark is lost. */
TEST_WITH(grows, enter, leave)
{
    for (int f = 0; f < FILMS; f++) {
        struct find_index x;
        open_index(&x);
        assert_int_equal(want_films(&x, 0, f + 1), f);
        add_films(&x, f, f + 1);
        save(&x);
        assert_true(x.files <= 4);
        check_films(&x, 0, f + 1);
        find_index_close(&x);
    }
}

TEST_WITH(forgets_films, enter, leave)
{
    struct find_index x;
    open_index(&x);
    want_films(&x, 0, FILMS);
    add_films(&x, 0, FILMS);
    save(&x);
    check_films(&x, 3, 6);
    save(&x);
    assert_int_equal(want_films(&x, 0, FILMS), 3);
    check_films(&x, 3, 6);
    find_index_close(&x);
    open_index(&x);
    check_films(&x, 3, 6);
    assert_int_equal(want_films(&x, 0, 3), 0);
    save(&x);
    assert_int_equal(x.files, 0);
    find_index_close(&x);
}

/* A film of which there are links is known under each name. */
TEST_WITH(knows_links, enter, leave)
{
    struct find_index x;
    struct err e = ERR_INIT;
    const struct hash128 linked[] = {id[2], id[1], id[2], id[3], id[2]};
    bool has[5];
    open_index(&x);
    assert_true(find_index_want(&x, linked, 5, has, &e));
    add_films(&x, 2, 3);
    add_films(&x, 2, 4);
    save(&x);
    assert_true(find_index_want(&x, linked, 5, has, &e));
    assert_true(has[0] && !has[1] && has[2] && has[3] && has[4]);
    check_films(&x, 2, 4);
    find_index_close(&x);
}

/* Films that another process adds or merges meanwhile. */
TEST_WITH(several_processes, enter, leave)
{
    enum { PROCESSES = 4 };
    struct find_index x;
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            for (int f = 0; f < FILMS; f++) {
                open_index(&x);
                bool has[FILMS];
                struct err e = ERR_INIT;
                int film = (f + p * 3) % FILMS;
                if (!find_index_want(&x, id, FILMS, has, &e))
                    _exit(1);
                if (!has[film])
                    add_films(&x, film, film + 1);
                if (!find_index_save(&x, &e))
                    _exit(2);
                find_index_close(&x);
            }
            _exit(0);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        wait(&status);
        assert_int_equal(status, 0);
    }
    open_index(&x);
    for (int f = 0; f < FILMS; f++)
        if (want_films(&x, f, f + 1) == 0) /* merged away by another process */
            add_films(&x, f, f + 1);
    want_films(&x, 0, FILMS);
    save(&x);
    check_films(&x, 0, FILMS);
    find_index_close(&x);
}

TEST_WITH(a_folder_that_is_gone, enter, leave)
{
    struct find_index x;
    struct err e = ERR_INIT;
    open_index(&x);
    add_films(&x, 0, 2);
    assert_int_equal(rmdir(folder), 0);
    close(open(folder, O_CREAT | O_WRONLY, 0600)); /* so that it cannot be made again */
    assert_false(find_index_save(&x, &e));
    assert_int_equal(e.code, ERR_FAILED);
    find_index_close(&x);
}

/* ---- Damage ---- */

static char *path_of_file(void)
{
    struct find_index x;
    open_index(&x);
    assert_int_equal(x.files, 1);
    char *path = strdup(x.file[0]->path);
    find_index_close(&x);
    return path;
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
    struct stat st;
    FILE *f = fopen(path, "rb");
    assert_true(f && fstat(fileno(f), &st) == 0);
    *bytes = (size_t)st.st_size;
    uint8_t *data = malloc(*bytes);
    assert_int_equal(fread(data, 1, *bytes, f), *bytes);
    fclose(f);
    return data;
}

static void write_file(const char *path, const uint8_t *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    assert_true(f && fwrite(data, 1, bytes, f) == bytes && fclose(f) == 0);
}

/* Returns false if a part of the file cannot be read. */
static bool read_words(const struct find_index *x)
{
    struct find_cursor c;
    struct err e = ERR_INIT;
    bool ok = find_cursor_open(&c, x->file[0], &e);
    while (ok && !c.ended)
        ok = find_cursor_next(&c, &e);
    return ok;
}

/* Opens and reads what lies there: everything is found, or the file is known to be damaged. */
static void try_damaged(const char *path)
{
    static struct seen s;
    struct find_index x;
    struct err e = ERR_INIT;
    open_index(&x);
    bool gone = access(path, F_OK) != 0;
    int known = want_films(&x, 0, FILMS);
    assert_int_equal(known, gone ? 0 : FILMS);
    if (!gone && !look_up(&x, &s, 0, &e)) {
        assert_int_equal(e.code, ERR_INPUT);
        assert_int_equal(x.files, 0);
    } else if (!gone) {
        assert_false(read_words(&x));
    }
    find_index_close(&x);
}

TEST_WITH(damage_is_noticed, enter, leave)
{
    struct find_index x;
    size_t bytes;
    open_index(&x);
    want_films(&x, 0, FILMS);
    add_films(&x, 0, FILMS);
    save(&x);
    find_index_close(&x);
    char *path = path_of_file();
    uint8_t *data = read_file(path, &bytes);
    for (int i = 0; i < 200; i++) {
        size_t at = i < 60 ? bytes - 1 - (size_t)i : (size_t)rand() % bytes;
        data[at] ^= (uint8_t)(1 << i % 8);
        write_file(path, data, bytes);
        data[at] ^= (uint8_t)(1 << i % 8);
        try_damaged(path);
    }
    for (int i = 0; i < 100; i++) {
        write_file(path, data, i < 70 ? (size_t)i : (size_t)rand() % bytes);
        try_damaged(path);
    }
    write_file(path, data, bytes);
    open_index(&x);
    check_films(&x, 0, FILMS);
    /* cut off while it is open: an error, and no signal */
    static struct seen s;
    struct err e = ERR_INIT;
    assert_int_equal(truncate(path, 100), 0);
    assert_false(look_up(&x, &s, 0, &e) && read_words(&x));
    find_index_close(&x);
    free(data);
    free(path);
}

/* ---- Files with right checksums that a hostile worker process made ---- */

static bool take_any(void *user, size_t i, uint32_t film, uint32_t frame, struct err *e)
{
    (void)i;
    (void)e;
    assert_int_equal(film, 0);
    assert_true(frame < FIND_FRAMES_MOST);
    ++*(int *)user;
    return true;
}

/* Looks all keys up in a file of these words, of one film. Returns false if it is damaged. */
static bool look_through(const uint64_t *word, size_t words, uint32_t film_frames, int *hits)
{
    static uint32_t key[1 << LANDMARK_KEY_BITS];
    struct err e = ERR_INIT;
    struct find_index x;
    struct find_film film = {id[0], film_frames, (uint32_t)words};
    char *path = NULL;
    *hits = 0;
    assert_true(asprintf(&path, "%s/library-x.landmarks", folder) > 0);
    struct find_writer *w = find_writer_open(path, &e);
    for (size_t i = 0; i < words; i++)
        assert_true(find_writer_add(w, word[i], &e));
    assert_true(find_writer_end(&w, &film, 1, &e));
    open_index(&x);
    bool ok = want_films(&x, 0, 1) == 1;
    for (uint32_t i = 0; i < 1 << LANDMARK_KEY_BITS; i++)
        key[i] = i;
    ok = ok && find_index_look(&x, key, 1 << LANDMARK_KEY_BITS, take_any, hits, &e);
    assert_true(e.code == ERR_NONE || e.code == ERR_INPUT);
    find_index_close(&x);
    (void)unlink(path);
    free(path);
    return ok;
}

TEST_WITH(hostile_files_are_damaged, enter, leave)
{
    enum { FRAMES = 100 };
    static const uint64_t end = (uint64_t)FRAMES << LANDMARK_KEY_BITS;
    static const struct {
        uint64_t word[4];
        size_t words;
        uint32_t frames;
        bool ok;
    } cases[] = {{{1, 99, 100, 700}, 4, FRAMES, true},
                 {{1, 99, 50, 700}, 4, FRAMES, false},
                 {{1, 99, 98}, 3, FRAMES, false},
                 {{end - 1}, 1, FRAMES, true},
                 {{end}, 1, FRAMES, false},
                 {{5, UINT64_MAX}, 2, FRAMES, false},
                 {{UINT64_MAX, 5}, 2, FRAMES, false},
                 {{5}, 1, FIND_FRAMES_MOST, true},
                 {{5}, 1, FIND_FRAMES_MOST + 1, false},
                 {{5}, 1, UINT32_MAX, false},
                 {{5}, 1, 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int hits;
        bool ok = look_through(cases[i].word, cases[i].words, cases[i].frames, &hits);
        if (ok != cases[i].ok)
            fail_msg("case %zu: %d", i, ok);
        assert_true(!ok || hits == (int)cases[i].words);
    }
}

/* A later block that begins before the end of the one before. */
TEST_WITH(hostile_blocks_are_damaged, enter, leave)
{
    enum { WORDS = 3 * FIND_BLOCK, FRAMES = 10000 };
    static uint64_t word[WORDS];
    int hits;
    for (size_t i = 0; i < WORDS; i++)
        word[i] = i + 1;
    assert_true(look_through(word, WORDS, FRAMES * 10, &hits));
    assert_int_equal(hits, WORDS);
    for (size_t i = 0; i < WORDS; i++)
        word[i] = i * 97 % 1000 + 1; /* each step back takes ten bytes */
    assert_false(look_through(word, WORDS, FRAMES, &hits));
}

TEST_FIXTURE(make_films, NULL)
