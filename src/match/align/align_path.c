#include "align_path.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/sound/spectrogram.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "sound/film_sound.h"
#include "sound/landmarks.h"

/* ---- The peaks of a film at another speed ---- */

enum {
    FRAMES_MOST = 1 << LANDMARK_TIME_BITS,
    QUIET = 200 /* 0.1 LU below the film's loudness */
};

static int compare_peaks(const void *x, const void *y)
{
    const struct peak *a = x, *b = y;
    if (a->frame != b->frame)
        return a->frame < b->frame ? -1 : 1;
    return a->bin != b->bin ? (a->bin < b->bin ? -1 : 1) : a->wide - b->wide;
}

/* Returns round(value * num / den). */
static uint32_t scale(uint32_t value, uint32_t num, uint32_t den)
{
    return (uint32_t)(((uint64_t)value * num + den / 2) / den);
}

/* Points outside of the spectrogram, which only a wrong file has, are left out. */
static void copy_points(const struct align_sound *sound, bool wide, struct align_speed speed,
                        struct align_peaks *out)
{
    for (size_t i = 0; i < sound->peaks; i++) {
        struct peak p = sound->peak[i];
        if (wide && !p.wide)
            continue;
        uint32_t frame = scale(p.frame, speed.num, speed.den);
        uint32_t bin = speed.same_pitch ? p.bin : scale(p.bin, speed.den, speed.num);
        if (frame < out->frames && bin < SPECTROGRAM_BINS)
            out->point[out->count++] = (struct peak){frame, (uint16_t)bin, p.wide};
    }
}

/* Returns true if a film is quiet in a frame. The least loudness is that of EBU 3342's gate. */
static bool is_quiet(const struct film_sound *film, uint32_t frame)
{
    if (!film || film->rows == 0 || film->hops == 0)
        return false;
    size_t row = frame / film->hops;
    row = row < film->rows ? row : film->rows - 1;
    return film->row[row].loudness + QUIET < film->loudness;
}

/* Sets the indices by frame. */
static void make_index(const struct film_sound *film, struct align_speed speed,
                       struct align_peaks *out)
{
    size_t n = 0, loud = 0;
    for (uint32_t frame = 0; frame < out->frames; frame++) {
        out->start[frame] = (uint32_t)n;
        out->loud[frame] = (uint32_t)loud;
        while (n < out->count && out->point[n].frame == frame)
            n++;
        if (!is_quiet(film, scale(frame, speed.den, speed.num)))
            loud += n - out->start[frame];
    }
    out->start[out->frames] = (uint32_t)n;
    out->loud[out->frames] = (uint32_t)loud;
}

bool align_peaks_make(const struct align_sound *sound, bool wide, struct align_speed speed,
                      struct align_peaks *out, struct err *e)
{
    *out = (struct align_peaks){0};
    size_t frames = spectrogram_frames(sound->samples);
    frames = frames < FRAMES_MOST ? frames : FRAMES_MOST;
    out->frames = scale((uint32_t)frames, speed.num, speed.den);
    /* After a larger change, values are rounded to other frames and bins. */
    out->reach = abs(speed.num - speed.den) * 500 > speed.den;
    out->point = err_calloc(sound->peaks + 1, sizeof *out->point, e);
    out->start = out->point ? err_calloc(out->frames + 1, sizeof *out->start, e) : NULL;
    out->loud = out->start ? err_calloc(out->frames + 1, sizeof *out->loud, e) : NULL;
    if (!out->loud)
        return false;
    copy_points(sound, wide, speed, out);
    qsort(out->point, out->count, sizeof *out->point, compare_peaks);
    make_index(sound->film, speed, out);
    return true;
}

void align_peaks_free(struct align_peaks *p)
{
    free(p->point);
    free(p->start);
    free(p->loud);
    *p = (struct align_peaks){0};
}

bool align_peaks_has(const struct align_peaks *p, int64_t frame, int bin, int reach)
{
    if (frame < 0 || frame >= p->frames)
        return false;
    for (uint32_t i = p->start[frame]; i < p->start[frame + 1]; i++)
        if (abs(p->point[i].bin - bin) <= reach)
            return true;
    return false;
}

bool align_peaks_shared(const struct align_peaks *a, const struct align_peaks *b, size_t i,
                        int32_t offset)
{
    const struct peak *p = &b->point[i];
    int64_t frame = (int64_t)p->frame + offset;
    return align_peaks_has(a, frame, p->bin, b->reach) ||
           align_peaks_has(a, frame - 1, p->bin, b->reach) ||
           align_peaks_has(a, frame + 1, p->bin, b->reach);
}

size_t align_peaks_first(const struct align_peaks *p, int64_t frame)
{
    if (frame < 0)
        frame = 0;
    return p->start[frame < p->frames ? frame : p->frames];
}

/* Returns how many loud points are in frames [from, to). */
static int64_t count_loud(const struct align_peaks *p, int64_t from, int64_t to)
{
    from = from > 0 ? from : 0;
    to = to < p->frames ? to : p->frames;
    return from < to ? (int64_t)p->loud[to] - p->loud[from] : 0;
}

int64_t align_peaks_points(const struct align_peaks *a, const struct align_peaks *b,
                           const struct align_run *run, int64_t from, int64_t to)
{
    int64_t points = -count_loud(b, from, to) - count_loud(a, from + run->offset, to + run->offset);
    size_t last = align_peaks_first(b, to);
    for (size_t i = align_peaks_first(b, from); i < last; i++)
        points += align_peaks_shared(a, b, i, run->offset) ? run->worth : 0;
    return points;
}

/* ---- The offsets that landmarks propose ---- */

enum {
    KEYS = 1 << LANDMARK_KEY_BITS,
    KEY_FREQUENT = 100,
    BLOCK = 256,     /* frames; blocks overlap by half */
    BLOCK_BEST = 4,  /* offsets a block */
    BLOCK_LEAST = 5, /* votes of an offset in a block */
    DT = LANDMARK_DT_MOST
};

enum { OFFSETS_MOST = 120 };

struct align_offset {
    int32_t frames;
    uint32_t votes; /* in its best block */
};

/* Film A's landmarks by key. */
struct align_index {
    uint32_t *start; /* [KEYS + 2] of each key's frames */
    uint32_t *frame;
    uint32_t frames; /* of film A */
};

struct offset_finder {
    const struct align_index *index;
    bool near;
    struct landmark *landmark; /* [landmarks] of B, by frame */
    size_t landmarks;
    int32_t *vote; /* [votes] offsets of the block */
    size_t votes, vote_room;
    int32_t least;   /* of all offsets */
    uint32_t *count; /* votes of each offset, 0 between blocks */
    struct align_offset *found;
    size_t founds, room;
};

/* ---- Film A ---- */

static struct landmark *make_landmarks(const struct align_peaks *p, size_t *n, struct err *e)
{
    struct landmark *made = err_calloc(p->count * LANDMARK_FAN + 1, sizeof *made, e);
    *n = made ? landmarks_make(p->point, p->count, false, LANDMARK_FAN, made) : 0;
    return made;
}

static void close_index(struct align_index **index)
{
    if (*index) {
        free((*index)->start);
        free((*index)->frame);
    }
    free(*index);
    *index = NULL;
}

/* Returns NULL if out of memory. */
static struct align_index *open_index(const struct align_peaks *a, struct err *e)
{
    size_t n;
    struct landmark *made = make_landmarks(a, &n, e);
    struct align_index *index = made ? err_calloc(1, sizeof *index, e) : NULL;
    if (index) {
        index->frames = a->frames;
        index->start = err_calloc(KEYS + 2, sizeof *index->start, e);
        index->frame = index->start ? err_calloc(n + 1, sizeof *index->frame, e) : NULL;
    }
    if (!index || !index->frame) {
        close_index(&index);
        free(made);
        return NULL;
    }
    /* A counting sort: next[key], the beginning of the key's frames, becomes their end. */
    uint32_t *next = index->start + 1;
    for (size_t i = 0; i < n; i++)
        next[made[i].key + 1]++;
    for (size_t key = 0; key < KEYS; key++)
        next[key + 1] += next[key];
    for (size_t i = 0; i < n; i++)
        index->frame[next[made[i].key]++] = made[i].frame;
    free(made);
    return index;
}

/* ---- Votes ---- */

static bool add_votes(struct offset_finder *f, uint32_t frame, uint32_t key, struct err *e)
{
    uint32_t from = f->index->start[key], to = f->index->start[key + 1];
    if (to - from > KEY_FREQUENT)
        return true;
    if (!err_reserve(&f->vote, f->votes + (to - from), &f->vote_room, sizeof *f->vote, e))
        return false;
    for (; from < to; from++)
        f->vote[f->votes++] = (int32_t)f->index->frame[from] - (int32_t)frame;
    return true;
}

/* Adds the votes of the keys around a landmark's. */
static bool add_near(struct offset_finder *f, struct landmark l, struct err *e)
{
    int bin = (int)(l.key >> 14), df = (int)(l.key >> 6 & 255) - 128, dt = (int)(l.key & DT);
    for (int b = bin > 0 ? bin - 1 : 0; b <= bin + 1 && b < SPECTROGRAM_BINS; b++)
        for (int d = df - 1; d <= df + 1; d++)
            for (int t = dt > 1 ? dt - 1 : 1; t <= dt + 1 && t <= DT; t++) {
                if (abs(d) <= LANDMARK_DF_MOST &&
                    !add_votes(f, l.frame, landmark_key((uint32_t)b, d, (uint32_t)t), e))
                    return false;
            }
    return true;
}

/* Of equal ones the first in time comes first. */
static int compare_votes(const void *x, const void *y)
{
    const struct align_offset *a = x, *b = y;
    if (a->votes != b->votes)
        return a->votes > b->votes ? -1 : 1;
    return a->frames < b->frames ? -1 : a->frames > b->frames;
}

static int compare_frames(const void *x, const void *y)
{
    const struct align_offset *a = x, *b = y;
    return a->frames < b->frames ? -1 : a->frames > b->frames;
}

/* Returns true if one of offset[n] is the same as `frames` or next to it. */
static bool is_known(const struct align_offset *offset, size_t n, int32_t frames)
{
    for (size_t i = 0; i < n; i++)
        if (abs(offset[i].frames - frames) <= 1)
            return true;
    return false;
}

/* Adds the offsets with the most votes of the block, with those of the offsets next to them. */
static bool choose_best(struct offset_finder *f, struct err *e)
{
    struct align_offset best[BLOCK_BEST + 1];
    size_t n = 0;
    for (size_t i = 0; i < f->votes; i++)
        f->count[f->vote[i] - f->least]++;
    for (size_t i = 0; i < f->votes; i++) {
        const uint32_t *at = f->count + (f->vote[i] - f->least);
        uint32_t sum = at[-1] + at[0] + at[1];
        if (sum < BLOCK_LEAST || at[0] < at[-1] || at[0] < at[1] || is_known(best, n, f->vote[i]))
            continue;
        best[n++] = (struct align_offset){f->vote[i], sum};
        qsort(best, n, sizeof *best, compare_votes);
        n = n > BLOCK_BEST ? BLOCK_BEST : n;
    }
    for (size_t i = 0; i < f->votes; i++)
        f->count[f->vote[i] - f->least] = 0;
    if (!err_reserve(&f->found, f->founds + n, &f->room, sizeof *best, e))
        return false;
    if (n > 0)
        memcpy(f->found + f->founds, best, n * sizeof *best);
    f->founds += n;
    return true;
}

static bool find_all(struct offset_finder *f, uint32_t frames, struct err *e)
{
    size_t from = 0;
    for (uint32_t begin = 0; begin < frames; begin += BLOCK / 2) {
        while (from < f->landmarks && f->landmark[from].frame < begin)
            from++;
        f->votes = 0;
        for (size_t i = from; i < f->landmarks && f->landmark[i].frame < begin + BLOCK; i++) {
            struct landmark l = f->landmark[i];
            if (!(f->near ? add_near(f, l, e) : add_votes(f, l.frame, l.key, e)))
                return false;
        }
        if (!choose_best(f, e))
            return false;
    }
    return true;
}

/*
 * Finds *n offsets, at most `most`, in order of time, at least two frames from each other; those
 * with the most votes. With b->reach, each of a landmark's three numbers may differ by one. Keys
 * that are very frequent in A, such as those of a constant hum, have no votes. Returns false if out
 * of memory.
 */
static bool find_offsets(const struct align_index *index, const struct align_peaks *b, size_t most,
                         struct align_offset *out, size_t *n, struct err *e)
{
    struct offset_finder f = {.index = index, .near = b->reach > 0};
    f.least = -(int32_t)b->frames - 1;
    f.landmark = make_landmarks(b, &f.landmarks, e);
    f.count =
        f.landmark ? err_calloc((size_t)index->frames + b->frames + 3, sizeof *f.count, e) : NULL;
    bool ok = f.count && find_all(&f, b->frames, e);
    *n = 0;
    if (f.founds > 0)
        qsort(f.found, f.founds, sizeof *f.found, compare_votes);
    for (size_t i = 0; i < f.founds && *n < most; i++)
        if (!is_known(out, *n, f.found[i].frames))
            out[(*n)++] = f.found[i];
    qsort(out, *n, sizeof *out, compare_frames);
    free(f.landmark);
    free(f.count);
    free(f.vote);
    free(f.found);
    return ok;
}

/* ---- The best path through the offsets ---- */

enum {
    POINT = 64,       /* a point's unit */
    DRIFT_PRICE = 4,  /* points */
    POINTS_MOST = 16, /* of a window */
    SLACK = 2 * ALIGN_WINDOW,
    NOWHERE = INT32_MIN / 2
};

/* What a path needs to know of its past. */
struct state {
    int64_t points;
    int32_t left; /* the frame of A after the last window that was in A, or NOWHERE */
};

/* There are 2 n + 1 states: at each offset; not in A any more after each; not yet in A. */
struct path_finder {
    const struct align_peaks *a, *b;
    const struct align_offset *offset;
    size_t n;
    uint32_t windows;
    struct state *now, *next;
    uint16_t *came; /* [windows][states] the state before */
};

/* Lets `to` come from `from` if that is better. Of equal ones the first stays. */
static void come_from(struct state *to, uint16_t *came, const struct state *from, size_t number,
                      int64_t price)
{
    if (from->points - price > to->points) {
        *to = (struct state){from->points - price, from->left};
        *came = (uint16_t)number;
    }
}

/* Returns what a window wins at an offset. */
static int64_t count_points(const struct path_finder *f, uint32_t frame, int32_t offset)
{
    const struct align_run run = {.offset = offset, .worth = ALIGN_WORTH_MOST};
    int64_t a = (int64_t)frame + offset, to = (int64_t)frame + ALIGN_WINDOW;
    if (a + ALIGN_WINDOW <= 0 || a >= f->a->frames)
        return -POINT;
    const int64_t most = (int64_t)POINTS_MOST * POINT;
    int64_t points = align_peaks_points(f->a, f->b, &run, frame, to) * POINT / run.worth;
    return points < most ? points : most;
}

/* Computes the state in which the window at `frame` is at offset c. */
static void enter_offset(struct path_finder *f, size_t c, uint32_t frame, uint16_t *came)
{
    const size_t n = f->n;
    const int32_t offset = f->offset[c].frames, a = (int32_t)frame + offset;
    const int64_t change = (int64_t)ALIGN_CHANGE * POINT;
    struct state *to = &f->next[c];
    *to = f->now[c];
    came[c] = (uint16_t)c;
    for (size_t k = 0; k < n; k++) {
        int32_t step = offset - f->offset[k].frames;
        if (abs(step) <= ALIGN_DRIFT)
            come_from(to, &came[c], &f->now[k], k, (int64_t)DRIFT_PRICE * POINT);
        else if (step > 0)
            come_from(to, &came[c], &f->now[k], k, change);
        if (f->now[n + k].left <= a + SLACK)
            come_from(to, &came[c], &f->now[n + k], n + k, change);
    }
    come_from(to, &came[c], &f->now[2 * n], 2 * n, change);
    to->points += count_points(f, frame, offset);
    to->left = a + ALIGN_WINDOW;
}

static void next_window(struct path_finder *f, uint32_t window)
{
    const size_t n = f->n;
    const uint32_t frame = window * ALIGN_WINDOW;
    uint16_t *came = f->came + (size_t)window * (2 * n + 1);
    for (size_t c = 0; c < n; c++) {
        enter_offset(f, c, frame, came);
        f->next[n + c] = f->now[n + c];
        came[n + c] = (uint16_t)(n + c);
        come_from(&f->next[n + c], &came[n + c], &f->now[c], c, 0);
    }
    f->next[2 * n] = f->now[2 * n];
    came[2 * n] = (uint16_t)(2 * n);
    struct state *swap = f->now;
    f->now = f->next;
    f->next = swap;
}

/* Follows the best path back and makes runs of it. */
static bool trace_back(const struct path_finder *f, struct align_path *out, struct err *e)
{
    const size_t n = f->n, states = 2 * n + 1;
    size_t best = 2 * n, room = 0;
    for (size_t s = 0; s < states; s++)
        if (f->now[s].points > f->now[best].points)
            best = s;
    out->points = f->now[best].points;
    size_t later = 2 * n; /* a run goes on while its offset stays the same */
    for (uint32_t w = f->windows; w-- > 0; later = best, best = f->came[w * states + best]) {
        if (best >= n)
            continue;
        if (best != later) {
            if (!err_reserve(&out->run, out->runs + 1, &room, sizeof *out->run, e))
                return false;
            out->run[out->runs++] =
                (struct align_run){f->offset[best].frames, 0, (w + 1) * ALIGN_WINDOW, 0};
        }
        out->run[out->runs - 1].from = w * ALIGN_WINDOW;
    }
    for (size_t i = 0; i < out->runs / 2; i++) {
        struct align_run swap = out->run[i];
        out->run[i] = out->run[out->runs - 1 - i];
        out->run[out->runs - 1 - i] = swap;
    }
    return true;
}

/*
 * Finds the path through offset[n], which are in order. Returns false if out of memory. The caller
 * frees out->run in any case.
 */
static bool find_path(const struct align_peaks *a, const struct align_peaks *b,
                      const struct align_offset *offset, size_t n, struct align_path *out,
                      struct err *e)
{
    struct path_finder f = {.a = a, .b = b, .offset = offset, .n = n};
    size_t states = 2 * n + 1;
    *out = (struct align_path){0};
    f.windows = (b->frames + ALIGN_WINDOW - 1) / ALIGN_WINDOW;
    f.now = err_calloc(states, sizeof *f.now, e);
    f.next = f.now ? err_calloc(states, sizeof *f.next, e) : NULL;
    f.came = f.next ? err_calloc(states * f.windows + 1, sizeof *f.came, e) : NULL;
    bool ok = f.came;
    for (size_t s = 0; ok && s < states; s++)
        f.now[s] = (struct state){s < 2 * n ? INT64_MIN / 2 : 0, s < 2 * n ? INT32_MAX : NOWHERE};
    for (uint32_t w = 0; ok && w < f.windows; w++)
        next_window(&f, w);
    ok = ok && trace_back(&f, out, e);
    free(f.now);
    free(f.next);
    free(f.came);
    return ok;
}

/* ---- The speed ---- */

enum {
    SPEED_OFFSETS = 40, /* are enough to compare speeds */
    RUN_PRICE = 8,      /* points that a run costs when speeds are compared */
    SLOW_SPEEDS = 3,    /* the first of speeds[], which hardly change a pitch */
    FITS_MOST = 4
};

/* 24, 24000/1001 and 25 frames a second, each shown as another. */
static const struct align_speed speeds[] = {
    {1, 1, false},   {1001, 1000, false}, {1000, 1001, false}, {25, 24, false},
    {24, 25, false}, {1001, 960, false},  {960, 1001, false},  {25, 24, true},
    {24, 25, true},  {1001, 960, true},   {960, 1001, true},
};

/* Off-speed tapes and projectors. */
static const struct align_speed even_speeds[] = {
    {1, 1, false},      {1015, 1000, false}, {985, 1000, false}, {1030, 1000, false},
    {970, 1000, false}, {1045, 1000, false}, {955, 1000, false}, {1015, 1000, true},
    {985, 1000, true},  {1030, 1000, true},  {970, 1000, true},  {1045, 1000, true},
    {955, 1000, true},
};

const struct align_speed *align_even_speeds(size_t *n)
{
    *n = sizeof even_speeds / sizeof *even_speeds;
    return even_speeds;
}

const struct align_speed *align_speeds(size_t *n)
{
    *n = sizeof speeds / sizeof *speeds;
    return speeds;
}

/* Tries speeds, with all peaks or the wide ones. */
struct aligner {
    const struct align_sound *b;
    bool wide;
    struct align_index *index; /* of A */
    struct align_fit *fit;     /* at the last speed */
};

void align_fit_free(struct align_fit *f)
{
    align_peaks_free(&f->a);
    align_peaks_free(&f->b);
    free(f->path.run);
    f->path = (struct align_path){0};
}

/* Finds the path at a speed, through that many offsets at most. */
static bool try_speed(struct aligner *m, struct align_speed speed, size_t offsets, struct err *e)
{
    struct align_offset offset[OFFSETS_MOST];
    struct align_fit *f = m->fit;
    size_t n;
    align_peaks_free(&f->b);
    free(f->path.run);
    f->path = (struct align_path){0};
    f->speed = speed;
    if (interrupted())
        return interrupt_error(e);
    if (!align_peaks_make(m->b, m->wide, speed, &f->b, e) ||
        !find_offsets(m->index, &f->b, offsets, offset, &n, e) ||
        !find_path(&f->a, &f->b, offset, n, &f->path, e))
        return false;
    log_msg(LOG_DEBUG, "align: speed %d/%d%s: %zu offsets, %zu runs, %lld points", speed.num,
            speed.den, speed.same_pitch ? ", same pitch" : "", n, f->path.runs,
            (long long)f->path.points / POINT);
    return true;
}

int64_t align_run_offset_us(const struct align_fit *f, const struct align_run *run)
{
    int64_t sum = 0, n = 0;
    for (size_t i = align_peaks_first(&f->b, run->from); i < align_peaks_first(&f->b, run->to); i++)
        for (int away = -1; away <= 1; away++)
            if (align_peaks_has(&f->a, (int64_t)f->b.point[i].frame + run->offset + away,
                                f->b.point[i].bin, f->b.reach)) {
                sum += away;
                n++;
            }
    return (int64_t)run->offset * ALIGN_FRAME_US + (n > 0 ? sum * ALIGN_FRAME_US / n : 0);
}

static int64_t count_frames(const struct align_path *path)
{
    int64_t frames = 0;
    for (size_t i = 0; i < path->runs; i++)
        frames += path->run[i].to - path->run[i].from;
    return frames;
}

/*
 * Returns the speed at which the path would not drift, as it does between runs that go on; that of
 * the path if it hardly does.
 */
static struct align_speed speed_of_drift(const struct align_fit *f)
{
    int64_t drift = 0, time = 0;
    for (size_t i = 1; i < f->path.runs; i++) {
        const struct align_run *run = &f->path.run[i - 1], *next = &f->path.run[i];
        if (next->from != run->to || abs(next->offset - run->offset) > ALIGN_DRIFT)
            continue;
        drift += align_run_offset_us(f, next) - align_run_offset_us(f, run);
        time += (int64_t)(next->to - run->from) * ALIGN_FRAME_US / 2;
    }
    /* No clock that drifts is off by a tenth. */
    if (time == 0 || 2 * llabs(drift) * ALIGN_SPEED_UNIT <= time || 10 * llabs(drift) > time)
        return f->speed;
    int64_t num = (time + drift) * f->speed.num * ALIGN_SPEED_UNIT, den = time * f->speed.den;
    return (struct align_speed){(uint16_t)((num + den / 2) / den), ALIGN_SPEED_UNIT,
                                f->speed.same_pitch};
}

/* The speed whose path has the most points. */
struct choice {
    struct align_speed speed, next; /* next: speed_of_drift */
    int64_t points, common;         /* common: frames of its runs */
};

/* Tries a speed and keeps it if its path has more points. */
static bool consider_speed(struct aligner *m, struct align_speed speed, struct choice *best,
                           struct err *e)
{
    const struct align_path *path = &m->fit->path;
    if (!try_speed(m, speed, SPEED_OFFSETS, e))
        return false;
    int64_t points = path->points - (int64_t)path->runs * RUN_PRICE * POINT;
    if (path->runs > 0 && points > best->points)
        *best = (struct choice){speed, speed_of_drift(m->fit), points, count_frames(path)};
    return true;
}

/*
 * Goes on to the speed at which the best path does not drift, with or without a change of pitch. A
 * path with a sixteenth more points is needed to leave a speed of the tables.
 */
static bool follow_drift(struct aligner *m, struct choice *best, struct err *e)
{
    int64_t least = best->points / 16;
    for (int i = 0; i < FITS_MOST && !align_speed_is(best->next, best->speed); i++) {
        struct choice next = {.points = best->points + least};
        struct align_speed other = best->next;
        other.same_pitch = !other.same_pitch;
        if (!consider_speed(m, best->next, &next, e) || !consider_speed(m, other, &next, e))
            return false;
        if (next.common == 0)
            break;
        *best = next;
        least = 0;
    }
    return true;
}

/*
 * Chooses the speed whose path has the most points, a sixteenth more than at the films' own: in a
 * short film 1000/1001 fits as well. The even speeds are tried if none of a film fits.
 */
static bool choose_speed(struct aligner *m, struct choice *best, struct err *e)
{
    const size_t n = sizeof speeds / sizeof *speeds, evens = sizeof even_speeds / sizeof *speeds;
    *best = (struct choice){.speed = speeds[0], .next = speeds[0]};
    for (size_t i = 0; i < n; i++) {
        if (i == SLOW_SPEEDS && best->common > m->fit->b.frames / 2)
            break;
        if (!consider_speed(m, speeds[i], best, e))
            return false;
        if (i == 0)
            best->points += best->points / 16;
    }
    bool fits = best->common > m->fit->b.frames / 10;
    for (size_t i = 1; i < evens && !fits; i++)
        if (!consider_speed(m, even_speeds[i], best, e))
            return false;
    return follow_drift(m, best, e);
}

/* Chooses the speed by the wide peaks or by all, or finds the path of all peaks at the best. */
static bool fit_peaks(const struct align_sound *a, const struct align_sound *b, bool wide,
                      bool choose, struct choice *best, struct align_fit *out, struct err *e)
{
    struct aligner m = {.b = b, .wide = wide, .fit = out};
    align_fit_free(out);
    bool ok =
        align_peaks_make(a, wide, speeds[0], &out->a, e) && (m.index = open_index(&out->a, e));
    if (ok && choose)
        ok = choose_speed(&m, best, e);
    else if (ok)
        ok = try_speed(&m, best->speed, OFFSETS_MOST, e);
    close_index(&m.index);
    return ok;
}

bool align_fit_find(const struct align_sound *a, const struct align_sound *b, struct align_fit *out,
                    struct err *e)
{
    struct choice best = {.common = 0};
    memset(out, 0, sizeof *out);
    /* wide peaks are enough for the speed, unless other sound lies over the film's */
    for (int wide = 1; wide >= 0 && best.common <= out->b.frames / 10; wide--)
        if (!fit_peaks(a, b, wide, true, &best, out, e))
            return false;
    return fit_peaks(a, b, false, false, &best, out, e);
}
