#include "barcode/live/live_feed.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>


/* The words of a slot: the column's number, time, flags and colours, then its pixels. */
enum { WORD_NUMBER, WORD_TIME, WORD_FLAGS, WORD_PIXELS };
enum { FLAG_MISSING = 1, FLAG_OPEN = 2 };

/* How often a read tries to copy slots that are being written, which takes microseconds each. */
enum { ATTEMPTS = 10000 };

/*
 * What processes share: a ring of slots, each a sequence lock, whose `turn` is odd while the slot
 * is written. All words are atomic, with the orders of H. Boehm, "Can seqlocks get along with
 * programming language memory models?" (2012), without fences, which ThreadSanitizer does not know.
 * Zeros are an empty ring: numbers are stored as number_word().
 */
struct ring {
    _Atomic uint64_t newest; /* number_word() */
    _Atomic uint64_t puts;
    atomic_bool closed;
    _Atomic uint64_t word[]; /* [capacity] turns, then [capacity][words] */
};

struct live_feed {
    size_t capacity, words, bytes; /* `words` of a slot, `bytes` of the ring */
    int height;
    int64_t period_us;
    struct ring *ring;
    atomic_int watches;
    int watch[LIVE_FEED_WATCHES_MOST];
};

static uint64_t number_word(int64_t number) { return (uint64_t)number ^ (uint64_t)INT64_MIN; }

static int64_t word_number(uint64_t word) { return (int64_t)(word ^ (uint64_t)INT64_MIN); }

static bool open_watches(struct live_feed *f, struct err *e)
{
    for (int i = 0; i < LIVE_FEED_WATCHES_MOST; i++)
        if ((f->watch[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) < 0)
            return err_set(e, ERR_FAILED, "cannot make an eventfd: %s", strerror(errno));
    return true;
}

struct live_feed *live_feed_open(size_t capacity, int height, int64_t period_us, struct err *e)
{
    struct live_feed *f = err_calloc(1, sizeof *f, e);
    if (!f)
        return NULL;
    for (int i = 0; i < LIVE_FEED_WATCHES_MOST; i++)
        f->watch[i] = -1;
    f->capacity = capacity;
    f->height = height;
    f->period_us = period_us;
    f->words = WORD_PIXELS + ((size_t)height * 3 + 7) / 8;
    f->bytes = sizeof *f->ring + capacity * (1 + f->words) * sizeof f->ring->word[0];
    f->ring = mmap(NULL, f->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (f->ring == MAP_FAILED)
        f->ring = NULL;
    if (!f->ring || !open_watches(f, e))
        live_feed_free(&f);
    return f;
}

int live_feed_height(const struct live_feed *f) { return f->height; }

int64_t live_feed_period_us(const struct live_feed *f) { return f->period_us; }

size_t live_feed_capacity(const struct live_feed *f) { return f->capacity; }

int64_t live_feed_newest(struct live_feed *f)
{
    return word_number(atomic_load_explicit(&f->ring->newest, memory_order_acquire));
}

uint64_t live_feed_puts(struct live_feed *f)
{
    return atomic_load_explicit(&f->ring->puts, memory_order_acquire);
}

bool live_feed_closed(struct live_feed *f) { return atomic_load(&f->ring->closed); }

static _Atomic uint64_t *slot_words(const struct live_feed *f, size_t at)
{
    return &f->ring->word[f->capacity + at * f->words];
}

static size_t slot_of(const struct live_feed *f, int64_t number)
{
    int64_t at = number % (int64_t)f->capacity;
    return (size_t)(at < 0 ? at + (int64_t)f->capacity : at);
}

static uint64_t pack_colours(const struct live_column *c)
{
    uint64_t word = (c->missing ? FLAG_MISSING : 0U) | (c->open ? FLAG_OPEN : 0U);
    for (int i = 0; i < 3 && !c->missing; i++)
        word |= (uint64_t)c->average[i] << (8 + 8 * i) | (uint64_t)c->dominant[i] << (32 + 8 * i);
    return word;
}

static void unpack_colours(uint64_t word, struct live_column *c)
{
    c->missing = word & FLAG_MISSING;
    c->open = word & FLAG_OPEN;
    for (int i = 0; i < 3; i++) {
        c->average[i] = (uint8_t)(word >> (8 + 8 * i));
        c->dominant[i] = (uint8_t)(word >> (32 + 8 * i));
    }
}

static void store_slot(struct live_feed *f, const struct live_column *c, const uint8_t *rgb)
{
    const size_t at = slot_of(f, c->number), bytes = (size_t)f->height * 3;
    _Atomic uint64_t *word = slot_words(f, at), *turn = &f->ring->word[at];
    /* It is odd already if a process was killed here. */
    const uint64_t odd = (atomic_load_explicit(turn, memory_order_relaxed) + 1) | 1;
    atomic_store_explicit(turn, odd, memory_order_relaxed);
    atomic_store_explicit(&word[WORD_NUMBER], number_word(c->number), memory_order_release);
    atomic_store_explicit(&word[WORD_TIME], (uint64_t)c->time_us, memory_order_release);
    atomic_store_explicit(&word[WORD_FLAGS], pack_colours(c), memory_order_release);
    for (size_t i = 0; i * 8 < bytes; i++) {
        uint64_t pixels = 0;
        if (!c->missing && rgb)
            memcpy(&pixels, rgb + i * 8, bytes - i * 8 < 8 ? bytes - i * 8 : 8);
        atomic_store_explicit(&word[WORD_PIXELS + i], pixels, memory_order_release);
    }
    atomic_store_explicit(turn, odd + 1, memory_order_release);
}

/*
 * Copies the slot of a column. Returns false if another column has taken its place, or if the
 * process that wrote it was killed. *attempts is what is left of ATTEMPTS; each slot gets one.
 */
static bool load_slot(struct live_feed *f, int64_t number, struct live_column *c, uint8_t *rgb,
                      int *attempts)
{
    const size_t at = slot_of(f, number), bytes = (size_t)f->height * 3;
    _Atomic uint64_t *word = slot_words(f, at), *turn = &f->ring->word[at];
    do {
        const uint64_t before = atomic_load_explicit(turn, memory_order_acquire);
        if (before & 1) {
            sched_yield();
            continue;
        }
        c->number = word_number(atomic_load_explicit(&word[WORD_NUMBER], memory_order_acquire));
        c->time_us = (int64_t)atomic_load_explicit(&word[WORD_TIME], memory_order_acquire);
        unpack_colours(atomic_load_explicit(&word[WORD_FLAGS], memory_order_acquire), c);
        for (size_t i = 0; rgb && i * 8 < bytes; i++) {
            uint64_t pixels = atomic_load_explicit(&word[WORD_PIXELS + i], memory_order_acquire);
            memcpy(rgb + i * 8, &pixels, bytes - i * 8 < 8 ? bytes - i * 8 : 8);
        }
        if (atomic_load_explicit(turn, memory_order_relaxed) == before)
            return c->number == number;
    } while (--*attempts > 0);
    return false;
}

/* A full counter means that the reader is awake anyway. */
static void wake_readers(struct live_feed *f)
{
    const uint64_t one = 1;
    for (int i = 0; i < LIVE_FEED_WATCHES_MOST; i++) {
        if (write(f->watch[i], &one, sizeof one) < 0)
            continue;
    }
}

/* Ends the open column `newest`, and stores the columns up to `c` that were left out. */
static void fill_gap(struct live_feed *f, int64_t newest, const struct live_column *c)
{
    _Atomic uint64_t *flags = &slot_words(f, slot_of(f, newest))[WORD_FLAGS];
    atomic_fetch_and_explicit(flags, ~(uint64_t)FLAG_OPEN, memory_order_release);
    int64_t n =
        c->number - newest > (int64_t)f->capacity ? c->number - (int64_t)f->capacity : newest;
    while (++n < c->number) {
        struct live_column left = {
            n, c->time_us - (c->number - n) * f->period_us, true, false, {0}, {0}};
        store_slot(f, &left, NULL);
    }
}

void live_feed_put(struct live_feed *f, const struct live_column *c, const uint8_t *rgb)
{
    int64_t newest = live_feed_newest(f);
    if (c->number < newest)
        return;
    if (newest != INT64_MIN && c->number > newest)
        fill_gap(f, newest, c);
    store_slot(f, c, rgb);
    atomic_store_explicit(&f->ring->newest, number_word(c->number), memory_order_release);
    atomic_fetch_add_explicit(&f->ring->puts, 1, memory_order_release);
    wake_readers(f);
}

size_t live_feed_read(struct live_feed *f, int64_t since, size_t most, struct live_column *out,
                      uint8_t *rgb)
{
    const int64_t newest = live_feed_newest(f), capacity = (int64_t)f->capacity;
    if (newest < INT64_MIN + capacity || since >= newest)
        return 0;
    int64_t n = newest - capacity > since ? newest - capacity : since;
    size_t count = 0;
    int attempts = ATTEMPTS;
    while (count < most && n < newest)
        if (load_slot(f, ++n, &out[count], rgb ? rgb + count * (size_t)f->height * 3 : NULL,
                      &attempts))
            count++;
    return count;
}

int live_feed_watch(struct live_feed *f, struct err *e)
{
    int at = atomic_fetch_add(&f->watches, 1);
    if (at < LIVE_FEED_WATCHES_MOST)
        return f->watch[at];
    err_set(e, ERR_FAILED, "a feed has more than %d readers", LIVE_FEED_WATCHES_MOST);
    return -1;
}

bool live_feed_keep(const struct live_feed *f, struct sandbox *s, struct err *e)
{
    for (int i = 0; i < LIVE_FEED_WATCHES_MOST; i++)
        if (!sandbox_keep(s, f->watch[i], e))
            return false;
    return true;
}

void live_feed_close(struct live_feed *f)
{
    atomic_store(&f->ring->closed, true);
    wake_readers(f);
}

void live_feed_free(struct live_feed **f)
{
    if (!*f)
        return;
    for (int i = 0; i < LIVE_FEED_WATCHES_MOST; i++)
        if ((*f)->watch[i] >= 0)
            close((*f)->watch[i]);
    if ((*f)->ring)
        munmap((*f)->ring, (*f)->bytes);
    free(*f);
    *f = NULL;
}
