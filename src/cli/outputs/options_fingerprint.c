#include "barcode/cli/options_fingerprint.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "barcode/base/hash.h"
#include "barcode/base/version.h"
#include "barcode/cli/outputs.h"

static void add(char text[REPORT_FINGERPRINT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(char text[REPORT_FINGERPRINT], const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, REPORT_FINGERPRINT - used, format, args);
    va_end(args);
}

static void add_seconds(char text[REPORT_FINGERPRINT], const char *name, int64_t us)
{
    add(text, " %s=%" PRId64 ".%06d", name, us / 1000000, (int)(us % 1000000));
}

static void add_selection(char text[REPORT_FINGERPRINT], const struct selection *s)
{
    if (s->kind == SELECT_INTERVAL)
        add_seconds(text, "interval", s->interval_us);
    else if (s->kind == SELECT_COLUMNS)
        add(text, " columns=%" PRIu64, s->columns);
    else if (s->every > 0)
        add(text, " every=%" PRIu64, s->every);
    else
        add(text, " every=auto");
    if (s->keyframes)
        add(text, " keyframes");
    if (s->start_us > 0)
        add_seconds(text, "start", s->start_us);
    if (s->end_us != INT64_MAX)
        add_seconds(text, "end", s->end_us);
}

static void add_size(char text[REPORT_FINGERPRINT], const struct size_rule *size)
{
    if (size->kind == SIZE_SIDE)
        add(text, " size=%d", size->side);
    else if (size->kind == SIZE_EXACT)
        add(text, " size=%dx%d", size->width, size->height);
    else if (size->kind == SIZE_DIVIDE)
        add(text, " size=1/%d", size->divisor);
    else
        add(text, " size=full");
}

static void add_crop(char text[REPORT_FINGERPRINT], const struct crop_rule *crop)
{
    char rect[CROP_TEXT];
    crop_text(&crop->rect, rect);
    add(text, " trim=%s", crop->kind == CROP_AUTO ? "auto" : crop->kind == CROP_OFF ? "off" : rect);
}

static void add_light(char text[REPORT_FINGERPRINT], const struct light_rule *light)
{
    add(text, " tone_map=%s", light_map_name(light->map));
    if (light->peak > 0)
        add(text, " hdr_peak=%d", light->peak);
    if (light->linear)
        add(text, " light=linear");
}

static void add_colours(char text[REPORT_FINGERPRINT], const struct options *o,
                        const struct writer *w, struct strips strips)
{
    unsigned needs = strips_need(strips) | w->needs |
                     (w == outputs_format(o) && outputs_are_posters(o) ? STRIP_CLUSTERS : 0),
             obeys = strips_obey(strips) | w->obeys;
    const struct kmeans_params *k = &o->kmeans;
    if (o->steady > 0 && (obeys & STRIP_STEADY))
        add(text, " steady=%d", o->steady);
    if (obeys & STRIP_ORDER)
        add(text, " order=%s", palette_order_name(o->order));
    if (needs & STRIP_CLUSTERS)
        add(text, " k=%d n_init=%d race=%s init=%s max_iter=%d seed=%" PRIu64, k->k, k->n_init,
            k->race ? "yes" : "no", kmeans_init_name(k->init), k->max_iter, k->seed);
}

/* A title may be of any length and any letters: its hash stands for it. */
static void add_layout(char text[REPORT_FINGERPRINT], const struct options *o,
                       const struct writer *w)
{
    char page[PAPER_TEXT];
    bool poster = outputs_are_posters(o);
    if (o->shape != SHAPE_STRIP)
        add(text, " shape=%s", strip_shape_name(o->shape));
    if (o->smooth_us > 0)
        add_seconds(text, "smooth", o->smooth_us);
    if (w != outputs_format(o))
        return; /* pages and titles are pictures' alone */
    if (poster || o->stacked)
        add(text, " sheet=%d", LAYOUT_VERSION);
    if (o->title)
        add(text, " title=%016" PRIx64, hash_64(o->title, strlen(o->title)));
    if (!poster)
        return;
    paper_text(&o->page, o->shape, page);
    add(text, " poster=%s page=%s", outputs_format(o)->name, page);
    if (!outputs_format(o)->page && !o->page.pixels)
        add(text, " dpi=%d", o->dpi);
}

void options_fingerprint(const struct options *o, const struct writer *w, struct strips strips,
                         char text[REPORT_FINGERPRINT])
{
    text[0] = 0;
    add(text, "definition=%d.%d", ANALYSIS_VERSION, PICTURE_VERSION);
    for (size_t i = 0; i < strips.count; i++)
        add(text, "%s%s", i == 0 ? " mode=" : ",", strips.kind[i]->name);
    add_selection(text, &o->selection);
    add_size(text, &o->size);
    add_crop(text, &o->crop);
    add_light(text, &o->light);
    if (o->stream != SOURCE_STREAM_CHOICE)
        add(text, " stream=%d", o->stream);
    if (o->width > 0)
        add(text, " width=%d", o->width);
    add(text, " height=%d", o->height);
    add_layout(text, o, w);
    add_colours(text, o, w, strips);
}
