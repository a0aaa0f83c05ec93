#include "engines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

/* A GPU takes at least 0.5 s to start, and the CPU estimate may be as low as half the real time. */
#define WORTH_A_GPU_SECONDS 1.0

/* The default GOP length of most encoders. Each GOP is decoded on one core if there are enough. */
#define GOP_FRAMES 240.0

/* The fraction of the cores that stays busy if there are more cores than GOPs (struct
 * thread_share). */
#define FRAME_THREADS 0.6

double engine_work_seconds(const struct engine_work *w, int threads)
{
    double decoded = (double)w->frames * w->width * w->height;
    double clustered = (double)w->columns * w->analysis_width * w->analysis_height;
    double gops = (double)w->frames / GOP_FRAMES;
    double shared = FRAME_THREADS * threads > 1 ? FRAME_THREADS * threads : 1;
    double decoders = gops > threads ? threads : gops > shared ? gops : shared;
    return decoded / ENGINES_DECODE_RATE / decoders + clustered / 6.9e6 / threads +
           w->sound_seconds / 7200 / threads;
}

bool engine_worth_a_gpu(const struct engine_work *w, int threads, uint64_t films)
{
    if (w->frames == 0 && w->sound_seconds == 0)
        return true;
    return engine_work_seconds(w, threads) * (double)(films > 1 ? films : 1) > WORTH_A_GPU_SECONDS;
}

static int clamp_devices(long count)
{
    return count < 1 ? 1 : count < ENGINE_DEVICES_MOST ? (int)count : ENGINE_DEVICES_MOST;
}

void engines_init(struct engines *g, enum engine_choice choice,
                  const struct engine_devices *devices, int threads)
{
    *g = (struct engines){.threads = threads};
    if (choice == ENGINE_CUDA || (choice == ENGINE_AUTO && engine_built("cuda")))
        g->slot[g->count++] =
            (struct engine_slot){.kind = "cuda", .devices = *devices, .named = devices->count > 0};
    const char *count_text = choice == ENGINE_CPU ? getenv("BARCODE_GPUS") : NULL;
    long count = count_text ? strtol(count_text, NULL, 10) : 1;
    if (choice != ENGINE_CUDA)
        g->slot[g->count++] =
            (struct engine_slot){.kind = "cpu", .devices = {.count = clamp_devices(count)}};
}

static bool is_cpu(const struct engine_slot *s) { return strcmp(s->kind, "cpu") == 0; }

bool engines_have_gpu(const struct engines *g) { return !is_cpu(&g->slot[0]); }

/* Lists all devices if none was specified, at least one: opening it reports the error. */
static void find_devices(struct engine_slot *s)
{
    if (s->devices.count > 0)
        return;
    s->devices.count = clamp_devices(engine_count(s->kind));
    for (int i = 0; i < s->devices.count; i++)
        s->devices.number[i] = i;
}

/* Counts the NVIDIA GPUs that are visible to this process: /dev/nvidia0 and so on. */
static int count_nodes(void)
{
    int count = 0;
    char path[32];
    for (int i = 0; i < ENGINE_DEVICES_MOST; i++) {
        snprintf(path, sizeof path, "/dev/nvidia%d", i);
        count += access(path, F_OK) == 0;
    }
    return count;
}

int engines_devices_at_most(const struct engines *g)
{
    const struct engine_slot *s = &g->slot[0];
    if (s->devices.count > 0)
        return s->devices.count;
    int count = count_nodes(), visible = 1;
    const char *names = getenv("CUDA_VISIBLE_DEVICES");
    for (const char *c = names; c && *c; c++)
        visible += *c == ',';
    return clamp_devices(names && visible < count ? visible : count);
}

int engines_devices(struct engines *g)
{
    find_devices(&g->slot[0]);
    return g->slot[0].devices.count;
}

void engines_begin_as(struct engines *g, const struct engines *of, int threads)
{
    *g = (struct engines){
        .count = of->count, .threads = threads, .films = of->films, .bytes = of->bytes};
    for (int i = 0; i < g->count; i++) {
        const struct engine_slot *s = &of->slot[i];
        g->slot[i] =
            (struct engine_slot){.kind = s->kind, .devices = s->devices, .named = s->named};
    }
}

void engines_turn(struct engines *g, int first)
{
    struct engine_devices *d = &g->slot[0].devices, before;
    find_devices(&g->slot[0]);
    before = *d;
    for (int i = 0; i < d->count; i++)
        d->number[i] = before.number[(first + i) % d->count];
}

/* Opens the slot's device `i`. The error message names the device if there are several. */
static bool open_device(const struct engines *g, struct engine_slot *s, int i, struct err *e)
{
    struct engine_config config = {.threads = g->threads, .device = s->devices.number[i]};
    s->opened = engine_open(s->kind, &config, e);
    if (!s->opened && s->devices.count > 1)
        err_prefix(e, "%s:%d", s->kind, config.device);
    return s->opened != NULL;
}

/* Returns the index of the first specified device that does not exist, or devices.count. */
static int find_absent(const struct engine_slot *s)
{
    int i = 0;
    while (i < s->devices.count && (!s->named || s->devices.number[i] < engine_count(s->kind)))
        i++;
    return i;
}

/* Opens the slot's first device that opens. A specified one that does not exist is an error. */
static bool open_slot(const struct engines *g, struct engine_slot *s, struct err *e)
{
    struct err why = ERR_INIT;
    find_devices(s);
    int absent = s->opened ? s->devices.count : find_absent(s);
    if (absent < s->devices.count)
        return open_device(g, s, absent, e);
    for (int i = s->next; i < s->devices.count && !s->opened; i++) {
        struct err failure = ERR_INIT;
        if (open_device(g, s, i, &failure))
            s->next = i;
        else if (s->devices.count > 1)
            log_msg(LOG_VERBOSE, "%s", failure.text);
        if (why.code == ERR_NONE)
            why = failure;
    }
    if (!s->opened)
        *e = why;
    return s->opened != NULL;
}

/* Main function of the thread that opens a GPU early; engines_for reports a failure. */
static void *open_early(void *list)
{
    struct engines *g = list;
    struct err ignored = ERR_INIT;
    open_slot(g, &g->slot[0], &ignored);
    return NULL;
}

void engines_open_early(struct engines *g)
{
    const uint64_t surely = UINT64_C(1) << 30;
    bool wanted = g->count == 1 || g->bytes >= surely;
    const struct engine_slot *s = &g->slot[0];
    if (g->opening || !wanted) /* the thread of a film that failed may still use the slot */
        return;
    if (is_cpu(s) || s->opened || s->failed || count_nodes() == 0)
        return;
    g->opening = pthread_create(&g->thread, NULL, open_early, g) == 0;
}

/* Waits for engines_open_early's thread. */
static void wait_for_opening(struct engines *g)
{
    if (g->opening)
        pthread_join(g->thread, NULL);
    g->opening = false;
}

struct engine *engines_for(struct engines *g, const struct engine_work *w, struct err *e)
{
    wait_for_opening(g);
    struct engine_slot *last = &g->slot[g->count - 1];
    bool worth = !is_cpu(last) || engine_worth_a_gpu(w, g->threads, g->films);
    for (struct engine_slot *s = g->slot; s < last; s++) {
        if (s->failed || (!s->opened && !worth))
            continue;
        struct err why = ERR_INIT;
        if (open_slot(g, s, &why))
            return s->opened;
        s->failed = true;
        log_msg(LOG_VERBOSE, "%s: clustering on the CPU", why.text);
    }
    return open_slot(g, last, e) ? last->opened : NULL;
}

const char *engines_give_up(struct engines *g, const struct engine *failed)
{
    if (!failed)
        return NULL;
    struct engine_slot *s = g->slot, *last = &g->slot[g->count - 1];
    while (s < last && s->opened != failed)
        s++;
    bool more = s->next + 1 < s->devices.count;
    if (s->opened != failed || (s == last && !more))
        return NULL;
    engine_close(&s->opened);
    s->next++;
    s->failed = !more;
    return more ? "another GPU" : "the CPU";
}

bool engines_linger(struct engines *g)
{
    bool gpu = false, exclusive = false;
    wait_for_opening(g);
    for (int i = 0; i < g->count; i++) {
        const struct engine *opened = g->slot[i].opened;
        struct engine_device device =
            opened ? engine_device(opened) : (struct engine_device){.context = NULL};
        gpu |= device.context != NULL;
        exclusive |= device.exclusive;
    }
    return gpu && !exclusive;
}

void engines_close(struct engines *g)
{
    wait_for_opening(g);
    for (int i = 0; i < g->count; i++)
        engine_close(&g->slot[i].opened);
}
