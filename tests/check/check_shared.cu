/*
 * check_shared - the votes of shared_words.h of the GPU against those of src/sound, byte for byte;
 * and the time of a large library.
 *
 *   check_shared [--quick]     --quick: what the emulator can do in a few seconds
 */
#include "barcode/base/clock.h"
#include "check.h"
#include "shared_gpu.h"

/* Words of `films` films with runs of up to `most` words and longer ones. */
static std::vector<uint64_t> draw(size_t n, uint32_t end, int most, rng &r)
{
    std::vector<uint64_t> word(n);
    for (size_t i = 0; i < n;) {
        uint64_t bits = r.next() >> 32;
        for (int run = r.below(8) ? r.below(most) : r.below(3 * SHARED_RUN_MOST); run >= 0 && i < n;
             run--)
            word[i++] = bits << 32 | (uint32_t)(r.next() % end);
    }
    for (size_t i = n; i > 1; i--)
        std::swap(word[i - 1], word[r.next() % i]);
    return word;
}

static std::vector<uint32_t> draw_films(uint32_t films, int frames, rng &r)
{
    std::vector<uint32_t> base(films + 1);
    for (uint32_t i = 0; i < films; i++)
        base[i + 1] = base[i] + 1 + (uint32_t)r.below(frames);
    return base;
}

static void compare(size_t n, uint32_t films, int most_run, rng &r)
{
    struct err e = ERR_INIT, f = ERR_INIT;
    std::vector<uint32_t> base = draw_films(films, 1 << 18, r);
    std::vector<uint64_t> word = draw(n, base[films], most_run, r);
    struct shared_films list = {base.data(), films};
    uint64_t *right = NULL, *got = NULL;
    size_t rights = 0, gots = 0;
    bool ok = shared_votes_device(word.data(), n, &list, SIZE_MAX, &got, &gots, &e) &&
              shared_votes(word.data(), n, &list, SIZE_MAX, &right, &rights, &f);
    check(ok && gots == rights && (!rights || memcmp(got, right, rights * sizeof *got) == 0),
          "%zu words of %u films: %zu votes, not %zu %s%s", n, films, gots, rights, e.text, f.text);
    free(got);
    free(right);
}

/* More votes than are allowed are an error, on both. */
static void compare_limit(rng &r)
{
    struct err e = ERR_INIT, f = ERR_INIT;
    std::vector<uint32_t> base = draw_films(5, 1000, r);
    std::vector<uint64_t> word = draw(4000, base[5], 20, r);
    struct shared_films list = {base.data(), 5};
    uint64_t *vote = NULL;
    size_t votes = 0;
    check(!shared_votes_device(word.data(), word.size(), &list, 100, &vote, &votes, &e) &&
              !shared_votes(word.data(), word.size(), &list, 100, &vote, &votes, &f) &&
              e.code == ERR_FAILED && f.code == ERR_FAILED,
          "too many votes: %s; %s", e.text, f.text);
}

#ifndef BARCODE_EMULATED
static void print_time(size_t n, uint32_t films, rng &r)
{
    struct err e = ERR_INIT;
    std::vector<uint32_t> base = draw_films(films, (int)(UINT32_MAX / films), r);
    std::vector<uint64_t> word = draw(n, base[films], 4, r);
    struct shared_films list = {base.data(), films};
    uint64_t *vote[2] = {NULL, NULL};
    size_t votes[2] = {0, 0};
    for (int i = 0; i < 2; i++) { /* the first one starts the device */
        int64_t begun = clock_ns();
        free(vote[0]);
        bool ok = shared_votes_device(word.data(), n, &list, SIZE_MAX, &vote[0], &votes[0], &e);
        if (check(ok, "%zu words %s", n, e.text) && i == 1)
            printf("%zu words of %u films: %zu votes in %.3f s on the GPU, ", n, films, votes[0],
                   clock_since(begun));
    }
    int64_t begun = clock_ns();
    shared_votes(word.data(), n, &list, SIZE_MAX, &vote[1], &votes[1], &e);
    printf("%.3f s on a core\n", clock_since(begun));
    check(votes[0] == votes[1] && memcmp(vote[0], vote[1], votes[0] * sizeof *vote[0]) == 0,
          "%zu words", n);
    free(vote[0]);
    free(vote[1]);
}
#endif

int main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    need_device("check_shared");
    rng r{20261127};
    for (size_t n : {0, 1, 2, 63, 64, 65, 255, 256, 257, 5000})
        for (uint32_t films : {1u, 2u, 7u, 300u})
            compare(n, films, n % 2 ? 3 : 70, r);
    compare_limit(r);
    compare(quick ? 20000 : 3000000, 1000, 6, r);
#ifndef BARCODE_EMULATED
    if (!quick)
        for (size_t n : {1000000, 20000000, 200000000})
            print_time(n, 2500, r);
#endif
    return done();
}
