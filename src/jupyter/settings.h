/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings of a kernel: what its cells print, and what `%tacho set` keeps for the worker. A
 * name and a JSON value each; command/worker.h lists those that mean something.
 */
#ifndef TG_JUPYTER_SETTINGS_H
#define TG_JUPYTER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define TG_SETTINGS_MAX      64
#define TG_SETTING_NAME_MAX  64
#define TG_SETTING_VALUE_MAX 4096

struct tg_setting {
	char *name;
	char *json;
};

struct tg_settings {
	struct tg_setting one[TG_SETTINGS_MAX];
	size_t n;
};

void tg_settings_release(struct tg_settings *s);

/* Set one; a name or value that is too long, or one too many, is left out: false. */
bool tg_settings_set(struct tg_settings *s, const char *name, const char *json);

double tg_settings_num(const struct tg_settings *s, const char *name, double otherwise);
bool tg_settings_is(const struct tg_settings *s, const char *name, const char *text);

/* Append the JSON object. */
void tg_settings_format(const struct tg_settings *s, struct tg_buf *out);

/*
 * A variable of the environment that is a setting of JUmPER's: JUMPER_REPORT_FREQUENCY, a period in
 * seconds, or JUMPER_REPORTS_MIN. Returns 1 when it was set, 0 when the name is no such variable,
 * -EINVAL with a sentence appended to `why` for a bad value; the old one stays.
 */
int tg_settings_env(struct tg_settings *s, const char *name, const char *value, struct tg_buf *why);

/*
 * The variables that a cell sets with `%env NAME=VALUE` or `%env NAME VALUE`, alone or among code.
 * Each that is ours is given to tg_settings_env; sentences are lines in `why`.
 */
void tg_settings_code(struct tg_settings *s, const char *code, size_t len, struct tg_buf *why);

/* Whether code may hold such a line: cheap, for every cell. */
bool tg_settings_in_code(const char *code, size_t len);

#endif
