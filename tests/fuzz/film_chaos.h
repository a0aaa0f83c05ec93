/*
 * film_chaos.h - the parent of a batch of films in a folder of its own, and in place of its worker
 * process whatever dice send: for test_film_process and fuzz_film_process. Both ends of the link
 * are in this process. What is asked of the parent must hold: it crashes in no state, opens and
 * writes nothing that is not of a film in progress, and keeps no descriptor.
 */
#ifndef BARCODE_TESTS_FILM_CHAOS_H
#define BARCODE_TESTS_FILM_CHAOS_H

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dice.h"
#include "fuzz.h"
#include "../unit/send_descriptors.h"
#include "base/file.h"
#include "base/worker.h"
#include "base/log.h"
#include "cli/cli.h"
#include "batch/film_messages.h"
#include "batch/film_process.h"
#include "batch/film_watch.h"

/* ---- A folder with films, outputs, and what nobody may touch ---- */

static inline void chaos_put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    fuzz_demand(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* Leaves the folder, and removes it. */
static inline void chaos_remove(void)
{
    char command[512], path[256];
    fuzz_demand(getcwd(path, sizeof path) && strstr(path, "barcode-chaos.") && chdir("/") == 0);
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    fuzz_demand(system(command) == 0);
}

/* Returns true for a name that an output of films a, b, c, list, and x00 to x99 may have. */
static inline bool chaos_is_output(const char *path)
{
    static const char *const whole[] = {"all.csv", "report"},
                             *const film[] = {"out/a",   "out/b",   "out/c",   "out/list", "out/x",
                                              "films/a", "films/b", "films/c", "hls/list"},
                             *const ending[] = {"-average.png", ".rgb", ".vtt"};
    for (size_t i = 0; i < 2; i++)
        if (strcmp(path, whole[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof film / sizeof *film; i++) {
        const size_t stem = strlen(film[i]);
        const char *rest = path + stem + (film[i][stem - 1] == 'x' ? 2 : 0);
        if (strncmp(path, film[i], stem) != 0)
            continue;
        if (i >= 5)
            return strcmp(rest, ".trickplay") == 0 ||
                   (strncmp(rest, ".trickplay/320 - 10x10", 22) == 0 &&
                    (!rest[22] ||
                     strcmp(rest + 22 + 1 + strspn(rest + 23, "0123456789"), ".jpg") == 0));
        for (size_t k = 0; k < 3; k++)
            if (strcmp(rest, ending[k]) == 0)
                return true;
        const size_t digits = strspn(rest + (*rest == '-'), "0123456789");
        return digits >= 3 && strcmp(rest + 1 + digits, ".jpg") == 0 &&
               strcmp(rest, "-003.jpg") != 0 && strcmp(rest, "-004.jpg") != 0;
    }
    return false;
}

static uint64_t chaos_seen;

static inline uint64_t chaos_mix(uint64_t sum, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static inline int chaos_visit(const char *path, const struct stat *s, int type, struct FTW *at)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    (void)at;
    if (path[0] != '.' || path[1] != '/')
        return 0;
    path += 2;
    if (chaos_is_output(path))
        return 0;
    sum = chaos_mix(sum, path, strlen(path));
    sum = chaos_mix(sum, &s->st_ino, sizeof s->st_ino);
    sum = chaos_mix(sum, &s->st_mode, sizeof s->st_mode);
    if (type != FTW_D) {
        sum = chaos_mix(sum, &s->st_size, sizeof s->st_size);
        sum = chaos_mix(sum, &s->st_mtim, sizeof s->st_mtim);
    }
    chaos_seen += sum; /* in any order */
    return 0;
}

/* Returns a number that changes with what is no output: names, sizes and times of all other files.
 */
static inline uint64_t chaos_untouched(void)
{
    chaos_seen = 0;
    fuzz_demand(nftw(".", chaos_visit, 8, FTW_PHYS) == 0);
    return chaos_seen;
}

static inline int chaos_unlink(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)at, (void)type, (void)s;
    return strncmp(path, "./", 2) == 0 && chaos_is_output(path + 2) && remove(path) != 0;
}

/* Removes the outputs, so that they can be made again. */
static inline void chaos_clean(void)
{
    fuzz_demand(nftw(".", chaos_unlink, 8, FTW_PHYS | FTW_DEPTH) == 0);
}

static inline int chaos_descriptors(void)
{
    int count = 0;
    for (int i = 0; i < 1024; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static uint64_t chaos_seen_first;
static int chaos_open_first;

/* Makes a folder with films, their neighbours, and what nobody may touch, and goes there. */
static inline void chaos_folder(void)
{
    static const char *const folder[] = {"films", "hls", "hls/deep", "outside", "out", "tmp"};
    static const char *const file[] = {
        "films/a.mkv",      "films/b.mkv",    "films/a.srt",   "films/c.mkv",    "hls/part.ts",
        "hls/deep/part.ts", "outside/secret", "out/a-003.jpg", "out/others.png", "-"};
    static const char *const link[][2] = {{"/dev/zero", "hls/zero.ts"},
                                          {"../outside/secret", "hls/secret.ts"},
                                          {"../outside", "hls/up"},
                                          {"../outside/new", "out/a-004.jpg"}};
    char path[256];
    const bool fast = faccessat(AT_FDCWD, "/dev/shm", W_OK, 0) == 0; /* it is no disk */
    snprintf(path, sizeof path, "%s/barcode-chaos.XXXXXX", fast ? "/dev/shm" : "/tmp");
    fuzz_demand(mkdtemp(path) && chdir(path) == 0);
    for (size_t i = 0; i < sizeof folder / sizeof *folder; i++)
        fuzz_demand(mkdir(folder[i], 0700) == 0);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        chaos_put(file[i], file[i]);
    chaos_put("hls/list.m3u8", "#EXTM3U\n#EXTINF:1,\npart.ts\n#EXT-X-ENDLIST\n");
    for (size_t i = 0; i < sizeof link / sizeof *link; i++)
        fuzz_demand(symlink(link[i][0], link[i][1]) == 0);
    fuzz_demand(mkfifo("hls/fifo.ts", 0600) == 0 && setenv("TMPDIR", "tmp", 1) == 0);
    chaos_seen_first = chaos_untouched();
    chaos_open_first = chaos_descriptors();
}

/* Returns true if nothing was touched since chaos_folder, and no descriptor is left. */
static inline bool chaos_check(void)
{
    bool same = chaos_untouched() == chaos_seen_first,
         closed = chaos_descriptors() == chaos_open_first;
    if (!same || !closed)
        fprintf(stderr, "%s\n", same ? "descriptors are left" : "something was touched");
    return same && closed;
}

/* In place of libc's: the worker process is this one, and a kill of it is only noted. */
__attribute__((weak)) int kill(pid_t pid, int number)
{
    return pid == getpid() && number == SIGKILL ? 0 : (int)syscall(SYS_kill, pid, number);
}

/* In place of libc's: what is written here needs no disk. */
__attribute__((weak)) int fsync(int fd)
{
    (void)fd;
    return 0;
}

struct chaos {
    char copy[512], *word[32]; /* of the command line */
    struct options options;
    struct inputs inputs;
    struct output_plan outputs;
    struct job_context context;
    struct batch batch;
    struct film_process process;
    struct film_watch watch;
    int end;                                   /* the worker's, of the link */
    int32_t file;                              /* the last output that it was given */
    int written;                               /* a descriptor of it; -1: none */
    long messages, ended, kills, opened, runs; /* counts */
    struct {
        size_t size;
        _Alignas(max_align_t) char bytes[sizeof(struct film_end) + 64];
    } past[16]; /* messages, to be replayed or sent later */
    unsigned pasts;
};

/* ---- The parent ---- */

static inline void chaos_ignore_line(enum log_level level, const char *line)
{
    (void)level, (void)line;
}

/* Opens what does not outlive the films of a run. */
static inline void chaos_open_run(struct chaos *c)
{
    struct err e = ERR_INIT;
    fuzz_demand(outputs_plan(&c->options.plan, &c->inputs, &c->outputs, &e));
    const char *table = c->outputs.table;
    c->batch = (struct batch){.context = &c->context, .serials = c->batch.serials};
    c->batch.queue = film_queue_open(&c->inputs, &e);
    if (table)
        c->batch.table = table_open(table, c->inputs.count, &e);
    if (c->options.plan.outputs.report)
        c->batch.report = report_log_open(c->options.plan.outputs.report, &e);
    fuzz_demand(e.code == ERR_NONE);
}

static inline void chaos_close_run(struct chaos *c)
{
    struct err e = ERR_INIT;
    size_t films;
    if (c->batch.table)
        fuzz_demand(table_write(c->batch.table, &films, &e));
    table_close(&c->batch.table);
    fuzz_demand(report_log_close(&c->batch.report, &e));
    film_queue_free(&c->batch.queue);
    outputs_free(&c->outputs);
}

/* Opens the link to a new worker, and its watches. */
static inline void chaos_open_link(struct chaos *c)
{
    struct err e = ERR_INIT;
    int end[2];
    fuzz_demand(link_open(end, &e));
    c->process.worker = (struct worker){.pid = getpid(), .link = end[0], .watch = watch_open(&e)};
    fuzz_demand(c->process.worker.watch);
    c->end = end[1];
    c->file = c->written = -1;
}

static inline void chaos_close_link(struct chaos *c)
{
    if (c->written >= 0)
        close(c->written);
    close(c->end);
    close(c->process.worker.link);
    watch_free(c->process.worker.watch);
}

/* Opens a run with the words of a command line, which are divided by single spaces. */
static inline void chaos_open(struct chaos *c, const char *line)
{
    static char name[] = "barcode";
    struct err e = ERR_INIT;
    char *save = NULL;
    int count = 1;
    *c = (struct chaos){.word = {name}};
    snprintf(c->copy, sizeof c->copy, "%s", line);
    for (char *w = strtok_r(c->copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
        c->word[count++] = w;
    bool ok = cli_parse(count, c->word, NULL, &c->options, &e) == CLI_RUN &&
              inputs_expand(&c->options.plan.inputs, &c->options.plan.outputs, &c->inputs, &e);
    if (!ok)
        fprintf(stderr, "%s\n", e.text);
    fuzz_demand(ok);
    log_set_sink(chaos_ignore_line);
    c->context = (struct job_context){
        .plan = &c->options.plan, .inputs = &c->inputs, .outputs = &c->outputs};
    c->watch = film_watch_open(1000000);
    chaos_open_run(c);
    chaos_open_link(c);
}

/* Decides about the films of a process that has ended, as batch.c does. */
static inline void chaos_end_process(struct chaos *c)
{
    const int count = film_process_busy(&c->process);
    struct err e = ERR_INIT;
    err_set(&e, ERR_FAILED, "'it': ended");
    for (int i = 0; i < WATCHES; i++) {
        const size_t film = c->process.slot[i].film;
        if (!c->process.slot[i].busy)
            continue;
        film_process_leave(&c->process, i);
        table_remove(c->batch.table, film);
        if (count == 1)
            film_queue_done(c->batch.queue, film, &e);
        else
            film_queue_again(c->batch.queue, film);
    }
    fuzz_demand(film_process_busy(&c->process) == 0);
    c->ended++;
    c->kills += c->process.worker.killed != NULL;
    chaos_close_link(c);
    c->process.taken = 0;
    chaos_open_link(c);
}

static inline void chaos_close(struct chaos *c)
{
    chaos_end_process(c);
    chaos_close_link(c);
    chaos_close_run(c);
    inputs_free(&c->inputs);
    log_set_sink(NULL);
}

/* ---- The worker ---- */

/* Receives the answers. A descriptor is written to, or kept to be written to later. */
static inline void chaos_receive(struct chaos *c, struct dice *d)
{
    struct file_answer answer;
    int fd;
    ssize_t n;
    while ((n = link_receive(c->end, &answer, sizeof answer, &fd)) != LINK_EMPTY &&
           n != LINK_CLOSED) {
        if (n == sizeof answer && answer.error == 0 && answer.file >= 0)
            c->file = answer.file;
        if (fd < 0)
            continue;
        c->opened++;
        if (chance(d, 30)) {
            (void)!write(fd, "a;b\n", 1 + roll(d, 4));
            (void)!ftruncate(fd, (off_t)roll(d, 100));
        }
        if (c->written >= 0)
            close(c->written);
        c->written = fd;
    }
}

/* What it asks for: most often outputs of film a. */
static const char *const chaos_paths[] = {"films/a.mkv",
                                          "films/b.mkv",
                                          "hls/list.m3u8",
                                          "hls/part.ts",
                                          "hls/deep/part.ts",
                                          "out/a-average.png",
                                          "all.csv",
                                          "out/a.rgb",
                                          "out/a.vtt",
                                          "out/a-001.jpg",
                                          "out/a-002.jpg",
                                          "films/a.trickplay/320 - 10x10",
                                          "films/a.trickplay/320 - 10x10",
                                          "0.jpg",
                                          "1.jpg",
                                          "films/a.trickplay/320 - 10x10/0.jpg",
                                          "out/b-average.png",
                                          "out/list.rgb",
                                          "out/list.vtt",
                                          "",
                                          "/",
                                          ".",
                                          "..",
                                          "films/a.srt",
                                          "films/../films/a.mkv",
                                          "./films/a.mkv",
                                          "outside/secret",
                                          "outside/new",
                                          "out/../outside/new",
                                          "out/others.png",
                                          "hls/../outside/secret",
                                          "films/d.mkv",
                                          "hls/secret.ts",
                                          "hls/zero.ts",
                                          "hls/fifo.ts",
                                          "hls/up/secret",
                                          "file:hls/secret.ts",
                                          "file:hls/part.ts",
                                          "/etc/passwd",
                                          "/proc/self/mem",
                                          "/dev/zero",
                                          "/dev/fd/0",
                                          "-",
                                          "report",
                                          "/dev/stdout",
                                          "/proc/self/fd/1",
                                          "out",
                                          "out/",
                                          "films",
                                          "../0.jpg",
                                          "00.jpg",
                                          "films/a.trickplay",
                                          "out/a-003.jpg",
                                          "out/a-004.jpg",
                                          "out/a-999999999.jpg",
                                          "tmp"};

/* Fills in a message that may make sense. Returns its size. */
static inline size_t chaos_message(const struct chaos *c, struct dice *d, void *to)
{
    struct film_ask ask = {.kind = FILM_ASK, .slot = (uint32_t)roll(d, 4)};
    const struct slot *slot = &c->process.slot[ask.slot];
    bool blocked = false;
    for (int i = 0; i < 4; i++)
        blocked |= c->process.slot[i].again;
    uint64_t what = slot->busy ? 3 + roll(d, 30) : roll(d, 3);
    if ((what == 4 && slot->again) || (what < 3 && blocked))
        what = 0; /* what would be nonsense comes seldom, so that states become deep */
    switch (what) {
    case 0: { /* a line */
        const uint32_t head[] = {WORKER_LINE, (uint32_t)roll(d, LOG_DEBUG + 2)};
        memset(to, (int)roll(d, 256), 64);
        memcpy(to, head, sizeof head);
        return 8 + roll(d, 50);
    }
    case 1:
    case 2:
        ask.alone = roll(d, 3) == 0 && film_process_busy(&c->process) == 0;
        memcpy(to, &ask, sizeof ask);
        return sizeof ask;
    case 3: { /* the end of a film */
        struct film_end *m = to;
        static const enum err_code code[] = {ERR_NONE, ERR_FAILED, ERR_INPUT, ERR_MEMORY};
        *m = (struct film_end){.kind = FILM_ENDED, .slot = ask.slot, .code = code[roll(d, 4)]};
        m->result = job_no_result;
        m->result.warnings = (int)roll(d, REPORT_WARNINGS + 1);
        m->result.columns = (int64_t)roll(d, 1000) - 1;
        memset(m->text, (int)roll(d, 256), sizeof m->text);
        memset(m->result.warning, (int)roll(d, 256), sizeof m->result.warning);
        return sizeof *m;
    }
    case 4: {
        const uint32_t again[] = {FILM_AGAIN, ask.slot};
        memcpy(to, again, sizeof again);
        return sizeof again;
    }
    default: { /* a file */
        struct file_ask *m = to;
        const size_t paths = sizeof chaos_paths / sizeof *chaos_paths;
        const char *path = chaos_paths[roll(d, chance(d, 50) ? 16 : paths)];
        m->kind = FILM_ASK_FILE;
        m->slot = ask.slot;
        m->request = (uint32_t)roll(d, FILE_DISCARD + 1);
        m->file = chance(d, 70) ? c->file : (int32_t)roll(d, 300) - 2;
        snprintf(m->path, sizeof m->path, "%s", path);
        return offsetof(struct file_ask, path) + strlen(path) + 1;
    }
    }
}

/* Sends a message with so many descriptors. */
static inline void chaos_send(struct chaos *c, const void *bytes, size_t size, int descriptors)
{
    (void)!send_descriptors(c->end, bytes, size, c->end, descriptors, MSG_DONTWAIT | MSG_NOSIGNAL);
    c->messages++;
}

/* Sends a message, or something else, of this moment or of an earlier one. */
static inline void chaos_step(struct chaos *c, struct dice *d)
{
    static _Alignas(max_align_t) char bytes[LINK_BYTES + 8];
    size_t size;
    unsigned place = (unsigned)roll(d, 16);
    uint64_t kind = roll(d, 1000);
    if (kind < 985) { /* one of now */
        size = chaos_message(c, d, bytes);
    } else if (c->past[place].size > 0) { /* again, or later */
        size = c->past[place].size;
        memcpy(bytes, c->past[place].bytes, size);
    } else {
        size = 1 + roll(d, 64);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (char)roll(d, 256);
    }
    if (kind < 5) /* truncated */
        size = roll(d, size + 1);
    else if (kind < 8) /* longer */
        size += roll(d, chance(d, 10) ? LINK_BYTES + 8 - size : 8);
    else if (kind < 20) /* a damaged bit */
        bytes[roll(d, size)] ^= (char)(1 << roll(d, 8));
    if (size <= sizeof c->past[0].bytes && chance(d, 10)) {
        c->past[place].size = size;
        memcpy(c->past[place].bytes, bytes, size);
        if (chance(d, 50))
            return; /* later */
    }
    chaos_send(c, bytes, size, kind >= 20 && kind < 22 ? 1 + (int)roll(d, 3) : 0);
    if (kind == 22) /* the last thing that it does */
        (void)shutdown(c->end, SHUT_WR);
}

/* The parent handles what has been sent. */
static inline void chaos_serve(struct chaos *c, struct dice *d)
{
    uint8_t *watch = (uint8_t *)c->process.worker.watch;
    if (chance(d, 1)) {
        for (int i = 0; i < 64; i++)
            watch[roll(d, 4096)] = (uint8_t)roll(d, 256);
        film_watch_tick(&c->watch, &c->process, 1, &c->batch, UINT64_MAX);
    }
    if (!film_process_handle(&c->process, &c->batch))
        chaos_end_process(c);
    if (chance(d, 80))
        chaos_receive(c, d);
    struct film_tally t = film_queue_tally(c->batch.queue);
    fuzz_demand(t.done + t.failed + t.under_way <= t.due);
    if (t.done + t.failed == t.due) {
        chaos_close_run(c);
        chaos_clean();
        chaos_open_run(c);
        c->runs++;
    }
}

/* Makes the folder of a test, and removes it after a check that nothing else was changed. */
static inline int chaos_enter(void **state)
{
    (void)state;
    chaos_folder();
    return 0;
}

static inline int chaos_leave(void **state)
{
    (void)state;
    bool whole = chaos_check();
    chaos_remove();
    return whole ? 0 : -1;
}

#endif
