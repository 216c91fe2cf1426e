/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/nearest.h"

#include "base/mem.h"

#define NAME_MAX_LEN 64

/* Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned row[3][NAME_MAX_LEN + 1];

	for (size_t j = 0; j <= nb; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);

			best = TG_MIN(best, up[j] + 1);
			best = TG_MIN(best, now[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = TG_MIN(best, up2[j - 2] + 1);
			now[j] = best;
		}
	}
	return row[na % 3][nb];
}

const char *tg_nearest(const char *name, const char *const *candidate, size_t n)
{
	size_t len = strlen(name);
	unsigned best = (unsigned)TG_MAX(len / 3, (size_t)1) + 1;
	const char *found = NULL;

	if (!len || len > NAME_MAX_LEN)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t m = strlen(candidate[i]);
		unsigned d;

		if (m > NAME_MAX_LEN)
			continue;
		d = distance(name, len, candidate[i], m);
		if (d < best) {
			best = d;
			found = candidate[i];
		}
	}
	return found;
}
