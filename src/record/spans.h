/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a writer knows of the events it wrote: which spans are open and which numbers are free.
 * Closed spans are forgotten; what it keeps of open ones is bounded (the oldest are kept).
 */
#ifndef TG_RECORD_SPANS_H
#define TG_RECORD_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define TG_SPANS_OPEN_MAX  16384
#define TG_SPANS_BYTES_MAX (4u << 20)

/* No recorder counts that far: numbers beyond are damage, and none follows them. */
#define TG_SPANS_NUMBER_MAX (INT64_C(1) << 62)

struct tg_open_span {
	int64_t number;
	uint32_t session;
	char *line; /* its begin event without "code" */
	size_t len;
};

struct tg_spans {
	uint64_t next_span;
	uint32_t next_entity;
	struct tg_open_span *open;
	size_t n_open, cap_open;
	size_t bytes;
};

void tg_spans_init(struct tg_spans *s); /* numbers start at 1 */
void tg_spans_release(struct tg_spans *s);

/* Look at events, one a line. Lines that are no JSON are passed over. */
void tg_spans_look(struct tg_spans *s, const char *lines, size_t len);

/* Append "open":[numbers]. */
void tg_spans_dump_open(const struct tg_spans *s, struct tg_buf *out);

#endif
