/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/lives.h"

#include "base/mem.h"

struct pass {
	struct tg_recording *r;
	struct tg_life_use *use;
	uint32_t session;
};

void tg_life_use_init(struct tg_life_use *use, size_t n)
{
	/* TG_MISSING is less than any value */
	for (size_t i = 0; i < n; i++)
		use[i] = (struct tg_life_use){ TG_MISSING, TG_MISSING, TG_MISSING, TG_MISSING,
			TG_MISSING, TG_MISSING };
}

void tg_life_use_take(struct tg_life_use *use, const struct tg_process_cell *cell)
{
	switch (cell->field) {
	case TG_PROCESS_CPU_NS:
		use->cpu_ns = TG_MAX(use->cpu_ns, cell->value);
		break;
	case TG_PROCESS_RSS_BYTES:
	case TG_PROCESS_HWM_BYTES:
		use->rss_peak_bytes = TG_MAX(use->rss_peak_bytes, cell->value);
		break;
	case TG_PROCESS_VMS_BYTES:
		use->vms_peak_bytes = TG_MAX(use->vms_peak_bytes, cell->value);
		break;
	case TG_PROCESS_READ_BYTES:
		use->read_bytes = TG_MAX(use->read_bytes, cell->value);
		break;
	case TG_PROCESS_WRITE_BYTES:
		use->write_bytes = TG_MAX(use->write_bytes, cell->value);
		break;
	case TG_PROCESS_THREADS:
		use->threads_max = TG_MAX(use->threads_max, cell->value);
		break;
	default:
		break;
	}
}

void tg_life_use_settle(struct tg_life_use *use, const struct tg_recording *r)
{
	for (size_t i = 0; i < r->n_lives; i++)
		if (r->life[i].cpu_ns != TG_MISSING)
			use[i].cpu_ns = r->life[i].cpu_ns;
}

static int each_cell(void *ctx, const struct tg_process_cell *cell)
{
	struct pass *p = ctx;
	const struct tg_life *life = tg_recording_life(p->r, p->session, cell->entity);

	if (life && cell->value != TG_MISSING)
		tg_life_use_take(&p->use[life - p->r->life], cell);
	return 0;
}

int tg_lives_use(struct tg_recording *r, struct tg_life_use **use)
{
	struct pass p = { .r = r, .use = tg_xcalloc(r->n_lives + 1, sizeof(*p.use)) };
	int rc = 0;

	tg_life_use_init(p.use, r->n_lives);
	for (size_t i = 0; i < r->n_sessions && rc >= 0; i++) {
		p.session = r->session[i].number;
		rc = tg_reader_processes(r->reader, p.session, INT64_MIN, INT64_MAX, each_cell, &p);
	}
	tg_life_use_settle(p.use, r);
	if (rc < 0) {
		free(p.use);
		p.use = NULL;
	}
	*use = p.use;
	return TG_MIN(rc, 0);
}
