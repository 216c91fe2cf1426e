/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/logfile.h"

#include <stdarg.h>

#include "base/mem.h"

void tg_logfile_init(
	struct tg_logfile *log, const struct tg_log_format *format, struct tg_roles *roles)
{
	log->format = format;
	for (size_t i = 0; i < TG_LOG_PARTS_MAX && format->layout[i]; i++) {
		log->part[i].layout = format->layout[i];
		tg_readings_init(&log->part[i].grid, (uint32_t)format->layout[i]->n_columns);
		log->n_parts++;
	}
	tg_processes_init(&log->processes, roles);
}

void tg_logfile_note(struct tg_logfile *log, const char *fmt, ...)
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

void tg_logfile_version(struct tg_logfile *log, const char *version)
{
	snprintf(log->version, sizeof(log->version), "%s", version);
}

bool tg_logfile_is_cut(struct tg_logfile *log)
{
	if (log->bytes.cut)
		tg_logfile_note(log, "its last line is cut and was left out");
	return log->bytes.cut;
}

void tg_logfile_release(struct tg_logfile *log)
{
	tg_bytes_close(&log->bytes);
	for (size_t i = 0; i < log->n_parts; i++)
		tg_readings_release(&log->part[i].grid);
	tg_processes_release(&log->processes);
	for (size_t i = 0; i < log->n_notes; i++)
		free(log->note[i]);
	free(log->group);
	for (size_t i = 0; i < log->n_disks; i++) {
		for (size_t k = 0; k < log->disk[i].n; k++)
			free(log->disk[i].mount[k]);
		free(log->disk[i].mount);
		free(log->disk[i].name);
	}
	for (size_t i = 0; i < log->n_stages; i++)
		free(log->stage[i].name);
	for (size_t i = 0; i < log->n_tasks; i++) {
		free(log->task[i].name);
		free(log->task[i].attrs);
	}
	free(log->task);
	free(log->disk);
	free(log->stage);
	free(log->path);
	*log = (struct tg_logfile){ .bytes = { .fd = -1 } };
}
