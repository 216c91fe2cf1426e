/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/activity.h"

#include <math.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/map.h"
#include "record/format.h"

#include "base/mem.h"

#define COMMANDS_MAX 1024 /* with bins of their own while they are counted, and the rest */
#define CROWDS_MAX   4096
#define NONE         SIZE_MAX

/* What was read of a process last. */
struct last {
	size_t command;
	int64_t cpu_ns, rss_bytes; /* TG_MISSING: nothing */
	bool born; /* its clocks began in the recording, and count from 0 */
};

struct command {
	struct tg_command_use use;
	double rss_now;
	int64_t since_ns; /* rss_now is in the bins up to then */
};

enum by { BY_COMMAND, BY_PROCESS, WAYS };

/* What is added up in one way. */
struct pass {
	struct tg_recording *r;
	enum by by;
	size_t n_bins, near_bin;
	int64_t *edge; /* n_bins + 1, of the bins */
	int64_t from_ns, to_ns;
	struct command *command;
	size_t n_commands, cap_commands;
	struct tg_map command_at; /* by the hash of the name, or what follows it and is free */
	size_t rest; /* place of all that came when there were COMMANDS_MAX; NONE */
	struct last *last; /* of each life */
	const struct tg_span_session *session;
	size_t *dying; /* places of the session's lives, by their death */
	size_t n_dying, next_dying;
	int64_t t_ns, t_utc_ns, before_utc_ns; /* of these rows, and the ones before */
};

/* All that is done with a row. */
struct passes {
	struct pass way[WAYS];
	struct tg_life_use *life; /* NULL: what they used is known already */
};

/* ---- bins ---- */

static void set_edges(struct pass *p)
{
	double span = (double)(p->to_ns - p->from_ns);

	p->edge = tg_xcalloc(p->n_bins + 1, sizeof(*p->edge));
	for (size_t i = 0; i <= p->n_bins; i++)
		p->edge[i] = p->from_ns + (int64_t)(span * (double)i / (double)p->n_bins);
}

/* Times come nearly in order: look from the bin that was found last. */
static size_t bin_at(struct pass *p, int64_t t_ns)
{
	size_t i = p->near_bin;

	while (i && p->edge[i] > t_ns)
		i--;
	while (i + 1 < p->n_bins && p->edge[i + 1] <= t_ns)
		i++;
	p->near_bin = i;
	return i;
}

/* Spread `amount` evenly over [a_ns, b_ns]; `top` is its height, for the maximum. */
static void spread(
	struct pass *p, struct tg_bin *bin, int64_t a_ns, int64_t b_ns, double amount, double top)
{
	double whole = (double)(b_ns - a_ns);
	int64_t a = TG_MAX(a_ns, p->from_ns), b = TG_MIN(b_ns, p->to_ns);

	if (!(whole > 0) || a >= b)
		return;
	for (size_t i = bin_at(p, a); i < p->n_bins && p->edge[i] < b; i++) {
		int64_t lo = TG_MAX(a, p->edge[i]), hi = TG_MIN(b, p->edge[i + 1]);

		if (hi > lo)
			bin[i].mean += amount * (double)(hi - lo) / whole;
		if (top > bin[i].max)
			bin[i].max = top;
	}
}

static struct tg_bin *new_bins(const struct pass *p)
{
	struct tg_bin *bin = tg_xcalloc(p->n_bins, sizeof(*bin));

	for (size_t i = 0; i < p->n_bins; i++) {
		bin[i].t0_ns = p->edge[i];
		bin[i].t1_ns = p->edge[i + 1];
	}
	return bin;
}

/* ---- commands ---- */

static size_t add_command(struct pass *p, const char *name)
{
	struct command *c;

	TG_GROW(p->command, p->n_commands + 1, p->cap_commands);
	c = &p->command[p->n_commands];
	*c = (struct command){ .use = { .name = name ? tg_xstrdup(name) : NULL },
		.since_ns = p->from_ns };
	c->use.cores = new_bins(p);
	c->use.rss = new_bins(p);
	return p->n_commands++;
}

static size_t command_of(struct pass *p, const char *name)
{
	uint64_t key = tg_hash(TG_HASH_INIT, name, strlen(name));
	ptrdiff_t at;

	while ((at = tg_map_get(&p->command_at, key)) >= 0 &&
		strcmp(p->command[at].use.name, name) != 0)
		key++;
	if (at >= 0)
		return (size_t)at;
	if (p->n_commands < COMMANDS_MAX) {
		tg_map_put(&p->command_at, key, p->n_commands);
		return add_command(p, name);
	}
	if (p->rest == NONE)
		p->rest = add_command(p, NULL);
	return p->rest;
}

/* The name by which commands are told apart. */
static const char *name_of(const struct tg_life *life, bool roles)
{
	return roles ? life->role : life->comm ? life->comm : "?";
}

/* The place of its command; NONE: it is none of those that are asked for. */
static size_t command_of_life(struct pass *p, const struct tg_life *life, bool roles)
{
	struct tg_buf name = TG_BUF_INIT;
	size_t at;

	if (roles && !life->role)
		return NONE;
	tg_buf_adds(&name, name_of(life, roles));
	if (p->by == BY_PROCESS)
		tg_buf_addf(&name, " %lld", (long long)life->pid);
	at = command_of(p, name.data);
	p->command[at].use.n++;
	tg_buf_release(&name);
	return at;
}

/* A life, and how much speaks for it to have bins of its own. */
struct weighed {
	size_t life;
	double weight;
};

static int by_most(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->life > y->life) - (x->life < y->life);
}

/* Of a process its memory; of a command the CPU time of all that have its name. */
static void weigh(
	const struct pass *p, const struct tg_life_use *use, struct weighed *list, size_t n)
{
	struct tg_map at = { 0 };
	double *sum = tg_xcalloc(n + 1, sizeof(*sum));
	size_t n_names = 0;

	for (size_t i = 0; i < n && p->by == BY_PROCESS; i++)
		list[i].weight = (double)TG_MAX(use[i].rss_peak_bytes, 0);
	for (size_t i = 0; i < n && p->by == BY_COMMAND; i++) {
		const char *name = name_of(&p->r->life[i], false);
		uint64_t key = tg_hash(TG_HASH_INIT, name, strlen(name));

		if (tg_map_get(&at, key) < 0)
			tg_map_put(&at, key, n_names++);
		sum[tg_map_get(&at, key)] += (double)TG_MAX(use[i].cpu_ns, 0);
	}
	for (size_t i = 0; i < n && p->by == BY_COMMAND; i++) {
		const char *name = name_of(&p->r->life[i], false);

		list[i].weight = sum[tg_map_get(&at, tg_hash(TG_HASH_INIT, name, strlen(name)))];
	}
	tg_map_release(&at);
	free(sum);
}

/* `use`: where there are too many for bins of each, what chooses among them; else NULL. */
static void start(struct pass *p, const struct tg_life_use *use)
{
	size_t n = p->r->n_lives;
	struct weighed *list = tg_xcalloc(n + 1, sizeof(*list));
	bool roles = false;

	for (size_t i = 0; i < n && p->by == BY_PROCESS; i++)
		roles |= p->r->life[i].role != NULL;
	for (size_t i = 0; i < n; i++)
		list[i].life = i;
	if (use) {
		weigh(p, use, list, n);
		qsort(list, n, sizeof(*list), by_most);
	}
	for (size_t i = 0; i < n; i++) {
		const struct tg_life *life = &p->r->life[list[i].life];
		const struct tg_span_session *s = tg_recording_session(p->r, life->session);

		p->last[list[i].life] = (struct last){ .command = command_of_life(p, life, roles),
			.cpu_ns = TG_MISSING,
			.rss_bytes = TG_MISSING,
			.born = s && life->birth_ns > s->first_ns };
	}
	free(list);
}

/* The memory of a command changes now by so much. */
static void add_memory(struct pass *p, size_t command, int64_t utc_ns, double bytes)
{
	struct command *c = command == NONE ? NULL : &p->command[command];
	double s;

	if (!c)
		return;
	s = (double)(utc_ns - c->since_ns) / 1e9;

	if (utc_ns > c->since_ns) {
		spread(p, c->use.rss, c->since_ns, utc_ns, c->rss_now * s, c->rss_now);
		c->since_ns = utc_ns;
	}
	c->rss_now += bytes;
	c->use.rss_peak_bytes = fmax(c->use.rss_peak_bytes, c->rss_now);
}

/* ---- the pass ---- */

/* The increase of a clock since the last row, or since 0 where it began in the recording. */
static double rise(const struct last *l, int64_t before, int64_t value)
{
	if (before != TG_MISSING)
		return value > before ? (double)(value - before) : 0;
	return l->born ? (double)value : 0;
}

static void take_cpu(struct pass *p, struct last *l, int64_t birth_utc_ns, int64_t value)
{
	double s = rise(l, l->cpu_ns, value) / 1e9;
	int64_t from = l->cpu_ns == TG_MISSING ? birth_utc_ns : p->before_utc_ns;
	double length = (double)(p->t_utc_ns - from) / 1e9;

	l->cpu_ns = value;
	p->command[l->command].use.cpu_s += s;
	if (length > 0)
		spread(p, p->command[l->command].use.cores, from, p->t_utc_ns, s, s / length);
}

/* What a process used after its last row, as it was told at its death. */
static void take_rest(struct pass *p, struct last *l, const struct tg_life *life)
{
	int64_t birth = tg_session_utc(p->session, life->birth_ns);
	int64_t death = tg_session_utc(p->session, life->death_ns);
	int64_t from = TG_MAX(birth, p->before_utc_ns);
	double s;

	if (life->cpu_ns == TG_MISSING || life->cpu_ns <= l->cpu_ns)
		return;
	s = rise(l, l->cpu_ns, life->cpu_ns) / 1e9;
	from = TG_MIN(from, death - TG_NS_PER_MS);
	p->command[l->command].use.cpu_s += s;
	spread(p, p->command[l->command].use.cores, from, death, s,
		s * 1e9 / (double)(death - from));
}

static void bury(struct pass *p, int64_t until_ns)
{
	for (; p->next_dying < p->n_dying; p->next_dying++) {
		size_t i = p->dying[p->next_dying];
		const struct tg_life *life = &p->r->life[i];
		struct last *l = &p->last[i];

		if (life->death_ns > until_ns)
			return;
		if (l->command != NONE)
			take_rest(p, l, life);
		if (l->rss_bytes != TG_MISSING)
			add_memory(p, l->command, tg_session_utc(p->session, life->death_ns),
				-(double)l->rss_bytes);
		l->rss_bytes = TG_MISSING;
	}
}

static void take_cell(
	struct pass *p, const struct tg_life *life, const struct tg_process_cell *cell)
{
	struct last *l;

	if (cell->t_ns < p->t_ns)
		return; /* damage */
	if (cell->t_ns > p->t_ns) {
		p->before_utc_ns = p->t_utc_ns;
		p->t_ns = cell->t_ns;
		p->t_utc_ns = tg_session_utc(p->session, cell->t_ns);
		bury(p, cell->t_ns);
	}
	l = &p->last[life - p->r->life];
	if (l->command == NONE)
		return;
	if (cell->field == TG_PROCESS_CPU_NS) {
		take_cpu(p, l, tg_session_utc(p->session, life->birth_ns), cell->value);
	} else if (cell->field == TG_PROCESS_RSS_BYTES) {
		add_memory(p, l->command, p->t_utc_ns,
			(double)cell->value -
				(l->rss_bytes == TG_MISSING ? 0 : (double)l->rss_bytes));
		l->rss_bytes = cell->value;
	}
}

static int each_cell(void *ctx, const struct tg_process_cell *cell)
{
	struct passes *all = ctx;
	const struct pass *any = all->way;
	const struct tg_life *life = tg_recording_life(any->r, any->session->number, cell->entity);

	if (!life || cell->value == TG_MISSING)
		return 0;
	if (all->life)
		tg_life_use_take(&all->life[life - any->r->life], cell);
	for (int i = 0; i < WAYS; i++)
		take_cell(&all->way[i], life, cell);
	return 0;
}

static int by_death(const void *a, const void *b, void *ctx)
{
	const struct tg_life *life = ctx;
	int64_t x = life[*(const size_t *)a].death_ns, y = life[*(const size_t *)b].death_ns;

	return (x > y) - (x < y);
}

static void begin_session(struct pass *p, const struct tg_span_session *s)
{
	p->session = s;
	p->n_dying = p->next_dying = 0;
	p->t_ns = s->first_ns;
	p->t_utc_ns = p->before_utc_ns = tg_session_utc(s, s->first_ns);
	for (size_t i = 0; i < p->r->n_lives; i++)
		if (p->r->life[i].session == s->number)
			p->dying[p->n_dying++] = i;
	qsort_r(p->dying, p->n_dying, sizeof(*p->dying), by_death, p->r->life);
}

/* Nothing of one session is known in the next. */
static void end_session(struct pass *p, const struct tg_span_session *s)
{
	bury(p, s->last_ns);
	for (size_t i = 0; i < p->n_commands; i++) {
		add_memory(p, i, tg_session_utc(s, s->last_ns), 0);
		p->command[i].rss_now = 0;
	}
}

static int pass_session(struct passes *all, const struct tg_span_session *s)
{
	int rc;

	for (int i = 0; i < WAYS; i++)
		begin_session(&all->way[i], s);
	rc = tg_reader_processes(
		all->way->r->reader, s->number, INT64_MIN, INT64_MAX, each_cell, all);
	for (int i = 0; i < WAYS; i++)
		end_session(&all->way[i], s);
	return rc;
}

/* ---- the end ---- */

static int by_memory(const void *a, const void *b)
{
	const struct command *x = a, *y = b;

	if (!x->use.name != !y->use.name)
		return x->use.name ? -1 : 1; /* the rest comes last */
	return x->use.rss_peak_bytes < y->use.rss_peak_bytes   ? 1
	       : x->use.rss_peak_bytes > y->use.rss_peak_bytes ? -1
							       : 0;
}

static int by_weight(const void *a, const void *b)
{
	const struct command *x = a, *y = b;

	if (x->use.cpu_s != y->use.cpu_s && x->use.name && y->use.name)
		return x->use.cpu_s < y->use.cpu_s ? 1 : -1;
	return by_memory(a, b);
}

static void join(struct tg_command_use *to, const struct tg_command_use *from, size_t n_bins)
{
	to->n += from->n;
	to->cpu_s += from->cpu_s;
	for (size_t i = 0; i < n_bins; i++) {
		to->cores[i].mean += from->cores[i].mean;
		to->cores[i].max += from->cores[i].max;
		to->rss[i].mean += from->rss[i].mean;
		to->rss[i].max += from->rss[i].max;
	}
}

static void finish_bins(struct tg_bin *bin, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bin[i].mean /= (double)(bin[i].t1_ns - bin[i].t0_ns) / 1e9;
		bin[i].max = fmax(bin[i].max, bin[i].mean);
		bin[i].min = bin[i].mean;
	}
}

static void command_release(struct tg_command_use *c)
{
	free(c->name);
	free(c->cores);
	free(c->rss);
}

/* The first of them, and the rest as one. Returns how many that are. */
static size_t hand_over(struct pass *p, size_t most, struct tg_command_use **out)
{
	struct tg_command_use *list = tg_xcalloc(most + 2, sizeof(*list));
	size_t n = 0;

	if (p->n_commands)
		qsort(p->command, p->n_commands, sizeof(*p->command),
			p->by == BY_PROCESS ? by_memory : by_weight);
	for (size_t i = 0; i < p->n_commands; i++) {
		struct tg_command_use *use = &p->command[i].use;

		if (i <= most) {
			list[n++] = *use;
			continue;
		}
		join(&list[most], use, p->n_bins);
		command_release(use);
	}
	if (p->n_commands > most + 1) {
		free(list[most].name);
		list[most].name = NULL;
		list[most].rss_peak_bytes = NAN;
	}
	for (size_t i = 0; i < n; i++) {
		finish_bins(list[i].cores, p->n_bins);
		finish_bins(list[i].rss, p->n_bins);
	}
	*out = list;
	return n;
}

static void pass_release(struct pass *p)
{
	free(p->command);
	free(p->edge);
	free(p->last);
	free(p->dying);
	tg_map_release(&p->command_at);
}

/* ---- those that lived less than a sample ---- */

static int each_event(void *ctx, uint32_t session, const char *json, size_t len)
{
	struct tg_activity *out = ctx;
	struct tg_json *e;
	const char *name;
	size_t i;

	(void)session;
	if (!strstr(json, "\"crowd\""))
		return 0;
	e = tg_json_parse(json, len, NULL);
	name = tg_json_str(tg_json_get(e, "comm"), NULL);
	if (name && !strcmp(tg_json_str(tg_json_get(e, "ev"), ""), "crowd")) {
		for (i = 0; i < out->n_crowds && strcmp(out->crowd[i].name, name) != 0;)
			i++;
		if (i == out->n_crowds && i < CROWDS_MAX) {
			/* the list has no capacity of its own: doubled at powers of two */
			if (!(i & (i - 1)))
				out->crowd =
					tg_xrealloc(out->crowd, i ? 2 * i : 1, sizeof(*out->crowd));
			out->crowd[out->n_crowds++] =
				(struct tg_crowd_use){ .name = tg_xstrdup(name) };
		}
		if (i < out->n_crowds) {
			out->crowd[i].births +=
				(uint64_t)TG_MAX(tg_json_int(tg_json_get(e, "births"), 0), 0);
			out->crowd[i].cpu_s +=
				(double)tg_json_int(tg_json_get(e, "cpu_ns"), 0) / 1e9;
		}
	}
	tg_json_free(e);
	return 0;
}

static int crowd_by_cpu(const void *a, const void *b)
{
	const struct tg_crowd_use *x = a, *y = b;

	return x->cpu_s < y->cpu_s ? 1 : x->cpu_s > y->cpu_s ? -1 : 0;
}

int tg_activity_of(struct tg_recording *r, int64_t from_ns, int64_t to_ns, size_t n_bins,
	size_t most, struct tg_activity *out)
{
	struct passes all = { 0 };
	int rc = 0;

	*out = (struct tg_activity){ .n_bins = to_ns > from_ns ? n_bins : 0 };
	if (!out->n_bins)
		return tg_lives_use(r, &out->life);
	if (r->n_lives > COMMANDS_MAX) {
		rc = tg_lives_use(r, &out->life);
		if (rc < 0)
			return rc;
	} else {
		all.life = out->life = tg_xcalloc(r->n_lives + 1, sizeof(*out->life));
		tg_life_use_init(all.life, r->n_lives);
	}
	for (int i = 0; i < WAYS; i++) {
		all.way[i] = (struct pass){ .r = r,
			.by = (enum by)i,
			.n_bins = n_bins,
			.rest = NONE,
			.from_ns = from_ns,
			.to_ns = to_ns,
			.last = tg_xcalloc(r->n_lives + 1, sizeof(*all.way[i].last)),
			.dying = tg_xcalloc(r->n_lives + 1, sizeof(*all.way[i].dying)) };
		set_edges(&all.way[i]);
		start(&all.way[i], all.life ? NULL : out->life);
	}
	for (size_t i = 0; i < r->n_sessions && rc >= 0; i++)
		rc = pass_session(&all, &r->session[i]);
	if (all.life)
		tg_life_use_settle(all.life, r);
	out->n_commands = hand_over(&all.way[BY_COMMAND], most, &out->command);
	out->n_processes = hand_over(&all.way[BY_PROCESS], most, &out->process);
	for (int i = 0; i < WAYS; i++)
		pass_release(&all.way[i]);
	if (rc >= 0)
		rc = tg_reader_events(r->reader, each_event, out);
	if (out->n_crowds)
		qsort(out->crowd, out->n_crowds, sizeof(*out->crowd), crowd_by_cpu);
	return TG_MIN(rc, 0);
}

static void list_release(struct tg_command_use *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		command_release(&list[i]);
	free(list);
}

void tg_activity_release(struct tg_activity *a)
{
	list_release(a->command, a->n_commands);
	list_release(a->process, a->n_processes);
	for (size_t i = 0; i < a->n_crowds; i++)
		free(a->crowd[i].name);
	free(a->life);
	free(a->crowd);
	*a = (struct tg_activity){ 0 };
}
