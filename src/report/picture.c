/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/picture.h"

#include <errno.h>
#include <math.h>

#include "analyze/moments.h"
#include "analyze/together.h"
#include "report/bands.h"
#include "report/format.h"
#include "report/panels.h"

#include "base/mem.h"

#define BETWEEN_LEAST 0.02 /* time between the spans that is worth a word, to their own */

/* What is being drawn. */
struct work {
	const struct tg_picture *p;
	struct tg_chart *chart;
	int64_t from_ns, to_ns; /* UTC: the time that is drawn */
	struct tg_together sums; /* of the chosen spans alone */
	size_t n_undrawn; /* marks beyond TG_MARKS_TOLD */
	struct tg_buf empty; /* panels that were asked for in vain */
};

/* ---- words ---- */

static bool is_pss(const struct tg_totals *t)
{
	return t->mem_peak_is && !strcmp(t->mem_peak_is, "PSS");
}

/* "GB RSS": the unit of the list's peaks, with what they are if all are the same. */
static char *peak_unit(const struct tg_totals *t, size_t n, const char *unit)
{
	bool rss = false, pss = false;
	struct tg_buf b = TG_BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		pss |= is_pss(&t[i]);
		rss |= t[i].mem_peak_is && !is_pss(&t[i]);
	}
	tg_buf_addf(&b, "%s%s", unit, rss == pss ? "" : rss ? " RSS" : " PSS");
	return tg_buf_detach(&b);
}

/* Several cells: each on a line of its own with its CPU and memory. */
static int add_cells(struct work *w)
{
	struct tg_totals *t = tg_xcalloc(w->p->n_spans, sizeof(*t));
	struct tg_buf label = TG_BUF_INIT;
	double bytes = 0, factor;
	int rc = 0;

	for (size_t i = 0; i < w->p->n_spans && rc == 0; i++) {
		rc = tg_totals_of(w->p->recording, w->p->span[i], &t[i]);
		bytes = fmax(bytes, t[i].mem_peak_bytes);
	}
	w->chart->memory_unit =
		peak_unit(t, rc == 0 ? w->p->n_spans : 0, tg_panels_byte_unit(bytes, &factor));
	/* a full bar is all that is allowed; of memory, of which there is much, when near that */
	if (w->sums.totals.memory_limit_bytes <= 10 * bytes)
		w->chart->memory_full = w->sums.totals.memory_limit_bytes * factor;
	if (!isnan(w->sums.totals.cores_allowed))
		w->chart->cores_full = w->sums.totals.cores_allowed;
	for (size_t i = 0; i < w->p->n_spans && rc == 0; i++) {
		const struct tg_span *s = w->p->span[i];

		tg_buf_clear(&label);
		tg_span_label(s, &label);
		tg_chart_cell(w->chart, label.data, (double)(s->begin_utc_ns - w->from_ns) / 1e9,
			(double)(s->end_utc_ns - w->from_ns) / 1e9, t[i].cores_mean,
			t[i].mem_peak_bytes * factor, tg_span_failed(s));
	}
	tg_buf_release(&label);
	free(t);
	return rc;
}

static void add_words(struct work *w)
{
	const struct tg_span *first = w->p->span[0], *last = w->p->span[w->p->n_spans - 1];
	bool cells = !strcmp(first->kind, "cell");
	struct tg_buf b = TG_BUF_INIT;
	struct tg_damage damage;
	double between_s;

	if (cells)
		tg_buf_adds(&b, w->p->n_spans == 1 ? "Cell " : "Cells ");
	tg_span_label(first, &b);
	if (w->p->n_spans > 1) {
		tg_buf_adds(&b, w->p->n_spans == 2 ? ", " : " – ");
		tg_span_label(last, &b);
	}
	tg_buf_adds(&b, " · ");
	tg_fmt_headline(&b, &w->sums.totals);
	w->chart->headline = tg_buf_detach(&b);
	for (size_t i = 0; i < w->sums.totals.n_verdicts; i++)
		tg_buf_addf(&b, "%s%s", b.len ? " · " : "", w->sums.totals.verdict[i]);
	if (w->sums.totals.single)
		tg_buf_addf(
			&b, "%stoo short for a maximum: its rates are means", b.len ? " · " : "");
	if (!strcmp(last->status, "running")) {
		tg_buf_adds(&b, b.len ? " · " : "");
		tg_span_label(last, &b);
		tg_buf_adds(&b, " is running");
	}
	between_s = (double)(w->to_ns - w->from_ns) / 1e9 - w->sums.totals.wall_s;
	if (w->p->n_spans > 1 && between_s > BETWEEN_LEAST * w->sums.totals.wall_s) {
		tg_buf_addf(&b, "%sfigures are of the %s alone, without ", b.len ? " · " : "",
			cells ? "cells" : "spans");
		tg_fmt_seconds(&b, between_s);
		tg_buf_adds(&b, " between them");
	}
	if (w->empty.len)
		tg_buf_addf(&b, "%snothing to show for %s", b.len ? " · " : "", w->empty.data);
	if (w->n_undrawn) {
		tg_buf_adds(&b, b.len ? " · " : "");
		tg_fmt_count(&b, w->n_undrawn, "more mark");
		tg_buf_adds(&b, w->n_undrawn == 1 ? " is not drawn" : " are not drawn");
	}
	if (tg_recording_damage(w->p->recording, &damage))
		tg_buf_addf(&b, "%sthe file is damaged: samples are missing", b.len ? " · " : "");
	if (w->sums.totals.missed)
		tg_buf_addf(&b, "%s%lld %s late and left out", b.len ? " · " : "",
			(long long)w->sums.totals.missed,
			w->sums.totals.missed == 1 ? "sample was" : "samples were");
	if (b.len)
		w->chart->note = tg_buf_detach(&b);
	tg_buf_release(&b);
	w->chart->x_label = tg_xstrdup(
		w->p->n_spans > 1 ? cells ? "since the first cell" : "since the first span"
		: cells           ? "since the cell began"
				  : "since it began");
}

/* ---- the table ---- */

/* b: mean, highest, total, and what is to be said of them; each may be empty, and is afterwards. */
static void row(struct work *w, const char *what, struct tg_buf b[4])
{
	const char *cell[5] = { what };

	for (int i = 0; i < 4; i++)
		cell[i + 1] = b[i].len ? b[i].data : NULL;
	tg_chart_row(w->chart, cell);
	for (int i = 0; i < 4; i++)
		tg_buf_clear(&b[i]);
}

/* A rate over the spans, its highest value, and its total: "1.2 MB/s", "9 MB/s", "24 MB". */
static void traffic_row(
	struct work *w, const char *what, enum tg_traffic which, double bytes, struct tg_buf b[4])
{
	double mean = bytes / w->sums.totals.wall_s, max = w->sums.rate_max[which];
	bool of_job = which == TG_TRAFFIC_READ || which == TG_TRAFFIC_WRITE;

	if (!(bytes > 0))
		return;
	if (of_job)
		tg_fmt_about(&b[0], &w->sums.totals, mean);
	tg_fmt_bytes(&b[0], mean);
	tg_buf_adds(&b[0], "/s");
	if (!isnan(max)) {
		/* where samples were lost the highest rate was the mean at least */
		tg_fmt_bytes(&b[1], fmax(max, mean));
		tg_buf_adds(&b[1], "/s");
	}
	if (of_job)
		tg_fmt_about(&b[2], &w->sums.totals, bytes);
	tg_fmt_bytes(&b[2], bytes);
	row(w, what, b);
}

/* "76 % of 72 GB" */
static void add_of_limit(const struct tg_totals *t, struct tg_buf *out)
{
	if (isnan(t->memory_limit_bytes))
		return;
	tg_fmt_pct(out, t->mem_peak_bytes, t->memory_limit_bytes);
	tg_buf_adds(out, " of ");
	tg_fmt_bytes(out, t->memory_limit_bytes);
}

/* What the panels show, in figures. */
static void add_rows(struct work *w)
{
	const char *list = w->p->panels;
	const struct tg_totals *t = &w->sums.totals;
	struct tg_buf b[4] = { TG_BUF_INIT, TG_BUF_INIT, TG_BUF_INIT, TG_BUF_INIT };

	if (tg_panels_ask_for(list, "cpu") && !isnan(t->cpu_s)) {
		tg_fmt_about(&b[0], t, t->cores_mean);
		tg_fmt_cores(&b[0], t->cores_mean);
		if (!t->single)
			tg_fmt_cores(&b[1], t->cores_max);
		tg_fmt_about(&b[2], t, t->cpu_s);
		tg_fmt_number(&b[2], t->cpu_s);
		tg_buf_adds(&b[2], " core·s");
		if (!isnan(t->cores_allowed)) {
			tg_fmt_about(&b[3], t, t->cores_mean);
			tg_fmt_pct(&b[3], t->cores_mean, t->cores_allowed);
			tg_buf_adds(&b[3], " of ");
			tg_fmt_cores(&b[3], t->cores_allowed);
		}
		row(w, "CPU", b);
	}
	if (tg_panels_ask_for(list, "memory") && !isnan(t->rss_peak_bytes)) {
		if (!isnan(w->sums.rss_mean_bytes))
			tg_fmt_bytes(&b[0], w->sums.rss_mean_bytes);
		tg_fmt_bytes(&b[1], t->rss_peak_bytes);
		if (!is_pss(t))
			add_of_limit(t, &b[3]);
		row(w, "Memory RSS", b);
	}
	if (tg_panels_ask_for(list, "memory") && is_pss(t)) {
		tg_fmt_bytes(&b[1], t->mem_peak_bytes);
		add_of_limit(t, &b[3]);
		row(w, "Memory PSS", b);
	}
	if (tg_panels_ask_for(list, "io-bytes")) {
		traffic_row(w, "Disk read", TG_TRAFFIC_READ, t->read_bytes, b);
		traffic_row(w, "Disk write", TG_TRAFFIC_WRITE, t->write_bytes, b);
	}
	if (tg_panels_ask_for(list, "net")) {
		traffic_row(w, "Network receive", TG_TRAFFIC_RX, t->net_rx_bytes, b);
		traffic_row(w, "Network send", TG_TRAFFIC_TX, t->net_tx_bytes, b);
	}
	if (tg_panels_ask_for(list, "gpu") && !isnan(t->gpu_util_mean_pct)) {
		tg_fmt_number(&b[0], t->gpu_util_mean_pct);
		tg_buf_adds(&b[0], " %");
		row(w, "GPU busy", b);
	}
	if (tg_panels_ask_for(list, "gpu-memory") && !isnan(t->gpu_mem_peak_bytes)) {
		tg_fmt_bytes(&b[1], t->gpu_mem_peak_bytes);
		row(w, "GPU memory", b);
	}
	for (int i = 0; i < 4; i++)
		tg_buf_release(&b[i]);
}

static int unreadable(const struct tg_picture *p, int rc, struct tg_err *err)
{
	return tg_err_set(err, rc, "Cannot read %s: %s", p->recording->path, strerror(-rc));
}

static int draw(struct work *w, struct tg_err *err)
{
	const struct tg_picture *p = w->p;
	struct tg_chart *chart = w->chart;
	int rc = tg_together_of(p->recording, p->span, p->n_spans, &w->sums);

	w->from_ns = w->sums.from_ns;
	w->to_ns = w->sums.to_ns;
	if (rc < 0)
		return unreadable(p, rc, err);
	chart->t_end = (double)(w->to_ns - w->from_ns) / 1e9;
	rc = tg_panels_add(
		&(struct tg_panels){
			.recording = p->recording,
			.chart = chart,
			.list = p->panels,
			.node = p->node,
			.buckets = p->buckets,
			.smooth_s = p->smooth_s,
			.from_ns = w->from_ns,
			.to_ns = w->to_ns,
			.cores_allowed = w->sums.totals.cores_allowed,
			.memory_limit_bytes = w->sums.totals.memory_limit_bytes,
			.empty = &w->empty,
		},
		err);
	if (rc == -EINVAL)
		return rc;
	if (rc < 0)
		return unreadable(p, rc, err);
	if (!chart->n_panels)
		return tg_err_set(err, -ENOENT,
			"There is nothing to draw: no samples %s%s%s in that time",
			w->empty.len ? "for " : "", w->empty.data,
			w->empty.len ? "" : "were taken");
	if (p->n_spans > 1 && !p->panels)
		rc = add_cells(w);
	if (rc < 0)
		return unreadable(p, rc, err);
	tg_bands_add(chart, p->span, p->n_spans, w->from_ns);
	w->n_undrawn = tg_flags_add(chart, p->recording, w->from_ns, w->to_ns);
	add_words(w);
	add_rows(w);
	return 0;
}

int tg_picture_draw(const struct tg_picture *p, struct tg_chart *chart, struct tg_err *err)
{
	struct work w = { .p = p, .chart = chart, .empty = TG_BUF_INIT };
	int rc;

	*chart = (struct tg_chart){ 0 };
	rc = draw(&w, err);
	tg_buf_release(&w.empty);
	return rc;
}
