/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/command.h"

#include <errno.h>

#include "command/run.h"

#include "base/mem.h"

static int (*const run[TG_WORDS])(struct tg_command *c, int argc, char **argv) = {
	[TG_WORD_SHOW] = tg_run_show,
	[TG_WORD_CHART] = tg_run_chart,
	[TG_WORD_REPORT] = tg_run_report,
	[TG_WORD_COMPARE] = tg_run_compare,
	[TG_WORD_EXPORT] = tg_run_export,
	[TG_WORD_VERIFY] = tg_run_verify,
	[TG_WORD_MARK] = tg_run_mark,
	[TG_WORD_SET] = tg_run_set,
	[TG_WORD_LIST] = tg_run_list,
	[TG_WORD_HELP] = tg_run_help,
};

/* Sentences name what comes from outside; what goes to a terminal has no control characters. */
static void make_plain(struct tg_err *err)
{
	struct tg_buf text = TG_BUF_INIT;

	tg_plain(&text, err->text, sizeof(err->text));
	snprintf(err->text, sizeof(err->text), "%s", text.data ? text.data : "");
	tg_buf_release(&text);
}

int tg_word_run(const struct tg_word *word, struct tg_command *c, int argc, char **argv)
{
	size_t n;
	const struct tg_word *table = tg_words(&n);
	int rc;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			struct tg_buf help = TG_BUF_INIT;

			tg_word_help(word, c->where, &help);
			c->out.text(c->out.ctx, help.data, help.len);
			tg_buf_release(&help);
			return TG_WORD_OK;
		}
	rc = run[word - table](c, argc, argv);
	make_plain(&c->err);
	return rc;
}

int tg_run_help(struct tg_command *c, int argc, char **argv)
{
	const struct tg_word *word = NULL;
	struct tg_buf out = TG_BUF_INIT;

	if (argc > 2) {
		tg_err_set(&c->err, -EINVAL, "help explains one word at a time");
		return TG_WORD_USAGE;
	}
	if (argc > 1) {
		word = tg_word_find(argv[1], c->where);
		if (!word)
			return tg_unknown_word(c, argv[1]);
		tg_word_help(word, c->where, &out);
	} else {
		tg_words_help(c->where, &out);
	}
	c->out.text(c->out.ctx, out.data, out.len);
	tg_buf_release(&out);
	return TG_WORD_OK;
}

int tg_unknown_word(struct tg_command *c, const char *name)
{
	const char *names[TG_WORDS];
	const char *near;
	size_t n_words, n = 0;
	const struct tg_word *table = tg_words(&n_words);

	for (size_t i = 0; i < n_words; i++)
		if (table[i].where & c->where)
			names[n++] = table[i].name;
	near = tg_nearest(name, names, n);
	if (near)
		tg_err_set(&c->err, -EINVAL, "There is no \"%.40s\" here; did you mean \"%s\"?",
			name, near);
	else
		tg_err_set(&c->err, -EINVAL, "There is no \"%.40s\" here; \"help\" lists the words",
			name);
	make_plain(&c->err);
	return TG_WORD_USAGE;
}
