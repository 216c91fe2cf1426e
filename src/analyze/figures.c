/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/figures.h"

#include <math.h>
#include <stddef.h>

#include "base/json.h"

#include "base/mem.h"

#define MOST 1e18 /* of anything */

#define COUNTED(name, decimals)                                                                    \
	{                                                                                          \
#name, offsetof(struct tg_totals, name), decimals, false                           \
	}
#define TOLD(name, decimals)                                                                       \
	{                                                                                          \
#name, offsetof(struct tg_totals, name), decimals, true                            \
	}

static const struct tg_figure figures[] = {
	COUNTED(wall_s, 6),
	TOLD(cpu_s, 6),
	COUNTED(cores_mean, 4),
	COUNTED(cores_max, 4),
	COUNTED(cores_allowed, 3),
	COUNTED(memory_limit_bytes, 0),
	COUNTED(mem_peak_bytes, 0),
	TOLD(rss_peak_bytes, 0),
	TOLD(pss_peak_bytes, 0),
	COUNTED(pss_age_s, 3),
	TOLD(vms_peak_bytes, 0),
	COUNTED(mem_retained_bytes, 0),
	COUNTED(file_retained_bytes, 0),
	TOLD(read_bytes, 0),
	TOLD(write_bytes, 0),
	TOLD(rchar_bytes, 0),
	TOLD(wchar_bytes, 0),
	TOLD(read_ops, 0),
	TOLD(write_ops, 0),
	COUNTED(net_rx_bytes, 0),
	COUNTED(net_tx_bytes, 0),
	COUNTED(nfs_read_bytes, 0),
	COUNTED(nfs_write_bytes, 0),
	COUNTED(gpus, 0),
	COUNTED(gpu_util_mean_pct, 2),
	COUNTED(gpu_mem_peak_bytes, 0),
	COUNTED(energy_j, 3),
	COUNTED(throttled_s, 6),
	COUNTED(oom_kills, 0),
	COUNTED(unattributed_cpu_s, 6),
};

const struct tg_figure *tg_figures(size_t *n)
{
	*n = TG_ARRAY_SIZE(figures);
	return figures;
}

double tg_figure_of(const struct tg_figure *f, const struct tg_totals *t)
{
	return *(const double *)(const void *)((const char *)t + f->offset);
}

void tg_figures_take(const struct tg_span *span, struct tg_totals *out)
{
	struct tg_json *told = tg_json_parse(span->figures, strlen(span->figures), NULL);

	for (size_t i = 0; i < TG_ARRAY_SIZE(figures); i++) {
		double v = tg_json_num(tg_json_get(told, figures[i].name), NAN);

		if (figures[i].may_be_told && v >= 0 && v <= MOST)
			*(double *)(void *)((char *)out + figures[i].offset) = v;
	}
	tg_json_free(told);
	if (out->wall_s > 0)
		out->cores_max = out->cores_mean = out->cpu_s / out->wall_s;
	out->mem_peak_bytes =
		isnan(out->pss_peak_bytes) ? out->rss_peak_bytes : out->pss_peak_bytes;
	if (!isnan(out->mem_peak_bytes))
		out->mem_peak_is = isnan(out->pss_peak_bytes) ? "RSS" : "PSS";
	out->single = true;
	out->exact = !span->open;
}
