/* update_dump.h - whether --update knows the film of old outputs: for outputs.c. Any thread. */
#ifndef BARCODE_OUTPUTS_UPDATE_DUMP_H
#define BARCODE_OUTPUTS_UPDATE_DUMP_H

#include "outputs.h"

/*
 * Returns true with --update if the dump of film `i` exists and the metadata of another output of
 * this run names the film. A restarted run may then replace a dump that an earlier run left.
 */
bool update_knows_dump(const struct options *o, const struct inputs *in, size_t i,
                       const struct outputs *list);

/*
 * Returns true with --update if an output of film `i` exists that is to be made again
 * (fingerprint_is_again). All outputs of the film may then be replaced.
 */
bool update_knows_again(const struct options *o, const struct inputs *in, size_t i,
                        const struct outputs *list);

#endif
