/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The head, in varints:
 *   uvar begin
 *   uvar entries; each: byte type, uvar length; SAMPLES also uvar table; SAMPLES and PROCESS also
 *     uvar rows, svar first_ns - first_ns of the one before, uvar last_ns - first_ns
 *   text session; uvar tables; each: uvar number, text definition; text open spans
 *     (text: uvar length, bytes)
 *   uvar sections; each: uvar table, uvar columns, uvar begin, uvar end - begin, uvar groups; each
 *     group: svar first_ns - last_ns of the one before, uvar last_ns - first_ns, uvar rows
 *
 * A part: a byte, then by its value
 *   0  svar value: every row of every group has this one
 *   1  nothing: no row has a value
 *   2  for each group uvar rows without a value, and where there are others: svar first - last of
 *      the group before, svar last - first, uvar smaller of both - min, uvar max - larger of both
 */
#include "record/summary.h"

#include <errno.h>
#include <stdbool.h>

#include "base/metric.h"
#include "record/crc32c.h"
#include "record/varint.h"

#include "base/mem.h"

enum part { PART_CONSTANT, PART_MISSING, PART_GROUPS };

#define GROUP_MAX (5 + 4 * TG_VARINT_MAX) /* bytes of one group in a part */

/* The least bytes that one of a list has in the head: room is made for no more than are there. */
#define ENTRY_MIN   2
#define TABLE_MIN   2
#define SECTION_MIN 5
#define SPAN_MIN    3

/* ---- writing ---- */

static void add_uvar(struct tg_buf *out, uint64_t v)
{
	uint8_t raw[TG_VARINT_MAX];

	tg_buf_add(out, raw, (size_t)(tg_put_uvar(raw, v) - raw));
}

static void add_svar(struct tg_buf *out, int64_t v)
{
	add_uvar(out, tg_zigzag(v));
}

static void add_text(struct tg_buf *out, const struct tg_slice *t)
{
	add_uvar(out, t->len);
	tg_buf_add(out, t->data, t->len);
}

static void add_entries(struct tg_buf *out, const struct tg_summary *s)
{
	int64_t before = 0;

	add_uvar(out, s->begin);
	add_uvar(out, s->n_entries);
	for (size_t i = 0; i < s->n_entries; i++) {
		const struct tg_summary_entry *e = &s->entry[i];

		tg_buf_addc(out, (char)e->type);
		add_uvar(out, e->length);
		if (e->type == TG_CHUNK_SAMPLES)
			add_uvar(out, e->table);
		if (e->type != TG_CHUNK_SAMPLES && e->type != TG_CHUNK_PROCESS)
			continue;
		add_uvar(out, e->rows);
		add_svar(out, tg_wrap_sub(e->first_ns, before));
		add_uvar(out, (uint64_t)tg_wrap_sub(e->last_ns, e->first_ns));
		before = e->first_ns;
	}
}

static void add_section(struct tg_buf *out, const struct tg_summary_section *s)
{
	int64_t before = 0;

	add_uvar(out, s->table);
	add_uvar(out, s->n_columns);
	add_uvar(out, s->begin);
	add_uvar(out, s->end - s->begin);
	add_uvar(out, s->n_groups);
	for (uint32_t i = 0; i < s->n_groups; i++) {
		add_svar(out, tg_wrap_sub(s->span[i].first_ns, before));
		add_uvar(out, (uint64_t)tg_wrap_sub(s->span[i].last_ns, s->span[i].first_ns));
		add_uvar(out, s->span[i].rows);
		before = s->span[i].last_ns;
	}
}

static enum part part_kind(const struct tg_summary_section *s, uint32_t column)
{
	const struct tg_group_stats *first = &s->stats[column];
	bool constant = true, missing = true;

	for (uint32_t i = 0; i < s->n_groups; i++) {
		const struct tg_group_stats *g = &s->stats[(size_t)i * s->n_columns + column];

		missing &= g->count == 0;
		constant &=
			g->count == s->span[i].rows && g->min == g->max && g->first == first->first;
	}
	return missing ? PART_MISSING : constant ? PART_CONSTANT : PART_GROUPS;
}

static void add_part(struct tg_buf *out, const struct tg_summary_section *s, uint32_t column)
{
	static const uint8_t room[4];
	enum part kind = part_kind(s, column);
	size_t start = out->len;
	int64_t last = 0;

	tg_buf_add(out, room, sizeof(room));
	tg_buf_addc(out, (char)kind);
	if (kind == PART_CONSTANT)
		add_svar(out, s->stats[column].first);
	for (uint32_t i = 0; kind == PART_GROUPS && i < s->n_groups; i++) {
		const struct tg_group_stats *g = &s->stats[(size_t)i * s->n_columns + column];

		add_uvar(out, s->span[i].rows - g->count);
		if (!g->count)
			continue;
		add_svar(out, tg_wrap_sub(g->first, last));
		add_svar(out, tg_wrap_sub(g->last, g->first));
		add_uvar(out, (uint64_t)tg_wrap_sub(TG_MIN(g->first, g->last), g->min));
		add_uvar(out, (uint64_t)tg_wrap_sub(g->max, TG_MAX(g->first, g->last)));
		last = g->last;
	}
	tg_put32((uint8_t *)out->data + start,
		tg_crc32c(0, out->data + start + 4, out->len - start - 4));
}

void tg_summary_encode(const struct tg_summary *s, struct tg_zip *z, struct tg_buf *out)
{
	size_t start = out->len, directory, place = 0;
	struct tg_buf head = TG_BUF_INIT;
	uint8_t *prefix, word[TG_SUMMARY_PREFIX] = { 0 };
	uint16_t flags;

	add_entries(&head, s);
	add_text(&head, &s->session);
	add_uvar(&head, s->n_tables);
	for (size_t i = 0; i < s->n_tables; i++) {
		add_uvar(&head, s->table[i].number);
		add_text(&head, &s->table[i].json);
	}
	add_text(&head, &s->open);
	add_uvar(&head, s->n_sections);
	for (size_t i = 0; i < s->n_sections; i++)
		add_section(&head, &s->section[i]);

	tg_buf_add(out, word, TG_SUMMARY_PREFIX);
	flags = tg_zip_pack(z, head.data, head.len, out);
	tg_buf_release(&head);
	prefix = (uint8_t *)out->data + start;
	directory = out->len - start;
	tg_put64(prefix, s->previous);
	tg_put32(prefix + 8, (uint32_t)(directory - TG_SUMMARY_PREFIX));
	tg_put32(prefix + 12, flags);
	tg_put32(prefix + 16, tg_crc32c(tg_crc32c(0, prefix, 16), prefix + TG_SUMMARY_PREFIX,
				      directory - TG_SUMMARY_PREFIX));

	for (size_t i = 0; i < s->n_sections; i++)
		for (uint32_t c = 0; c <= s->section[i].n_columns; c++)
			tg_buf_add(out, word, 4);
	for (size_t i = 0; i < s->n_sections; i++) {
		for (uint32_t c = 0; c <= s->section[i].n_columns; c++) {
			tg_put32((uint8_t *)out->data + start + directory + 4 * place++,
				(uint32_t)(out->len - start));
			if (c < s->section[i].n_columns)
				add_part(out, &s->section[i], c);
		}
	}
}

/* ---- reading ---- */

void tg_summary_reading_release(struct tg_summary_reading *s)
{
	free(s->entry);
	free(s->table);
	free(s->section);
	free(s->span);
	*s = (struct tg_summary_reading){ 0 };
}

size_t tg_summary_head_size(const uint8_t *prefix, uint32_t payload_len)
{
	uint32_t len = tg_get32(prefix + 8);

	if (payload_len < TG_SUMMARY_PREFIX || len > payload_len - TG_SUMMARY_PREFIX)
		return 0;
	return TG_SUMMARY_PREFIX + (size_t)len;
}

/* A position that has seen a bad number is NULL and stays so. */
struct cursor {
	const uint8_t *p, *end;
};

static uint64_t get_uvar(struct cursor *c)
{
	uint64_t v = 0;

	if (c->p)
		c->p = tg_get_uvar(c->p, c->end, &v);
	return c->p ? v : 0;
}

static int64_t get_svar(struct cursor *c)
{
	return tg_unzigzag(get_uvar(c));
}

/* A number that must not be above `most`. */
static uint64_t get_count(struct cursor *c, uint64_t most)
{
	uint64_t v = get_uvar(c);

	if (v > most)
		c->p = NULL;
	return c->p ? v : 0;
}

static uint64_t left(const struct cursor *c)
{
	return c->p ? (uint64_t)(c->end - c->p) : 0;
}

/* The number of elements of at least `least` bytes that follow, at most `most`. */
static size_t get_length(struct cursor *c, uint64_t most, size_t least)
{
	uint64_t n = get_count(c, most);

	if (n > left(c) / least)
		c->p = NULL;
	return c->p ? (size_t)n : 0;
}

static struct tg_slice get_text(struct cursor *c)
{
	size_t len = get_length(c, UINT32_MAX, 1);
	struct tg_slice t = { NULL, 0 };

	if (c->p) {
		t = (struct tg_slice){ (const char *)c->p, len };
		c->p += len;
	}
	return t;
}

/* Two stamps: svar first - before, uvar last - first. */
static void get_times(struct cursor *c, int64_t before, int64_t *first_ns, int64_t *last_ns)
{
	*first_ns = tg_wrap_add(before, get_svar(c));
	*last_ns = tg_wrap_add(*first_ns, (int64_t)get_uvar(c));
	if (!tg_times_valid(*first_ns, *last_ns))
		c->p = NULL;
}

static void get_entries(struct tg_summary_reading *s, struct cursor *c, uint64_t offset)
{
	uint64_t begin = get_count(c, offset), at = begin;
	int64_t before = 0;
	size_t n;

	n = get_length(c, (offset - begin) / TG_CHUNK_HEADER, ENTRY_MIN); /* no chunk is shorter */
	TG_GROW(s->entry, n, s->cap_entries);
	for (size_t i = 0; c->p && i < n; i++) {
		struct tg_summary_entry *e = &s->entry[i];

		*e = (struct tg_summary_entry){ .type = (uint8_t)get_count(c, 127) };
		e->length = (uint32_t)get_count(c, TG_CHUNK_MAX);
		at += TG_CHUNK_HEADER + (uint64_t)e->length;
		if (e->type == TG_CHUNK_SAMPLES)
			e->table = (uint32_t)get_count(c, UINT32_MAX);
		if (e->type != TG_CHUNK_SAMPLES && e->type != TG_CHUNK_PROCESS)
			continue;
		e->rows = (uint32_t)get_count(c, UINT32_MAX);
		get_times(c, before, &e->first_ns, &e->last_ns);
		before = e->first_ns;
	}
	if (at != offset)
		c->p = NULL;
	s->summary.begin = begin;
	s->summary.entry = s->entry;
	s->summary.n_entries = n;
}

static void get_section(struct tg_summary_reading *s, struct cursor *c, uint64_t offset,
	struct tg_summary_section *to, size_t *n_spans)
{
	int64_t before = 0;

	*to = (struct tg_summary_section){ .table = (uint32_t)get_count(c, UINT32_MAX) };
	to->n_columns = (uint32_t)get_count(c, TG_COLUMNS_MAX);
	to->begin = get_count(c, offset);
	to->end = to->begin + get_count(c, offset - to->begin);
	to->n_groups = (uint32_t)get_length(c, (to->end - to->begin) / TG_CHUNK_HEADER, SPAN_MIN);
	TG_GROW(s->span, *n_spans + to->n_groups, s->cap_spans);
	for (uint32_t i = 0; c->p && i < to->n_groups; i++) {
		struct tg_group_span *span = &s->span[*n_spans + i];

		get_times(c, before, &span->first_ns, &span->last_ns);
		span->rows = (uint32_t)get_count(c, UINT32_MAX);
		before = span->last_ns;
	}
	*n_spans += to->n_groups;
}

static void get_sections(struct tg_summary_reading *s, struct cursor *c, uint64_t offset,
	uint64_t directory, uint32_t payload_len)
{
	size_t n = get_length(c, TG_TABLES_MAX, SECTION_MIN), n_spans = 0, at = 0;

	TG_GROW(s->section, n, s->cap_sections);
	for (size_t i = 0; c->p && i < n; i++) {
		get_section(s, c, offset, &s->section[i], &n_spans);
		s->section[i].directory = (uint32_t)directory;
		directory += 4 * ((uint64_t)s->section[i].n_columns + 1);
		if (directory > payload_len)
			c->p = NULL;
	}
	for (size_t i = 0; c->p && i < n; i++) { /* only now the array does not move any more */
		s->section[i].span = s->span + at;
		at += s->section[i].n_groups;
	}
	s->summary.section = s->section;
	s->summary.n_sections = n;
}

int tg_summary_decode(struct tg_summary_reading *s, struct tg_zip *z, const uint8_t *head,
	uint32_t payload_len, uint64_t offset)
{
	size_t size = tg_summary_head_size(head, payload_len), plain_len;
	const uint8_t *plain;
	struct cursor c;
	uint32_t crc;
	int r;

	if (!size)
		return -EBADMSG;
	crc = tg_crc32c(0, head, 16);
	crc = tg_crc32c(crc, head + TG_SUMMARY_PREFIX, size - TG_SUMMARY_PREFIX);
	if (crc != tg_get32(head + 16))
		return -EBADMSG;
	r = tg_zip_unpack(z, (uint16_t)(tg_get32(head + 12) & TG_CHUNK_ZSTD),
		head + TG_SUMMARY_PREFIX, size - TG_SUMMARY_PREFIX, &plain, &plain_len);
	if (r < 0)
		return r;
	c = (struct cursor){ plain, plain + plain_len };
	s->summary.previous = tg_get64(head);
	get_entries(s, &c, offset);
	s->summary.session = get_text(&c);
	s->summary.n_tables = get_length(&c, TG_TABLES_MAX, TABLE_MIN);
	TG_GROW(s->table, s->summary.n_tables, s->cap_tables);
	for (size_t i = 0; i < s->summary.n_tables; i++) {
		s->table[i].number = (uint32_t)get_count(&c, UINT32_MAX);
		s->table[i].json = get_text(&c);
	}
	s->summary.table = s->table;
	s->summary.open = get_text(&c);
	get_sections(s, &c, offset, size, payload_len);
	return c.p ? 0 : -EBADMSG;
}

size_t tg_summary_part_max(uint32_t n_groups)
{
	return 4 + 1 + TG_VARINT_MAX + (size_t)n_groups * GROUP_MAX;
}

/* A chart of a long recording reads hundreds of thousands of these: no cursor, no copies. */
static const uint8_t *get_groups(const uint8_t *p, const uint8_t *end,
	const struct tg_group_span *span, uint32_t n_groups, struct tg_group_stats *stats)
{
	uint64_t missing, first, last, below, above;
	int64_t before = 0;

	for (uint32_t i = 0; i < n_groups; i++) {
		struct tg_group_stats *g = &stats[i];

		p = tg_get_uvar(p, end, &missing);
		if (!p || missing > span[i].rows)
			return NULL;
		g->count = span[i].rows - (uint32_t)missing;
		if (!g->count)
			continue;
		if (!(p = tg_get_uvar(p, end, &first)) || !(p = tg_get_uvar(p, end, &last)) ||
			!(p = tg_get_uvar(p, end, &below)) || !(p = tg_get_uvar(p, end, &above)))
			return NULL;
		g->first = tg_wrap_add(before, tg_unzigzag(first));
		g->last = tg_wrap_add(g->first, tg_unzigzag(last));
		g->min = tg_wrap_sub(TG_MIN(g->first, g->last), (int64_t)below);
		g->max = tg_wrap_add(TG_MAX(g->first, g->last), (int64_t)above);
		before = g->last;
	}
	return p;
}

int tg_summary_part_decode(const uint8_t *part, size_t len, const struct tg_group_span *span,
	uint32_t n_groups, struct tg_group_stats *stats)
{
	struct cursor c;
	int64_t value;

	if (len < 5 || tg_get32(part) != tg_crc32c(0, part + 4, len - 4))
		return -EBADMSG;
	c = (struct cursor){ part + 5, part + len };
	switch (part[4]) {
	case PART_CONSTANT:
		value = get_svar(&c);
		for (uint32_t i = 0; i < n_groups; i++)
			stats[i] =
				(struct tg_group_stats){ value, value, value, value, span[i].rows };
		break;
	case PART_MISSING:
		for (uint32_t i = 0; i < n_groups; i++)
			stats[i] = (struct tg_group_stats){ 0 };
		break;
	case PART_GROUPS:
		c.p = get_groups(c.p, c.end, span, n_groups, stats);
		break;
	default:
		return -EBADMSG;
	}
	return c.p ? 0 : -EBADMSG;
}
