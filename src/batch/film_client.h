/*
 * film_client.h - a worker process's side of the link to its parent: asks for films and files, and
 * reports results. If the parent is gone, the process ends.
 */
#ifndef BARCODE_BATCH_FILM_CLIENT_H
#define BARCODE_BATCH_FILM_CLIENT_H

#include "base/worker.h"
#include "render/render.h"

/* Sets the link for the functions below, and for file_ask. Before other threads run. */
void film_client_open(const struct worker *w);

/*
 * Asks for the next film of film worker `slot`, 0..WATCHES - 1, which has none: the next one of the
 * queue, or with `alone` the next one that must be rendered alone. Returns false if there is none,
 * or after an interruption. Otherwise sets its index in the inputs, and its serial for watch_begin.
 * Any thread.
 */
bool film_client_next(int slot, bool alone, size_t *film, uint64_t *serial);

/* Reports the film's end. `failure` is empty if it succeeded. Any thread. */
void film_client_ended(int slot, const struct film_result *result, const struct err *failure);

/* Puts the film back, to be rendered alone. Any thread. */
void film_client_again(int slot);

#endif
