
#include "test.h"
#include "cached.h"

static const struct cached_film small = {.frames = 60, .every = 7, .width = 13, .height = 9};

static struct cache_entry *open_bytes(const uint8_t *data, size_t size, enum entry_state *state)
{
    struct err e = ERR_INIT;
    struct cache_entry *c = cache_entry_open_fd(cached_memory(data, size), state, &e);
    assert_int_equal(c != NULL, *state == ENTRY_GOOD);
    assert_int_equal(c == NULL, e.code == ERR_FAILED);
    return c;
}

static uint8_t *small_entry(size_t *size)
{
    assert_true(cached_write(&small, NULL));
    uint8_t *data = cached_bytes(cached_path(cached_key(&small).name), size);
    assert_non_null(data);
    return data;
}

TEST(reads_what_was_written)
{
    static const int sizes[][2] = {{13, 9}, {1, 1}, {320, 180}, {400, 300}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct cached_film f = small;
        f.width = sizes[i][0];
        f.height = sizes[i][1];
        struct cache_key key = cached_key(&f);
        enum entry_state got;
        assert_true(cached_write(&f, NULL));
        struct cache_entry *c = cache_entry_open(cached_path(key.name), &got, NULL);
        assert_non_null(c);
        assert_int_equal(got, ENTRY_GOOD);
        assert_string_equal(c->key, key.text);
        assert_int_equal(c->index.frames, 9);
        assert_true(c->index.width == f.width && c->index.height == f.height);
        assert_true(cached_frames_right(c));
        assert_true(cache_entry_check(c, NULL));
        char text[CACHE_KEY_BYTES];
        assert_true(cache_entry_peek_key(cached_path(key.name), text, sizeof text));
        assert_string_equal(text, key.text);
        cache_entry_close(&c);
        assert_null(c);
    }
}

/* An index that would take gigabytes in memory is not even read. */
TEST(a_huge_index)
{
    const size_t huge = ((size_t)64 << 20) + 1;
    size_t size = 0;
    struct err e = ERR_INIT;
    enum entry_state got;
    uint8_t *data = small_entry(&size);
    struct wire_in in = wire_read(data + size - ENTRY_TAIL, ENTRY_TAIL);
    size_t begin = (size_t)wire_u64(&in);
    (void)wire_u64(&in);
    struct hash128 key = wire_hash(&in);
    struct wire_out out = {0};
    wire_put_u64(&out, begin);
    wire_put_u64(&out, huge);
    wire_put_hash(&out, key);
    wire_put_hash(&out, (struct hash128){0, 0});
    wire_put_hash(&out, hash_128(out.data, ENTRY_TAIL - 16));
    data = realloc(data, begin + huge + ENTRY_TAIL);
    assert_non_null(data);
    memset(data + begin, 0, huge);
    memcpy(data + begin + huge, out.data, ENTRY_TAIL);
    assert_null(cache_entry_open_fd(cached_memory(data, begin + huge + ENTRY_TAIL), &got, &e));
    assert_int_equal(got, ENTRY_BROKEN);
    assert_string_equal(e.text, "its length does not match its index");
    wire_free(&out);
    free(data);
}

/* Each byte in turn, a bit or all of it: the entry is refused, or a block is, or every frame is
 * right. */
TEST(every_byte_flipped)
{
    size_t size, opened = 0;
    uint8_t *data = small_entry(&size);
    for (size_t at = 0; at < size; at++)
        for (int change = 1; change < 256; change = change == 1 ? 128 : change + 127) {
            enum entry_state got;
            data[at] ^= (uint8_t)change;
            struct cache_entry *c = open_bytes(data, size, &got);
            assert_int_not_equal(got, ENTRY_ABSENT);
            if (c) {
                opened++;
                assert_false(cached_frames_right(c)); /* every byte is under a checksum */
            }
            cache_entry_close(&c);
            data[at] ^= (uint8_t)change;
        }
    assert_true(opened > 0);
    free(data);
}

TEST(every_length)
{
    size_t size;
    enum entry_state got;
    uint8_t *data = small_entry(&size);
    for (size_t cut = 0; cut < size; cut++) {
        struct cache_entry *c = open_bytes(data, cut, &got);
        assert_null(c);
        assert_int_equal(got, ENTRY_BROKEN);
    }
    data[size] = 0;
    assert_null(open_bytes(data, size + 1, &got));
    assert_int_equal(got, ENTRY_BROKEN);
    free(data);
}

TEST(not_for_us)
{
    size_t size;
    enum entry_state got;
    uint8_t *data = small_entry(&size);
    data[8] = ENTRY_VERSION + 1;
    assert_null(open_bytes(data, size, &got));
    assert_int_equal(got, ENTRY_OTHER);
    memset(data, 'x', size);
    assert_null(open_bytes(data, size, &got));
    assert_int_equal(got, ENTRY_BROKEN);
    free(data);
    assert_null(cache_entry_open(cached_path("nowhere"), &got, NULL));
    assert_int_equal(got, ENTRY_ABSENT);
    assert_null(cache_entry_open(cached_folder, &got, NULL));
    assert_int_equal(got, ENTRY_ABSENT);
    char text[8];
    assert_false(cache_entry_peek_key(cached_path(cached_key(&small).name), text, sizeof text));
}

/* An entry that is open stays what it is when its file goes away or another takes its name. */
TEST(outlives_its_name)
{
    enum entry_state got;
    assert_true(cached_write(&small, NULL));
    struct cache_key key = cached_key(&small);
    struct cache_entry *c = cache_entry_open(cached_path(key.name), &got, NULL);
    assert_non_null(c);
    assert_int_equal(unlink(cached_path(key.name)), 0);
    assert_true(cached_frames_right(c));
    cache_entry_close(&c);
    cache_entry_close(&c);
}

TEST_FIXTURE(cached_begin, cached_end)
