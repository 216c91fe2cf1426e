/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A metric over a window of time: raw points across restarts of tables, counters as rates over the
 * true time between samples, and bins with minimum, maximum and mean that lose no spike.
 * Invariant: a line is never drawn, and a difference never taken, over a gap: each point says
 * whether it is joined to the one before it. Times are UTC ns of the session's own clock, so that
 * sessions follow each other on one axis.
 */
#ifndef TG_ANALYZE_SERIES_H
#define TG_ANALYZE_SERIES_H

#include "analyze/recording.h"
#include "base/clock.h"

/* Shortest time that a rate is taken over: CPU clocks move with the scheduler's tick only. */
#define TG_RATE_MIN_NS (20 * TG_NS_PER_MS)

/* More rows than this are read from summaries, when bins are longer than their groups. */
#define TG_SERIES_ROWS_MAX 400000

struct tg_series_point {
	int64_t t_ns;
	int64_t value;
	bool cut; /* nothing is known between the point before and this one */
};

struct tg_points {
	struct tg_series_point *point;
	size_t n, cap;
	enum tg_kind kind;
	int scale; /* value * 10^scale is in the metric's unit */
	/* of CPU time: what the machine can do in a second, and what is allowed; 0: no bound */
	double most_per_s, allowed_per_s;
};

void tg_points_release(struct tg_points *p);
void tg_points_add(struct tg_points *p, int64_t t_ns, int64_t value, bool cut);

/*
 * Load what [from_ns, to_ns] (UTC) needs: the points in it and the nearest one on either side.
 * `instance` NULL adds up all instances of the metric (disks, network devices), row by row.
 * `bins`: how many bins will be made of it; 0: all points are wanted, however many there are.
 * Returns 0 (p->n may be 0), -ENOENT when the recording has no such metric, or -errno.
 */
int tg_series_load(const struct tg_recording *r, const char *metric, const char *instance,
	int64_t from_ns, int64_t to_ns, size_t bins, struct tg_points *p);

/* Instances of a metric in any table, in order of appearance; caller frees list and names. */
size_t tg_series_instances(const struct tg_recording *r, const char *metric, char ***instance);

/* A stretch of time with one rate, in units per second. */
struct tg_rate {
	int64_t t0_ns, t1_ns;
	double per_s;
	bool cut; /* not joined to the one before */
};

struct tg_rates {
	struct tg_rate *rate;
	size_t n, cap;
};

/*
 * Turn a counter into rates over true time. Points closer than TG_RATE_MIN_NS are taken together; a
 * decrease starts anew. The sum of rate * time is the sum of the increases.
 *
 * CPU time is told in ticks, and late: what is above all that the machine can do was used before,
 * and goes there, else behind, as far as there is room between two cuts. The sum stays; only what
 * is more than all that time could hold is of the time before it, and left out. What is above the
 * allowed is treated so as far as TG_RATE_MIN_NS of it explain, and shown else: a quota is a mean
 * over its period, and some processes may be allowed more than others.
 */
void tg_rates_from(const struct tg_points *p, struct tg_rates *out);
void tg_rates_release(struct tg_rates *rates);

struct tg_bin {
	int64_t t0_ns, t1_ns;
	double min, max, mean; /* NaN in all three: nothing is known of this time */
};

/* Fill bin[0..n) over [from_ns, to_ns]; bin j covers from + span*j/n to from + span*(j+1)/n. */
void tg_bins_gauge(
	const struct tg_points *p, int64_t from_ns, int64_t to_ns, struct tg_bin *bin, size_t n);
void tg_bins_rate(
	const struct tg_rates *rates, int64_t from_ns, int64_t to_ns, struct tg_bin *bin, size_t n);

/* Either, by the kind of the points, with the scale applied (per second for counters). */
void tg_bins_from(
	const struct tg_points *p, int64_t from_ns, int64_t to_ns, struct tg_bin *bin, size_t n);

#endif
