/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The panels that there are for a time of a recording: which series each has, in which unit, with
 * which limit.
 */
#ifndef TG_REPORT_PANELS_H
#define TG_REPORT_PANELS_H

#include "analyze/recording.h"
#include "base/err.h"
#include "render/chart.h"

/* What is drawn, and where to. All is borrowed. */
struct tg_panels {
	const struct tg_recording *recording;
	struct tg_chart *chart;
	const char *list; /* "cpu,memory"; NULL: those that have something to show */
	bool node; /* the whole machine beside the job */
	size_t buckets; /* of a series at most */
	int64_t from_ns, to_ns; /* UTC */
	double cores_allowed, memory_limit_bytes; /* lines across; NaN: none */
	struct tg_buf *empty; /* gets the names in `list` that have nothing to show: "gpu, net" */
};

/* Add them to the chart. 0; -EINVAL with a sentence for one that does not exist; -errno of reading.
 */
int tg_panels_add(const struct tg_panels *w, struct tg_err *err);

/* Whether such a list asks for the panel of that name; no list (NULL) asks for every one. */
bool tg_panels_ask_for(const char *list, const char *name);

/* The unit in which `max` bytes have one to three digits; `factor` brings bytes into it. */
const char *tg_panels_byte_unit(double max, double *factor);

#endif
