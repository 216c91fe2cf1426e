/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/settings.h"

#include <errno.h>

#include "base/json.h"
#include "base/lines.h"

#include "base/mem.h"

#define PERIOD_MIN 0.001
#define PERIOD_MAX 86400.0
#define COUNT_MAX  1000000000.0

void tg_settings_release(struct tg_settings *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->one[i].name);
		free(s->one[i].json);
	}
	s->n = 0;
}

static const char *find(const struct tg_settings *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->one[i].name, name))
			return s->one[i].json;
	return NULL;
}

bool tg_settings_set(struct tg_settings *s, const char *name, const char *json)
{
	size_t i = 0;

	if (strlen(name) > TG_SETTING_NAME_MAX || strlen(json) > TG_SETTING_VALUE_MAX)
		return false;
	while (i < s->n && strcmp(s->one[i].name, name))
		i++;
	if (i == TG_SETTINGS_MAX)
		return false;
	if (i == s->n)
		s->one[s->n++] = (struct tg_setting){ .name = tg_xstrdup(name) };
	free(s->one[i].json);
	s->one[i].json = tg_xstrdup(json);
	return true;
}

double tg_settings_num(const struct tg_settings *s, const char *name, double otherwise)
{
	const char *json = find(s, name);
	char *end;
	double v;

	if (!json)
		return otherwise;
	v = strtod(json, &end);
	return end != json && !*end ? v : otherwise;
}

bool tg_settings_is(const struct tg_settings *s, const char *name, const char *text)
{
	const char *json = find(s, name);
	size_t len = strlen(text);

	return json && strlen(json) == len + 2 && !memcmp(json + 1, text, len);
}

void tg_settings_format(const struct tg_settings *s, struct tg_buf *out)
{
	struct tg_jw w;

	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	for (size_t i = 0; i < s->n; i++) {
		tg_jw_key(&w, s->one[i].name);
		tg_jw_raw(&w, s->one[i].json, strlen(s->one[i].json));
	}
	tg_jw_end_object(&w);
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

int tg_settings_env(struct tg_settings *s, const char *name, const char *value, struct tg_buf *why)
{
	bool period = !strcmp(name, "JUMPER_REPORT_FREQUENCY");
	double v = 0;
	char json[40];

	if (!period && strcmp(name, "JUMPER_REPORTS_MIN"))
		return 0;
	if (!read_number(value, &v) ||
		(period ? !(v >= PERIOD_MIN && v <= PERIOD_MAX)
			: !(v >= 0 && v <= COUNT_MAX && v == (double)(long long)v))) {
		tg_buf_addf(why,
			period ? "%s=%.40s is not a period in seconds; the old value stays.\n"
			       : "%s=%.40s is not a number of values; the old value stays.\n",
			name, value);
		return -EINVAL;
	}
	snprintf(json, sizeof(json), "%.15g", v);
	tg_settings_set(s, period ? "jumper_report_frequency_s" : "jumper_reports_min", json);
	tg_settings_set(s, "report", "\"jumper\"");
	return 1;
}

bool tg_settings_in_code(const char *code, size_t len)
{
	return memmem(code, len, "env", 3) && memmem(code, len, "JUMPER_", 7);
}

static size_t blanks(const char *s, const char *end)
{
	size_t n = 0;

	while (s + n < end && (s[n] == ' ' || s[n] == '\t' || s[n] == '\r'))
		n++;
	return n;
}

/* %env JUMPER_REPORT_FREQUENCY=0.5 */
static void read_line(struct tg_settings *s, const char *line, const char *end, struct tg_buf *why)
{
	static const char *const words[] = { "%env", "%set_env" };
	struct tg_buf name = TG_BUF_INIT, value = TG_BUF_INIT;
	const char *at;
	size_t word = 0;

	line += blanks(line, end);
	while (end > line && blanks(end - 1, end))
		end--;
	for (int i = 0; i < 2 && !word; i++)
		if ((size_t)(end - line) > strlen(words[i]) &&
			!memcmp(line, words[i], strlen(words[i])))
			word = strlen(words[i]);
	line += word;
	if (!word)
		return;
	if (!blanks(line, end))
		return;
	line += blanks(line, end);
	for (at = line; at < end && *at != '=' && !blanks(at, at + 1); at++)
		;
	tg_buf_add(&name, line, (size_t)(at - line));
	at += blanks(at, end);
	if (at < end && *at == '=')
		at++;
	at += blanks(at, end);
	tg_buf_add(&value, at, (size_t)(end - at));
	if (value.len) /* `%env NAME` prints it */
		tg_settings_env(s, name.data, value.data, why);
	tg_buf_release(&name);
	tg_buf_release(&value);
}

/*
 * As IPython: a line of code ends at a newline only, one with a magic at any line break of Unicode;
 * and such breaks count above all code.
 */
void tg_settings_code(struct tg_settings *s, const char *code, size_t len, struct tg_buf *why)
{
	bool top = true;

	for (size_t at = 0, next; at < len; at = next) {
		size_t start = at + blanks(code + at, code + len);
		struct tg_text_line line = tg_text_line_at(code, len, top ? at : start);
		const char *stop = memchr(code + start, '\n', len - start);
		bool magic = start < line.end && code[start] == '%';

		next = stop ? (size_t)(stop - code) + 1 : len;
		if (magic)
			read_line(s, code + start, code + line.end, why);
		if (magic || (top && start >= line.end))
			next = line.next;
		else
			top = false;
	}
}
