/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Totals of many spans of one recording are those of each span alone: whatever is kept between
 * spans, in whatever order they are asked for, and however the rows are cut into chunks.
 */
#include "run.h"

#include <stddef.h>

#include "analyze/totals.h"
#include "record/cache.h"
#include "record/reader_private.h"

#include "base/mem.h"

#define SPANS   400
#define COLUMNS 8
#define ROWS    3000

static const struct tg_metric metric[] = {
	{ "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	{ "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
	{ "tree.read_ops", "ops", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	{ "core.busy_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, NULL },
	{ "disk.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, NULL },
};

struct columns {
	struct tg_column c[COLUMNS];
};

/* Tables follow each other, each with its columns in another order. */
static struct columns columns_of(uint32_t table)
{
	struct columns all = { { { 0 } } };

	for (size_t i = 0; i < COLUMNS; i++) {
		all.c[i].metric = &metric[i < 4 ? (i + table) % 4 : 4];
		if (i >= 4)
			snprintf(all.c[i].instance, sizeof(all.c[i].instance), "sd%zu",
				(i + table) % 4);
	}
	return all;
}

/* Values follow from the metric and the time alone, but for what is missing now and then. */
static int64_t value_of(const struct tg_column *c, int64_t t, uint64_t u)
{
	int64_t s = (t - RUN_T0) / TG_NS_PER_MS;

	if (u % 9 == 0)
		return TG_MISSING;
	if (c->metric == &metric[1])
		return (int64_t)(u >> 8 & 0xffffff) * 4096;
	if (c->metric == &metric[0]) /* begins anew now and then */
		return s % 70000 * (1 + s % 3) * 300000;
	return s * (c->instance[0] ? c->instance[2] - '0' + 1 : 5) + (int64_t)(u >> 40 & 1);
}

static void write_spans(struct tg_writer *w, int64_t last)
{
	uint64_t seed = 5;

	for (int i = 0; i < SPANS; i++) {
		int64_t begin = RUN_T0 + (int64_t)(t_random(&seed) % (uint64_t)(last - RUN_T0));
		int64_t length = (int64_t)(t_random(&seed) % (i % 50 ? 400000000 : 90000000000));
		struct tg_buf b = TG_BUF_INIT;

		tg_buf_addf(&b,
			"{\"ev\":\"begin\",\"t\":%lld,\"span\":%d,\"kind\":\"task\",\"id\":\"%d\"}"
			"\n"
			"{\"ev\":\"birth\",\"t\":%lld,\"entity\":%d,\"pid\":%d,\"comm\":\"x\"}\n"
			"{\"ev\":\"death\",\"t\":%lld,\"entity\":%d,\"pid\":%d}\n"
			"{\"ev\":\"end\",\"t\":%lld,\"span\":%d,\"status\":\"ok\"}\n",
			(long long)begin, i + 1, i, (long long)begin + 50000000, i + 1, i + 1,
			(long long)begin + 90000000, i + 1, i + 1, (long long)(begin + length),
			i + 1);
		tg_writer_events(w, b.data, b.len);
		tg_buf_release(&b);
	}
}

/* The same rows in chunks of `rows`. */
static void write_many(const char *path, uint32_t rows)
{
	struct tg_process_block *peaks = tg_process_block_new();
	uint64_t seed = 11, other = 12;
	struct tg_err err = { 0 };
	struct tg_block *b = NULL;
	struct columns all;
	struct tg_writer *w;
	uint32_t table = 0;
	int64_t t = RUN_T0;

	unlink(path);
	if (tg_writer_open(&w, path, RUN_SESSION, &err) < 0) {
		fprintf(stderr, "# %s\n", err.text);
		exit(1);
	}
	for (int i = 0; i < ROWS; i++) {
		int64_t row[COLUMNS];

		if (i % 700 == 0) {
			if (b && b->n_rows)
				tg_writer_block(w, b);
			tg_block_free(b);
			all = columns_of(++table);
			tg_writer_table(w, table, "main", all.c, COLUMNS);
			b = tg_block_new(table, COLUMNS, rows);
		}
		/* in between lie rows at edges, which lack the node's columns */
		t += t_random(&seed) % 3 ? 100000000 : 900000;
		for (size_t c = 0; c < COLUMNS; c++)
			row[c] = value_of(&all.c[c], t, t_random(&seed));
		tg_block_add(b, t, row);
		if (b->n_rows == b->cap) {
			tg_writer_block(w, b);
			b->n_rows = 0;
		}
		tg_process_block_add(peaks,
			&(struct tg_process_cell){ t, 1 + (uint32_t)(t_random(&other) % SPANS),
				TG_PROCESS_HWM_BYTES, (int64_t)(t_random(&other) >> 28) });
	}
	tg_writer_block(w, b);
	tg_writer_processes(w, peaks);
	write_spans(w, t);
	tg_writer_finish(w);
	tg_block_free(b);
	tg_process_block_free(peaks);
}

static struct tg_recording *open_many(const char *path)
{
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };

	if (tg_recording_open(&r, path, &err) < 0) {
		fprintf(stderr, "# %s\n", err.text);
		exit(1);
	}
	return r;
}

/* Bit by bit: unknown is the same as unknown only. */
static bool same(const struct tg_totals *a, const struct tg_totals *b)
{
	return !memcmp(a, b, offsetof(struct tg_totals, samples)) && a->samples == b->samples &&
	       a->missed == b->missed && a->exact == b->exact && a->peak_exact == b->peak_exact &&
	       a->single == b->single && a->n_verdicts == b->n_verdicts;
}

static void test_many(void)
{
	struct tg_totals *want = tg_xcalloc(SPANS, sizeof(*want)), got;
	const char *path = run_path("many.tacho"), *other = run_path("cut.tacho");
	size_t known = 0, peaks = 0, ordered = 0, alone = 0, cut = 0;
	struct tg_recording *r;

	write_many(path, 23);
	write_many(other, 1);
	r = open_many(path);
	T_EQ_I(r->n_spans, SPANS);
	for (size_t i = 0; i < SPANS; i++) {
		if (tg_totals_of(r, &r->span[i], &want[i]) < 0)
			exit(1);
		known += !isnan(want[i].cpu_s) && !isnan(want[i].disk_read_bytes);
		peaks += want[i].rss_peak_bytes > 1e10; /* only a process' own can be that high */
	}
	T_OK(known > SPANS / 2);
	T_OK(peaks > SPANS / 10);
	for (size_t i = 0; i < SPANS; i++) {
		size_t k = i * 273 % SPANS;

		tg_totals_of(r, &r->span[k], &got);
		ordered += same(&got, &want[k]);
	}
	T_EQ_I(ordered, SPANS);
	tg_recording_close(r);
	for (size_t i = 0; i < SPANS; i += 4) {
		r = open_many(path);
		tg_totals_of(r, &r->span[i], &got);
		alone += same(&got, &want[i]);
		tg_recording_close(r);
	}
	T_EQ_I(alone, SPANS / 4);
	r = open_many(other);
	for (size_t i = 0; i < SPANS; i++) {
		tg_totals_of(r, &r->span[i], &got);
		cut += same(&got, &want[i]);
	}
	T_EQ_I(cut, SPANS);
	tg_recording_close(r);
	unlink(path);
	unlink(other);
	free(want);
}

/* A block that is told from others by what is in it. */
static struct tg_block *block_of(uint64_t offset, size_t n, uint32_t rows)
{
	struct tg_block *b = tg_block_new(1, (uint32_t)n, rows);

	b->n_rows = rows;
	for (size_t i = 0; i < n * rows; i++)
		b->values[i] = (int64_t)(offset * 1000 + i / rows);
	for (uint32_t i = 0; i < rows; i++)
		b->t_ns[i] = i;
	return b;
}

static void test_cache(void)
{
	static const uint32_t column[] = { 7, 2, 9 }, last[] = { 9 }, none[] = { 8 },
			      turned[] = { 2, 7, 9 };
	struct tg_cache c = { 0 };
	const struct tg_block *b;
	uint64_t held = 0, wrong = 0, most = 0;

	T_OK(!tg_cache_find(&c, 64, column, 3));
	b = tg_cache_put_take(&c, 64, column, 3, block_of(64, 3, 10));
	T_OK(tg_cache_find(&c, 64, column, 3) == b);
	T_OK(!tg_cache_find(&c, 65, column, 3));
	T_OK(!tg_cache_find(&c, 64, turned, 3) && !tg_cache_find(&c, 64, column, 2));
	T_OK(!tg_cache_find(&c, 64, none, 1));
	b = tg_cache_find(&c, 64, last, 1);
	T_OK(b && b->n_columns == 1 && b->n_rows == 10);
	T_OK(b && b->values[0] == 64002 && b->values[9] == 64002 && b->t_ns[9] == 9);
	/* far more than it may hold: what it has is right, and within its bound */
	for (uint64_t i = 1; i <= 10000; i++) {
		b = tg_cache_put_take(&c, i * 100, column, 3, block_of(i, 3, 1000));
		wrong += b->values[2000] != (int64_t)(i * 1000 + 2);
		most = TG_MAX(most, c.bytes);
	}
	for (uint64_t i = 1; i <= 10000; i++) {
		b = tg_cache_find(&c, i * 100, column, 3);
		held += b != NULL;
		wrong += b && b->values[1000] != (int64_t)(i * 1000 + 1);
	}
	T_EQ_I(wrong, 0);
	T_OK(held > 100 && held < 1000); /* a block is 32 kB */
	T_OK(most <= TG_CACHE_BYTES && most > TG_CACHE_BYTES / 2);
	tg_cache_release(&c);
	T_EQ_I(c.bytes, 0);
}

static int count_rows(void *ctx, const struct tg_block *b)
{
	*(uint64_t *)ctx += b->n_rows;
	return 0;
}

/* A chunk that is damaged between two openings is counted once, however often it is asked for. */
static void test_bad_block(void)
{
	const char *path = run_path("bad.tacho");
	struct tg_recording *r;
	const struct tg_table *t;
	uint64_t rows = 0, at;
	uint32_t column = 0;
	struct tg_totals totals;
	size_t n;
	FILE *f;

	run_write(path, 0);
	r = open_many(path);
	at = r->reader->index.table[0].places.p[4].offset;
	f = fopen(path, "r+");
	if (!f || fseek(f, (long)at + TG_CHUNK_HEADER + 30, SEEK_SET) || fputc('!', f) < 0)
		exit(1);
	fclose(f);
	for (int i = 0; i < 3; i++)
		for (size_t k = 0; k < r->n_spans; k++)
			tg_totals_of(r, &r->span[k], &totals);
	T_EQ_I(tg_reader_damage(r->reader)->lost_chunks, 1);
	t = tg_reader_tables(r->reader, &n);
	T_EQ_I(tg_reader_blocks(r->reader, t, &column, 1, INT64_MIN, INT64_MAX, count_rows, &rows),
		0);
	T_OK(rows > 0 && rows < t->n_rows);
	T_EQ_I(tg_reader_damage(r->reader)->lost_chunks, 1);
	tg_recording_close(r);
	unlink(path);
}

int main(void)
{
	test_many();
	test_cache();
	test_bad_block();
	rmdir(run_dir());
	return t_done();
}
