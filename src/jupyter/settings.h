/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings of a kernel (mark/setting.h) with where their values come from. Each place keeps its
 * own value, so that a stronger one that is taken back uncovers what was there before; what holds
 * is made from them whenever it is asked for.
 */
#ifndef TG_JUPYTER_SETTINGS_H
#define TG_JUPYTER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "mark/setting.h"

/* From weak to strong. */
enum tg_setting_place {
	TG_FROM_SPEC, /* --report of the kernelspec */
	TG_FROM_ENVIRONMENT, /* that the kernel was started with */
	TG_FROM_ENV, /* %env in a cell */
	TG_FROM_SET, /* %tacho set */
	TG_PLACES
};

struct tg_setting_value {
	char text[TG_SETTING_TEXT_MAX]; /* "": not set there */
	int64_t count; /* execution count of the cell that set it; -1: unknown */
	unsigned order; /* grows with each value that is set */
};

struct tg_settings {
	struct tg_setting_value value[TG_PLACES][TG_SETTINGS];
	unsigned n_set;
};

/*
 * At the start of a kernel: `report` (or NULL) is what the kernelspec asks for, the rest comes from
 * the environment of this process. A sentence in `why`, with a newline, for each bad value, which
 * is passed over; one of a variable that others read, too.
 */
void tg_settings_start(struct tg_settings *s, const char *report, struct tg_buf *why);

/*
 * The variables that a cell of Python sets with `%env NAME=VALUE`, `%env NAME VALUE` or %set_env,
 * alone or among code; `count` is the cell's. A bad value is passed over with a sentence in `why`;
 * so is one that is too late, and one that a stronger place covers is mentioned.
 */
void tg_settings_code(
	struct tg_settings *s, const char *code, size_t len, int64_t count, struct tg_buf *why);

/* Whether code may hold such a line: cheap, for every cell. */
bool tg_settings_in_code(const char *code, size_t len);

/*
 * What `%tacho set` changed, in the cell of that count: {"interval_s":0.05,"report":null}; null
 * takes a value back. What is unknown or no value is passed over.
 */
void tg_settings_take(struct tg_settings *s, const struct tg_json *changed, int64_t count);

/* What holds; borrowed until the next change. */
const char *tg_settings_text(const struct tg_settings *s, enum tg_setting_name name);
double tg_settings_num(const struct tg_settings *s, enum tg_setting_name name);
bool tg_settings_is(const struct tg_settings *s, enum tg_setting_name name, const char *text);

/* Append `{"interval_s":0.05,…}`, what holds. */
void tg_settings_format(const struct tg_settings *s, struct tg_buf *out);

/* Append `{"interval_s":"%env in cell [3]",…}`: where that comes from, but for defaults. */
void tg_settings_format_from(const struct tg_settings *s, struct tg_buf *out);

#endif
