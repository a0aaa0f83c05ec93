#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test.h"
#include "media/nvdec/nvdec.h"
#include "barcode/base/queue.h"

/* Software stands in for NVDEC: a decoder is one all the same. */
static struct nvdec nvdec = {.engines = 1};
static struct decoders *pool;
static AVStream stream;
static struct err e;

static AVStream *stream_of(AVStream *to, int width, const char *extradata)
{
    AVCodecParameters *par = avcodec_parameters_alloc();
    size_t size = strlen(extradata);
    assert_non_null(par);
    par->codec_type = AVMEDIA_TYPE_VIDEO;
    par->codec_id = AV_CODEC_ID_VP9;
    par->width = width;
    par->height = 64;
    par->extradata = av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE);
    par->extradata_size = (int)size;
    memcpy(par->extradata, extradata, size);
    *to = (AVStream){.codecpar = par, .time_base = {1, 25}};
    return to;
}

FIXTURE(begin)
{
    err_clear(&e);
    pool = decoders_open(true, &e);
    return pool ? 0 : -1;
}

FIXTURE(end)
{
    decoders_free(&pool);
    avcodec_parameters_free(&stream.codecpar);
    return 0;
}

TEST_WITH(a_decoder_goes_from_film_to_film, begin, end)
{
    AVStream one, same, wider, other;
    struct nvdec_decoder *d = nvdec_pool_take(pool, &nvdec, stream_of(&one, 96, "abc"), &e);
    assert_non_null(d);
    AVCodecContext *context = d->context;
    context->opaque = &one;
    assert_int_equal(nvdec_pool_base(d), 0);
    nvdec_pool_give(pool, &nvdec, &d, true);
    assert_null(d);
    nvdec_pool_give(pool, &nvdec, &d, true);
    struct nvdec_decoder *w = nvdec_pool_take(pool, &nvdec, stream_of(&wider, 98, "abc"), &e);
    struct nvdec_decoder *o = nvdec_pool_take(pool, &nvdec, stream_of(&other, 96, "abd"), &e);
    assert_true(w->context != context && o->context != context);
    d = nvdec_pool_take(pool, &nvdec, stream_of(&same, 96, "abc"), &e);
    assert_ptr_equal(d->context, context);
    assert_null(context->opaque); /* the worker's watch is gone with it */
    assert_true(nvdec_pool_base(d) > INT32_MAX);
    struct nvdec_decoder *next = nvdec_pool_take(pool, &nvdec, &same, &e);
    assert_true(next->context != context); /* that one is in use */
    nvdec_pool_give(pool, &nvdec, &next, false);
    nvdec_pool_give(pool, &nvdec, &w, true);
    nvdec_pool_give(pool, &nvdec, &o, true);
    nvdec_pool_give(pool, &nvdec, &d, true);
    decoders_free(&pool);
    assert_null(pool);
    decoders_free(&pool);
    AVStream *all[] = {&one, &same, &wider, &other};
    for (int i = 0; i < 4; i++)
        avcodec_parameters_free(&all[i]->codecpar);
}

/* It comes when a decoder is destroyed. */
static void count(void *destroyed, uint8_t *data)
{
    ++*(int *)destroyed;
    av_free(data);
}

static struct nvdec_decoder *counted(int *destroyed)
{
    struct nvdec_decoder *d = nvdec_pool_take(pool, &nvdec, &stream, &e);
    assert_non_null(d);
    av_buffer_unref(&d->context->hw_device_ctx);
    d->context->hw_device_ctx = av_buffer_create(av_malloc(1), 1, count, destroyed, 0);
    assert_non_null(d->context->hw_device_ctx);
    return d;
}

/* The driver takes its time to destroy one: no film waits for it, and there are never more of them
 * than were at work. */
TEST_WITH(a_spent_decoder_goes_when_another_comes, begin, end)
{
    int destroyed = 0, gpu;
    const struct nvdec other = {.context = &gpu};
    stream_of(&stream, 96, "abc");
    struct nvdec_decoder *first = counted(&destroyed), *second = counted(&destroyed);
    nvdec_pool_give(pool, &nvdec, &second, true);
    AVCodecContext *retired = first->context;
    nvdec_pool_give(pool, &nvdec, &first, false);
    assert_int_equal(destroyed, 0);
    second = nvdec_pool_take(pool, &nvdec, &stream, &e);
    assert_ptr_not_equal(second->context, retired);
    first = nvdec_pool_take(pool, &other, &stream, &e); /* another GPU's */
    assert_int_equal(destroyed, 0);
    struct nvdec_decoder *third = counted(&destroyed);
    assert_int_equal(destroyed, 1);
    nvdec_pool_give(pool, &nvdec, &third, false);
    nvdec_pool_give(pool, &nvdec, &second, false);
    nvdec_pool_give(pool, &other, &first, true);
    assert_int_equal(destroyed, 1);
    decoders_free(&pool);
    assert_int_equal(destroyed, 3);
}

/* The first packet of a decoder that another film used brings the parameter sets. */
TEST_WITH(extradata_comes_again, begin, end)
{
    size_t size = 0;
    AVPacket *packet = av_packet_alloc();
    struct nvdec_decoder *d = nvdec_pool_take(pool, &nvdec, stream_of(&stream, 96, "sets"), &e);
    assert_true(nvdec_pool_refresh(d, packet, &e));
    assert_null(av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, NULL));
    nvdec_pool_give(pool, &nvdec, &d, true);
    d = nvdec_pool_take(pool, &nvdec, &stream, &e);
    assert_true(nvdec_pool_refresh(d, packet, &e));
    assert_memory_equal(av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size), "sets",
                        4);
    assert_int_equal(size, 4);
    av_packet_free(&packet);
    nvdec_pool_give(pool, &nvdec, &d, true);
}

/* ------------------------------------------------------------------ places */

struct decode_worker {
    struct decode_pass pass;
    atomic_int *turn;
    int came; /* as which one it got a place; 0: none */
    pthread_t thread;
};

static void *wait_for_a_place(void *argument)
{
    struct decode_worker *s = argument;
    if (nvdec_pool_enter(pool, &nvdec, &s->pass))
        s->came = atomic_fetch_add(s->turn, 1) + 1;
    return NULL;
}

/* For a thread to begin to wait, which nothing tells. */
static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); }

static void wait_until(atomic_int *turn, int value)
{
    for (int i = 0; i < 300 && atomic_load(turn) != value; i++)
        nap();
    assert_int_equal(atomic_load(turn), value);
}

static void begin_worker(struct decode_worker *s, atomic_int *turn)
{
    *s = (struct decode_worker){.turn = turn};
    s->pass.chunks = queue_open(1, NULL, NULL);
    assert_int_equal(pthread_create(&s->thread, NULL, wait_for_a_place, s), 0);
    nap();
}

/* One engine has places for two sessions. The others come in their order, but for those whose film
 * needs them no longer. */
TEST_WITH(places_in_order, begin, end)
{
    struct decode_worker s[6];
    atomic_int turn = 0;
    for (int i = 0; i < 6; i++)
        begin_worker(&s[i], &turn);
    wait_until(&turn, 2);
    queue_close(s[2].pass.chunks);
    atomic_store(&s[4].pass.stop, true);
    for (int i = 0; i < 2; i++) {
        nvdec_pool_leave(pool, &nvdec);
        wait_until(&turn, 3 + i);
    }
    for (int i = 0; i < 6; i++)
        pthread_join(s[i].thread, NULL);
    const int came[6] = {1, 2, 0, 3, 0, 4};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(s[i].came, came[i]);
        queue_free(&s[i].pass.chunks);
    }
    nvdec_pool_leave(pool, &nvdec);
    nvdec_pool_leave(pool, &nvdec);
}

TEST_WITH(a_film_alone_waits_for_nobody, begin, end)
{
    struct decode_pass none = {0};
    for (int i = 0; i < 9; i++)
        assert_true(nvdec_pool_enter(NULL, &nvdec, &none));
    struct nvdec_decoder *d = nvdec_pool_take(NULL, &nvdec, stream_of(&stream, 96, ""), &e);
    assert_non_null(d);
    nvdec_pool_give(NULL, &nvdec, &d, true);
    assert_null(d);
    nvdec_pool_leave(NULL, &nvdec);
}

static atomic_int asked;
static bool driver_is_there = true;

static bool ask(const struct nvdec *n, struct nvdec_caps *caps, struct err *why)
{
    if (!driver_is_there)
        return err_set(why, ERR_ENGINE, "no driver");
    atomic_fetch_add(&asked, 1);
    if (caps->codec == 7) /* others come meanwhile */
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    caps->supported = caps->codec != 11;
    caps->engines = n->context ? 7 : 1;
    return true;
}

/* The driver is asked once a kind of stream and GPU, whatever it says, and again if it did not
 * answer. */
TEST_WITH(the_driver_is_asked_once, begin, end)
{
    int gpu;
    struct nvdec other = {.context = &gpu},
                 own = {.context = &gpu, .film_device = (AVBufferRef *)&gpu};
    const struct nvdec_caps of[] = {{.codec = 4, .chroma = 1},
                                    {.codec = 8, .chroma = 1},
                                    {.codec = 8, .chroma = 1, .bits_above_8 = 2},
                                    {.codec = 8, .chroma = 3},
                                    {.codec = 11, .chroma = 1}};
    struct nvdec_caps caps = of[0];
    driver_is_there = false;
    assert_false(nvdec_pool_ask(pool, &nvdec, &caps, ask, &e));
    assert_int_equal(e.code, ERR_ENGINE);
    err_clear(&e);
    driver_is_there = true;
    atomic_store(&asked, 0);
    for (int film = 0; film < 3; film++) {
        for (int i = 0; i < 10; i++) {
            caps = of[i / 2];
            assert_true(nvdec_pool_ask(pool, i % 2 == 1 ? &other : &nvdec, &caps, ask, &e));
            assert_int_equal(caps.supported, i / 2 < 4);
            assert_int_equal(caps.engines, i % 2 == 1 ? 7 : 1);
            assert_int_equal(caps.codec, of[i / 2].codec);
            assert_int_equal(caps.chroma, of[i / 2].chroma);
        }
        assert_int_equal(atomic_load(&asked), 10);
    }
    caps = of[1];
    /* a context of a film's own is another's tomorrow */
    assert_true(nvdec_pool_ask(pool, &own, &caps, ask, &e));
    assert_true(nvdec_pool_ask(NULL, &nvdec, &caps, ask, &e));
    assert_int_equal(atomic_load(&asked), 12);
    for (int i = 0; i < 200; i++) { /* the last ones are kept */
        caps = (struct nvdec_caps){.codec = 100 + i};
        assert_true(nvdec_pool_ask(pool, &nvdec, &caps, ask, &e));
        assert_true(nvdec_pool_ask(pool, &nvdec, &caps, ask, &e));
    }
    assert_int_equal(atomic_load(&asked), 212);
}

static void *ask_too(void *argument)
{
    struct nvdec_caps caps = {.codec = 7, .chroma = 1};
    struct err why = ERR_INIT;
    (void)argument;
    assert_true(nvdec_pool_ask(pool, &nvdec, &caps, ask, &why));
    assert_int_equal(caps.engines, 1);
    return NULL;
}

TEST_WITH(films_that_begin_together_ask_once, begin, end)
{
    pthread_t thread[8];
    atomic_store(&asked, 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, ask_too, NULL), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(atomic_load(&asked), 1);
}
