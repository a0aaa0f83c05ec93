#include "options_fingerprint.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/version.h"
#include "shots/shots.h"

static void append_text(char text[REPORT_FINGERPRINT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append_text(char text[REPORT_FINGERPRINT], const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, REPORT_FINGERPRINT - used, format, args);
    va_end(args);
}

static void append_seconds(char text[REPORT_FINGERPRINT], const char *name, int64_t us)
{
    append_text(text, " %s=%" PRId64 ".%06d", name, us / 1000000, (int)(us % 1000000));
}

static void append_selection(char text[REPORT_FINGERPRINT], const struct selection *s)
{
    if (s->kind == SELECT_INTERVAL)
        append_seconds(text, "interval", s->interval_us);
    else if (s->kind == SELECT_COLUMNS)
        append_text(text, " columns=%" PRIu64, s->columns);
    else if (s->every > 0)
        append_text(text, " every=%" PRIu64, s->every);
    else
        append_text(text, " columns=auto");
    if (s->keyframes)
        append_text(text, " keyframes");
    if (s->start_us > 0)
        append_seconds(text, "start", s->start_us);
    if (s->end_us != INT64_MAX)
        append_seconds(text, "end", s->end_us);
}

static void append_size(char text[REPORT_FINGERPRINT], const struct size_rule *size)
{
    if (size->kind == SIZE_SIDE)
        append_text(text, " size=%d", size->side);
    else if (size->kind == SIZE_EXACT)
        append_text(text, " size=%dx%d", size->width, size->height);
    else if (size->kind == SIZE_ROWS)
        append_text(text, " size=x%d", size->side);
    else if (size->kind == SIZE_DIVIDE)
        append_text(text, " size=1/%d", size->divisor);
    else
        append_text(text, " size=full");
    if (size->kind == SIZE_SIDE && size->height > 0)
        append_text(text, " rows=%d", size->height);
}

static void append_crop(char text[REPORT_FINGERPRINT], const struct crop_rule *crop)
{
    char rect[CROP_TEXT];
    const char *value = rect;
    crop_text(&crop->rect, rect);
    if (crop->kind == CROP_AUTO)
        value = "auto";
    else if (crop->kind == CROP_OFF)
        value = "off";
    append_text(text, " crop=%s", value);
}

static void append_light(char text[REPORT_FINGERPRINT], const struct light_rule *light)
{
    append_text(text, " tone_map=%s", light_map_name(light->map));
    if (light->peak > 0)
        append_text(text, " hdr_peak=%d", light->peak);
    if (light->linear)
        append_text(text, " light=linear");
}

/* Returns true if the outputs of -o, which have this format, are posters. */
static bool is_poster(const struct plan *plan, const struct writer *format)
{
    return plan->poster.wanted || format->page;
}

static void append_colours(char text[REPORT_FINGERPRINT], const struct plan *plan,
                           const struct writer *format, const struct writer *w,
                           struct strips strips)
{
    unsigned needs = strips_need(strips), obeys = strips_obey(strips) | w->obeys;
    const struct kmeans_params *k = &plan->kmeans;
    if (plan->picture.steady > 0 && (obeys & STRIP_STEADY))
        append_text(text, " steady=%d", plan->picture.steady);
    if (obeys & STRIP_ORDER)
        append_text(text, " order=%s", palette_order_name(plan->picture.order));
    if ((obeys & STRIP_ORDER) && plan->picture.order == ORDER_LIGHTNESS)
        append_text(text, " bands=follow"); /* band_order.h */
    if (needs & STRIP_CLUSTERS)
        append_text(text, " k=%d n_init=%d race=%s init=%s max_iter=%d seed=%" PRIu64, k->k,
                    k->n_init, k->race ? "yes" : "no", kmeans_init_name(k->init), k->max_iter,
                    k->seed);
    if (needs & STRIP_SOUND)
        append_text(text, " sound=%d", SOUND_VERSION);
    if ((needs & STRIP_SOUND) && plan->film.sound_stream != SOURCE_STREAM_CHOICE)
        append_text(text, " sound_stream=%d", plan->film.sound_stream);
    if (needs & STRIP_SLIT)
        append_text(text, " slit=%d.%02d rotate=%d.%02d", plan->picture.slit.x / 100,
                    plan->picture.slit.x % 100, plan->picture.slit.angle / 100,
                    plan->picture.slit.angle % 100);
    if (w->shots && plan->formats.drop_frame)
        append_text(text, " drop_frame");
    if (w->palette || (w == format && is_poster(plan, format)))
        append_text(text, " colours=%d dark=3/8", plan->picture.colours); /* film_palette.h */
}

static void append_hash(char text[REPORT_FINGERPRINT], const char *name, const char *value)
{
    if (value)
        append_text(text, " %s=%016" PRIx64, name, hash_64(value, strlen(value)));
}

static void append_style(char text[REPORT_FINGERPRINT], const struct paper_style *s)
{
    append_hash(text, "subtitle", s->subtitle);
    append_hash(text, "font", s->font);
    if (s->bare)
        append_text(text, " bare");
    if (s->live_text)
        append_text(text, " svg_text=live");
    if (s->has_background)
        append_text(text, " background=%02x%02x%02x", s->background[0], s->background[1],
                    s->background[2]);
}

/*
 * Appends shape, page and title. A title has any length and any characters, so its hash represents
 * it.
 */
static void append_layout(char text[REPORT_FINGERPRINT], const struct plan *plan,
                          const struct writer *format, const struct writer *w)
{
    char page[PAPER_TEXT];
    bool poster = is_poster(plan, format);
    if (plan->picture.shape != SHAPE_STRIP)
        append_text(text, " shape=%s", strip_shape_name(plan->picture.shape));
    if (plan->picture.smooth_us > 0)
        append_seconds(text, "smooth", plan->picture.smooth_us);
    if (w != format)
        return; /* pages and titles apply only to pictures */
    if (poster || plan->picture.stacked)
        append_text(text, " layout=%d", LAYOUT_VERSION);
    append_style(text, &plan->poster.style);
    append_hash(text, "title", plan->poster.title);
    if (!poster)
        return;
    paper_text(&plan->poster.page, plan->picture.shape, page);
    append_text(text, " poster=%s page=%s", format->name, page);
    if (!format->page && !plan->poster.page.pixels)
        append_text(text, " dpi=%d", plan->poster.dpi);
}

/* Previews do not depend on columns, crop and picture. */
static void append_previews(char text[REPORT_FINGERPRINT], const struct plan *plan)
{
    append_text(text, " previews=%d", plan->formats.previews.width);
    append_seconds(text, "interval", plan->formats.previews.interval_us);
    if (plan->film.selection.keyframes)
        append_text(text, " keyframes");
    append_size(text, &plan->film.size);
    append_light(text, &plan->film.light);
}

static void append_film(char text[REPORT_FINGERPRINT], const struct plan *plan)
{
    if (plan->film.stream != SOURCE_STREAM_CHOICE)
        append_text(text, " stream=%d", plan->film.stream);
    if (plan->inputs.rate_num > 0)
        append_text(text, " rate=%" PRId64 "/%" PRId64, plan->inputs.rate_num,
                    plan->inputs.rate_den);
}

void options_fingerprint(const struct plan *plan, const struct writer *format,
                         const struct writer *w, struct strips strips,
                         char text[REPORT_FINGERPRINT])
{
    text[0] = 0;
    append_text(text, "definition=%d.%d", ANALYSIS_VERSION, PICTURE_VERSION);
    if (w->beside) {
        append_previews(text, plan);
        append_film(text, plan);
        return;
    }
    for (size_t i = 0; i < strips.count; i++)
        append_text(text, "%s%s", i == 0 ? " mode=" : ",", strips.kind[i]->name);
    append_selection(text, &plan->film.selection);
    append_size(text, &plan->film.size);
    append_crop(text, &plan->film.crop);
    append_light(text, &plan->film.light);
    append_film(text, plan);
    if (plan->film.shots)
        append_text(text, " shots=%d.%d%s%s", SCAN_VERSION, plan->film.shot_threshold,
                    plan->film.by_shot ? " by-shot" : "",
                    plan->picture.shots_equal ? " equal" : "");
    if (plan->picture.width > 0)
        append_text(text, " width=%d", plan->picture.width);
    append_text(text, " height=%d", plan->picture.height);
    append_layout(text, plan, format, w);
    append_colours(text, plan, format, w, strips);
}

#define AGAIN " again="

void fingerprint_add_again(char text[REPORT_FINGERPRINT], const char *film)
{
    char *real = realpath(film, NULL); /* fails for a pattern of images */
    const char *place = real ? real : film;
    append_text(text, AGAIN "%016" PRIx64, hash_64(place, strlen(place)));
    free(real);
}

bool fingerprint_is_again(const char *text, const char *film)
{
    char mine[REPORT_FINGERPRINT] = "";
    const char *found = strstr(text, AGAIN);
    if (found && film)
        fingerprint_add_again(mine, film);
    return found && (!film || strcmp(found, mine) == 0);
}
