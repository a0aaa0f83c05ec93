/* test_av_log.c - whose reader hears what libav says. */
#include <pthread.h>

#include "test.h"
#include "media/ffmpeg/libav.h"

static const AVClass demuxer = {.class_name = "demuxer",
                                .item_name = av_default_item_name,
                                .version = LIBAVUTIL_VERSION_INT,
                                .category = AV_CLASS_CATEGORY_DEMUXER};

static void *complain_elsewhere(void *context)
{
    av_log(context, AV_LOG_ERROR, "of another film\n");
    return NULL;
}

/* Errors of demuxers go to the reader that the thread works for, and to none when it works for
 * none. */
TEST(errors_are_the_readers)
{
    static const AVClass other = {.class_name = "muxer",
                                  .item_name = av_default_item_name,
                                  .version = LIBAVUTIL_VERSION_INT,
                                  .category = AV_CLASS_CATEGORY_MUXER};
    const AVClass *says = &demuxer, *is_no_demuxer = &other;
    struct av_log_counts outer = {0}, inner = {0};
    pthread_t thread;
    av_log_install();
    av_log_install();
    assert_null(av_log_listen(&outer));
    av_log(&says, AV_LOG_ERROR, "damage\n");
    av_log(&says, AV_LOG_WARNING, "no damage\n");
    av_log(&is_no_demuxer, AV_LOG_ERROR, "no damage\n");
    assert_int_equal(outer.errors, 1);
    assert_ptr_equal(av_log_listen(&inner), &outer);
    av_log(&says, AV_LOG_FATAL, "damage\n");
    assert_int_equal(pthread_create(&thread, NULL, complain_elsewhere, &says), 0);
    pthread_join(thread, NULL);
    assert_ptr_equal(av_log_listen(&outer), &inner);
    av_log(&says, AV_LOG_ERROR, "damage\n");
    assert_ptr_equal(av_log_listen(NULL), &outer);
    av_log(&says, AV_LOG_ERROR, "damage\n");
    assert_int_equal(outer.errors, 2);
    assert_int_equal(inner.errors, 1);
}

/* The first part of a list that cannot be opened, and the counts of what was read ahead. */
TEST(parts_and_counts_of_others)
{
    const AVClass *says = &demuxer;
    struct av_log_counts ahead = {0}, now = {.errors = 2};
    av_log_install();
    av_log_add(&ahead); /* nobody listens */
    av_log_listen(&ahead);
    av_log(&says, AV_LOG_ERROR, "Impossible to open '%s'\n", "file:a/b.ts");
    av_log(&says, AV_LOG_ERROR, "Impossible to open '%s'\n", "c.ts");
    assert_string_equal(ahead.unopened, "a/b.ts");
    av_log_listen(&now);
    av_log_add(&ahead);
    av_log_listen(NULL);
    assert_int_equal(now.errors, 4);
    assert_string_equal(now.unopened, "a/b.ts");
}
