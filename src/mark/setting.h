/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings of a recorded kernel, one table: for the kernel, which reads them from its
 * environment and from `%env`, and for the worker, whose `%tacho set` changes and lists them. A
 * value is a text in one form that this file makes; where it comes from is not known here.
 */
#ifndef TG_MARK_SETTING_H
#define TG_MARK_SETTING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum tg_setting_name {
	TG_SET_INTERVAL,
	TG_SET_REPORT,
	TG_SET_REPORT_MIN,
	TG_SET_CODE,
	TG_SET_JUMPER_PERIOD,
	TG_SET_JUMPER_MIN,
	TG_SETTINGS
};

#define TG_SETTING_TEXT_MAX 32 /* with its NUL */

struct tg_setting {
	const char *name; /* as `%tacho set` has it */
	const char *key; /* in the worker's protocol */
	const char *variable; /* of the environment; NULL: none */
	const char *help; /* one line, without the values that are allowed */
	const char *words; /* one of these: "line, jumper, none"; NULL: a number */
	double min, max;
	bool whole; /* a number without decimals */
	bool jumper; /* one of JUmPER's: who sets it wants JUmPER's report */
	const char *otherwise; /* the value where none is set */
};

const struct tg_setting *tg_setting(enum tg_setting_name name);

/* The one of that name, or of that variable; TG_SETTINGS when there is none. */
enum tg_setting_name tg_setting_find(const char *name, size_t len);
enum tg_setting_name tg_setting_of_variable(const char *name, size_t len);

/* Bring a text into the one form; false when it is no value of that setting. */
bool tg_setting_read(enum tg_setting_name name, const char *text, char out[TG_SETTING_TEXT_MAX]);

/* Append what values are: "a number of seconds from 0.001 to 3600", "one of line, jumper, none". */
void tg_setting_range(enum tg_setting_name name, struct tg_buf *out);

/* Append a value as JSON. */
void tg_setting_json(enum tg_setting_name name, const char *value, struct tg_buf *out);

/* The variables that are read when a kernel or a recorder starts, and never again; then NULL. */
const char *const *tg_setting_at_start(void);

#endif
