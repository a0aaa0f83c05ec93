#include "wire.h"

#include <stdlib.h>
#include <string.h>

void wire_put(struct wire_out *o, const void *data, size_t bytes)
{
    if (o->failed || bytes == 0)
        return;
    if (bytes > o->room - o->count) {
        size_t room = (o->count + bytes) * 2 + 256;
        uint8_t *grown = realloc(o->data, room);
        if (!grown) {
            o->failed = true;
            return;
        }
        o->data = grown;
        o->room = room;
    }
    memcpy(o->data + o->count, data, bytes);
    o->count += bytes;
}

static void put_word(struct wire_out *o, uint64_t value, size_t bytes)
{
    uint8_t word[8];
    for (size_t i = 0; i < bytes; i++)
        word[i] = (uint8_t)(value >> 8 * i);
    wire_put(o, word, bytes);
}

void wire_put_u32(struct wire_out *o, uint32_t value) { put_word(o, value, 4); }

void wire_put_u64(struct wire_out *o, uint64_t value) { put_word(o, value, 8); }

void wire_put_hash(struct wire_out *o, struct hash128 value)
{
    put_word(o, value.low, 8);
    put_word(o, value.high, 8);
}

void wire_put_number(struct wire_out *o, uint64_t value)
{
    uint8_t byte[10];
    size_t n = 0;
    for (; value >= 128; value >>= 7)
        byte[n++] = (uint8_t)(value | 128);
    byte[n++] = (uint8_t)value;
    wire_put(o, byte, n);
}

uint64_t wire_fold(int64_t value)
{
    uint64_t twice = (uint64_t)value << 1;
    return value < 0 ? ~twice : twice;
}

int64_t wire_unfold(uint64_t value)
{
    uint64_t half = value >> 1;
    return (int64_t)(value & 1 ? ~half : half);
}

void wire_put_signed(struct wire_out *o, int64_t value) { wire_put_number(o, wire_fold(value)); }

void wire_free(struct wire_out *o)
{
    free(o->data);
    *o = (struct wire_out){0};
}

struct wire_in wire_read(const uint8_t *data, size_t bytes)
{
    return (struct wire_in){.at = data, .end = data + bytes};
}

size_t wire_left(const struct wire_in *i) { return (size_t)(i->end - i->at); }

static uint64_t get_word(struct wire_in *i, size_t bytes)
{
    uint64_t value = 0;
    if (i->failed || wire_left(i) < bytes) {
        i->failed = true;
        return 0;
    }
    for (size_t n = 0; n < bytes; n++)
        value |= (uint64_t)i->at[n] << 8 * n;
    i->at += bytes;
    return value;
}

uint32_t wire_u32(struct wire_in *i) { return (uint32_t)get_word(i, 4); }

uint64_t wire_u64(struct wire_in *i) { return get_word(i, 8); }

struct hash128 wire_hash(struct wire_in *i)
{
    uint64_t low = get_word(i, 8), high = get_word(i, 8);
    return (struct hash128){low, high};
}

uint64_t wire_number(struct wire_in *i)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = get_word(i, 1);
        if (i->failed || (shift == 63 && byte > 1))
            break;
        value |= (byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    i->failed = true;
    return 0;
}

int64_t wire_signed(struct wire_in *i) { return wire_unfold(wire_number(i)); }
