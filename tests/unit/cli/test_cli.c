#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "base/log.h"
#include "barcode/engine/engine.h"
#include "cli_line.h"

/* Is this strip asked for? */
static bool selected(const char *name)
{
    bool found = false;
    for (size_t i = 0; i < o.plan.picture.strips; i++)
        found |= strcmp(o.plan.picture.strip[i]->name, name) == 0;
    return found;
}

/* Where the output with this option goes; NULL: it was not asked for. */
static const char *extra(const char *option)
{
    for (size_t i = 0; i < o.plan.outputs.extras; i++) {
        if (strcmp(o.plan.outputs.extra[i].writer->name, option) == 0)
            return o.plan.outputs.extra[i].path;
    }
    return NULL;
}

/* In whatever order options come. */
TEST(palettes_do_not_race)
{
    static const char *const racing[] = {"a", "a -m kmeans,dominant", "-m average a",
                                         "-m palette a -m kmeans"};
    static const char *const settled[] = {
        "a -m palette", "a -m kmeans,palette",   "-m all a",
        "a --no-race",  "-m kmeans --no-race a", "a -m kmeans -m palette"};
    for (size_t i = 0; i < sizeof racing / sizeof *racing; i++) {
        good(racing[i]);
        assert_true(o.plan.kmeans.race);
    }
    for (size_t i = 0; i < sizeof settled / sizeof *settled; i++) {
        good(settled[i]);
        assert_false(o.plan.kmeans.race);
    }
}

TEST(defaults)
{
    good("film.mkv");
    assert_int_equal(o.plan.inputs.count, 1);
    assert_string_equal(o.plan.inputs.argument[0], "film.mkv");
    assert_null(o.plan.outputs.path);
    assert_null(extra("json"));
    assert_int_equal(o.plan.outputs.extras, 0);
    assert_null(o.plan.outputs.dump);
    assert_true(selected("kmeans"));
    assert_int_equal(o.plan.picture.strips, 1);
    assert_false(o.plan.picture.stacked);
    assert_int_equal(o.plan.kmeans.k, 8);
    assert_int_equal(o.plan.kmeans.n_init, 20);
    assert_int_equal(o.plan.kmeans.max_iter, 300);
    assert_int_equal(o.plan.kmeans.init, INIT_SCALABLE);
    assert_true(o.plan.kmeans.race);
    assert_int_equal(o.plan.kmeans.seed, 0);
    assert_int_equal(o.plan.picture.steady, 0);
    assert_int_equal(o.plan.film.light.map, TONE_BT2390);
    assert_true(o.plan.film.light.peak == 0 && !o.plan.film.light.linear);
    assert_int_equal(o.plan.picture.order, ORDER_LIGHTNESS);
    assert_true(o.plan.film.selection.kind == SELECT_EVERY && o.plan.film.selection.every == 0);
    assert_true(o.plan.film.selection.start_us == 0 && o.plan.film.selection.end_us == INT64_MAX);
    assert_int_equal(o.plan.film.size.kind, SIZE_SIDE);
    assert_int_equal(o.plan.film.size.side, 320);
    assert_true(o.plan.picture.width == 0 && o.plan.picture.height == 800);
    assert_true(o.process.threads == 0 && o.batch.film_timeout_us == 0);
    assert_int_equal(o.batch.progress, PROGRESS_AUTO);
    assert_false(o.process.memory || o.process.max_pixels || o.plan.outputs.strict ||
                 o.plan.film.verify || extra("bench"));
}

TEST(every_option)
{
    good("a -o x.png b --mode=palette,average -k 64 --n-init 1000 --init k-means++ "
         "--max-iter=100000 "
         "--seed 18446744073709551615 --every 2147483648 --start 1:30 --end 1:02:03.25 --size 1/4 "
         "--width 10000000 "
         "--height 200 --engine auto --decode cpu --threads 1024 --memory 1.5G --max-pixels "
         "100000000 --film-timeout 1:30.5 --json j --dump d --progress "
         "always --strict --sandbox require "
         "--verify --bench --order share --no-race --tone-map hable --hdr-peak 4000 --light linear "
         "-- -c");
    assert_int_equal(o.plan.inputs.count, 3);
    assert_string_equal(o.plan.inputs.argument[0], "a");
    assert_string_equal(o.plan.inputs.argument[1], "b");
    assert_string_equal(o.plan.inputs.argument[2], "-c");
    assert_string_equal(o.plan.outputs.path, "x.png");
    assert_int_equal(o.batch.film_timeout_us, 90500000);
    assert_string_equal(extra("json"), "j");
    assert_int_equal(o.plan.outputs.extras, 2);
    assert_string_equal(o.plan.outputs.dump, "d");
    assert_true(selected("palette") && selected("average") && o.plan.picture.strips == 2);
    assert_int_equal(o.plan.kmeans.k, 64);
    assert_int_equal(o.plan.kmeans.n_init, 1000);
    assert_int_equal(o.plan.kmeans.max_iter, 100000);
    assert_int_equal(o.plan.kmeans.init, INIT_PLUSPLUS);
    assert_false(o.plan.kmeans.race);
    assert_true(o.plan.kmeans.seed == UINT64_MAX);
    assert_true(o.plan.film.selection.every == (uint64_t)1 << 31);
    assert_true(o.plan.film.selection.start_us == 90000000);
    assert_true(o.plan.film.selection.end_us == 3723250000);
    assert_int_equal(o.plan.film.size.kind, SIZE_DIVIDE);
    assert_int_equal(o.plan.film.size.divisor, 4);
    assert_int_equal(o.plan.picture.width, 10000000);
    assert_int_equal(o.plan.picture.height, 200);
    assert_int_equal(o.process.threads, 1024);
    assert_true(o.process.memory == (uint64_t)3 << 29 && o.process.max_pixels == 100000000);
    assert_int_equal(o.batch.progress, PROGRESS_ALWAYS);
    assert_true(o.plan.outputs.strict && o.plan.film.verify);
    assert_int_equal(o.process.sandbox, SANDBOX_REQUIRE);
    assert_string_equal(extra("bench"), "-");
    assert_int_equal(o.plan.picture.order, ORDER_SHARE);
    assert_int_equal(o.plan.film.light.map, TONE_HABLE);
    assert_int_equal(o.plan.film.light.peak, 4000);
    assert_true(o.plan.film.light.linear);
}

TEST(selections)
{
    good("f");
    assert_false(o.plan.film.selection.keyframes);
    good("--keyframes --interval 2 f");
    assert_true(o.plan.film.selection.keyframes && o.plan.film.selection.kind == SELECT_INTERVAL);
    bad("f --keyframes --verify",
        "--verify and --keyframes exclude each other: key frames are decoded in only one way");
    good("f --interval 0.5");
    assert_int_equal(o.plan.film.selection.kind, SELECT_INTERVAL);
    assert_int_equal(o.plan.film.selection.interval_us, 500000);
    good("f --columns=10000000 --height 65535 --width 5");
    good("f --columns=10000000 --height 1");
    assert_int_equal(o.plan.film.selection.kind, SELECT_COLUMNS);
    assert_int_equal(o.plan.film.selection.columns, 10000000);
    good("f -n1 -n 7");
    assert_int_equal(o.plan.film.selection.every, 7);
    bad("f --interval 0", "--interval: '0' is too short");
    bad("f --interval 0.0000009", "--interval: '0.0000009' is too short");
    bad("f --interval -1", "--interval: '-1' is not a time such as 90, 1:30 or 1:02:03.250");
    bad("f -n 2 --columns 3", "--every, --interval and --columns exclude each other; give one");
    bad("f --interval 2 --columns 3",
        "--every, --interval and --columns exclude each other; give one");
    bad("f --start 5 --end 5", "--start 5 is not before --end 5");
    bad("f --end 0", "--start 0 is not before --end 0");
    bad("f --start 1:60", "--start: '1:60' is not a time such as 90, 1:30 or 1:02:03.250");
}

TEST(whole_numbers_are_strict)
{
    bad("f -k eight", "-k: 'eight' is not a whole number from 1 to 64");
    bad("f -k 0", "-k: '0' is not a whole number from 1 to 64");
    bad("f -k 65", "-k: '65' is not a whole number from 1 to 64");
    bad("f -k 8x", "-k: '8x' is not a whole number from 1 to 64");
    bad("f -k-8", "-k: '-8' is not a whole number from 1 to 64");
    bad("f -k +8", "-k: '+8' is not a whole number from 1 to 64");
    bad("f --clusters=", "-k: '' is not a whole number from 1 to 64");
    bad("f -k 4294967304", "-k: '4294967304' is not a whole number from 1 to 64");
    bad("f -k 18446744073709551624",
        "-k: '18446744073709551624' is not a whole number from 1 to 64");
    bad("f --seed 18446744073709551616",
        "--seed: '18446744073709551616' is not a whole number from 0 to 18446744073709551615");
    bad("f --seed -1", "--seed: '-1' is not a whole number from 0 to 18446744073709551615");
    bad("f --n-init 1001", "--n-init: '1001' is not a whole number from 1 to 1000");
    bad("f --max-iter 0", "--max-iter: '0' is not a whole number from 1 to 100000");
    bad("f --every 2147483649", "-n: '2147483649' is not a whole number from 1 to 2147483648");
    bad("f --columns 10000001", "--columns: '10000001' is not a whole number from 1 to 10000000");
    bad("f --width 10000001", "--width: '10000001' is not a whole number from 1 to 10000000");
    bad("f --width 10000000 --height 65535",
        "a picture of 10000000x65535 is too large (at most 2147483648 pixels); give a smaller "
        "--width or --height");
    bad("f --columns 10000000", "a picture of 10000000x800 is too large (at most 2147483648 "
                                "pixels); give a smaller --width or --height");
    bad("f --width 32768 --height 65535 -m all",
        "a picture of 32768x327675 is too large (at most 2147483648 pixels); give a smaller "
        "--width or --height");
    bad("f --height 65536", "--height: '65536' is not a whole number from 1 to 65535");
    bad("f --threads 0", "--threads: '0' is not a whole number from 1 to 1024");
    good("f -k 007");
    assert_int_equal(o.plan.kmeans.k, 7);
}

/* The value is optional, so a word after it is a film. */
TEST(steady)
{
    good("--steady f");
    assert_int_equal(o.plan.picture.steady, 10);
    assert_string_equal(o.plan.inputs.argument[0], "f");
    good("f --steady=0");
    assert_int_equal(o.plan.picture.steady, 0);
    good("f --steady=50 --steady=7");
    assert_int_equal(o.plan.picture.steady, 7);
    bad("--steady 20 f", "'20' does not exist; a value of --steady follows '=': --steady=20");
    bad("f --steady=51", "--steady: '51' is not a whole number from 0 to 50");
    bad("f --steady=", "--steady: '' is not a whole number from 0 to 50");
    bad("f --steady=2.5", "--steady: '2.5' is not a whole number from 0 to 50");
    bad("--steady", "no FILM given; usage: barcode [OPTION...] FILM|FOLDER... (see --help)");
    bad("f --steady --quux", "unknown option '--quux'; see --help");
}

TEST(misuse_is_one_sentence)
{
    bad("", "no FILM given; usage: barcode [OPTION...] FILM|FOLDER... (see --help)");
    bad("-k 3", "no FILM given; usage: barcode [OPTION...] FILM|FOLDER... (see --help)");
    bad("f --foo", "unknown option '--foo'; see --help");
    bad("f --foo=bar", "unknown option '--foo'; see --help");
    bad("f --quality=90", "unknown option '--quality'; a JPEG has quality 92, a WebP is lossless");
    bad("f -k 3 -qz", "unknown option '-z'; see --help");
    bad("f -z", "unknown option '-z'; see --help");
    bad("f -k", "-k needs a value: N");
    bad("f --clusters", "--clusters needs a value: N");
    bad("f --sandbox on", "--sandbox: 'on' is not auto, require or off");
    bad("f --strict=yes", "--strict takes no value");
    bad("f -o a --mode average x -q --quux", "unknown option '--quux'; see --help");
    bad("f --json=", "--json: the name is empty");
    bad("f --init kmeans++", "--init: 'kmeans++' is not scalable, k-means++ or random");
    bad("f --tone-map aces", "--tone-map: 'aces' is not bt2390, hable, reinhard, clip or off");
    bad("f --hdr-peak 99", "--hdr-peak: '99' is not a whole number from 100 to 10000");
    bad("f --hdr-peak bright", "--hdr-peak: 'bright' is not a whole number from 100 to 10000");
    bad("f --light dark", "--light: 'dark' is not code or linear");
    bad("f --order hue", "--order: 'hue' is not lightness or share");
    bad("f --progress yes", "--progress: 'yes' is not auto, always or never");
    bad("f -m sqeeze", "-m: 'sqeeze' is not a mode; did you mean squeeze?");
    bad("f -m average,k-means", "-m: 'k-means' is not a mode; did you mean kmeans?");
    bad("f -m avreage", "-m: 'avreage' is not a mode; did you mean average?");
    bad("f -m al", "-m: 'al' is not a mode; did you mean all?");
    bad("f -m slits", "-m: 'slits' is not a mode; did you mean slit?");
    bad("f -m colour", "-m: 'colour' is not a mode; the modes are kmeans, dominant, palette, "
                       "average, squeeze, sound, spectrum, slit and all");
    bad("f --size 0", "--size: '0' is not WxH, SIDE (1 to 16384), 1/D (1 to 1000) or full");
    static const char one[] = "stdout can carry only one of -o -, --html -, --json -, --csv -, "
                              "--swatches -, --shot-list -, --landmarks -, --spectrogram -, "
                              "--dump -, --report - and --bench";
    bad("f -o - --json -", one);
    bad("f -o - --json /dev/stdout", one);
    bad("f --dump /dev/fd/1 -o /proc/self/fd/1", one);
    bad("f --dump - --bench", one);
}

TEST(many_films)
{
    good("films");
    assert_false(o.plan.inputs.recursive || o.plan.inputs.any || o.plan.outputs.update ||
                 o.plan.outputs.report || o.plan.inputs.shard || o.plan.inputs.shards);
    good("-r --any --update --shard 3/16 --report r films");
    assert_true(o.plan.inputs.recursive && o.plan.inputs.any && o.plan.outputs.update &&
                o.plan.inputs.shard == 3 && o.plan.inputs.shards == 16);
    assert_string_equal(o.plan.outputs.report, "r");
    good("--recursive --shard=1/1 films");
    assert_true(o.plan.inputs.recursive && o.plan.inputs.shard == 1 && o.plan.inputs.shards == 1);
    bad("--shard 17/16 a",
        "--shard: '17/16' is not I/N, a number from 1 to N and the number of shards");
    bad("--shard 2 a", "--shard: '2' is not I/N, a number from 1 to N and the number of shards");
    bad("--report= a", "--report: the name is empty");
}

TEST(names_of_stdout)
{
    good("f -o /dev/stdout --json /dev/fd/2 --dump /dev/stderr");
    assert_string_equal(o.plan.outputs.path, "-");
    assert_string_equal(extra("json"), "/dev/fd/2");
    assert_string_equal(o.plan.outputs.dump, "/dev/stderr");
    good("f --bench --json a --json b --bench"); /* the last one counts; in the table's order */
    assert_string_equal(extra("json"), "b");
    assert_int_equal(o.plan.outputs.extras, 2);
    assert_string_equal(o.plan.outputs.extra[1].writer->name, "bench");
    good("f -o ./- --json /dev/fd/1");
    assert_string_equal(o.plan.outputs.path, "./-");
    assert_string_equal(extra("json"), "-");
}

TEST(the_cache)
{
    good("f");
    assert_false(o.plan.cache.off || o.plan.cache.refresh || o.plan.cache.folder);
    assert_true(o.plan.cache.limit == CACHE_LIMIT_AUTO);
    good("f --cache /tmp/x --refresh --cache-limit 20M");
    assert_string_equal(o.plan.cache.folder, "/tmp/x");
    assert_true(o.plan.cache.refresh && o.plan.cache.limit == 20 << 20);
    good("--no-cache f");
    assert_true(o.plan.cache.off);
    good("--cache-stats --cache-verify");
    assert_true(o.plan.cache.stats && o.plan.cache.verify && !o.plan.cache.clear &&
                o.plan.inputs.count == 0);
    bad("f --cache-limit much", "--cache-limit: 'much' is not a size such as 500M or 20G");
    bad("f --cache=", "--cache: the name is empty");
    bad("f --cache-clear", "--cache-stats, --cache-verify and --cache-clear take no FILM");
    bad("--cache x", "no FILM given; usage: barcode [OPTION...] FILM|FOLDER... (see --help)");
}

TEST(what_this_build_lacks)
{
    bad("f --engine gpu", "--engine: 'gpu' is not auto, cpu or cuda[:N,...]");
    bad("f --decode cudas", "--decode: 'cudas' is not auto, cpu or nvdec");
    if (engine_built("cuda"))
        return;
    assert_int_equal(parse("f --engine cuda:1"), CLI_BAD);
    assert_int_equal(err_exit_status(&e), 4);
    assert_string_equal(e.text, "--engine cuda:1: no CUDA engine in this build");
}

/* getopt takes "--k" for --keyframes and ffmpeg's "-output" for -o utput. */
TEST(options_are_exact)
{
    bad("--k 5 f", "unknown option '--k'; did you mean -k?");
    bad("f --k=5", "unknown option '--k'; did you mean -k?");
    bad("f --clus 3", "unknown option '--clus'; did you mean --clusters?");
    bad("f --clusters 3 --verb", "unknown option '--verb'; did you mean --verbose?");
    bad("f --st 3", "unknown option '--st'; did you mean --steady, --start, --stream, --strict?");
    bad("f --th 3", "unknown option '--th'; did you mean --thumbnails, --threads?");
    bad("f --c 3", "unknown option '--c'; see --help");
    bad("f --heigth=3", "unknown option '--heigth'; did you mean --height?");
    bad("f -output x.png", "unknown option '-output'; did you mean --output?");
    bad("f -start 10", "unknown option '-start'; did you mean --start?");
    bad("f -version", "unknown option '-version'; did you mean --version?");
    bad("-i f", "unknown option '-i'; name the FILM without an option");
    bad("f -y", "unknown option '-y'; did you mean --overwrite?");
    bad("f --force", "unknown option '--force'; did you mean --overwrite?");
    bad("f -ss 10 -to 20", "unknown option '-ss'; did you mean --start?");
    bad("f -T4", "unknown option '-T'; did you mean --threads?");
    bad("f --key --help", "unknown option '--key'; did you mean --keyframes?");
    good("f -k5 -qr -osteady -- --k -start");
    assert_int_equal(o.plan.kmeans.k, 5);
    assert_string_equal(o.plan.outputs.path, "steady");
    assert_int_equal(o.plan.inputs.count, 3);
}

TEST(levels)
{
    good("f --verbose");
    assert_true(log_enabled(LOG_VERBOSE));
    assert_false(log_enabled(LOG_DEBUG));
    good("f -vv");
    assert_true(log_enabled(LOG_DEBUG));
    good("f -q");
    assert_false(log_enabled(LOG_WARNING));
    good("f");
    assert_true(log_enabled(LOG_INFO));
    assert_false(log_enabled(LOG_VERBOSE));
}

TEST(times)
{
    static const struct {
        const char *text;
        int64_t us;
    } yes[] = {{"0", 0},
               {"90", 90000000},
               {"1:30", 90000000},
               {"90:00", 5400000000},
               {"1:02:03.250", 3723250000},
               {"0.000001", 1},
               {"1.9999999", 1999999},
               {"100:00:00", 360000000000},
               {"1000000000:59:59.999999", INT64_C(3600000003599999999)}};
    static const char *const no[] = {"",
                                     ":",
                                     "1:",
                                     ":1",
                                     "1:2:3:4",
                                     "1:60",
                                     "1:60:00",
                                     "-1",
                                     "+1",
                                     " 1",
                                     "1 ",
                                     "1.",
                                     ".5",
                                     "1.5:3",
                                     "1e3",
                                     "1000000001",
                                     "99999999999999999999",
                                     "1..5",
                                     "1s"};
    int64_t us;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        assert_true(option_read_time(yes[i].text, &us));
        assert_true(us == yes[i].us);
    }
    us = 17;
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(option_read_time(no[i], &us));
    assert_int_equal(us, 17);
}

TEST(modes)
{
    good("f -m all");
    assert_int_equal(o.plan.picture.strips, strips_all().count);
    for (size_t m = 0; m < o.plan.picture.strips; m++)
        assert_ptr_equal(o.plan.picture.strip[m], strip_table[m]);
    assert_true(o.plan.picture.stacked);
    good("f -m all -m squeeze,squeeze");
    assert_true(selected("squeeze") && o.plan.picture.strips == 1 && !o.plan.picture.stacked);
    good("f -m squeeze,kmeans"); /* in the table's order */
    assert_true(o.plan.picture.strips == 2 && o.plan.picture.strip[0] == strip_table[0] &&
                o.plan.picture.strip[0] != o.plan.picture.strip[1] && selected("squeeze"));
    for (size_t m = 0; m < strip_count; m++) {
        memset(&o, 0, sizeof o);
        assert_true(set_option(&o, "mode", strip_table[m]->name, &e));
        assert_true(selected(strip_table[m]->name));
    }
    REFUSES("mode", "", "palette,all", "all,kmeans", "all,all", "kmeans+", ",", "kmeans,",
            ",kmeans", "", "kmeans2", "Kmeans");
    /* as it was */
    assert_true(o.plan.picture.strips == 1 && selected(strip_table[strip_count - 1]->name));
}

TEST(a_full_disk_is_noticed)
{
    fflush(stdout);
    int real = dup(STDOUT_FILENO);
    assert_non_null(freopen("/dev/full", "w", stdout));
    enum cli_result got = parse("--help");
    dup2(real, STDOUT_FILENO);
    close(real);
    assert_int_equal(got, CLI_BAD);
    assert_int_equal(e.code, ERR_FAILED);
    assert_string_equal(e.text, "cannot write 'standard output': No space left on device");
}
