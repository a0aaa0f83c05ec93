/*
 * fuzz_film_sound.c - a film's sound, read from any bytes at all. What is read must be in order, be
 * safe to sum up, to make landmarks of and to align, and be written as bytes that give the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "match/align/align_map.h"
#include "sound/film_sound.h"
#include "sound/landmarks.h"
#include "barcode/sound/spectrogram.h"
#include "fuzz.h"

static void check_peaks(const struct film_sound *s)
{
    for (size_t i = 0; i < s->peaks; i++) {
        const struct peak *p = &s->point[i];
        fuzz_demand(p->bin < SPECTROGRAM_BINS && p->wide <= 1);
        fuzz_demand(p->frame < spectrogram_frames(s->samples));
        fuzz_demand(i == 0 || p->frame > p[-1].frame ||
                    (p->frame == p[-1].frame && p->bin > p[-1].bin));
    }
    struct landmark *mark = malloc(s->peaks * LANDMARK_FAN * sizeof *mark + 1);
    fuzz_demand(mark != NULL);
    fuzz_demand(landmarks_make(s->point, s->peaks, false, LANDMARK_FAN, mark) <=
                s->peaks * LANDMARK_FAN);
    free(mark);
}

static void check_rows(const struct film_sound *s)
{
    struct sound_row row;
    fuzz_demand(s->rows <= SOUND_ROWS_MOST);
    for (size_t i = 0; i < s->rows; i++)
        fuzz_demand(s->row[i].loudness >= SOUND_SILENCE && s->row[i].peak <= 0);
    film_sound_span(s, 0, INT64_MAX, &row);
    film_sound_span(s, 31999, 32001, &row);
    fuzz_demand(row.loudness >= SOUND_SILENCE && row.peak >= SOUND_SILENCE);
}

static void check_again(const struct film_sound *s)
{
    struct film_sound other;
    uint8_t *bytes = NULL, *again = NULL;
    size_t count, more;
    fuzz_demand(film_sound_write(s, &bytes, &count, NULL));
    fuzz_demand(film_sound_read(&other, bytes, count, NULL));
    fuzz_demand(film_sound_write(&other, &again, &more, NULL));
    fuzz_demand(more == count && memcmp(bytes, again, count) == 0);
    film_sound_free(&other);
    free(bytes);
    free(again);
}

/* Aligns the sound with itself less its first peaks. It takes a while, so few inputs get there. */
static void check_map(const struct film_sound *s, const uint8_t *data, size_t size)
{
    struct align_map map;
    size_t cut = s->peaks / 3;
    const struct align_sound a = {s->point, s->peaks, s->samples, s},
                             b = {s->point + cut, s->peaks - cut, s->samples, s};
    if (s->peaks < 2 || s->samples > UINT64_C(100000) * SPECTROGRAM_HOP ||
        hash_64(data, size) % 256 != 0)
        return;
    fuzz_demand(align_map_make(&a, &b, &map, NULL));
    for (size_t i = 0; i < map.segments; i++)
        fuzz_demand(map.segment[i].a_from_us <= map.segment[i].a_to_us &&
                    map.segment[i].b_from_us <= map.segment[i].b_to_us);
    align_map_free(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct film_sound s;
    struct err e = ERR_INIT;
    bool ok = film_sound_read(&s, data, size, &e);
    fuzz_demand(ok == (e.code == ERR_NONE));
    fuzz_demand(ok || (s.stream == -1 && !s.row && !s.point && s.rows == 0 && s.peaks == 0));
    if (ok) {
        fuzz_demand(memchr(s.codec, 0, SOUND_NAME) && memchr(s.layout, 0, SOUND_NAME));
        check_peaks(&s);
        check_rows(&s);
        check_again(&s);
        check_map(&s, data, size);
    }
    film_sound_free(&s);
    return 0;
}
