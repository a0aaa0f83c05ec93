#include "test.h"
#include "batch/film_queue.h"

enum { FILMS = 8 };

static struct err problem[FILMS];
static enum input_duty duty[FILMS];
static struct input_file file[FILMS];

/* `count` films without a problem. */
static struct inputs inputs_of(size_t count)
{
    for (size_t i = 0; i < FILMS; i++)
        err_clear(&problem[i]);
    return (struct inputs){.problem = problem, .duty = duty, .file = file, .count = count};
}

static struct film_queue *open_queue(const struct inputs *in)
{
    struct err e = ERR_INIT;
    struct film_queue *q = film_queue_open(in, &e);
    assert_non_null(q);
    assert_int_equal(film_queue_status(q), 0);
    return q;
}

/* The next film is `film`, and it ends like this. */
static void take(struct film_queue *q, size_t film, enum err_code code)
{
    size_t got = 12345;
    struct err e = ERR_INIT;
    assert_true(film_queue_next(q, false, &got));
    assert_int_equal(got, film);
    if (code != ERR_NONE)
        err_set(&e, code, "film %zu", film);
    film_queue_done(q, film, code == ERR_NONE ? NULL : &e);
}

static void assert_empty(struct film_queue *q)
{
    size_t film = 12345;
    assert_false(film_queue_next(q, false, &film));
    assert_false(film_queue_next(q, false, &film));
    assert_int_equal(film, 12345);
}

/* Films end in the order of the list; one with a problem is not handed out, and was told first. */
TEST(in_order)
{
    static const struct {
        size_t count;
        enum err_code problem[FILMS], end[FILMS]; /* after an interruption no film is taken */
        int before, after;
    } table[] = {
        {.count = 0},
        {.count = 3},
        {.count = 4, .end = {[1] = ERR_INPUT, [2] = ERR_FAILED}, .after = ERR_INPUT},
        {.count = 5,
         .problem = {[1] = ERR_FAILED, [4] = ERR_INPUT},
         .end = {ERR_ENGINE},
         .before = ERR_FAILED,
         .after = ERR_FAILED},
        {.count = 5,
         .problem = {[3] = ERR_INPUT},
         .end = {ERR_FAILED, ERR_INTERRUPTED},
         .before = ERR_INPUT,
         .after = ERR_INTERRUPTED},
    };
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        struct inputs in = inputs_of(table[t].count);
        struct err e = ERR_INIT;
        for (size_t i = 0; i < table[t].count; i++)
            problem[i].code = table[t].problem[i];
        struct film_queue *q = film_queue_open(&in, &e);
        assert_non_null(q);
        assert_int_equal(film_queue_status(q), table[t].before);
        bool interrupted = false;
        for (size_t i = 0; i < table[t].count && !interrupted; i++) {
            if (table[t].problem[i] == ERR_NONE)
                take(q, i, table[t].end[i]);
            interrupted = table[t].end[i] == ERR_INTERRUPTED;
        }
        assert_empty(q);
        assert_int_equal(film_queue_status(q), table[t].after);
        film_queue_free(&q);
        assert_null(q);
    }
}

/* Two under way: the earlier film's failure counts, whenever it comes. */
TEST(first_in_order_not_in_time)
{
    struct inputs in = inputs_of(2);
    struct film_queue *q = open_queue(&in);
    struct err early = ERR_INIT, late = ERR_INIT;
    size_t film;
    assert_true(film_queue_next(q, false, &film) && film_queue_next(q, false, &film));
    err_set(&late, ERR_FAILED, "late");
    film_queue_done(q, 1, &late);
    assert_int_equal(film_queue_status(q), ERR_FAILED);
    err_set(&early, ERR_INPUT, "early");
    film_queue_done(q, 0, &early);
    assert_int_equal(film_queue_status(q), ERR_INPUT);
    film_queue_free(&q);
}

/* What is done, and of how many bytes; an interrupted film is neither done nor failed. */
TEST(the_tally)
{
    struct inputs in = inputs_of(7);
    for (size_t i = 0; i < 7; i++)
        file[i].bytes = 1 << i;
    err_set(&problem[1], ERR_FAILED, "in the way");
    duty[2] = INPUT_LEFT_OUT;
    struct film_queue *q = film_queue_open(&in, NULL);
    struct film_tally t = film_queue_tally(q);
    assert_true(t.due == 5 && t.problems == 1 && t.left_out == 1 && t.done + t.failed == 0 &&
                t.bytes == 127 - 2 - 4 && t.bytes_ended == 0);
    take(q, 0, ERR_NONE);
    take(q, 3, ERR_INPUT);
    take(q, 4, ERR_NONE);
    t = film_queue_tally(q);
    assert_true(t.due == 5 && t.done == 2 && t.failed == 1 && t.bytes_ended == 1 + 8 + 16);
    take(q, 5, ERR_INTERRUPTED);
    t = film_queue_tally(q);
    assert_true(t.done == 2 && t.failed == 1 && t.bytes_ended == 25);
    film_queue_free(&q);
    duty[2] = INPUT_TO_DO;
}

/* What is another shard's is neither done here, nor does its problem count. */
TEST(others_films)
{
    struct inputs in = inputs_of(3);
    err_set(&problem[0], ERR_INPUT, "no films");
    duty[0] = duty[1] = INPUT_OTHERS;
    struct film_queue *q = film_queue_open(&in, NULL);
    assert_int_equal(film_queue_status(q), 0);
    take(q, 2, ERR_NONE);
    assert_empty(q);
    assert_true(film_queue_tally(q).due == 1 && film_queue_tally(q).problems == 0);
    film_queue_free(&q);
    duty[0] = duty[1] = INPUT_TO_DO;
}

/* Films that are put back come alone, in their order, and to nobody else; they were counted in no
 * way. */
TEST(again_and_alone)
{
    struct inputs in = inputs_of(6);
    struct film_queue *q = open_queue(&in);
    size_t film = 12345;
    assert_false(film_queue_next(q, true, &film));
    for (size_t i = 0; i < 4; i++)
        assert_true(film_queue_next(q, false, &film));
    film_queue_again(q, 3);
    film_queue_again(q, 1);
    film_queue_again(q, 1);
    assert_true(film_queue_next(q, false, &film));
    assert_int_equal(film, 4);
    assert_true(film_queue_next(q, true, &film));
    assert_int_equal(film, 1);
    assert_true(film_queue_next(q, true, &film));
    assert_int_equal(film, 3);
    assert_false(film_queue_next(q, true, &film));
    assert_true(film_queue_next(q, false, &film));
    assert_int_equal(film, 5);
    assert_int_equal(film_queue_tally(q).done, 0);
    film_queue_free(&q);
}

/* How far the films under way are, and which one has been for longest. */
TEST(under_way)
{
    struct inputs in = inputs_of(4);
    for (size_t i = 0; i < 4; i++)
        file[i].bytes = 100;
    struct film_queue *q = open_queue(&in);
    size_t film;
    for (int i = 0; i < 3; i++)
        assert_true(film_queue_next(q, false, &film));
    static const struct watch_progress now[] = {
        {.share = 0.5, .frames = 50, .columns = 7}, {.share = 0.25, .frames = 20}, {-1, 3, 0, 0}};
    for (size_t i = 0; i < 3; i++)
        film_queue_tick(q, i, &now[i]);
    struct film_tally t = film_queue_tally(q);
    assert_true(t.under_way == 3 && t.longest == 0 && t.frames == 73 && t.now.columns == 7);
    assert_float_equal(t.films_now, 0.75, 1e-9);
    assert_float_equal(t.bytes_now, 75, 1e-9);
    film_queue_done(q, 0, NULL);
    film_queue_again(q, 1);
    t = film_queue_tally(q);
    assert_true(t.under_way == 1 && t.longest == 2 && t.frames == 53);
    assert_float_equal(t.films_now, 0, 1e-9);
    film_queue_free(&q);
}
