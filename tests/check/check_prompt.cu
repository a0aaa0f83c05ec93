/*
 * check_prompt.cu - frames of several live streams at once (engine_job.prompt): each has the CPU
 * engine's column, all are done although no batch is full, and how long that takes.
 *
 *   check_prompt [STREAMS [FRAMES]]: of 1080p, 30 a second
 */
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "barcode/engine/engine.h"
#include "check.h"

enum { WIDE = 1920, HIGH = 1080, WIDTH = 320, HEIGHT = 180, PICTURES = 8, K = 8 };

static const int64_t frame_us = 33333;

/* Writes a plane of slopes and rectangles, with some noise. */
static void draw(uint8_t *plane, int width, int height, unsigned seed)
{
    uint32_t state = seed * 2654435761u + 1;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int slope = (x * (int)(seed % 5 + 1) + y * (int)(seed % 3 + 1)) * 60 / (width + height);
            int box = ((x * 6 / width) * 7 + (y * 4 / height) * 3 + (int)seed) % 5 * 30;
            state = state * 1664525u + 1013904223u;
            *plane++ = (uint8_t)(30 + slope % 64 + box + (int)(state >> 29));
        }
}

static std::vector<uint8_t> make_picture(unsigned seed)
{
    const size_t pixels = (size_t)WIDE * HIGH;
    std::vector<uint8_t> planes(pixels * 3 / 2);
    draw(planes.data(), WIDE, HIGH, seed);
    draw(planes.data() + pixels, WIDE / 2, HIGH / 2, seed + 3);
    draw(planes.data() + pixels * 5 / 4, WIDE / 2, HIGH / 2, seed + 7);
    return planes;
}

static frame_view view_of(const uint8_t *planes)
{
    frame_view v = {};
    v.model = MODEL_YCBCR;
    v.matrix = MATRIX_BT709;
    v.range = RANGE_LIMITED;
    v.bits = 8;
    v.width = WIDE;
    v.height = HIGH;
    v.plane[0] = {planes, WIDE, 1, WIDE, HIGH};
    for (int i = 1; i < 3; i++)
        v.plane[i] = {planes + (size_t)WIDE * HIGH * (3 + i) / 4, WIDE / 2, 1, WIDE / 2, HIGH / 2};
    return v;
}

struct board {
    std::mutex lock;
    std::condition_variable changed;
    std::vector<int> done;
};

static void mark(void *user, const frame_tag *tag)
{
    board *b = (board *)user;
    std::lock_guard<std::mutex> hold(b->lock);
    b->done[tag->column]++;
    b->changed.notify_all();
}

static engine_job job_for(columns *c, int streams, board *b)
{
    engine_job job = {};
    job.width = WIDTH;
    job.height = HEIGHT;
    job.cluster = true;
    job.modes = 1;
    job.kmeans = {K, 20, 300, INIT_SCALABLE, 0, true};
    job.ports = streams;
    job.columns = c;
    job.done = mark;
    job.done_user = b;
    job.prompt = true;
    return job;
}

/* Puts a stream's frames in real time, each into the stream's column once the last one is done. */
static void play(engine *g, board *b, const std::vector<std::vector<uint8_t>> *pictures, int stream,
                 int frames, std::vector<double> *ms)
{
    struct err e = ERR_INIT;
    engine_port *port = engine_port_open(g, &e);
    auto begin = std::chrono::steady_clock::now() + std::chrono::microseconds(stream * 1000);
    for (int i = 0; port && i < frames; i++) {
        std::this_thread::sleep_until(begin + std::chrono::microseconds(i * frame_us));
        frame_view view = view_of((*pictures)[(size_t)(stream + i) % PICTURES].data());
        frame_tag tag = {};
        tag.column = (uint64_t)stream;
        tag.repeat = 1;
        tag.frame = (uint64_t)(stream * 1000 + i);
        auto from = std::chrono::steady_clock::now();
        if (!engine_put(port, &view, &tag, &e))
            break;
        std::unique_lock<std::mutex> hold(b->lock);
        bool in_time = b->changed.wait_for(hold, std::chrono::seconds(10),
                                           [&] { return b->done[(size_t)stream] == i + 1; });
        hold.unlock();
        if (!check(in_time, "frame %d of stream %d is done", i, stream))
            break;
        ms->push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from)
                .count());
    }
    check(e.code == ERR_NONE, "stream %d: %s", stream, e.text);
    engine_port_close(&port);
}

static columns *run(const char *name, const std::vector<std::vector<uint8_t>> &pictures,
                    int streams, int frames)
{
    struct err e = ERR_INIT;
    engine_config config = {};
    config.threads = streams;
    engine *g = engine_open(name, &config, &e);
    if (!check(g, "%s opens: %s", name, e.text))
        return NULL;
    board b;
    b.done.resize((size_t)streams);
    columns *c = columns_open(K, 0, &e);
    engine_job job = job_for(c, streams, &b);
    check(engine_begin(g, &job, &e), "%s begins: %s", name, e.text);
    std::vector<std::vector<double>> ms((size_t)streams);
    std::vector<std::thread> threads;
    for (int i = 0; i < streams; i++)
        threads.emplace_back(play, g, &b, &pictures, i, frames, &ms[(size_t)i]);
    for (std::thread &t : threads)
        t.join();
    engine_times times;
    check(engine_finish(g, &times, &e), "%s ends: %s", name, e.text);
    engine_close(&g);
    std::vector<double> all;
    for (auto &m : ms) /* in the first half second memory is made */
        all.insert(all.end(), m.begin() + std::min<size_t>(15, m.size()), m.end());
    std::sort(all.begin(), all.end());
    if (!all.empty())
        printf("%s: %d streams, %.2f ms a frame; from put to done: p50 %.2f ms, p95 %.2f, p99 "
               "%.2f, most %.2f\n",
               name, streams, times.cluster * 1e3 / frames / streams, all[all.size() / 2],
               all[all.size() * 95 / 100], all[all.size() * 99 / 100], all.back());
    return c;
}

int main(int argc, char **argv)
{
    need_device("check_prompt");
    int streams = argc > 1 ? atoi(argv[1]) : 16, frames = argc > 2 ? atoi(argv[2]) : 60;
    std::vector<std::vector<uint8_t>> pictures;
    for (unsigned i = 0; i < PICTURES; i++)
        pictures.push_back(make_picture(i + 1));
    columns *cpu = run("cpu", pictures, streams, frames);
    columns *cuda = run("cuda", pictures, streams, frames);
    for (int i = 0; cpu && cuda && i < streams; i++) {
        const column *a = columns_get(cpu, (uint64_t)i), *b = columns_get(cuda, (uint64_t)i);
        bool same = a->clusters == b->clusters && memcmp(a->average, b->average, 3) == 0 &&
                    memcmp(a->dominant, b->dominant, 3) == 0;
        for (int k = 0; same && k < a->clusters; k++)
            same = memcmp(a->cluster[k].rgb, b->cluster[k].rgb, 3) == 0 &&
                   a->cluster[k].count == b->cluster[k].count;
        check(same, "stream %d has the CPU engine's column", i);
    }
    columns_free(&cpu);
    columns_free(&cuda);
    return done();
}
