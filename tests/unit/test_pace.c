/* test_pace.c - which runs a software session takes beside NVDEC sessions. Films as tests/bench/RESULTS.md has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "stage/pace.h"

#define HD (1920.0 * 1080)
#define UHD (3840.0 * 2160)

enum { NVDEC = 14, SOFTWARE = 14 };

static struct pace guess(int sessions, double rate)
{
    return (struct pace){.sessions = sessions, .prior = rate};
}

/* `runs` of 100 pictures are done, at `rate` pictures a second and session, and every session is half way through one. */
static struct pace measured(int sessions, double prior, double rate, unsigned runs)
{
    return (struct pace){.sessions = sessions, .prior = prior, .busy = sessions, .begun = 50.0 * sessions, .pictures = 100.0 * runs,
                         .seconds = 100.0 * runs / rate};
}

static struct pace busy(struct pace p, double pictures)
{
    p.busy = p.sessions;
    p.begun = pictures / 2 * p.sessions;
    return p;
}

/* `queued` runs of `pictures` wait, and `unread` more are to come. */
static bool worth(struct pace soft, struct pace nvdec, int queued, double unread, double pictures)
{
    struct pace_left left = {.runs = queued, .queued = queued * pictures, .unread = unread * pictures};
    return pace_worth_it(&soft, &nvdec, &left, pictures);
}

static void priors(void **state)
{
    (void)state;
    assert_float_equal(pace_software_prior(HD), 161, 1);
    assert_float_equal(pace_nvdec_prior(STREAM_H264, HD), 530, 1);
    assert_float_equal(pace_nvdec_prior(STREAM_HEVC, UHD), 253, 1);
    assert_float_equal(pace_nvdec_prior(STREAM_VP9, HD), 434, 1);
}

/* Half a minute of 1080p: four runs, for each of which an NVDEC session is idle. */
static void short_film(void **state)
{
    (void)state;
    struct pace soft = guess(SOFTWARE, pace_software_prior(HD)), nvdec = guess(NVDEC, pace_nvdec_prior(STREAM_H264, HD));
    for (int queued = 1; queued <= 4; queued++)
        assert_false(worth(soft, nvdec, queued, 4 - queued, 130));
    nvdec.busy = 4;                                         /* and none is left when they are under way */
    nvdec.begun = 4 * 130 / 2;
    assert_false(worth(soft, nvdec, 1, 0, 130));
    /* A minute more, where all NVDEC sessions work: a run in software takes as long as the rest. */
    assert_false(worth(soft, busy(nvdec, 130), 2, 4, 130));
}

/* While there is work for long, all help. */
static void long_film(void **state)
{
    (void)state;
    struct pace soft = guess(SOFTWARE, pace_software_prior(HD)), nvdec = guess(NVDEC, pace_nvdec_prior(STREAM_H264, HD));
    assert_true(worth(soft, busy(nvdec, 72), 3, 2400, 72));
    assert_true(worth(measured(SOFTWARE, 161, 250, 100), measured(NVDEC, 530, 550, 300), 3, 1000, 72));
    assert_false(worth(measured(SOFTWARE, 161, 250, 1000), measured(NVDEC, 530, 550, 3000), 3, 10, 72));
    nvdec.busy = 10;                                        /* four wait for the reader: it has no more to give */
    nvdec.begun = 360;
    assert_false(worth(soft, nvdec, 3, 2400, 72));
}

/* Half an hour of 2160p in groups of 240 pictures: a run is half the film's time in software. */
static void uhd(void **state)
{
    (void)state;
    struct pace soft = guess(SOFTWARE, pace_software_prior(UHD)), nvdec = guess(NVDEC, pace_nvdec_prior(STREAM_HEVC, UHD));
    assert_false(worth(soft, busy(nvdec, 240), 2, 100000, 240));      /* all cores do too little to be worth them */
    soft.sessions *= 2;
    assert_true(worth(soft, busy(nvdec, 240), 2, 178, 240));
    assert_false(worth(soft, busy(nvdec, 240), 2, 120, 240));
    /* Measured: with all cores busy a software session makes 20 pictures a second. */
    assert_false(worth(measured(SOFTWARE, 40, 20, 14), measured(NVDEC, 253, 250, 100), 2, 150, 240));
}

/* A film whose decoders are flushed for every run: a software session is as fast as NVDEC's. */
static void open_gop(void **state)
{
    (void)state;
    struct pace soft = measured(SOFTWARE, 161, 280, 200), nvdec = measured(NVDEC, 530, 100, 80);
    assert_true(worth(soft, nvdec, 3, 300, 72));
    assert_true(worth(soft, nvdec, 1, 0, 72));              /* also the last run */
    nvdec.busy--;
    assert_true(worth(soft, nvdec, 1, 0, 72));              /* for which a slower NVDEC session is idle */
}

/* Two sessions that are ten times as slow as was thought. */
static void slow_gpu(void **state)
{
    (void)state;
    struct pace soft = guess(6, pace_software_prior(HD)), nvdec = busy(guess(2, pace_nvdec_prior(STREAM_H264, HD)), 250);
    assert_false(worth(soft, nvdec, 3, 0, 250));
    nvdec.seconds = 2 * 0.5;                                /* in the midst of the first run */
    nvdec.pictures = 2 * 25;
    assert_true(pace_rate(&nvdec) < 110);
    assert_true(worth(soft, nvdec, 3, 0, 250));
    assert_true(worth(soft, measured(2, 530, 50, 4), 3, 0, 250));
    assert_true(worth(soft, guess(0, 530), 1, 0, 250));     /* none is left */
}

/*
 * NVDEC sessions begin together, and come to the end of their first runs together: no moment of that may look slower than another. 2160p HEVC
 * in groups of 72, as it was expected.
 */
static void all_begin_together(void **state)
{
    (void)state;
    struct pace soft = guess(SOFTWARE, pace_software_prior(UHD)), nvdec = guess(NVDEC, pace_nvdec_prior(STREAM_HEVC, UHD));
    nvdec.busy = NVDEC;
    for (double done = 0; done <= 72; done++) {
        nvdec.pictures = done * NVDEC;
        nvdec.begun = (72 - done) * NVDEC;
        nvdec.seconds = nvdec.pictures / nvdec.prior;
        assert_float_equal(pace_rate(&nvdec), nvdec.prior, 1e-6);
        assert_false(worth(soft, nvdec, 16, 20000 / 72.0, 72));
    }
}

/* Where other films are decoded too, every session is slower, which is measured. */
static void several_films(void **state)
{
    (void)state;
    struct pace soft = measured(SOFTWARE, 161, 160, 14), nvdec = measured(NVDEC, 530, 130, 28);
    assert_true(worth(soft, nvdec, 2, 30, 72));
    assert_false(worth(measured(SOFTWARE, 161, 40, 14), nvdec, 2, 30, 72));
}

static void what_is_unread(void **state)
{
    (void)state;
    struct pace_reading r = {.total = 1000, .read = 200, .first = 100, .queued = 50};
    assert_float_equal(pace_unread(&r), 400, 1e-9);         /* half of what is read becomes runs */
    r.total = 0;
    assert_true(isinf(pace_unread(&r)));                    /* unknown */
    r.total_bytes = 5000;
    r.read_bytes = 1000;
    assert_float_equal(pace_unread(&r), 200, 1e-9);
    r.first_bytes = 1000;
    assert_true(isinf(pace_unread(&r)));                    /* nothing to judge by yet */
    r.first_bytes = 0;
    r.read_bytes = 6000;
    assert_float_equal(pace_unread(&r), 0, 0);              /* the film is longer than it says */
    r.read_bytes = 1000;
    r.ended = true;
    assert_float_equal(pace_unread(&r), 0, 0);
    struct pace soft = guess(SOFTWARE, 161), nvdec = busy(guess(NVDEC, 530), 72);
    assert_true(worth(soft, nvdec, 1, HUGE_VAL, 72));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priors), cmocka_unit_test(short_film), cmocka_unit_test(long_film), cmocka_unit_test(uhd),
        cmocka_unit_test(open_gop), cmocka_unit_test(slow_gpu), cmocka_unit_test(all_begin_together), cmocka_unit_test(several_films), cmocka_unit_test(what_is_unread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
