/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/names.h"

#include "base/mem.h"

void tg_names_release(struct tg_names *names)
{
	free(names->name);
	*names = (struct tg_names){ 0 };
}

void tg_names_rewind(struct tg_names *names)
{
	names->next = 0;
}

struct tg_name *tg_names_find(struct tg_names *names, const char *name)
{
	for (size_t k = 0; k < names->n; k++) {
		size_t i = (names->next + k) % names->n;

		if (!strcmp(names->name[i].name, name)) {
			names->next = i + 1;
			return &names->name[i];
		}
	}
	return NULL;
}

struct tg_name *tg_names_add(struct tg_names *names, const char *name)
{
	size_t len = strlen(name);
	struct tg_name *n;

	if (names->n >= TG_NAMES_MAX || len >= TG_INSTANCE_MAX)
		return NULL;
	TG_GROW(names->name, names->n + 1, names->cap);
	n = &names->name[names->n++];
	*n = (struct tg_name){ 0 };
	memcpy(n->name, name, len + 1);
	return n;
}
