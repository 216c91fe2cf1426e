/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/picture.h"

#include <errno.h>
#include <math.h>

#include "analyze/series.h"
#include "analyze/totals.h"
#include "analyze/window.h"
#include "command/format.h"

#include "base/mem.h"

#define CORES_MAX 64 /* lines in one panel */
#define BANDS_MAX 400

/* One line of a panel. `node` ones are drawn on demand, beside the job's. */
struct line {
	const char *metric;
	const char *name;
	enum tg_hue hue;
	unsigned style;
	bool node;
};

enum scaling { AS_CORES, AS_BYTES, AS_BYTES_PER_S, AS_PER_S };

struct plan {
	const char *name;
	const char *title;
	enum scaling scaling;
	bool each; /* a line for each instance of the first metric */
	bool usual; /* drawn when no list is given and there is something to see */
	struct line line[5];
};

#define BAND TG_STYLE_BAND
#define AREA TG_STYLE_AREA
#define DASH TG_STYLE_DASHED
#define PALE TG_STYLE_FAINT

static const struct plan plans[] = {
	{ "cpu", "CPU · cores busy", AS_CORES, false, true,
		{ { "tree.cpu_ns", "job", TG_HUE_CPU, BAND, false },
			{ "node.cpu_busy_ns", "machine", TG_HUE_OTHER, PALE, true } } },
	{ "cpu-raw", "CPU · each core of the machine", AS_CORES, true, false,
		{ { "core.busy_ns", NULL, TG_HUE_CPU, 0, false } } },
	{ "memory", "Memory", AS_BYTES, false, true,
		{ { "tree.rss_bytes", "RSS", TG_HUE_MEMORY, AREA, false },
			{ "node.mem_used_bytes", "machine", TG_HUE_OTHER, PALE, true } } },
	{ "io-bytes", "Disk", AS_BYTES_PER_S, false, true,
		{ { "tree.read_bytes", "read", TG_HUE_READ, AREA, false },
			{ "tree.write_bytes", "write", TG_HUE_WRITE, AREA, false },
			{ "disk.read_bytes", "machine read", TG_HUE_READ, PALE, true },
			{ "disk.write_bytes", "machine write", TG_HUE_WRITE, PALE, true } } },
	{ "io-ops", "Read and write calls", AS_PER_S, false, true,
		{ { "tree.read_ops", "read", TG_HUE_READ, 0, false },
			{ "tree.write_ops", "write", TG_HUE_WRITE, DASH, false } } },
	{ "net", "Network of the machine", AS_BYTES_PER_S, false, true,
		{ { "net.rx_bytes", "receive", TG_HUE_RECEIVE, 0, false },
			{ "net.tx_bytes", "send", TG_HUE_SEND, DASH, false } } },
	{ "node-cpu", "CPU of the machine · cores busy", AS_CORES, false, false,
		{ { "node.cpu_busy_ns", "machine", TG_HUE_CPU, BAND, false } } },
	{ "node-memory", "Memory of the machine", AS_BYTES, false, false,
		{ { "node.mem_used_bytes", "in use", TG_HUE_MEMORY, AREA, false } } },
};

const char *tg_picture_panels(void)
{
	return "cpu, cpu-raw, memory, io-bytes, io-ops, net, node-cpu, node-memory, all";
}

/* What is being drawn. */
struct work {
	const struct tg_picture *p;
	struct tg_chart *chart;
	int64_t from_ns, to_ns; /* UTC */
	struct tg_totals totals; /* of the whole window */
};

/* ---- the window and its sums ---- */

static double add_known(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

static double max_known(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : fmax(a, b);
}

static void add_totals(struct tg_totals *sum, const struct tg_totals *t)
{
	double *const add[] = { &sum->cpu_s, &sum->read_bytes, &sum->write_bytes, &sum->read_ops,
		&sum->write_ops, &sum->net_rx_bytes, &sum->net_tx_bytes, &sum->mem_retained_bytes };
	const double what[] = { t->cpu_s, t->read_bytes, t->write_bytes, t->read_ops, t->write_ops,
		t->net_rx_bytes, t->net_tx_bytes, t->mem_retained_bytes };

	for (size_t i = 0; i < TG_ARRAY_SIZE(add); i++)
		*add[i] = add_known(*add[i], what[i]);
	sum->cores_max = max_known(sum->cores_max, t->cores_max);
	sum->rss_peak_bytes = max_known(sum->rss_peak_bytes, t->rss_peak_bytes);
	sum->single = sum->single && t->single;
	sum->missed += t->missed;
	sum->samples += t->samples;
}

/* Sums over the time from the first to the last chosen span, session by session. */
static int window_totals(struct work *w)
{
	const struct tg_picture *p = w->p;
	bool some = false;

	for (size_t i = 0; i < p->recording->n_sessions; i++) {
		struct tg_span window = { .session = p->recording->session[i].number,
			.since_session = p->recording->session[i].number,
			.kind = (char *)"window",
			.status = (char *)"ok",
			.begin_ns = INT64_MAX,
			.end_ns = INT64_MIN };
		struct tg_totals t;
		int rc;

		for (size_t k = 0; k < p->n_spans; k++) {
			if (p->span[k]->session != window.session)
				continue;
			window.since_session =
				TG_MIN(window.since_session, p->span[k]->since_session);
			window.begin_ns = TG_MIN(window.begin_ns, p->span[k]->begin_ns);
			window.end_ns = TG_MAX(window.end_ns, p->span[k]->end_ns);
		}
		if (window.begin_ns > window.end_ns)
			continue;
		window.begin_utc_ns = tg_session_utc(&p->recording->session[i], window.begin_ns);
		window.end_utc_ns = tg_session_utc(&p->recording->session[i], window.end_ns);
		w->from_ns = some ? TG_MIN(w->from_ns, window.begin_utc_ns) : window.begin_utc_ns;
		w->to_ns = some ? TG_MAX(w->to_ns, window.end_utc_ns) : window.end_utc_ns;
		rc = tg_totals_of(p->recording, &window, &t);
		if (rc < 0)
			return rc;
		if (some)
			add_totals(&w->totals, &t);
		else
			w->totals = t;
		some = true;
	}
	if (p->n_spans > 1) {
		w->totals.wall_s = (double)(w->to_ns - w->from_ns) / 1e9;
		w->totals.cores_mean = w->totals.cpu_s / w->totals.wall_s;
	}
	return 0;
}

/* ---- series ---- */

/* How many bins a series of so many points deserves. */
static size_t bins_for(const struct work *w, const struct tg_points *p)
{
	return TG_MIN(w->p->buckets, TG_MAX(p->n * 3, (size_t)10));
}

static double *bucket_field(struct tg_bucket *b, int k)
{
	return k == 0 ? &b->min : k == 1 ? &b->max : &b->mean;
}

/* Returns 1 when a series with something in it was added, 0 when not, -errno. */
static int add_series(struct work *w, struct tg_panel *panel, const struct line *line,
	const char *name, const char *instance)
{
	struct tg_points p = { 0 };
	struct tg_series *s;
	struct tg_bin *bin;
	size_t n;
	int rc = tg_series_load(
		w->p->recording, line->metric, instance, w->from_ns, w->to_ns, w->p->buckets, &p);

	if (rc < 0 || !p.n || w->to_ns <= w->from_ns) {
		tg_points_release(&p);
		return rc == -ENOENT ? 0 : TG_MIN(rc, 0);
	}
	tg_points_window(&p, w->from_ns, w->to_ns);
	n = bins_for(w, &p);
	bin = tg_xcalloc(n, sizeof(*bin));
	tg_bins_from(&p, w->from_ns, w->to_ns, bin, n);
	s = tg_panel_series(panel, name, line->hue, line->style);
	s->bucket = tg_xcalloc(n, sizeof(*s->bucket));
	s->n_buckets = n;
	for (size_t j = 0; j < n; j++)
		s->bucket[j] = (struct tg_bucket){
			.t0 = (double)(bin[j].t0_ns - w->from_ns) / 1e9,
			.t1 = (double)(bin[j].t1_ns - w->from_ns) / 1e9,
			.min = bin[j].min,
			.max = bin[j].max,
			.mean = bin[j].mean,
		};
	free(bin);
	tg_points_release(&p);
	return 1;
}

static int add_instances(struct work *w, struct tg_panel *panel, const struct line *line)
{
	char **name;
	size_t n = tg_series_instances(w->p->recording, line->metric, &name);
	int rc = 0, some = 0;

	for (size_t i = 0; i < n; i++) {
		if (rc >= 0 && i < CORES_MAX) {
			rc = add_series(w, panel, line, name[i], name[i]);
			some |= rc > 0;
		}
		free(name[i]);
	}
	free(name);
	return rc < 0 ? rc : some;
}

static double panel_max(const struct tg_panel *panel)
{
	double max = NAN;

	for (size_t i = 0; i < panel->n_series; i++)
		for (size_t j = 0; j < panel->series[i].n_buckets; j++)
			max = max_known(max, panel->series[i].bucket[j].max);
	return max;
}

static void scale_panel(struct tg_panel *panel, double factor)
{
	for (size_t i = 0; i < panel->n_series; i++)
		for (size_t j = 0; j < panel->series[i].n_buckets; j++)
			for (int k = 0; k < 3; k++)
				*bucket_field(&panel->series[i].bucket[j], k) *= factor;
}

/* The unit in which `max` bytes have one to three digits; `factor` brings bytes into it. */
static const char *byte_unit(double max, double *factor)
{
	static const char *const unit[] = { "B", "kB", "MB", "GB", "TB" };
	size_t k = 0;

	for (*factor = 1; max * *factor >= 1000 && k + 1 < TG_ARRAY_SIZE(unit); k++)
		*factor /= 1000;
	return unit[k];
}

/* Bring the values into a unit in which the largest has one to three digits; name the unit. */
static void set_unit(struct work *w, const struct plan *plan, struct tg_panel *panel, double max)
{
	struct tg_buf text = TG_BUF_INIT;
	double factor = 1e-9;

	if (plan->scaling == AS_PER_S) {
		tg_buf_adds(&text, "calls/s");
		factor = 1;
	} else if (plan->scaling == AS_CORES) {
		tg_buf_adds(&text, "cores");
	} else {
		tg_buf_adds(&text, byte_unit(max, &factor));
		tg_buf_adds(&text, plan->scaling == AS_BYTES_PER_S ? "/s" : "");
	}
	scale_panel(panel, factor);
	free(panel->unit);
	panel->unit = tg_buf_detach(&text);
	if (plan->scaling != AS_CORES) {
		tg_buf_addf(&text, "%s · %s", plan->title, panel->unit);
		free(panel->title);
		panel->title = tg_buf_detach(&text);
	}
	if (!strcmp(plan->name, "cpu") && !isnan(w->totals.cores_allowed)) {
		tg_fmt_number(&text, w->totals.cores_allowed);
		tg_buf_adds(&text, " allowed");
		tg_panel_limit(panel, text.data, w->totals.cores_allowed);
	}
	if (!strcmp(plan->name, "memory") && !isnan(w->totals.memory_limit_bytes)) {
		tg_buf_adds(&text, "limit ");
		tg_fmt_bytes(&text, w->totals.memory_limit_bytes);
		tg_panel_limit(panel, text.data, w->totals.memory_limit_bytes * factor);
	}
	tg_buf_release(&text);
}

static void panel_release(struct tg_panel *panel)
{
	for (size_t i = 0; i < panel->n_series; i++) {
		free(panel->series[i].name);
		free(panel->series[i].bucket);
	}
	free(panel->series);
	free(panel->title);
	free(panel->unit);
}

/* Add one panel; one that was not asked for only when it shows something. */
static int add_panel(struct work *w, const struct plan *plan, bool asked)
{
	struct tg_panel *panel = tg_chart_panel(w->chart, plan->title, "");
	int rc = 0, some = 0;
	double max;

	for (size_t i = 0; i < TG_ARRAY_SIZE(plan->line) && plan->line[i].metric; i++) {
		const struct line *line = &plan->line[i];

		if (line->node && !w->p->node)
			continue;
		rc = plan->each ? add_instances(w, panel, line)
				: add_series(w, panel, line, line->name, NULL);
		if (rc < 0)
			break;
		some |= rc;
	}
	max = panel_max(panel);
	if (rc >= 0 && some && !isnan(max) && (asked || max > 0)) {
		set_unit(w, plan, panel, max);
		return 0;
	}
	panel_release(panel);
	w->chart->n_panels--;
	return TG_MIN(rc, 0);
}

static const struct plan *find_plan(const char *name, size_t len)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(plans); i++)
		if (strlen(plans[i].name) == len && !strncmp(plans[i].name, name, len))
			return &plans[i];
	return NULL;
}

static int add_listed(struct work *w, const char *list, struct tg_err *err)
{
	int rc = 0;

	while (rc == 0) {
		size_t len = strcspn(list, ",");
		const struct plan *plan = find_plan(list, len);

		if (len == 3 && !strncmp(list, "all", 3)) {
			for (size_t i = 0; i < TG_ARRAY_SIZE(plans) && rc == 0; i++)
				rc = add_panel(w, &plans[i], true);
		} else if (plan) {
			rc = add_panel(w, plan, true);
		} else {
			struct tg_buf shown = TG_BUF_INIT;
			char *name = tg_xmemdup0(list, len);

			tg_plain(&shown, name, 40);
			free(name);
			rc = tg_err_set(err, -EINVAL, "There is no panel \"%s\"; there are %s",
				shown.data, tg_picture_panels());
			tg_buf_release(&shown);
		}
		if (!list[len])
			break;
		list += len + 1;
	}
	return rc;
}

/* ---- words ---- */

static bool has_failed(const struct tg_span *s)
{
	return !strcmp(s->status, "error") || !strcmp(s->status, "died");
}

static void add_bands(struct work *w)
{
	struct tg_buf label = TG_BUF_INIT;
	size_t n = 0;

	for (size_t i = 0; i < w->p->n_spans && n < BANDS_MAX; i++) {
		const struct tg_span *s = w->p->span[i];

		if (strcmp(s->kind, "cell") != 0 && strcmp(s->kind, "stage") != 0)
			continue;
		n++;
		tg_buf_clear(&label);
		tg_span_label(s, &label);
		tg_buf_addc(&label, ' ');
		tg_fmt_seconds(&label, (double)(s->end_ns - s->begin_ns) / 1e9);
		tg_chart_band(w->chart, label.data, (double)(s->begin_utc_ns - w->from_ns) / 1e9,
			(double)(s->end_utc_ns - w->from_ns) / 1e9, has_failed(s));
	}
	tg_buf_release(&label);
}

/* What a full bar stands for: what is allowed, unless nothing comes near it; 0: the largest. */
static double full_bar(double allowed, double largest)
{
	return allowed <= largest * 10 ? allowed : 0;
}

/* Several cells: each on a line of its own with its CPU and memory. */
static int add_cells(struct work *w)
{
	struct tg_totals *t = tg_xcalloc(w->p->n_spans, sizeof(*t));
	struct tg_buf label = TG_BUF_INIT;
	double cores = 0, bytes = 0, factor;
	int rc = 0;

	for (size_t i = 0; i < w->p->n_spans && rc == 0; i++) {
		rc = tg_totals_of(w->p->recording, w->p->span[i], &t[i]);
		cores = fmax(cores, t[i].cores_mean);
		bytes = fmax(bytes, t[i].rss_peak_bytes);
	}
	w->chart->memory_unit = tg_xstrdup(byte_unit(bytes, &factor));
	w->chart->memory_full = full_bar(w->totals.memory_limit_bytes, bytes) * factor;
	w->chart->cores_full = full_bar(w->totals.cores_allowed, cores);
	for (size_t i = 0; i < w->p->n_spans && rc == 0; i++) {
		const struct tg_span *s = w->p->span[i];

		tg_buf_clear(&label);
		tg_span_label(s, &label);
		tg_chart_cell(w->chart, label.data, (double)(s->begin_utc_ns - w->from_ns) / 1e9,
			(double)(s->end_utc_ns - w->from_ns) / 1e9, t[i].cores_mean,
			t[i].rss_peak_bytes * factor, has_failed(s));
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

	if (w->p->n_spans == 1) {
		tg_span_label(first, &b);
	} else {
		tg_buf_adds(&b, cells ? "Cells " : "");
		tg_span_label(first, &b);
		tg_buf_adds(&b, w->p->n_spans == 2 ? ", " : " – ");
		tg_span_label(last, &b);
	}
	tg_buf_adds(&b, " · ");
	tg_fmt_headline(&b, &w->totals);
	w->chart->headline = tg_buf_detach(&b);
	for (size_t i = 0; i < w->totals.n_verdicts; i++)
		tg_buf_addf(&b, "%s%s", b.len ? " · " : "", w->totals.verdict[i]);
	if (w->totals.single)
		tg_buf_addf(
			&b, "%stoo short for a maximum: its rates are means", b.len ? " · " : "");
	if (!strcmp(last->status, "running")) {
		tg_buf_adds(&b, b.len ? " · " : "");
		tg_span_label(last, &b);
		tg_buf_adds(&b, " is running");
	}
	if (w->totals.missed)
		tg_buf_addf(&b, "%s%lld %s late and left out", b.len ? " · " : "",
			(long long)w->totals.missed,
			w->totals.missed == 1 ? "sample was" : "samples were");
	if (b.len)
		w->chart->note = tg_buf_detach(&b);
	tg_buf_release(&b);
	w->chart->x_label = tg_xstrdup(
		w->p->n_spans > 1 ? cells ? "since the first cell" : "since the first span"
		: cells           ? "since the cell began"
				  : "since it began");
}

/* ---- the table ---- */

/*
 * Mean over time and maximum of a drawn series, in the unit of its panel: "GB", "MB/s". Returns the
 * unit's factor, or NaN where it is not drawn.
 */
static double drawn(const struct tg_chart *chart, const char *title, const char *series,
	double *mean, double *max)
{
	static const char *const unit[] = { "B", "kB", "MB", "GB", "TB" };
	double sum = 0, time = 0, factor = 1;

	*mean = *max = NAN;
	for (size_t i = 0; i < chart->n_panels; i++) {
		const struct tg_panel *p = &chart->panel[i];
		size_t k = 0;

		if (strncmp(p->title, title, strlen(title)) != 0)
			continue;
		for (size_t u = 0; u < TG_ARRAY_SIZE(unit); u++)
			if (!strncmp(p->unit, unit[u], strlen(unit[u])) &&
				(p->unit[strlen(unit[u])] == '\0' ||
					p->unit[strlen(unit[u])] == '/'))
				factor = pow(1000, (double)u);
		while (k < p->n_series && strcmp(p->series[k].name, series) != 0)
			k++;
		for (size_t j = 0; k < p->n_series && j < p->series[k].n_buckets; j++) {
			const struct tg_bucket *b = &p->series[k].bucket[j];

			if (isnan(b->mean))
				continue;
			sum += b->mean * (b->t1 - b->t0);
			time += b->t1 - b->t0;
			*max = max_known(*max, b->max);
		}
		break;
	}
	*mean = time > 0 ? sum / time : NAN;
	return factor;
}

static void row(struct work *w, const char *what, struct tg_buf *mean, struct tg_buf *max,
	struct tg_buf *total)
{
	const char *cell[5] = { what, mean->len ? mean->data : NULL, max->len ? max->data : NULL,
		total->len ? total->data : NULL, NULL };

	tg_chart_row(w->chart, cell);
	tg_buf_clear(mean);
	tg_buf_clear(max);
	tg_buf_clear(total);
}

/* A rate over the window, its highest value, and its total: "1.2 MB/s", "9 MB/s", "24 MB". */
static void traffic_row(struct work *w, const char *what, const char *title, const char *series,
	double bytes, struct tg_buf b[3])
{
	double mean, max, factor = drawn(w->chart, title, series, &mean, &max);

	if (!(bytes > 0))
		return;
	tg_fmt_bytes(&b[0], bytes / w->totals.wall_s);
	tg_buf_adds(&b[0], "/s");
	if (!isnan(max) && !w->totals.single) {
		tg_fmt_bytes(&b[1], max * factor);
		tg_buf_adds(&b[1], "/s");
	}
	tg_fmt_bytes(&b[2], bytes);
	row(w, what, &b[0], &b[1], &b[2]);
}

static void add_rows(struct work *w)
{
	const struct tg_totals *t = &w->totals;
	struct tg_buf b[3] = { TG_BUF_INIT, TG_BUF_INIT, TG_BUF_INIT };
	double mean, max, factor;

	if (!isnan(t->cpu_s)) {
		tg_fmt_number(&b[0], t->cores_mean);
		tg_buf_adds(&b[0], " cores");
		if (!t->single) {
			tg_fmt_number(&b[1], t->cores_max);
			tg_buf_adds(&b[1], " cores");
		}
		tg_fmt_number(&b[2], t->cpu_s);
		tg_buf_adds(&b[2], " core·s");
		row(w, "CPU", &b[0], &b[1], &b[2]);
	}
	if (!isnan(t->rss_peak_bytes)) {
		factor = drawn(w->chart, "Memory · ", "RSS", &mean, &max);
		if (!isnan(mean))
			tg_fmt_bytes(&b[0], mean * factor);
		tg_fmt_bytes(&b[1], t->rss_peak_bytes);
		row(w, "Memory RSS", &b[0], &b[1], &b[2]);
	}
	traffic_row(w, "Disk read", "Disk · ", "read", t->read_bytes, b);
	traffic_row(w, "Disk write", "Disk · ", "write", t->write_bytes, b);
	traffic_row(w, "Network receive", "Network", "receive", t->net_rx_bytes, b);
	traffic_row(w, "Network send", "Network", "send", t->net_tx_bytes, b);
	for (int i = 0; i < 3; i++)
		tg_buf_release(&b[i]);
}

int tg_picture_draw(const struct tg_picture *p, struct tg_chart *chart, struct tg_err *err)
{
	struct work w = { .p = p, .chart = chart };
	int rc;

	*chart = (struct tg_chart){ 0 };
	rc = window_totals(&w);
	if (rc < 0)
		return tg_err_set(err, rc, "Cannot read %s: %s", p->recording->path, strerror(-rc));
	chart->t_end = (double)(w.to_ns - w.from_ns) / 1e9;
	if (p->panels)
		rc = add_listed(&w, p->panels, err);
	for (size_t i = 0; !p->panels && i < TG_ARRAY_SIZE(plans) && rc == 0; i++)
		if (plans[i].usual)
			rc = add_panel(&w, &plans[i], false);
	if (rc == -EINVAL)
		return rc;
	if (rc < 0)
		return tg_err_set(err, rc, "Cannot read %s: %s", p->recording->path, strerror(-rc));
	if (!chart->n_panels)
		return tg_err_set(err, -ENOENT,
			"There is nothing to draw: no samples were taken in that time");
	if (p->n_spans > 1 && !p->panels)
		rc = add_cells(&w);
	if (rc < 0)
		return tg_err_set(err, rc, "Cannot read %s: %s", p->recording->path, strerror(-rc));
	add_bands(&w);
	add_words(&w);
	add_rows(&w);
	return 0;
}
