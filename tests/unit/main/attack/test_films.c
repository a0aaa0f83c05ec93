/*
 * test_films.c - runs of films whose workers attack the parent: each film has an attack of its own,
 * which costs that film alone.
 */
#include <jansson.h>
#include <sys/resource.h>

#include "test.h"
#include "../fuzz/film_chaos.h"
#include "batch/batch.h"
#include "batch/film_workers.h"

static struct chaos c;

static int hostile_link;
static struct watch *hostile_watch;
static const struct job_context *hostile_context;
static bool hostile_alone; /* its film is rendered again, alone */

/* Asks the parent by a message of any kind; exits if there is no answer. */
static int exchange(const void *question, size_t length, void *answer, size_t size)
{
    int fd;
    if (!link_send(hostile_link, question, length, -1) ||
        link_wait(hostile_link, answer, size, &fd) != (ssize_t)size)
        _exit(9);
    return fd;
}

static bool next_film(uint32_t slot, uint32_t alone, size_t *film)
{
    const struct film_ask m = {FILM_ASK, slot, alone};
    struct film_answer answer;
    (void)exchange(&m, sizeof m, &answer, sizeof answer);
    *film = (size_t)answer.film;
    return answer.found;
}

static int hostile_request(enum file_request what, const char *path, int32_t *file, int *fd)
{
    struct file_ask m = {FILM_ASK_FILE, 0, what, *file, ""};
    struct file_answer answer;
    snprintf(m.path, sizeof m.path, "%s", path);
    *fd = exchange(&m, offsetof(struct file_ask, path) + strlen(path) + 1, &answer, sizeof answer);
    *file = answer.file;
    return answer.error;
}

static void tell(const void *bytes, size_t size) { (void)link_send(hostile_link, bytes, size, -1); }

static void tell_kind(uint32_t kind, size_t size)
{
    static char bytes[LINK_BYTES + 1];
    memcpy(bytes, &kind, sizeof kind);
    tell(bytes, size);
}

static void tell_end(enum err_code code, const char *text)
{
    struct film_end m = {.kind = FILM_ENDED, .code = code, .result = job_no_result};
    snprintf(m.text, sizeof m.text, "%s", text);
    tell(&m, sizeof m);
}

static const char *output_of(size_t film)
{
    return hostile_context->outputs->film[film].output[0].path;
}

static void work_well(size_t film)
{
    int32_t file = -1;
    int fd;
    if (hostile_request(FILE_WRITE, output_of(film), &file, &fd) != 0 || write(fd, "x", 1) != 1 ||
        hostile_request(FILE_PUBLISH, "", &file, &fd) != 0)
        tell_end(ERR_FAILED, "cannot write");
    else
        tell_end(ERR_NONE, "");
}

static void exit_early(size_t film) { _exit((int)(film % 2)); }

static void kill_itself(size_t film)
{
    static const int number[] = {SIGKILL, SIGABRT};
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(number[film % 2], SIG_DFL);
    syscall(SYS_kill, getpid(), number[film % 2]);
}

static void send_unknown_kind(size_t film) { tell_kind(film % 2 ? FILM_AGAIN + 1 : 7, 16); }
static void send_short(size_t film) { tell_kind(FILM_ASK, 1 + film % 2 * 4); }
static void send_too_long(size_t film) { tell_kind(FILM_ENDED, LINK_BYTES + film % 2); }
static void send_descriptor(size_t film) { chaos_send(&c, &film, 8, 1 + film % 2); }
static void send_nothing(size_t film) { chaos_send(&c, &film, 0, 0); }
static void close_link(size_t film) { close(hostile_link + 0 * (int)film); }
static void do_nothing(size_t film) { (void)film; }

static void move_for_ever(size_t film)
{
    watch_begin(watch_at(hostile_watch, 0), film);
    for (;;) {
        watch_moved();
        usleep(10000);
    }
}

static void log_for_ever(size_t film)
{
    static const struct {
        uint32_t kind, level;
        char text[16];
    } m = {WORKER_LINE, LOG_INFO, "as film 7 says"};
    while (film < 1000)
        tell(&m, sizeof m);
}

static void ask_for_ever(size_t film)
{
    int32_t file = -1;
    int fd;
    while (film < 1000)
        (void)hostile_request(FILE_READ, "/etc/passwd", &file, &fd);
}

static void never_listen(size_t film)
{
    const struct file_ask m = {FILM_ASK_FILE, 0, FILE_READ, -1, ""};
    while (film < 1000)
        tell(&m, offsetof(struct file_ask, path) + 1);
}

static void pretend_interruption(size_t film)
{
    (void)film;
    tell_end(ERR_INTERRUPTED, "interrupted");
}

static void pretend_success(size_t film)
{
    const struct film_end m = {.kind = FILM_ENDED, .code = ERR_NONE, .result = job_no_result};
    (void)film;
    tell(&m, sizeof m);
}

static void come_again(size_t film)
{
    const uint32_t m[] = {FILM_AGAIN, 0};
    (void)film;
    tell(m, sizeof m);
}

static void leave_with_film(size_t film)
{
    const int32_t m[] = {WORKER_LEAVES, 0, (int32_t)(film % 2)};
    tell(m, sizeof m);
}

static void exhaust(size_t film)
{
    int32_t file = -1;
    int fd;
    for (int i = 0; i < 2 * GRANTS_MOST; i++) {
        (void)hostile_request(FILE_WRITE, output_of(film), &file, &fd);
        if (fd >= 0)
            close(fd);
    }
    _exit(0);
}

static void open_all(size_t film)
{
    char text[200] = "refused";
    int32_t file = -1;
    int fd;
    for (size_t i = 0; i < sizeof chaos_paths / sizeof *chaos_paths; i++)
        for (int what = FILE_READ; what <= FILE_FOLDER; what++)
            if (what != FILE_SCRATCH && hostile_request(what, chaos_paths[i], &file, &fd) == 0)
                snprintf(text, sizeof text, "opened %s", chaos_paths[i]);
    if (hostile_request(FILE_WRITE, output_of(film - 1), &file, &fd) == 0)
        snprintf(text, sizeof text, "opened the output of another film");
    tell_end(ERR_FAILED, text);
}

/* Takes a second film, and crashes: the next film is not to blame. */
static void take_two(size_t film)
{
    size_t other;
    (void)film;
    if (!hostile_alone)
        (void)next_film(1, 0, &other);
    _exit(0);
}

/* Dies between two films, again and again. */
static void work_and_die(size_t film)
{
    work_well(film);
    _exit(0);
}

static const struct attack {
    void (*attack)(size_t film);
    int films;
    const char *reason; /* a part of it; NULL: the film is done */
} attacks[] = {
    {work_well, 2, NULL},
    {exit_early, 2, "the worker process exited early with status "},
    {kill_itself, 2, "the worker process "},
    {send_unknown_kind, 2, WORKER_NONSENSE},
    {send_short, 2, WORKER_NONSENSE},
    {send_too_long, 2, WORKER_NONSENSE},
    {send_descriptor, 2, WORKER_NONSENSE},
    {send_nothing, 1, "the worker process was killed"},
    {close_link, 1, "the worker process was killed"},
    {do_nothing, 1, "nothing was read, decoded or written for 1 s"},
    {move_for_ever, 1, "stopped after 2 s (--film-timeout)"},
    {log_for_ever, 1, WORKER_NONSENSE},
    {ask_for_ever, 1, ""},
    {never_listen, 1, WORKER_SILENT},
    {pretend_interruption, 1, WORKER_NONSENSE},
    {pretend_success, 1, WORKER_NONSENSE},
    {come_again, 1, WORKER_NONSENSE},
    {leave_with_film, 2, WORKER_NONSENSE},
    {exhaust, 1, "exited early with status 0"},
    {open_all, 1, "refused"},
    {work_and_die, 4, NULL},
    {take_two, 1, "exited early with status 0"},
    {work_well, 2, NULL},
};

/* Returns what the worker of a film does. */
static const struct attack *attack_on(size_t film)
{
    size_t i = 0;
    for (; film >= (size_t)attacks[i].films; i++)
        film -= (size_t)attacks[i].films;
    return &attacks[i];
}

static bool random_attacks;

/* Sends random messages, as if its film workers 0 to 3 had films, until it is killed. */
static void attack_at_random(size_t film)
{
    struct dice d = {.state = film};
    for (int i = 0; i < 4; i++)
        c.process.slot[i].busy = true;
    for (int i = 0; i < 100000; i++) {
        chaos_step(&c, &d);
        if (chance(&d, 50))
            chaos_receive(&c, &d);
    }
    _exit(0);
}

/* In place of film_workers.c: a worker process that attacks its parent. */
int film_workers_run(const struct job_context *context, const struct film_tally *t,
                     struct worker *w, int workers, int jobs)
{
    (void)t, (void)workers, (void)jobs;
    hostile_link = c.end = w->link;
    hostile_watch = w->watch;
    hostile_context = context;
    for (uint32_t alone = 0; alone < 2; alone++)
        for (size_t film; next_film(0, alone, &film);) {
            hostile_alone = alone;
            if (random_attacks)
                attack_at_random(film);
            void (*attack)(size_t) = attack_on(film)->attack;
            attack(film);
            bool ends = attack == work_well || attack == open_all;
            while (!ends && !(attack == come_again && !hostile_alone))
                pause(); /* until it is killed */
        }
    worker_leaves(w, 0, false);
    return 0;
}

static int processes = 1;

int worker_process_count(const struct job_context *context, const struct film_tally *t, int jobs)
{
    (void)context, (void)t, (void)jobs;
    return processes;
}

/* Renders so many films, and returns the exit status. */
static int run(int films)
{
    char line[512] = "--no-cache --engine cpu --decode cpu -m average -o out/ --report report "
                     "--film-timeout 2";
    setenv("BARCODE_SILENCE", "1", 1);
    for (int i = 0; i < films; i++) {
        char path[32];
        snprintf(path, sizeof path, "films/x%02d.mkv", i);
        chaos_put(path, path);
        if (i == 0)
            strcat(line, " --any films");
    }
    (void)!system("rm films/[abc].*");
    chaos_seen_first = chaos_untouched();
    chaos_open(&c, line);
    assert_int_equal(c.inputs.count, films);
    pid_t own = getpid();
    c.options.engine.choice = ENGINE_CPU;
    int status = batch_render(&(struct batch_run){.plan = &c.options.plan,
                                                  .inputs = &c.inputs,
                                                  .outputs = &c.outputs,
                                                  .batch = &c.options.batch,
                                                  .engine = &c.options.engine,
                                                  .process = &c.options.process});
    if (getpid() != own)
        _exit(status);
    chaos_close(&c);
    return status;
}

/* Reads the report: each film has one line. Calls `check` for each. */
static void check_report(size_t films,
                         void (*check)(size_t film, const char *status, const char *reason))
{
    static char text[1 << 16];
    bool seen[100] = {false};
    size_t count = 0;
    FILE *f = fopen("report", "r");
    for (; fgets(text, sizeof text, f); count++) {
        json_t *value = json_loads(text, 0, NULL);
        size_t film = (size_t)atoi(json_string_value(json_object_get(value, "film")) + 7);
        assert_true(film < films && !seen[film]);
        seen[film] = true;
        const char *reason = json_string_value(json_object_get(value, "reason"));
        if (check)
            check(film, json_string_value(json_object_get(value, "status")), reason);
        json_decref(value);
    }
    fclose(f);
    assert_int_equal(count, films);
}

static void check_attack(size_t film, const char *status, const char *reason)
{
    char path[64];
    const char *expected = attack_on(film)->reason;
    if (strcmp(status, expected ? "failed" : "done") != 0 ||
        (expected && !strstr(reason, expected)))
        fail_msg("film %zu: %s (%s)", film, status, reason ? reason : "");
    snprintf(path, sizeof path, "out/x%02zu-average.png", film);
    assert_int_equal(faccessat(AT_FDCWD, path, F_OK, 0) == 0, !expected);
}

/* One that attacks costs its film alone, and the run ends. */
TEST_WITH(hostile_workers, chaos_enter, chaos_leave)
{
    int films = 0;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
        films += attacks[i].films;
    assert_int_equal(run(films), ERR_FAILED);
    check_report((size_t)films, check_attack);
}

TEST_WITH(random_workers, chaos_enter, chaos_leave)
{
    random_attacks = true;
    processes = 3;
    assert_int_not_equal(run(60), 0);
    check_report(60, NULL);
}
