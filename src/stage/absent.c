#include "absent.h"

#include <stdlib.h>

#include "nal_frame.h"
#include "nal_rps.h"
#include "timeline.h"

enum { KEPT_MOST = RPS_SHORT + RPS_LONG + 1 };

/* A picture that a decoder keeps. */
struct kept {
    int32_t order;
    bool gone;                /* it never came, and that is told already */
};

/* What HEVC needs. */
struct named {
    struct nal_rps_sets sets;
    struct kept kept[KEPT_MOST];
    int count;
    int32_t order;            /* prevTid0Pic's: 8.3.1                                           */
    bool begun;               /* a key came, so that what a decoder keeps is known              */
    bool ended;               /* by an end of sequence: the next key begins anew                */
    bool orphans;             /* what leads the last key may refer to what is not to come       */
};

/* What H.264 needs. */
struct numbered {
    bool known;               /* `last` is                                                      */
    bool fresh;               /* since the last cut, before which numbers are missing or none were, nothing came that may be referred to */
    bool torn;                /* since the last cut a number was left out                       */
    bool aside, right;        /* nothing refers to the last picture; behind such a one some picture had the right number */
    uint32_t last;            /* PrevRefFrameNum: 7.4.3                                         */
    uint64_t seen, gaps;      /* pictures; of them, those before which a number was left out, and that are no cuts */
    int64_t dts_us;           /* of the last packet                                              */
    int64_t last_us, usual_us;    /* from the one before it to that; what some in a row had alike, 0: none did */
    int alike;                /* so many in a row are about as long as the last one              */
};

struct absent {
    enum bitstream stream;
    struct numbered numbered;
    struct named named;
};

bool absent_open(struct absent **a, enum bitstream stream, struct err *e)
{
    *a = NULL;
    if (stream != STREAM_H264 && stream != STREAM_HEVC)
        return true;
    *a = calloc(1, sizeof **a);
    if (!*a)
        return err_memory(e, sizeof **a);
    (*a)->stream = stream;
    absent_jumped(*a);
    return true;
}

void absent_jumped(struct absent *a)
{
    if (!a)
        return;
    a->numbered = (struct numbered){.dts_us = TIME_NONE, .seen = a->numbered.seen, .gaps = a->numbered.gaps, .usual_us = a->numbered.usual_us};
    a->named.count = 0;
    a->named.begun = a->named.ended = a->named.orphans = false;
}

void absent_extradata(struct absent *a, const uint8_t *extradata, size_t size)
{
    if (a && a->stream == STREAM_HEVC)
        nal_rps_scan_extradata(&a->named.sets, extradata, size);
}

/* ------------------------------------------------------------------ H.264 */

/* One odd step, as at a film's start or where films are joined, tells nothing of the others. */
static void learn_usual(struct numbered *n, int64_t step)
{
    enum { IN_A_ROW = 3 };
    bool like = step >= n->last_us - n->last_us / 4 && step <= n->last_us + n->last_us / 4;
    n->alike = like && n->alike > 0 ? n->alike + 1 : 1;
    n->last_us = step;
    if (n->alike >= IN_A_ROW)
        n->usual_us = step;
}

/* Packets of the usual distance that would fit in before this one. */
static int64_t fit_before(struct numbered *n, int64_t dts_us)
{
    bool timed = dts_us != TIME_NONE && n->dts_us != TIME_NONE && dts_us > n->dts_us;
    int64_t step = timed ? dts_us - n->dts_us : 0, usual = n->usual_us;
    int64_t fit = step > 0 && usual > 0 ? (step + usual / 4) / usual - 1 : 0;
    n->dts_us = dts_us;
    if (step > 0)
        learn_usual(n, step);
    return fit > 0 ? fit : 0;
}

/*
 * A number is left out before a picture that is no cut. Some encoders count wrongly all along, so what happens often is taken for
 * loss only where there is a gap in time, and what happens all the time never; but the first few times are told, for a film may
 * begin with a loss. Some begin to count anew in pictures that refer to none, and films are joined there: these need a gap in time too.
 */
static bool is_loss(const struct numbered *n, bool intra, int64_t fit)
{
    enum { FEW = 3, OFTEN = 8, ALWAYS = 4 };
    bool habit = n->gaps > FEW, often = habit && n->gaps * OFTEN > n->seen, always = habit && n->gaps * ALWAYS > n->seen;
    return fit > 0 ? !always : !often && !intra;
}

static struct absent_sign count_on(struct numbered *n, const struct nal_frame *f, const struct nal_info *info, int64_t fit)
{
    struct absent_sign sign = {.hurts = false};
    uint32_t mask = f->most - 1, left_out = (f->frame_num - n->last - 1) & mask;
    bool gap = n->known && !f->idr && !f->gaps && f->frame_num != n->last && left_out > 0;
    n->seen++;
    if (info->cut != CUT_NONE) {
        /* What leads it may refer to what is gone. Where films were joined, number and time do not fit together. */
        sign.before = gap && left_out <= fit;
        n->fresh = !f->idr && (gap || !n->known);         /* nothing leads an IDR picture */
        n->torn = false;
    } else if (gap && !n->fresh) {
        /* Some encoders count pictures that nothing refers to as well. */
        bool habit = n->aside && !n->right && left_out == 1 && fit <= 0;
        n->gaps++;
        sign.before = !habit && is_loss(n, info->intra, fit);
        n->torn |= sign.before;
    }
    /* Editors leave out what leads a film's first key, and pictures may refer to some of that. */
    n->fresh &= info->cut != CUT_NONE || !f->reference;
    if (f->reference || !n->known)
        n->last = f->resets ? 0 : f->frame_num;
    else if (gap)
        n->last = (f->frame_num - 1) & mask;
    n->right |= n->known && n->aside && !gap && !f->idr;
    n->aside = !f->reference;
    n->known = true;
    sign.hurts = n->torn;
    return sign;
}

static struct absent_sign look_at_numbers(struct numbered *n, const struct nal_sets *sets, const struct absent_packet *p)
{
    struct absent_sign all = {.hurts = false};
    struct nal_frame f;
    int64_t fit = p->info->picture ? fit_before(n, p->dts_us) : 0;
    for (size_t at = 0; nal_frame_next(sets, p->length_size, p->data, p->size, &at, &f);) {
        if (f.most == 0) {
            n->known = false;
            break;
        }
        struct absent_sign sign = count_on(n, &f, p->info, fit);
        all.hurts |= sign.hurts;
        all.before |= sign.before;
        if (p->length_size == 0)              /* between start codes parsers found one picture; to look for more takes long */
            break;
    }
    all.hurts |= n->torn && p->info->picture;
    return all;
}

/* ------------------------------------------------------------------ HEVC */

/* The kept picture of this order count, or of these low bits of it where `mask` says so; NULL: none. */
static struct kept *find(struct named *n, int32_t order, uint32_t mask)
{
    for (int i = 0; i < n->count; i++)
        if ((((uint32_t)n->kept[i].order ^ (uint32_t)order) & mask) == 0)
            return &n->kept[i];
    return NULL;
}

/* A picture is named: it is kept on. One that never came hurts who uses it. */
static void name(struct named *n, int32_t order, uint32_t mask, bool used, struct kept *to, int *count, struct absent_sign *sign)
{
    struct kept *found = find(n, order, mask);
    if (!found && !used)                      /* an encoder may name more than there is, as long as none uses it */
        return;
    sign->before |= !found;
    sign->hurts |= used && (!found || found->gone);
    if (*count < KEPT_MOST - 1)
        to[(*count)++] = found ? *found : (struct kept){.order = order, .gone = true};
}

/* 8.3.2: what the slice names is kept, and nothing else. */
static struct absent_sign keep_named(struct named *n, const struct nal_rps_slice *s, int32_t order)
{
    struct absent_sign sign = {.hurts = false};
    struct kept kept[KEPT_MOST];
    int count = 0;
    for (int i = 0; i < s->near.count; i++)
        name(n, (int32_t)((uint32_t)order + (uint32_t)s->near.delta[i]), UINT32_MAX, s->near.used[i], kept, &count, &sign);
    for (int i = 0; i < s->longs; i++) {
        uint32_t far = s->far[i].order;
        if (s->far[i].whole)
            far += (uint32_t)order - s->far[i].cycles * s->range - ((uint32_t)order & (s->range - 1));
        name(n, (int32_t)far, s->far[i].whole ? UINT32_MAX : s->range - 1, s->far[i].used, kept, &count, &sign);
    }
    for (int i = 0; i < count; i++)
        n->kept[i] = kept[i];
    n->count = count;
    return sign;
}

/* 8.3.1 */
static int32_t order_of(const struct named *n, const struct nal_rps_slice *s, bool anew)
{
    uint32_t range = s->range, last = (uint32_t)n->order, low = last & (range - 1), high = anew ? 0 : last - low;
    if (!anew && s->order < low && low - s->order >= range / 2)
        high += range;
    else if (!anew && s->order > low && s->order - low > range / 2)
        high -= range;
    return (int32_t)(high + s->order);
}

static struct absent_sign look_at_names(struct named *n, const struct nal_rps_slice *s)
{
    struct absent_sign sign = {.hurts = false};
    bool key = s->type >= 16 && s->type <= 23, leads = s->type >= 6 && s->type <= 9;
    bool rasl = leads && s->type >= 8, idr = s->type == 19 || s->type == 20;
    bool anew = key && (!n->begun || s->type <= 20 || n->ended);
    if (!key && (!n->begun || (rasl && n->orphans)))
        return sign;
    int32_t order = order_of(n, s, anew);
    if (anew)
        n->count = 0;
    else
        sign = keep_named(n, s, order);
    /* Where a stream is cut before a CRA, some editors call all that leads it decodable, whatever it names. */
    if (key || (leads && n->orphans))
        sign = (struct absent_sign){.hurts = false};
    sign.before &= !leads;                    /* of a film that was cut here what leads the key has times that tell nothing */
    if (key) {
        n->begun = true;
        n->ended = false;
        n->orphans = anew && !idr;
    }
    n->kept[n->count++] = (struct kept){.order = order};
    bool unreferenced = s->type <= 14 && s->type % 2 == 0;
    if (s->temporal_id == 0 && !leads && !unreferenced)
        n->order = order;
    return sign;
}

static struct absent_sign look_at_slice(struct named *n, const struct absent_packet *p)
{
    struct nal_rps_slice slice;
    struct absent_sign sign = {.hurts = false};
    n->ended |= p->info->after_end || (!p->info->picture && p->info->ends);
    if (nal_rps_scan(&n->sets, p->length_size, p->data, p->size, &slice))
        sign = look_at_names(n, &slice);
    else if (p->info->picture)                /* what is kept now is not known */
        n->begun = false;
    n->ended |= p->info->picture && p->info->ends;
    return sign;
}

struct absent_sign absent_look(struct absent *a, const struct nal_sets *sets, const struct absent_packet *packet)
{
    if (!a)
        return (struct absent_sign){.hurts = false};
    return a->stream == STREAM_H264 ? look_at_numbers(&a->numbered, sets, packet) : look_at_slice(&a->named, packet);
}

void absent_close(struct absent **a)
{
    free(*a);
    *a = NULL;
}
