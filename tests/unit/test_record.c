/* SPDX-License-Identifier: BSD-3-Clause */
/* What was written is read back: rows, processes, events, over sessions. */
#include "recording.h"

#include "record/spans.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/json.h"
#include "record/crc32c.h"
#include "record/format.h"
#include "record/summary.h"
#include "record/varint.h"

#include "base/mem.h"

/* Compares what a reader hands over with the blocks that were written, row by row. */
struct expect {
	struct tg_block **block;
	size_t n_blocks, at_block;
	uint32_t at_row;
	const uint32_t *column;
	size_t n_columns;
	uint64_t rows;
	bool same;
};

static int compare(void *ctx, const struct tg_block *got)
{
	struct expect *e = ctx;

	for (uint32_t i = 0; i < got->n_rows; i++) {
		const struct tg_block *want;

		while (e->at_block < e->n_blocks && e->at_row >= e->block[e->at_block]->n_rows) {
			e->at_block++;
			e->at_row = 0;
		}
		if (e->at_block == e->n_blocks) {
			e->same = false;
			return 1;
		}
		want = e->block[e->at_block];
		e->same &= got->t_ns[i] == want->t_ns[e->at_row];
		for (size_t c = 0; c < e->n_columns; c++)
			e->same &= got->values[c * got->cap + i] ==
				   want->values[(size_t)e->column[c] * want->cap + e->at_row];
		e->at_row++;
		e->rows++;
	}
	return 0;
}

/* Groups must tile the rows in order and say of each what the rows say. */
struct tiles {
	struct tg_block **block;
	size_t n_blocks, at_block;
	uint32_t at_row, column;
	uint64_t groups, rows, from_summary;
	bool same;
};

static int compare_group(void *ctx, const struct tg_group *g)
{
	struct tiles *e = ctx;
	struct tg_group want = { 0 };

	for (uint32_t i = 0; i < g->rows; i++) {
		const struct tg_block *b;
		int64_t v;

		while (e->at_block < e->n_blocks && e->at_row >= e->block[e->at_block]->n_rows) {
			e->at_block++;
			e->at_row = 0;
		}
		if (e->at_block == e->n_blocks) {
			e->same = false;
			return 1;
		}
		b = e->block[e->at_block];
		v = b->values[(size_t)e->column * b->cap + e->at_row];
		if (i == 0)
			want.first_ns = b->t_ns[e->at_row];
		want.last_ns = b->t_ns[e->at_row++];
		if (v == TG_MISSING)
			continue;
		want.min = want.count ? TG_MIN(want.min, v) : v;
		want.max = want.count ? TG_MAX(want.max, v) : v;
		want.first = want.count++ ? want.first : v;
		want.last = v;
	}
	e->same &= g->first_ns == want.first_ns && g->last_ns == want.last_ns &&
		   g->count == want.count;
	if (g->count)
		e->same &= g->min == want.min && g->max == want.max && g->first == want.first &&
			   g->last == want.last;
	e->groups++;
	e->rows += g->rows;
	e->from_summary += g->rows >= 100;
	return 0;
}

#define BLOCKS 150

static void round_trip(const char *path, uint64_t seed)
{
	uint32_t n_columns = 1 + (uint32_t)(t_random(&seed) % 40);
	struct tg_column *column = tg_xcalloc(n_columns, sizeof(*column));
	uint32_t *list = tg_xcalloc(n_columns + 2, sizeof(*list));
	int64_t *state = tg_xcalloc(n_columns, sizeof(*state));
	struct tg_block *block[BLOCKS];
	struct expect e = { .block = block, .n_blocks = BLOCKS, .column = list, .same = true };
	struct tg_err err = { 0 };
	struct tg_writer *w = NULL;
	struct tg_reader *r = NULL;
	const struct tg_table *t;
	int64_t at = (int64_t)(t_random(&seed) >> 20);
	struct tg_damage damage;
	uint64_t rows = 0;
	size_t n;

	r_columns(column, n_columns);
	unlink(path);
	T_EQ_I(tg_writer_open(&w, path, R_SESSION, &err), 0);
	T_EQ_I(tg_writer_table(w, 1, "main", column, n_columns), 0);
	for (int i = 0; i < BLOCKS; i++) {
		block[i] = r_block(
			1, n_columns, 1 + (uint32_t)(t_random(&seed) % 130), &at, state, &seed);
		rows += block[i]->n_rows;
		if (tg_writer_block(w, block[i]) < 0)
			T_OK(false);
	}
	if (seed % 2)
		T_EQ_I(tg_writer_finish(w), 0);
	else
		tg_writer_abandon(w);

	T_EQ_I(tg_reader_open(&r, path, &err), 0);
	t = tg_reader_tables(r, &n);
	T_EQ_I(n, 1);
	T_EQ_I(t->n_columns, n_columns);
	T_EQ_I(t->n_rows, rows);
	T_EQ_I(t->first_ns, block[0]->t_ns[0]);
	T_EQ_I(t->last_ns, at);
	/* all columns backwards, one of them twice; then one alone */
	for (uint32_t i = 0; i < n_columns; i++)
		list[i] = n_columns - 1 - i;
	list[n_columns] = n_columns / 2;
	e.n_columns = n_columns + 1;
	T_EQ_I(tg_reader_blocks(r, t, list, e.n_columns, INT64_MIN, INT64_MAX, compare, &e), 0);
	T_OK(e.same);
	T_EQ_I(e.rows, rows);
	e.n_columns = 1;
	e.at_block = e.at_row = 0;
	e.rows = 0;
	list[0] = (uint32_t)(seed % n_columns);
	T_EQ_I(tg_reader_blocks(r, t, list, 1, INT64_MIN, INT64_MAX, compare, &e), 0);
	if (!T_OK(e.same && e.rows == rows))
		fprintf(stderr, "# seed %" PRIu64 "\n", seed);
	for (uint32_t c = 0; c < n_columns; c++) {
		struct tiles tiles = {
			.block = block, .n_blocks = BLOCKS, .column = c, .same = true
		};

		if (tg_reader_groups(r, t, c, INT64_MIN, INT64_MAX, compare_group, &tiles) ||
			!tiles.same || tiles.rows != rows || tiles.from_summary < rows / 100 / 5) {
			T_OK(false);
			fprintf(stderr, "# groups of column %u, seed %" PRIu64 "\n", c, seed);
		}
	}
	T_EQ_I(tg_reader_verify(r, &damage), 0);
	T_OK(!damage.holes && !damage.lost_chunks && !damage.tail_bytes);
	T_EQ_I(damage.chunks, tg_reader_damage(r)->chunks);
	tg_reader_close(r);
	for (int i = 0; i < BLOCKS; i++)
		tg_block_free(block[i]);
	free(column);
	free(list);
	free(state);
}

static int count_rows(void *ctx, const struct tg_block *got)
{
	*(uint64_t *)ctx += got->n_rows;
	return 0;
}

/* One writer a file, also where the other one's locks are in another folder. */
static void test_one_writer(const char *path)
{
	struct tg_writer *w = NULL, *other = NULL;
	struct tg_err err = { 0 };
	struct tg_reader *r = NULL;

	unlink(path);
	T_EQ_I(tg_writer_open(&w, path, R_SESSION, NULL), 0);
	T_EQ_I(tg_writer_open(&other, path, R_SESSION, &err), -EEXIST);
	T_OK(strstr(err.text, "being written by another") != NULL);
	T_EQ_I(tg_writer_finish(w), 0);
	T_EQ_I(tg_reader_open(&r, path, NULL), 0);
	tg_reader_close(r);
	T_EQ_I(tg_writer_open(&other, path, R_SESSION, NULL), 0);
	T_EQ_I(tg_writer_finish(other), 0);
}

static void test_window(const char *path)
{
	struct tg_column column[3] = { 0 };
	struct tg_block *b = tg_block_new(1, 3, 1000);
	struct tg_writer *w = NULL;
	struct tg_reader *r = NULL;
	const struct tg_table *t;
	uint32_t list[] = { 1, 9 };
	uint64_t rows = 0;
	int64_t row[3] = { 0 };
	size_t n;

	unlink(path);
	r_columns(column, 3);
	T_EQ_I(tg_writer_open(&w, path, R_SESSION, NULL), 0);
	T_EQ_I(tg_writer_table(w, 1, "main", column, 3), 0);
	T_EQ_I(tg_writer_table(w, 1, "main", column, 3), -EINVAL);
	T_EQ_I(tg_writer_block(w, b), 0); /* no rows: nothing */
	for (int k = 0; k < 10; k++) {
		b->n_rows = 0;
		for (int i = 0; i < 100; i++)
			tg_block_add(b, k * 1000 + i * 10, row);
		T_EQ_I(tg_writer_block(w, b), 0);
	}
	b->t_ns[50] = 0; /* backwards */
	T_EQ_I(tg_writer_block(w, b), -EINVAL);
	b->table = 2; /* unknown */
	T_EQ_I(tg_writer_block(w, b), -EINVAL);
	T_EQ_I(tg_writer_finish(w), 0);

	T_EQ_I(tg_reader_open(&r, path, NULL), 0);
	t = tg_reader_tables(r, &n);
	T_EQ_I(tg_reader_blocks(r, t, list, 1, 2990, 4000, count_rows, &rows), 0);
	T_EQ_I(rows, 300); /* whole chunks that touch the window */
	T_EQ_I(tg_reader_blocks(r, t, list, 2, 0, 1, count_rows, &rows), -EINVAL);
	T_EQ_S(t->column[2].metric->name, "core.busy_pct");
	T_EQ_S(t->column[2].metric->unit, "pct");
	T_EQ_S(t->column[2].instance, "cpu0");
	T_EQ_I(t->column[2].metric->scale, -2);
	T_EQ_I(t->column[0].metric->kind, TG_COUNTER);
	T_EQ_I(t->column[2].metric->scope, TG_SCOPE_NODE);
	T_EQ_S(t->name, "main");
	T_OK(tg_reader_damage(r)->ended);
	tg_reader_close(r);
	tg_block_free(b);
}

static int add_event(void *ctx, uint32_t session, const char *json, size_t len)
{
	tg_buf_addf(ctx, "%u %.*s|", session, (int)len, json);
	return json[len] != '\0';
}

static void test_sessions(const char *path)
{
	static const char first[] = "{\"ev\":\"begin\",\"t\":1,\"span\":1,\"kind\":\"run\"}\n"
				    "{\"ev\":\"birth\",\"t\":1,\"entity\":7}\n"
				    "{\"ev\":\"begin\",\"t\":2,\"span\":4,\"kind\":\"cell\"}\n";
	static const char second[] = "{\"ev\":\"note\",\"t\":3,\"text\":\"\\\"begin\\\"\"}\n";
	struct tg_buf events = TG_BUF_INIT;
	struct tg_err err = { 0 };
	struct tg_writer *w = NULL;
	struct tg_reader *r = NULL;
	const struct tg_session *s;
	struct tg_column column[2] = { 0 };
	struct tg_json *json;
	struct stat st;
	size_t n;

	unlink(path);
	r_columns(column, 2);
	T_EQ_I(tg_writer_open(&w, path, R_SESSION, &err), 0);
	T_OK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	T_EQ_I(tg_writer_next_span(w), 1);
	T_EQ_I(tg_writer_next_entity(w), 1);
	T_EQ_I(tg_writer_next_table(w), 1);
	T_EQ_I(tg_writer_events(w, first, sizeof(first) - 1), 0);
	T_EQ_I(tg_writer_events(w, first, sizeof(first) - 2), -EINVAL); /* no newline */
	T_EQ_I(tg_writer_table(w, 3, "main", column, 2), 0);
	T_OK(stat(path, &st) == 0 && st.st_size == tg_writer_offset(w));
	tg_writer_abandon(w);

	T_EQ_I(tg_writer_open(&w, path, R_SESSION, &err), 0);
	T_EQ_I(tg_writer_session(w), 2);
	T_EQ_I(tg_writer_next_span(w), 5);
	T_EQ_I(tg_writer_next_entity(w), 8);
	T_EQ_I(tg_writer_next_table(w), 4);
	T_EQ_I(tg_writer_table(w, 3, "main", column, 2), -EINVAL); /* of session 1 */
	T_EQ_I(tg_writer_events(w, second, sizeof(second) - 1), 0);
	T_EQ_I(tg_writer_finish(w), 0);

	T_EQ_I(tg_writer_open(&w, path, "{\"host\":\"node2\",\"boot_id\":\"b-1\"}", &err), -EEXIST);
	T_OK(strstr(err.text, "another host") != NULL);
	T_EQ_I(tg_writer_open(&w, path, "{\"host\":\"node1\",\"boot_id\":\"b-2\"}", &err), -EEXIST);
	T_EQ_I(tg_writer_open(&w, path, "{}", &err), -EEXIST);

	T_EQ_I(tg_reader_open(&r, path, &err), 0);
	s = tg_reader_sessions(r, &n);
	T_EQ_I(n, 2);
	T_EQ_I(s[1].number, 2);
	json = tg_json_parse(s[1].json, strlen(s[1].json), NULL);
	T_EQ_I(tg_json_int(tg_json_get(json, "session"), 0), 2);
	T_EQ_S(tg_json_str(tg_json_get(json, "host"), ""), "node1");
	tg_json_free(json);
	T_EQ_I(tg_reader_events(r, add_event, &events), 0);
	T_EQ_S(events.data, "1 {\"ev\":\"begin\",\"t\":1,\"span\":1,\"kind\":\"run\"}|"
			    "1 {\"ev\":\"birth\",\"t\":1,\"entity\":7}|"
			    "1 {\"ev\":\"begin\",\"t\":2,\"span\":4,\"kind\":\"cell\"}|"
			    "2 {\"ev\":\"note\",\"t\":3,\"text\":\"\\\"begin\\\"\"}|");
	T_EQ_I(tg_reader_damage(r)->holes, 0);
	tg_reader_close(r);
	tg_buf_release(&events);

	/* foreign files are never appended to */
	r_spew(path, "precious", 8);
	T_EQ_I(tg_writer_open(&w, path, R_SESSION, &err), -EEXIST);
	T_OK(stat(path, &st) == 0 && st.st_size == 8);
	T_EQ_I(tg_reader_open(&r, path, &err), -EBADMSG);
	T_OK(strstr(err.text, "is not a recording") != NULL);
	unlink(path);
	T_OK(symlink("/tmp/nowhere", path) == 0);
	T_EQ_I(tg_writer_open(&w, path, R_SESSION, &err), -EEXIST);
	unlink(path);
	T_EQ_I(tg_reader_open(&r, path, &err), -ENOENT);
	T_EQ_I(tg_reader_open(&r, "/tmp", &err), -EISDIR);
}

#define LONG_COLUMNS 40

static uint64_t write_long(struct tg_writer *w, uint32_t table, int64_t *t)
{
	struct tg_column column[LONG_COLUMNS] = { 0 };
	int64_t state[LONG_COLUMNS] = { 0 };
	uint64_t seed = 7, rows = 0;

	r_columns(column, LONG_COLUMNS);
	T_EQ_I(tg_writer_table(w, table, "main", column, LONG_COLUMNS), 0);
	for (int i = 0; i < 900; i++) {
		struct tg_block *b = r_block(table, LONG_COLUMNS, 100, t, state, &seed);

		rows += b->n_rows;
		if (tg_writer_block(w, b) < 0)
			T_OK(false);
		tg_block_free(b);
	}
	return rows;
}

static int add_group_rows(void *ctx, const struct tg_group *g)
{
	*(uint64_t *)ctx += g->rows;
	return 0;
}

/* Open, and count the rows of all tables in both ways. Returns the holes that were found. */
static uint64_t check_long(const char *path, uint64_t rows, uint64_t *lost)
{
	const uint32_t column = 5;
	uint64_t by_block = 0, by_group = 0, by_table = 0, holes;
	struct tg_reader *r = NULL;
	const struct tg_table *t;
	struct tg_damage damage;
	size_t n;

	T_EQ_I(tg_reader_open(&r, path, NULL), 0);
	t = tg_reader_tables(r, &n);
	for (size_t i = 0; i < n; i++) {
		by_table += t[i].n_rows;
		tg_reader_groups(r, &t[i], column, INT64_MIN, INT64_MAX, add_group_rows, &by_group);
		tg_reader_blocks(r, &t[i], &column, 1, INT64_MIN, INT64_MAX, count_rows, &by_block);
	}
	T_EQ_I(by_table, rows);
	T_EQ_I(by_group, rows);
	T_EQ_I(by_block, rows);
	holes = tg_reader_damage(r)->holes;
	*lost = tg_reader_damage(r)->lost_chunks;
	T_EQ_I(tg_reader_verify(r, &damage), 0);
	if (!holes && !*lost)
		T_EQ_I(tg_reader_damage(r)->chunks, damage.chunks);
	tg_reader_close(r);
	return holes;
}

/* Long enough that files without an end chunk are opened from their last summary as well. */
static void test_long(const char *path)
{
	struct tg_writer *w = NULL;
	struct tg_buf b;
	size_t summary;
	uint8_t *head;
	int64_t t = 0;
	uint64_t rows, lost;

	unlink(path);
	T_EQ_I(tg_writer_open(&w, path, R_SESSION, NULL), 0);
	rows = write_long(w, 1, &t);
	T_OK(tg_writer_offset(w) > 4 << 20);
	tg_writer_abandon(w);
	T_EQ_I(check_long(path, rows, &lost), 0);
	T_EQ_I(lost, 0);
	T_EQ_I(tg_writer_open(&w, path, R_SESSION, NULL), 0);
	rows += write_long(w, 2, &t);
	T_EQ_I(tg_writer_finish(w), 0);
	T_EQ_I(check_long(path, rows, &lost), 0);
	T_EQ_I(lost, 0);

	/* where the first summary is */
	b = r_slurp(path);
	for (summary = 0; (uint8_t)b.data[summary + 5] != TG_CHUNK_SUMMARY;)
		summary += TG_CHUNK_HEADER + tg_get32((const uint8_t *)b.data + summary + 12);
	/* in a part of column 5: groups come from the rows, the damage is counted */
	head = (uint8_t *)b.data + summary + TG_CHUNK_HEADER;
	head[tg_get32(head + TG_SUMMARY_PREFIX + tg_get32(head + 8) + 4 * 5) + 5] ^= 1;
	r_spew(path, b.data, b.len);
	T_EQ_I(check_long(path, rows, &lost), 0);
	T_EQ_I(lost, 1);
	/* in its head: the chain is broken, the file is scanned */
	b.data[summary + TG_CHUNK_HEADER + 30] ^= 1;
	r_spew(path, b.data, b.len);
	T_EQ_I(check_long(path, rows, &lost), 1);
	T_EQ_I(lost, 1);
	tg_buf_release(&b);
}

/* A reader that was there before the second session sees it, tables, summaries and end. */
static void test_live(const char *path)
{
	const uint32_t column = 0;
	uint64_t first, second, by_block = 0, by_group = 0;
	struct tg_writer *w = NULL;
	struct tg_reader *r = NULL;
	const struct tg_table *t;
	int64_t at = 0;
	size_t n;

	unlink(path);
	T_EQ_I(tg_writer_open(&w, path, R_SESSION, NULL), 0);
	first = write_long(w, 1, &at);
	T_EQ_I(tg_writer_finish(w), 0);
	T_EQ_I(tg_reader_open(&r, path, NULL), 0);
	T_EQ_I(tg_reader_refresh(r), 0);
	T_EQ_I(tg_writer_open(&w, path, R_SESSION, NULL), 0);
	T_EQ_I(tg_reader_refresh(r), 1);
	T_OK(!tg_reader_damage(r)->ended);
	second = write_long(w, 2, &at);
	T_OK(tg_reader_refresh(r) > 900);
	tg_reader_sessions(r, &n);
	T_EQ_I(n, 2);
	t = tg_reader_tables(r, &n);
	T_EQ_I(n, 2);
	T_EQ_I(t[0].n_rows, first);
	T_EQ_I(t[1].n_rows, second);
	T_EQ_I(t[1].session, 2);
	tg_reader_groups(r, &t[1], column, INT64_MIN, INT64_MAX, add_group_rows, &by_group);
	tg_reader_blocks(r, &t[1], &column, 1, INT64_MIN, INT64_MAX, count_rows, &by_block);
	T_EQ_I(by_group, second);
	T_EQ_I(by_block, second);
	T_EQ_I(tg_writer_finish(w), 0);
	T_EQ_I(tg_reader_refresh(r), 2); /* summary and end */
	T_OK(tg_reader_damage(r)->ended);
	T_EQ_I(tg_reader_damage(r)->holes + tg_reader_damage(r)->lost_chunks, 0);
	tg_reader_close(r);
}

struct cells {
	const struct tg_process_block *want;
	size_t at;
	bool same;
};

static int compare_cell(void *ctx, const struct tg_process_cell *c)
{
	struct cells *e = ctx;
	const struct tg_process_cell *want = &e->want->cell[e->at++];

	e->same &= c->t_ns == want->t_ns && c->entity == want->entity && c->field == want->field &&
		   c->value == want->value;
	return 0;
}

static void test_processes(const char *path)
{
	struct tg_process_block *b = tg_process_block_new();
	struct cells e = { .want = b, .same = true };
	struct tg_writer *w = NULL;
	struct tg_reader *r = NULL;
	uint64_t seed = 11;

	/* more than one chunk takes */
	for (int64_t i = 0; i < 300000; i++) {
		struct tg_process_cell cell = { .t_ns = i / 50 * 100000000,
			.entity = (uint32_t)(t_random(&seed) % 3000),
			.field = (uint32_t)(i % TG_PROCESS_FIELDS),
			.value = i % 17 ? i * 1000 : TG_MISSING };

		tg_process_block_add(b, &cell);
	}
	b->cell[7].entity = UINT32_MAX;
	unlink(path);
	T_EQ_I(tg_writer_open(&w, path, R_SESSION, NULL), 0);
	T_EQ_I(tg_writer_processes(w, b), 0);
	T_EQ_I(tg_writer_finish(w), 0);
	T_EQ_I(tg_reader_open(&r, path, NULL), 0);
	T_EQ_I(tg_reader_processes(r, 1, INT64_MIN, INT64_MAX, compare_cell, &e), 0);
	T_EQ_I(e.at, b->n);
	T_OK(e.same);
	e.at = 100;
	T_EQ_I(tg_reader_processes(r, 1, 200000000, 300000000, compare_cell, &e), 0);
	T_EQ_I(e.at, 200);
	T_OK(e.same);
	T_EQ_I(tg_reader_processes(r, 2, INT64_MIN, INT64_MAX, compare_cell, &e), 0);
	T_EQ_I(e.at, 200);
	tg_reader_close(r);
	tg_process_block_free(b);
}

static void test_crc(void)
{
	char data[300];
	uint64_t seed = 3;
	size_t bad = 0;

	/* the check value of CRC-32C in the catalogues, and RFC 3720 B.4: 32 bytes of zeros */
	T_EQ_I(tg_crc32c(0, "123456789", 9), 0xe3069283);
	memset(data, 0, sizeof(data));
	T_EQ_I(tg_crc32c(0, data, 32), 0x8a9136aa);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)t_random(&seed);
	for (size_t from = 0; from < 16; from++)
		for (size_t len = 0; len < sizeof(data) - 16; len++) {
			uint32_t crc = tg_crc32c(0, data + from, len);

			bad += crc != tg_crc32c_portable(0, data + from, len);
			bad += crc != tg_crc32c(tg_crc32c(0, data + from, len / 3),
					      data + from + len / 3, len - len / 3);
		}
	T_EQ_I(bad, 0);
}

static void test_varint(void)
{
	static const int64_t v[] = { 0, -1, 1, 63, -64, 64, 8191, INT64_MAX, INT64_MIN };
	uint8_t raw[TG_VARINT_MAX + 1];
	uint64_t u;
	int64_t got = 0;

	for (size_t i = 0; i < TG_ARRAY_SIZE(v); i++) {
		uint8_t *end = tg_put_svar(raw, v[i]);

		T_OK(end - raw <= TG_VARINT_MAX && tg_get_svar(raw, end, &got) == end);
		T_EQ_I(got, v[i]);
		T_OK(tg_get_svar(raw, end - 1, &got) == NULL); /* cut */
	}
	memset(raw, 0x80, sizeof(raw)); /* never ends */
	T_OK(tg_get_uvar(raw, raw + sizeof(raw), &u) == NULL);
	T_EQ_I(tg_wrap_sub(INT64_MIN, INT64_MAX), 1);
	T_EQ_I(tg_wrap_add(INT64_MAX, 1), INT64_MIN);
}

/* Births in the form in which they are written here are not parsed: the same as in any other. */
static void test_birth_forms(void)
{
	static const struct {
		const char *line;
		uint32_t next;
	} form[] = {
		{ "{\"ev\":\"birth\",\"t\":12,\"entity\":41,\"pid\":7}\n", 42 },
		{ "{\"ev\":\"birth\",\"t\":12,\"entity\":41}\n", 42 },
		{ "{\"entity\": 41, \"t\": 12, \"ev\": \"birth\"}\n", 42 },
		{ "{\"ev\":\"birth\",\"t\":-5,\"entity\":41,\"pid\":7}\n", 42 },
		{ "{\"ev\":\"birth\",\"t\":12,\"entity\":4294967294}\n", 4294967295 },
		{ "{\"ev\":\"birth\",\"t\":12,\"entity\":4294967295}\n", 1 },
		{ "{\"ev\":\"birth\",\"t\":12,\"entity\":41e1}\n", 1 }, /* no integer */
		{ "{\"ev\":\"birth\",\"t\":12,\"entity\":\"41\"}\n", 1 },
		{ "{\"ev\":\"birth\",\"t\":12,\"entity\":41", 1 }, /* cut */
		{ "{\"ev\":\"birth\",\"t\":12,\"entity\":", 1 },
		{ "{\"ev\":\"death\",\"t\":12,\"entity\":41}\n", 1 },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(form); i++) {
		struct tg_spans s;

		tg_spans_init(&s);
		tg_spans_look(&s, form[i].line, strlen(form[i].line));
		T_EQ_I(s.next_entity, form[i].next);
		tg_spans_release(&s);
	}
}

int main(void)
{
	char dir[] = "/tmp/tg-test-XXXXXX", path[64];

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/x.tacho", dir);
	for (uint64_t seed = 1; seed <= 20; seed++)
		round_trip(path, seed * UINT64_C(0x9e3779b97f4a7c15));
	test_crc();
	test_varint();
	test_one_writer(path);
	test_window(path);
	test_sessions(path);
	test_processes(path);
	test_long(path);
	test_live(path);
	unlink(path);
	rmdir(dir);
	test_birth_forms();
	return t_done();
}
