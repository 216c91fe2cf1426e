/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/log.h"

#include <stdarg.h>

#include "base/mem.h"

struct tg_readings *tg_log_readings(struct tg_log *log, const struct tg_log_layout *layout)
{
	struct tg_log_part *part = &log->part[log->n_parts++];

	part->layout = layout;
	tg_readings_init(&part->grid, (uint32_t)layout->n_columns);
	return &part->grid;
}

void tg_log_note(struct tg_log *log, const char *fmt, ...)
{
	struct tg_buf text = TG_BUF_INIT;
	va_list ap;

	if (log->n_notes == TG_LOG_NOTES_MAX)
		return;
	va_start(ap, fmt);
	tg_buf_vaddf(&text, fmt, ap);
	va_end(ap);
	log->note[log->n_notes++] = tg_buf_detach(&text);
}

void tg_log_version(struct tg_log *log, const char *version)
{
	snprintf(log->version, sizeof(log->version), "%s", version);
}

bool tg_log_is_cut(struct tg_log *log)
{
	if (log->bytes.cut)
		tg_log_note(log, "its last line is cut and was left out");
	return log->bytes.cut;
}

void tg_log_release(struct tg_log *log)
{
	tg_bytes_close(&log->bytes);
	for (size_t i = 0; i < log->n_parts; i++)
		tg_readings_release(&log->part[i].grid);
	if (log->has_processes)
		tg_processes_release(&log->processes);
	for (size_t i = 0; i < log->n_notes; i++)
		free(log->note[i]);
	for (size_t i = 0; i < log->n_disks; i++) {
		for (size_t k = 0; k < log->disk[i].n; k++)
			free(log->disk[i].mount[k]);
		free(log->disk[i].mount);
		free(log->disk[i].name);
	}
	for (size_t i = 0; i < log->n_stages; i++)
		free(log->stage[i].name);
	free(log->disk);
	free(log->stage);
	free(log->path);
	*log = (struct tg_log){ .bytes = { .fd = -1 } };
}
