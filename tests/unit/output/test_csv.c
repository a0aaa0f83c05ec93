#include <stdio.h>
#include <string.h>

#include "test.h"
#include "output/writer.h"
#include "strips.h"

static size_t csv_into(const struct report *r, struct strips strips, char *to, size_t room)
{
    struct err e = ERR_INIT;
    FILE *f = fmemopen(to, room, "w");
    assert_true(writer_find("csv")->write(r, strips, f, &e));
    long size = ftell(f);
    fclose(f);
    return (size_t)size;
}

/* Five columns: whole, damaged, missing, never announced, of one colour. */
static struct columns *scene(void)
{
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(2, 0, &e);
    for (uint64_t i = 0; i < 5; i++) {
        struct column *c = columns_at(columns, i, &e);
        c->status = i == 1 ? COLUMN_DAMAGED : i == 2 || i == 3 ? COLUMN_MISSING : COLUMN_OK;
        c->frame = i == 3 ? 0 : i * 24;
        c->time_us = i == 3 ? 0 : (int64_t)i * 1000001;
        if (c->status == COLUMN_MISSING)
            continue;
        memcpy(c->average, (const uint8_t[]){1, 2, (uint8_t)i}, 3);
        memcpy(c->dominant, (const uint8_t[]){255, 0, 160}, 3);
        c->clusters = i == 4 ? 1 : 2;
        c->cluster[0] = (struct cluster){{16, 32, 48}, 20};
        c->cluster[1] = (struct cluster){{0, 0, 0}, 10};
    }
    return columns;
}

static const struct film film_of_scene = {.path = "films/a, \"b\".mkv", .title = "=1+1"};

static bool recognizes(const char *text, size_t size, char film[FILM_ID_TEXT])
{
    film[0] = 0;
    return writer_find("csv")->recognizes((const uint8_t *)text, size, film);
}

TEST(rows)
{
    struct columns *columns = scene();
    struct report r = {.film = &film_of_scene,
                       .columns = columns,
                       .count = 5,
                       .analysis.kmeans = {.k = 2},
                       .id.film_id = "9-ab"};
    char got[4096], film[FILM_ID_TEXT] = "";
    size_t size = csv_into(&r, stacked(), got, sizeof got);
    /* A name from a stranger is not a formula, and quotes and commas are RFC 4180's. */
    static const char end[] = "'=1+1,\"films/a, \"\"b\"\".mkv\"\r\n";
    char want[4096];
    snprintf(want, sizeof want,
             "column,frame,time,status,average,dominant,film,r,g,b,lightness,chroma,hue,contrast,"
             "title,file\r\n"
             "0,0,0.000000,ok,#010200,#ff00a0,9-ab,16,32,48,11.67,12.67,266.4,5.50,%s"
             "1,24,1.000001,damaged,#010201,#ff00a0,9-ab,16,32,48,11.67,12.67,266.4,5.50,%s"
             "2,48,2.000002,missing,,,9-ab,,,,,,,,%s"
             "3,,,missing,,,9-ab,,,,,,,,%s"
             "4,96,4.000004,ok,#010204,#ff00a0,9-ab,16,32,48,11.67,12.67,266.4,0.00,%s",
             end, end, end, end, end);
    assert_string_equal(got, want);
    assert_true(recognizes(got, size, film));
    assert_string_equal(film, "9-ab");
    /* What the mode does not need is not there, and the colour is the mode's. */
    csv_into(&r, alone("average"), got, sizeof got);
    assert_memory_equal(got,
                        "column,frame,time,status,average,film,r,g,b,lightness,chroma,hue,title,"
                        "file\r\n0,0,0.000000,ok,#010200,9-ab,1,2,0,",
                        112);
    assert_non_null(strstr(got, "\r\n2,48,2.000002,missing,,9-ab,,,,,,,'=1+1,"));
    csv_into(&r, alone("dominant"), got, sizeof got);
    assert_non_null(strstr(got, "\r\n0,0,0.000000,ok,#010200,#ff00a0,9-ab,255,0,160,"));
    csv_into(&r, alone("kmeans"), got, sizeof got);
    assert_non_null(strstr(got, "\r\n0,0,0.000000,ok,#010200,9-ab,16,32,48,11.67,12.67,266.4,"));
    columns_free(&columns);
}

static const char *line_two(const struct report *r, const char *list, char got[4096])
{
    struct csv_columns columns;
    struct err e = ERR_INIT;
    struct report own = *r;
    assert_true(csv_columns_parse(list, &columns, &e));
    own.csv_columns = &columns;
    csv_into(&own, alone("average"), got, 4096);
    return strchr(got, '\n') + 1;
}

/* A file's name or a title cannot steer a terminal, nor show as another name. */
TEST(foreign_text_is_plain)
{
    static const struct {
        const char *file, *title, *want;
    } table[] = {{"\u202egpj.mkv", "a\u202eb", "a?b,?gpj.mkv\r\n"},
                 {"a\x1b[31mb", "\x1b]0;x\a", "?]0;x?,a?[31mb\r\n"},
                 {"\xc2\x9b"
                  "31m\t\n\r",
                  "\xc2\x9b", "?,?31m???\r\n"},
                 {"a\xff\u2066", "=\u200f", "'=?,a??\r\n"},
                 {"\u05d0 \U0001f3ac/Am\u00e9lie, 2.mkv", "\u05d0\u05d1",
                  "\u05d0\u05d1,\"\u05d0 \U0001f3ac/Am\u00e9lie, 2.mkv\"\r\n"}};
    struct columns *columns = scene();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct film film = {.path = (char *)table[i].file};
        char got[4096];
        snprintf(film.title, sizeof film.title, "%s", table[i].title);
        struct report r = {
            .film = &film, .columns = columns, .count = 1, .analysis.kmeans = {.k = 2}};
        assert_string_equal(line_two(&r, "title,file", got), table[i].want);
    }
    columns_free(&columns);
}

TEST(chosen_columns)
{
    struct columns *columns = scene();
    struct report r = {
        .film = &film_of_scene, .columns = columns, .count = 1, .analysis.kmeans = {.k = 2}};
    char got[4096], film[FILM_ID_TEXT];
    assert_string_equal(line_two(&r, "time,colour_N,share_N,title", got),
                        "0.000000,#102030,0.666667,#000000,0.333333,'=1+1\r\n");
    assert_memory_equal(got, "time,colour_1,share_1,colour_2,share_2,title\r\n", 46);
    assert_string_equal(line_two(&r, "colour_2,dominant,dominant_g,average_b,r_1,share_3", got),
                        "#000000,#ff00a0,0,0,16,\r\n");
    assert_string_equal(line_two(&r, "luminance,saturation,ok_lightness,colourfulness", got),
                        "0.00050,1.0000,0.0779,19.37\r\n");
    assert_string_equal(line_two(&r, "dominant_ok_hue,dominant_hue,dominant_lab_b", got),
                        "352.6,351.2,-13.50\r\n");
    /* The film's id is found wherever it is. */
    strcpy(r.id.film_id, "7-cd");
    line_two(&r, "file,film", got);
    assert_true(recognizes(got, strlen(got), film));
    assert_string_equal(film, "7-cd");
    line_two(&r, "time,r", got);
    assert_true(recognizes(got, strlen(got), film));
    assert_string_equal(film, "");
    columns_free(&columns);
}

/* The sound is behind all others, of the modes that need it or by name. */
TEST(sound_columns)
{
    struct columns *columns = scene();
    struct sound_row rows[40] = {{0}};
    for (int i = 0; i < 40; i++)
        rows[i] = (struct sound_row){.loudness = -233, .peak = i == 3 ? -5 : -60, .centroid = 812};
    struct film_sound sound = {.hops = 1, .rows = 40, .row = rows};
    struct report r = {.film = &film_of_scene,
                       .columns = columns,
                       .count = 5,
                       .analysis.kmeans = {.k = 2},
                       .media.sound = &sound};
    char got[4096];
    csv_into(&r, alone("sound"), got, sizeof got);
    assert_memory_equal(got, "column,frame,time,status,average,film,r,g,b,lightness,chroma,hue,",
                        65);
    assert_non_null(strstr(got, ",title,file,loudness,peak,centroid\r\n"));
    assert_string_equal(strchr(line_two(&r, "frame,peak,loudness,centroid", got), '\n') + 1,
                        "24,-6.0,-23.3,812\r\n48,-70.0,-70.0,\r\n,-70.0,-70.0,\r\n"
                        "96,-70.0,-70.0,\r\n");
    assert_string_equal(strstr(got, "\r\n0,"), strstr(got, "\r\n0,-0.5,-23.3,812\r\n"));
    line_two(&r, "all", got);
    assert_null(strstr(got, "loudness")); /* the mode needs no sound */
    struct csv_columns asked;
    struct err e = ERR_INIT;
    assert_true(csv_columns_parse("time,centroid", &asked, &e));
    assert_int_equal(csv_columns_need(&asked), STRIP_SOUND);
    sound.stream = -1;
    assert_memory_equal(line_two(&r, "frame,peak,loudness", got), "0,,\r\n24,,\r\n", 11);
    columns_free(&columns);
}

TEST(all_columns)
{
    struct columns *columns = scene();
    struct report r = {
        .film = &film_of_scene, .columns = columns, .count = 1, .analysis.kmeans = {.k = 2}};
    char got[4096];
    line_two(&r, "all", got);
    assert_null(strstr(got, "contrast")); /* the mode needs no clusters */
    assert_non_null(strstr(got, "average_ok_chroma"));
    struct csv_columns all;
    struct err e = ERR_INIT;
    assert_true(csv_columns_parse("all", &all, &e));
    assert_int_equal(csv_columns_need(&all), 0);
    assert_true(csv_columns_parse("time,contrast", &all, &e));
    assert_int_equal(csv_columns_need(&all), STRIP_CLUSTERS);
    assert_true(csv_columns_parse("dominant_r,share_N", &all, &e));
    assert_int_equal(csv_columns_need(&all), STRIP_CLUSTERS | STRIP_DOMINANT);
    columns_free(&columns);
}

TEST(names)
{
    static const char *const bad[] = {
        "",       "time,",      ",time",          "Time",          "average_",
        "share",  "share_0",    "share_65",       "r_01",          "r_M",
        "r_",     "contrast_1", "average_colour", "average_share", "dominant_r_1",
        "time r", "ok_",        "timeframe"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct csv_columns columns;
        struct err e = ERR_INIT;
        assert_false(csv_columns_parse(bad[i], &columns, &e));
        assert_int_equal(e.code, ERR_USAGE);
        assert_non_null(strstr(e.text, "NAME_1 to NAME_64")); /* not cut off */
    }
}

TEST(recognition)
{
    static const char *const no[] = {"column,frame,time,status,average,other\r\n0,",
                                     "time;r\r\n",
                                     "time,r\n0,1\n",
                                     "",
                                     "just text without any comma",
                                     "title,film\r\nAlien,Alien\r\n",
                                     "film,time\r\n1979-Alien,1\r\n"};
    static const char old[] =
        "column,frame,time,status,average,film\r\n0,0,0.0,ok,#010200,9-ab\r\n";
    char film[FILM_ID_TEXT];
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(recognizes(no[i], strlen(no[i]), film));
    assert_true(recognizes(old, strlen(old), film));
    assert_string_equal(film, "9-ab");
    /* The file may be cut anywhere behind the first name. */
    for (size_t size = 7; size < strlen(old); size++) {
        assert_true(recognizes(old, size, film));
        assert_string_equal(film, size < sizeof old - 2 ? "" : "9-ab");
    }
}

/* A film from a pipe has no id, and of 64 colours the head still fits where `ours` looks. */
TEST(widest)
{
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(CLUSTERS_MAX, 0, &e);
    struct column *c = columns_at(columns, 0, &e);
    c->status = COLUMN_OK;
    c->clusters = CLUSTERS_MAX;
    for (int j = 0; j < CLUSTERS_MAX; j++)
        c->cluster[j] = (struct cluster){{9, 9, 9}, 1};
    struct csv_columns names;
    assert_true(csv_columns_parse("time,average,colour_N,share_N,film,title,file", &names, &e));
    struct report r = {.film = &film_of_scene,
                       .columns = columns,
                       .count = 1,
                       .analysis.kmeans = {.k = CLUSTERS_MAX},
                       .csv_columns = &names,
                       .id.film_id = "18446744073709551615-0123456789abcdef0123456789abcdef"};
    char got[2 * WRITER_HEAD], film[FILM_ID_TEXT] = "";
    size_t size = csv_into(&r, stacked(), got, sizeof got);
    assert_in_range(size, 2000, WRITER_HEAD);
    assert_true(writer_find("csv")->recognizes((const uint8_t *)got, size, film));
    assert_string_equal(film, r.id.film_id);
    r.id.film_id[0] = 0;
    size = csv_into(&r, stacked(), got, sizeof got);
    assert_true(writer_find("csv")->recognizes((const uint8_t *)got, size, film));
    assert_string_equal(film, "");
    columns_free(&columns);
}
