/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/tell.h"

#include "base/mem.h"

#define ARGS_TRIES 3

/* Also again under the same number: after an exec, and when its arguments were late. */
static void tell_birth(struct tg_teller *t, struct tg_process *p)
{
	struct tg_birth birth = {
		.t_ns = t->t_ns,
		.entity = p->entity,
		.pid = p->pid,
		.ppid = p->ppid,
		.start_ns = tg_scaled(p->start_ticks, t->env->tick_ns),
		.comm = p->comm,
	};
	bool named = !p->told_birth || p->execed;

	if (named)
		p->args_tries = t->no_args ? 0 : ARGS_TRIES;
	/*
	 * The kernel sets the new name first, and the arguments a moment later. One in state D is
	 * asked when it has run, and then it is read anyway.
	 */
	if (p->args_tries && tg_process_args(p, t->env, t->args, sizeof(t->args))) {
		birth.args = t->args;
		p->args_tries = 0;
	} else if (p->args_tries && p->state != 'D') {
		p->args_tries -= !t->again;
		p->read_now = true;
	}
	if (named || birth.args)
		t->hooks.birth(t->hooks.ctx, &birth);
}

void tg_tell_death(struct tg_teller *t, struct tg_process *p)
{
	bool is_news = p->told_birth && !p->told_death;

	if (is_news && p->pid != t->env->root)
		t->env->vanished_ns = t->t_ns;
	if (is_news && t->hooks.death)
		t->hooks.death(t->hooks.ctx, t->t_ns, p->entity, p->pid, p->clock_ns);
	p->told_death = true;
}

void tg_tell(struct tg_teller *t, struct tg_process *p)
{
	const int64_t value[TG_FIELDS] = {
		[TG_FIELD_CPU_NS] = p->clock_ns,
		[TG_FIELD_RSS_BYTES] = p->rss_bytes,
		[TG_FIELD_VMS_BYTES] = p->vms_bytes,
		[TG_FIELD_HWM_BYTES] = p->hwm_bytes ? p->hwm_bytes : TG_MISSING,
		[TG_FIELD_READ_BYTES] = p->io_known ? p->io[TG_IO_READ] : TG_MISSING,
		[TG_FIELD_WRITE_BYTES] = p->io_known ? p->io[TG_IO_WRITE] : TG_MISSING,
		[TG_FIELD_READ_OPS] = p->io_known ? p->io[TG_IO_SYSCR] : TG_MISSING,
		[TG_FIELD_WRITE_OPS] = p->io_known ? p->io[TG_IO_SYSCW] : TG_MISSING,
		[TG_FIELD_THREADS] = p->threads,
	};

	if (p->told_death)
		return;
	if (t->hooks.birth && (!p->told_birth || p->execed || p->args_tries))
		tell_birth(t, p);
	p->told_birth = true;
	for (uint32_t i = 0; i < TG_FIELDS; i++) {
		if (value[i] == p->told[i] || value[i] < 0)
			continue;
		p->told[i] = value[i];
		if (t->hooks.value)
			t->hooks.value(t->hooks.ctx, t->t_ns, p->entity, i, value[i]);
	}
	if (p->zombie)
		tg_tell_death(t, p);
}
