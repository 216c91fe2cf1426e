/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/facts.h"

#include "base/mem.h"

static void say_limit(struct tg_events *events, int64_t now, const char *what, int64_t value,
	double in_unit, const char *why, const char *cpus)
{
	struct tg_jw *w = tg_events_open(events, "limit", now);

	tg_jw_kstr(w, "what", what);
	tg_jw_key(w, "value");
	if (value == TG_MISSING)
		tg_jw_null(w);
	else
		tg_jw_num(w, in_unit);
	tg_jw_kstr(w, "why", why);
	if (cpus[0])
		tg_jw_kstr(w, "cpus", cpus);
	tg_events_close(events);
}

void tg_facts_init(struct tg_facts *f)
{
	*f = (struct tg_facts){ 0 };
	f->limits.cores_milli = f->limits.memory_bytes = TG_MISSING;
}

void tg_facts_limits(
	struct tg_facts *f, struct tg_sampler *sampler, struct tg_events *events, int64_t now_ns)
{
	struct tg_limits l = { .cores_milli = TG_MISSING, .memory_bytes = TG_MISSING };
	const struct tg_limits *said = &f->limits;

	tg_sampler_limits(sampler, &l);
	if (l.cores_milli != said->cores_milli || strcmp(l.cores_why, said->cores_why) ||
		strcmp(l.cpus, said->cpus))
		say_limit(events, now_ns, "cores", l.cores_milli, (double)l.cores_milli / 1000,
			l.cores_why, l.cpus);
	if (l.memory_bytes != said->memory_bytes || strcmp(l.memory_why, said->memory_why))
		say_limit(events, now_ns, "memory_bytes", l.memory_bytes, (double)l.memory_bytes,
			l.memory_why, "");
	f->limits = l;
}

void tg_facts_means(struct tg_facts *f, const struct tg_sampler *sampler, struct tg_events *events,
	int64_t now_ns)
{
	const char *why;
	enum tg_means means = tg_sampler_means(sampler, &why);
	struct tg_jw *w;

	if (f->means_said && means == f->means && !strcmp(why, f->means_why))
		return;
	w = tg_events_open(events, "means", now_ns);
	tg_jw_kstr(w, "what", "tree.cpu_ns");
	tg_jw_kstr(w, "by", tg_means_name(means));
	if (*why)
		tg_jw_kstr(w, "why", why);
	tg_events_close(events);
	f->means = means;
	f->means_said = true;
	snprintf(f->means_why, sizeof(f->means_why), "%s", why);
}

void tg_facts_sources(struct tg_facts *f, const struct tg_sampler *sampler,
	struct tg_events *events, bool end, int64_t now_ns)
{
	struct tg_source_cost cost[TG_FACTS_SOURCES];
	size_t n = tg_sampler_costs(sampler, cost, TG_FACTS_SOURCES);

	for (size_t i = 0; i < TG_MIN(n, TG_ARRAY_SIZE(cost)); i++) {
		/* what it is meant to be is in the table */
		int64_t said = f->period_ns[i] ? f->period_ns[i] : cost[i].nominal_ns;
		int64_t now = cost[i].period_ns;
		struct tg_jw *w;

		if (!cost[i].readings || (!end && now <= 2 * said && said <= 2 * now))
			continue;
		f->period_ns[i] = now;
		w = tg_events_open(events, "source", now_ns);
		tg_jw_kstr(w, "name", cost[i].name);
		tg_jw_kint(w, "period_ns", now);
		if (end) {
			tg_jw_kint(w, "readings", cost[i].readings);
			tg_jw_kint(w, "cpu_ns", cost[i].cpu_ns);
		}
		tg_events_close(events);
	}
}

void tg_facts_disk(struct tg_events *events, const char *name, const char *mounts, int64_t now_ns)
{
	struct tg_jw *w = tg_events_open(events, "disk", now_ns);

	tg_jw_kstr(w, "name", name);
	tg_jw_key(w, "mounts");
	tg_jw_begin_array(w);
	for (; *mounts; mounts += strlen(mounts) + 1)
		tg_jw_str(w, mounts);
	tg_jw_end_array(w);
	tg_events_close(events);
}
