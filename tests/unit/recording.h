/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of recordings share: a metric list, random blocks, files in a temporary folder.
 * Everything is a function of its seed.
 */
#ifndef TG_TESTS_RECORDING_H
#define TG_TESTS_RECORDING_H

#include "tap.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "record/reader.h"
#include "record/writer.h"

#include "base/mem.h"

#define R_SESSION "{\"host\":\"node1\",\"boot_id\":\"b-1\",\"time_zone\":\"UTC\"}"

static const struct tg_metric r_metric[] = {
	{ "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, "CPU time of the tree" },
	{ "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "resident memory of the tree" },
	{ "core.busy_pct", "pct", TG_GAUGE, TG_SCOPE_NODE, -2, "busy part of a core" },
	{ "self.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_SELF, 0, NULL },
};

/* n columns: cpu, rss, core0, core1, ... */
static inline void r_columns(struct tg_column *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		c[i] = (struct tg_column){ .metric = &r_metric[i < 2 ? i : 2] };
		if (i >= 2)
			snprintf(c[i].instance, sizeof(c[i].instance), "cpu%zu", i - 2);
	}
}

/* One value of a column whose kind follows from its number; *state goes on. */
static inline int64_t r_value(uint32_t column, int64_t *state, uint64_t *seed)
{
	uint64_t u = t_random(seed);

	switch (column % 7) {
	case 0: /* counter */
		return *state += (int64_t)(u % 100000000);
	case 1: /* memory */
		return *state += u % 50 ? 0 : (int64_t)(u >> 20 & 0xfffff) - 0x80000;
	case 2: /* constant */
		return 4096;
	case 3: /* sometimes missing */
		return u % 3 ? *state += (int64_t)(u % 7) - 3 : TG_MISSING;
	case 4: /* never there */
		return TG_MISSING;
	case 5: /* extremes */
		return u % 4 == 0   ? INT64_MAX
		       : u % 4 == 1 ? INT64_MIN + 1
		       : u % 4 == 2 ? -1
				    : (int64_t)(u ^ u << 32);
	default: /* zero until something happens */
		return *state += u % 1000 == 0;
	}
}

/* A block of n rows; times go on from *t. */
static inline struct tg_block *r_block(
	uint32_t table, uint32_t n_columns, uint32_t n, int64_t *t, int64_t *state, uint64_t *seed)
{
	struct tg_block *b = tg_block_new(table, n_columns, n);
	int64_t *row = tg_xcalloc(n_columns + 1, sizeof(*row));

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t c = 0; c < n_columns; c++)
			row[c] = r_value(c, &state[c], seed);
		*t += 10000000 + (int64_t)(t_random(seed) % 60000);
		if (t_random(seed) % 64 == 0)
			*t -= 10000000; /* an edge row, soon after the one before */
		tg_block_add(b, *t, row);
	}
	free(row);
	return b;
}

/* The bytes of a file; caller releases. */
static inline struct tg_buf r_slurp(const char *path)
{
	struct tg_buf b = TG_BUF_INIT;

	if (tg_file_read(AT_FDCWD, path, 256u << 20, &b, NULL) < 0)
		fprintf(stderr, "# cannot read %s\n", path);
	return b;
}

static inline void r_spew(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || tg_file_write_all(fd, data, len) < 0)
		fprintf(stderr, "# cannot write %s\n", path);
	close(fd);
}

#endif
