#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"
#include "media/container/file_reader.h"
#include "files.h"

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
static struct file_reader *opened(struct read_faults *faults, size_t first)
{
    struct file_reader *r = file_reader_new(faults, NULL);
    for (size_t i = 0; i < BYTES; i++)
        film[i] = (uint8_t)(i % 251 + 1);
    bad_from = bad_to = 0;
    put("a", film, first);
    assert_true(file_reader_add(r, open("a", O_RDONLY), "a", NULL));
    if (first < BYTES) {
        put("b", film + first, BYTES - first);
        assert_true(file_reader_add(r, open("b", O_RDONLY), "b", NULL));
    }
    assert_int_equal(file_reader_size(r), BYTES);
    return r;
}

/* Reads all that can be read, `most` bytes at once. */
static size_t read_all(struct file_reader *r, uint8_t *to, size_t most)
{
    size_t at = 0;
    ssize_t n;
    while ((n = file_reader_read(r, (int64_t)at, to + at, most)) > 0)
        at += (size_t)n;
    return at;
}

TEST_WITH(joined_files, enter, leave)
{
    static const size_t first[] = {BYTES, 1, 4096, 50000, BYTES - 1};
    static uint8_t got[2 * BYTES];
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        struct file_reader *r = opened(NULL, first[i]);
        assert_int_equal(read_all(r, got, 7777), BYTES);
        assert_memory_equal(got, film, BYTES);
        assert_in_range(file_reader_read(r, BYTES - 3, got, 10), 1, 3);
        assert_int_equal(file_reader_read(r, BYTES, got, 10), 0);
        assert_int_equal(file_reader_read(r, BYTES + 5, got, 10), 0);
        file_reader_close(&r);
        assert_null(r);
    }
}

/* One call of the system for each read, as libavformat's own reading. */
TEST_WITH(reads_of_the_system, enter, leave)
{
    static uint8_t got[2 * BYTES];
    struct file_reader *r = opened(NULL, BYTES);
    reads = 0;
    assert_int_equal(read_all(r, got, 32768), BYTES);
    assert_int_equal(reads, 5);
    file_reader_close(&r);
}

TEST_WITH(a_failed_read, enter, leave)
{
    static uint8_t got[2 * BYTES];
    struct err e = ERR_INIT;
    struct read_faults *faults = read_faults_new(false, NULL);
    struct file_reader *r = opened(faults, BYTES);
    bad_from = 50000;
    bad_to = 50001;
    assert_int_equal(read_all(r, got, 10000), 50000);
    assert_int_equal(file_reader_read(r, 50000, got, 10), -1);
    assert_int_equal(errno, EIO);
    assert_false(read_faults_check(faults, "film", &e));
    assert_string_equal(e.text, "cannot read 'a': Input/output error (at byte 50000)");
    file_reader_close(&r);
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
        struct file_reader *r = opened(faults, BYTES);
        bad_from = bad[i].from;
        bad_to = bad[i].to;
        memset(film + bad[i].skipped, 0, (size_t)(bad[i].end - bad[i].skipped));
        assert_int_equal(read_all(r, got, 32768), BYTES);
        assert_memory_equal(got, film, BYTES);
        assert_int_equal(read_faults_bytes(faults), bad[i].end - bad[i].skipped);
        assert_true(read_faults_check(faults, "film", NULL));
        file_reader_close(&r);
        read_faults_free(&faults);
    }
}

/* A read from the middle of a page skips the rest of it. */
TEST_WITH(skipping_from_anywhere, enter, leave)
{
    uint8_t got[10000];
    struct read_faults *faults = read_faults_new(true, NULL);
    struct file_reader *r = opened(faults, BYTES);
    bad_from = 5000;
    bad_to = 6000;
    assert_int_equal(file_reader_read(r, 5500, got, sizeof got), 8192 - 5500);
    assert_int_equal(read_faults_bytes(faults), 8192 - 5500);
    assert_int_equal(file_reader_read(r, 5000, got, 100), 100);
    assert_int_equal(read_faults_bytes(faults), 8192 - 5500 + 100);
    file_reader_close(&r);
    read_faults_free(&faults);
}
