/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines that may be stored and shown: values that look like secrets become "***".
 * A value is masked for the name in front of it (--token X, PASSWORD=X, "Authorization: X"), as
 * the password of a URL, or for its own well-known form (ghp_…, a JWT). It is a net, not a proof:
 * a secret given as a bare argument cannot be told from any other word.
 */
#ifndef TG_BASE_MASK_H
#define TG_BASE_MASK_H

#include <stddef.h>

/*
 * Write arguments, each ended by NUL as in /proc/PID/cmdline, to `out` as one line: joined by
 * blanks, control characters as blanks, secrets masked, cut to fit with a NUL behind.
 * Returns the length written. `size` must be at least 1; `out` must not overlap `args`.
 */
size_t tg_mask_args(const char *args, size_t len, char *out, size_t size);

#endif
