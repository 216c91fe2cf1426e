/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/lives.h"

#include <math.h>

#include "import/matched.h"
#include "import/resolve.h"
#include "record/format.h"

#include "base/mem.h"

#define CELLS_MAX    16384 /* in a chunk */
#define PCT_ROUNDS   1.01 /* as it is printed, against the CPU time of the same interval */
#define TOTAL_ROUNDS 0.02 /* s */
#define CORES_MOST   4096 /* that a process may have used at once, where their number is unknown */

enum {
	CPU,
	RSS,
	VMS,
	PROCESSES,
	SHARED,
	CPU_PCT,
	MEM_PCT,
	READ,
	WRITE,
	ROLE_CPU,
	ROLE_RSS,
	ROLE_PROCESSES,
	METRICS
};
enum { ALWAYS = READ, TREE_METRICS = ROLE_CPU, ROLE_METRICS = METRICS - ROLE_CPU };

static const struct tg_metric metrics[METRICS] = {
	[CPU] = { "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	[RSS] = { "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
	[VMS] = { "tree.vms_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
	[PROCESSES] = { "tree.processes", "count", TG_GAUGE, TG_SCOPE_JOB, 0, NULL },
	[SHARED] = { "top.shared_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"of the resident memory of the processes that count, what may be shared" },
	[CPU_PCT] = { "top.cpu_pct", "pct", TG_GAUGE, TG_SCOPE_JOB, -1,
		"%CPU of the processes that count, added up; 100 is one core" },
	[MEM_PCT] = { "top.mem_pct", "pct", TG_GAUGE, TG_SCOPE_JOB, -1,
		"%MEM of the processes that count, added up" },
	[READ] = { "tree.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	[WRITE] = { "tree.write_bytes", "bytes", TG_COUNTER, TG_SCOPE_JOB, 0, NULL },
	[ROLE_CPU] = { "role.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
		"CPU time of the processes in a role" },
	[ROLE_RSS] = { "role.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"resident memory of the processes in a role" },
	[ROLE_PROCESSES] = { "role.processes", "count", TG_GAUGE, TG_SCOPE_JOB, 0,
		"processes in a role" },
};

const struct tg_metric *tg_lives_metrics(size_t *n)
{
	*n = METRICS;
	return metrics;
}

bool tg_lives_tell(const char *metric)
{
	for (size_t i = 0; i < METRICS; i++)
		if (!strcmp(metrics[i].name, metric))
			return true;
	return false;
}

/* ---- the tables ---- */

/* Which roles occur, and whether the log tells of storage. */
static void find_roles(struct tg_lives *l)
{
	const struct tg_readings *g = &l->processes->grid;

	l->role_at = tg_xcalloc(TG_ROLES_MAX, sizeof(*l->role_at));
	for (size_t i = 0; i < TG_ROLES_MAX; i++)
		l->role_at[i] = SIZE_MAX;
	for (uint32_t i = 0; i < g->n_items; i++)
		for (uint32_t k = 0; k < g->item[i].n; k++) {
			const struct tg_change *c = &g->item[i].change[k];

			if (c->column == TG_P_ROLE && !isnan(c->value))
				l->role_at[(size_t)c->value] = 0;
			l->has_io |= c->column == TG_P_READ && !isnan(c->value);
		}
	for (size_t i = 0; i < TG_ROLES_MAX; i++)
		if (!l->role_at[i])
			l->role_at[i] = l->n_roles++;
}

static void start_tree(struct tg_lives *l)
{
	struct tg_column column[TREE_METRICS + ROLE_METRICS * TG_ROLES_MAX] = { 0 };
	size_t n = 0;

	for (; n < (l->has_io ? TREE_METRICS : ALWAYS); n++)
		column[n].metric = &metrics[n];
	for (size_t r = 0; r < TG_ROLES_MAX; r++)
		for (size_t m = 0; l->role_at[r] != SIZE_MAX && m < ROLE_METRICS; m++, n++) {
			column[n].metric = &metrics[ROLE_CPU + m];
			tg_store_instance(column[n].instance, sizeof(column[n].instance),
				l->processes->roles->role[r].name);
		}
	for (size_t i = 0; i < n; i++)
		column[i].period_ns = l->period_ns;
	l->tree = tg_block_new(
		tg_store_table(l->store, "processes", column, n), (uint32_t)n, TG_STORE_ROWS);
	l->row = tg_xcalloc(n, sizeof(*l->row));
}

void tg_lives_begin(struct tg_lives *l, struct tg_store *store, const struct tg_logfile *log,
	int64_t cpus, uint32_t next_entity, bool has_tree)
{
	*l = (struct tg_lives){ .store = store,
		.log = log,
		.processes = &log->processes,
		.period_ns = tg_resolve_period_ns(&log->processes.grid),
		.before_ns = TG_UNKNOWN,
		.cpus = cpus,
		.now = tg_xcalloc(log->processes.grid.n_items + 1, sizeof(*l->now)),
		.next_entity = next_entity,
		.has_tree = has_tree,
		.cells = tg_process_block_new() };
	for (uint32_t i = 0; i < log->processes.grid.n_items; i++)
		l->now[i].role = -1;
	find_roles(l);
	l->role_sum = tg_xcalloc((size_t)TG_ROLES_MAX * ROLE_METRICS, sizeof(*l->role_sum));
	tg_walk_begin(&l->walk, &log->processes.grid);
}

void tg_lives_end(struct tg_lives *l)
{
	tg_store_processes(l->store, l->cells);
	if (l->tree)
		tg_store_row(l->store, l->tree, 0, NULL);
	tg_process_block_free(l->cells);
	tg_block_free(l->tree);
	tg_walk_end(&l->walk);
	free(l->now);
	free(l->dying);
	free(l->role_at);
	free(l->role_sum);
	free(l->row);
}

int64_t tg_lives_next_ns(const struct tg_lives *l)
{
	uint32_t next = l->walk.tick + 1; /* UINT32_MAX + 1 is 0 */

	return next < l->processes->grid.n_ticks ? l->processes->grid.tick[next].utc_ns : INT64_MAX;
}

/* ---- births and deaths ---- */

/* "/usr/bin/python3 x.py": "python3". */
static void add_comm(struct tg_jw *w, const char *command)
{
	size_t len = strcspn(command, " "), from = len;

	while (from && command[from - 1] != '/')
		from--;
	if (command[0] != '/')
		from = 0;
	tg_jw_key(w, "comm");
	tg_jw_strn(w, command + from, len - from);
}

static void say_birth(struct tg_lives *l, const struct tg_naming *naming, int64_t utc_ns)
{
	const struct tg_log_process *process = &l->processes->process[naming->item];
	struct tg_life_now *now = &l->now[naming->item];
	struct tg_jw *w = tg_store_event(l->store, "birth", utc_ns);
	int role = tg_roles_command(l->processes->roles, naming->command, strlen(naming->command))
			   ->role;

	if (!now->entity)
		now->entity = l->next_entity++;
	tg_jw_kint(w, "entity", now->entity);
	tg_jw_kint(w, "pid", process->pid);
	add_comm(w, naming->command);
	tg_jw_kstr(w, "args", naming->command);
	if (role >= 0)
		tg_jw_kstr(w, "role", l->processes->roles->role[role].name);
	tg_store_event_close(l->store);
}

static void say_deaths(struct tg_lives *l, int64_t utc_ns)
{
	for (size_t i = 0; i < l->n_dying; i++) {
		const struct tg_life_now *now = &l->now[l->dying[i]];
		struct tg_jw *w;

		if (!now->entity)
			continue;
		w = tg_store_event(l->store, "death", utc_ns);
		tg_jw_kint(w, "entity", now->entity);
		tg_jw_kint(w, "cpu_ns", tg_store_value(now->cpu_s * 1e9, 0));
		tg_store_event_close(l->store);
	}
	l->n_dying = 0;
}

/* ---- rows ---- */

/*
 * Take what a process has used in its life, and return what of that it has since the tick before,
 * in seconds.
 */
static double take_cpu(const struct tg_lives *l, const struct tg_walk_row *row, int64_t length_ns)
{
	struct tg_life_now *now = &l->now[row->item];
	double total = row->value[TG_P_CPU_S], before = now->cpu_s;
	double length = (double)TG_MAX(length_ns, 0) / 1e9;
	double pct = row->value[TG_P_CPU_PCT], by_pct = isnan(pct) ? 0 : pct / 100 * length;
	double most = length * (double)(l->cpus > 0 ? l->cpus : CORES_MOST) + 1;
	bool fine = row->value[TG_P_CPU_UNIT_S] <= TG_P_FINE_S, is_new = !now->seen;

	now->seen = true;
	now->cpu_s = fine ? total : before + by_pct;
	if (is_new && !fine && !isnan(total))
		now->cpu_s = total;
	if (length_ns < 0)
		return 0;
	if (is_new && !fine)
		return by_pct;
	/* one that is older than it looks was hidden before, as idle ones may be */
	if (is_new && total > fmin(most, by_pct * PCT_ROUNDS + TOTAL_ROUNDS))
		return by_pct;
	return fmax(now->cpu_s - before, 0);
}

static void add_cell(struct tg_lives *l, const struct tg_walk_row *row, int64_t utc_ns,
	uint32_t field, double value)
{
	struct tg_process_cell cell = { .t_ns = tg_store_stamp(l->store, utc_ns),
		.entity = l->now[row->item].entity,
		.field = field,
		.value = tg_store_value(value, 0) };

	if (cell.entity && cell.value != TG_MISSING)
		tg_process_block_add(l->cells, &cell);
}

/* The columns that changed with this tick, as bits. */
static unsigned changed(const struct tg_lives *l, const struct tg_walk_row *row)
{
	const struct tg_log_item *item = &l->processes->grid.item[row->item];
	unsigned bits = 0;

	for (uint32_t i = row->next; i-- > 0 && item->change[i].tick == l->walk.tick;)
		bits |= 1u << item->change[i].column;
	return bits;
}

static void note_dying(struct tg_lives *l, uint32_t item)
{
	if (l->processes->grid.item[item].last != l->walk.tick)
		return;
	TG_GROW(l->dying, l->n_dying + 1, l->cap_dying);
	l->dying[l->n_dying++] = item;
}

/* Rates to what was read and written since the log began. */
static void take_io(
	struct tg_lives *l, const struct tg_walk_row *row, int64_t utc_ns, int64_t length_ns)
{
	struct tg_life_now *now = &l->now[row->item];
	double *const kib[] = { &now->read_kib, &now->write_kib };

	for (int i = 0; i < 2 && length_ns > 0; i++) {
		double more = row->value[TG_P_READ + i] * (double)length_ns / 1e9;

		if (!(more > 0))
			continue;
		*kib[i] += more;
		add_cell(l, row, utc_ns, i ? TG_PROCESS_WRITE_BYTES : TG_PROCESS_READ_BYTES,
			*kib[i] * 1024);
		if (tg_matched_counts(row))
			l->io_kib[i] += more;
	}
}

/* As most are in most ticks: nothing of it changed, and it is in no sum. */
static bool is_idle(const struct tg_lives *l, const struct tg_walk_row *row, unsigned bits)
{
	const struct tg_life_now *now = &l->now[row->item];
	const double *v = row->value;

	return !bits && now->seen && now->role < 0 && !tg_matched_counts(row) &&
	       v[TG_P_CPU_UNIT_S] <= TG_P_FINE_S && !(v[TG_P_READ] > 0) && !(v[TG_P_WRITE] > 0);
}

/* Returns what it adds to the CPU time of the tree. */
static double take_row(
	struct tg_lives *l, const struct tg_walk_row *row, int64_t utc_ns, int64_t length_ns)
{
	struct tg_life_now *now = &l->now[row->item];
	const double *v = row->value;
	unsigned bits = changed(l, row);
	double before = now->seen ? now->cpu_s : -1, cpu;
	double *of_role;

	note_dying(l, row->item);
	if (is_idle(l, row, bits))
		return 0;
	cpu = take_cpu(l, row, length_ns);
	if (now->cpu_s != before)
		add_cell(l, row, utc_ns, TG_PROCESS_CPU_NS, now->cpu_s * 1e9);
	if (bits & 1u << TG_P_RES)
		add_cell(l, row, utc_ns, TG_PROCESS_RSS_BYTES, v[TG_P_RES] * 1024);
	if (bits & 1u << TG_P_VIRT)
		add_cell(l, row, utc_ns, TG_PROCESS_VMS_BYTES, v[TG_P_VIRT] * 1024);
	take_io(l, row, utc_ns, length_ns);
	if (tg_matched_counts(row))
		now->role = (int)v[TG_P_ROLE];
	else if (v[TG_P_STATE] != 'Z') /* what has ended has its last CPU time still */
		now->role = -1;
	if (now->role < 0)
		return 0;
	of_role = &l->role_sum[(size_t)now->role * ROLE_METRICS];
	of_role[0] += cpu;
	if (tg_matched_counts(row)) {
		of_role[1] += v[TG_P_RES];
		of_role[2]++;
	}
	return cpu;
}

/* A counter of the tree grows by so much; its value. */
static int64_t count(const struct tg_lives *l, int metric, double more)
{
	size_t at = tg_store_counter(l->store, metrics[metric].name, "");

	l->store->counter[at] += more;
	return tg_store_value(l->store->counter[at], 0);
}

static void write_tree(struct tg_lives *l, int64_t utc_ns, double cpu_s)
{
	struct tg_matched sum;
	size_t n = l->has_io ? TREE_METRICS : ALWAYS;

	tg_matched_sum(&l->walk, &sum);
	l->row[CPU] = count(l, CPU, cpu_s * 1e9);
	for (int i = 0; i < 2 && l->has_io; i++) {
		l->row[READ + i] = count(l, READ + i, l->io_kib[i] * 1024);
		l->io_kib[i] = 0;
	}
	l->row[RSS] = tg_store_value(sum.res_kib * 1024, 0);
	l->row[VMS] = tg_store_value(sum.virt_kib * 1024, 0);
	l->row[PROCESSES] = sum.n;
	l->row[SHARED] = tg_store_value(sum.shr_kib * 1024, 0);
	l->row[CPU_PCT] = tg_store_value(sum.cpu_pct, -1);
	l->row[MEM_PCT] = tg_store_value(sum.mem_pct, -1);
	for (size_t r = 0; r < TG_ROLES_MAX; r++) {
		double *of = &l->role_sum[r * ROLE_METRICS];
		size_t at;

		if (l->role_at[r] == SIZE_MAX)
			continue;
		at = tg_store_counter(
			l->store, metrics[ROLE_CPU].name, l->processes->roles->role[r].name);
		l->store->counter[at] += of[0] * 1e9;
		l->row[n++] = tg_store_value(l->store->counter[at], 0);
		l->row[n++] = tg_store_value(of[1] * 1024, 0);
		l->row[n++] = (int64_t)of[2];
		of[0] = of[1] = of[2] = 0;
	}
	tg_store_row(l->store, l->tree, utc_ns, l->row);
}

/* Where the first interval begins nothing is known but that counters are 0. */
static void write_begin(struct tg_lives *l, int64_t utc_ns)
{
	for (size_t i = 0; i < l->tree->n_columns; i++)
		l->row[i] = TG_MISSING;
	l->row[CPU] = count(l, CPU, 0);
	for (int i = 0; i < 2 && l->has_io; i++)
		l->row[READ + i] = count(l, READ + i, 0);
	tg_store_row(l->store, l->tree, utc_ns, l->row);
}

/* Who died in a time that another log has told of is not born in this one. */
static void say_births(struct tg_lives *l, int64_t utc_ns)
{
	const struct tg_processes *p = l->processes;

	for (; l->next_naming < p->n_namings && p->naming[l->next_naming].tick <= l->walk.tick;
		l->next_naming++) {
		const struct tg_naming *naming = &p->naming[l->next_naming];

		if (p->grid.item[naming->item].last >= l->walk.tick)
			say_birth(l, naming, utc_ns);
	}
}

/* A tick of a time that another log has told of. */
static void pass_over(struct tg_lives *l, int64_t from_ns)
{
	for (size_t i = 0; i < l->walk.n; i++)
		take_cpu(l, &l->walk.row[i], -1);
	l->before_ns = from_ns;
}

void tg_lives_tick(struct tg_lives *l, int64_t from_ns)
{
	const struct tg_processes *p = l->processes;
	int64_t utc, begin, length;
	double cpu = 0;

	tg_walk_next(&l->walk);
	utc = p->grid.tick[l->walk.tick].utc_ns;
	if (utc <= from_ns) {
		pass_over(l, from_ns);
		return;
	}
	begin = l->before_ns == TG_UNKNOWN ? p->grid.tick[l->walk.tick].begin_ns : l->before_ns;
	length = begin == TG_UNKNOWN ? -1 : utc - begin;
	if (l->has_tree && !l->tree)
		start_tree(l);
	if (l->tree && l->before_ns == TG_UNKNOWN && begin != TG_UNKNOWN && begin < utc)
		write_begin(l, begin);
	say_deaths(l, utc);
	say_births(l, utc);
	for (size_t i = 0; i < l->walk.n; i++)
		cpu += take_row(l, &l->walk.row[i], utc, length);
	if (l->tree)
		write_tree(l, utc, cpu);
	if (l->cells->n >= CELLS_MAX)
		tg_store_processes(l->store, l->cells);
	l->before_ns = utc;
}
