/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/processes.h"

#include <math.h>

#include "base/mem.h"

void tg_processes_init(struct tg_processes *p, struct tg_roles *roles)
{
	*p = (struct tg_processes){ .roles = roles };
	tg_readings_init(&p->grid, TG_P_COLUMNS);
}

void tg_processes_release(struct tg_processes *p)
{
	tg_readings_release(&p->grid);
	free(p->process);
	free(p->naming);
	tg_map_release(&p->by_pid);
	*p = (struct tg_processes){ 0 };
}

static ptrdiff_t add(struct tg_processes *p, int64_t pid)
{
	char name[24];
	ptrdiff_t at;

	snprintf(name, sizeof(name), "%lld", (long long)pid);
	at = tg_readings_add(&p->grid, name);
	if (at < 0)
		return at;
	TG_GROW(p->process, (size_t)at + 1, p->cap);
	p->process[at] = (struct tg_log_process){ .pid = pid };
	tg_map_put(&p->by_pid, (uint64_t)pid, (size_t)at);
	return at;
}

/* A number that is used again is another process: it has used less than the one before. */
static bool is_same(const struct tg_processes *p, size_t at, const double *value)
{
	const double *now = p->grid.item[at].now;

	return !now || !(value[TG_P_CPU_S] + 2 * value[TG_P_CPU_UNIT_S] < now[TG_P_CPU_S]);
}

static void name(struct tg_processes *p, size_t at, const char *command)
{
	TG_GROW(p->naming, p->n_namings + 1, p->cap_namings);
	p->naming[p->n_namings++] =
		(struct tg_naming){ (uint32_t)at, p->grid.n_ticks - 1, command };
	p->process[at].command = command;
}

/* Of processes that do not count only what a recording has of them is kept. */
static void put(struct tg_processes *p, size_t at, double *value)
{
	bool counts = !isnan(value[TG_P_ROLE]);

	p->counted |= counts;
	if (counts && !p->grid.idle_columns) {
		tg_readings_row(&p->grid, at, value);
		return;
	}
	if (counts) { /* among rows that stand for ticks without them, there are no places */
		tg_readings_row_aside(&p->grid, at, value);
		p->grid.item[at].placed = true;
		return;
	}
	value[TG_P_SHR] = value[TG_P_MEM_PCT] = NAN;
	if (!isnan(value[TG_P_CPU_S]) && value[TG_P_CPU_UNIT_S] <= TG_P_FINE_S)
		value[TG_P_CPU_PCT] = NAN;
	tg_readings_row_aside(&p->grid, at, value);
}

/* Whether those bytes, in which there may be NULs, are that string. */
static bool is_text(const char *s, const char *bytes, size_t len)
{
	return strnlen(s, len + 1) == len && !memcmp(s, bytes, len);
}

ptrdiff_t tg_processes_row(struct tg_processes *p, int64_t pid, const char *command, size_t len,
	double value[TG_P_COLUMNS])
{
	ptrdiff_t at = tg_map_get(&p->by_pid, (uint64_t)pid);
	const char *now = at >= 0 ? p->process[at].command : NULL;
	const struct tg_known_command *known;

	if (!p->grid.n_ticks || p->grid.full)
		return -1;
	if (at < 0 || !is_same(p, (size_t)at, value)) {
		at = add(p, pid);
		now = NULL;
	}
	if (at < 0)
		return -1;
	if (now && value[TG_P_STATE] == 'Z') {
		value[TG_P_ROLE] = NAN; /* it has ended, and keeps the name that it had */
	} else if (now && is_text(now, command, len) && p->grid.item[at].now[TG_P_STATE] != 'Z') {
		value[TG_P_ROLE] = p->grid.item[at].now[TG_P_ROLE];
	} else {
		known = tg_roles_command(p->roles, command, len);
		value[TG_P_ROLE] = known->role >= 0 ? (double)known->role : (double)NAN;
		if (now != known->text)
			name(p, (size_t)at, known->text);
	}
	put(p, (size_t)at, value);
	return at;
}
