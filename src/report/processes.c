/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes: by command over time, as a tree, and those that were too short to be seen. */
#include <math.h>

#include "analyze/activity.h"
#include "analyze/lives.h"
#include "base/map.h"
#include "report/format.h"
#include "report/panels.h"
#include "report/plots.h"
#include "report/report.h"

#include "base/mem.h"

#define BINS       500
#define COMMANDS   7 /* with a line of their own; the rest is one more */
#define ROWS_MAX   300
#define CROWDS_MAX 100
#define ARGS_CHARS 4096
#define DEPTH_MAX  12 /* of indentation */

static const enum tg_hue hues[] = { TG_HUE_CPU, TG_HUE_GPU, TG_HUE_MEMORY, TG_HUE_RECEIVE,
	TG_HUE_WRITE, TG_HUE_SEND, TG_HUE_READ, TG_HUE_OTHER };

/* ---- by command ---- */

static void add_series(const struct tg_told *t, struct tg_panel *panel,
	const struct tg_command_use *use, const struct tg_bin *bin, size_t n, size_t which,
	double factor)
{
	struct tg_buf name = TG_BUF_INIT;
	struct tg_series *s;

	tg_plain(&name, use->name ? use->name : "others", 40);
	if (use->n > 1)
		tg_buf_addf(&name, " (%zu)", use->n);
	s = tg_panel_series(panel, name.data, hues[which % TG_ARRAY_SIZE(hues)], 0);
	s->bucket = tg_xcalloc(n, sizeof(*s->bucket));
	s->n_buckets = n;
	for (size_t i = 0; i < n; i++)
		s->bucket[i] = (struct tg_bucket){ (double)(bin[i].t0_ns - t->sums.from_ns) / 1e9,
			(double)(bin[i].t1_ns - t->sums.from_ns) / 1e9, bin[i].mean * factor,
			bin[i].mean * factor, bin[i].mean * factor };
	tg_buf_release(&name);
}

static double most_memory(const struct tg_command_use *use, size_t n, size_t n_bins)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n_bins; k++)
			most = fmax(most, use[i].rss[k].mean);
	return most;
}

static void plot_commands(struct tg_told *t, const struct tg_activity *a)
{
	double factor;
	const char *unit =
		tg_panels_byte_unit(most_memory(a->command, a->n_commands, a->n_bins), &factor);
	struct tg_buf title = TG_BUF_INIT;

	for (int memory = 0; memory < 2; memory++) {
		struct tg_panel *panel;
		struct tg_report_part *p;

		tg_buf_clear(&title);
		tg_buf_addf(&title, "%s by command · %s", memory ? "Memory" : "CPU",
			memory ? unit : "cores");
		p = tg_report_add(t->report, 3, memory ? "memory-by-command" : "cpu-by-command",
			title.data,
			memory ? "Resident memory of all processes of a name, added up." : NULL);
		tg_plot_frame(t, &p->chart);
		p->has_chart = true;
		panel = tg_chart_panel(&p->chart, NULL, memory ? unit : "cores");
		for (size_t i = 0; i < a->n_commands; i++)
			add_series(t, panel, &a->command[i],
				memory ? a->command[i].rss : a->command[i].cores, a->n_bins, i,
				memory ? factor : 1);
		if (!memory) {
			panel->second_factor = 100;
			panel->second_unit = tg_xstrdup("%");
		}
	}
	tg_buf_release(&title);
}

/* What each of the largest processes had, as far as there is more than one. */
static void plot_processes(struct tg_told *t, const struct tg_activity *a)
{
	double factor;
	const char *unit =
		tg_panels_byte_unit(most_memory(a->process, a->n_processes, a->n_bins), &factor);
	struct tg_buf title = TG_BUF_INIT;
	struct tg_report_part *p;
	struct tg_panel *panel;

	if (a->n_processes < 2)
		return;
	tg_buf_addf(&title, "Memory by process · %s", unit);
	p = tg_report_add(t->report, 3, "memory-by-process", title.data,
		"Resident memory of the processes that had most of it.");
	tg_plot_frame(t, &p->chart);
	p->has_chart = true;
	panel = tg_chart_panel(&p->chart, NULL, unit);
	for (size_t i = 0; i < TG_MIN(a->n_processes, (size_t)COMMANDS); i++)
		add_series(t, panel, &a->process[i], a->process[i].rss, a->n_bins, i, factor);
	tg_buf_release(&title);
}

/* ---- the tree ---- */

struct tree {
	const struct tg_told *t;
	const struct tg_life_use *use; /* of each life */
	ptrdiff_t *parent; /* of each life: a place, or -1 */
	bool *shown;
	size_t *order; /* of those that are shown */
	size_t n;
};

static void find_parents(struct tree *tree)
{
	const struct tg_recording *r = tree->t->r;
	struct tg_map by_pid = TG_MAP_INIT;
	uint32_t session = 0;

	for (size_t i = 0; i < r->n_lives; i++) {
		const struct tg_life *life = &r->life[i];

		if (life->session != session) {
			tg_map_release(&by_pid);
			session = life->session;
		}
		tree->parent[i] =
			life->parent > 0 ? tg_map_get(&by_pid, (uint64_t)life->parent) : -1;
		tg_map_put(&by_pid, (uint64_t)life->pid, i);
	}
	tg_map_release(&by_pid);
}

static double weight(const struct tree *tree, size_t i)
{
	const struct tg_life_use *use = &tree->use[i];

	return (double)TG_MAX(use->cpu_ns, 0) / 1e9 + (double)TG_MAX(use->rss_peak_bytes, 0) / 1e9;
}

static int heavier(const void *a, const void *b, void *ctx)
{
	double x = weight(ctx, *(const size_t *)a), y = weight(ctx, *(const size_t *)b);

	return x < y ? 1 : x > y ? -1 : 0;
}

/* The heaviest, and those that they come from. */
static void choose(struct tree *tree)
{
	size_t n = tree->t->r->n_lives;

	for (size_t i = 0; i < n; i++)
		tree->order[i] = i;
	qsort_r(tree->order, n, sizeof(*tree->order), heavier, tree);
	for (size_t k = 0; k < n && k < ROWS_MAX; k++)
		for (ptrdiff_t i = (ptrdiff_t)tree->order[k]; i >= 0 && !tree->shown[i];
			i = tree->parent[i])
			tree->shown[i] = true;
}

/* Children follow their parents, each in order of birth: the file has them in that order. */
static void put_in_order(struct tree *tree)
{
	size_t n = tree->t->r->n_lives, top = 0;
	ptrdiff_t *child = tg_xcalloc(n + 1, sizeof(*child)); /* the first one, from 1 */
	ptrdiff_t *next = tg_xcalloc(n + 1, sizeof(*next));
	size_t *stack = tg_xcalloc(n + 1, sizeof(*stack));

	for (size_t i = n; i-- > 0;) {
		ptrdiff_t *head;

		if (!tree->shown[i])
			continue;
		head = tree->parent[i] >= 0 ? &child[tree->parent[i]] : &child[n];
		next[i] = *head;
		*head = (ptrdiff_t)i + 1;
	}
	tree->n = 0;
	stack[top++] = (size_t)child[n];
	while (top) {
		size_t i = stack[--top];

		if (!i)
			continue;
		tree->order[tree->n++] = i - 1;
		stack[top++] = (size_t)next[i - 1];
		if (child[i - 1])
			stack[top++] = (size_t)child[i - 1];
	}
	free(child);
	free(next);
	free(stack);
}

static size_t depth_of(const struct tree *tree, size_t i)
{
	size_t depth = 0;

	for (ptrdiff_t p = tree->parent[i]; p >= 0 && depth < DEPTH_MAX; p = tree->parent[p])
		depth++;
	return depth;
}

static double known(int64_t v)
{
	return v == TG_MISSING ? NAN : (double)v;
}

static void put_bytes(struct tg_sheet *s, int64_t bytes, struct tg_buf *b)
{
	tg_fmt_bytes(b, known(bytes));
	tg_sheet_value(s, known(bytes), b);
}

static void put_process(const struct tree *tree, struct tg_sheet *s, size_t i, struct tg_buf *b)
{
	const struct tg_told *t = tree->t;
	const struct tg_life *life = &t->r->life[i];
	const struct tg_span_session *session = tg_recording_session(t->r, life->session);
	const struct tg_life_use *use = &tree->use[i];
	double cpu_s = known(use->cpu_ns) / 1e9;
	double born = (double)(tg_session_utc(session, life->birth_ns) - t->sums.from_ns) / 1e9;
	double lived = NAN;

	for (size_t d = depth_of(tree, i); d; d--)
		tg_buf_adds(b, "\u2003");
	tg_plain(b, life->comm ? life->comm : "?", 40);
	tg_sheet_text(s, b->data);
	tg_buf_clear(b);
	tg_buf_addf(b, "%lld", (long long)life->pid);
	tg_sheet_value(s, (double)life->pid, b);
	tg_fmt_seconds(b, fmax(born, 0));
	tg_sheet_value(s, born, b);
	if (life->death_ns != INT64_MAX)
		lived = (double)(life->death_ns - life->birth_ns) / 1e9;
	if (isnan(lived))
		tg_buf_adds(b, "to the end");
	else
		tg_fmt_seconds(b, lived);
	tg_sheet_value(s, lived, b);
	tg_fmt_seconds(b, cpu_s);
	tg_sheet_value(s, cpu_s, b);
	put_bytes(s, use->rss_peak_bytes, b);
	put_bytes(s, use->read_bytes, b);
	put_bytes(s, use->write_bytes, b);
	if (!t->o->no_args) {
		tg_plain(b, life->args ? life->args : "", ARGS_CHARS);
		tg_sheet_text(s, b->data);
		tg_buf_clear(b);
	}
}

static void put_tree(struct tg_told *t, const struct tg_life_use *use)
{
	struct tree tree = { .t = t, .use = use };
	size_t n = t->r->n_lives;
	struct tg_buf b = TG_BUF_INIT;
	struct tg_report_part *p;

	tree.parent = tg_xcalloc(n + 1, sizeof(*tree.parent));
	tree.shown = tg_xcalloc(n + 1, sizeof(*tree.shown));
	tree.order = tg_xcalloc(n + 1, sizeof(*tree.order));
	find_parents(&tree);
	choose(&tree);
	put_in_order(&tree);
	if (tree.n < n)
		tg_buf_addf(&b,
			"The %zu of %zu that used most CPU time or memory, below those that "
			"started them.",
			tree.n, n);
	p = tg_report_add(t->report, 3, "process-tree", "Tree", b.len ? b.data : NULL);
	tg_buf_clear(&b);
	p->folded = tree.n > 40;
	p->code = tg_xstrdup("run.processes");
	tg_sheet_column(&p->sheet, "command", false, NULL);
	tg_sheet_column(&p->sheet, "pid", true, NULL);
	tg_sheet_column(&p->sheet, "born", true, "first seen, after the beginning of all");
	tg_sheet_column(&p->sheet, "lived", true, NULL);
	tg_sheet_column(
		&p->sheet, "CPU", true, "CPU time, also of what ran before it was recorded");
	tg_sheet_column(&p->sheet, "peak RSS", true, "most resident memory");
	tg_sheet_column(&p->sheet, "read", true, "fetched from storage");
	tg_sheet_column(&p->sheet, "written", true, "sent to storage");
	if (!t->o->no_args)
		tg_sheet_column(&p->sheet, "arguments", false, NULL);
	for (size_t i = 0; i < tree.n; i++)
		put_process(&tree, &p->sheet, tree.order[i], &b);
	tg_buf_release(&b);
	free(tree.parent);
	free(tree.shown);
	free(tree.order);
}

/* ---- crowds ---- */

static void put_crowds(struct tg_told *t, const struct tg_activity *a)
{
	struct tg_buf b = TG_BUF_INIT;
	struct tg_report_part *p;

	if (!a->n_crowds)
		return;
	p = tg_report_add(t->report, 3, "short-lived", "Short-lived",
		"Processes that began and ended between two samples, added up by command.");
	p->folded = a->n_crowds > 20;
	tg_sheet_column(&p->sheet, "command", false, NULL);
	tg_sheet_column(&p->sheet, "processes", true, NULL);
	tg_sheet_column(&p->sheet, "CPU", true, "CPU time that is known of them");
	for (size_t i = 0; i < a->n_crowds && i < CROWDS_MAX; i++) {
		tg_plain(&b, a->crowd[i].name, 60);
		tg_sheet_text(&p->sheet, b.data);
		tg_buf_clear(&b);
		tg_buf_addf(&b, "%llu", (unsigned long long)a->crowd[i].births);
		tg_sheet_value(&p->sheet, (double)a->crowd[i].births, &b);
		tg_fmt_seconds(&b, a->crowd[i].cpu_s);
		tg_sheet_value(&p->sheet, a->crowd[i].cpu_s, &b);
	}
	tg_buf_release(&b);
}

int tg_report_processes(struct tg_told *t)
{
	struct tg_activity a;
	int rc = tg_activity_of(t->r, t->sums.from_ns, t->sums.to_ns, BINS, COMMANDS, &a);

	if (rc >= 0 && (t->r->n_lives || a.n_crowds)) {
		tg_report_add(t->report, 2, "processes", "Processes", NULL);
		if (a.n_commands)
			plot_commands(t, &a);
		plot_processes(t, &a);
		if (t->r->n_lives)
			put_tree(t, a.life);
		put_crowds(t, &a);
	}
	tg_activity_release(&a);
	return rc;
}
