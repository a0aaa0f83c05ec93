#include <string.h>

#include "test.h"
#include "output/formats/base64.h"

/* RFC 4648, section 10, and bytes whose digits are + and /. */
TEST(the_standards_own)
{
    static const struct {
        const char *bytes, *text;
    } table[] = {{"", ""},
                 {"f", "Zg=="},
                 {"fo", "Zm8="},
                 {"foo", "Zm9v"},
                 {"foob", "Zm9vYg=="},
                 {"fooba", "Zm9vYmE="},
                 {"foobar", "Zm9vYmFy"},
                 {"\xfb\xef\xbe\xff\xff\xff", "++++////"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[32];
        memset(text, '!', sizeof text);
        size_t size = base64_encode(table[i].bytes, strlen(table[i].bytes), text);
        assert_int_equal(size, strlen(table[i].text));
        assert_memory_equal(text, table[i].text, size);
        assert_int_equal(text[size], '!');
    }
}

/* Pieces of three bytes put together are the whole. */
TEST(in_pieces)
{
    uint8_t bytes[256];
    char whole[344], pieces[344];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    assert_int_equal(base64_encode(bytes, sizeof bytes, whole), sizeof whole);
    size_t used = 0;
    for (size_t at = 0, size = 3; at < sizeof bytes; at += size, size += 3) {
        size = size < sizeof bytes - at ? size : sizeof bytes - at;
        used += base64_encode(bytes + at, size, pieces + used);
    }
    assert_int_equal(used, sizeof pieces);
    assert_memory_equal(pieces, whole, sizeof whole);
}
