/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tests/golden/recording-v1.tacho must stay readable, to the same text, for as long as the product
 * reads format 1; and what the writer makes of the same content today must read the same. When the
 * format changes, `test_record_golden --write FILE` makes the next golden file; old ones stay.
 */
#include "recording.h"

#include <errno.h>

#include "record/format.h"

#include "base/mem.h"

#define COLUMNS 5

static const struct tg_metric cpu = { "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
	"CPU time of the tree" };
static const struct tg_metric rss = { "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
	"resident memory of the tree" };
static const struct tg_metric busy = { "core.busy_pct", "pct", TG_GAUGE, TG_SCOPE_NODE, -2,
	"busy part of one core" };
static const struct tg_metric self = { "self.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_SELF, 0,
	"CPU time of the recorder" };

static const struct tg_column main_column[COLUMNS] = { { &cpu, "" }, { &rss, "" },
	{ &busy, "cpu0" }, { &busy, "cpu1" }, { &self, "" } };

static void rows(struct tg_writer *w, uint32_t table, uint32_t n_columns, int chunks)
{
	struct tg_block *b = tg_block_new(table, n_columns, 2);
	int64_t t = INT64_C(5000000000);

	for (int64_t i = 0; i < 2 * chunks; i++) {
		int64_t row[COLUMNS] = { i * 9000000 + i % 3, INT64_C(1) << 33, i % 5 ? 9950 : 0,
			i < 40 || i % 2 ? TG_MISSING : -i,
			i == 7   ? INT64_MAX
			: i == 8 ? -1
				 : 5 };

		t += i % 10 == 9 ? 300000 : 10000000;
		tg_block_add(b, t, row);
		if (b->n_rows < b->cap)
			continue;
		T_EQ_I(tg_writer_block(w, b), 0);
		b->n_rows = 0;
	}
	tg_block_free(b);
}

static void events(struct tg_writer *w, const char *lines)
{
	T_EQ_I(tg_writer_events(w, lines, strlen(lines)), 0);
}

static void processes(struct tg_writer *w)
{
	static const struct tg_process_cell cell[] = {
		{ 5010000000, 1, TG_PROCESS_CPU_NS, 1000 },
		{ 5010000000, 1, TG_PROCESS_RSS_BYTES, 4096 },
		{ 5010000000, 2, TG_PROCESS_CPU_NS, 0 },
		{ 5020000000, 1, TG_PROCESS_CPU_NS, 9000 },
		{ 5020000000, 2, TG_PROCESS_READ_BYTES, TG_MISSING },
	};
	struct tg_process_block *b = tg_process_block_new();

	for (size_t i = 0; i < TG_ARRAY_SIZE(cell); i++)
		tg_process_block_add(b, &cell[i]);
	T_EQ_I(tg_writer_processes(w, b), 0);
	tg_process_block_free(b);
}

/* Two sessions: the first recorder is killed in a cell, the second ends properly. */
static void write_golden(const char *path)
{
	struct tg_writer *w = NULL;

	unlink(path);
	T_EQ_I(tg_writer_open(&w, path,
		       "{\"host\":\"n1\",\"boot_id\":\"b1\",\"time_zone\":\"Europe/Berlin\","
		       "\"real_ns\":1700000000000000000,\"mono_ns\":5000000000}",
		       NULL),
		0);
	T_EQ_I(tg_writer_table(w, 1, "main", main_column, COLUMNS), 0);
	events(w, "{\"ev\":\"begin\",\"t\":5000000000,\"span\":1,\"kind\":\"run\",\"name\":"
		  "\"demo\"}\n"
		  "{\"ev\":\"birth\",\"t\":5000000000,\"entity\":1,\"pid\":4242,\"comm\":"
		  "\"python3\"}\n"
		  "{\"ev\":\"begin\",\"t\":5000000100,\"span\":2,\"kind\":\"cell\",\"parent\":1,"
		  "\"code\":\"print('\\u00e4')\"}\n");
	processes(w);
	rows(w, 1, COLUMNS, 66);
	tg_writer_abandon(w);

	T_EQ_I(tg_writer_open(&w, path, "{\"host\":\"n1\",\"boot_id\":\"b1\"}", NULL), 0);
	T_EQ_I(tg_writer_next_span(w), 3);
	T_EQ_I(tg_writer_table(w, tg_writer_next_table(w), "slow", main_column, 2), 0);
	rows(w, 2, 2, 3);
	events(w, "{\"ev\":\"begin\",\"t\":5080000000,\"span\":3,\"kind\":\"cell\"}\n"
		  "{\"ev\":\"end\",\"t\":5090000000,\"span\":3,\"status\":\"ok\"}\n");
	T_EQ_I(tg_writer_finish(w), 0);
}

static void value(struct tg_buf *out, int64_t v)
{
	if (v == TG_MISSING)
		tg_buf_adds(out, " -");
	else
		tg_buf_addf(out, " %" PRId64, v);
}

static int dump_block(void *ctx, const struct tg_block *b)
{
	for (uint32_t i = 0; i < b->n_rows; i++) {
		tg_buf_addf(ctx, "row %" PRId64, b->t_ns[i]);
		for (uint32_t c = 0; c < b->n_columns; c++)
			value(ctx, b->values[(size_t)c * b->cap + i]);
		tg_buf_addc(ctx, '\n');
	}
	return 0;
}

static int dump_group(void *ctx, const struct tg_group *g)
{
	tg_buf_addf(ctx, "group %" PRId64 " %" PRId64 " %u %u", g->first_ns, g->last_ns, g->rows,
		g->count);
	value(ctx, g->count ? g->min : TG_MISSING);
	value(ctx, g->count ? g->max : TG_MISSING);
	value(ctx, g->count ? g->first : TG_MISSING);
	value(ctx, g->count ? g->last : TG_MISSING);
	tg_buf_addc(ctx, '\n');
	return 0;
}

static int dump_cell(void *ctx, const struct tg_process_cell *c)
{
	tg_buf_addf(ctx, "cell %" PRId64 " %u %u", c->t_ns, c->entity, c->field);
	value(ctx, c->value);
	tg_buf_addc(ctx, '\n');
	return 0;
}

static int dump_event(void *ctx, uint32_t session, const char *json, size_t len)
{
	tg_buf_addf(ctx, "event %u %.*s\n", session, (int)len, json);
	return 0;
}

static void dump_table(struct tg_reader *r, const struct tg_table *t, struct tg_buf *out)
{
	uint32_t all[COLUMNS];

	tg_buf_addf(out,
		"table %u of session %u: %s, %" PRIu64 " rows, %" PRId64 " to %" PRId64 "\n",
		t->number, t->session, t->name, t->n_rows, t->first_ns, t->last_ns);
	for (uint32_t c = 0; c < t->n_columns && c < COLUMNS; c++) {
		const struct tg_metric *m = t->column[c].metric;

		tg_buf_addf(out, "column %s %s[%s] kind %d scope %d scale %d: %s\n", m->name,
			m->unit, t->column[c].instance, m->kind, m->scope, m->scale, m->help);
		all[c] = c;
	}
	tg_reader_blocks(r, t, all, t->n_columns, INT64_MIN, INT64_MAX, dump_block, out);
	for (uint32_t c = 0; c < t->n_columns; c++)
		tg_reader_groups(r, t, c, INT64_MIN, INT64_MAX, dump_group, out);
}

static struct tg_buf dump(const char *path)
{
	struct tg_buf out = TG_BUF_INIT;
	const struct tg_session *s;
	struct tg_reader *r = NULL;
	struct tg_err err = { 0 };
	const struct tg_table *t;
	struct tg_damage d;
	size_t n;

	if (!T_OK(tg_reader_open(&r, path, &err) == 0)) {
		fprintf(stderr, "# %s\n", err.text);
		return out;
	}
	s = tg_reader_sessions(r, &n);
	for (size_t i = 0; i < n; i++)
		tg_buf_addf(&out, "session %u %s\n", s[i].number, s[i].json);
	for (size_t i = 0; i < n; i++)
		tg_reader_processes(r, s[i].number, INT64_MIN, INT64_MAX, dump_cell, &out);
	tg_reader_events(r, dump_event, &out);
	t = tg_reader_tables(r, &n);
	for (size_t i = 0; i < n; i++)
		dump_table(r, &t[i], &out);
	T_EQ_I(tg_reader_verify(r, &d), 0);
	tg_buf_addf(&out, "%" PRIu64 " chunks, %" PRIu64 " holes, %" PRIu64 " lost, ended %d\n",
		d.chunks, d.holes, d.lost_chunks, d.ended);
	tg_reader_close(r);
	return out;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/tg-test-XXXXXX", path[256];
	struct tg_buf golden, now, expected;

	if (argc == 3 && !strcmp(argv[1], "--write")) {
		write_golden(argv[2]);
		golden = dump(argv[2]);
		snprintf(path, sizeof(path), "%s.txt", argv[2]);
		r_spew(path, golden.data, golden.len);
		tg_buf_release(&golden);
		return t_done();
	}
	snprintf(path, sizeof(path), "%s/golden/recording-v1.tacho", t_dir());
	golden = dump(path);
	snprintf(path, sizeof(path), "%s/golden/recording-v1.txt", t_dir());
	expected = r_slurp(path);
	T_OK(expected.len > 0);
	T_EQ_S(golden.data, expected.data);

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/x.tacho", dir);
	write_golden(path);
	now = dump(path);
	T_EQ_S(now.data, expected.data);
	unlink(path);
	rmdir(dir);
	tg_buf_release(&golden);
	tg_buf_release(&expected);
	tg_buf_release(&now);
	return t_done();
}
