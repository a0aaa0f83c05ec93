#include <stdio.h>
#include <string.h>

#include "test.h"
#include "cli/cli.h"
#include "plan/outputs.h"
#include "plan/options_fingerprint.h"

static char text[REPORT_FINGERPRINT];

/* Returns the fingerprint of a command line. */
static const char *fingerprint(const char *line)
{
    static char words[400], program[] = "barcode", film[] = "x.mkv", *argument[40];
    struct options o;
    struct err e = ERR_INIT;
    int count = 0;
    argument[count++] = program;
    argument[count++] = film;
    snprintf(words, sizeof words, "%s", line);
    for (char *save, *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argument[count++] = w;
    argument[count] = NULL;
    if (cli_parse(count, argument, NULL, &o, &e) != CLI_RUN)
        fail_msg("'%s': %s", line, e.text);
    const struct strips strips = {o.plan.picture.strip, o.plan.picture.strips};
    const struct writer *format = outputs_format(&o.plan);
    options_fingerprint(&o.plan, format, format, strips, text);
    return text;
}

TEST(what_it_says)
{
    assert_string_equal(
        fingerprint(""),
        "definition=9.1 mode=kmeans columns=auto size=320 crop=auto tone_map=bt2390 "
        "height=800 k=8 n_init=20 race=yes init=scalable "
        "max_iter=300 seed=0");
    assert_string_equal(fingerprint("-m average,squeeze --interval 0.5 --start 1:00 --end 90.25 "
                                    "--size 1/4 --crop off --stream 2 --width 7 --keyframes"),
                        "definition=9.1 mode=average,squeeze interval=0.500000 keyframes "
                        "start=60.000000 end=90.250000 size=1/4 crop=off tone_map=bt2390 stream=2 "
                        "width=7 height=800");
    assert_string_equal(fingerprint("-m squeeze+sound -n 9"),
                        "definition=9.1 mode=squeeze,sound every=9 size=320 crop=auto "
                        "tone_map=bt2390 height=360 layout=2 sound=3");
    assert_string_equal(
        fingerprint("-m dominant --steady --columns 16 --size full --crop 4:5:6:7 --height 9"),
        "definition=9.1 mode=dominant columns=16 size=full crop=4:5:6:7 tone_map=bt2390 height=9 "
        "steady=10");
}

static const char *const changing[] = {"",
                                       "-m palette",
                                       "-m all",
                                       "-m sound",
                                       "-m spectrum",
                                       "-m all+sound",
                                       "--width 5",
                                       "--height 5",
                                       "-k 5",
                                       "--steady",
                                       "--steady=9",
                                       "--n-init 3",
                                       "--no-race",
                                       "--init random",
                                       "--max-iter 5",
                                       "--seed 1",
                                       "--size 100",
                                       "--size 100x100",
                                       "--size 1/100",
                                       "--size full",
                                       "--crop off",
                                       "--crop 8:8:0:0",
                                       "--tone-map hable",
                                       "--tone-map off",
                                       "--hdr-peak 500",
                                       "--light linear",
                                       "-n 24",
                                       "-n 1",
                                       "--interval 1",
                                       "--columns 24",
                                       "--columns shots",
                                       "--columns shots --shot-width equal",
                                       "--shots",
                                       "--shots --shot-threshold 9",
                                       "--keyframes",
                                       "--start 1",
                                       "--end 1",
                                       "--stream 0",
                                       "-m palette --order share",
                                       "--shape ring",
                                       "--shape vertical",
                                       "--smooth 1",
                                       "-o x.pdf",
                                       "-o x.svg",
                                       "--poster",
                                       "--poster --dpi 100",
                                       "--poster --page A2",
                                       "-o x.pdf --page A2",
                                       "-o x.pdf --page A2-portrait",
                                       "-o x.pdf --title a",
                                       "-o x.pdf --title b",
                                       "-m all --title a",
                                       "--poster --page 300x200",
                                       "--poster --subtitle a",
                                       "--poster --subtitle b",
                                       "--poster --subtitle none",
                                       "--poster --bare",
                                       "--poster --font a",
                                       "--poster --font b",
                                       "--poster --background red",
                                       "--poster --background black",
                                       "-o x.svg --svg-text live",
                                       "-m all --font a",
                                       "-m all --background red",
                                       "--shape ring --background red",
                                       "-m slit",
                                       "-m slit --rotate 3",
                                       "-m sound --sound-stream 0",
                                       "-o x.pdf --colours 5"};

/* Every option that changes a picture changes its fingerprint. */
TEST(every_option_counts)
{
    enum { COUNT = sizeof changing / sizeof *changing };
    static char all[COUNT][REPORT_FINGERPRINT];
    for (size_t i = 0; i < COUNT; i++) {
        strcpy(all[i], fingerprint(changing[i]));
        for (size_t j = 0; j < i; j++)
            if (strcmp(all[i], all[j]) == 0)
                fail_msg("'%s' and '%s' have the same fingerprint", changing[i], changing[j]);
    }
}

static const char *const indifferent[] = {
    "-k 3",        "--seed 4",     "--steady",     "--order share", "--no-race",
    "--threads 1", "--engine cpu", "--decode cpu", "-o out.png",    "--json x",
    "--strict",    "--no-cache",   "--verify",     "--update",      "-r",
    "--any",       "-q",           "--steady=0",   "--sandbox off", "--keep-going"};

/* Others change nothing, nor do those that the strip does not obey. */
TEST(no_other_option_counts)
{
    char plain[REPORT_FINGERPRINT];
    strcpy(plain, fingerprint("-m average"));
    for (size_t i = 0; i < sizeof indifferent / sizeof *indifferent; i++) {
        char line[80];
        snprintf(line, sizeof line, "-m average %s", indifferent[i]);
        assert_string_equal(fingerprint(line), plain);
    }
}

/* Returns true if one of the command lines gives the option. */
static bool is_given(const struct option_row *row, const char *const *line, size_t lines)
{
    char name[40] = "", letter[] = {'-', row->letter, ' ', 0};
    if (row->name)
        snprintf(name, sizeof name, "--%s", row->name);
    for (size_t i = 0; i < lines; i++) {
        const char *found = *name ? strstr(line[i], name) : NULL;
        if (found && strchr(" =", found[strlen(name)])) /* or at the end */
            return true;
        if (row->letter && strstr(line[i], letter))
            return true;
    }
    return false;
}

/* A new option of films or pictures is in one of the two lists. */
TEST(every_option_is_tried)
{
    const struct option_table *const table[] = {&film_options, &kmeans_options, &picture_options,
                                                &poster_options};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (const struct option_row *row = table[i]->row; row->name || row->letter; row++)
            if (!is_given(row, changing, sizeof changing / sizeof *changing) &&
                !is_given(row, indifferent, sizeof indifferent / sizeof *indifferent))
                fail_msg("'--%s': does it change an output? Then it belongs to "
                         "options_fingerprint.c and to `changing`, else to `indifferent`",
                         row->name ? row->name : (const char[]){row->letter, 0});
}

/* The longest one has its room. */
TEST(it_is_never_cut)
{
    fingerprint("-m all --columns 10000000 --start 100000:00:00.5 --end 999999:59:59.999999 --size "
                "16384x16384 --crop 16384:16384:16384:16384 --stream 9999 "
                "--width 10000000 --height 1 -k 64 --n-init 1000 --init k-means++ --max-iter "
                "100000 --seed 18446744073709551615 --steady=50 --keyframes");
    assert_non_null(strstr(text, " seed=18446744073709551615"));
    assert_true(strlen(text) < REPORT_FINGERPRINT - 400);
    assert_null(strpbrk(text, "\"\\\n"));
}

/* The mark of an output that is to be made again names the place of its film. */
TEST(what_is_made_again)
{
    fingerprint("-m average");
    assert_false(fingerprint_is_again(text, NULL));
    fingerprint_add_again(text, "frames/img%04d.png");
    assert_true(fingerprint_is_again(text, NULL));
    assert_true(fingerprint_is_again(text, "frames/img%04d.png"));
    assert_false(fingerprint_is_again(text, "img%04d.png"));
    fingerprint("-m average");
    fingerprint_add_again(text, "/proc/self/cwd");
    assert_true(fingerprint_is_again(text, "."));
    assert_false(fingerprint_is_again(text, ".."));
}

/* The place of a slit and its angle, and the frames that it makes larger, are those of outputs that
 * show it. */
TEST(slits)
{
    assert_non_null(strstr(fingerprint("-m slit --height 300 f"), " size=x300 "));
    assert_non_null(strstr(fingerprint("-m slit f"), " slit=50.00 rotate=0.00"));
    assert_non_null(
        strstr(fingerprint("-m slit=3.5% --rotate -0.25 f"), " slit=3.50 rotate=359.75"));
    assert_null(strstr(fingerprint("-m average f"), "slit="));
}
