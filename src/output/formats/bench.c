#include "barcode/base/clock.h"
#include "base/version.h"
#include "output/writer.h"
#include "json.h"

static json_t *counts_value(const struct decode_counts *c)
{
    return json_pack(
        "{sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI}", "packets",
        (json_int_t)c->packets, "displayed", (json_int_t)c->displayed, "sent", (json_int_t)c->sent,
        "decoded", (json_int_t)c->decoded, "hardware", (json_int_t)c->hardware, "fallbacks",
        (json_int_t)c->fallbacks, "runs", (json_int_t)c->chunks, "skipped_runs",
        (json_int_t)c->skipped_chunks, "redone_runs", (json_int_t)c->redone_chunks, "taken_over",
        (json_int_t)c->reused, "flushes", (json_int_t)c->flushes, "separators",
        (json_int_t)c->idr_splices, "decode_errors", (json_int_t)c->decode_errors, "lost",
        (json_int_t)c->lost, "damaged", (json_int_t)c->damaged, "keys", (json_int_t)c->keys,
        "keys_faulty", (json_int_t)c->bad_keys, "bytes_read", (json_int_t)c->bytes_read);
}

/* Returns the parts of the wall time, which follow one another and add up to it. */
static json_t *wall_value(const struct decode_times *t)
{
    double known = t->start_up + t->engine_begin + t->pass + t->engine_finish + t->write;
    return json_pack("{so so so so so so}", "start_up", writer_json_seconds(t->start_up),
                     "engine_begin", writer_json_seconds(t->engine_begin), "staging",
                     writer_json_seconds(t->pass), "engine_finish",
                     writer_json_seconds(t->engine_finish), "write", writer_json_seconds(t->write),
                     "rest", writer_json_seconds(t->wall > known ? t->wall - known : 0));
}

/* Returns how busy each kind of thread was, as shares of the time of the decode pass. */
static json_t *busy_value(const struct decode_times *t)
{
    double pass = t->pass > 0 ? t->pass : 1;
    return json_pack("{so so so so}", "reader", writer_json_seconds(t->demux / pass), "device",
                     writer_json_seconds(t->device_busy), "software",
                     writer_json_seconds(t->software_busy), "cluster",
                     writer_json_seconds(t->cluster / pass));
}

/* Returns a number per second of wall time, or null if no time is known. */
static json_t *per_second(uint64_t number, double wall)
{
    return wall > 0 ? writer_json_seconds((double)number / wall) : json_null();
}

static bool write_bench(const struct report *r, struct strips strips, FILE *f, struct err *e)
{
    (void)strips;
    json_t *value = json_pack(
        "{ss so so so so so si sI sI so so so sI so so so so}", "version", BARCODE_VERSION, "film",
        writer_json_bytes(r->film->path), "engine", writer_json_bytes(r->run.engine), "decode",
        writer_json_bytes(r->run.decode), "isa", writer_json_bytes(r->run.isa), "cache",
        writer_json_bytes(r->run.cache), "threads", r->run.threads, "columns", (json_int_t)r->count,
        "missing", (json_int_t)r->missing, "frames_per_second",
        per_second(r->run.counts.displayed, r->run.times.wall), "columns_per_second",
        per_second(r->count, r->run.times.wall), "cpu_seconds",
        writer_json_seconds(clock_cpu_seconds()), "peak_memory", (json_int_t)clock_peak_memory(),
        "stages", writer_json_stages(&r->run.times), "wall", wall_value(&r->run.times), "busy",
        busy_value(&r->run.times), "counts", counts_value(&r->run.counts));
    bool done = writer_json_put(f, value) && fputs("\n", f) != EOF;
    return done || writer_failed(e);
}

const struct writer writer_bench = {
    .name = "bench", .title = "JSON", .one_line = true, .has_times = true, .write = write_bench};
