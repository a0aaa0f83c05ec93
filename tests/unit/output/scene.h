/* scene.h - a report over made columns, for tests of what is painted. */
#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include <stdlib.h>
#include <string.h>

#include "output/writer.h"

struct made {
    struct film film;
    struct report report;
    struct columns *columns;
    char path[64];
};

/* `count` columns of two clusters, a mean, a mode and 4 rows, a second each, in colours that differ
 * from column to column. */
static inline void made_open(struct made *m, uint64_t count)
{
    struct err e = ERR_INIT;
    memset(m, 0, sizeof *m);
    strcpy(m->path, "/films/a film.of.mine.mkv");
    m->film.path = m->path;
    m->film.length.duration_us = (int64_t)count * 1000000;
    m->film.rate_den = 1;
    m->columns = columns_open(2, 4, &e);
    for (uint64_t i = 0; i < count; i++) {
        struct column *c = columns_at(m->columns, i, &e);
        uint8_t a = (uint8_t)(i * 37), b = (uint8_t)(255 - i * 11);
        *c = (struct column){.frame = i,
                             .time_us = (int64_t)i * 1000000,
                             .repeat = 1,
                             .status = COLUMN_OK,
                             .clusters = 2,
                             .cluster = c->cluster,
                             .row = c->row,
                             .average = {a, b, 90},
                             .dominant = {b, a, 20}};
        c->cluster[0] = (struct cluster){{a, b, 40}, 60};
        c->cluster[1] = (struct cluster){{b, 200, a}, 40};
        for (int k = 0; k < 12; k++)
            c->row[k] = (uint8_t)(a + 20 * k);
    }
    m->report = (struct report){
        .film = &m->film,
        .analysis.kmeans = {2, 1, 10, INIT_SCALABLE, 0, false},
        .picture.height = 6,
        .analysis.width = 16,
        .analysis.height = 4,
        .columns = m->columns,
        .count = count,
        .analysis.needs = STRIP_CLUSTERS | STRIP_ROWS | STRIP_DOMINANT,
        .run.threads = 1,
        .poster.dpi = PAPER_DPI_USUAL,
        .analysis.selection = {.kind = SELECT_EVERY, .every = 24, .end_us = INT64_MAX},
        .media.palette.count = 8,
        .id.film_id = "7-0123456789abcdef0123456789abcdef",
        .id.fingerprint = "definition=1.1 mode=kmeans"};
    for (int i = 0; i < 8; i++)
        m->report.media.palette.colour[i] =
            (struct film_colour){{(uint8_t)(224 - 32 * i), 90, 40}, FILM_PALETTE_PIXELS / 8};
}

/* Checks the metadata of an output of made_open's scene with 70 columns. */
static inline void made_is_described(const struct made *m, const struct writer_metadata *metadata)
{
    assert_string_equal(metadata->film, m->report.id.film_id);
    assert_string_equal(metadata->fingerprint, m->report.id.fingerprint);
    assert_int_equal(metadata->columns, 70);
    assert_int_equal(metadata->width, 16);
    assert_int_equal(metadata->height, 4);
    assert_int_equal(metadata->partial, m->report.id.partial);
}

static inline void made_close(struct made *m) { columns_free(&m->columns); }

#endif
