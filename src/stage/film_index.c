#include "film_index.h"

#include <libavutil/intreadwrite.h>
#include <stdlib.h>
#include <string.h>

#include "av.h"

enum { CHUNK_HEAD = 8, LIST_HEAD = 12 };

bool film_index_open(struct film_index *x, const AVFormatContext *format, const AVStream *stream, struct err *e)
{
    *x = (struct film_index){0};
    int count = avformat_index_get_entries_count(stream);
    if (strcmp(format->iformat->name, "avi") != 0 || !film_av_seekable(format) || count <= 0)
        return true;
    x->entry = malloc((size_t)count * sizeof *x->entry);
    if (!x->entry)
        return err_memory(e, (size_t)count * sizeof *x->entry);
    int64_t last = -1;
    for (int i = 0; i < count; i++) {
        const AVIndexEntry *from = avformat_index_get_entry((AVStream *)stream, i);
        if (from->size == 0)          /* a picture that stays: there is nothing to find */
            continue;
        if (from->pos <= last) {
            film_index_close(x);
            return true;
        }
        last = from->pos;
        x->entry[x->count++] = (struct film_index_entry){.at = from->pos, .time = from->timestamp};
    }
    return true;
}

void film_index_close(struct film_index *x)
{
    free(x->entry);
    *x = (struct film_index){0};
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(uint8_t c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* True if what lies between a film's pictures may begin so: chunks of a stream, indexes, lists, padding. */
static bool is_tag(const uint8_t *t)
{
    static const char *const known[] = {"LIST", "RIFF", "JUNK", "idx1"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (memcmp(t, known[i], 4) == 0)
            return true;
    return (is_digit(t[0]) && is_digit(t[1]) && is_letter(t[2]) && is_letter(t[3])) ||
           (is_letter(t[0]) && is_letter(t[1]) && is_digit(t[2]) && is_digit(t[3]));
}

/* Reads the chunk's head at `at`. Writers that forget to pad a chunk of odd size put the next one a byte earlier. */
static bool read_head(AVIOContext *file, int64_t *at, bool odd, uint8_t head[CHUNK_HEAD])
{
    uint8_t bytes[CHUNK_HEAD + 1];
    if (avio_seek(file, *at - odd, SEEK_SET) < 0 || avio_read(file, bytes, CHUNK_HEAD + odd) != CHUNK_HEAD + odd)
        return false;
    bool early = odd && !is_tag(bytes + 1) && is_tag(bytes);
    memcpy(head, bytes + (odd && !early), CHUNK_HEAD);
    *at -= early;
    return is_tag(head);
}

/* True if chunk follows chunk from `at` on until one begins at `to`: then nothing is torn there. */
static bool is_whole(AVIOContext *file, int64_t at, int64_t to)
{
    bool odd = false;
    uint8_t head[CHUNK_HEAD];
    while (at <= to) {
        if (!read_head(file, &at, odd, head))
            return false;
        if (at == to)
            return true;
        uint32_t size = AV_RL32(head + 4);
        bool list = memcmp(head, "LIST", 4) == 0 || memcmp(head, "RIFF", 4) == 0;
        odd = !list && size % 2 == 1;
        at += list ? LIST_HEAD : CHUNK_HEAD + (int64_t)size + odd;
    }
    return false;
}

/* The entry of the chunk at `at`; x->count: there is none. */
static size_t find_entry(const struct film_index *x, int64_t at)
{
    size_t from = x->next, to = x->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (x->entry[middle].at < at)
            from = middle + 1;
        else
            to = middle;
    }
    return from < x->count && x->entry[from].at == at ? from : x->count;
}

/* How many of the entries from x->next to before `to` are of lost pictures. */
static size_t count_lost(const struct film_index *x, AVIOContext *file, size_t to)
{
    size_t gone = to - x->next;
    if (gone <= x->strange)
        return 0;
    int64_t now = avio_tell(file);
    size_t last = to < x->count ? to : to - 1;
    bool whole = is_whole(file, x->entry[x->next > 0 ? x->next - 1 : 0].at, x->entry[last].at);
    avio_seek(file, now, SEEK_SET);
    return whole ? 0 : gone - x->strange;
}

static void correct(const struct film_index *x, AVPacket *packet)
{
    if (packet->pts != AV_NOPTS_VALUE)
        packet->pts += x->shift;
    if (packet->dts != AV_NOPTS_VALUE)
        packet->dts += x->shift;
}

/* The packet of entry `i` came: the time that the demuxer did not count. */
static int64_t uncounted(const struct film_index *x, size_t i, int64_t dts)
{
    if (dts == AV_NOPTS_VALUE || x->last_dts == AV_NOPTS_VALUE)
        return 0;
    int64_t from = x->entry[x->next > 0 ? x->next - 1 : 0].time;
    return x->entry[i].time - from - (dts - (x->found ? x->last_dts : from));
}

size_t film_index_lost(struct film_index *x, AVIOContext *file, AVPacket *packet, const struct film_index_entry **first)
{
    size_t lost = 0;
    *first = NULL;
    if (x->count == 0)
        return 0;
    *first = x->entry + x->next;
    if (!packet) {
        lost = x->found && x->next < x->count ? count_lost(x, file, x->count) : 0;
        x->next = x->count;
        return lost;
    }
    size_t i = find_entry(x, packet->pos - CHUNK_HEAD);
    if (i < x->count) {
        lost = i > x->next ? count_lost(x, file, i) : 0;
        x->shift += lost > 0 ? uncounted(x, i, packet->dts) : 0;
        x->next = i + 1;
        x->strange = 0;
        x->found = true;
        x->last_dts = packet->dts;
    } else if (x->next < x->count) {
        x->strange++;
    }
    correct(x, packet);
    return lost;
}
