#include <errno.h>
#include <libavutil/error.h>
#include <pthread.h>
#include <stdio.h>

#include "test.h"
#include "files.h"
#include "media/container/pipe_input.h"

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
#define FTYP \
    "\0\0\0\x10" \
    "ftypisom\0\0\0\0"
#define FREE \
    "\0\0\0\x0c" \
    "free\0\0\0\0"

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
