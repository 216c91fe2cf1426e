/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/fields.h"

#include <stdint.h>

#include "import/scan.h"

#include "base/mem.h"

static char *trim(char *s)
{
	size_t len;

	s = (char *)tg_scan_blanks(s);
	for (len = strlen(s); len && (s[len - 1] == ' ' || s[len - 1] == '\t'); len--)
		continue;
	s[len] = '\0';
	return s;
}

void tg_fields_split(struct tg_fields *f, char *line, char separator)
{
	f->n = 0;
	while (line && f->n < TG_FIELDS_MAX) {
		char *end = strchr(line, separator);

		if (end)
			*end++ = '\0';
		f->at[f->n++] = trim(line);
		line = end;
	}
}

size_t tg_fields_find(const struct tg_fields *head, const char *name)
{
	for (size_t i = 0; i < head->n; i++)
		if (!strcmp(head->at[i], name))
			return i;
	return SIZE_MAX;
}

const char *tg_fields_get(const struct tg_fields *f, size_t at)
{
	const char *s = at < f->n ? f->at[at] : "";

	return !*s || !strcmp(s, "-") || !strcmp(s, "NA") || !strcmp(s, "null") ? NULL : s;
}
