/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/reply.h"

#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"

#define LATELY_NS (10 * TG_NS_PER_S)
#define PSS_NS    (2 * TG_NS_PER_S) /* it comes once a second, while it holds */

static const char *const names[TG_REPLY_VALUES] = {
	[TG_REPLY_TREE_CPU_NS] = "tree.cpu_ns",
	[TG_REPLY_TREE_RSS_BYTES] = "tree.rss_bytes",
	[TG_REPLY_TREE_PSS_BYTES] = "tree.pss_bytes",
	[TG_REPLY_NODE_BUSY_NS] = "node.cpu_busy_ns",
	[TG_REPLY_NODE_TOTAL_BYTES] = "node.mem_total_bytes",
	[TG_REPLY_NODE_UNAVAILABLE_BYTES] = "node.mem_used_bytes",
	[TG_REPLY_NODE_USED_BYTES] = "node.mem_used_nocache_bytes",
	[TG_REPLY_LIMIT_BYTES] = "cgroup.memory_limit_bytes",
	[TG_REPLY_READ_BYTES] = "tree.read_bytes",
	[TG_REPLY_WRITE_BYTES] = "tree.write_bytes",
};

static void find_columns(struct tg_reply *u, const struct tg_reading *reading)
{
	for (int i = 0; i < TG_REPLY_VALUES; i++) {
		u->column[i] = -1;
		for (size_t k = 0; k < reading->n; k++)
			if (!reading->column[k].instance[0] &&
				!strcmp(reading->column[k].metric->name, names[i]))
				u->column[i] = (int)k;
	}
	u->generation = reading->generation;
}

/* A process that dies has given its memory back before anyone knows: hence not the last value. */
static void take_held(struct tg_reply *u)
{
	int64_t rss = u->value[1][TG_REPLY_TREE_RSS_BYTES];

	/* 0: all that is left of the processes is that they ended, before we saw what they held */
	if (rss == TG_MISSING || rss == 0 ||
		(u->held_ns && rss < u->held_bytes && u->t_ns[1] - u->held_ns < LATELY_NS))
		return;
	u->held_bytes = rss;
	u->held_ns = u->t_ns[1];
	/* the limits that are told are looked at less often */
	u->held_limit = u->value[1][TG_REPLY_LIMIT_BYTES];
}

/* `kept` come together, and not with each reading: they are as they were at `ns` until then. */
static void keep(struct tg_reply *u, const enum tg_reply_value *kept, size_t n, int64_t *ns)
{
	if (u->value[1][kept[0]] != TG_MISSING)
		*ns = u->t_ns[1];
	else if (*ns && u->t_ns[1] - *ns < LATELY_NS)
		for (size_t i = 0; i < n; i++)
			u->value[1][kept[i]] = u->value[0][kept[i]];
}

/* Memory of the machine and of the group is read more seldom than the tree. */
static void keep_memory(struct tg_reply *u)
{
	static const enum tg_reply_value machine[] = { TG_REPLY_NODE_TOTAL_BYTES,
		TG_REPLY_NODE_UNAVAILABLE_BYTES, TG_REPLY_NODE_USED_BYTES };
	static const enum tg_reply_value group[] = { TG_REPLY_LIMIT_BYTES };

	keep(u, machine, TG_ARRAY_SIZE(machine), &u->machine_ns);
	keep(u, group, TG_ARRAY_SIZE(group), &u->limit_ns);
}

/* At a high rate most readings have but the sum of the tree. */
static bool is_part(const struct tg_reply *u, const struct tg_reading *reading)
{
	static const enum tg_reply_value rest[] = { TG_REPLY_TREE_RSS_BYTES,
		TG_REPLY_NODE_BUSY_NS };

	for (size_t i = 0; i < TG_ARRAY_SIZE(rest); i++)
		if (u->column[rest[i]] >= 0 && u->value[1][rest[i]] != TG_MISSING &&
			reading->value[u->column[rest[i]]] == TG_MISSING)
			return reading->t_ns - u->t_ns[1] < TG_NS_PER_S;
	return false;
}

void tg_reply_take(struct tg_reply *u, const struct tg_reading *reading)
{
	if (u->t_ns[1] == 0 || u->generation != reading->generation)
		find_columns(u, reading);
	if (is_part(u, reading))
		return;
	u->t_ns[0] = u->t_ns[1];
	memcpy(u->value[0], u->value[1], sizeof(u->value[0]));
	u->t_ns[1] = reading->t_ns;
	for (int i = 0; i < TG_REPLY_VALUES; i++)
		u->value[1][i] = u->column[i] < 0 ? TG_MISSING : reading->value[u->column[i]];
	if (u->value[1][TG_REPLY_TREE_PSS_BYTES] != TG_MISSING) {
		u->pss_bytes = u->value[1][TG_REPLY_TREE_PSS_BYTES];
		u->pss_ns = u->t_ns[1];
	}
	keep_memory(u);
	take_held(u);
}

void tg_reply_forget(struct tg_reply *u)
{
	u->value[1][TG_REPLY_TREE_CPU_NS] = u->value[1][TG_REPLY_TREE_RSS_BYTES] = TG_MISSING;
	u->value[1][TG_REPLY_LIMIT_BYTES] = TG_MISSING;
	u->held_ns = u->pss_ns = u->limit_ns = 0;
}

/* Of a counter per ns, between the last two readings; NAN when that is unknown. */
static double rate(const struct tg_reply *u, enum tg_reply_value what)
{
	int64_t a = u->value[0][what], b = u->value[1][what];

	if (!u->t_ns[0] || a == TG_MISSING || b == TG_MISSING || b < a)
		return NAN;
	return (double)(b - a) / (double)(u->t_ns[1] - u->t_ns[0]);
}

static int64_t now_value(const struct tg_reply *u, enum tg_reply_value what)
{
	return u->t_ns[1] ? u->value[1][what] : TG_MISSING;
}

/* PSS, as an ipykernel says; where that is not known now, RSS, which has shared pages twice. */
static int64_t memory_of_tree(const struct tg_reply *u)
{
	int64_t rss = now_value(u, TG_REPLY_TREE_RSS_BYTES);
	bool known = u->pss_ns && u->t_ns[1] - u->pss_ns < PSS_NS;

	return known && rss != TG_MISSING ? TG_MIN(u->pss_bytes, rss) : rss;
}

static void add_int(struct tg_jw *w, const char *key, int64_t v)
{
	if (v != TG_MISSING)
		tg_jw_kint(w, key, v);
}

static void add_fixed(struct tg_jw *w, const char *key, double v)
{
	if (!isfinite(v))
		return;
	tg_jw_key(w, key);
	tg_jw_fixed(w, v, 1);
}

/* psutil's virtual_memory(), as far as it is sampled. */
static void add_node_memory(struct tg_jw *w, const struct tg_reply *u)
{
	int64_t total = now_value(u, TG_REPLY_NODE_TOTAL_BYTES);
	int64_t unavailable = now_value(u, TG_REPLY_NODE_UNAVAILABLE_BYTES);

	if (total == TG_MISSING || total <= 0)
		return;
	tg_jw_key(w, "host_virtual_memory");
	tg_jw_begin_object(w);
	tg_jw_kint(w, "total", total);
	if (unavailable != TG_MISSING) {
		tg_jw_kint(w, "available", total - unavailable);
		add_fixed(w, "percent", 100.0 * (double)unavailable / (double)total);
	}
	add_int(w, "used", now_value(u, TG_REPLY_NODE_USED_BYTES));
	tg_jw_end_object(w);
}

void tg_reply_json(const struct tg_reply *u, int64_t n, pid_t root, const struct tg_limits *limits,
	struct tg_buf *out)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	char host[256] = "";
	struct tg_jw w;
	double busy;

	gethostname(host, sizeof(host) - 1);
	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	tg_jw_kint(&w, "re", n);
	tg_jw_kstr(&w, "hostname", host);
	if (root > 0)
		tg_jw_kint(&w, "pid", root);
	add_fixed(&w, "kernel_cpu", 100.0 * rate(u, TG_REPLY_TREE_CPU_NS));
	add_int(&w, "kernel_memory", memory_of_tree(u));
	if (cpus > 0) {
		tg_jw_kint(&w, "cpu_count", cpus);
		/* /proc/stat moves in ticks: a short interval can seem to hold more than there is
		 */
		busy = 100.0 * rate(u, TG_REPLY_NODE_BUSY_NS) / (double)cpus;
		add_fixed(&w, "host_cpu_percent", busy > 100.0 ? 100.0 : busy);
	}
	add_node_memory(&w, u);
	if (limits->cores_milli != TG_MISSING) {
		tg_jw_knum(&w, "limit_cores", (double)limits->cores_milli / 1000);
		tg_jw_kstr(&w, "limit_cores_why", limits->cores_why);
	}
	if (limits->memory_bytes != TG_MISSING) {
		tg_jw_kint(&w, "limit_bytes", limits->memory_bytes);
		tg_jw_kstr(&w, "limit_bytes_why", limits->memory_why);
	}
	tg_jw_end_object(&w);
}

void tg_reply_progress(const struct tg_reply *u, int64_t n, const char *stage, struct tg_buf *out)
{
	double cores = rate(u, TG_REPLY_TREE_CPU_NS);
	struct tg_jw w;

	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	tg_jw_kint(&w, "re", n);
	if (isfinite(cores))
		tg_jw_knum(&w, "cores", cores);
	add_int(&w, "memory", memory_of_tree(u));
	add_fixed(&w, "read_per_s", 1e9 * rate(u, TG_REPLY_READ_BYTES));
	add_fixed(&w, "write_per_s", 1e9 * rate(u, TG_REPLY_WRITE_BYTES));
	if (stage)
		tg_jw_kstr(&w, "stage", stage);
	tg_jw_end_object(&w);
}

/* "498 MB", "55.1 GB" */
static void add_size(struct tg_buf *out, int64_t bytes)
{
	if (bytes < INT64_C(1000000000))
		tg_buf_addf(out, "%.0f MB", (double)bytes / 1e6);
	else
		tg_buf_addf(out, "%.1f GB", (double)bytes / 1e9);
}

const char *tg_reply_oom_word(enum tg_oom oom)
{
	static const char *const word[] = {
		[TG_OOM_UNKNOWN] = "unknown", [TG_OOM_NO] = "no", [TG_OOM_YES] = "yes"
	};

	return word[oom];
}

void tg_reply_oom_text(const struct tg_reply *u, enum tg_oom oom, const char *why,
	const struct tg_limits *limits, int64_t now_ns, struct tg_buf *out)
{
	int64_t limit = limits->memory_bytes;
	const char *whose = limits->memory_why;

	tg_buf_addf(out, "Out of memory: %s: %s.", tg_reply_oom_word(oom), why);
	if (!u->held_ns)
		return;
	tg_buf_adds(out, " Its processes held ");
	add_size(out, u->held_bytes);
	if (u->held_limit != TG_MISSING) {
		limit = u->held_limit;
		whose = "cgroup limit";
	}
	if (limit != TG_MISSING) {
		tg_buf_adds(out, " of ");
		add_size(out, limit);
		tg_buf_addf(out, " (%s)", whose);
	}
	tg_buf_addf(out, " %.1f s before.", (double)(now_ns - u->held_ns) / (double)TG_NS_PER_S);
}
