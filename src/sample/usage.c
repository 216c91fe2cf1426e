/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/usage.h"

#include "base/mem.h"

struct tg_usage tg_usage_of(const struct tg_process *p)
{
	struct tg_usage u = { .cpu_ns = p->clock_ns + p->waited_ns,
		.waited_ns = p->waited_ns,
		.io_known = p->io_known };

	memcpy(u.io, p->io, sizeof(u.io));
	return u;
}

void tg_usage_add(struct tg_usage *to, const struct tg_usage *u)
{
	to->cpu_ns += u->cpu_ns;
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

bool tg_usage_take(struct tg_usage *gain, const struct tg_usage *part, int64_t tick_ns)
{
	bool io = gain->io_known && part->io_known;

	if (gain->cpu_ns < part->cpu_ns - 2 * tick_ns)
		return false;
	for (size_t i = 0; io && i < TG_IOS; i++)
		if (gain->io[i] < part->io[i])
			return false;
	gain->cpu_ns = TG_MAX(gain->cpu_ns - part->cpu_ns, 0);
	for (size_t i = 0; io && i < TG_IOS; i++)
		gain->io[i] -= part->io[i];
	return true;
}

void tg_usage_look_again(struct tg_process *p, struct tg_env *env)
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
