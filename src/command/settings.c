/* SPDX-License-Identifier: BSD-3-Clause */
/* `set` and `mark`: what a notebook tells its kernel and its recorder. */
#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "base/json.h"
#include "command/format.h"
#include "command/run.h"
#include "mark/mark.h"

#include "base/mem.h"

#define ANSWER_MS 500

/* A number of seconds within bounds; false when it is none. */
static bool seconds(const char *s, double min, double max, double *value)
{
	char *end;

	errno = 0;
	*value = strtod(s, &end);
	return !errno && end != s && !*end && *value >= min && *value <= max;
}

/* The names that people say, and the members that travel. */
static const struct setting {
	const char *name, *key, *what;
	double min, max; /* seconds; both 0: one of words */
	const char *words;
	double otherwise;
} settings[] = {
	{ "interval", "interval_s", "seconds between samples within cells", 0.001, 3600, NULL,
		0.1 },
	{ "report", "report", "what a cell prints", 0, 0, "line, jumper, none", 0 },
	{ "report-min", "report_min_s", "shortest cell that prints a line, seconds", 0, 86400, NULL,
		2 },
};

static const struct setting *find(const char *name, size_t len)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(settings); i++)
		if (strlen(settings[i].name) == len && !strncmp(settings[i].name, name, len))
			return &settings[i];
	return NULL;
}

static bool is_word_of(const char *list, const char *word)
{
	size_t len = strlen(word);
	const char *at = len ? strstr(list, word) : NULL;

	return at && (at == list || at[-1] == ' ') && (!at[len] || at[len] == ',');
}

/* The recorder samples at the new rate from now on; the proxy remembers it for the next one. */
static void tell_recorder(const struct tg_command *c, double interval_s)
{
	struct tg_mark *mark;
	struct tg_json *answer = NULL;

	if (!c->socket || tg_mark_connect(&mark, c->socket, NULL) < 0)
		return;
	tg_mark_set(mark, "interval_ns", (int64_t)(interval_s * 1e9));
	/* an answer to a later question says that the setting has been read */
	if (tg_mark_ask_hello(mark, 1) == 0 && tg_mark_wait(mark, 1, ANSWER_MS, &answer) == 1)
		tg_json_free(answer);
	tg_mark_close(mark);
}

static int set_one(struct tg_command *c, const char *arg)
{
	const char *equals = strchr(arg, '=');
	size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
	const struct setting *s = find(arg, len);
	char *name = tg_xmemdup0(arg, len);
	const char *names[TG_ARRAY_SIZE(settings)], *near;
	struct tg_buf json = TG_BUF_INIT, shown = TG_BUF_INIT;
	double value;
	int rc = TG_WORD_OK;

	for (size_t i = 0; i < TG_ARRAY_SIZE(settings); i++)
		names[i] = settings[i].name;
	tg_plain(&shown, name, 40);
	if (!s) {
		near = tg_nearest(shown.data, names, TG_ARRAY_SIZE(names));
		tg_err_set(&c->err, -EINVAL, "There is no setting \"%s\"%s%s%s", shown.data,
			near ? "; did you mean \"" : "; there are interval, report and report-min",
			near ? near : "", near ? "\"?" : "");
		rc = TG_WORD_USAGE;
	} else if (!equals) {
		tg_err_set(&c->err, -EINVAL, "Say %s=VALUE: %s", s->name, s->what);
		rc = TG_WORD_USAGE;
	} else if (s->words && is_word_of(s->words, equals + 1)) {
		tg_json_quote(&json, equals + 1, strlen(equals + 1));
	} else if (!s->words && seconds(equals + 1, s->min, s->max, &value)) {
		tg_buf_addf(&json, "%.9g", value);
		if (!strcmp(s->name, "interval"))
			tell_recorder(c, value);
	} else {
		if (s->words)
			tg_err_set(&c->err, -EINVAL, "%s is one of %s; the old value stays",
				s->name, s->words);
		else
			tg_err_set(&c->err, -EINVAL,
				"%s is a number of seconds from %g to %g; the old value stays",
				s->name, s->min, s->max);
		rc = TG_WORD_USAGE;
	}
	if (rc == TG_WORD_OK)
		c->out.set(c->out.ctx, s->key, json.data);
	tg_buf_release(&json);
	tg_buf_release(&shown);
	free(name);
	return rc;
}

static void list_settings(struct tg_command *c)
{
	struct tg_buf out = TG_BUF_INIT;

	for (size_t i = 0; i < TG_ARRAY_SIZE(settings); i++) {
		const struct setting *s = &settings[i];
		const struct tg_json *v = tg_json_get(c->settings, s->key);
		struct tg_buf value = TG_BUF_INIT;

		if (s->words)
			tg_plain(&value, tg_json_str(v, "line"), 20);
		else
			tg_fmt_number(&value, tg_json_num(v, s->otherwise));
		tg_buf_adds(&out, "  ");
		tg_fmt_left(&out, s->name, 11);
		tg_fmt_left(&out, value.data, 8);
		tg_buf_addf(
			&out, "%s%s%s\n", s->what, s->words ? ": " : "", s->words ? s->words : "");
		tg_buf_release(&value);
	}
	c->out.text(c->out.ctx, out.data, out.len);
	tg_buf_release(&out);
}

int tg_run_set(struct tg_command *c, int argc, char **argv)
{
	int rc = TG_WORD_OK;

	if (argc < 2)
		list_settings(c);
	for (int i = 1; i < argc && rc == TG_WORD_OK; i++)
		rc = set_one(c, argv[i]);
	return rc;
}

/* ---- mark ---- */

int tg_run_mark(struct tg_command *c, int argc, char **argv)
{
	struct tg_buf attrs = TG_BUF_INIT;
	struct tg_json *answer = NULL;
	struct tg_mark *mark = NULL;
	struct tg_jw w;
	int rc = TG_WORD_OK;

	if (argc < 2 || !argv[1][0]) {
		tg_err_set(&c->err, -EINVAL, "A mark needs a name: mark loaded");
		return TG_WORD_USAGE;
	}
	tg_jw_init(&w, &attrs);
	tg_jw_begin_object(&w);
	for (int i = 2; i < argc && rc == TG_WORD_OK; i++) {
		char *equals = strchr(argv[i], '=');

		if (!equals || equals == argv[i]) {
			tg_err_set(&c->err, -EINVAL,
				"Behind the name of a mark come key=value "
				"pairs");
			rc = TG_WORD_USAGE;
			break;
		}
		*equals = '\0';
		tg_jw_kstr(&w, argv[i], equals + 1);
	}
	tg_jw_end_object(&w);
	if (rc == TG_WORD_OK &&
		(c->why || !c->socket || tg_mark_connect(&mark, c->socket, NULL) < 0)) {
		tg_err_set(&c->err, -ENOENT, "%s", c->why ? c->why : "Nothing is recorded now");
		rc = TG_WORD_FAILED;
	}
	if (rc == TG_WORD_OK) {
		bool sent = tg_mark_moment(mark, argv[1], tg_mono_ns(),
				    argc > 2 ? attrs.data : NULL) == 0 &&
			    tg_mark_ask_hello(mark, 1) == 0 &&
			    tg_mark_wait(mark, 1, ANSWER_MS, &answer) == 1;

		if (!sent) {
			tg_err_set(&c->err, -EPIPE, "The recorder did not take the mark");
			rc = TG_WORD_FAILED;
		}
	}
	tg_json_free(answer);
	tg_mark_close(mark);
	tg_buf_release(&attrs);
	return rc;
}
