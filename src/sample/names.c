/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/names.h"

#include "base/utf8.h"

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

void tg_name_of(char *out, size_t size, const char *text)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	size_t len = strlen(text), n = 0;

	if (len >= size) {
		text += len - (size - sizeof(ellipsis));
		while (((unsigned char)*text & 0xc0) == 0x80)
			text++;
		memcpy(out, ellipsis, sizeof(ellipsis));
		n = sizeof(ellipsis) - 1;
		len = strlen(text);
	}
	while (len) {
		uint32_t cp = 0;
		size_t k = tg_utf8_decode(text, len, &cp);

		bool shown = k && cp >= 0x20 && cp != 0x7f;

		k = TG_MAX(k, 1);
		memcpy(out + n, shown ? text : "?", shown ? k : 1);
		n += shown ? k : 1;
		text += k;
		len -= k;
	}
	out[n] = '\0';
}
