
#include "test.h"
#include "output/poster/poster.h"

TEST(names_and_sizes)
{
    static const struct {
        const char *text;
        enum strip_shape shape;
        const char *is;
    } table[] = {{"A2", SHAPE_STRIP, "594000x420000um"},
                 {"A2", SHAPE_RING, "420000x594000um"},
                 {"a2-PORTRAIT", SHAPE_STRIP, "420000x594000um"},
                 {"A2-landscape", SHAPE_VERTICAL, "594000x420000um"},
                 {"letter", SHAPE_VERTICAL, "215900x279400um"},
                 {"B0", SHAPE_STRIP, "1414000x1000000um"},
                 {"420x297mm", SHAPE_VERTICAL, "420000x297000um"},
                 {"42x29.7cm", SHAPE_STRIP, "420000x297000um"},
                 {"16.5x11.7in", SHAPE_STRIP, "419100x297180um"},
                 {"800x600", SHAPE_RING, "800x600px"},
                 {"40x40mm", SHAPE_STRIP, "40000x40000um"},
                 {"5000x250mm", SHAPE_STRIP, "5000000x250000um"},
                 {"65535x4000", SHAPE_STRIP, "65535x4000px"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct paper p;
        char text[PAPER_TEXT];
        if (!paper_parse(table[i].text, &p))
            fail_msg("'%s' is refused", table[i].text);
        assert_true(p.given);
        paper_text(&p, table[i].shape, text);
        assert_string_equal(text, table[i].is);
    }
}

TEST(what_is_none)
{
    static const char *const wrong[] = {"",
                                        "A",
                                        "A7",
                                        "A10",
                                        "A2-",
                                        "A2-sideways",
                                        "A2 ",
                                        "0x0",
                                        "800",
                                        "800x",
                                        "x600",
                                        "800x600px",
                                        "800x600 mm",
                                        "-800x600",
                                        "800.5x600",
                                        "39x100mm",
                                        "5001x1000mm",
                                        "1000x40mm",
                                        "159x400",
                                        "65536x4000",
                                        "99999999x1mm",
                                        "1e3x500",
                                        "800x600x2",
                                        ".5x3in",
                                        "5.x3in",
                                        "4000000x4000000mm",
                                        "Letterhead",
                                        "800x30"};
    struct paper p;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (paper_parse(wrong[i], &p))
            fail_msg("'%s' is taken", wrong[i]);
}

TEST(pixels)
{
    struct paper p = {0};
    int w, h;
    paper_pixels(&p, SHAPE_STRIP, 300, &w, &h); /* A3: 420 mm and 297 mm of 300 / 25.4 pixels */
    assert_int_equal(w, 4961);
    assert_int_equal(h, 3508);
    paper_pixels(&p, SHAPE_RING, 72, &w, &h);
    assert_int_equal(w, 842);
    assert_int_equal(h, 1191);
    assert_true(paper_parse("801x601", &p));
    paper_pixels(&p, SHAPE_STRIP, 300, &w, &h);
    assert_int_equal(w, 801);
    assert_int_equal(h, 601);
}
