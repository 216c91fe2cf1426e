/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a span cost: differences of counters between its edges, peaks and means within, for every
 * field of `show --json`. NaN is unknown and never turns into 0. A total is exact when a row was
 * taken at both edges: within 0.3 ms or a twentieth of the span; else it is interpolated. A span
 * that tells its own figures (figures.h) has these, and nothing from samples.
 */
#ifndef TG_ANALYZE_TOTALS_H
#define TG_ANALYZE_TOTALS_H

#include "analyze/recording.h"

#define TG_EDGE_NS      INT64_C(300000)
#define TG_VERDICTS_MAX 6

struct tg_totals {
	double wall_s;
	double cpu_s; /* of the tree */
	double cores_mean;
	double cores_max; /* of the rates between samples; the mean when `single` */
	double cores_allowed; /* limit in force, or NaN */
	double memory_limit_bytes;
	/* the most at one moment: PSS where it was known then, else RSS; see shares.h */
	double mem_peak_bytes;
	const char *mem_peak_is; /* "PSS", "RSS"; NULL: unknown */
	double rss_begin_bytes, rss_peak_bytes, vms_peak_bytes;
	double pss_peak_bytes; /* of the readings that were taken in the span */
	double pss_age_s; /* of the last of them, when the span ended */
	double mem_retained_bytes; /* RSS at the end less RSS at the beginning */
	double file_retained_bytes; /* of that, pages of files, which the kernel takes back */
	double read_bytes, write_bytes; /* of the tree, to and from storage */
	double rchar_bytes, wchar_bytes; /* of the tree, by system calls */
	double read_ops, write_ops;
	double disk_read_bytes, disk_write_bytes; /* of all disks of the machine */
	double net_rx_bytes, net_tx_bytes; /* of the machine's devices */
	double nfs_read_bytes, nfs_write_bytes; /* of the machine, over the wire */
	double gpus, gpu_util_mean_pct, gpu_mem_peak_bytes; /* of the job's GPUs: see gpus.h */
	double energy_j; /* of the machine's processors */
	double throttled_s;
	double oom_kills; /* processes of the control group, killed for want of memory */
	double unattributed_cpu_s; /* of cpu_s, what no process explains */
	double runqueue_s; /* in which the main thread waited for a core */
	double node_cpu_s, node_cores; /* of the machine, whoever used it */
	int64_t samples, missed;
	bool exact, peak_exact;
	bool cut; /* samples end well before the span does, so that the figures are the least */
	bool single; /* fewer than two samples between the edges: rates have a mean only */
	const char *verdict[TG_VERDICTS_MAX]; /* static strings */
	size_t n_verdicts, n_events; /* what happened comes first, then how the time was spent */
};

/* Returns 0 or -errno of reading; what the recording does not have is NaN in `out`. */
int tg_totals_of(struct tg_recording *r, const struct tg_span *span, struct tg_totals *out);

#endif
