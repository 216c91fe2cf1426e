/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "sample/limits.h"
#include "sample/sampler_private.h"

#include "base/mem.h"

#define SHARE      500 /* a source gets a five-hundredth of a core */
#define REFRESH_NS TG_NS_PER_S /* how often who reads asks for a refresh */
#define LISTEN_NS  (TG_NS_PER_S / 10)

#define EDGE_TRIES 3
#define EDGE_WAIT_NS                                                                               \
	(300 * TG_NS_PER_US) /* a total with such a row at its edge is called exact                \
			      */

/* All instances of all sources, one behind the other. */
static void lay_out(struct tg_sampler *s)
{
	s->n = 0;
	for (size_t i = 0; i < tg_source_count; i++) {
		struct tg_out *out = &s->source[i].out;
		size_t m = out->source->n_metrics;

		TG_GROW(s->column, s->n + out->n_instances * m, s->cap_columns);
		for (size_t k = 0; k < out->n_instances * m; k++) {
			struct tg_column *column = &s->column[s->n];

			if (!tg_out_is_column(out, k))
				continue;
			s->n++;
			column->metric = &out->source->metric[k % m];
			memcpy(column->instance, out->instance[k / m], TG_INSTANCE_MAX);
			column->period_ns = TG_MAX(out->source->period_ns, out->source->late_ns);
		}
		out->changed = false;
	}
	TG_GROW(s->value, s->n, s->cap_values);
	s->generation++;
}

static void open_source(struct tg_sampler *s, size_t i)
{
	struct opened *o = &s->source[i];

	o->out.source = tg_source_list[i];
	o->error = tg_source_list[i]->open(&s->env, &o->state, o->why, sizeof(o->why));
	if (!o->error && !o->out.source->instances)
		tg_out_instance(&o->out, "");
	if (!o->error && tg_source_list[i]->apart && s->hooks.start_apart)
		o->apart = tg_apart_new(i);
}

int tg_sampler_new(
	struct tg_sampler **out, const struct tg_sampler_options *options, struct tg_err *err)
{
	struct tg_sampler *s = tg_xcalloc(1, sizeof(*s));
	struct tg_env *env = &s->env;

	*out = NULL;
	env->live = options->root_fd < 0;
	env->root_fd = env->live ? open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				 : fcntl(options->root_fd, F_DUPFD_CLOEXEC, 3);
	if (env->root_fd < 0) {
		int code = -errno;

		free(s);
		return tg_err_set(
			err, code, "cannot open the folder that has /proc: %s", strerror(-code));
	}
	env->root = options->root;
	/* a captured tree is one of a machine with the usual units */
	env->tick_ns = TG_NS_PER_S / (env->live ? sysconf(_SC_CLK_TCK) : 100);
	env->page_bytes = env->live ? sysconf(_SC_PAGESIZE) : 4096;
	s->hooks = options->hooks;
	env->hooks = &s->hooks;
	env->helper_cpu_ns = TG_MISSING;
	env->text = &s->text;
	env->stat = &s->stat;
	env->stat_fd = -1;
	tg_text_init(&s->text);
	tg_text_init(&s->stat);
	tg_oom_init(&s->oom);
	tg_whole_init(&s->whole, options->no_perf);
	env->whole = &s->whole;
	env->tree = tg_tree_new(env, options);
	s->source = tg_xcalloc(tg_source_count, sizeof(*s->source));
	for (size_t i = 0; i < tg_source_count; i++)
		open_source(s, i);
	lay_out(s);
	*out = s;
	return 0;
}

void tg_sampler_free(struct tg_sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < tg_source_count; i++) {
		struct opened *o = &s->source[i];

		if (!o->error)
			o->out.source->close(o->state);
		tg_apart_free(o->apart);
		free(o->out.instance);
		free(o->out.value);
		free(o->out.was_put);
	}
	tg_tree_free(s->env.tree);
	tg_oom_release(&s->oom);
	tg_whole_release(&s->whole);
	if (s->env.stat_fd >= 0)
		close(s->env.stat_fd);
	close(s->env.root_fd);
	tg_text_release(&s->text);
	tg_text_release(&s->stat);
	free(s->source);
	free(s->column);
	free(s->value);
	free(s);
}

void tg_sampler_set_root(struct tg_sampler *s, pid_t root)
{
	s->env.root = root;
	tg_tree_set_root(s->env.tree, root);
	tg_whole_forget(&s->whole);
}

/* A captured tree has no time that passes: there all is read always. */
static bool is_due(const struct tg_sampler *s, const struct opened *o)
{
	unsigned flags = s->env.flags;
	/* a tick that comes a little early is this one's, not too soon for it */
	bool due = s->env.t_ns >= o->due_ns - o->period_ns / 8;

	if (flags & TG_READ_EDGE)
		return o->out.source->edge;
	if (!s->env.live || (flags & TG_READ_ALL))
		return true;
	/* what is too dear for each refresh comes with one all the same: some look for devices then
	 */
	if (o->period_ns > REFRESH_NS)
		return due && (flags & TG_READ_REFRESH);
	return due || (flags & TG_READ_REFRESH);
}

/* How often it is read from now on; more seldom than the refreshes are: with each n-th of them. */
static int64_t period_of(const struct opened *o)
{
	const struct tg_source *source = o->out.source;
	int64_t period = source->period_ns;

	/* an answer that has come is not left lying for a whole period */
	if (o->apart)
		period = TG_MIN(period, LISTEN_NS);
	if (period && !source->own_budget)
		period = TG_MAX(period, o->cost_ns * SHARE);
	if (period > REFRESH_NS)
		period = (period + REFRESH_NS - 1) / REFRESH_NS * REFRESH_NS;
	return period;
}

/* `before` is this thread's CPU clock, which is a call to the kernel: one for each source will do.
 */
static int64_t read_source(struct tg_sampler *s, struct opened *o, int64_t before)
{
	const struct tg_source *source = o->out.source;
	int64_t after, cost;

	if (o->apart)
		tg_apart_read(o->apart, &s->env, &o->out);
	else
		source->read(o->state, &s->env, &o->out);
	after = tg_thread_ns();
	cost = after - before;
	o->cost_ns += (cost - o->cost_ns) / (o->cost.readings ? 8 : 1);
	o->cost.readings++;
	o->cost.cpu_ns += cost;
	o->period_ns = period_of(o);
	o->due_ns = s->env.t_ns + o->period_ns;
	return after;
}

/* Read what is due. Returns for how long we had to wait meanwhile, as for a core. */
static int64_t read_sources(struct tg_sampler *s)
{
	int64_t begin_ns = tg_thread_ns(), cpu_ns = begin_ns;
	bool changed = false;

	s->env.stat_read = false;
	s->env.t_ns = tg_mono_ns();
	for (size_t i = 0; i < tg_source_count; i++) {
		struct opened *o = &s->source[i];
		size_t values = o->out.n_instances * o->out.source->n_metrics;

		for (size_t k = 0; k < values; k++)
			o->out.value[k] = TG_MISSING;
		o->out.next = 0;
		if (!o->error && is_due(s, o))
			cpu_ns = read_source(s, o, cpu_ns);
		changed |= o->out.changed;
	}
	if (changed)
		lay_out(s);
	return tg_mono_ns() - s->env.t_ns - (cpu_ns - begin_ns);
}

/*
 * A row at an edge has what was used up to there. If we were made to wait in the middle of it, it
 * may have what was used since, so it is taken again; and at last it is said to be of when it was
 * complete, not of when it was begun.
 */
static void read_edge(struct tg_sampler *s)
{
	for (int i = 0; i < EDGE_TRIES; i++)
		if (read_sources(s) <= EDGE_WAIT_NS)
			return;
	s->env.t_ns = tg_mono_ns();
}

void tg_sampler_read(struct tg_sampler *s, unsigned flags, struct tg_reading *reading)
{
	size_t n = 0;

	s->env.flags = flags;
	if (flags & TG_READ_EDGE)
		read_edge(s);
	else
		read_sources(s);
	reading->t_ns = s->env.t_ns;
	if (flags & TG_READ_REFRESH)
		tg_oom_look(&s->oom, &s->env, reading->t_ns);
	for (size_t i = 0; i < tg_source_count; i++) {
		const struct tg_out *out = &s->source[i].out;
		size_t values = out->n_instances * out->source->n_metrics;

		for (size_t k = 0; k < values; k++)
			if (tg_out_is_column(out, k))
				s->value[n++] = out->value[k];
	}
	reading->column = s->column;
	reading->value = s->value;
	reading->n = s->n;
	reading->generation = s->generation;
}

struct alive {
	void (*each)(void *ctx, uint32_t entity, pid_t pid, const char *comm);
	void *ctx;
};

static void one_alive(void *ctx, const struct tg_process *p)
{
	const struct alive *a = ctx;

	a->each(a->ctx, p->entity, p->pid, p->comm);
}

void tg_sampler_alive(struct tg_sampler *s,
	void (*each)(void *ctx, uint32_t entity, pid_t pid, const char *comm), void *ctx)
{
	struct alive a = { each, ctx };

	tg_tree_each(s->env.tree, one_alive, &a);
}

void tg_sampler_limits(struct tg_sampler *s, struct tg_limits *out)
{
	tg_limits_find(&s->env, out);
}

enum tg_means tg_sampler_means(const struct tg_sampler *s, const char **why)
{
	*why = s->whole.why;
	return s->whole.means;
}

const char *tg_means_name(enum tg_means means)
{
	static const char *const name[] = { "processes", "cgroup", "perf" };

	return name[means];
}

enum tg_oom tg_sampler_oom(struct tg_sampler *s, bool asked, char *why, size_t size)
{
	int64_t now = tg_mono_ns();

	tg_oom_look(&s->oom, &s->env, now);
	return tg_oom_tell(&s->oom, asked, now, why, size);
}

size_t tg_sampler_costs(const struct tg_sampler *s, struct tg_source_cost *cost, size_t cap)
{
	for (size_t i = 0; i < tg_source_count && i < cap; i++) {
		cost[i] = s->source[i].cost;
		cost[i].name = tg_source_list[i]->name;
		cost[i].nominal_ns = tg_source_list[i]->period_ns;
		/* a helper's answers are listened for more often than it is asked */
		cost[i].period_ns = TG_MAX(s->source[i].period_ns, tg_source_list[i]->period_ns);
	}
	return tg_source_count;
}
