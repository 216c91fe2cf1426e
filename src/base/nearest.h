/* SPDX-License-Identifier: BSD-3-Clause */
/* The name that somebody meant who wrote another one. */
#ifndef TG_BASE_NEAREST_H
#define TG_BASE_NEAREST_H

#include <stddef.h>

/*
 * The name nearest to `name` among `n`, or NULL when none is near: at most a third of its letters,
 * and at least one, are wrong, missing, or swapped.
 */
const char *tg_nearest(const char *name, const char *const *candidate, size_t n);

#endif
