/*
 * live_log.h - the columns of a day on the disk, DIR/STEM-YYYY-MM-DD.columns: only appended to, a
 * record for each column that has a frame. A process that was killed has lost nothing but the
 * column that was open.
 *
 * A header with the shape, then records of equal size (live_record.h), each with a checksum over
 * the record, its place and the header. Numbers increase. At opening, records that are not as they
 * were written are skipped, and the file is cut after the last that is. Another shape needs another
 * file. One thread.
 */
#ifndef BARCODE_LIVE_LIVE_LOG_H
#define BARCODE_LIVE_LIVE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "live_record.h"

struct live_log;

/*
 * Opens or makes the log at `path` for this process alone, and gives its columns, in order: `each`
 * gets a column that is borrowed during the call; it may be NULL. Fails with ERR_FAILED if another
 * process has it open, if it is no log or one of another shape, or if it cannot be read or written;
 * an existing file is then unchanged.
 */
typedef bool live_log_each(void *user, int64_t number, const struct column *c, struct err *e);
struct live_log *live_log_open(const char *path, const struct live_shape *shape,
                               live_log_each *each, void *user, struct err *e);

/* Reads the shape of an existing log. Returns false if there is none. */
bool live_log_shape(const char *path, struct live_shape *shape);

/*
 * Appends a column, which has a frame. Its number must be larger than live_log_last. After a
 * failure, such as a full disk, the file ends with the column before.
 */
bool live_log_append(struct live_log *l, int64_t number, const struct column *c, struct err *e);

/* Returns the number of the last column; INT64_MIN if there is none. */
int64_t live_log_last(const struct live_log *l);

/* Closes the log and sets *l to NULL. Does nothing if *l is NULL. */
void live_log_close(struct live_log **l);

#endif
