/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/crowd.h"

#include "base/mem.h"

void tg_crowd_release(struct tg_crowd *c)
{
	free(c->member);
	free(c->command);
	*c = (struct tg_crowd){ 0 };
}

/* Where `entity` is, or would be. The sampler gives numbers out in ascending order. */
static size_t place(const struct tg_crowd *c, uint32_t entity)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->member[mid].entity < entity)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct tg_crowd_member *find(const struct tg_crowd *c, uint32_t entity)
{
	size_t i = place(c, entity);

	return i < c->n && c->member[i].entity == entity ? &c->member[i] : NULL;
}

static void forget(struct tg_crowd *c, struct tg_crowd_member *m)
{
	size_t i = (size_t)(m - c->member);

	c->n--;
	memmove(m, m + 1, (c->n - i) * sizeof(*m));
}

static uint32_t command_of(struct tg_crowd *c, const char *comm)
{
	struct tg_crowd_command *new;
	bool room = c->n_commands < TG_CROWD_COMMANDS;

	for (size_t i = 0; i < c->n_commands; i++)
		if (!strcmp(c->command[i].comm, comm))
			return (uint32_t)i;
	if (!room) /* the last one takes all that come too late */
		return TG_CROWD_COMMANDS - 1;
	TG_GROW(c->command, c->n_commands + 1, c->cap_commands);
	new = &c->command[c->n_commands];
	*new = (struct tg_crowd_command){ 0 };
	if (c->n_commands == TG_CROWD_COMMANDS - 1)
		comm = "other";
	snprintf(new->comm, sizeof(new->comm), "%s", comm);
	return (uint32_t)c->n_commands++;
}

static void write_birth(struct tg_events *e, int64_t t_ns, const struct tg_birth *b)
{
	struct tg_jw *w = tg_events_open(e, "birth", t_ns);

	tg_jw_kint(w, "entity", b->entity);
	tg_jw_kint(w, "pid", b->pid);
	tg_jw_kint(w, "ppid", b->ppid);
	tg_jw_kint(w, "start_ns", b->start_ns);
	tg_jw_kstr(w, "comm", b->comm);
	if (b->args)
		tg_jw_kstr(w, "args", b->args);
	tg_events_close(e);
}

void tg_crowd_birth(struct tg_crowd *c, struct tg_events *e, const struct tg_birth *birth)
{
	struct tg_crowd_member m = { .entity = birth->entity,
		.pid = birth->pid,
		.ppid = birth->ppid,
		.t_ns = birth->t_ns,
		.start_ns = birth->start_ns };
	bool known = birth->entity < c->next_entity;
	struct tg_crowd_member *old = known ? find(c, birth->entity) : NULL;
	size_t i;

	if (old) { /* another program in one of the crowd */
		c->command[old->command].births--;
		old->command = command_of(c, birth->comm);
		c->command[old->command].births++;
		return;
	}
	if (!known)
		c->next_entity = birth->entity + 1;
	if (tg_budget_take(&c->births, birth->t_ns, TG_CROWD_BIRTHS_PER_S)) {
		write_birth(e, birth->t_ns, birth);
		return;
	}
	if (known) /* it keeps the name that it had */
		return;
	m.command = command_of(c, birth->comm);
	c->command[m.command].births++;
	if (c->n == TG_CROWD_MEMBERS)
		return;
	i = place(c, m.entity);
	TG_GROW(c->member, c->n + 1, c->cap);
	memmove(c->member + i + 1, c->member + i, (c->n - i) * sizeof(m));
	c->member[i] = m;
	c->n++;
}

void tg_crowd_death(struct tg_crowd *c, struct tg_events *e, int64_t t_ns, uint32_t entity,
	pid_t pid, int64_t cpu_ns)
{
	struct tg_crowd_member *m = find(c, entity);
	struct tg_jw *w;

	if (m) {
		struct tg_crowd_command *command = &c->command[m->command];

		command->deaths++;
		if (cpu_ns != TG_MISSING)
			command->cpu_ns += cpu_ns;
		forget(c, m);
		return;
	}
	w = tg_events_open(e, "death", t_ns);
	tg_jw_kint(w, "entity", entity);
	tg_jw_kint(w, "pid", pid);
	if (cpu_ns != TG_MISSING)
		tg_jw_kint(w, "cpu_ns", cpu_ns);
	tg_events_close(e);
}

bool tg_crowd_value(struct tg_crowd *c, struct tg_events *e, int64_t t_ns, uint32_t entity)
{
	struct tg_crowd_member *m = find(c, entity);
	struct tg_birth birth;

	if (!m)
		return true;
	if (t_ns - m->t_ns < TG_NS_PER_S ||
		!tg_budget_take(&c->births, t_ns, TG_CROWD_BIRTHS_PER_S))
		return false;
	birth = (struct tg_birth){ .entity = entity,
		.pid = m->pid,
		.ppid = m->ppid,
		.start_ns = m->start_ns,
		.comm = c->command[m->command].comm };
	c->command[m->command].births--;
	write_birth(e, m->t_ns, &birth);
	forget(c, m);
	return true;
}

void tg_crowd_flush(struct tg_crowd *c, struct tg_events *e, int64_t t_ns)
{
	for (size_t i = 0; i < c->n_commands; i++) {
		struct tg_crowd_command *command = &c->command[i];
		struct tg_jw *w;

		if (!command->births && !command->deaths)
			continue;
		w = tg_events_open(e, "crowd", t_ns);
		tg_jw_kstr(w, "comm", command->comm);
		tg_jw_kint(w, "births", command->births);
		tg_jw_kint(w, "deaths", command->deaths);
		tg_jw_kint(w, "cpu_ns", command->cpu_ns);
		tg_events_close(e);
		command->births = command->deaths = 0;
		command->cpu_ns = 0;
	}
	/* names that nobody in the crowd has any more make room for others */
	if (c->n == 0)
		c->n_commands = 0;
}
