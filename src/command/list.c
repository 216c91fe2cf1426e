/* SPDX-License-Identifier: BSD-3-Clause */
/* `list`: which metrics there are here and why not the others; also the text of docs/metrics.md. */
#include <errno.h>

#include "command/format.h"
#include "command/run.h"

#include "base/mem.h"

static const char *kind_name(enum tg_kind kind)
{
	return kind == TG_COUNTER ? "counter" : "gauge";
}

static void list_text(const struct tg_command *c, struct tg_buf *out)
{
	size_t width = 0;

	for (size_t i = 0; i < c->n_sources; i++)
		for (size_t k = 0; k < c->source[i].n_metrics; k++)
			width = TG_MAX(width, strlen(c->source[i].metric[k].name));
	for (size_t i = 0; i < c->n_sources; i++) {
		const struct tg_source_row *s = &c->source[i];

		if (c->colour)
			tg_buf_adds(out, "\033[1m");
		tg_buf_addf(out, "%s", s->name);
		if (c->colour)
			tg_buf_adds(out, "\033[0m");
		tg_buf_addf(out, ": %s", s->help ? s->help : "");
		if (!s->available)
			tg_buf_addf(
				out, " — not here: %s", s->why && s->why[0] ? s->why : "unknown");
		else if (s->why && s->why[0])
			tg_buf_addf(out, " (%s)", s->why);
		tg_buf_addc(out, '\n');
		for (size_t k = 0; k < s->n_metrics && s->available; k++) {
			const struct tg_metric *m = &s->metric[k];

			tg_buf_adds(out, "  ");
			tg_fmt_left(out, m->name, width);
			tg_buf_addf(out, "  %-6s %-7s  %s\n", m->unit, kind_name(m->kind),
				m->help ? m->help : "");
		}
	}
}

/* Of ASCII, whatever the locale; "CPU time" begins with a capital already. */
static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Nothing in it depends on the machine, so that the file is the same everywhere. */
static void list_markdown(const struct tg_command *c, struct tg_buf *out)
{
	static const char *const of[] = { "job", "machine", "recorder" };

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
				kind_name(m->kind), of[m->scope], m->help ? m->help : "");
		}
	}
}

int tg_run_list(struct tg_command *c, int argc, char **argv)
{
	bool markdown = false;
	const struct tg_option option[] = {
		{ "markdown", 0, NULL, &markdown },
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
	else
		list_text(c, &out);
	c->out.text(c->out.ctx, out.data, out.len);
	tg_buf_release(&out);
	return TG_WORD_OK;
}
