/* SPDX-License-Identifier: BSD-3-Clause */
/* Environments, and other lists of strings that end with NULL, for programs that we start. */
#ifndef TG_BASE_ENVIRON_H
#define TG_BASE_ENVIRON_H

#include <stddef.h>

/* A copy with room for `spare` more. Caller frees with tg_strv_free. */
char **tg_environ_copy(char *const *base, size_t spare);

/* Set a variable in a copy that has room for it; NULL takes it out. */
void tg_environ_set(char **env, const char *name, const char *value);

/* NULL is fine. */
void tg_strv_free(char **v);

#endif
