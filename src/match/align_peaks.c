#include "align_peaks.h"

#include <stdlib.h>

#include "sound/landmarks.h"
#include "barcode/sound/spectrogram.h"

enum { FRAMES_MOST = 1 << LANDMARK_TIME_BITS };

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

bool align_peaks_make(const struct align_sound *sound, bool wide, struct align_speed speed,
                      struct align_peaks *out, struct err *e)
{
    *out = (struct align_peaks){0};
    size_t frames = spectrogram_frames(sound->samples);
    frames = frames < FRAMES_MOST ? frames : FRAMES_MOST;
    out->frames = scale((uint32_t)frames, speed.num, speed.den);
    /* After a larger change, values are rounded to other frames and bins. */
    out->reach = abs(speed.num - speed.den) * 100 > speed.den;
    out->point = err_calloc(sound->peaks + 1, sizeof *out->point, e);
    out->start = out->point ? err_calloc(out->frames + 1, sizeof *out->start, e) : NULL;
    if (!out->start)
        return false;
    copy_points(sound, wide, speed, out);
    qsort(out->point, out->count, sizeof *out->point, compare_peaks);
    size_t n = 0;
    for (uint32_t frame = 0; frame <= out->frames; frame++) {
        while (n < out->count && out->point[n].frame < frame)
            n++;
        out->start[frame] = (uint32_t)n;
    }
    return true;
}

void align_peaks_free(struct align_peaks *p)
{
    free(p->point);
    free(p->start);
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
    return p->start[frame < 0 ? 0 : frame > p->frames ? p->frames : frame];
}
