/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of devices that were seen, and what was found out about each: /sys is asked once for a
 * name, not at every reading. Looking up in the order of the last reading costs one comparison.
 */
#ifndef TG_SAMPLE_NAMES_H
#define TG_SAMPLE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/metric.h"

#define TG_NAMES_MAX 16384

struct tg_name {
	char name[TG_INSTANCE_MAX];
	bool counted;
	unsigned facts; /* the source's own */
};

struct tg_names {
	struct tg_name *name;
	size_t n, cap, next;
};

void tg_names_release(struct tg_names *names);
void tg_names_rewind(struct tg_names *names); /* at the beginning of a reading */

/* Borrowed until the next name is added; NULL when it is new. */
struct tg_name *tg_names_find(struct tg_names *names, const char *name);

/* NULL when it is too long or there are too many. */
struct tg_name *tg_names_add(struct tg_names *names, const char *name);

/*
 * What may be any bytes, such as a path, as the name of an instance: control characters and what is
 * no UTF-8 become '?'; of what is longer than `size` (8 at least) the end, behind an ellipsis.
 */
void tg_name_of(char *out, size_t size, const char *text);

#endif
