#include "live_packets.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "barcode/base/clock.h"

/* More than a decoder can be behind and still catch up. */
enum { PACKETS_MOST = 512, BYTES_MOST = 64 << 20 };

struct entry {
    AVPacket *packet; /* allocated once */
    int64_t arrived_ns;
};

/* A ring. */
struct live_packets {
    pthread_mutex_t lock;
    pthread_cond_t came;
    struct entry entry[PACKETS_MOST];
    int first, count;
    int64_t bytes;
    bool skipping; /* up to the next key frame */
    bool ended;
    uint64_t dropped;
};

struct live_packets *live_packets_open(struct err *e)
{
    struct live_packets *p = err_calloc(1, sizeof *p, e);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    clock_steady_cond(&p->came);
    for (int i = 0; i < PACKETS_MOST; i++) {
        p->entry[i].packet = av_packet_alloc();
        if (!p->entry[i].packet) {
            live_packets_free(&p);
            err_memory(e, sizeof(AVPacket));
            return NULL;
        }
    }
    return p;
}

static void drop_all(struct live_packets *p)
{
    p->dropped += (uint64_t)p->count;
    for (; p->count > 0; p->count--, p->first = (p->first + 1) % PACKETS_MOST)
        av_packet_unref(p->entry[p->first].packet);
    p->bytes = 0;
    p->skipping = true;
}

bool live_packets_put(struct live_packets *p, AVPacket *packet, int64_t arrived_ns, struct err *e)
{
    pthread_mutex_lock(&p->lock);
    if (p->count == PACKETS_MOST || p->bytes + packet->size > BYTES_MOST)
        drop_all(p);
    p->skipping = p->skipping && !(packet->flags & AV_PKT_FLAG_KEY);
    bool ok = p->skipping || av_packet_make_refcounted(packet) == 0;
    if (p->skipping || !ok) {
        p->dropped++;
        av_packet_unref(packet);
    } else {
        struct entry *to = &p->entry[(p->first + p->count++) % PACKETS_MOST];
        p->bytes += packet->size;
        av_packet_move_ref(to->packet, packet);
        to->arrived_ns = arrived_ns;
        pthread_cond_signal(&p->came);
    }
    pthread_mutex_unlock(&p->lock);
    return ok || err_memory(e, 0);
}

bool live_packets_take(struct live_packets *p, AVPacket *to, int64_t *arrived_ns, int *waiting)
{
    const int64_t moment_ns = 1000000000;
    struct timespec until = clock_steady_deadline(moment_ns);
    int code = 0;
    pthread_mutex_lock(&p->lock);
    while (p->count == 0 && !p->ended && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&p->came, &p->lock, &until);
    bool any = p->count > 0;
    if (any) {
        struct entry *from = &p->entry[p->first];
        p->first = (p->first + 1) % PACKETS_MOST;
        p->count--;
        p->bytes -= from->packet->size;
        av_packet_move_ref(to, from->packet);
        *arrived_ns = from->arrived_ns;
    }
    *waiting = p->count;
    pthread_mutex_unlock(&p->lock);
    return any;
}

void live_packets_end(struct live_packets *p)
{
    pthread_mutex_lock(&p->lock);
    p->ended = true;
    pthread_cond_broadcast(&p->came);
    pthread_mutex_unlock(&p->lock);
}

bool live_packets_over(struct live_packets *p)
{
    pthread_mutex_lock(&p->lock);
    bool over = p->ended && p->count == 0;
    pthread_mutex_unlock(&p->lock);
    return over;
}

uint64_t live_packets_dropped(struct live_packets *p)
{
    pthread_mutex_lock(&p->lock);
    uint64_t dropped = p->dropped;
    pthread_mutex_unlock(&p->lock);
    return dropped;
}

void live_packets_free(struct live_packets **p)
{
    if (!*p)
        return;
    for (int i = 0; i < PACKETS_MOST; i++)
        av_packet_free(&(*p)->entry[i].packet);
    pthread_cond_destroy(&(*p)->came);
    pthread_mutex_destroy(&(*p)->lock);
    free(*p);
    *p = NULL;
}
