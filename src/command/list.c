/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `list`: which metrics there are here, how finely, why not the others, and what an administrator
 * could allow; also the text of docs/metrics.md.
 */
#include <errno.h>

#include "command/run.h"
#include "report/format.h"

#include "base/mem.h"

enum { WIDTH = 100, UNIT = 7, KIND = 7, RESOLUTION = 8 }; /* columns */

static const char *kind_name(enum tg_kind kind)
{
	return kind == TG_COUNTER ? "counter" : "gauge";
}

static const char *scope_name(enum tg_scope scope)
{
	static const char *const name[] = { "job", "machine", "recorder" };

	return name[scope];
}

/* Words into lines that end before column WIDTH; the first goes on at `at`, others at `indent`. */
static void wrap(struct tg_buf *out, const char *text, size_t at, size_t indent)
{
	while (*text) {
		size_t n = strcspn(text, " ");
		struct tg_buf word = TG_BUF_INIT;
		size_t width;

		tg_buf_add(&word, text, n);
		width = tg_fmt_width(word.data);
		if (at > indent && at + width + 1 > WIDTH) {
			tg_buf_addc(out, '\n');
			tg_fmt_left(out, "", indent);
			at = indent;
		} else if (at > indent) {
			tg_buf_addc(out, ' ');
			at++;
		}
		tg_buf_add(out, word.data, n);
		at += width;
		text += n;
		text += strspn(text, " ");
		tg_buf_release(&word);
	}
	tg_buf_addc(out, '\n');
}

static void add_bold(const struct tg_command *c, struct tg_buf *out, const char *text)
{
	tg_buf_addf(out, c->colour ? "\033[1m%s\033[0m" : "%s", text);
}

static void list_metric(const struct tg_source_row *s, size_t k, size_t width, struct tg_buf *out)
{
	const struct tg_metric *m = &s->metric[k];
	const struct tg_metric_row *here = &s->here[k];
	struct tg_buf resolution = TG_BUF_INIT, what = TG_BUF_INIT;
	size_t column = width + 2 + 2 + UNIT + 1 + KIND + 1 + RESOLUTION + 1;

	if (!here->available)
		tg_buf_adds(&resolution, "–");
	else if (here->resolution_ns)
		tg_fmt_seconds(&resolution, (double)here->resolution_ns / 1e9);
	else
		tg_buf_adds(&resolution, "any rate");
	/* why a whole source is not here, or has nothing now, is said once, above */
	if (here->available)
		tg_buf_adds(&what, m->help ? m->help : "");
	if (here->why[0] && s->available && !(s->why && !strcmp(here->why, s->why)))
		tg_buf_addf(&what, here->available ? " (%s)" : "not here: %s", here->why);
	tg_buf_adds(out, "  ");
	tg_fmt_left(out, m->name, width);
	tg_buf_adds(out, "  ");
	tg_fmt_left(out, m->unit, UNIT);
	tg_buf_addc(out, ' ');
	tg_fmt_left(out, kind_name(m->kind), KIND);
	tg_buf_addc(out, ' ');
	tg_fmt_left(out, resolution.data, what.len ? RESOLUTION + 1 : 0);
	wrap(out, what.len ? what.data : "", column, column);
	tg_buf_release(&resolution);
	tg_buf_release(&what);
}

static void list_advice(const struct tg_command *c, struct tg_buf *out)
{
	tg_buf_addc(out, '\n');
	add_bold(c, out,
		c->n_advice ? "What an administrator could allow:"
			    : "Nothing is denied here that an administrator could allow.");
	tg_buf_addc(out, '\n');
	for (size_t i = 0; i < c->n_advice; i++) {
		struct tg_buf line = TG_BUF_INIT;

		tg_buf_addf(&line, "%s: %s", c->advice[i].what, c->advice[i].how);
		tg_buf_adds(out, "  ");
		wrap(out, line.data, 2, 2);
		tg_buf_clear(&line);
		tg_buf_addf(&line, "adds %s", c->advice[i].adds);
		tg_buf_adds(out, "    ");
		wrap(out, line.data, 4, 4);
		tg_buf_release(&line);
	}
}

static void list_text(const struct tg_command *c, struct tg_buf *out)
{
	size_t width = 0;

	tg_buf_adds(out, "Each metric with its unit, its kind and its resolution: its value is as "
			 "old or as coarse as that.\n\n");
	for (size_t i = 0; i < c->n_sources; i++)
		for (size_t k = 0; k < c->source[i].n_metrics; k++)
			width = TG_MAX(width, strlen(c->source[i].metric[k].name));
	for (size_t i = 0; i < c->n_sources; i++) {
		const struct tg_source_row *s = &c->source[i];
		struct tg_buf line = TG_BUF_INIT;

		tg_buf_addf(&line, ": %s", s->help ? s->help : "");
		if (!s->available)
			tg_buf_addf(
				&line, " — not here: %s", s->why && s->why[0] ? s->why : "unknown");
		else if (s->why && s->why[0])
			tg_buf_addf(&line, " (%s)", s->why);
		add_bold(c, out, s->name);
		wrap(out, line.data, strlen(s->name), strlen(s->name));
		tg_buf_release(&line);
		for (size_t k = 0; k < s->n_metrics; k++)
			list_metric(s, k, width, out);
	}
	list_advice(c, out);
}

static void list_json(const struct tg_command *c, struct tg_buf *out)
{
	struct tg_jw w;

	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	tg_jw_key(&w, "sources");
	tg_jw_begin_array(&w);
	for (size_t i = 0; i < c->n_sources; i++) {
		const struct tg_source_row *s = &c->source[i];

		tg_jw_begin_object(&w);
		tg_jw_kstr(&w, "name", s->name);
		tg_jw_kstr(&w, "help", s->help);
		tg_jw_kbool(&w, "available", s->available);
		tg_jw_kstr(&w, "why", s->why);
		tg_jw_key(&w, "metrics");
		tg_jw_begin_array(&w);
		for (size_t k = 0; k < s->n_metrics; k++) {
			const struct tg_metric *m = &s->metric[k];
			const struct tg_metric_row *here = &s->here[k];

			tg_jw_begin_object(&w);
			tg_jw_kstr(&w, "name", m->name);
			tg_jw_kstr(&w, "unit", m->unit);
			tg_jw_kstr(&w, "kind", kind_name(m->kind));
			tg_jw_kstr(&w, "of", scope_name(m->scope));
			tg_jw_kstr(&w, "help", m->help);
			tg_jw_kbool(&w, "available", here->available);
			tg_jw_key(&w, "resolution_ns");
			if (here->available)
				tg_jw_int(&w, here->resolution_ns);
			else
				tg_jw_null(&w);
			tg_jw_kstr(&w, "why", here->why);
			tg_jw_end_object(&w);
		}
		tg_jw_end_array(&w);
		tg_jw_end_object(&w);
	}
	tg_jw_end_array(&w);
	tg_jw_key(&w, "advice");
	tg_jw_begin_array(&w);
	for (size_t i = 0; i < c->n_advice; i++) {
		tg_jw_begin_object(&w);
		tg_jw_kstr(&w, "what", c->advice[i].what);
		tg_jw_kstr(&w, "how", c->advice[i].how);
		tg_jw_kstr(&w, "adds", c->advice[i].adds);
		tg_jw_end_object(&w);
	}
	tg_jw_end_array(&w);
	tg_jw_end_object(&w);
	tg_buf_addc(out, '\n');
}

/* Of ASCII, whatever the locale; "CPU time" begins with a capital already. */
static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Nothing in it depends on the machine, so that the file is the same everywhere. */
static void list_markdown(const struct tg_command *c, struct tg_buf *out)
{
	tg_buf_adds(out,
		"# Metrics\n\n"
		"Written by `tachograph list --markdown`; a test holds it against the sources.\n\n"
		"A *counter* only grows: its rate is a difference over a difference of times. A "
		"*gauge* is a level.\nWhat a machine does not offer is missing in its recordings, "
		"never 0; `tachograph list` says why.\n");
	for (size_t i = 0; i < c->n_sources; i++) {
		const struct tg_source_row *s = &c->source[i];

		tg_buf_addf(out, "\n## %s\n\n", s->name);
		if (s->help)
			tg_buf_addf(out, "%c%s.\n\n", upper(s->help[0]), s->help + 1);
		tg_buf_adds(
			out, "| metric | unit | kind | of | what it is |\n|---|---|---|---|---|\n");
		for (size_t k = 0; k < s->n_metrics; k++) {
			const struct tg_metric *m = &s->metric[k];

			tg_buf_addf(out, "| `%s` | %s | %s | %s | %s |\n", m->name, m->unit,
				kind_name(m->kind), scope_name(m->scope), m->help ? m->help : "");
		}
	}
}

int tg_run_list(struct tg_command *c, int argc, char **argv)
{
	bool markdown = false, json = false;
	const struct tg_option option[] = {
		{ "markdown", 0, NULL, &markdown },
		{ "json", 0, NULL, &json },
	};
	struct tg_buf out = TG_BUF_INIT;

	if (tg_options(c, &argc, argv, option, TG_ARRAY_SIZE(option)) != TG_WORD_OK)
		return TG_WORD_USAGE;
	if (argc > 1) {
		tg_err_set(&c->err, -EINVAL, "list takes no names; `show` lists what was recorded");
		return TG_WORD_USAGE;
	}
	if (c->load_sources && c->load_sources(c) < 0)
		return TG_WORD_FAILED;
	if (markdown)
		list_markdown(c, &out);
	else if (json)
		list_json(c, &out);
	else
		list_text(c, &out);
	c->out.text(c->out.ctx, out.data, out.len);
	tg_buf_release(&out);
	return TG_WORD_OK;
}
