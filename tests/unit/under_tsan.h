/*
 * under_tsan.h - for tests of code that has one thread, or of many like cases: ThreadSanitizer
 * makes them ten times as slow, and can say nothing of the former. There they do less of the same;
 * every other build does all of it.
 */
#ifndef BARCODE_TESTS_UNDER_TSAN_H
#define BARCODE_TESTS_UNDER_TSAN_H

#ifdef __SANITIZE_THREAD__
enum { UNDER_TSAN = 1 };
#else
enum { UNDER_TSAN = 0 };
#endif

#endif
