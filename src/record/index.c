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
		tg_table_free(x->table[i]->def);
		free(x->table[i]->places.p);
		free(x->table[i]);
	}
	free(x->table);
	free(x->events.p);
	free(x->processes.p);
	tg_index_init(x);
}

struct tg_index_table *tg_index_table(struct tg_index *x, uint32_t number)
{
	if (x->last_table < x->n_tables && x->table[x->last_table]->number == number)
		return x->table[x->last_table];
	for (size_t i = 0; i < x->n_tables; i++)
		if (x->table[i]->number == number) {
			x->last_table = i;
			return x->table[i];
		}
	return NULL;
}

static struct tg_index_table *get_table(struct tg_index *x, uint32_t number, uint32_t session)
{
	struct tg_index_table *t = tg_index_table(x, number);

	if (t || x->n_tables >= TG_TABLES_MAX)
		return t;
	t = tg_xcalloc(1, sizeof(*t));
	t->number = number;
	t->session = session;
	TG_GROW(x->table, x->n_tables + 1, x->cap_tables);
	x->last_table = x->n_tables;
	x->table[x->n_tables++] = t;
	return t;
}

static void add_place(struct tg_places *places, const struct tg_place *place)
{
	TG_GROW(places->p, places->n + 1, places->cap);
	places->p[places->n++] = *place;
}

static int add_session(struct tg_index *x, uint32_t number, const uint8_t *json, size_t len)
{
	for (size_t i = 0; i < x->n_sessions; i++)
		if (x->session[i].number == number)
			return 0;
	if (x->held + len + sizeof(struct tg_session) > TG_INDEX_HELD_MAX)
		return -EBADMSG;
	x->held += len + sizeof(struct tg_session);
	TG_GROW(x->session, x->n_sessions + 1, x->cap_sessions);
	x->session[x->n_sessions++] = (struct tg_session){ number, tg_xmemdup0(json, len) };
	return 0;
}

static int add_table(struct tg_index *x, uint32_t session, const uint8_t *json, size_t len)
{
	struct tg_table_def *def = tg_table_parse((const char *)json, len);
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

static int add_samples(struct tg_index *x, const struct tg_chunk *chunk)
{
	struct tg_samples_prefix prefix;
	struct tg_index_table *t;
	struct tg_place place;

	if (tg_samples_prefix_get(chunk->payload, chunk->header.length, &prefix) < 0)
		return -EBADMSG;
	t = get_table(x, prefix.table, chunk->header.session);
	if (!t)
		return -EBADMSG;
	place = (struct tg_place){ chunk->offset, prefix.first_ns, prefix.last_ns, prefix.rows,
		chunk->header.session };
	add_place(&t->places, &place);
	return 0;
}

static int add_processes(struct tg_index *x, const struct tg_chunk *chunk)
{
	struct tg_process_prefix prefix;
	struct tg_place place;

	if (tg_processes_prefix_get(chunk->payload, chunk->header.length, &prefix) < 0)
		return -EBADMSG;
	place = (struct tg_place){ chunk->offset, prefix.first_ns, prefix.last_ns, prefix.cells,
		chunk->header.session };
	add_place(&x->processes, &place);
	return 0;
}

int tg_index_add(struct tg_index *x, struct tg_zip *z, const struct tg_chunk *chunk)
{
	struct tg_place place = { .offset = chunk->offset, .session = chunk->header.session };
	const uint8_t *plain;
	size_t len;
	int r;

	switch (chunk->header.type) {
	case TG_CHUNK_SESSION:
	case TG_CHUNK_TABLE:
		r = tg_zip_unpack(
			z, chunk->header.flags, chunk->payload, chunk->header.length, &plain, &len);
		if (r < 0)
			return r;
		if (chunk->header.type == TG_CHUNK_SESSION)
			return add_session(x, chunk->header.session, plain, len);
		return add_table(x, chunk->header.session, plain, len);
	case TG_CHUNK_SAMPLES:
		return add_samples(x, chunk);
	case TG_CHUNK_PROCESS:
		return add_processes(x, chunk);
	case TG_CHUNK_EVENTS:
		add_place(&x->events, &place);
		return 0;
	default:
		return 0;
	}
}
