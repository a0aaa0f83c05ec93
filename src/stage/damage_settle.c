/*
 * damage_settle.c - HEVC's pictures that a decoder's threads are at work on, or may be: whether blocks are missing in one can be seen
 * once it is decoded, and has to be seen before a picture that refers to it is used. Those that are never put out are looked at too.
 */
#include <stdlib.h>

#include "av.h"

/* Threads, pictures that wait to be displayed, and those that are not wanted in between; were it too few, the run is in doubt. */
enum { PICTURES_MOST = 128 };

struct damage_settle {
    pthread_mutex_t lock;
    AVFrame *picture[PICTURES_MOST];
    size_t count;
    bool overflown;
};

struct damage_settle *damage_settle_open(struct err *e)
{
    struct damage_settle *s = calloc(1, sizeof *s);
    if (!s) {
        err_memory(e, sizeof *s);
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

/* Later pictures of a packet stand in for references that are missing, which the decoder tells. With the lock held. */
static bool has_picture_of(const struct damage_settle *s, int64_t serial)
{
    for (size_t i = s->count; i-- > 0;)
        if (s->picture[i]->pts == serial)
            return true;
    return false;
}

int damage_settle_add(struct damage_settle *s, const AVFrame *frame)
{
    AVFrame *mine = av_frame_clone(frame);
    if (!mine)
        return AVERROR(ENOMEM);
    pthread_mutex_lock(&s->lock);
    bool again = has_picture_of(s, mine->pts);
    s->overflown |= mine->pts == AV_NOPTS_VALUE || (!again && s->count == PICTURES_MOST);
    bool kept = !again && s->count < PICTURES_MOST;
    if (kept)
        s->picture[s->count++] = mine;
    pthread_mutex_unlock(&s->lock);
    if (!kept)
        av_frame_free(&mine);
    return 0;
}

bool damage_settle_look(struct damage_settle *s, int64_t serial, const struct damage_watch *w)
{
    pthread_mutex_lock(&s->lock);
    bool unfinished = s->overflown;
    size_t left = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->picture[i]->pts > serial) {
            s->picture[left++] = s->picture[i];
            continue;
        }
        unfinished = unfinished || damage_unfinished(w, s->picture[i]);
        av_frame_free(&s->picture[i]);
    }
    s->count = left;
    pthread_mutex_unlock(&s->lock);
    return unfinished;
}

void damage_settle_clear(struct damage_settle *s)
{
    while (s->count > 0)
        av_frame_free(&s->picture[--s->count]);
    s->overflown = false;
}

void damage_settle_free(struct damage_settle **s)
{
    if (!*s)
        return;
    damage_settle_clear(*s);
    pthread_mutex_destroy(&(*s)->lock);
    free(*s);
    *s = NULL;
}
