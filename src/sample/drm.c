/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/drm.h"

#include <errno.h>

#include "base/metric.h"

#include "base/mem.h"

/* Take `key` off the beginning of the line. */
static bool take(struct tg_cursor *line, const char *key)
{
	size_t n = strlen(key);

	if ((size_t)(line->end - line->p) < n || memcmp(line->p, key, n) != 0)
		return false;
	line->p += n;
	return true;
}

/* Take a name of plain characters up to the colon: it becomes the name of a column. */
static bool take_name(struct tg_cursor *line, char *name)
{
	size_t n = 0;

	while (line->p + n < line->end && n < TG_DRM_NAME_MAX && line->p[n] > ' ' &&
		line->p[n] < 0x7f && line->p[n] != ':')
		n++;
	if (n == 0 || n >= TG_DRM_NAME_MAX || line->p + n == line->end || line->p[n] != ':')
		return false;
	memcpy(name, line->p, n);
	name[n] = '\0';
	line->p += n + 1;
	return true;
}

static bool take_text(struct tg_cursor *line, char *to)
{
	const char *word;
	size_t n;

	if (!tg_cursor_word(line, &word, &n) || n >= TG_DRM_NAME_MAX || memchr(word, '\0', n))
		return false;
	memcpy(to, word, n);
	to[n] = '\0';
	return true;
}

/* A number that is not negative, in bytes where KiB or MiB is behind it. */
static bool take_number(struct tg_cursor *line, int64_t *value)
{
	const char *unit;
	int64_t factor = 1;
	size_t n;

	if (!tg_cursor_i64(line, value) || *value < 0)
		return false;
	if (tg_cursor_word(line, &unit, &n) && n == 3 && unit[1] == 'i' && unit[2] == 'B')
		factor = unit[0] == 'K' ? 1 << 10 : unit[0] == 'M' ? 1 << 20 : 1;
	return !__builtin_mul_overflow(*value, factor, value);
}

static struct tg_drm_engine *engine_of(struct tg_drm *d, const char *name)
{
	struct tg_drm_engine *e;

	for (size_t i = 0; i < d->n_engines; i++)
		if (!strcmp(d->engine[i].name, name))
			return &d->engine[i];
	if (d->n_engines == TG_DRM_PARTS)
		return NULL;
	e = &d->engine[d->n_engines++];
	*e = (struct tg_drm_engine){
		.ns = TG_MISSING, .cycles = TG_MISSING, .total_cycles = TG_MISSING
	};
	snprintf(e->name, sizeof(e->name), "%s", name);
	return e;
}

static struct tg_drm_memory *memory_of(struct tg_drm *d, const char *name)
{
	struct tg_drm_memory *m;

	for (size_t i = 0; i < d->n_memories; i++)
		if (!strcmp(d->memory[i].name, name))
			return &d->memory[i];
	if (d->n_memories == TG_DRM_PARTS)
		return NULL;
	m = &d->memory[d->n_memories++];
	*m = (struct tg_drm_memory){ .resident_bytes = TG_MISSING, .memory_bytes = TG_MISSING };
	snprintf(m->name, sizeof(m->name), "%s", name);
	return m;
}

enum what { NS, CYCLES, TOTAL_CYCLES, RESIDENT, MEMORY };

/*
 * drm-engine-render:	25662044495 ns
 * drm-total-cycles-rcs:	7655183225
 * drm-resident-vram0:	2 MiB
 */
static void take_part(struct tg_drm *d, struct tg_cursor *line)
{
	static const struct {
		const char *key;
		enum what what;
	} keys[] = {
		{ "engine-", NS },
		{ "cycles-", CYCLES },
		{ "total-cycles-", TOTAL_CYCLES },
		{ "resident-", RESIDENT },
		{ "memory-", MEMORY },
	};
	char name[TG_DRM_NAME_MAX];
	struct tg_drm_engine *e = NULL;
	struct tg_drm_memory *m = NULL;
	size_t k = 0;
	int64_t value;

	while (k < TG_ARRAY_SIZE(keys) && !take(line, keys[k].key))
		k++;
	/* how many engines there are of a kind is no engine */
	if (k == TG_ARRAY_SIZE(keys) || (keys[k].what == NS && take(line, "capacity-")) ||
		!take_name(line, name) || !take_number(line, &value))
		return;
	if (keys[k].what <= TOTAL_CYCLES)
		e = engine_of(d, name);
	else
		m = memory_of(d, name);
	if (e)
		*(keys[k].what == NS             ? &e->ns
			: keys[k].what == CYCLES ? &e->cycles
						 : &e->total_cycles) = value;
	if (m)
		*(keys[k].what == RESIDENT ? &m->resident_bytes : &m->memory_bytes) = value;
}

int tg_drm_fdinfo(const char *text, size_t len, struct tg_drm *out)
{
	struct tg_cursor s = tg_cursor_of(text, len), line;
	char driver[TG_DRM_NAME_MAX] = "";

	out->pdev[0] = '\0';
	out->client = -1;
	out->n_engines = out->n_memories = 0;
	while (tg_cursor_line(&s, &line)) {
		if (!take(&line, "drm-"))
			continue;
		if (take(&line, "driver:"))
			take_text(&line, driver);
		else if (take(&line, "pdev:"))
			take_text(&line, out->pdev);
		else if (!take(&line, "client-id:"))
			take_part(out, &line);
		else if (!take_number(&line, &out->client))
			out->client = -1;
	}
	if (!out->pdev[0])
		memcpy(out->pdev, driver, sizeof(driver));
	return out->pdev[0] && out->client >= 0 ? 0 : -ENOENT;
}
