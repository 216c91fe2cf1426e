/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/bands.h"

#include "analyze/moments.h"
#include "report/format.h"

#include "base/mem.h"

void tg_bands_add(struct tg_chart *c, const struct tg_span *const *span, size_t n, int64_t from_ns)
{
	struct tg_buf label = TG_BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		const struct tg_span *s = span[i];

		if (strcmp(s->kind, "cell") != 0 && strcmp(s->kind, "stage") != 0)
			continue;
		tg_buf_clear(&label);
		tg_span_label(s, &label);
		tg_buf_addc(&label, ' ');
		tg_fmt_seconds(&label, (double)(s->end_ns - s->begin_ns) / 1e9);
		tg_chart_band(c, label.data, (double)(s->begin_utc_ns - from_ns) / 1e9,
			(double)(s->end_utc_ns - from_ns) / 1e9, tg_span_failed(s));
	}
	tg_buf_release(&label);
}

size_t tg_flags_add(
	struct tg_chart *c, const struct tg_recording *r, int64_t from_ns, int64_t to_ns)
{
	struct tg_buf label = TG_BUF_INIT;
	const struct tg_moment **mark;
	size_t n = tg_marks_of(r, from_ns, to_ns, &mark), shown = TG_MIN(n, (size_t)TG_MARKS_TOLD);

	for (size_t i = 0; i < shown; i++) {
		tg_buf_clear(&label);
		tg_moment_label(mark[i], &label);
		tg_chart_flag(c, label.data, (double)(mark[i]->utc_ns - from_ns) / 1e9);
	}
	tg_buf_release(&label);
	free(mark);
	return n - shown;
}
