/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/index.h"

#include <errno.h>

#include "record/processes.h"
#include "record/samples.h"

#include "base/mem.h"

void tg_index_init(struct tg_index *x)
{
	*x = (struct tg_index){ 0 };
}

void tg_index_release(struct tg_index *x)
{
	for (size_t i = 0; i < x->n_sessions; i++)
		free((char *)x->session[i].json);
	free(x->session);
	for (size_t i = 0; i < x->n_tables; i++) {
		tg_table_free(x->table[i].def);
		free(x->table[i].places.p);
		for (size_t k = 0; k < x->table[i].n_sections; k++)
			free(x->table[i].section[k].offsets);
		free(x->table[i].section);
		free(x->table[i].group);
	}
	free(x->table);
	tg_map_release(&x->table_at);
	tg_map_release(&x->session_at);
	free(x->events.p);
	free(x->processes.p);
	free(x->summaries.p);
	tg_summary_reading_release(&x->reading);
	tg_index_init(x);
}

struct tg_index_table *tg_index_table(struct tg_index *x, uint32_t number)
{
	ptrdiff_t at = tg_map_get(&x->table_at, number);

	return at >= 0 ? &x->table[at] : NULL;
}

static struct tg_index_table *get_table(struct tg_index *x, uint32_t number, uint32_t session)
{
	struct tg_index_table *t = tg_index_table(x, number);

	if (t || x->n_tables >= TG_TABLES_MAX)
		return t;
	TG_GROW(x->table, x->n_tables + 1, x->cap_tables);
	t = &x->table[x->n_tables];
	*t = (struct tg_index_table){ .number = number, .session = session };
	tg_map_put(&x->table_at, number, x->n_tables++);
	return t;
}

static void add_place(struct tg_places *places, const struct tg_place *place)
{
	const struct tg_place *before = places->n ? &places->p[places->n - 1] : NULL;

	if (before && (place->first_ns < before->first_ns || place->last_ns < before->last_ns))
		places->unordered = true;
	TG_GROW(places->p, places->n + 1, places->cap);
	places->p[places->n++] = *place;
}

static int add_session(struct tg_index *x, uint32_t number, const char *json, size_t len)
{
	if (tg_map_get(&x->session_at, number) >= 0)
		return 0;
	if (x->held + len + sizeof(struct tg_session) > TG_INDEX_HELD_MAX)
		return -EBADMSG;
	x->held += len + sizeof(struct tg_session);
	TG_GROW(x->session, x->n_sessions + 1, x->cap_sessions);
	x->session[x->n_sessions] = (struct tg_session){ number, tg_xmemdup0(json, len) };
	tg_map_put(&x->session_at, number, x->n_sessions++);
	return 0;
}

static int add_table(struct tg_index *x, uint32_t session, const char *json, size_t len)
{
	struct tg_table_def *def = tg_table_parse(json, len);
	struct tg_index_table *t;

	if (!def)
		return -EBADMSG;
	t = get_table(x, def->number, session);
	if (!t || x->held + def->bytes > TG_INDEX_HELD_MAX) {
		tg_table_free(def);
		return -EBADMSG;
	}
	if (t->def) {
		tg_table_free(def); /* stated again: a table never changes */
		return 0;
	}
	x->held += def->bytes;
	t->def = def;
	return 0;
}

static int add_samples(struct tg_index *x, uint32_t number, const struct tg_place *place)
{
	struct tg_index_table *t = get_table(x, number, place->session);

	if (!t)
		return -EBADMSG;
	add_place(&t->places, place);
	return 0;
}

static void add_section(struct tg_index *x, const struct tg_chunk_header *h, uint64_t offset,
	const struct tg_summary_section *from)
{
	struct tg_index_table *t = get_table(x, from->table, h->session);

	/* of a wrong shape: its chunks are read instead */
	if (!t || !t->def || t->def->n_columns != from->n_columns || !from->n_groups ||
		(t->n_sections && from->begin < t->section[t->n_sections - 1].end))
		return;
	TG_GROW(t->section, t->n_sections + 1, t->cap_sections);
	TG_GROW(t->group, t->n_groups + from->n_groups, t->cap_groups);
	t->section[t->n_sections++] = (struct tg_index_section){
		.begin = from->begin,
		.end = from->end,
		.payload = offset + TG_CHUNK_HEADER,
		.payload_len = h->length,
		.directory = from->directory,
		.n_groups = from->n_groups,
		.first_group = t->n_groups,
	};
	memcpy(t->group + t->n_groups, from->span, from->n_groups * sizeof(*t->group));
	t->n_groups += from->n_groups;
}

static void add_entries(struct tg_index *x, uint32_t session, const struct tg_summary *s)
{
	uint64_t at = s->begin;

	for (size_t i = 0; i < s->n_entries; i++) {
		const struct tg_summary_entry *e = &s->entry[i];
		struct tg_place place = { at, e->first_ns, e->last_ns, e->rows, session, false };

		if (e->type == TG_CHUNK_SAMPLES)
			add_samples(x, e->table, &place);
		else if (e->type == TG_CHUNK_PROCESS)
			add_place(&x->processes, &place);
		else if (e->type == TG_CHUNK_EVENTS)
			add_place(&x->events, &place);
		at += TG_CHUNK_HEADER + (uint64_t)e->length;
	}
}

int tg_index_summary(struct tg_index *x, struct tg_zip *z, const struct tg_chunk_header *h,
	uint64_t offset, const uint8_t *head, bool entries)
{
	struct tg_place place = { .offset = offset, .session = h->session };
	const struct tg_summary *s = &x->reading.summary;
	int r = tg_summary_decode(&x->reading, z, head, h->length, offset);

	if (r < 0)
		return r;
	if (s->session.len)
		add_session(x, h->session, s->session.data, s->session.len);
	for (size_t i = 0; i < s->n_tables; i++) {
		const struct tg_index_table *t = tg_index_table(x, s->table[i].number);

		if (!t || !t->def)
			add_table(x, h->session, s->table[i].json.data, s->table[i].json.len);
	}
	if (entries)
		add_entries(x, h->session, s);
	for (size_t i = 0; i < s->n_sections; i++)
		add_section(x, h, offset, &s->section[i]);
	add_place(&x->summaries, &place);
	return 0;
}

static int add_object(struct tg_index *x, struct tg_zip *z, const struct tg_chunk *chunk)
{
	const struct tg_chunk_header *h = &chunk->header;
	const uint8_t *plain;
	size_t len;
	int r = tg_zip_unpack(z, h->flags, chunk->payload, h->length, &plain, &len);

	if (r < 0)
		return r;
	if (h->type == TG_CHUNK_SESSION)
		return add_session(x, h->session, (const char *)plain, len);
	return add_table(x, h->session, (const char *)plain, len);
}

int tg_index_add(struct tg_index *x, struct tg_zip *z, const struct tg_chunk *chunk)
{
	const struct tg_chunk_header *h = &chunk->header;
	struct tg_place place = { .offset = chunk->offset, .session = h->session };
	struct tg_samples_prefix samples;
	struct tg_process_prefix processes;

	switch (h->type) {
	case TG_CHUNK_SESSION:
	case TG_CHUNK_TABLE:
		return add_object(x, z, chunk);
	case TG_CHUNK_SAMPLES:
		if (tg_samples_prefix_get(chunk->payload, h->length, &samples) < 0)
			return -EBADMSG;
		place.first_ns = samples.first_ns;
		place.last_ns = samples.last_ns;
		place.rows = samples.rows;
		return add_samples(x, samples.table, &place);
	case TG_CHUNK_PROCESS:
		if (tg_processes_prefix_get(chunk->payload, h->length, &processes) < 0)
			return -EBADMSG;
		place.first_ns = processes.first_ns;
		place.last_ns = processes.last_ns;
		place.rows = processes.cells;
		add_place(&x->processes, &place);
		return 0;
	case TG_CHUNK_EVENTS:
		add_place(&x->events, &place);
		return 0;
	case TG_CHUNK_SUMMARY:
		return h->length < TG_SUMMARY_PREFIX
			       ? -EBADMSG
			       : tg_index_summary(x, z, h, chunk->offset, chunk->payload, false);
	default:
		return 0;
	}
}
