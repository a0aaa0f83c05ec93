
#include "test.h"
#include "cached.h"

/* ---- The index ---- */

enum { BEGIN = 100 };

/* Two blocks of 3 and 1 frames, one missing column, one damaged. */
static void make(struct cache_index *x)
{
    static struct index_block block[2];
    static struct index_frame frame[5];
    block[0] = (struct index_block){.offset = BEGIN, .bytes = 40, .frames = 3, .hash = {1, 2}};
    block[1] = (struct index_block){
        .offset = BEGIN + 40, .bytes = 9, .first = 3, .frames = 1, .hash = {UINT64_MAX, 3}};
    for (uint64_t i = 0; i < 5; i++)
        frame[i] = (struct index_frame){{.column = 2 * i,
                                         .repeat = 1 + (i == 3),
                                         .frame = 24 * i,
                                         .time_us = (int64_t)i * 1000000 - (i == 2)},
                                        COLUMN_OK,
                                        i < 4 ? 3 - i : 0,
                                        false};
    frame[1].status = COLUMN_DAMAGED;
    frame[1].tag.damaged = true;
    frame[4].status = COLUMN_MISSING;
    *x =
        (struct cache_index){.width = 20,
                             .height = 10,
                             .exact_only = true,
                             .film = {1, UINT64_MAX, 3, -4},
                             .block = block,
                             .blocks = 2,
                             .frame = frame,
                             .frames = 5,
                             .name = "a film.mkv",
                             .crop = {320, 180, 2, false, {{40, 22, 240, 136}, {0, 24, 320, 132}}}};
    /* Static, so that the padding is zero: counts are compared as bytes. */
    static const struct decode_counts counts = {.packets = 100,
                                                .displayed = 99,
                                                .sent = 4,
                                                .decoded = 5,
                                                .hardware = 6,
                                                .fallbacks = 7,
                                                .chunks = 8,
                                                .skipped_chunks = 9,
                                                .redone_chunks = 10,
                                                .decode_errors = 11,
                                                .lost = 12,
                                                .damaged = 13,
                                                .lead_in = 14,
                                                .hidden = 15,
                                                .unreadable = 16,
                                                .dropped = 17,
                                                .last_us = -1,
                                                .read_failed = true,
                                                .sequential = true,
                                                .on_device = true};
    x->counts = counts;
}

static struct wire_out encoded(const struct cache_index *x)
{
    struct wire_out o = {0};
    cache_index_encode(x, &o);
    assert_false(o.failed);
    return o;
}

TEST(there_and_back)
{
    struct cache_index x, y;
    make(&x);
    struct wire_out o = encoded(&x);
    assert_true(cache_index_decode(&y, o.data, o.count, BEGIN, BEGIN + 49, NULL));
    assert_true(y.width == 20 && y.height == 10 && y.exact_only && !y.partial && y.frame_times);
    assert_memory_equal(&y.film, &x.film, sizeof x.film);
    assert_string_equal(y.name, x.name);
    assert_memory_equal(&y.counts, &x.counts, sizeof x.counts);
    assert_memory_equal(&y.crop, &x.crop, sizeof x.crop);
    for (int i = 0; i < 2; i++)
        assert_memory_equal(&y.block[i], &x.block[i], sizeof x.block[i]);
    for (int i = 0; i < 5; i++) {
        const struct frame_tag *a = &x.frame[i].tag, *b = &y.frame[i].tag;
        assert_true(a->column == b->column && a->repeat == b->repeat && a->frame == b->frame &&
                    a->time_us == b->time_us && a->damaged == b->damaged);
        assert_true(x.frame[i].status == y.frame[i].status && x.frame[i].place == y.frame[i].place);
    }
    assert_ptr_equal(cache_index_find(&y, 48), &y.frame[2]);
    assert_null(cache_index_find(&y, 47));
    assert_null(cache_index_find(&y, 96)); /* announced, but missing */
    cache_index_free(&y);
    /* blocks must fill what there is */
    assert_false(cache_index_decode(&y, o.data, o.count, BEGIN, BEGIN + 48, NULL));
    assert_false(cache_index_decode(&y, o.data, o.count, BEGIN, BEGIN + 50, NULL));
    assert_false(cache_index_decode(&y, o.data, o.count - 1, BEGIN, BEGIN + 49, NULL));
    wire_free(&o);
}

/* Of missing frames it is known which are transparent. */
TEST(transparent)
{
    struct cache_index x, y;
    make(&x);
    for (int i = 3; i < 5; i++) {
        x.frame[i].status = COLUMN_MISSING;
        x.frame[i].place = 0;
        x.frame[i].transparent = i == 3;
    }
    struct wire_out o = encoded(&x);
    assert_true(cache_index_decode(&y, o.data, o.count, BEGIN, BEGIN + 49, NULL));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(y.frame[i].status, x.frame[i].status);
        assert_int_equal(y.frame[i].transparent, i == 3);
    }
    assert_null(cache_index_find(&y, 72));
    cache_index_free(&y);
    wire_free(&o);
}

/* Tracks come back by kind, each kind once. */
TEST(tracks)
{
    struct cache_index x, y;
    make(&x);
    assert_true(cache_index_add_track(&x, 7, (const uint8_t *)"loudness", 8, NULL));
    assert_true(cache_index_add_track(&x, UINT32_MAX, (const uint8_t *)"", 0, NULL));
    assert_false(cache_index_add_track(&x, 7, (const uint8_t *)"again", 5, NULL));
    struct wire_out o = encoded(&x);
    assert_true(cache_index_decode(&y, o.data, o.count, BEGIN, BEGIN + 49, NULL));
    assert_true(y.tracks == 2 && cache_index_track(&y, 7)->bytes == 8);
    assert_memory_equal(cache_index_track(&y, 7)->data, "loudness", 8);
    assert_true(cache_index_track(&y, UINT32_MAX)->bytes == 0);
    assert_null(cache_index_track(&y, 8));
    cache_index_free(&y);
    wire_free(&o);

    x.track[1].kind = 7;
    o = encoded(&x);
    assert_false(cache_index_decode(&y, o.data, o.count, BEGIN, BEGIN + 49, NULL));
    wire_free(&o);
    for (uint64_t i = 0; i < x.tracks; i++)
        free(x.track[i].data);
    free(x.track);
}

/* One thing at a time that no writer writes. */
TEST(nonsense)
{
    for (int what = 0; what < 15; what++) {
        struct cache_index x, y;
        make(&x);
        switch (what) {
        case 0: x.width = 0; break;
        case 1: x.height = 16385; break;
        case 2: x.block[0].frames = 0; break;
        case 3: x.block[0].frames = ENTRY_BLOCK_FRAMES + 1; break;
        case 4:
            x.block[1].bytes = 0;
            x.block[0].bytes = 49;
            break;
        case 5: x.block[0].bytes = 50; break;
        case 6: x.frame[0].place = 5; break;
        case 7: x.frame[2].tag.repeat = 0; break;
        case 8: x.frame[2].tag.column = x.frame[1].tag.column; break;
        case 9: x.frame[2].tag.frame = x.frame[1].tag.frame; break;
        case 10: x.frame[0].tag.time_us = -1; break;
        case 11: x.frame[4].tag.column = (uint64_t)1 << 32; break;
        case 12: x.frame[4].tag.repeat = UINT32_MAX; break;
        case 13: x.frame[1].place = 4; break;
        default: x.frame[3].tag.frame = UINT64_MAX / 2; break;
        }
        struct wire_out o = encoded(&x);
        struct err e = ERR_INIT;
        assert_false(cache_index_decode(&y, o.data, o.count, BEGIN, BEGIN + 49, &e));
        assert_int_equal(e.code, ERR_FAILED);
        assert_true(!y.block && !y.frame && !y.frame_times);
        wire_free(&o);
    }
}

/* Any change and any cut: refused, or an index that is safe to use. */
TEST(broken_bytes)
{
    struct cache_index x, y;
    make(&x);
    struct wire_out o = encoded(&x);
    for (size_t cut = 0; cut < o.count; cut++)
        assert_false(cache_index_decode(&y, o.data, cut, BEGIN, BEGIN + 49, NULL));
    for (size_t at = 0; at < o.count; at++)
        for (int change = 1; change < 256; change++) {
            o.data[at] ^= (uint8_t)change;
            if (cache_index_decode(&y, o.data, o.count, BEGIN, BEGIN + 49, NULL)) {
                for (uint64_t i = 0; i < y.frames; i++)
                    assert_true(y.frame[i].status == COLUMN_MISSING ||
                                y.frame[i].place <
                                    y.block[y.blocks - 1].first + y.block[y.blocks - 1].frames);
                cache_index_free(&y);
            }
            o.data[at] ^= (uint8_t)change;
        }
    wire_free(&o);
}

TEST(clean)
{
    struct cache_index x = {.counts = {.packets = 5, .decoded = 5, .last_us = 7}};
    assert_true(cache_index_is_clean(&x));
    x.exact_only = true;
    assert_false(cache_index_is_clean(&x));
    x.exact_only = false;
    uint64_t *const bad[] = {&x.counts.decode_errors, &x.counts.damaged, &x.counts.lost,
                             &x.counts.redone_chunks};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        *bad[i] = 1;
        assert_false(cache_index_is_clean(&x));
        *bad[i] = 0;
    }
    x.counts.read_failed = true;
    assert_false(cache_index_is_clean(&x));
}

TEST(block_sizes)
{
    assert_int_equal(cache_index_block_frames(320, 180), 1);
    assert_int_equal(cache_index_block_frames(16384, 16384), 1);
    assert_int_equal(cache_index_block_frames(1, 1), ENTRY_BLOCK_FRAMES);
    assert_int_equal(cache_index_block_frames(160, 90), ENTRY_BLOCK_BYTES / (160 * 90 * 3));
}

TEST(sorted_by_place)
{
    struct cache_index x;
    make(&x);
    cache_index_sort_by_place(x.frame, 4);
    for (uint64_t i = 0; i < 4; i++)
        assert_true(x.frame[i].place == i && x.frame[i].tag.frame == 24 * (3 - i));
    assert_int_equal(x.frame[4].status, COLUMN_MISSING);
    cache_index_sort_by_place(NULL, 0);
}

/* ---- The file ---- */

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
    uint8_t *data = contents(cached_key(&small).name, size);
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
        struct cache_entry *c = cache_entry_open(key.name, &got, NULL);
        assert_non_null(c);
        assert_int_equal(got, ENTRY_GOOD);
        assert_string_equal(c->key, key.text);
        assert_int_equal(c->index.frames, 9);
        assert_true(c->index.width == f.width && c->index.height == f.height);
        assert_true(cached_frames_right(c));
        assert_true(cache_entry_check(c, NULL));
        char text[CACHE_KEY_BYTES];
        assert_true(cache_entry_peek_key(key.name, text, sizeof text));
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
    assert_null(cache_entry_open("nowhere", &got, NULL));
    assert_int_equal(got, ENTRY_ABSENT);
    assert_null(cache_entry_open(".", &got, NULL));
    assert_int_equal(got, ENTRY_ABSENT);
    char text[8];
    assert_false(cache_entry_peek_key(cached_key(&small).name, text, sizeof text));
}

/* An entry that is open stays what it is when its file goes away or another takes its name. */
TEST(outlives_its_name)
{
    enum entry_state got;
    assert_true(cached_write(&small, NULL));
    struct cache_key key = cached_key(&small);
    struct cache_entry *c = cache_entry_open(key.name, &got, NULL);
    assert_non_null(c);
    assert_int_equal(unlink(key.name), 0);
    assert_true(cached_frames_right(c));
    cache_entry_close(&c);
    cache_entry_close(&c);
}

TEST_FIXTURE(enter, leave)
