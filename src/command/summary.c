/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/summary.h"

#include <errno.h>
#include <math.h>

#include "analyze/recording.h"
#include "analyze/requested.h"
#include "report/format.h"

#include "base/mem.h"

#define WAITS_CORES 0.05

static const struct tg_span *last_run(const struct tg_recording *r)
{
	for (size_t i = r->n_spans; i > 0; i--)
		if (!strcmp(r->span[i - 1].kind, "run"))
			return &r->span[i - 1];
	return NULL;
}

/* Programs whose work is done by others: on other machines, or below a service of this one. */
static const char *find_elsewhere(const struct tg_recording *r, uint32_t session)
{
	static const char *const name[] = { "sbatch", "srun", "salloc", "qsub", "bsub", "docker",
		"podman", "kubectl", "ssh" };

	for (size_t i = 0; i < r->n_lives; i++)
		for (size_t k = 0; k < TG_ARRAY_SIZE(name); k++)
			if (r->life[i].session == session && !strcmp(r->life[i].comm, name[k]))
				return name[k];
	return NULL;
}

static bool is_slurm(const char *program)
{
	return !strcmp(program, "sbatch") || !strcmp(program, "srun") || !strcmp(program, "salloc");
}

static void add_hint(struct tg_buf *out, const struct tg_recording *r, const struct tg_span *run,
	const struct tg_totals *t)
{
	const char *elsewhere =
		t->cores_mean < WAITS_CORES ? find_elsewhere(r, run->session) : NULL;

	if (elsewhere)
		tg_buf_addf(out,
			"  it waited for %s, whose work is done elsewhere and is not in here:\n"
			"  put \"tachograph record --\" before what runs there, as in "
			"examples/%s\n",
			elsewhere, is_slurm(elsewhere) ? "sbatch-array.sh" : "README.md");
}

/* "  read 12 MB, written 1.2 GB" where there is either. */
static void add_pair(
	struct tg_buf *out, const char *a, double bytes_a, const char *b, double bytes_b)
{
	if (!(bytes_a > 0) && !(bytes_b > 0))
		return;
	tg_buf_addf(out, "  %s ", a);
	tg_fmt_bytes(out, bytes_a);
	tg_buf_addf(out, ", %s ", b);
	tg_fmt_bytes(out, bytes_b);
	tg_buf_addc(out, '\n');
}

static void add_totals(struct tg_buf *out, const struct tg_span *run, const struct tg_totals *t)
{
	tg_buf_addf(out, "%s: ", run->name ? run->name : "run");
	tg_fmt_headline(out, t);
	for (size_t i = 0; i < t->n_verdicts; i++)
		tg_buf_addf(out, " · %s", t->verdict[i]);
	tg_buf_addc(out, '\n');
	tg_buf_adds(out, "  CPU time ");
	tg_fmt_seconds(out, t->cpu_s);
	if (!isnan(t->cpu_s) && !isnan(t->cores_allowed) && t->wall_s > 0) {
		tg_buf_adds(out, ", ");
		tg_fmt_pct(out, t->cores_mean, t->cores_allowed);
		tg_buf_adds(out, " of what is allowed");
	}
	tg_buf_addc(out, '\n');
	add_pair(out, "storage: read", t->read_bytes, "written", t->write_bytes);
	add_pair(out, "network of the machine: received", t->net_rx_bytes, "sent", t->net_tx_bytes);
}

static void add_part(
	struct tg_buf *out, double used, double of, void (*fmt)(struct tg_buf *out, double v))
{
	if (isnan(used) || isnan(of))
		return;
	tg_buf_adds(out, out->len ? ", " : "");
	tg_fmt_pct(out, used, of);
	tg_buf_adds(out, " of ");
	fmt(out, of);
}

/* "  of what was requested: 93 % of 8 cores, 12 % of 17.2 GB, 40 % of 2 h" */
static void add_efficiency(struct tg_buf *out, const struct tg_span *run, const struct tg_totals *t)
{
	struct tg_requested asked;
	struct tg_buf parts = TG_BUF_INIT;

	if (!tg_requested_of(run, &asked))
		return;
	add_part(&parts, t->cores_mean, asked.cpus, tg_fmt_cores);
	add_part(&parts, t->mem_peak_bytes, asked.memory_bytes, tg_fmt_bytes);
	add_part(&parts, t->wall_s, asked.time_s, tg_fmt_seconds);
	if (parts.len)
		tg_buf_addf(out, "  of what was requested: %s\n", parts.data);
	tg_buf_release(&parts);
}

int tg_summary(const char *file, struct tg_buf *out, struct tg_err *err)
{
	struct tg_recording *r;
	const struct tg_span *run;
	struct tg_totals t;
	int rc = tg_recording_open(&r, file, err);

	if (rc < 0)
		return rc;
	run = last_run(r);
	rc = run ? tg_totals_of(r, run, &t) : -ENODATA;
	if (rc == 0) {
		add_totals(out, run, &t);
		add_efficiency(out, run, &t);
		add_hint(out, r, run, &t);
	} else {
		tg_err_set(err, rc, "%s has no run: %s", file, strerror(-rc));
	}
	tg_buf_adds(out, "  recorded in ");
	tg_plain(out, file, strlen(file));
	tg_buf_addc(out, '\n');
	tg_recording_close(r);
	return rc;
}
