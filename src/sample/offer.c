/* SPDX-License-Identifier: BSD-3-Clause */
/* What there is to be had on this machine, how finely, why not the rest, and who could change it.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "sample/cgroup.h"
#include "sample/lacks.h"
#include "sample/sampler_private.h"

#include "base/mem.h"

#define LOOK_NS (12 * TG_NS_PER_MS) /* more than is between two walks of the tree */
#define LOOKS   10 /* so that what readings cost is known about */

static bool is_waiting(const struct opened *o)
{
	return o->apart && tg_apart_is_waiting(o->apart);
}

/* Why nothing is known of a source that is open. */
static const char *nothing(const struct opened *o)
{
	return is_waiting(o) ? "the driver does not answer" : "nothing of that kind is here now";
}

/* Not from here: the driver is asked by a helper, which a recording starts. */
static bool is_unasked(const struct tg_sampler *s, const struct tg_source *of)
{
	return of->by_hook && !s->hooks.start_gpu;
}

size_t tg_sampler_sources(const struct tg_sampler *s, struct tg_source_info *info, size_t cap)
{
	for (size_t i = 0; i < tg_source_count && i < cap; i++) {
		const struct tg_source *source = tg_source_list[i];

		info[i] = (struct tg_source_info){
			.name = source->name,
			.help = source->help,
			.metric = source->metric,
			.n_metrics = source->n_metrics,
			.available = !s->source[i].error,
		};
		memcpy(info[i].why, s->source[i].why, sizeof(info[i].why));
		if (s->source[i].cost.readings && !s->source[i].out.n_instances &&
			!info[i].why[0] && !is_unasked(s, source))
			snprintf(info[i].why, sizeof(info[i].why), "%s", nothing(&s->source[i]));
	}
	return tg_source_count;
}

/* The timer tick, at which clocks of what runs move; a captured tree is of one with 250 a second.
 */
static int64_t kernel_tick_ns(const struct tg_env *env)
{
	struct timespec t;

	if (!env->live || clock_getres(CLOCK_MONOTONIC_COARSE, &t) < 0)
		return 4 * TG_NS_PER_MS;
	return t.tv_sec * TG_NS_PER_S + t.tv_nsec;
}

/* How often source `o` looks for a metric now: as was measured, where time passes. */
static int64_t every_ns(const struct tg_sampler *s, const struct opened *o, size_t metric)
{
	const struct tg_source *of = o->out.source;
	int64_t own = !o->error && of->every_ns ? of->every_ns(o->state, metric) : 0;

	return TG_MAX(s->env.live ? TG_MAX(o->period_ns, own) : own, of->period_ns);
}

/* How coarse a value is by what makes it change, if it is looked for every `period_ns`. */
static int64_t tick_ns(const struct tg_sampler *s, enum tg_tick tick, int64_t period_ns)
{
	int64_t clock = kernel_tick_ns(&s->env);
	int64_t walk_ns = every_ns(s, &s->source[0], 0); /* the tree comes first */

	switch (tick) {
	case TG_TICK_WALK:
		return TG_MAX(walk_ns, period_ns);
	case TG_TICK_CLOCK:
		return TG_MAX(clock, period_ns);
	case TG_TICK_USER_HZ:
		return TG_MAX(s->env.tick_ns, period_ns);
	case TG_TICK_WHOLE: /* a read or two, whenever it is asked for, but not of processes */
		return s->whole.means == TG_MEANS_PERF     ? 0
		       : s->whole.means == TG_MEANS_CGROUP ? clock
							   : TG_MAX(clock, walk_ns);
	case TG_TICK_DRIVER:
		return TG_MAX(TG_NS_PER_S, period_ns);
	case TG_TICK_NONE:
		break;
	}
	return period_ns;
}

/* "without NAME: reason", as open may have said it; or NULL. */
static const char *said_without(const struct opened *o, const char *name)
{
	static const char without[] = "without ";
	size_t n = strlen(name);

	if (strncmp(o->why, without, sizeof(without) - 1) != 0 ||
		strncmp(o->why + sizeof(without) - 1, name, n) != 0 ||
		strncmp(o->why + sizeof(without) - 1 + n, ": ", 2) != 0)
		return NULL;
	return o->why + sizeof(without) - 1 + n + 2;
}

/* Why no value was ever put, which open has not said. */
static void say_lack(
	struct tg_sampler *s, const struct opened *o, size_t metric, struct tg_metric_info *info)
{
	const struct tg_source *of = o->out.source;
	const char *why = !of->instances       ? "no value now"
			  : o->out.n_instances ? "none of them has it"
			  : o->why[0]          ? o->why
					       : nothing(o);

	if (of->lacks)
		of->lacks(o->state, &s->env, metric, info->why, sizeof(info->why));
	if (!info->why[0])
		snprintf(info->why, sizeof(info->why), "%s", why);
}

static bool was_put(const struct tg_out *out, size_t metric)
{
	for (size_t i = 0; i < out->n_instances; i++)
		if (out->was_put[i * out->source->n_metrics + metric])
			return true;
	return false;
}

void tg_sampler_metric(
	struct tg_sampler *s, size_t source, size_t metric, struct tg_metric_info *info)
{
	const struct opened *o = &s->source[source];
	const struct tg_source *of = tg_source_list[source];
	const struct tg_metric *m = &of->metric[metric];
	const char *without = said_without(o, m->name);

	*info = (struct tg_metric_info){ .available = !o->error };
	info->resolution_ns = tick_ns(s, m->tick ? m->tick : of->tick, every_ns(s, o, metric));
	if (o->error) {
		snprintf(info->why, sizeof(info->why), "%s", o->why);
	} else if (is_unasked(s, of)) {
		snprintf(info->why, sizeof(info->why),
			"if the driver has it, which only a recording asks");
	} else if (!was_put(&o->out, metric)) {
		info->available = false;
		if (without)
			snprintf(info->why, sizeof(info->why), "%s", without);
		else
			say_lack(s, o, metric, info);
	} else if (m->tick == TG_TICK_WHOLE && s->whole.means == TG_MEANS_PROCESSES) {
		snprintf(info->why, sizeof(info->why),
			"without processes that live between two readings: %s", s->whole.why);
	}
}

static bool is_busy(const struct opened *o)
{
	const struct tg_source *source = o->out.source;

	return !o->error && (is_waiting(o) || (source->is_busy && source->is_busy(o->state)));
}

static bool any_is_busy(const struct tg_sampler *s)
{
	for (size_t i = 0; i < tg_source_count; i++)
		if (is_busy(&s->source[i]))
			return true;
	return false;
}

void tg_sampler_look(struct tg_sampler *s, int64_t within_ns)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	int64_t end_ns = tg_mono_ns() + within_ns;
	struct tg_reading r;

	tg_sampler_read(s, TG_READ_REFRESH | TG_READ_ALL, &r);
	for (int i = 0; (i < LOOKS || any_is_busy(s)) && tg_mono_ns() < end_ns; i++) {
		nanosleep(&pause, NULL);
		tg_sampler_read(s, TG_READ_ALL | (i ? 0 : TG_READ_REFRESH), &r);
	}
}

/* ---- what could be allowed ---- */

static bool is_hidden(struct tg_env *env)
{
	struct tg_cursor s, line;

	if (tg_env_read(env, "proc/self/mountinfo") <= 0)
		return false;
	s = tg_cursor_of(env->text->data, env->text->len);
	while (tg_cursor_line(&s, &line)) {
		const char *at = memmem(line.p, (size_t)(line.end - line.p), "hidepid=", 8);

		/* "hidepid=2", or "hidepid=invisible" since 5.8 */
		if (at && at + 8 < line.end && at[8] != '0' && at[8] != 'o')
			return true;
	}
	return false;
}

static int error_of(const struct tg_sampler *s, const char *source)
{
	for (size_t i = 0; i < tg_source_count; i++)
		if (!strcmp(tg_source_list[i]->name, source))
			return s->source[i].error;
	return 0;
}

static bool is_level_in_the_way(struct tg_sampler *s)
{
	return tg_whole_paranoid(&s->env) > 2 && (s->whole.denied || !s->env.live);
}

static bool is_filter_in_the_way(struct tg_sampler *s)
{
	return s->whole.denied && !s->whole.foreign && tg_whole_paranoid(&s->env) <= 2;
}

static bool lacks_group(struct tg_sampler *s)
{
	struct tg_cgroup g;

	return error_of(s, "cgroup") != 0 ||
	       tg_cgroup_find(&s->env, s->env.root, "cpuacct", &g) < 0 || g.whole;
}

static bool lacks_energy(struct tg_sampler *s)
{
	return error_of(s, "energy") == -EACCES;
}

static bool lacks_lustre(struct tg_sampler *s)
{
	return error_of(s, "lustre") == -EACCES;
}

static bool lacks_pressure(struct tg_sampler *s)
{
	return error_of(s, "psi") == -EOPNOTSUPP;
}

static bool lacks_processes(struct tg_sampler *s)
{
	return is_hidden(&s->env);
}

static bool lacks_io(struct tg_sampler *s)
{
	char why[160] = "";

	tg_lacks_io(&s->env, why, sizeof(why));
	return strstr(why, "CONFIG_") != NULL;
}

/* There is a driver, and yet not its device: a container that was not given it. */
static bool lacks_gpu(struct tg_sampler *s)
{
	int fd, driver = tg_env_open(&s->env, "proc/driver/nvidia");

	if (driver < 0)
		return false;
	close(driver);
	fd = tg_env_open(&s->env, "dev/nvidiactl");
	if (fd >= 0)
		close(fd);
	return fd < 0;
}

static const struct {
	bool (*is)(struct tg_sampler *s);
	struct tg_advice advice;
} could[] = {
	{ is_level_in_the_way,
		{ "perf events", "sysctl kernel.perf_event_paranoid=2",
			"all CPU time of the tree, also of processes that live for a moment, at "
			"any rate (tree.cpu_ns, tree.cpu_unattributed_ns)" } },
	{ is_filter_in_the_way,
		{ "perf events",
			"let the container's seccomp filter pass perf_event_open, as CAP_PERFMON "
			"does",
			"all CPU time of the tree, also of processes that live for a moment, at "
			"any rate (tree.cpu_ns, tree.cpu_unattributed_ns)" } },
	{ lacks_group,
		{ "a control group for the job",
			"start it in a systemd scope with Delegate=yes, or switch on the batch "
			"system's cgroup plug-in",
			"its own CPU time, throttling, memory and limit, and whether memory was "
			"why it was killed (cgroup.*)" } },
	{ lacks_energy,
		{ "RAPL",
			"chmod o+r /sys/class/powercap/intel-rapl*/energy_uj at each boot; it was "
			"closed since fine readings can tell secrets of others (CVE-2020-8694)",
			"energy of the processors (energy.*)" } },
	{ lacks_processes,
		{ "hidepid", "mount /proc with hidepid=0, or with gid= a group of who measures",
			"processes of the job that run as other users" } },
	{ lacks_gpu, { "NVIDIA's devices",
			     "give the container /dev/nvidia* and libnvidia-ml.so.1, as NVIDIA's "
			     "container toolkit does",
			     "use, memory and energy of GPUs (gpu.*)" } },
	{ lacks_lustre, { "Lustre's statistics", "make /sys/kernel/debug readable for who measures",
				"bytes and calls of each file system (lustre.*)" } },
	{ lacks_pressure,
		{ "pressure", "psi=1 on the kernel's command line",
			"how long threads waited for cores, memory and storage (psi.*)" } },
	{ lacks_io, { "I/O of processes", "a kernel with CONFIG_TASK_IO_ACCOUNTING",
			    "bytes and calls of the tree (tree.read_bytes and others)" } },
};

size_t tg_sampler_advice(struct tg_sampler *s, struct tg_advice *advice, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < TG_ARRAY_SIZE(could) && n < cap; i++)
		if (could[i].is(s))
			advice[n++] = could[i].advice;
	return n;
}
