/* fuzz_film_process.c - bytes are dice: what a hostile worker process sends to its parent. */
#include "film_chaos.h"

static int home = -1, inside; /* the folders of the fuzzer, and of the films */

static void leave(void)
{
    if (fchdir(inside) == 0)
        chaos_remove();
}

static void enter(void)
{
    if (home < 0) {
        home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        chaos_folder();
        inside = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        atexit(leave);
    }
    fuzz_demand(home >= 0 && fchdir(inside) == 0);
    chaos_open_first = chaos_descriptors();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct chaos c;
    struct dice d = {.data = data, .size = size, .state = size};
    enter();
    chaos_open(&c, "--no-cache -m average -o out/ --csv all.csv --thumbnails out/ --dump out/ "
                   "--trickplay jellyfin films/a.mkv films/b.mkv films/c.mkv hls/list.m3u8");
    for (int i = 0; i < 200 && d.size > 0; i++) {
        chaos_step(&c, &d);
        chaos_serve(&c, &d);
    }
    chaos_close(&c);
    chaos_clean();
    fuzz_demand(chaos_check() && fchdir(home) == 0);
    return 0;
}
