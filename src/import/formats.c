/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats that are known, in the order in which they are tried, reported and drawn on. */
#include "import/logfile.h"

#include "base/mem.h"

extern const struct tg_log_format tg_format_top, tg_format_vmstat, tg_format_iostat,
	tg_format_iostat_json, tg_format_nfsiostat, tg_format_nvidia_smi, tg_format_lsblk,
	tg_format_stages, tg_format_nextflow, tg_format_snakemake, tg_format_psrecord,
	tg_format_pidstat, tg_format_sadf_json;

static const struct tg_log_format *const formats[] = {
	&tg_format_top,
	&tg_format_vmstat,
	&tg_format_iostat,
	&tg_format_iostat_json,
	&tg_format_nfsiostat,
	&tg_format_nvidia_smi,
	&tg_format_lsblk,
	&tg_format_stages,
	&tg_format_nextflow,
	&tg_format_snakemake,
	&tg_format_psrecord,
	&tg_format_pidstat,
	&tg_format_sadf_json,
};

const struct tg_log_format *const *tg_formats(size_t *n)
{
	*n = TG_ARRAY_SIZE(formats);
	return formats;
}

const struct tg_log_format *tg_format_of(const char *head, size_t len)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(formats); i++)
		if (formats[i]->looks(head, len))
			return formats[i];
	return NULL;
}
