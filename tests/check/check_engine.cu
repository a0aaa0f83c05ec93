/*
 * check_engine - the whole CUDA engine against the CPU engine: the same frames through put
 * (pictures in host and in device memory) and put_analysed, from several threads, in shuffled
 * order; columns, row means, slits and the tap's frames must be the same bytes. And many films in
 * one process must leave memory where it was. All GPUs as one engine, the first one twice, give the
 * same bytes too.
 *
 *   check_engine [FILMS]     how many films the last check runs (200)
 */
#include <pthread.h>
#include <unistd.h>

#include "barcode/engine/dominant.h"
#include "barcode/engine/engine.h"
#include "check.h"

struct film_frames {
    int width, height, count, film_width, film_height;
    std::vector<std::vector<uint8_t>> nv12; /* pictures of film_width x film_height */
    std::vector<frame_tag> tag;
};

struct result {
    struct columns *columns = nullptr;
    std::vector<std::vector<uint8_t>> tapped;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    size_t bytes = 0;
    int slit = 0;
};

static bool tap(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *)
{
    result *r = (result *)user;
    pthread_mutex_lock(&r->lock);
    if (r->tapped.size() <= tag->column)
        r->tapped.resize(tag->column + 1);
    r->tapped[tag->column].assign(rgb, rgb + r->bytes);
    pthread_mutex_unlock(&r->lock);
    return true;
}

static film_frames make_film(int count, int film_width, int film_height, int width, int height,
                             rng &r)
{
    film_frames f{width, height, count, film_width, film_height, {}, {}};
    size_t pitch = (size_t)(film_width + 1) / 2 * 2, rows = film_height + (film_height + 1) / 2;
    for (int i = 0; i < count; i++) {
        std::vector<uint8_t> picture(pitch * rows);
        int kind = r.below(4), base = r.below(256);
        for (size_t j = 0; j < picture.size(); j++)
            picture[j] = (uint8_t)(kind == 0   ? r.next()
                                   : kind == 1 ? base
                                   : kind == 2 ? base + j / pitch / 8
                                               : base + r.below(9));
        f.nv12.push_back(picture);
        frame_tag tag{}; /* one frame in eleven is only a preview */
        tag.column = tag.preview = (uint64_t)i;
        tag.repeat = i % 11 != 5;
        tag.previews = !tag.repeat;
        tag.frame = (uint64_t)i * 24;
        tag.time_us = i * 1000000;
        tag.damaged = r.below(50) == 0;
        f.tag.push_back(tag);
    }
    return f;
}

static frame_view view_at(const film_frames &f, const uint8_t *base, bool on_device)
{
    ptrdiff_t pitch = (f.film_width + 1) / 2 * 2;
    int cw = (f.film_width + 1) / 2, ch = (f.film_height + 1) / 2;
    const uint8_t *chroma = base + pitch * f.film_height;
    frame_view v = {};
    v.model = MODEL_YCBCR;
    v.matrix = MATRIX_BT709;
    v.range = RANGE_LIMITED;
    v.bits = 8;
    v.width = f.film_width;
    v.height = f.film_height;
    v.on_device = on_device;
    v.plane[0] = {base, pitch, 1, f.film_width, f.film_height};
    v.plane[1] = {chroma, pitch, 2, cw, ch};
    v.plane[2] = {chroma + 1, pitch, 2, cw, ch};
    return v;
}

/* ALPHA: in host memory, a third of the frames with their luma as alpha, a third transparent. */
enum way { HOST, DEVICE, STAGED, ALPHA };

struct worker {
    const film_frames *film;
    engine *g;
    int first, step;
    way how;
    const std::vector<std::vector<uint8_t>> *staged;
    bool ok;
};

/* Where pictures in device memory lie: on the engine's GPU, as NVDEC's do. */
static int picture_device;

static void *worker_main(void *argument)
{
    worker *w = (worker *)argument;
    struct err e = ERR_INIT;
    engine_port *port = engine_port_open(w->g, &e);
    must(cudaSetDevice(picture_device), "the engine's GPU");
    w->ok = port != NULL;
    device_buffer picture(w->film->nv12[0].size());
    std::vector<uint8_t> nothing(w->film->nv12[0].size());
    for (int i = w->film->count - 1 - w->first; i >= 0 && w->ok; i -= w->step) { /* not in order */
        const std::vector<uint8_t> &bytes = w->film->nv12[i];
        if (w->how == STAGED) {
            w->ok = engine_put_analysed(port, (*w->staged)[i].data(), &w->film->tag[i], &e);
            continue;
        }
        if (w->how == DEVICE)
            picture.put(bytes.data(), bytes.size());
        frame_view v =
            view_at(*w->film, w->how == DEVICE ? picture.data() : bytes.data(), w->how == DEVICE);
        if (w->how == ALPHA && i % 3 > 0)
            v.alpha = v.plane[0];
        if (w->how == ALPHA && i % 3 == 1)
            v.alpha.data = nothing.data();
        w->ok = engine_put(port, &v, &w->film->tag[i], &e);
    }
    if (!w->ok)
        printf("%s\n", e.text);
    w->ok &= picture.guards_whole();
    engine_port_close(&port);
    return NULL;
}

static bool run(engine *g, const film_frames &f, const kmeans_params *params, way how,
                const std::vector<std::vector<uint8_t>> *staged, result *out)
{
    enum { WORKERS = 3 };
    struct err e = ERR_INIT;
    out->bytes = (size_t)f.width * f.height * 3;
    out->columns = columns_open(params ? params->k : 0, f.height, &e);
    engine_job job = {};
    job.width = f.width;
    job.height = f.height;
    job.cluster = params != NULL;
    job.rows = true;
    job.modes = DOMINANT_MOST;
    columns_keep_modes(out->columns);
    struct slit slit = {5000, 2025};
    struct slit_line *line = slit_line_open(&slit, f.width, f.height, &e);
    columns_keep_slit(out->columns, line->length);
    out->slit = line->length;
    job.slit = line;
    if (params)
        job.kmeans = *params;
    job.ports = WORKERS;
    job.columns = out->columns;
    job.tap = tap;
    job.tap_user = out;
    bool ok = engine_begin(g, &job, &e);
    worker w[WORKERS];
    pthread_t thread[WORKERS];
    for (int i = 0; i < WORKERS && ok; i++) {
        w[i] = {&f, g, i, WORKERS, how, staged, false};
        pthread_create(&thread[i], NULL, worker_main, &w[i]);
    }
    for (int i = 0; i < WORKERS && ok; i++)
        pthread_join(thread[i], NULL);
    bool worked = ok;
    for (int i = 0; i < WORKERS && ok; i++)
        worked &= w[i].ok;
    engine_times times;
    if (ok)
        worked &= engine_finish(g, &times, &e);
    if (!worked)
        printf("%s\n", e.text);
    slit_line_free(&line);
    return worked;
}

static bool same(const result &a, const result &b, int height)
{
    if (columns_count(a.columns) != columns_count(b.columns) || a.tapped != b.tapped)
        return false;
    for (uint64_t i = 0; i < columns_count(a.columns); i++) {
        const column *x = columns_get(a.columns, i), *y = columns_get(b.columns, i);
        bool alike = x->frame == y->frame && x->time_us == y->time_us && x->repeat == y->repeat &&
                     x->status == y->status && x->transparent == y->transparent &&
                     x->clusters == y->clusters && x->modes == y->modes &&
                     memcmp(x->average, y->average, 3) == 0 &&
                     memcmp(x->dominant, y->dominant, 3) == 0 &&
                     memcmp(x->row, y->row, (size_t)height * 3) == 0 && a.slit == b.slit &&
                     memcmp(x->slit, y->slit, (size_t)a.slit * 3) == 0;
        for (int j = 0; j < x->clusters && alike; j++)
            alike = x->cluster[j].count == y->cluster[j].count &&
                    memcmp(x->cluster[j].rgb, y->cluster[j].rgb, 3) == 0;
        for (int j = 0; j < x->modes && alike; j++)
            alike = x->mode[j].count == y->mode[j].count &&
                    memcmp(x->mode[j].rgb, y->mode[j].rgb, 3) == 0;
        if (!alike)
            return false;
    }
    return true;
}

static void compare(engine *cpu, engine *cuda, const film_frames &f, const kmeans_params *params,
                    const char *what)
{
    static const char *const name[] = {"host", "device", "staged"};
    result right;
    bool ok = run(cpu, f, params, HOST, NULL, &right);
    for (int how = HOST; how <= STAGED; how++) {
        result r;
        bool ran = ok && run(cuda, f, params, (way)how, &right.tapped, &r);
        check(ran && same(right, r, f.height), "%s from %s memory", what, name[how]);
        columns_free(&r.columns);
    }
    columns_free(&right.columns);
    result alpha, cuda_alpha;
    check(run(cpu, f, params, ALPHA, NULL, &alpha) &&
              run(cuda, f, params, ALPHA, NULL, &cuda_alpha) && same(alpha, cuda_alpha, f.height),
          "%s with alpha", what);
    columns_free(&alpha.columns);
    columns_free(&cuda_alpha.columns);
}

static size_t resident_pages()
{
    size_t size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%zu %zu", &size, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident;
}

/* The first films fill caches and pools; after them nothing may grow. */
static void check_many(engine *cuda, int films, rng &r)
{
    enum { WARM = 20 };
    kmeans_params params = {4, 2, 50, INIT_SCALABLE, 1, true};
    film_frames f = make_film(9, 320, 180, 64, 36, r);
    size_t free_before = 0, free_after = 0, total, pages = 0;
    bool ok = true;
    for (int i = 0; i < films && ok; i++) {
        result out;
        if (i == WARM) {
            must(cudaMemGetInfo(&free_before, &total), "memory");
            pages = resident_pages();
        }
        ok = run(cuda, f, &params, DEVICE, NULL, &out);
        columns_free(&out.columns);
    }
    must(cudaMemGetInfo(&free_after, &total), "memory");
    size_t grown = (resident_pages() - pages) * (size_t)sysconf(_SC_PAGESIZE);
    check(ok, "%d films in one process", films);
    check(films <= WARM || free_after == free_before,
          "device memory: %zu bytes free before, %zu after", free_before, free_after);
    check(films <= WARM || (long long)grown < 4 << 20, "host memory grew by %zu bytes", grown);
}

/* With all memory taken, beginning fails with a sentence or makes do; the next film is fine again.
 */
static void check_out_of_memory(engine *cpu, engine *cuda, const film_frames &f,
                                const kmeans_params *params)
{
    std::vector<void *> taken;
    for (size_t bytes = (size_t)8 << 30; bytes >= (size_t)1 << 20; bytes /= 2) {
        void *some;
        while (cudaMalloc(&some, bytes) == cudaSuccess)
            taken.push_back(some);
    }
    cudaGetLastError();
    struct err e = ERR_INIT;
    columns *c = columns_open(params->k, 0, &e);
    engine_job job = {};
    job.width = f.width;
    job.height = f.height;
    job.cluster = true;
    job.modes = DOMINANT_MOST;
    job.kmeans = *params;
    job.ports = 1;
    job.columns = c;
    bool began = engine_begin(cuda, &job, &e);
    check(!began && e.code == ERR_ENGINE && strlen(e.text) > 10,
          "a full GPU is refused with a sentence: '%s'", e.text);
    if (began) {
        engine_times times;
        engine_finish(cuda, &times, &e);
    }
    columns_free(&c);
    for (void *some : taken)
        cudaFree(some);
    result right, again;
    check(run(cpu, f, params, HOST, NULL, &right) && run(cuda, f, params, HOST, NULL, &again) &&
              same(right, again, f.height),
          "the film after it is right");
    columns_free(&right.columns);
    columns_free(&again.columns);
}

/* The GPUs behind the first one. */
static void check_others(engine *cpu, const film_frames &small, const film_frames &odd,
                         const kmeans_params *params)
{
    for (int i = 1; i < engine_count("cuda"); i++) {
        struct err e = ERR_INIT;
        engine_config config = {};
        config.threads = 8;
        config.device = i;
        engine *other = engine_open("cuda", &config, &e);
        if (!check(other, "GPU %d opens: %s", i, e.text))
            return;
        printf("GPU %d: %s\n", i, engine_detail(other));
        picture_device = i;
        compare(cpu, other, small, params, "700 small frames on another GPU");
        compare(cpu, other, odd, params, "odd sizes on another GPU");
        engine_close(&other);
    }
    picture_device = 0;
    must(cudaSetDevice(0), "the first GPU again");
}

/* check_engine [FILMS [fed]]: how many films one process takes; fed: memory is not taken away, for
 * memcheck's sake. */
int main(int argc, char **argv)
{
    need_device("check_engine");
    struct err e = ERR_INIT;
    engine_config config = {};
    config.threads = 8;
    engine *cpu = engine_open("cpu", &config, &e), *cuda = engine_open("cuda", &config, &e);
    if (!check(cpu && cuda, "engines open: %s", e.text))
        return done();
    rng r{42};
    kmeans_params usual = {8, 20, 300, INIT_SCALABLE, 0, true},
                  plus = {16, 3, 300, INIT_PLUSPLUS, 5, false},
                  random = {64, 2, 20, INIT_RANDOM, 9, false};
    film_frames small = make_film(700, 160, 90, 80, 45, r),
                odd = make_film(40, 853, 479, 319, 181, r);
    film_frames large = make_film(3, 1920, 1080, 1920, 1080, r), tiny = make_film(5, 7, 5, 1, 1, r);
    compare(cpu, cuda, small, &usual, "700 small frames, several batches");
    compare(cpu, cuda, small, NULL, "700 small frames, averages only");
    compare(cpu, cuda, odd, &usual, "odd sizes");
    compare(cpu, cuda, odd, &plus, "odd sizes, k-means++, k 16");
    compare(cpu, cuda, odd, &random, "odd sizes, random start, k 64");
    compare(cpu, cuda, large, &plus, "whole 1080p frames");
    compare(cpu, cuda, tiny, &usual, "one pixel");
    check_others(cpu, small, odd, &usual);
    if (argc < 3 || strcmp(argv[2], "fed"))
        check_out_of_memory(cpu, cuda, large, &plus);
    check_many(cuda, argc > 1 ? atoi(argv[1]) : 200, r);
    engine_close(&cuda);
    engine_close(&cpu);
    return done();
}
