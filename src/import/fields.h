/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of fields with a separator between, whose first line names them. */
#ifndef TG_IMPORT_FIELDS_H
#define TG_IMPORT_FIELDS_H

#include <stddef.h>

#define TG_FIELDS_MAX 128

struct tg_fields {
	char *at[TG_FIELDS_MAX]; /* strings within a line */
	size_t n;
};

/* Cut the line where the separator is. Blanks around a field are not of it. */
void tg_fields_split(struct tg_fields *f, char *line, char separator);

/* The place of that name; SIZE_MAX: there is none. */
size_t tg_fields_find(const struct tg_fields *head, const char *name);

/* A field of a line; NULL when it is not there, empty, or one of "-", "NA" and "null". */
const char *tg_fields_get(const struct tg_fields *f, size_t at);

#endif
