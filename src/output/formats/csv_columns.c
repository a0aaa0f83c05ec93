#include "csv_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/modes/strip.h"
#include "csv_items.h"

static const char *const plain[PLAINS] = {
    "column", "frame", "time",     "status", "film",     "contrast", "colourfulness",
    "title",  "file",  "loudness", "peak",   "centroid", "clock"};

/* The quantities. The values and their digits are in the order of enum colour_value. */
static const struct {
    const char *name;
    int digits;
} quantity[QUANTITIES] = {
    {"r", 0},      {"g", 0},     {"b", 0},         {"luminance", 5}, {"lightness", 2},
    {"lab_a", 2},  {"lab_b", 2}, {"chroma", 2},    {"hue", 1},       {"ok_lightness", 4},
    {"ok_a", 4},   {"ok_b", 4},  {"ok_chroma", 4}, {"ok_hue", 1},    {"saturation", 4},
    {"colour", 0}, {"share", 6}};

static const char *const subject_name[] = {
    [CSV_AVERAGE] = "average", [CSV_DOMINANT] = "dominant", [CSV_CLUSTER] = NULL};

int csv_value_digits(enum colour_value value) { return quantity[value].digits; }

void csv_item_name(const struct csv_item *item, int cluster, char name[CSV_NAME])
{
    const char *what = item->subject == CSV_PLAIN ? plain[item->what] : quantity[item->what].name;
    if (item->subject == CSV_CLUSTER)
        snprintf(name, CSV_NAME, "%s_%d", what, cluster);
    else if (item->subject <= CSV_COLUMN)
        snprintf(name, CSV_NAME, "%s", what);
    else if (item->what == QUANTITY_COLOUR)
        snprintf(name, CSV_NAME, "%s", subject_name[item->subject]);
    else
        snprintf(name, CSV_NAME, "%s_%s", subject_name[item->subject], what);
}

unsigned csv_item_need(const struct csv_item *item)
{
    if (item->subject == CSV_PLAIN && item->what >= PLAIN_LOUDNESS && item->what <= PLAIN_CENTROID)
        return STRIP_SOUND;
    bool clusters = item->subject == CSV_CLUSTER ||
                    (item->subject == CSV_PLAIN &&
                     (item->what == PLAIN_CONTRAST || item->what == PLAIN_COLOURFULNESS));
    return clusters ? STRIP_CLUSTERS : item->subject == CSV_DOMINANT ? STRIP_DOMINANT : 0;
}

unsigned csv_columns_need(const struct csv_columns *columns)
{
    unsigned need = 0;
    for (size_t i = 0; i < columns->count; i++)
        need |= columns->item[i].optional ? 0 : csv_item_need(&columns->item[i]);
    return need;
}

static bool add_item(struct csv_columns *columns, struct csv_item item, struct err *e)
{
    if (columns->count == CSV_ITEMS_MOST)
        return err_set(e, ERR_USAGE, "--csv-columns: more than %d names", CSV_ITEMS_MOST);
    columns->item[columns->count++] = item;
    return true;
}

static bool add_optional(struct csv_columns *columns, unsigned subject, unsigned what,
                         struct err *e)
{
    return add_item(columns, (struct csv_item){(uint8_t)subject, (uint8_t)what, 0, true}, e);
}

/* Adds every column; the text of the film and the sound last. */
static bool add_all(struct csv_columns *columns, struct err *e)
{
    bool ok = true;
    for (unsigned i = 0; i < PLAIN_CONTRAST; i++)
        ok = ok && add_optional(columns, CSV_PLAIN, i, e);
    for (unsigned subject = CSV_COLUMN; subject <= CSV_CLUSTER; subject++) {
        ok = ok && add_optional(columns, subject, QUANTITY_COLOUR, e);
        for (unsigned i = 0; i < QUANTITY_COLOUR; i++)
            ok = ok && add_optional(columns, subject, i, e);
    }
    ok = ok && add_optional(columns, CSV_CLUSTER, QUANTITY_SHARE, e);
    for (unsigned i = PLAIN_CONTRAST; i < PLAIN_CLOCK; i++)
        ok = ok && add_optional(columns, CSV_PLAIN, i, e);
    return ok;
}

/* Returns the index of the `length` bytes at `name` among the quantities, or QUANTITIES. */
static uint8_t find_quantity(const char *name, size_t length)
{
    uint8_t i = 0;
    while (i < QUANTITIES &&
           (strncmp(quantity[i].name, name, length) != 0 || quantity[i].name[length] != 0))
        i++;
    return i;
}

/* Finds the name of a cluster's quantity: NAME_N, or NAME_1 and so on. */
static bool find_cluster(const char *name, size_t length, struct csv_item *item)
{
    const char *mark = memrchr(name, '_', length);
    if (!mark)
        return false;
    size_t digits = length - (size_t)(mark + 1 - name);
    bool each = digits == 1 && mark[1] == 'N';
    int cluster = 0;
    for (size_t i = 1; i <= digits && i <= 3 && mark[i] >= '0' && mark[i] <= '9'; i++)
        cluster = 10 * cluster + (mark[i] - '0');
    bool number = mark[1] != '0' && cluster > 0 && cluster <= CLUSTERS_MAX &&
                  strspn(mark + 1, "0123456789") == digits;
    item->subject = CSV_CLUSTER;
    item->what = find_quantity(name, (size_t)(mark - name));
    item->cluster = (uint8_t)cluster;
    return (each || number) && item->what < QUANTITIES;
}

/* Finds the name of the average or the dominant colour, or of one of their quantities. */
static bool find_subject(const char *name, size_t length, struct csv_item *item)
{
    for (unsigned subject = CSV_AVERAGE; subject <= CSV_DOMINANT; subject++) {
        size_t prefix = strlen(subject_name[subject]);
        if (length < prefix || strncmp(name, subject_name[subject], prefix) != 0)
            continue;
        item->subject = (uint8_t)subject;
        item->what = QUANTITY_COLOUR;
        if (length == prefix)
            return true;
        if (name[prefix] == '_')
            item->what = find_quantity(name + prefix + 1, length - prefix - 1);
        return item->what < COLOUR_VALUES;
    }
    return false;
}

static bool find_item(const char *name, size_t length, struct csv_item *item)
{
    *item = (struct csv_item){.subject = CSV_PLAIN};
    for (unsigned i = 0; i < PLAINS; i++) {
        item->what = (uint8_t)i;
        if (strlen(plain[i]) == length && memcmp(plain[i], name, length) == 0)
            return true;
    }
    item->subject = CSV_COLUMN;
    item->what = find_quantity(name, length);
    return item->what < QUANTITY_SHARE || find_subject(name, length, item) ||
           find_cluster(name, length, item);
}

static bool unknown(const char *name, size_t length, struct err *e)
{
    char plains[128] = "", quantities[160] = "";
    for (size_t i = 0, used = 0; i < PLAINS; i++)
        used += (size_t)snprintf(plains + used, sizeof plains - used, "%s, ", plain[i]);
    for (size_t i = 0, used = 0; i < QUANTITY_SHARE; i++)
        used += (size_t)snprintf(quantities + used, sizeof quantities - used, "%s%s",
                                 i == 0 ? "" : ", ", quantity[i].name);
    return err_set(e, ERR_USAGE,
                   "--csv-columns: '%.*s' is not a column; the names are all, %saverage, dominant, "
                   "share_N and %s; of the latter also average_NAME, dominant_NAME and, for the "
                   "clusters, NAME_N or NAME_1 to NAME_64",
                   length > 80 ? 80 : (int)length, name, plains, quantities);
}

bool csv_columns_parse(const char *list, struct csv_columns *columns, struct err *e)
{
    columns->count = 0;
    for (const char *name = list; name;) {
        name += strspn(name, " ");
        size_t length = strcspn(name, ",");
        struct csv_item item;
        if (length == 3 && memcmp(name, "all", 3) == 0) {
            if (!add_all(columns, e))
                return false;
        } else if (!find_item(name, length, &item)) {
            return unknown(name, length, e);
        } else if (!add_item(columns, item, e)) {
            return false;
        }
        name = name[length] ? name + length + 1 : NULL;
    }
    return true;
}

struct csv_columns csv_columns_default(void)
{
    struct csv_columns columns;
    struct err none = ERR_INIT;
    csv_columns_parse("column,frame,time,status,average,dominant,colour_N,share_N,film,"
                      "r,g,b,lightness,chroma,hue,contrast,title,file,loudness,peak,centroid",
                      &columns, &none);
    for (size_t i = 0; i < columns.count; i++)
        columns.item[i].optional = true;
    return columns;
}
