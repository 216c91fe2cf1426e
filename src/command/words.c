/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/command.h"

#include <errno.h>

#include "command/run.h"

#include "base/mem.h"

#define NAME_MAX_LEN 64

#define WITHOUT "Without F the newest recording is meant, in a notebook its own."
#define SPANS                                                                                      \
	"SEL chooses spans: 3, 2:5 (2, 3, 4 and 5), -1, last, all, name=align*, kind=task;\n"      \
	"commas add up. Numbers count cells (or stages) from 0."

static const struct tg_word table[] = {
	{
		.name = "show",
		.usage = "[F…|FOLDER] [--span SEL] [--json]",
		.help = "one line for each cell or stage: time, cores, memory, I/O",
		.more = "Several files, or a folder, get a line for each file.\n" WITHOUT
			"\n" SPANS,
		.example = "--span last",
		.where = TG_IN_BOTH,
		.run = tg_run_show,
	},
	{
		.name = "chart",
		.usage = "[F] [--span SEL] [--panel LIST] [--node] [-o x.svg|x.png|x.vl.json]",
		.help = "one picture of what the machine did",
		.more = "LIST is some of cpu, cpu-raw, memory, io-bytes, io-ops, net, node-cpu,\n"
			"node-memory, all; without it, whatever has something to show.\n"
			"--node draws the whole machine beside the job.\n"
			"A notebook shows the picture itself where no -o is given.\n" WITHOUT
			"\n" SPANS,
		.example = "--span last --panel cpu,memory -o last.svg",
		.where = TG_IN_BOTH,
		.run = tg_run_chart,
	},
	{
		.name = "export",
		.usage = "[F] -o x.csv|x.json|- [--format csv|json] [--span SEL] [--no-code] "
			 "[--no-args]",
		.help = "the samples for other programs, with units and times",
		.more = "CSV has a line a sample: time (UTC), seconds, cell, then name[unit] "
			"columns.\n"
			"JSON has the spans with their sums, events and processes besides.\n"
			"Counters are exported as they were read: they only grow, and a rate is a\n"
			"difference over a difference of times. Unknown is empty, or "
			"null.\n" WITHOUT "\n" SPANS,
		.example = "-o run.csv",
		.where = TG_IN_BOTH,
		.run = tg_run_export,
	},
	{
		.name = "verify",
		.usage = "[F]",
		.help = "check that a recording is whole",
		.more = WITHOUT,
		.example = "",
		.where = TG_IN_BOTH,
		.run = tg_run_verify,
	},
	{
		.name = "mark",
		.usage = "NAME [key=value…]",
		.help = "put a name to this moment of the recording",
		.example = "loaded rows=4000",
		.where = TG_IN_NOTEBOOK,
		.run = tg_run_mark,
	},
	{
		.name = "set",
		.usage = "[interval=SECONDS] [report=line|jumper|none] [report-min=SECONDS]",
		.help = "what is sampled how often, and what a cell prints",
		.example = "interval=0.05",
		.where = TG_IN_NOTEBOOK,
		.run = tg_run_set,
	},
	{
		.name = "list",
		.usage = "[--markdown]",
		.help = "which metrics are to be had here, and why not the others",
		.example = "",
		.where = TG_IN_BOTH,
		.run = tg_run_list,
	},
	{
		.name = "help",
		.usage = "[WORD]",
		.help = "what the words do",
		.example = "show",
		.where = TG_IN_BOTH,
		.run = tg_run_help,
	},
};

const struct tg_word *tg_words(size_t *n)
{
	*n = TG_ARRAY_SIZE(table);
	return table;
}

const struct tg_word *tg_word_find(const char *name, enum tg_where where)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(table); i++)
		if ((table[i].where & where) && !strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

/* Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned row[3][NAME_MAX_LEN + 1];

	for (size_t j = 0; j <= nb; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);

			best = TG_MIN(best, up[j] + 1);
			best = TG_MIN(best, now[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = TG_MIN(best, up2[j - 2] + 1);
			now[j] = best;
		}
	}
	return row[na % 3][nb];
}

const char *tg_nearest(const char *name, const char *const *candidate, size_t n)
{
	size_t len = strlen(name);
	unsigned best = (unsigned)TG_MAX(len / 3, (size_t)1) + 1;
	const char *found = NULL;

	if (!len || len > NAME_MAX_LEN)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t m = strlen(candidate[i]);
		unsigned d;

		if (m > NAME_MAX_LEN)
			continue;
		d = distance(name, len, candidate[i], m);
		if (d < best) {
			best = d;
			found = candidate[i];
		}
	}
	return found;
}

void tg_word_help(const struct tg_word *word, const char *prefix, struct tg_buf *out)
{
	tg_buf_addf(out, "%s %s%s%s\n\n%c%s.\n", prefix, word->name, word->usage[0] ? " " : "",
		word->usage, word->help[0] - 'a' + 'A', word->help + 1);
	if (word->more)
		tg_buf_addf(out, "\n%s\n", word->more);
	if (word->example)
		tg_buf_addf(out, "\nExample: %s %s%s%s\n", prefix, word->name,
			word->example[0] ? " " : "", word->example);
}

static const char *prefix_of(const struct tg_command *c)
{
	return c->where == TG_IN_NOTEBOOK ? "%tacho" : "tachograph";
}

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
	int rc;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			struct tg_buf help = TG_BUF_INIT;

			tg_word_help(word, prefix_of(c), &help);
			c->out.text(c->out.ctx, help.data, help.len);
			tg_buf_release(&help);
			return TG_WORD_OK;
		}
	rc = word->run(c, argc, argv);
	make_plain(&c->err);
	return rc;
}

int tg_run_help(struct tg_command *c, int argc, char **argv)
{
	const char *prefix = prefix_of(c);
	struct tg_buf out = TG_BUF_INIT;

	if (argc > 2) {
		tg_err_set(&c->err, -EINVAL, "help explains one word at a time");
		tg_buf_release(&out);
		return TG_WORD_USAGE;
	}
	if (argc > 1) {
		const struct tg_word *word = tg_word_find(argv[1], c->where);

		if (!word)
			return tg_unknown_word(c, argv[1]);
		tg_word_help(word, prefix, &out);
	} else {
		for (size_t i = 0; i < TG_ARRAY_SIZE(table); i++)
			if (table[i].where & c->where)
				tg_buf_addf(&out, "  %-9s %s\n", table[i].name, table[i].help);
		tg_buf_addf(&out, "\n`%s help WORD` says more.\n", prefix);
	}
	c->out.text(c->out.ctx, out.data, out.len);
	tg_buf_release(&out);
	return TG_WORD_OK;
}

int tg_unknown_word(struct tg_command *c, const char *name)
{
	const char *names[TG_ARRAY_SIZE(table)];
	const char *near;
	size_t n = 0;

	for (size_t i = 0; i < TG_ARRAY_SIZE(table); i++)
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
