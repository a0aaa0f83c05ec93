/*
 * clip.h - for tests: small films made by the ffmpeg program in a folder of their own, and what
 * staging makes of them.
 */
#ifndef BARCODE_TESTS_CLIP_H
#define BARCODE_TESTS_CLIP_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "media/source.h"
#include "engine/digest.h"

enum { CLIP_W = 96, CLIP_H = 64, CLIP_FRAMES = 200, CLIP_STEP_US = 40000 };

static char clip_folder[64];
/* how clip_stage_with decodes: DECODE_AUTO unless a test says otherwise */
static enum decode_choice clip_decode;
static bool clip_careful;
/* what else is decoded, or NULL */
__attribute__((unused)) static struct sound_job *clip_sound;
static struct decoders *clip_decoders; /* kept from film to film, or NULL */

/* The master: raw 4:2:0 pictures of moving slopes and blocks with a little noise, so that every
 * picture differs. */
static inline bool clip_draw_master(void)
{
    FILE *f = fopen("master.yuv", "wb");
    uint32_t z = 1;
    for (int t = 0; f && t < CLIP_FRAMES; t++) {
        for (int plane = 0; plane < 3; plane++) {
            int w = plane ? CLIP_W / 2 : CLIP_W, h = plane ? CLIP_H / 2 : CLIP_H,
                scale = plane ? 2 : 1;
            for (int i = 0; i < w * h; i++) {
                int x = i % w * scale, y = i / w * scale,
                    block = ((x + 2 * t) / 24 + (y + t) / 16) % 3;
                z = z * 1664525u + 1013904223u;
                putc(plane == 0 ? 40 + (x + y + 3 * t) % 96 + block * 30 + (int)(z >> 30)
                                : 60 + (plane * 40 + block * 50 + t) % 140,
                     f);
            }
        }
    }
    return f && fclose(f) == 0;
}

/* Group set-up: a folder with the master in it, which becomes the working directory. Warnings are
 * silenced. */
static inline int clip_begin(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    strcpy(clip_folder, "/tmp/barcode-clips-XXXXXX");
    return mkdtemp(clip_folder) && chdir(clip_folder) == 0 && clip_draw_master() ? 0 : -1;
}

static inline int clip_end(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", clip_folder);
    return chdir("/") == 0 ? system(command) : -1;
}

/*
 * Runs ffmpeg with `arguments`, "... NAME" last. Returns false, with a loud line, if ffmpeg or the
 * encoder is missing. x265 4 hangs at times: a command that takes two minutes is run again.
 */
static inline bool clip_ffmpeg(const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command,
             "timeout -k 5 120 ffmpeg -nostdin -hide_banner -v error -y %s >ffmpeg.log 2>&1",
             arguments);
    for (int tries = 0; tries < 3; tries++) {
        int status = system(command);
        if (status == 0)
            return true;
        if (!WIFEXITED(status) || WEXITSTATUS(status) < 124)
            break;
    }
    fprintf(stderr, "SKIPPED: cannot make a clip: ffmpeg %s\n", arguments);
    if (system("tail -n 2 ffmpeg.log >&2") != 0)
        fprintf(stderr, "no ffmpeg.log\n");
    return false;
}

/* The master, 25 pictures a second, through an encoder to NAME at the end of `arguments`. */
static inline bool clip_encode(const char *arguments)
{
    char line[1024];
    snprintf(line, sizeof line,
             "-f rawvideo -pix_fmt yuv420p -s %dx%d -r 25 -i master.yuv -threads 2 %s", CLIP_W,
             CLIP_H, arguments);
    return clip_ffmpeg(line);
}

/* Makes a clip by clip_encode, or skips the test. */
static inline void clip_need(const char *arguments)
{
    if (!clip_encode(arguments))
        skip();
}

/* VP8 with alternative references, which are packets of their own that show nothing: only two
 * passes make them. */
static inline bool clip_hidden_vp8(const char *name)
{
    char line[512];
    const char *codec =
        "-f lavfi -i testsrc=s=96x64:r=25:d=8 -pix_fmt yuv420p -c:v libvpx -deadline good "
        "-cpu-used 4 -g 60 -b:v 60k "
        "-auto-alt-ref 1 -lag-in-frames 25 -arnr-maxframes 7 -arnr-strength 5 -passlogfile pass";
    snprintf(line, sizeof line, "%s -pass 1 -f null -", codec);
    if (!clip_ffmpeg(line))
        return false;
    snprintf(line, sizeof line, "%s -pass 2 %s", codec, name);
    return clip_ffmpeg(line);
}

/* The film that clip_load read last. */
__attribute__((unused)) static uint8_t clip_bytes[8 << 20];

/* Returns the size of a film, which is in clip_bytes then. */
static inline size_t clip_load(const char *name)
{
    FILE *f = fopen(name, "rb");
    size_t size = f ? fread(clip_bytes, 1, sizeof clip_bytes, f) : 0;
    if (size == 0 || size == sizeof clip_bytes || fclose(f) != 0)
        abort();
    return size;
}

/* Writes the first bytes of clip_bytes. */
static inline void clip_save(const char *name, size_t size)
{
    FILE *f = fopen(name, "wb");
    if (!f || fwrite(clip_bytes, 1, size, f) != size || fclose(f) != 0)
        abort();
}

/* What a film gave: columns, and a fingerprint of each staged frame. */
struct staged {
    struct columns *columns;
    struct digest *digest;
    struct decode_counts counts;
    struct decode_times times;
    struct err error;
    bool ok;
};

static inline bool clip_tap(void *user, const struct frame_tag *tag, const uint8_t *rgb,
                            struct err *e)
{
    return digest_put(((struct staged *)user)->digest, tag->column, rgb,
                      (size_t)CLIP_W * CLIP_H / 4 * 3, e);
}

/* Stages an open film at half size. `tap` NULL: fingerprints. */
static inline struct staged clip_stage_with(struct source *s, enum decode_plan plan, int threads,
                                            const struct selection *rule, int width, int height,
                                            engine_tap *tap, void *user)
{
    struct staged r = {
        .columns = columns_open(0, 0, NULL), .digest = digest_open(NULL), .error = ERR_INIT};
    struct engine_times times;
    struct err engine_error = ERR_INIT;
    struct engine_config config = {.threads = 2};
    struct engine *g = engine_open("cpu", &config, &r.error);
    struct engine_job job = {.width = width,
                             .height = height,
                             .ports = threads + 1,
                             .columns = r.columns,
                             .tap = tap ? tap : clip_tap,
                             .tap_user = tap ? user : &r};
    if (!g || !engine_begin(g, &job, &r.error))
        abort();
    struct decode_job what = {.selection = *rule,
                              .plan = plan,
                              .decode = clip_decode,
                              .threads = threads,
                              .exact_damage = clip_careful,
                              .decoders = clip_decoders,
                              .engine = g,
                              .columns = r.columns,
                              .sound = clip_sound};
    r.ok = source_decode(s, &what, &r.counts, &r.times, &r.error);
    r.ok &= engine_finish(g, &times, &engine_error);
    engine_close(&g);
    return r;
}

static inline struct source *source_open(const char *name, struct err *e)
{
    return source_open_stream(name, NULL, SOURCE_STREAM_CHOICE, SOURCE_SOUND_NONE, false, e);
}

/* Opens a film without its sound. */
static inline struct source *clip_open(const char *name)
{
    struct err e = ERR_INIT;
    struct source *s = source_open(name, &e);
    if (!s)
        fail_msg("%s", e.text);
    return s;
}

static inline struct staged clip_stage(const char *name, enum decode_plan plan, int threads,
                                       const struct selection *rule)
{
    struct err e = ERR_INIT;
    struct source *s = source_open(name, &e);
    if (!s)
        return (struct staged){.error = e};
    struct staged r = clip_stage_with(s, plan, threads, rule, CLIP_W / 2, CLIP_H / 2, NULL, NULL);
    source_close(&s);
    return r;
}

static inline void staged_free(struct staged *r)
{
    columns_free(&r->columns);
    digest_free(&r->digest);
}

/* Finds out the film's length, which is in s->film then. */
static inline bool clip_measure(struct source *s, struct err *e)
{
    struct probe_request request = {.want = PROBE_LENGTH};
    struct probe_facts facts;
    return source_probe(s, &request, &facts, e) && facts.found == PROBE_LENGTH &&
           facts.length.frames == s->film.length.frames &&
           facts.length.duration_us == s->film.length.duration_us;
}

static inline struct selection every(uint64_t n)
{
    return (struct selection){.kind = SELECT_EVERY, .every = n, .end_us = INT64_MAX};
}

#endif
