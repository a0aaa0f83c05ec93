/* The writers of JPEG and WebP, as their libraries decode what they write. */
#include <stdio.h>
#include <jpeglib.h>
#include <unistd.h>
#include <webp/decode.h>

#include "test.h"
#include "barcode/engine/colour.h"
#include "output/poster/poster.h"
#include "output/writer.h"
#include "output/formats/images.h"
#include "files.h"
#include "scene.h"
#include "strips.h"

static void save(const char *writer, const struct report *r, struct strips strips, const char *path)
{
    struct err e = ERR_INIT;
    assert_ok(writer_save(writer_find(writer), r, strips, path, &e), &e);
}

static const char *const both[] = {"jpeg", "webp"};

TEST(they_say_what_they_are)
{
    for (int i = 0; i < 2; i++) {
        const struct writer *w = writer_find(both[i]), *other = writer_find(both[!i]);
        struct made m;
        struct writer_metadata metadata;
        char film[FILM_ID_TEXT];
        size_t size;
        made_open(&m, 70);
        memset(m.report.id.fingerprint, 'r', REPORT_FINGERPRINT - 1); /* as long as it may be */
        m.report.id.partial = i == 0;
        save(both[i], &m.report, alone("palette"), "a");
        assert_true(writer_made(w, "a", film));
        assert_string_equal(film, m.report.id.film_id);
        assert_false(writer_made(other, "a", film) || writer_made(writer_find("png"), "a", film));
        assert_true(writer_read_metadata(w, "a", &metadata));
        assert_false(writer_read_metadata(other, "a", &metadata));
        assert_true(writer_read_metadata(w, "a", &metadata));
        made_is_described(&m, &metadata);
        uint8_t *all = contents("a", &size);
        for (size_t less = 1; less < 300; less++) {
            put("b", all, size - less);
            assert_false(writer_read_metadata(w, "b", &metadata));
        }
        all[size] = '\n';
        put("b", all, size + 1);
        assert_false(writer_read_metadata(w, "b", &metadata));
        put("b", all, 8);
        assert_false(writer_read_metadata(w, "b", &metadata) || writer_made(w, "b", film));
        free(all);
        made_close(&m);
    }
}

TEST(same_bytes)
{
    for (int i = 0; i < 2; i++) {
        struct made m;
        size_t a, b;
        made_open(&m, 70);
        save(both[i], &m.report, alone("squeeze"), "a");
        save(both[i], &m.report, alone("squeeze"), "b");
        uint8_t *first = contents("a", &a), *second = contents("b", &b);
        assert_int_equal(a, b);
        assert_memory_equal(first, second, a);
        free(first);
        free(second);
        made_close(&m);
    }
}

/* Returns the sum of differences of a row to that of the painter. */
static uint64_t differ(struct painter *p, int y, const uint8_t *row)
{
    uint64_t sum = 0;
    size_t bytes = (size_t)painter_width(p) * (size_t)painter_channels(p);
    uint8_t *want = malloc(bytes);
    assert_true(painter_row(p, y, want, NULL));
    for (size_t i = 0; i < bytes; i++)
        sum += (uint64_t)abs(want[i] - row[i]);
    free(want);
    return sum;
}

/* WebP has the pixels themselves, with their transparency. */
TEST(webp_is_lossless)
{
    for (int ring = 0; ring < 2; ring++) {
        struct made m;
        struct err e = ERR_INIT;
        WebPBitstreamFeatures facts;
        size_t size;
        int w, h;
        made_open(&m, 70);
        m.report.picture.shape = ring ? SHAPE_RING : SHAPE_STRIP;
        m.report.picture.width = m.report.picture.height = 61; /* odd */
        save("webp", &m.report, alone("palette"), "a");
        uint8_t *all = contents("a", &size);
        assert_int_equal(WebPGetFeatures(all, size, &facts), VP8_STATUS_OK);
        assert_true(facts.width == 61 && facts.height == 61 && facts.format == 2);
        assert_int_equal(facts.has_alpha, ring);
        uint8_t *pixels =
            ring ? WebPDecodeRGBA(all, size, &w, &h) : WebPDecodeRGB(all, size, &w, &h);
        assert_non_null(pixels);
        struct painter *p = painter_open(&m.report, alone("palette"), &e);
        assert_int_equal(painter_channels(p), ring ? 4 : 3);
        for (int y = 0; y < h; y++)
            assert_int_equal(differ(p, y, pixels + y * w * (ring ? 4 : 3)), 0);
        painter_free(&p);
        WebPFree(pixels);
        free(all);
        made_close(&m);
    }
}

/* One-pixel columns keep their colours; the profile and the resolution are there. */
TEST(jpeg_keeps_narrow_columns)
{
    struct made m;
    struct err e = ERR_INIT;
    made_open(&m, 320);
    m.report.picture.height = 100;
    save("jpeg", &m.report, alone("average"), "a");
    struct painter *p = painter_open(&m.report, alone("average"), &e);
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct jpeg = {.err = jpeg_std_error(&errors)};
    FILE *f = fopen("a", "rb");
    uint8_t row[320 * 3], *rows[] = {row}, want[ICC_SRGB_SIZE];
    uint64_t sum = 0;
    JOCTET *icc;
    unsigned size;
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, f);
    jpeg_save_markers(&jpeg, JPEG_APP0 + 2, 0xffff);
    jpeg_read_header(&jpeg, TRUE);
    assert_true(jpeg.image_width == 320 && jpeg.image_height == 100 && jpeg.num_components == 3);
    for (int i = 0; i < 3; i++)
        assert_true(jpeg.comp_info[i].h_samp_factor == 1 && jpeg.comp_info[i].v_samp_factor == 1);
    assert_true(jpeg_read_icc_profile(&jpeg, &icc, &size));
    icc_srgb_write(want);
    assert_int_equal(size, ICC_SRGB_SIZE);
    assert_memory_equal(icc, want, size);
    jpeg_start_decompress(&jpeg);
    for (int y = 0; y < 100; y++) {
        jpeg_read_scanlines(&jpeg, rows, 1);
        sum += differ(p, y, row);
    }
    assert_true(sum < 3 * 320 * 100 * 3); /* 4:2:0 differs by 16 in the mean, 4:4:4 by 1.3 */
    jpeg_destroy_decompress(&jpeg);
    free(icc);
    fclose(f);
    painter_free(&p);
    made_close(&m);
}

TEST(jpeg_posters_have_a_resolution)
{
    struct err e = ERR_INIT;
    if (!paint_has_letters(&e))
        skip();
    struct made m;
    size_t size;
    made_open(&m, 60);
    m.report.poster.wanted = true;
    m.report.poster.dpi = 72;
    assert_true(paper_parse("A6", &m.report.poster.page));
    save("jpeg", &m.report, alone("average"), "a");
    uint8_t *all = contents("a", &size);
    assert_memory_equal(all + 13, ((uint8_t[]){1, 0, 72, 0, 72}), 5); /* JFIF: per inch */
    free(all);
    made_close(&m);
}

/* A ring on a ground is opaque; a JPEG needs that. */
TEST(rings)
{
    struct made m;
    struct err e = ERR_INIT;
    made_open(&m, 60);
    m.report.picture.shape = SHAPE_RING;
    m.report.picture.width = m.report.picture.height = 40;
    assert_false(writer_save(writer_find("jpeg"), &m.report, alone("average"), "r", &e));
    assert_string_equal(e.text, "cannot write 'r': a JPEG cannot be transparent");
    m.report.poster.style =
        (struct paper_style){.has_background = true, .background = {200, 30, 7}};
    struct painter *p = painter_open(&m.report, alone("average"), &e);
    uint8_t row[40 * 3];
    assert_true(painter_row(p, 0, row, NULL));
    assert_int_equal(painter_channels(p), 3);
    assert_memory_equal(row, m.report.poster.style.background, 3);
    assert_true(painter_row(p, 20, row, NULL));
    assert_memory_equal(row + 20 * 3, m.report.poster.style.background, 3);
    assert_true(memcmp(row + 5 * 3, m.report.poster.style.background, 3) != 0);
    painter_free(&p);
    save("jpeg", &m.report, alone("average"), "r");
    made_close(&m);
}

TEST(what_cannot_be_written)
{
    static const struct {
        const char *writer, *sentence;
        int width;
    } refused[] = {{"jpeg", "a JPEG is at most 65500 pixels wide and high, not 65501x6", 65501},
                   {"webp", "a WebP is at most 16383 pixels wide and high, not 16384x6", 16384}};
    struct made m;
    made_open(&m, 60);
    for (int i = 0; i < 2; i++) {
        struct err e = ERR_INIT;
        m.report.picture.width = refused[i].width;
        assert_false(
            writer_save(writer_find(refused[i].writer), &m.report, alone("kmeans"), "x", &e));
        expect_sentence(&e, ERR_FAILED, refused[i].sentence);
        assert_int_not_equal(access("x", F_OK), 0);
        err_clear(&e);
        m.report.picture.width = 500;
        assert_false(writer_save(writer_find(refused[i].writer), &m.report, alone("kmeans"),
                                 "/dev/full", &e));
        expect_sentence(&e, ERR_FAILED, "cannot write '/dev/full': No space left on device");
    }
    made_close(&m);
}

/* The comment of a sheet is behind JFIF's own segment, which T.871 demands to be the first. */
TEST(comments)
{
    static const uint8_t rgb[16 * 8 * 3];
    struct jpeg plain, told = {.width = 16, .height = 8};
    struct err e = ERR_INIT;
    assert_true(jpeg_encode(rgb, 16, 8, 80, &plain, &e));
    FILE *f = open_memstream((char **)&told.data, &told.size);
    assert_true(jpeg_write(&plain, "made by hand", f));
    fclose(f);
    assert_int_equal(told.size, plain.size + strlen("made by hand\n") + 4);
    assert_memory_equal(told.data + 6, "JFIF", 5);
    assert_memory_equal(told.data + 20, "\xff\xfe\0\x0fmade by hand\n\xff", 18);
    jpeg_free(&plain);
    jpeg_free(&told);
    assert_null(told.data);
    jpeg_free(&told);
}

static uint32_t number(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

TEST(profile)
{
    uint8_t icc[ICC_SRGB_SIZE];
    icc_srgb_write(icc);
    assert_int_equal(number(icc), ICC_SRGB_SIZE);
    assert_memory_equal(icc + 36, "acsp", 4);
    uint32_t tags = number(icc + 128), sum[3] = {0};
    assert_int_equal(tags, 9);
    for (uint32_t t = 0; t < tags; t++) {
        const uint8_t *tag = icc + 132 + 12 * t;
        uint32_t at = number(tag + 4), size = number(tag + 8);
        assert_true(at % 4 == 0 && at >= 132 + 12 * tags && at + size <= ICC_SRGB_SIZE);
        for (int c = 0; memcmp(tag + 1, "XYZ", 3) == 0 && c < 3; c++)
            sum[c] += number(icc + at + 8 + 4 * (uint32_t)c);
        for (int i = 0; memcmp(tag + 1, "TRC", 3) == 0 && i < 256; i++)
            assert_int_equal(icc[at + 12 + 2 * (uint32_t)i] << 8 | icc[at + 13 + 2 * (uint32_t)i],
                             srgb_linear[i]);
    }
    for (int c = 0; c < 3; c++) /* white is D50 */
        assert_int_equal(sum[c], number(icc + 68 + 4 * c));
}

TEST_FIXTURE(enter, leave)
