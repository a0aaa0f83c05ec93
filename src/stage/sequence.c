#include "sequence.h"

#include "nal_read.h"

enum { SEQUENCE = 0xb3, EXTENSION = 0xb5, PICTURE = 0x00, HEADER = 8, SEQUENCE_EXTENSION = 10, SQUARE = 1 };

/* The next sequence header or extension before the packet's picture, at its start code; `size`: there is none. */
static size_t next_header(const uint8_t *data, size_t at, size_t size)
{
    for (at = find_start(data, at, size); at + 4 <= size; at = find_start(data, at + 3, size)) {
        if (data[at + 3] == SEQUENCE || data[at + 3] == EXTENSION)
            return at;
        if (data[at + 3] == PICTURE)
            return size;
    }
    return size;
}

static bool is_sequence(const uint8_t *data, size_t at, size_t size)
{
    return data[at + 3] == SEQUENCE && size - at >= HEADER;
}

enum { EXTENDED = 32 };       /* the bit of the form that says so */

/* A sequence header without its extension is MPEG-1's. libavcodec refuses one without a size, and the one before stays in force. */
static uint64_t form_of_header(const uint8_t *p)
{
    uint64_t width = (uint64_t)p[4] << 4 | p[5] >> 4, height = (uint64_t)(p[5] & 15) << 8 | p[6];
    return width > 0 && height > 0 ? (uint64_t)(p[7] >> 4) << 40 | width << 16 | height : 0;
}

/* With what the extension adds: chroma format, low delay, the upper bits of the size, and whether this is MPEG-2. */
static uint64_t form_of_extension(uint64_t form, const uint8_t *p)
{
    enum { MACROBLOCK = 16 };
    uint64_t chroma = p[5] >> 1 & 3, low_delay = p[9] >> 7;
    form |= (uint64_t)((p[5] & 1) << 1 | p[6] >> 7) << 28 | (uint64_t)(p[6] >> 5 & 3) << 12;
    /* Fields have macroblocks of their own: an interlaced sequence may need another row of them. */
    uint64_t rows = ((form & 0x3fff) + MACROBLOCK - 1) / MACROBLOCK;
    uint64_t progressive = rows % 2 == 1 && (p[5] & 8);
    return form | (uint64_t)1 << EXTENDED | chroma << 33 | low_delay << 35 | progressive << 36;
}

bool sequence_is_shaped(const uint8_t *data, size_t size)
{
    for (size_t at = next_header(data, 0, size); at < size; at = next_header(data, at + 3, size))
        if (is_sequence(data, at, size) && data[at + 7] >> 4 != SQUARE)
            return true;
    return false;
}

/* Takes over what the packet's headers say. */
static void note_headers(struct sequence *s, const uint8_t *data, size_t size)
{
    uint64_t form = 0;
    for (size_t at = next_header(data, 0, size); at < size; at = next_header(data, at + 3, size)) {
        if (is_sequence(data, at, size))
            form = form_of_header(data + at);
        else if (form != 0 && (form >> EXTENDED & 1) == 0 && size - at >= SEQUENCE_EXTENSION && data[at + 4] >> 4 == 1)
            form = form_of_extension(form, data + at);
    }
    s->shaped |= sequence_is_shaped(data, size);
    if (form == 0 || form == s->form)
        return;
    /* What a container says in front may lack the extension, and no decoder holds anything yet. */
    bool changed = s->form != 0 && s->begun;
    s->changed |= changed;
    s->number += changed;
    s->form = form;
}

void sequence_note(struct sequence *s, const uint8_t *data, size_t size, const struct nal_info *info, struct picture *p)
{
    note_headers(s, data, size);
    p->shaped = s->shaped;
    p->sequence = s->number;
    if (!info->picture)
        return;
    p->anew = s->changed;
    s->changed = false;
    s->begun = true;
    if (p->anew && info->intra && p->cut == CUT_NONE)
        p->cut = CUT_OPEN;
    if (info->droppable) {
        p->orphan = s->orphans && !s->broken;
        p->hidden |= s->orphans && s->broken;
        return;
    }
    s->orphans = p->anew && !info->closed;
    s->broken = info->broken_link;
}

void sequence_square(uint8_t *data, size_t size)
{
    for (size_t at = next_header(data, 0, size); at < size; at = next_header(data, at + 3, size))
        if (is_sequence(data, at, size))
            data[at + 7] = (uint8_t)(SQUARE << 4 | (data[at + 7] & 15));
}
