#include <stdio.h>
#include <string.h>

#include "render_line.h"

static void note_kmeans(const struct report *r, char *out, size_t size)
{
    if (r->analysis.kmeans.k == 1)
        snprintf(out, size, "one cluster");
    else if (r->picture.steady > 0)
        snprintf(out, size, "largest of %d clusters, steady %d %%", r->analysis.kmeans.k,
                 r->picture.steady);
    else
        snprintf(out, size, "largest of %d clusters", r->analysis.kmeans.k);
}

static void pixel_kmeans(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3])
{
    (void)s, (void)i;
    memcpy(rgb, c->cluster[c->chosen].rgb, 3);
}

const struct strip_kind strip_kmeans = {.name = "kmeans",
                                        .title = "k-means",
                                        .caption = "Main colours",
                                        .needs = STRIP_CLUSTERS,
                                        .obeys = STRIP_STEADY,
                                        .fit = FIT_MEDOID,
                                        .flat = true,
                                        .note = note_kmeans,
                                        .pixel = pixel_kmeans};

static void note_dominant(const struct report *r, char *out, size_t size)
{
    if (r->picture.steady > 0)
        snprintf(out, size, "each frame's mode in OKLab, steady %d %%", r->picture.steady);
    else
        snprintf(out, size, "each frame's mode in OKLab");
}

static void pixel_dominant(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3])
{
    (void)s, (void)i;
    memcpy(rgb, c->dominant, 3);
}

const struct strip_kind strip_dominant = {.name = "dominant",
                                          .title = "dominant",
                                          .caption = "Most frequent colours",
                                          .needs = STRIP_DOMINANT,
                                          .obeys = STRIP_STEADY,
                                          .fit = FIT_MEDOID,
                                          .flat = true,
                                          .note = note_dominant,
                                          .pixel = pixel_dominant};

static void note_average(const struct report *r, char *out, size_t size)
{
    (void)r;
    snprintf(out, size, "each frame's mean");
}

static void pixel_average(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3])
{
    (void)s, (void)i;
    memcpy(rgb, c->average, 3);
}

const struct strip_kind strip_average = {.name = "average",
                                         .title = "average",
                                         .caption = "Mean colours",
                                         .flat = true,
                                         .note = note_average,
                                         .pixel = pixel_average};
