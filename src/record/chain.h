/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens a file without reading all of it: finds the last summary (through the end chunk, else by
 * looking back from the end of the file) and follows the chain of summaries to the first one. What
 * no summary lists is scanned.
 */
#ifndef TG_RECORD_CHAIN_H
#define TG_RECORD_CHAIN_H

#include "record/reader_private.h"

/*
 * Index everything up to the last summary and leave r->scan behind it. Returns 1; 0 when there is
 * no whole chain (then nothing is indexed and the file must be scanned); -errno.
 */
int tg_chain_index(struct tg_reader *r);

#endif
