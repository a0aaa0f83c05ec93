#include "barcode/engines.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/log.h"

/*
 * A GPU run costs at least 0.5 s. The CPU estimate may be as low as half the measured time (tests/bench/RESULTS.md).
 */
#define WORTH_A_GPU_SECONDS 1.0

/* What a GPU decodes a second, and how long it has to work to be worth its start and its decoders', beside another's. */
#define GPU_PIXELS 10e9
#define WORTH_ANOTHER_GPU_SECONDS 1.0

/* The length of a group of pictures by most encoders' defaults, about. Each group is decoded on one core while there are enough. */
#define GOP_FRAMES 240.0

/* The share of the cores that is kept busy where they are more than the groups of pictures (share.h). */
#define FRAME_THREADS 0.6

double engine_work_seconds(const struct engine_work *w, int threads)
{
    double decoded = (double)w->frames * w->width * w->height;
    double clustered = (double)w->columns * w->staged_width * w->staged_height;
    double gops = (double)w->frames / GOP_FRAMES;
    double shared = FRAME_THREADS * threads > 1 ? FRAME_THREADS * threads : 1;
    double decoders = gops > threads ? threads : gops > shared ? gops : shared;
    return decoded / ENGINES_DECODE_RATE / decoders + clustered / 6.9e6 / threads;
}

bool engine_worth_a_gpu(const struct engine_work *w, int threads, uint64_t films)
{
    return w->frames == 0 || engine_work_seconds(w, threads) * (double)(films > 1 ? films : 1) > WORTH_A_GPU_SECONDS;
}

/* Of decoding. */
static double gpu_seconds(const struct engine_work *w)
{
    return (double)w->frames * w->width * w->height / GPU_PIXELS;
}

int engine_worth_gpus(const struct engine_work *w, int gpus)
{
    double worth = gpu_seconds(w) / WORTH_ANOTHER_GPU_SECONDS;
    if (w->frames == 0 || worth >= gpus)
        return gpus;
    return worth < 1 ? 1 : (int)worth;
}

void engines_init(struct engines *g, enum engine_choice choice, const struct engine_devices *devices, int threads)
{
    *g = (struct engines){.threads = threads};
    if (choice == ENGINE_CUDA || (choice == ENGINE_AUTO && engine_built("cuda")))
        g->slot[g->count++] = (struct engine_slot){.kind = "cuda", .devices = *devices, .named = devices->count > 0};
    if (choice != ENGINE_CUDA)
        g->slot[g->count++] = (struct engine_slot){.kind = "cpu", .devices = {.count = 1}};
}

static bool is_cpu(const struct engine_slot *s)
{
    return strcmp(s->kind, "cpu") == 0;
}

/* ------------------------------------------------------------------ opening */

/* A device on its way. */
struct opening {
    const char *kind;
    struct engine_config config;
    struct engine *engine;         /* NULL: `why` */
    struct err why;
    pthread_t thread;
};

static void *opening_main(void *argument)
{
    struct opening *o = argument;
    o->engine = engine_open(o->kind, &o->config, &o->why);
    return NULL;
}

/* A GPU's start is mostly waiting, so that several take little longer than one. */
static void open_side_by_side(struct opening *o, int count)
{
    bool apart[ENGINE_PARTS_MOST] = {false};
    for (int i = 1; i < count; i++)
        apart[i] = pthread_create(&o[i].thread, NULL, opening_main, &o[i]) == 0;
    for (int i = 0; i < count; i++)
        if (!apart[i])
            opening_main(&o[i]);
    for (int i = 1; i < count; i++)
        if (apart[i])
            pthread_join(o[i].thread, NULL);
}

/* What was opened joins the slot's engine. False, with the first sentence: a device that was named could not be, or memory is short. */
static bool join(struct engine_slot *s, struct opening *o, int count, struct err *e)
{
    bool fine = true;
    for (int i = 0; i < count && s->named && fine; i++) {
        fine = o[i].engine != NULL;
        if (!fine)
            *e = o[i].why;
        if (!fine && s->devices.count + s->others.count > 1)
            err_prefix(e, "%s:%d", s->kind, o[i].config.device);
    }
    for (int i = 0; i < count && fine; i++) {
        fine = !o[i].engine || engine_many_add(&s->opened, o[i].engine, e);
        if (fine)
            o[i].engine = NULL;
    }
    for (int i = 0; i < count; i++)
        engine_close(&o[i].engine);
    return fine;
}

/* The next `count` devices, about to be opened. */
static void line_up(const struct engines *g, struct engine_slot *s, struct opening *o, int count)
{
    for (int i = 0; i < count; i++)
        o[i] = (struct opening){.kind = s->kind, .config = {.threads = g->threads, .device = s->devices.number[s->tried + i]}, .why = ERR_INIT};
    s->tried += count;
}

/* What keeps one of them from opening is told under -v; the first one's sentence goes into *why. */
static bool take_in(struct engine_slot *s, struct opening *o, int count, struct err *why)
{
    if (!join(s, o, count, why))
        return false;
    for (int i = 0; i < count; i++) {
        if (o[i].why.code == ERR_NONE)
            continue;
        if (s->devices.count + s->others.count > 1)
            log_msg(LOG_VERBOSE, "%s:%d: %s", s->kind, o[i].config.device, o[i].why.text);
        if (why->code == ERR_NONE)
            *why = o[i].why;
    }
    return true;
}

static bool try_devices(const struct engines *g, struct engine_slot *s, int count, struct err *why)
{
    struct opening o[ENGINE_PARTS_MOST];
    line_up(g, s, o, count);
    open_side_by_side(o, count);
    return take_in(s, o, count, why);
}

/* Which devices there are, if none was named. Where there is none, the first one's opening says why. */
static void find_devices(struct engine_slot *s)
{
    int count = s->devices.count > 0 ? s->devices.count : engine_count(s->kind);
    for (int i = 0; i < count && i < ENGINE_PARTS_MOST && s->devices.count == 0; i++)
        s->devices.number[i] = i;
    s->devices.count = count < 1 ? 1 : count < ENGINE_PARTS_MOST ? count : ENGINE_PARTS_MOST;
}

int engines_devices(struct engines *g)
{
    struct engine_slot *s = &g->slot[0];
    find_devices(s);
    bool there = true;
    for (int i = 0; i < s->devices.count && s->named; i++)
        there &= s->devices.number[i] < engine_count(s->kind);
    return there ? s->devices.count : 1;
}

void engines_begin_as(struct engines *g, const struct engines *of, int threads)
{
    *g = (struct engines){.count = of->count, .threads = threads, .films = of->films};
    for (int i = 0; i < g->count; i++)
        g->slot[i] = (struct engine_slot){.kind = of->slot[i].kind, .devices = of->slot[i].devices, .named = of->slot[i].named};
}

void engines_share(struct engines *g, int which)
{
    struct engine_slot *s = &g->slot[0];
    find_devices(s);
    int mine = which % s->devices.count;
    s->others.count = 0;
    for (int i = 0; i < s->devices.count; i++)
        if (i != mine)
            s->others.number[s->others.count++] = s->devices.number[i];
    s->devices = (struct engine_devices){.number = {s->devices.number[mine]}, .count = 1};
}

/* The slot's own device is not to be had: those of other lists, if there are any and none was demanded. */
static bool turn_to_others(struct engine_slot *s)
{
    if (s->named || s->others.count == 0)
        return false;
    s->devices = s->others;
    s->others.count = 0;
    s->tried = 0;
    return true;
}

/* The slot's engine over its first device that can be opened, or over all of them: those that were named, those of a run of many films. */
static bool open_slot(const struct engines *g, struct engine_slot *s, struct err *e)
{
    struct err why = ERR_INIT;
    find_devices(s);
    if (!s->opened)
        s->tried = 0;
    bool fine = true;
    do {
        int wanted = s->named || g->films > 1 ? s->devices.count : 1;
        while (fine && s->tried < s->devices.count && (s->tried < wanted || !s->opened))
            fine = try_devices(g, s, s->tried < wanted ? wanted - s->tried : 1, &why);
    } while (fine && !s->opened && turn_to_others(s));
    if (!fine)
        engine_close(&s->opened);
    s->failed = !s->opened;
    if (s->failed)
        *e = why;
    return !s->failed;
}

/* ------------------------------------------------------------------ more GPUs, meanwhile */

struct engines_adding {
    struct engine_slot *slot;
    struct opening opening[ENGINE_PARTS_MOST];
    int count;
    pthread_t thread;
    bool apart;
};

static void *adding_main(void *argument)
{
    struct engines_adding *a = argument;
    open_side_by_side(a->opening, a->count);
    return NULL;
}

void engines_add(struct engines *g, const struct engine *engine, const struct engine_work *w)
{
    struct engine_slot *s = g->slot;
    while (s < &g->slot[g->count] && s->opened != engine)
        s++;
    int more = s < &g->slot[g->count] ? engine_worth_gpus(w, s->devices.count) - s->tried : 0;
    struct engines_adding *a = more > 0 && !g->adding ? calloc(1, sizeof *a) : NULL;
    if (!a)                        /* also without memory: one GPU will do */
        return;
    a->slot = s;
    a->count = more;
    line_up(g, s, a->opening, more);
    a->apart = pthread_create(&a->thread, NULL, adding_main, a) == 0;
    if (!a->apart)
        adding_main(a);
    g->adding = a;
}

struct engine *engines_added(struct engines *g, struct engine *engine)
{
    struct engines_adding *a = g->adding;
    struct err why = ERR_INIT;
    if (!a)
        return engine;
    if (a->apart)
        pthread_join(a->thread, NULL);
    if (!take_in(a->slot, a->opening, a->count, &why))
        log_msg(LOG_VERBOSE, "%s", why.text);
    struct engine *all = a->slot->opened;
    free(a);
    g->adding = NULL;
    return all;
}

/* ------------------------------------------------------------------ the list */

struct engine *engines_for(struct engines *g, const struct engine_work *w, struct err *e)
{
    struct engine_slot *last = &g->slot[g->count - 1];
    bool worth = !is_cpu(last) || engine_worth_a_gpu(w, g->threads, g->films);
    for (struct engine_slot *s = g->slot; s < last; s++) {
        if (s->failed || (!s->opened && !worth))
            continue;
        struct err why = ERR_INIT;
        if (open_slot(g, s, &why))
            return s->opened;
        log_msg(LOG_VERBOSE, "%s: clustering on the CPU", why.text);
    }
    return open_slot(g, last, e) ? last->opened : NULL;
}

bool engines_can_share(struct engines *g)
{
    struct engine_slot *s = &g->slot[0];
    struct err why = ERR_INIT;
    if (engines_devices(g) < 2)
        return false;
    for (int i = 1; i < s->devices.count; i++)
        if (!engine_alike(s->kind, s->devices.number[0], s->devices.number[i]))
            return false;
    /* One that is demanded and not to be had is every film's failure. A context stays with the driver, so that the next opening is quick. */
    bool fine = !s->named || open_slot(g, s, &why);
    engine_close(&s->opened);
    s->failed = false;
    return fine;
}

static const char *the_others(int count)
{
    return count > 1 ? "the other GPUs" : "the other GPU";
}

const char *engines_give_up(struct engines *g, const struct engine *failed)
{
    struct engine_slot *last = &g->slot[g->count - 1];
    for (struct engine_slot *s = g->slot; failed && s <= last; s++) {
        if (s->opened != failed)
            continue;
        if (!s->named && engine_many_drop(&s->opened))
            return the_others(engine_parts(s->opened));
        if (turn_to_others(s)) {
            engine_close(&s->opened);
            return the_others(s->devices.count);
        }
        if (s == last)
            return NULL;
        engine_close(&s->opened);
        s->failed = true;
        return "the CPU";
    }
    return NULL;
}

bool engines_linger(const struct engines *g)
{
    bool gpu = false, exclusive = false;
    for (int i = 0; i < g->count; i++) {
        const struct engine *opened = g->slot[i].opened;
        for (int part = 0; opened && part < engine_parts(opened); part++) {
            struct engine_device device = engine_device(opened, part);
            gpu |= device.context != NULL;
            exclusive |= device.exclusive;
        }
    }
    return gpu && !exclusive;
}

void engines_close(struct engines *g)
{
    engines_added(g, NULL);
    for (int i = 0; i < g->count; i++)
        engine_close(&g->slot[i].opened);
}
