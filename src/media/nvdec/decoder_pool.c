#include "nvdec.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "barcode/base/queue.h"

enum {
    DEVICES = 32,
    IDLE_FILMS = 8, /* films whose decoders may all be idle; fewer if memory is low */
    ANSWERS = 64    /* cached capability queries: the most recent ones */
};

/* The capabilities that the driver reported for one GPU and one kind of stream. */
struct answer {
    void *context;
    struct nvdec_caps caps;
};

/* A worker that waits until it may decode. */
struct waiter {
    struct waiter *next;
};

/* The workers in one CUDA context. */
struct device {
    void *context;
    int most, working;
    struct waiter *first; /* the next one that may decode */
};

struct decoders {
    bool several;         /* there are several films, and they may reuse one another's decoders */
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t left;
    struct device device[DEVICES];
    int devices;
    struct nvdec_decoder *idle;    /* the one that was returned last is first */
    struct nvdec_decoder *retired; /* not reusable; in the same order */
    /* guards the rest; held during a query: the driver handles one at a time anyway */
    pthread_mutex_t asking;
    struct answer answer[ANSWERS];
    unsigned answers; /* cached so far, evicted ones included */
};

struct decoders *decoders_open(bool several, struct err *e)
{
    struct decoders *d = err_calloc(1, sizeof *d, e);
    if (!d)
        return NULL;
    d->several = several;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->asking, NULL);
    pthread_cond_init(&d->left, NULL);
    return d;
}

static void destroy_decoder(struct nvdec_decoder **d)
{
    if (!*d)
        return;
    avcodec_free_context(&(*d)->context);
    avcodec_parameters_free(&(*d)->of);
    free(*d);
    *d = NULL;
}

static void destroy_decoders(struct nvdec_decoder **list)
{
    while (*list) {
        struct nvdec_decoder *one = *list;
        *list = one->next;
        destroy_decoder(&one);
    }
}

void decoders_free(struct decoders **d)
{
    if (!*d)
        return;
    destroy_decoders(&(*d)->idle);
    destroy_decoders(&(*d)->retired);
    pthread_cond_destroy(&(*d)->left);
    pthread_mutex_destroy(&(*d)->asking);
    pthread_mutex_destroy(&(*d)->lock);
    free(*d);
    *d = NULL;
}

/* Returns true if n's decoders may be pooled: nvdec.film_device ends with the film. */
static bool has_pool(const struct decoders *pool, const struct nvdec *n)
{
    return pool && !n->film_device;
}

bool nvdec_pool_is_shared(const struct decoders *pool) { return pool && pool->several; }

/* The caller holds pool->asking. */
static const struct answer *find_answer(const struct decoders *pool, const void *context,
                                        const struct nvdec_caps *question)
{
    for (unsigned i = 0; i < pool->answers && i < ANSWERS; i++) {
        const struct answer *a = &pool->answer[i];
        if (a->context == context && a->caps.codec == question->codec &&
            a->caps.chroma == question->chroma && a->caps.bits_above_8 == question->bits_above_8)
            return a;
    }
    return NULL;
}

bool nvdec_pool_ask(struct decoders *pool, const struct nvdec *n, struct nvdec_caps *caps,
                    nvdec_ask *ask, struct err *e)
{
    if (!has_pool(pool, n))
        return ask(n, caps, e);
    pthread_mutex_lock(&pool->asking);
    const struct answer *known = find_answer(pool, n->context, caps);
    bool answered = true;
    if (known) {
        *caps = known->caps;
    } else {
        answered = ask(n, caps, e);
        if (answered)
            pool->answer[pool->answers++ % ANSWERS] = (struct answer){n->context, *caps};
    }
    pthread_mutex_unlock(&pool->asking);
    return answered;
}

/* Returns the device of n's context; NULL: too many. The caller holds the lock. */
static struct device *find_device(struct decoders *pool, const struct nvdec *n)
{
    for (int i = 0; i < pool->devices; i++)
        if (pool->device[i].context == n->context)
            return &pool->device[i];
    if (pool->devices == DEVICES)
        return NULL;
    pool->device[pool->devices] = (struct device){.context = n->context, .most = nvdec_workers(n)};
    return &pool->device[pool->devices++];
}

static bool is_pointless(struct decode_pass *s)
{
    return decode_pass_stopped(s) || queue_is_over(s->chunks);
}

static void remove_waiter(struct device *device, const struct waiter *w)
{
    struct waiter **at = &device->first;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
}

bool nvdec_pool_enter(struct decoders *pool, const struct nvdec *n, struct decode_pass *s)
{
    if (!has_pool(pool, n))
        return true;
    pthread_mutex_lock(&pool->lock);
    struct device *device = find_device(pool, n);
    struct waiter waiter = {NULL}, **last = device ? &device->first : NULL;
    while (last && *last)
        last = &(*last)->next;
    bool pointless = false;
    if (device) {
        *last = &waiter;
        device->most = nvdec_workers(n);
        pointless = is_pointless(s);
        while (!pointless && (device->working >= device->most || device->first != &waiter)) {
            /* a stopped film does not signal this condition */
            struct timespec until = clock_deadline(100000000);
            pthread_cond_timedwait(&pool->left, &pool->lock, &until);
            pointless = is_pointless(s);
        }
        remove_waiter(device, &waiter);
        device->working += !pointless;
        pthread_cond_broadcast(&pool->left);
    }
    pthread_mutex_unlock(&pool->lock);
    return !pointless;
}

void nvdec_pool_leave(struct decoders *pool, const struct nvdec *n)
{
    if (!has_pool(pool, n))
        return;
    pthread_mutex_lock(&pool->lock);
    struct device *device = find_device(pool, n);
    if (device)
        device->working--;
    pthread_cond_broadcast(&pool->left);
    pthread_mutex_unlock(&pool->lock);
}

static bool has_same_extradata(const AVCodecParameters *a, const AVCodecParameters *b)
{
    if (a->extradata_size != b->extradata_size)
        return false;
    size_t size = (size_t)a->extradata_size;
    return size == 0 || memcmp(a->extradata, b->extradata, size) == 0;
}

enum { STREAM_NUMBERS = 18 };

/* Lists all that avcodec_parameters_to_context copies of a video stream, except its bit rate. */
static void list_numbers(const AVCodecParameters *p, int64_t number[STREAM_NUMBERS])
{
    const int64_t all[STREAM_NUMBERS] = {p->codec_id,
                                         p->codec_tag,
                                         p->format,
                                         p->width,
                                         p->height,
                                         p->profile,
                                         p->level,
                                         p->field_order,
                                         p->color_range,
                                         p->color_primaries,
                                         p->color_trc,
                                         p->color_space,
                                         p->chroma_location,
                                         p->video_delay,
                                         p->bits_per_coded_sample,
                                         p->bits_per_raw_sample,
                                         p->sample_aspect_ratio.num,
                                         p->sample_aspect_ratio.den};
    memcpy(number, all, sizeof all);
}

static bool is_same_stream(const AVCodecParameters *a, const AVCodecParameters *b)
{
    int64_t number_a[STREAM_NUMBERS], number_b[STREAM_NUMBERS];
    list_numbers(a, number_a);
    list_numbers(b, number_b);
    return memcmp(number_a, number_b, sizeof number_a) == 0 && has_same_extradata(a, b);
}

/* Removes the first decoder for `stream`, or the last of any (NULL). The caller has the lock. */
static struct nvdec_decoder *remove_decoder(struct nvdec_decoder **list, const void *context,
                                            const AVCodecParameters *stream)
{
    struct nvdec_decoder **at = list, **found = NULL;
    for (; *at; at = &(*at)->next)
        if ((*at)->device == context && (!stream || is_same_stream((*at)->of, stream))) {
            found = at;
            if (stream)
                break;
        }
    if (!found)
        return NULL;
    struct nvdec_decoder *d = *found;
    *found = d->next;
    d->next = NULL;
    return d;
}

/* Counts the idle decoders in n's context. The caller holds the lock. */
static int count_idle(const struct decoders *pool, const struct nvdec *n)
{
    int idle = 0;
    for (const struct nvdec_decoder *d = pool->idle; d; d = d->next)
        idle += d->device == n->context;
    return idle;
}

/* Moves the last decoder of n's context from a list to `*to`. Returns false if there is none. */
static bool move_decoder(struct nvdec_decoder **list, const struct nvdec *n,
                         struct nvdec_decoder **to)
{
    struct nvdec_decoder *one = remove_decoder(list, n->context, NULL);
    if (!one)
        return false;
    one->next = *to;
    *to = one;
    return true;
}

/* Removes a retired decoder, which takes time, or all if memory is low. The caller has the lock. */
static struct nvdec_decoder *remove_unused(struct decoders *pool, const struct nvdec *n)
{
    struct nvdec_decoder *found = NULL;
    bool tight = (pool->retired || pool->idle) && nvdec_is_memory_low(n);
    bool more = move_decoder(&pool->retired, n, &found);
    while (tight && more)
        more = move_decoder(&pool->retired, n, &found);
    bool too_many = !found && count_idle(pool, n) >= IDLE_FILMS * nvdec_workers(n);
    if (tight || too_many)
        move_decoder(&pool->idle, n, &found);
    return found;
}

/* Returns an idle decoder, or NULL and in *out_of_use those to destroy before one is created. */
static struct nvdec_decoder *find_decoder(struct decoders *pool, const struct nvdec *n,
                                          const AVStream *stream, struct nvdec_decoder **out_of_use)
{
    pthread_mutex_lock(&pool->lock);
    struct nvdec_decoder *d = remove_decoder(&pool->idle, n->context, stream->codecpar);
    *out_of_use = d ? NULL : remove_unused(pool, n);
    pthread_mutex_unlock(&pool->lock);
    return d;
}

static struct nvdec_decoder *make_decoder(const struct nvdec *n, const AVStream *stream,
                                          struct err *e)
{
    struct nvdec_decoder *d = err_calloc(1, sizeof *d, e);
    if (!d)
        return NULL;
    d->device = n->context;
    d->of = avcodec_parameters_alloc();
    if (!d->of || avcodec_parameters_copy(d->of, stream->codecpar) < 0)
        err_set(e, ERR_MEMORY, "out of memory for a decoder");
    else
        d->context = nvdec_decoder_open(n, stream, e);
    if (!d->context)
        destroy_decoder(&d);
    return d;
}

struct nvdec_decoder *nvdec_pool_take(struct decoders *pool, const struct nvdec *n,
                                      const AVStream *stream, struct err *e)
{
    struct nvdec_decoder *out_of_use = NULL, *d = NULL;
    if (has_pool(pool, n))
        d = find_decoder(pool, n, stream, &out_of_use);
    destroy_decoders(&out_of_use);
    return d ? d : make_decoder(n, stream, e);
}

bool nvdec_pool_refresh(const struct nvdec_decoder *d, AVPacket *packet, struct err *e)
{
    size_t size = (size_t)d->of->extradata_size;
    if (d->films == 0 || size == 0)
        return true;
    uint8_t *to = av_packet_new_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, size);
    if (!to)
        return err_set(e, ERR_MEMORY, "out of memory for a packet");
    memcpy(to, d->of->extradata, size);
    return true;
}

void nvdec_pool_give(struct decoders *pool, const struct nvdec *n, struct nvdec_decoder **d,
                     bool reusable)
{
    struct nvdec_decoder *one = *d;
    *d = NULL;
    if (!one)
        return;
    one->context->opaque = NULL; /* the worker's corruption watch */
    bool reused = reusable && nvdec_pool_is_shared(pool);
    if (!has_pool(pool, n) || (!reused && nvdec_is_memory_low(n))) {
        destroy_decoder(&one);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    struct nvdec_decoder **list = reusable ? &pool->idle : &pool->retired;
    one->films++;
    one->next = *list;
    *list = one;
    pthread_mutex_unlock(&pool->lock);
}
