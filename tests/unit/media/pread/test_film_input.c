/* test_film_input.c - reads films for libavformat: files, disks with bad bytes, pipes */
#include <errno.h>
#include <fcntl.h>
#include <libavutil/error.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"
#include "files.h"
#include "media/container/film_input.h"

static AVIOContext *opened(const char *path)
{
    struct err e = ERR_INIT;
    AVIOContext *io;
    assert_true(film_input_open(path, NULL, &io, &e));
    assert_int_equal(e.code, ERR_NONE);
    return io;
}

static bool is_read_so(const char *path)
{
    AVIOContext *io = opened(path);
    bool is = io != NULL;
    film_input_close(&io);
    return is;
}

TEST_WITH(what_is_read_so, enter, leave)
{
    touch("plain.mkv");
    touch("image%03d.png");
    assert_int_equal(mkfifo("fifo.mkv", 0600), 0);
    assert_int_equal(symlink("fifo.mkv", "link.mkv"), 0);
    assert_true(is_read_so("fifo.mkv") && is_read_so("link.mkv") && is_read_so("/dev/null") &&
                is_read_so("/dev/stdin") && is_read_so("plain.mkv"));
    assert_false(is_read_so("image%03d.png") || is_read_so("gone.mkv") || is_read_so("."));
}

/* A regular file by its number: from its beginning, wherever the descriptor stands, which stays
 * there. */
TEST_WITH(an_open_file_is_sought_in, enter, leave)
{
    put("plain", "0123456789", 10);
    char path[32];
    uint8_t got[16];
    int fd = open("plain", O_RDONLY);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    assert_int_equal(lseek(fd, 3, SEEK_SET), 3);
    AVIOContext *io = opened(path);
    assert_non_null(io);
    assert_int_equal(avio_size(io), 10);
    assert_int_equal(io->seekable, AVIO_SEEKABLE_NORMAL);
    assert_int_equal(avio_read(io, got, sizeof got), 10);
    assert_memory_equal(got, "0123456789", 10);
    assert_int_equal(avio_seek(io, 4, SEEK_SET), 4);
    assert_int_equal(avio_read(io, got, 2), 2);
    assert_memory_equal(got, "45", 2);
    film_input_close(&io);
    assert_null(io);
    film_input_close(&io);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 3);
    close(fd);
}

/* A pipe's bytes once more, those that were read and those that come later; not when nobody asked
 * that they be kept. */
TEST_WITH(a_pipe_from_its_beginning_again, enter, leave)
{
    struct err e = ERR_INIT;
    char path[32];
    uint8_t got[64];
    for (int kept = 0; kept <= 1; kept++) {
        int end[2];
        assert_int_equal(pipe(end), 0);
        snprintf(path, sizeof path, "/dev/fd/%d", end[0]);
        AVIOContext *io = opened(path);
        assert_non_null(io);
        assert_int_equal(write(end[1], "0123456789", 10), 10);
        assert_int_equal(avio_read_partial(io, got, 4), 4);
        if (!kept)
            film_input_go_on(io);
        assert_int_equal(film_input_again(&io, &e), kept);
        assert_int_equal(e.code, ERR_NONE);
        assert_int_equal(write(end[1], "abc", 3), 3);
        close(end[1]);
        assert_int_equal(avio_read(io, got, sizeof got), kept ? 13 : 9);
        assert_memory_equal(got, kept ? "0123456789abc" : "456789abc", kept ? 13 : 9);
        film_input_close(&io);
        close(end[0]);
    }
}

static void *write_numbers(void *fd)
{
    enum { NUMBERS = 16 << 20 };
    uint32_t *number = malloc(NUMBERS * sizeof *number);
    for (uint32_t i = 0; number && i < NUMBERS; i++)
        number[i] = i;
    const char *from = (const char *)number;
    ssize_t n = number ? (ssize_t)NUMBERS * 4 : 0;
    for (ssize_t done; n > 0 && (done = write(*(int *)fd, from, (size_t)n)) > 0; n -= done)
        from += done;
    free(number);
    close(*(int *)fd);
    return NULL;
}

static uint32_t number_at(AVIOContext *io, int64_t at)
{
    uint32_t number;
    assert_int_equal(avio_seek(io, at * 4, SEEK_SET), at * 4);
    assert_int_equal(avio_read(io, (uint8_t *)&number, 4), 4);
    return number;
}

/* Demuxers seek back in a pipe: some megabytes, but neither to its beginning nor to its end. */
TEST_WITH(a_pipe_is_sought_in, enter, leave)
{
    enum { MEGA = 1 << 20 };
    for (int kept = 0; kept <= 1; kept++) {
        struct err e = ERR_INIT;
        int end[2];
        char path[32];
        pthread_t writer;
        assert_int_equal(pipe(end), 0);
        snprintf(path, sizeof path, "/dev/fd/%d", end[0]);
        assert_int_equal(pthread_create(&writer, NULL, write_numbers, &end[1]), 0);
        AVIOContext *io = opened(path);
        assert_int_equal(number_at(io, 4 * MEGA), 4 * MEGA);
        if (kept)
            assert_true(film_input_again(&io, &e));
        else
            film_input_go_on(io);
        assert_int_equal(number_at(io, kept ? 0 : 3 * MEGA), kept ? 0 : 3 * MEGA);
        for (uint32_t at = 4 * MEGA + 1; at < 16 * MEGA; at += 123456)
            assert_int_equal(number_at(io, at), at);
        assert_int_equal(number_at(io, 16 * MEGA - 1), 16 * MEGA - 1);
        assert_int_equal(number_at(io, 15 * MEGA), 15 * MEGA);
        assert_true(avio_seek(io, 16, SEEK_SET) == AVERROR(ESPIPE) &&
                    avio_size(io) == AVERROR(ESPIPE));
        film_input_close(&io);
        pthread_join(writer, NULL);
        close(end[0]);
    }
}

TEST_WITH(what_cannot_be_opened, enter, leave)
{
    struct err e = ERR_INIT;
    AVIOContext *io;
    assert_false(film_input_open("/dev/fd/999", NULL, &io, &e) || io);
    expect_sentence(&e, ERR_INPUT, "cannot open '/dev/fd/999': Bad file descriptor");
    err_clear(&e);
    char path[32];
    int fd = open(".", O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    assert_false(film_input_open(path, NULL, &io, &e) || io);
    expect_sentence(&e, ERR_INPUT, "is a folder");
    close(fd);
}

struct boxes {
    const char *bytes;
    size_t size;
};

static void *write_boxes(void *boxes)
{
    const struct boxes *b = boxes;
    int fd = open("fifo", O_WRONLY);
    for (size_t i = 0; i < b->size; i++) /* a byte at a time */
        if (write(fd, b->bytes + i, 1) != 1)
            break;
    close(fd);
    return NULL;
}

/* Whether the index is found to stand last; every byte must still come out. */
static bool index_last(const char *bytes, size_t size)
{
    struct boxes boxes = {bytes, size};
    pthread_t writer;
    uint8_t got[256];
    AVIOContext *io = opened("fifo");
    assert_non_null(io);
    assert_int_equal(pthread_create(&writer, NULL, write_boxes, &boxes), 0);
    bool last = film_input_index_last(io);
    assert_int_equal(io->seekable, 0);
    assert_int_equal(avio_read(io, got, sizeof got), size);
    assert_memory_equal(got, bytes, size);
    film_input_close(&io);
    pthread_join(writer, NULL);
    return last;
}

#define INDEX_LAST(text) index_last(text, sizeof(text) - 1)
#define FTYP "\0\0\0\20ftypisom\0\0\0\0"
#define FREE "\0\0\0\14free\0\0\0\0"

TEST_WITH(mp4_with_its_index_last, enter, leave)
{
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_true(INDEX_LAST(FTYP "\0\0\1\0mdat....."));
    assert_true(INDEX_LAST(FTYP FREE "\0\0\0\1mdat\0\0\0\0\0\0\1\0"));
    assert_false(INDEX_LAST(FTYP FREE "\0\0\1\0moov....."));
    assert_false(INDEX_LAST(FTYP));
    assert_false(INDEX_LAST(FTYP "\0\0\0\4abcd"));
    assert_false(INDEX_LAST(FTYP "\x7f\0\0\0free"));
    assert_false(INDEX_LAST("\x1a\x45\xdf\xa3 a film of another kind"));
    assert_false(INDEX_LAST("x"));
}

/* The bad bytes of every file, for pread below. */
static int64_t bad_from, bad_to;
static int reads;

/* In place of libc's: fails as a disk does that cannot read some bytes. */
ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
    reads++;
    if (at < bad_to && at + (off_t)bytes > bad_from) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pread64, fd, to, bytes, at);
}

enum { BYTES = 100000 };
static uint8_t film[2 * BYTES];

/* Opens the film's bytes as one file or as two, whose first one has `first` bytes. */
static AVIOContext *open_film(struct read_faults *faults, size_t first)
{
    struct film_part part[] = {{.path = (char *)"a"}, {.path = (char *)"b"}};
    struct film_parts parts = {.part = part, .count = first < BYTES ? 2 : 1};
    AVIOContext *io;
    for (size_t i = 0; i < BYTES; i++)
        film[i] = (uint8_t)(i % 251 + 1);
    bad_from = bad_to = 0;
    put("a", film, first);
    if (first < BYTES)
        put("b", film + first, BYTES - first);
    assert_true(film_input_open_parts(&parts, faults, &io, NULL));
    assert_int_equal(avio_size(io), BYTES);
    return io;
}

/* Reads as libavformat does when its buffer is empty. */
static int read_at(AVIOContext *io, int64_t at, uint8_t *to, int bytes)
{
    io->seek(io->opaque, at, SEEK_SET);
    return io->read_packet(io->opaque, to, bytes);
}

/* Reads all that can be read, `most` bytes at once. */
static size_t read_all(AVIOContext *io, uint8_t *to, int most)
{
    size_t at = 0;
    int n;
    while ((n = read_at(io, (int64_t)at, to + at, most)) > 0)
        at += (size_t)n;
    return at;
}

TEST_WITH(joined_files, enter, leave)
{
    static const size_t first[] = {BYTES, 1, 4096, 50000, BYTES - 1};
    static uint8_t got[2 * BYTES];
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        AVIOContext *io = open_film(NULL, first[i]);
        assert_int_equal(read_all(io, got, 7777), BYTES);
        assert_memory_equal(got, film, BYTES);
        assert_in_range(read_at(io, BYTES - 3, got, 10), 1, 3);
        assert_int_equal(read_at(io, BYTES, got, 10), AVERROR_EOF);
        assert_int_equal(read_at(io, BYTES + 5, got, 10), AVERROR_EOF);
        film_input_close(&io);
        assert_null(io);
    }
}

/* One call of the system for each read, as libavformat's own reading. */
TEST_WITH(reads_of_the_system, enter, leave)
{
    static uint8_t got[2 * BYTES];
    AVIOContext *io = open_film(NULL, BYTES);
    reads = 0;
    assert_int_equal(read_all(io, got, 32768), BYTES);
    assert_int_equal(reads, 5);
    film_input_close(&io);
}

TEST_WITH(a_failed_read, enter, leave)
{
    static uint8_t got[2 * BYTES];
    struct err e = ERR_INIT;
    struct read_faults *faults = read_faults_new(false, NULL);
    AVIOContext *io = open_film(faults, BYTES);
    bad_from = 50000;
    bad_to = 50001;
    assert_int_equal(read_all(io, got, 10000), 50000);
    assert_int_equal(read_at(io, 50000, got, 10), AVERROR(EIO));
    assert_false(read_faults_check(faults, "film", &e));
    assert_string_equal(e.text, "cannot read 'a': Input/output error (at byte 50000)");
    film_input_close(&io);
    read_faults_free(&faults);
}

/* Skips whole pages, and no byte outside of them; the last page ends with the file. */
TEST_WITH(skipping, enter, leave)
{
    static const struct {
        int64_t from, to, skipped, end;
    } bad[] = {{50000, 50001, 49152, 53248}, {0, 5000, 0, 8192},
               {4096, 8192, 4096, 8192},     {BYTES - 1, BYTES, 98304, BYTES},
               {0, BYTES, 0, BYTES},         {40000, 60000, 36864, 61440}};
    static uint8_t got[2 * BYTES];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct read_faults *faults = read_faults_new(true, NULL);
        AVIOContext *io = open_film(faults, BYTES);
        bad_from = bad[i].from;
        bad_to = bad[i].to;
        memset(film + bad[i].skipped, 0, (size_t)(bad[i].end - bad[i].skipped));
        assert_int_equal(read_all(io, got, 32768), BYTES);
        assert_memory_equal(got, film, BYTES);
        assert_int_equal(read_faults_bytes(faults), bad[i].end - bad[i].skipped);
        assert_true(read_faults_check(faults, "film", NULL));
        film_input_close(&io);
        read_faults_free(&faults);
    }
}

/* A read from the middle of a page skips the rest of it. */
TEST_WITH(skipping_from_anywhere, enter, leave)
{
    uint8_t got[10000];
    struct read_faults *faults = read_faults_new(true, NULL);
    AVIOContext *io = open_film(faults, BYTES);
    bad_from = 5000;
    bad_to = 6000;
    assert_int_equal(read_at(io, 5500, got, sizeof got), 8192 - 5500);
    assert_int_equal(read_faults_bytes(faults), 8192 - 5500);
    assert_int_equal(read_at(io, 5000, got, 100), 100);
    assert_int_equal(read_faults_bytes(faults), 8192 - 5500 + 100);
    film_input_close(&io);
    read_faults_free(&faults);
}

/* ---- heads of boxes of MP4, of both lengths, and what is none ---- */

#define NEXT(text, at) mp4_box_next((const uint8_t *)(text), sizeof(text) - 1, at)
#define IS(text, name) mp4_box_is((const uint8_t *)(text), sizeof(text) - 1, name)

TEST(names_of_boxes)
{
    assert_true(IS("\0\0\0\20ftypisom", "ftyp") && IS("\0\0\0\10free", "free"));
    assert_false(IS("\0\0\0\20ftypisom", "moov") || IS("\0\0\0\10fre", "free"));
    assert_false(mp4_box_is((const uint8_t *)"", -1, "free"));
}

TEST(where_the_next_box_begins)
{
    assert_int_equal(NEXT("\0\0\0\20ftyp", 100), 116);
    assert_int_equal(NEXT("\377\377\377\377mdat", 0), UINT32_MAX);
    assert_int_equal(NEXT("\0\0\0\1mdat\0\0\0\1\0\0\0\2", 40), (INT64_C(1) << 32) + 42);
    assert_int_equal(NEXT("\0\0\0\10free", INT64_MAX - 8), INT64_MAX);
    assert_int_equal(NEXT("\0\0\0\0mdat", 0), -1); /* to the file's end */
    assert_int_equal(NEXT("\0\0\0\7free", 0), -1);
    assert_int_equal(NEXT("\0\0\0\1mdat\0\0\0\0\0\0\0\7", 0), -1);
    assert_int_equal(NEXT("\0\0\0\1mdat\0\0\0\0\0\0\1", 0), -1);
    assert_int_equal(NEXT("\0\0\0\1mdat\377\377\377\377\377\377\377\360", 8), -1);
    assert_int_equal(NEXT("\0\0\0\11free", INT64_MAX - 8), -1);
    assert_int_equal(NEXT("\0\0\0\20fre", 0), -1);
    assert_int_equal(mp4_box_next((const uint8_t *)"", -1, 0), -1);
}
