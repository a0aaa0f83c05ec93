/*
 * live_channel.h - the worker's side of a stream: a thread that runs its source, analyses its
 * frames, and sends them to the parent (live_message.h).
 */
#ifndef BARCODE_LIVE_LIVE_CHANNEL_H
#define BARCODE_LIVE_LIVE_CHANNEL_H

#include "base/watch.h"
#include "plan/options.h"
#include "media/live/live_source.h"
#include "live_engine.h"
#include "live_receiver.h"

/* All but the first three may differ between streams. All are borrowed. */
struct live_channel_setup {
    const struct options *options;
    const struct live_clock *clock;
    struct live_engines *engines;
    int link, stream; /* where messages go (worker.h), and whose they are */
    struct watch *watch;
    struct live_source *source;
    const char *label;
    int width, height; /* of analysis frames; 0: by the options and the first frame */
};

struct live_channel;

/*
 * Starts the thread that runs the source, and runs it again when it breaks. Its last message is
 * LIVE_END. Returns NULL on failure.
 */
struct live_channel *live_channel_start(const struct live_channel_setup *setup, struct err *e);

/* Asks the thread to end, without waiting. */
void live_channel_ask(struct live_channel *c);

/*
 * Waits for the thread, which was asked to end. Returns false, and leaves the thread alone, if it
 * did not end within two seconds; the channel must then stay open.
 */
bool live_channel_stop(struct live_channel *c);

/* Frees *c, whose thread has ended, and sets it to NULL. Does nothing if *c is NULL. */
void live_channel_close(struct live_channel **c);

#endif
