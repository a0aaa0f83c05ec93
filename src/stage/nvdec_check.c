#include "nvdec_check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/interrupt.h"
#include "barcode/log.h"

enum {
    PICTURES = 3,     /* the first that come out: what refers to another picture is among them */
    HANDED_OUT = 8,   /* so many of the run's first pictures all come out                     */
    TRIES = 16        /* runs that broke, after which no more is tried                         */
};

/* A picture on the host. */
struct seen {
    uint64_t serial;
    AVFrame *frame, *planes;      /* planes: view_of_frame's */
    struct frame_view view;
};

struct nvdec_check {
    const struct staging *staging;
    const struct nvdec *nvdec;    /* the GPU that is checked */
    pthread_mutex_t lock;         /* guards the next three; what follows is the session's that began, and its thread's */
    enum check_verdict verdict;
    bool busy;
    int tries;
    struct run *run;              /* the same packets, for the software decoder */
    pthread_t thread;
    struct seen hard[PICTURES], soft[PICTURES];
    int hards, softs;
};

struct nvdec_check *nvdec_check_open(const struct staging *s, const struct nvdec *n, struct err *e)
{
    struct nvdec_check *c = calloc(1, sizeof *c);
    if (!c) {
        err_memory(e, sizeof *c);
        return NULL;
    }
    c->staging = s;
    c->nvdec = n;
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static void forget(struct seen *seen, int *count)
{
    for (; *count > 0; --*count) {
        av_frame_free(&seen[*count - 1].frame);
        av_frame_free(&seen[*count - 1].planes);
    }
}

void nvdec_check_close(struct nvdec_check **c)
{
    if (!*c)
        return;
    pthread_mutex_destroy(&(*c)->lock);
    free(*c);
    *c = NULL;
}

/* ------------------------------------------------------------------ comparing */

enum { PIECE = 256 };     /* samples that are compared at a time */

/* Of a row, `step` bytes apart. Callers write the usual steps out, for which compilers make vectors. */
static inline void read_bytes(const uint8_t *at, int step, int count, uint16_t *out)
{
    for (int i = 0; i < count; i++)
        out[i] = at[(ptrdiff_t)i * step];
}

/* The same of samples that have more than 8 bits, the lowest of them `shift` bits up. */
static inline void read_words(const uint8_t *at, int step, int count, int shift, int bits, uint16_t *out)
{
    uint16_t wide;
    for (int i = 0; i < count; i++) {
        memcpy(&wide, at + (ptrdiff_t)i * step, sizeof wide);
        out[i] = (uint16_t)(wide >> shift & ((1 << bits) - 1));
    }
}

static void read_samples(const struct frame_view *v, const struct plane *p, int x, int y, int count, uint16_t *out)
{
    const uint8_t *at = p->data + (ptrdiff_t)y * p->pitch + (ptrdiff_t)x * p->step;
    if (v->bits <= 8 && p->step == 1)
        read_bytes(at, 1, count, out);
    else if (v->bits <= 8)
        read_bytes(at, p->step, count, out);
    else if (p->step == 2)
        read_words(at, 2, count, v->shift, v->bits, out);
    else
        read_words(at, p->step, count, v->shift, v->bits, out);
}

static unsigned plane_difference(const struct frame_view *a, const struct frame_view *b, int i)
{
    uint16_t p[PIECE], q[PIECE], worst = 0;
    for (int y = 0; y < a->plane[i].height; y++)
        for (int x = 0; x < a->plane[i].width; x += PIECE) {
            int left = a->plane[i].width - x, count = left < PIECE ? left : PIECE;
            read_samples(a, &a->plane[i], x, y, count, p);
            read_samples(b, &b->plane[i], x, y, count, q);
            for (int k = 0; k < count; k++) {
                uint16_t d = (uint16_t)(p[k] > q[k] ? p[k] - q[k] : q[k] - p[k]);
                worst = d > worst ? d : worst;
            }
        }
    return worst;
}

unsigned nvdec_check_difference(const struct frame_view *a, const struct frame_view *b)
{
    if (a->model != b->model || a->bits != b->bits || a->width != b->width || a->height != b->height ||
        a->matrix != b->matrix || a->range != b->range)
        return UINT_MAX;
    int planes = a->model == MODEL_GREY ? 1 : 3;
    unsigned worst = 0;
    for (int i = 0; i < planes; i++) {
        if (a->plane[i].width != b->plane[i].width || a->plane[i].height != b->plane[i].height)
            return UINT_MAX;
        unsigned d = plane_difference(a, b, i);
        worst = d > worst ? d : worst;
    }
    return worst;
}

/* ------------------------------------------------------------------ the software decoder */

static bool keep_picture(struct nvdec_check *c, AVFrame *frame, struct err *e)
{
    struct seen *seen = &c->soft[c->softs];
    *seen = (struct seen){.serial = (uint64_t)frame->pts, .frame = av_frame_clone(frame)};
    if (!seen->frame)
        return err_set(e, ERR_FAILED, "out of memory for a picture");
    c->softs++;
    return view_of_frame(seen->frame, c->staging->film, &seen->planes, &seen->view, e);
}

/* Takes what is ready; false on any error, for then there is nothing to compare with. */
static bool receive(struct nvdec_check *c, AVCodecContext *decoder, AVFrame *frame, struct err *e)
{
    while (c->softs < PICTURES) {
        int code = decoder_receive(decoder, frame);
        if (code < 0)
            return code == AVERROR(EAGAIN) || code == AVERROR_EOF;
        bool fine = keep_picture(c, frame, e);
        av_frame_unref(frame);
        if (!fine)
            return false;
    }
    return true;
}

/* False also when the decoder finds damage: decoders differ on damaged pictures. */
static bool decode(struct nvdec_check *c, AVCodecContext *decoder, struct damage_watch *watch, AVPacket *packet,
                   AVFrame *frame, struct err *e)
{
    decoder_fit_delay(decoder, &c->staging->traits, c->run);
    for (size_t i = 0; i < c->run->count && c->softs < PICTURES && !interrupted(); i++) {
        const struct picture *p = &c->run->picture[i];
        if (p->action == ACTION_SKIP)
            continue;
        if (!decoder_packet(packet, p, e))
            return false;
        int code = decoder_send(decoder, packet);
        av_packet_unref(packet);
        if (damage_found(watch, code) || code < 0 || !receive(c, decoder, frame, e))
            return false;
    }
    return decoder_send(decoder, NULL) >= 0 && receive(c, decoder, frame, e);
}

static void *software_main(void *check)
{
    struct nvdec_check *c = check;
    struct err e = ERR_INIT;
    AVCodecContext *decoder = decoder_open(c->staging->stream, c->staging->film->path, 1, &e);
    struct damage_watch watch = {0};
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    bool fine = decoder && packet && frame && damage_watch_open(&watch, decoder, false, &e);
    if (!fine || !decode(c, decoder, &watch, packet, frame, &e)) {
        log_msg(LOG_DEBUG, "'%s': nothing to compare the GPU's pictures with: %s", c->staging->film->path,
                e.text[0] ? e.text : "the software decoder refused the run");
        forget(c->soft, &c->softs);
    }
    av_frame_free(&frame);
    av_packet_free(&packet);
    decoder_close(&decoder);
    damage_watch_close(&watch);
    return NULL;
}

/* ------------------------------------------------------------------ one run */

/* Neither damaged nor one that a session gives up for its RADL pictures (session_nvdec.c, untrusted). */
static bool is_sound(const struct run *run)
{
    const struct picture *key = run->picture;
    for (size_t i = 0; i < run->count; i++) {
        const struct picture *p = &run->picture[i];
        key = i == 0 || p->cut == CUT_NONE ? key : NULL;
        if (p->lost || p->suspect || p->after_hole || nvdec_gives_up(key, p))
            return false;
    }
    return run->count > 0;
}

/* The same pictures, by reference; NULL: memory. */
static struct run *copy_of(const struct run *run)
{
    struct run *copy = calloc(1, sizeof *copy);
    for (size_t i = 0; copy && i < run->count; i++) {
        struct picture p = run->picture[i];
        p.packet = packet_clone(p.packet);
        if (!p.packet || !run_append(copy, &p, NULL)) {
            packet_free(&p.packet);
            run_free(&copy);
        }
    }
    return copy;
}

static void leave(struct nvdec_check *c, enum check_verdict verdict)
{
    pthread_mutex_lock(&c->lock);
    c->busy = false;
    c->verdict = verdict;
    pthread_mutex_unlock(&c->lock);
}

/*
 * What leads the first key, and is the run's before it to show, refers to pictures that are not here: it stays inside. H.264's
 * decoder calls it damaged, and the run would be broken for that.
 */
static void hand_out(struct run *run)
{
    int decoded = 0;
    bool first = true;
    for (size_t i = 0; i < run->count && decoded < HANDED_OUT; i++) {
        struct picture *p = &run->picture[i];
        first &= i == 0 || p->cut == CUT_NONE;
        decoded += p->action != ACTION_SKIP;
        if (p->action == ACTION_DECODE && !(first && p->leading) && !p->hidden)
            p->action = ACTION_OUTPUT;
    }
}

bool nvdec_check_begin(struct nvdec_check *c, struct run *run)
{
    if (!c || !is_sound(run))
        return false;
    pthread_mutex_lock(&c->lock);
    bool mine = !c->busy && c->verdict == CHECK_NONE && c->tries < TRIES;
    c->busy |= mine;
    c->tries += mine;
    pthread_mutex_unlock(&c->lock);
    if (!mine)
        return false;
    hand_out(run);
    c->run = copy_of(run);
    if (c->run && pthread_create(&c->thread, NULL, software_main, c) == 0)
        return true;
    run_free(&c->run);
    leave(c, CHECK_NONE);
    return false;
}

bool nvdec_check_take(struct nvdec_check *c, const AVCodecContext *decoder, const AVFrame *frame, struct err *e)
{
    if (c->hards == PICTURES)
        return true;
    const struct film *film = c->staging->film;
    bool device = nvdec_is_picture(frame);
    struct seen *seen = &c->hard[c->hards];
    *seen = (struct seen){.serial = (uint64_t)frame->pts, .frame = device ? av_frame_alloc() : av_frame_clone(frame)};
    if (!seen->frame)
        return err_set(e, ERR_FAILED, "out of memory for a picture");
    c->hards++;
    if (!device)
        return view_of_frame(seen->frame, film, &seen->planes, &seen->view, e);
    return nvdec_download(c->nvdec, frame, seen->frame, e) && nvdec_view(decoder, frame, seen->frame, film, &seen->view, e);
}

static enum check_verdict compare(const struct nvdec_check *c)
{
    enum check_verdict verdict = CHECK_NONE;
    for (int i = 0; i < c->hards; i++)
        for (int k = 0; k < c->softs; k++) {
            if (c->hard[i].serial != c->soft[k].serial)
                continue;
            unsigned worst = nvdec_check_difference(&c->hard[i].view, &c->soft[k].view);
            if (worst == 0) {
                verdict = CHECK_SAME;
                continue;
            }
            char how[64] = "in its shape or its colours";
            if (worst != UINT_MAX)
                snprintf(how, sizeof how, "by up to %u of %u", worst, (1u << c->hard[i].view.bits) - 1);
            log_msg(LOG_VERBOSE, "'%s': NVDEC's picture %llu is not the software decoder's, %s", c->staging->film->path,
                    (unsigned long long)c->hard[i].serial, how);
            return CHECK_DIFFERENT;
        }
    return verdict;
}

enum check_verdict nvdec_check_end(struct nvdec_check *c, bool whole)
{
    pthread_join(c->thread, NULL);
    enum check_verdict verdict = compare(c);
    /* What came out before a run broke must be right; what is not may have to do with why it broke. */
    if (!whole && verdict == CHECK_DIFFERENT)
        verdict = CHECK_NONE;
    forget(c->hard, &c->hards);
    forget(c->soft, &c->softs);
    run_free(&c->run);
    leave(c, verdict);
    return verdict;
}

enum check_verdict nvdec_check_verdict(const struct nvdec_check *c)
{
    return c->verdict;
}
