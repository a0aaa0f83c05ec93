#include "matroska.h"

#include <limits.h>

int64_t ebml_size(const uint8_t *p, size_t room, size_t *bytes)
{
    size_t n = 1;
    *bytes = 0;
    while (n <= 8 && room > 0 && !(p[0] & 0x100 >> n))
        n++;
    if (n > 8 || n > room)
        return -1;
    int64_t size = p[0] & (0xff >> n), unknown = ((int64_t)1 << 7 * n) - 1;
    for (size_t i = 1; i < n; i++)
        size = size << 8 | p[i];
    *bytes = n;
    return size == unknown ? -1 : size;
}

bool ebml_read(const uint8_t *p, size_t room, struct ebml_element *x)
{
    size_t id = 1, bytes;
    while (id <= 4 && room > 0 && !(p[0] & 0x100 >> id))
        id++;
    if (id > 4 || id > room)
        return false;
    *x = (struct ebml_element){.id = 0};
    for (size_t i = 0; i < id; i++)
        x->id = x->id << 8 | p[i];
    x->size = ebml_size(p + id, room - id, &bytes);
    x->head = id + bytes;
    return bytes > 0;
}

/* A body, of which `at` bytes are read. */
struct body {
    const uint8_t *data;
    size_t size, at;
};

/* Reads the next element that is complete, and sets *in to its body. */
static bool next_element(struct body *b, uint32_t *id, struct body *in)
{
    struct ebml_element x;
    if (!ebml_read(b->data + b->at, b->size - b->at, &x))
        return false;
    size_t left = b->size - b->at - x.head;
    if (x.size < 0 || (uint64_t)x.size > left)
        return false;
    *id = x.id;
    *in = (struct body){b->data + b->at + x.head, (size_t)x.size, 0};
    b->at += x.head + (size_t)x.size;
    return true;
}

/* Returns an unsigned number, at most INT_MAX. */
static int number_in(const struct body *b)
{
    uint64_t n = 0;
    for (size_t i = 0; i < b->size && n <= INT_MAX; i++)
        n = n << 8 | b->data[i];
    return n <= INT_MAX ? (int)n : INT_MAX;
}

static struct matroska_video read_video(struct body video)
{
    enum { BOTTOM = 0x54aa, TOP = 0x54bb, LEFT = 0x54cc, RIGHT = 0x54dd };
    enum { DISPLAY_WIDTH = 0x54b0, DISPLAY_HEIGHT = 0x54ba };
    struct matroska_video v = {.display_width = 0};
    struct body in;
    uint32_t id;
    while (next_element(&video, &id, &in))
        switch (id) {
        case BOTTOM: v.crop.bottom = number_in(&in); break;
        case TOP: v.crop.top = number_in(&in); break;
        case LEFT: v.crop.left = number_in(&in); break;
        case RIGHT: v.crop.right = number_in(&in); break;
        case DISPLAY_WIDTH: v.display_width = number_in(&in); break;
        case DISPLAY_HEIGHT: v.display_height = number_in(&in); break;
        default: break;
        }
    return v;
}

struct matroska_video matroska_video(const uint8_t *tracks, size_t size, int number)
{
    enum { ENTRY = 0xae, TYPE = 0x83, VIDEO = 0xe0, IS_VIDEO = 1 };
    struct body all = {tracks, size, 0}, entry, in, video;
    uint32_t id;
    while (next_element(&all, &id, &entry)) {
        bool is_video = false;
        video = (struct body){tracks, 0, 0};
        while (id == ENTRY && next_element(&entry, &id, &in)) {
            is_video |= id == TYPE && number_in(&in) == IS_VIDEO;
            video = id == VIDEO ? in : video;
            id = ENTRY;
        }
        if (is_video && number-- == 0)
            return read_video(video);
    }
    return (struct matroska_video){.display_width = 0};
}

bool matroska_is_ordered(const uint8_t *chapters, size_t size)
{
    enum { EDITION = 0x45b9, DEFAULT = 0x45db, ORDERED = 0x45dd };
    struct body all = {chapters, size, 0}, edition, in;
    uint32_t id;
    bool first = true, found = false;
    while (next_element(&all, &id, &edition)) {
        bool is_default = false, ordered = false;
        if (id != EDITION)
            continue;
        while (next_element(&edition, &id, &in)) {
            is_default |= id == DEFAULT && number_in(&in) == 1;
            ordered |= id == ORDERED && number_in(&in) == 1;
        }
        if (is_default)
            return ordered;
        found |= first && ordered;
        first = false;
    }
    return found;
}
