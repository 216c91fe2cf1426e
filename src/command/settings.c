/* SPDX-License-Identifier: BSD-3-Clause */
/* `set` and `mark`: what a notebook tells its kernel and its recorder. */
#include <errno.h>

#include "base/clock.h"
#include "base/json.h"
#include "command/run.h"
#include "mark/mark.h"
#include "mark/setting.h"
#include "report/format.h"

#include "base/mem.h"

#define ANSWER_MS 500

#define ORDER                                                                                      \
	"What is set by `%tacho set` holds; else by `%env` in a cell; else in the environment\n"   \
	"that the kernel was started with; else by its kernelspec. It holds from the next cell\n"  \
	"on; `%tacho set NAME=` takes back what `%tacho set` has set.\n"

static void no_such(struct tg_command *c, const char *arg, size_t len)
{
	char *name = tg_xmemdup0(arg, len);
	const char *names[TG_SETTINGS], *near;
	struct tg_buf shown = TG_BUF_INIT;

	for (int i = 0; i < TG_SETTINGS; i++)
		names[i] = tg_setting((enum tg_setting_name)i)->name;
	tg_plain(&shown, name, 40);
	near = tg_nearest(shown.data, names, TG_SETTINGS);
	tg_err_set(&c->err, -EINVAL, "There is no setting \"%s\"%s%s%s", shown.data,
		near ? "; did you mean \"" : "; `%tacho set` lists them", near ? near : "",
		near ? "\"?" : "");
	for (const char *const *v = tg_setting_at_start(); *v; v++)
		if (!strcmp(*v, name))
			tg_err_set(&c->err, -EINVAL,
				"%s is read when a kernel starts: set it where Jupyter is started",
				name);
	tg_buf_release(&shown);
	free(name);
}

/* The value that holds, as a text. */
static void add_value(struct tg_command *c, enum tg_setting_name name, struct tg_buf *out)
{
	const struct tg_setting *s = tg_setting(name);
	const struct tg_json *v = tg_json_get(c->settings, s->key);

	if (!v)
		tg_buf_adds(out, s->otherwise);
	else if (s->words)
		tg_plain(out, tg_json_str(v, s->otherwise), TG_SETTING_TEXT_MAX);
	else
		tg_buf_addf(out, "%.15g", tg_json_num(v, 0));
}

/* What is to hold: a text, which is empty for one that is taken back. */
struct wanted {
	bool given;
	char value[TG_SETTING_TEXT_MAX];
};

/* One NAME=VALUE into its place. TG_WORD_OK, or a sentence. */
static int read_one(struct tg_command *c, const char *arg, struct wanted wanted[TG_SETTINGS])
{
	const char *equals = strchr(arg, '=');
	size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
	enum tg_setting_name name = tg_setting_find(arg, len);
	struct tg_buf must = TG_BUF_INIT;

	if (!len) {
		tg_err_set(&c->err, -EINVAL, "Say NAME=VALUE, without blanks around the sign");
		return TG_WORD_USAGE;
	}
	if (name == TG_SETTINGS) {
		no_such(c, arg, len);
		return TG_WORD_USAGE;
	}
	if (!equals) {
		tg_err_set(&c->err, -EINVAL, "Say %s=VALUE, without blanks around the sign",
			tg_setting(name)->name);
		return TG_WORD_USAGE;
	}
	wanted[name] = (struct wanted){ .given = true };
	if (!equals[1] || tg_setting_read(name, equals + 1, wanted[name].value))
		return TG_WORD_OK;
	tg_setting_range(name, &must);
	tg_buf_adds(&must, "; ");
	add_value(c, name, &must);
	tg_err_set(&c->err, -EINVAL, "%s is %s stays", tg_setting(name)->name, must.data);
	tg_buf_release(&must);
	return TG_WORD_USAGE;
}

/* Set one, and say so: "interval 0.05 (was 0.1), from the next cell on". */
static void put(struct tg_command *c, enum tg_setting_name name, const char *value)
{
	const struct tg_setting *s = tg_setting(name);
	const char *from = tg_json_str(tg_json_get(c->settings_from, s->key), "");
	struct tg_buf json = TG_BUF_INIT, line = TG_BUF_INIT, was = TG_BUF_INIT;

	add_value(c, name, &was);
	if (*value)
		tg_setting_json(name, value, &json);
	else
		tg_buf_adds(&json, "null");
	if (!strcmp(value, was.data) || (!*value && strncmp(from, "%tacho set", 10) != 0))
		tg_buf_addf(&line, "%s %s, as before\n", s->name, was.data);
	else if (*value)
		tg_buf_addf(
			&line, "%s %s (was %s), from the next cell on\n", s->name, value, was.data);
	else
		tg_buf_addf(
			&line, "%s %s is taken back, from the next cell on\n", s->name, was.data);
	c->out.set(c->out.ctx, s->key, json.data);
	c->out.text(c->out.ctx, line.data, line.len);
	tg_buf_release(&json);
	tg_buf_release(&line);
	tg_buf_release(&was);
}

/* Several at once: all or none. */
static int change(struct tg_command *c, int argc, char **argv)
{
	struct wanted wanted[TG_SETTINGS] = { 0 };

	for (int i = 1; i < argc; i++) {
		int rc = read_one(c, argv[i], wanted);

		if (rc != TG_WORD_OK)
			return rc;
	}
	for (int i = 0; i < TG_SETTINGS; i++)
		if (wanted[i].given)
			put(c, (enum tg_setting_name)i, wanted[i].value);
	return TG_WORD_OK;
}

/* A line for each of `name`: what it is called, its value, where that comes from, what it does. */
static void list(struct tg_command *c, const enum tg_setting_name *name, size_t n)
{
	struct tg_buf out = TG_BUF_INIT, cell[TG_SETTINGS][3] = { 0 };
	size_t width[3] = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct tg_setting *s = tg_setting(name[i]);
		const char *from = tg_json_str(tg_json_get(c->settings_from, s->key), "default");

		tg_buf_adds(&cell[i][0], s->name);
		add_value(c, name[i], &cell[i][1]);
		tg_plain(&cell[i][2], from, 40);
		for (int k = 0; k < 3; k++)
			width[k] = TG_MAX(width[k], tg_fmt_width(cell[i][k].data));
	}
	for (size_t i = 0; i < n; i++) {
		const struct tg_setting *s = tg_setting(name[i]);

		for (int k = 0; k < 3; k++) {
			tg_fmt_left(&out, cell[i][k].data, width[k] + 2);
			tg_buf_release(&cell[i][k]);
		}
		tg_buf_adds(&out, s->help);
		if (s->words)
			tg_buf_addf(&out, ": %s", s->words);
		tg_buf_addc(&out, '\n');
	}
	if (n > 1)
		tg_buf_adds(&out, "\n" ORDER);
	c->out.text(c->out.ctx, out.data, out.len);
	tg_buf_release(&out);
}

int tg_run_set(struct tg_command *c, int argc, char **argv)
{
	enum tg_setting_name name[TG_SETTINGS];
	size_t n = 0;

	if (argc == 2 && !strchr(argv[1], '=')) {
		name[0] = tg_setting_find(argv[1], strlen(argv[1]));
		if (name[0] == TG_SETTINGS) {
			no_such(c, argv[1], strlen(argv[1]));
			return TG_WORD_USAGE;
		}
		n = 1;
	}
	if (argc > 1 && !n)
		return change(c, argc, argv);
	for (int i = 0; i < TG_SETTINGS && argc < 2; i++)
		name[n++] = (enum tg_setting_name)i;
	list(c, name, n);
	return TG_WORD_OK;
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
				"Behind the name of a mark come KEY=VALUE "
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
