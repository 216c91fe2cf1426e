/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of what is read more seldom than the tree, and of what has a unit of its own. */
#include "run.h"

#include "analyze/totals.h"

#include "base/mem.h"

enum { CPU, HOME, SCRATCH, SENT, ENERGY, COLUMNS };

static const struct tg_metric metric[] = {
	{ "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	{ "nfs.wire_read_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, NULL },
	{ "nfs.wire_write_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0, NULL },
	{ "energy.cpu_j", "J", TG_COUNTER, TG_SCOPE_NODE, -6, NULL },
};

static const struct tg_column column[COLUMNS] = {
	[CPU] = { &metric[0], "" },
	[HOME] = { &metric[1], "/home" },
	[SCRATCH] = { &metric[1], "/scratch" },
	[SENT] = { &metric[2], "/home" },
	[ENERGY] = { &metric[3], "" },
};

/* Ten rows a second, of which one has what NFS says. */
static struct tg_recording *load(bool with_nfs)
{
	const char *path = run_path("run.tacho");
	struct tg_block *b = tg_block_new(1, COLUMNS, 128);
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };
	struct tg_writer *w;

	unlink(path);
	if (tg_writer_open(&w, path, RUN_SESSION, &err) < 0)
		exit(1);
	tg_writer_table(w, 1, "main", column, COLUMNS);
	for (int tick = 0; tick <= 100; tick++) {
		const int64_t ms = tick * 100;
		int64_t row[COLUMNS] = { ms * 1000000, ms, ms / 2, ms * 7, ms * 2000 };

		for (int i = HOME; i <= SENT && (tick % 10 || !with_nfs); i++)
			row[i] = TG_MISSING;
		tg_block_add(b, RUN_T0 + ms * 1000000, row);
	}
	tg_writer_block(w, b);
	run_begin(w, 1, 2.5, "\"count\":1");
	run_end(w, 1, 6.5, "ok");
	tg_writer_finish(w);
	tg_block_free(b);
	if (!T_OK(tg_recording_open(&r, path, &err) == 0))
		exit(1);
	return r;
}

int main(void)
{
	struct tg_recording *r = load(true);
	struct tg_totals t;

	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
	T_NEAR(t.cpu_s, 4, 1e-9);
	T_NEAR(t.nfs_read_bytes, 4000 + 2000, 1e-6); /* of all mounts */
	T_NEAR(t.nfs_write_bytes, 28000, 1e-6);
	T_NEAR(t.energy_j, 8, 1e-9);
	T_OK(t.exact); /* the job's own figures are */
	tg_recording_close(r);
	r = load(false);
	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
	T_OK(isnan(t.nfs_read_bytes) && isnan(t.nfs_write_bytes));
	tg_recording_close(r);
	unlink(run_path("run.tacho"));
	rmdir(run_dir());
	return t_done();
}
