/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that hold from a moment on, and the clocks of a session that are made of them. */
#include "analyze/recording.h"

#include "base/sorted.h"

#include "base/mem.h"

ptrdiff_t tg_steps_find(const struct tg_steps *s, int64_t t_ns)
{
	return (ptrdiff_t)tg_sorted_to(s->step, s->n, t_ns, t_ns) - 1;
}

int64_t tg_steps_at(const struct tg_steps *steps, int64_t t_ns)
{
	ptrdiff_t i = tg_steps_find(steps, t_ns);

	if (!steps->n)
		return TG_MISSING;
	return steps->step[i < 0 ? 0 : i].value;
}

int64_t tg_session_utc(const struct tg_span_session *s, int64_t mono_ns)
{
	int64_t offset = tg_steps_at(&s->clock, mono_ns);

	return offset == TG_MISSING ? mono_ns : mono_ns + offset;
}

int64_t tg_session_mono(const struct tg_span_session *s, int64_t utc_ns)
{
	int64_t mono = utc_ns;

	for (size_t i = 0; i < s->clock.n; i++) {
		const struct tg_step *c = &s->clock.step[i];
		int64_t t = utc_ns - c->value;

		if (i > 0 && t < c->t_ns) /* within the jump, or before it */
			return TG_MIN(mono, c->t_ns);
		mono = t;
	}
	return mono;
}
