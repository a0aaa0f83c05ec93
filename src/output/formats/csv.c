#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "barcode/base/interrupt.h"
#include "barcode/output/writer.h"

/* RFC 4180: a header line, and lines that end in CRLF. No field needs quotes. */
static const char head_begin[] = "column,frame,time,status,average", head_end[] = ",film";

static void put_colour(FILE *f, const uint8_t rgb[3])
{
    fprintf(f, ",#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
}

static void put_clusters(FILE *f, const struct column *c, int k)
{
    uint64_t total = 0;
    int clusters = c->status == COLUMN_MISSING || !c->cluster ? 0 : c->clusters;
    for (int j = 0; j < clusters; j++)
        total += c->cluster[j].count;
    for (int j = 0; j < k; j++) {
        if (j >= clusters || total == 0) {
            fputs(",,", f);
            continue;
        }
        uint64_t share = ((uint64_t)c->cluster[j].count * 1000000 + total / 2) / total;
        put_colour(f, c->cluster[j].rgb);
        fprintf(f, ",%" PRIu64 ".%06" PRIu64, share / 1000000, share % 1000000);
    }
}

static void put_column(FILE *f, const struct report *r, unsigned needs, uint64_t i)
{
    static const char *const status[] = {"missing", "ok", "damaged"};
    const struct column *c = columns_get(r->columns, i);
    bool missing = c->status == COLUMN_MISSING;
    fprintf(f, "%" PRIu64 ",", i);
    if (column_untold(c, i))
        fputs(",", f);
    else
        fprintf(f, "%" PRIu64 ",%s%" PRId64 ".%06" PRId64, c->frame, c->time_us < 0 ? "-" : "",
                (c->time_us < 0 ? -c->time_us : c->time_us) / 1000000,
                (c->time_us < 0 ? -c->time_us : c->time_us) % 1000000);
    fprintf(f, ",%s", status[c->status]);
    if (missing)
        fputs(",", f);
    else
        put_colour(f, c->average);
    if ((needs & STRIP_DOMINANT) && missing)
        fputs(",", f);
    else if (needs & STRIP_DOMINANT)
        put_colour(f, c->dominant);
    if (needs & STRIP_CLUSTERS)
        put_clusters(f, c, r->kmeans.k);
    fprintf(f, ",%s\r\n", r->film_id);
}

static bool write_csv(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    unsigned needs = strips_need(strips);
    int clusters = needs & STRIP_CLUSTERS ? r->kmeans.k : 0;
    errno = 0;
    fprintf(f, "%s%s", head_begin, needs & STRIP_DOMINANT ? ",dominant" : "");
    for (int j = 0; j < clusters; j++)
        fprintf(f, ",colour_%d,share_%d", j + 1, j + 1);
    fprintf(f, "%s\r\n", head_end);
    for (uint64_t i = 0; i < r->count && !ferror(f); i++) {
        if (interrupted())
            return interrupt_error(e);
        put_column(f, r, needs, i);
    }
    return !ferror(f) || err_set(e, ERR_FAILED, "%s", strerror(errno ? errno : EIO));
}

/* Recognizes the header line. The film id is the last field of the first column's line. */
static bool recognize_csv(const uint8_t *head, size_t size, char film[FILM_ID_TEXT])
{
    const char *text = (const char *)head;
    if (size < strlen(head_begin) || memcmp(text, head_begin, strlen(head_begin)) != 0)
        return false;
    const char *line = memmem(text, size, "\r\n", 2);
    size_t end = strlen(head_end);
    if (!line || memcmp(line - end, head_end, end) != 0)
        return false;
    const char *last = memmem(line + 2, size - (size_t)(line + 2 - text), "\r\n", 2);
    const char *comma = last ? memrchr(line, ',', (size_t)(last - line)) : NULL;
    if (comma && last - comma <= FILM_ID_TEXT)
        snprintf(film, FILM_ID_TEXT, "%.*s", (int)(last - comma - 1), comma + 1);
    return true;
}

static const char *const ending[] = {"csv", NULL};

const struct writer writer_csv = {.name = "csv",
                                  .title = "CSV",
                                  .ending = ending,
                                  .recognizes = recognize_csv,
                                  .write = write_csv};
