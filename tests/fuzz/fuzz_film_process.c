/* fuzz_film_process.c - bytes are dice: what a hostile worker process sends to its parent. */
#include "film_chaos.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct chaos c;
    struct dice d = {.data = data, .size = size, .state = size};
    if (chaos_open_first == 0) {
        chaos_folder();
        atexit(chaos_remove);
    }
    chaos_open(&c, "--no-cache -m average -o out/ --csv all.csv --thumbnails out/ --dump out/ "
                   "--trickplay jellyfin films/a.mkv films/b.mkv films/c.mkv hls/list.m3u8");
    for (int i = 0; i < 200 && d.size > 0; i++) {
        chaos_step(&c, &d);
        chaos_serve(&c, &d);
    }
    chaos_close(&c);
    chaos_clean();
    fuzz_demand(chaos_check());
    return 0;
}
