#include "test.h"
#include "cache/cache_store.h"

/* Where the film is read, what the film can; where it is not, nothing. */
TEST(abilities)
{
    static const struct source_ops able = {
        .name = "able", .can = SOURCE_HAS_FRAME_TIMES | SOURCE_SPARING | SOURCE_EXACT_DAMAGE};
    struct source film = {.ops = &able};
    for (enum cache_answer answer = CACHE_PARTIAL; answer <= CACHE_HIT_OTHER; answer++) {
        struct cache_found found = {.answer = answer};
        for (int exact_damage = 0; exact_damage < 2; exact_damage++) {
            film.lacks = exact_damage ? 0 : SOURCE_EXACT_DAMAGE;
            struct source *s = source_cache_open(&film, &found, NULL);
            assert_non_null(s);
            assert_int_equal(source_can(s, SOURCE_HAS_FRAME_TIMES), answer == CACHE_PARTIAL);
            assert_int_equal(source_can(s, SOURCE_EXACT_DAMAGE),
                             answer == CACHE_PARTIAL && exact_damage);
            assert_false(source_can(s, SOURCE_SPARING) || source_can(s, SOURCE_CACHEABLE) ||
                         source_can(s, SOURCE_RESTARTABLE));
            source_close(&s);
        }
    }
}
