/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measured half of bench/recording: writes the same 100 columns as a recording, as CSV text or
 * as plain int64 rows (for other formats), and reads a long column through its summaries. The data
 * is a function of the row number's seed only: a 100 Hz signal, of which every k-th row is taken.
 * Prints one JSON object; CPU time is that of writing, without making the data.
 */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "record/reader.h"
#include "record/writer.h"

#include "base/mem.h"

#define COLUMNS 100
#define CORES   32
#define COUNT   24
#define MEMORY  16
#define CONST   15

static const struct tg_metric metric[] = {
	{ "core.busy_pct", "pct", TG_GAUGE, TG_SCOPE_NODE, -2, "busy part of one core" },
	{ "disk.bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, "bytes moved by a device" },
	{ "mem.used_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0, "memory in use" },
	{ "mem.fixed_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0, "a value that never changes" },
	{ "gpu.power_w", "w", TG_GAUGE, TG_SCOPE_NODE, -3, "power drawn" },
	{ "psi.us", "us", TG_COUNTER, TG_SCOPE_NODE, 0, "time stalled" },
};

struct signal {
	uint64_t seed;
	int64_t row, t_ns;
	int64_t level[CORES];
	bool on[COUNT];
	int64_t value[COLUMNS];
};

static uint64_t rnd(struct signal *s)
{
	s->seed ^= s->seed >> 12;
	s->seed ^= s->seed << 25;
	s->seed ^= s->seed >> 27;
	return s->seed * UINT64_C(2685821657736338717) >> 11;
}

/* Sum of four uniforms: near enough to a normal distribution of deviation `sigma`. */
static int64_t noise(struct signal *s, int64_t sigma)
{
	int64_t sum = 0;

	for (int i = 0; i < 4; i++)
		sum += (int64_t)(rnd(s) % 20001) - 10000;
	return sum * sigma / 11547;
}

static void step(struct signal *s)
{
	static const int64_t levels[] = { 0, 0, 50, 9900, 10000 };
	static const uint64_t on_pct[] = { 5, 30, 90 };
	int c = 0;

	s->t_ns = INT64_C(5000000000000) + s->row * 10000000 + (int64_t)(rnd(s) % 60000);
	for (int i = 0; i < CORES; i++, c++) {
		int64_t v;

		if (s->row % 500 == 0)
			s->level[i] = levels[rnd(s) % 5];
		v = s->level[i] ? s->level[i] + noise(s, 60) : 0;
		v = TG_MAX(INT64_C(0), TG_MIN(v, INT64_C(10000)));
		s->value[c] = v / 100 * 100;
	}
	for (int i = 0; i < COUNT; i++, c++) {
		if (s->row == 0)
			s->value[c] = INT64_C(100000000000);
		if (s->row % 200 == 0)
			s->on[i] = rnd(s) % 100 < on_pct[i % 3];
		if (s->on[i])
			s->value[c] += (int64_t)(rnd(s) % (i % 2 ? 2000000 : 10000000));
	}
	for (int i = 0; i < MEMORY; i++, c++) {
		if (s->row == 0)
			s->value[c] = INT64_C(8000000) * 1024;
		if (rnd(s) % 50 == 0)
			s->value[c] += ((int64_t)(rnd(s) % 9000) - 4000) * 1024;
	}
	for (int i = 0; i < CONST; i++, c++)
		s->value[c] = (int64_t[]){ 0, 1, 4096, 8 }[i % 4];
	for (int i = 0; c < COLUMNS; i++, c++) {
		if (i % 2)
			s->value[c] = 250000 + noise(s, 3000);
		else
			s->value[c] += (int64_t)(rnd(s) % 40);
	}
	s->row++;
}

static void columns(struct tg_column *column)
{
	for (int c = 0; c < COLUMNS; c++) {
		int m = c < CORES                            ? 0
			: c < CORES + COUNT                  ? 1
			: c < CORES + COUNT + MEMORY         ? 2
			: c < CORES + COUNT + MEMORY + CONST ? 3
							     : 5 - c % 2;

		column[c] = (struct tg_column){ .metric = &metric[m] };
		snprintf(column[c].instance, sizeof(column[c].instance), "dev%d", c);
	}
}

static struct signal *signal_new(void)
{
	struct signal *s = tg_xcalloc(1, sizeof(*s));

	s->seed = 88172645463325252ULL;
	return s;
}

static void next(struct signal *s, int every)
{
	for (int i = 0; i < every; i++)
		step(s);
}

static int64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? 0 : (int64_t)st.st_size;
}

static void result(const char *path, int64_t rows, int64_t cpu_ns)
{
	printf("{\"rows\":%lld,\"bytes\":%lld,\"cpu_ns\":%lld}\n", (long long)rows,
		(long long)size_of(path), (long long)cpu_ns);
}

static int write_recording(const char *path, int hz, int64_t rows)
{
	struct tg_column column[COLUMNS] = { 0 };
	struct signal *s = signal_new();
	struct tg_block *b = tg_block_new(1, COLUMNS, (uint32_t)hz);
	struct tg_writer *w = NULL;
	struct tg_err err = { 0 };
	int64_t cpu_ns = 0, start;
	int r = 0;

	unlink(path);
	columns(column);
	if (tg_writer_open(&w, path, "{\"host\":\"bench\",\"boot_id\":\"0\"}", &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	if (tg_writer_table(w, 1, "main", column, COLUMNS) < 0)
		return 1;
	for (int64_t i = 0; r == 0 && i < rows; i++) {
		next(s, 100 / hz);
		tg_block_add(b, s->t_ns, s->value);
		if (b->n_rows < b->cap && i + 1 < rows)
			continue;
		start = tg_thread_ns();
		r = tg_writer_block(w, b);
		cpu_ns += tg_thread_ns() - start;
		b->n_rows = 0;
	}
	start = tg_thread_ns();
	r |= tg_writer_finish(w);
	cpu_ns += tg_thread_ns() - start;
	result(path, rows, cpu_ns);
	tg_block_free(b);
	free(s);
	return r != 0;
}

static int write_csv(const char *path, int hz, int64_t rows)
{
	struct signal *s = signal_new();
	FILE *f = fopen(path, "w");
	int64_t cpu_ns = 0, start;

	if (!f)
		return 1;
	for (int64_t i = 0; i < rows; i++) {
		next(s, 100 / hz);
		start = tg_thread_ns();
		fprintf(f, "%lld", (long long)s->t_ns);
		for (int c = 0; c < COLUMNS; c++)
			fprintf(f, ",%lld", (long long)s->value[c]);
		fputc('\n', f);
		cpu_ns += tg_thread_ns() - start;
	}
	fclose(f);
	result(path, rows, cpu_ns);
	free(s);
	return 0;
}

/* Time stamp and values of each row, for Python. */
static int write_raw(const char *path, int hz, int64_t rows)
{
	struct signal *s = signal_new();
	FILE *f = fopen(path, "w");

	if (!f)
		return 1;
	for (int64_t i = 0; i < rows; i++) {
		next(s, 100 / hz);
		fwrite(&s->t_ns, 8, 1, f);
		fwrite(s->value, 8, COLUMNS, f);
	}
	fclose(f);
	result(path, rows, 0);
	free(s);
	return 0;
}

#define BUCKETS 2000

struct buckets {
	int64_t from_ns, span_ns;
	int64_t min[BUCKETS], max[BUCKETS];
	uint64_t groups, rows;
};

static int reduce(void *ctx, const struct tg_group *g)
{
	struct buckets *b = ctx;
	int64_t i = (g->first_ns - b->from_ns) / b->span_ns;

	b->groups++;
	b->rows += g->rows;
	if (!g->count || i < 0 || i >= BUCKETS)
		return 0;
	b->min[i] = TG_MIN(b->min[i], g->min);
	b->max[i] = TG_MAX(b->max[i], g->max);
	return 0;
}

static int read_groups(const char *path, uint32_t column)
{
	struct buckets *b = tg_xcalloc(1, sizeof(*b));
	struct tg_reader *r = NULL;
	const struct tg_table *t;
	struct tg_err err = { 0 };
	int64_t start = tg_mono_ns(), open_ns, read_ns = 0, cpu_ns = 0;
	int64_t cpu_start;
	size_t n;

	if (tg_reader_open(&r, path, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	open_ns = tg_mono_ns() - start;
	t = tg_reader_tables(r, &n);
	for (int k = 0; k < 2; k++) { /* the first reading warms up */
		b->from_ns = t->first_ns;
		b->span_ns = (t->last_ns - t->first_ns) / BUCKETS + 1;
		b->groups = b->rows = 0;
		for (int i = 0; i < BUCKETS; i++) {
			b->min[i] = INT64_MAX;
			b->max[i] = INT64_MIN;
		}
		start = tg_mono_ns();
		cpu_start = tg_thread_ns();
		if (tg_reader_groups(r, t, column, INT64_MIN, INT64_MAX, reduce, b) < 0)
			return 1;
		read_ns = tg_mono_ns() - start;
		cpu_ns = tg_thread_ns() - cpu_start;
	}
	printf("{\"rows\":%llu,\"groups\":%llu,\"open_ns\":%lld,\"read_ns\":%lld,"
	       "\"read_cpu_ns\":%lld}\n",
		(unsigned long long)b->rows, (unsigned long long)b->groups, (long long)open_ns,
		(long long)read_ns, (long long)cpu_ns);
	tg_reader_close(r);
	free(b);
	return 0;
}

int main(int argc, char **argv)
{
	int64_t rows = argc > 4 ? strtoll(argv[4], NULL, 10) : 0;
	int hz = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;

	if (argc == 5 && (hz == 100 || hz == 10) && !strcmp(argv[1], "recording"))
		return write_recording(argv[2], hz, rows);
	if (argc == 5 && (hz == 100 || hz == 10) && !strcmp(argv[1], "csv"))
		return write_csv(argv[2], hz, rows);
	if (argc == 5 && (hz == 100 || hz == 10) && !strcmp(argv[1], "raw"))
		return write_raw(argv[2], hz, rows);
	if (argc == 4 && !strcmp(argv[1], "groups"))
		return read_groups(argv[2], (uint32_t)strtol(argv[3], NULL, 10));
	fprintf(stderr, "usage: recording_bench recording|csv|raw FILE 100|10 ROWS\n"
			"       recording_bench groups FILE COLUMN\n");
	return 2;
}
