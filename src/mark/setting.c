/* SPDX-License-Identifier: BSD-3-Clause */
#include "mark/setting.h"

#include "base/json.h"

#include "base/mem.h"

static const struct tg_setting table[TG_SETTINGS] = {
	[TG_SET_INTERVAL] = {
		.name = "interval",
		.key = "interval_s",
		.variable = "TACHOGRAPH_INTERVAL",
		.help = "seconds between samples while a cell runs",
		.min = 0.001,
		.max = 3600,
		.otherwise = "0.1",
	},
	[TG_SET_REPORT] = {
		.name = "report",
		.key = "report",
		.variable = "TACHOGRAPH_REPORT",
		.help = "what a cell prints when it ends",
		.words = "line, jumper, none",
		.otherwise = "line",
	},
	[TG_SET_REPORT_MIN] = {
		.name = "report-min",
		.key = "report_min_s",
		.help = "seconds of the shortest cell that prints a line",
		.max = 86400,
		.otherwise = "2",
	},
	[TG_SET_CODE] = {
		.name = "code",
		.key = "code",
		.variable = "TACHOGRAPH_CODE",
		.help = "whether the code of cells is recorded; 0: a hash of it",
		.max = 1,
		.whole = true,
		.otherwise = "1",
	},
	[TG_SET_JUMPER_PERIOD] = {
		.name = "JUMPER_REPORT_FREQUENCY",
		.key = "jumper_report_frequency_s",
		.variable = "JUMPER_REPORT_FREQUENCY",
		.help = "seconds between JUmPER's values",
		.min = 0.001,
		.max = 86400,
		.jumper = true,
		.otherwise = "2",
	},
	[TG_SET_JUMPER_MIN] = {
		.name = "JUMPER_REPORTS_MIN",
		.key = "jumper_reports_min",
		.variable = "JUMPER_REPORTS_MIN",
		.help = "values that a cell must exceed for JUmPER's report",
		.max = 1e9,
		.whole = true,
		.jumper = true,
		.otherwise = "2",
	},
};

const struct tg_setting *tg_setting(enum tg_setting_name name)
{
	return &table[name];
}

static bool is(const char *name, const char *text, size_t len)
{
	return name && strlen(name) == len && !memcmp(name, text, len);
}

enum tg_setting_name tg_setting_of_variable(const char *name, size_t len)
{
	int i = 0;

	while (i < TG_SETTINGS && !is(table[i].variable, name, len))
		i++;
	return (enum tg_setting_name)i;
}

enum tg_setting_name tg_setting_find(const char *name, size_t len)
{
	for (int i = 0; i < TG_SETTINGS; i++)
		if (is(table[i].name, name, len))
			return (enum tg_setting_name)i;
	return tg_setting_of_variable(name, len);
}

/* A decimal number and nothing else: strtod alone takes "0x10", "inf" and "nan". */
static bool read_number(const char *text, double *out)
{
	char *end;

	if (!*text || text[strspn(text, "0123456789.+eE-")])
		return false;
	*out = strtod(text, &end);
	return !*end;
}

/* "line" of "line, jumper, none" */
static bool is_word_of(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; *at; at += strspn(at, ", ")) {
		size_t n = strcspn(at, ",");

		if (n == len && !memcmp(at, word, n))
			return true;
		at += n;
	}
	return false;
}

bool tg_setting_read(enum tg_setting_name name, const char *text, char out[TG_SETTING_TEXT_MAX])
{
	const struct tg_setting *s = &table[name];
	double v = 0;

	if (s->words) {
		if (!is_word_of(s->words, text))
			return false;
		snprintf(out, TG_SETTING_TEXT_MAX, "%s", text);
		return true;
	}
	if (!read_number(text, &v) || !(v >= s->min && v <= s->max) ||
		(s->whole && v != (double)(long long)v))
		return false;
	snprintf(out, TG_SETTING_TEXT_MAX, "%.15g", v == 0 ? 0 : v); /* no "-0" */
	return true;
}

void tg_setting_range(enum tg_setting_name name, struct tg_buf *out)
{
	const struct tg_setting *s = &table[name];

	if (s->words)
		tg_buf_addf(out, "one of %s", s->words);
	else if (s->whole && s->max - s->min == 1)
		tg_buf_addf(out, "%.0f or %.0f", s->min, s->max);
	else
		tg_buf_addf(out, "a %s from %.10g to %.10g",
			s->whole ? "whole number" : "number of seconds", s->min, s->max);
}

void tg_setting_json(enum tg_setting_name name, const char *value, struct tg_buf *out)
{
	if (table[name].words)
		tg_json_quote(out, value, strlen(value));
	else
		tg_buf_adds(out, value);
}

const char *const *tg_setting_at_start(void)
{
	static const char *const variable[] = { "TACHOGRAPH_DIR", "TACHOGRAPH_KEEP",
		"TACHOGRAPH_LOG", "TACHOGRAPH_NVML", "TACHOGRAPH_PERF", "TACHOGRAPH_RUNTIME_DIR",
		NULL };

	return variable;
}
