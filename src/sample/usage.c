/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/usage.h"

#include "base/mem.h"

struct tg_usage tg_usage_of(const struct tg_process *p)
{
	struct tg_usage u = { .cpu_ns = p->clock_ns + p->waited_ns,
		.waited_ns = p->waited_ns,
		.io_known = p->io_known };

	memcpy(u.faults, p->faults, sizeof(u.faults));
	memcpy(u.io, p->io, sizeof(u.io));
	return u;
}

void tg_usage_add(struct tg_usage *to, const struct tg_usage *u)
{
	to->cpu_ns += u->cpu_ns;
	for (size_t i = 0; i < TG_FAULTS; i++)
		to->faults[i] += u->faults[i];
	if (!u->io_known)
		return;
	to->io_known = true;
	for (size_t i = 0; i < TG_IOS; i++)
		to->io[i] += u->io[i];
}

struct tg_usage tg_usage_gain(const struct tg_process *p, const struct tg_usage *before)
{
	struct tg_usage gain = { .io_known = p->io_known && before->io_known };

	gain.cpu_ns = p->waited_ns - before->waited_ns - p->late_used.cpu_ns;
	for (size_t i = 0; gain.io_known && i < TG_IOS; i++)
		gain.io[i] = p->io[i] - before->io[i] - p->late_used.io[i];
	return gain;
}

static bool covers_cpu(const struct tg_usage *gain, const struct tg_usage *part, int64_t tick_ns)
{
	return gain->cpu_ns >= part->cpu_ns - 2 * tick_ns;
}

/* What may not be read is no evidence against it. */
static bool covers_io(const struct tg_usage *gain, const struct tg_usage *part)
{
	if (!gain->io_known || !part->io_known)
		return true;
	for (size_t i = 0; i < TG_IOS; i++)
		if (gain->io[i] < part->io[i])
			return false;
	return true;
}

static void take_cpu(struct tg_usage *from, const struct tg_usage *part)
{
	from->cpu_ns = TG_MAX(from->cpu_ns - part->cpu_ns, 0);
}

static void take_io(struct tg_usage *from, const struct tg_usage *part)
{
	for (size_t i = 0; from->io_known && part->io_known && i < TG_IOS; i++)
		from->io[i] -= part->io[i];
}

static void look_again(struct tg_process *p, struct tg_env *env)
{
	struct tg_usage now;

	if (p->late_read)
		return;
	p->late_read = true;
	p->late = (struct tg_usage){ 0 };
	p->late_gone = tg_process_read_usage(p, env, &now) < 0;
	if (p->late_gone)
		return;
	p->late.io_known = now.io_known && p->io_known;
	p->late.cpu_ns = now.cpu_ns - p->waited_ns;
	for (size_t i = 0; p->late.io_known && i < TG_IOS; i++)
		p->late.io[i] = now.io[i] - p->io[i];
}

/*
 * CPU time and I/O are two files, read one after the other, and a child may be waited for between
 * them: the first look then shows its I/O, but its CPU time only the second. Hence the two are
 * looked for apart, and it counts as waited for when both are found. Page faults are in one file
 * with CPU time, and go with it.
 */
bool tg_usage_settle(struct tg_process *p, const struct tg_usage *part, struct tg_env *env,
	struct tg_usage *carry)
{
	bool cpu = covers_cpu(&p->credit, part, env->tick_ns), io = covers_io(&p->credit, part);
	struct tg_usage late = *part;

	if (!cpu || !io) {
		look_again(p, env);
		/* if it has gone itself meanwhile, its own parent gets this with the rest of it */
		if (!p->late_gone && ((!cpu && !covers_cpu(&p->late, part, env->tick_ns)) ||
					     (!io && !covers_io(&p->late, part))))
			return false;
		if (!cpu)
			take_cpu(&p->late, part);
		if (!io)
			take_io(&p->late, part);
		if (cpu) {
			late.cpu_ns = 0;
			memset(late.faults, 0, sizeof(late.faults));
		}
		late.io_known = !io && part->io_known;
		tg_usage_add(&p->late_used, &late);
		tg_usage_add(carry, &late);
		p->read_now = true;
	}
	if (cpu)
		take_cpu(&p->credit, part);
	if (io)
		take_io(&p->credit, part);
	return true;
}
