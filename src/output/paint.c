#include "barcode/paint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "font.h"
#include "paint_text.h"
#include "strip_paint.h"

enum { WIDTH_MAX = INT32_MAX, PAD_TOP = 5, PAD_BOTTOM = 4, PAD_LEFT = 5, SCALE_MAX = 4, LABEL_SIZE = 300 };

static const uint8_t background[3] = {0x15, 0x16, 0x1a};
static const uint8_t bright[3] = {0xf0, 0xf0, 0xec};
static const uint8_t dim[3] = {0x92, 0x96, 0xa0};

/* One line of text: a name, and what there is to say about it. */
struct label {
    char name[LABEL_SIZE], note[LABEL_SIZE];
};

/* The labels of a comparison need room to be read: columns of a short film are drawn several pixels wide. */
enum { STACKED_WIDTH = 720 };

/* From top to bottom: the film's label, then each strip's label and the strip; alone: one strip and nothing else. */
struct painter {
    int width, height;
    int strip_height;
    int bar;                          /* height of a label, 0 when alone  */
    int scale;                        /* of its text                      */
    int strips;
    struct strip *strip[STRIPS_MOST];
    struct label title, label[STRIPS_MOST];
};

/* Characters that fit between the margins. */
static int room(const struct painter *p)
{
    int left = p->width - 2 * PAD_LEFT * p->scale;
    return left > 0 ? left / (FONT_WIDTH * p->scale) : 0;
}

/* Cuts `text` to `most` characters. A cut text ends in dots, or is left out when hardly anything of it would remain. */
static void shorten(char *text, int most)
{
    if (strlen(text) <= (size_t)most)
        return;
    if (most < 6) {
        text[0] = 0;
        return;
    }
    text[most] = 0;
    memcpy(text + most - 3, "...", 3);
}

/* The note stays whole while that leaves room for a recognisable name; beyond that the note is cut first. */
static void label_fit(const struct painter *p, struct label *l)
{
    int all = room(p), name = (int)strlen(l->name), note = (int)strlen(l->note) + 2;
    int least = name < 20 ? name : 20;
    shorten(l->name, all - note >= least ? all - note : all);
    shorten(l->note, all - (int)strlen(l->name) - 2);
}

static int label_width(const struct label *l)
{
    return PAD_LEFT * 2 + (int)(strlen(l->name) + 2 + strlen(l->note)) * FONT_WIDTH;
}

/* Large enough to read beside strips of this height, small enough that the strips' labels fit if possible. */
static int choose_scale(const struct painter *p)
{
    int longest = 1;
    for (int i = 0; i < p->strips; i++)
        if (label_width(&p->label[i]) > longest)
            longest = label_width(&p->label[i]);
    int scale = 1 + (p->strip_height + 150) / 300;
    if (scale > SCALE_MAX)
        scale = SCALE_MAX;
    if (scale > p->width / longest)
        scale = p->width / longest;
    return scale > 1 ? scale : 1;
}

static void label_strips(struct painter *p, const struct report *r, struct strips strips)
{
    char text[LABEL_SIZE / 2], size[40];
    font_ascii(paint_text_file_name(r->film->path), p->title.name, LABEL_SIZE);
    for (int i = 0; i < p->strips; i++) {
        snprintf(p->label[i].name, LABEL_SIZE, "%s", strips.kind[i]->title);
        strips.kind[i]->note(r, p->label[i].note, LABEL_SIZE);
    }
    paint_text_selection(&r->selection, text, sizeof text);
    snprintf(p->title.note, LABEL_SIZE, "%s", text);
    p->scale = choose_scale(p);
    p->bar = (PAD_TOP + FONT_HEIGHT + PAD_BOTTOM) * p->scale;
    snprintf(size, sizeof size, ", at %dx%d", r->width, r->height);
    if (strlen(p->title.name) + 2 + strlen(text) + strlen(size) <= (size_t)room(p))   /* the first thing to go */
        snprintf(p->title.note, LABEL_SIZE, "%s%s", text, size);
    label_fit(p, &p->title);
    for (int i = 0; i < p->strips; i++)
        label_fit(p, &p->label[i]);
}

static bool check_size(const struct report *r, struct strips strips, struct err *e)
{
    /* The strips, and one label more than strips of the largest text, must stay below INT_MAX rows. */
    if (r->picture_height < 1 || r->picture_height > INT32_MAX / (int)strips.count - 1000)
        return err_set(e, ERR_FAILED, "a picture cannot be %d pixels high", r->picture_height);
    if (r->picture_width < 0)
        return err_set(e, ERR_FAILED, "a picture cannot be %d pixels wide", r->picture_width);
    if (r->count == 0)
        return err_set(e, ERR_FAILED, "there is no column to paint");
    if (r->picture_width == 0 && r->count > WIDTH_MAX)
        return err_set(e, ERR_FAILED, "%" PRIu64 " columns are more than a picture can be wide: ask for a --width", r->count);
    return true;
}

static bool check_pixels(const struct painter *p, struct err *e)
{
    return (uint64_t)p->width * (uint64_t)p->height <= PAINT_PIXELS_MOST ||
           err_set(e, ERR_FAILED, "a picture of %dx%d is too large, %" PRIu64 " pixels are the most: ask for a smaller --width or --height",
                   p->width, p->height, (uint64_t)PAINT_PIXELS_MOST);
}

struct painter *painter_open(const struct report *r, struct strips strips, struct err *e)
{
    bool stacked = strips.count > 1;
    if (!check_size(r, strips, e))
        return NULL;
    struct painter *p = calloc(1, sizeof *p);
    if (!p) {
        err_memory(e, sizeof *p);
        return NULL;
    }
    p->width = r->picture_width > 0 ? r->picture_width : (int)r->count;
    if (stacked && r->picture_width == 0 && p->width < STACKED_WIDTH)
        p->width *= (STACKED_WIDTH + p->width - 1) / p->width;
    p->strip_height = r->picture_height;
    p->strips = (int)strips.count;
    if (stacked)
        label_strips(p, r, strips);
    p->height = (stacked ? p->bar : 0) + p->strips * (p->bar + p->strip_height);
    if (!check_pixels(p, e)) {
        painter_free(&p);
        return NULL;
    }
    for (int i = 0; i < p->strips; i++) {
        p->strip[i] = strip_open(r, strips.kind[i], p->width, p->strip_height, e);
        if (!p->strip[i]) {
            painter_free(&p);
            return NULL;
        }
    }
    return p;
}

int painter_width(const struct painter *p)
{
    return p->width;
}

int painter_height(const struct painter *p)
{
    return p->height;
}

/* Row y of a label. */
static void paint_label(const struct painter *p, const struct label *l, int y, uint8_t *rgb)
{
    for (int x = 0; x < p->width; x++)
        memcpy(rgb + (size_t)x * 3, background, 3);
    int row = y - PAD_TOP * p->scale;
    if (row < 0 || row >= FONT_HEIGHT * p->scale)
        return;
    int x = font_row(l->name, row, p->scale, bright, rgb, PAD_LEFT * p->scale, p->width);
    if (l->note[0])
        font_row(l->note, row, p->scale, dim, rgb, x + 2 * FONT_WIDTH * p->scale, p->width);
}

void painter_row(struct painter *p, int y, uint8_t *rgb)
{
    if (y < p->bar) {
        paint_label(p, &p->title, y, rgb);
        return;
    }
    y -= p->bar;
    int each = p->bar + p->strip_height, i = y / each;
    if (y % each < p->bar)
        paint_label(p, &p->label[i], y % each, rgb);
    else
        strip_row(p->strip[i], y % each - p->bar, rgb);
}

void painter_free(struct painter **p)
{
    if (!*p)
        return;
    for (int i = 0; i < (*p)->strips; i++)
        strip_free(&(*p)->strip[i]);
    free(*p);
    *p = NULL;
}
