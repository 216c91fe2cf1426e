/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which moments of a recording are told with which spans. The one place that knows: whatever shows
 * spans asks here.
 */
#ifndef TG_ANALYZE_MOMENTS_H
#define TG_ANALYZE_MOMENTS_H

#include "analyze/recording.h"

/*
 * Give each moment its run: of its session the last that had begun by then (a moment may be stamped
 * a little later than the end of its run), else the last of the sessions before. Part of
 * tg_recording_load().
 */
void tg_moments_find_runs(struct tg_recording *r);

/*
 * The moments of this kind ("mark", "root_end") in the runs that the spans belong to. *out is an
 * array of pointers into `r`, in order of time, that the caller frees. Returns their number.
 */
size_t tg_moments_of(const struct tg_recording *r, const char *what,
	const struct tg_span *const *span, size_t n, const struct tg_moment ***out);

/* The marks from `from_ns` to `to_ns` (UTC, both are in), in the same way. */
size_t tg_marks_of(const struct tg_recording *r, int64_t from_ns, int64_t to_ns,
	const struct tg_moment ***out);

#define TG_MOMENT_CHARS 100
#define TG_MARKS_TOLD   40 /* where they are listed or drawn; the rest is counted */

/* What it is called where it is shown: its name and attributes, "loaded rows=4000", bounded. */
void tg_moment_label(const struct tg_moment *m, struct tg_buf *out);

#endif
