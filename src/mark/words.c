/* SPDX-License-Identifier: BSD-3-Clause */
#include "mark/words.h"

#include "mark/magics.h"
#include "mark/setting.h"

#include "base/mem.h"

#define WITHOUT "Without F the newest recording is meant, in a notebook its own."
#define SPANS                                                                                      \
	"SEL chooses cells: 3, 2:5 (2, 3, 4 and 5), -1, last, all; commas add up.\n"               \
	"Numbers count cells from 0. kind=run is all of the kernel's life."

static const struct tg_word table[TG_WORDS] = {
	[TG_WORD_SHOW] = {
		.name = "show",
		.usage = "[F…|FOLDER] [--span SEL] [--json]",
		.help = "one line for each cell: time, cores, memory, I/O",
		.more = "Several files, or a folder, get a line for each file.\n" WITHOUT
			"\n" SPANS,
		.example = "--span last",
		.where = TG_IN_BOTH,
	},
	[TG_WORD_CHART] = {
		.name = "chart",
		.usage = "[F] [--span SEL] [--panel LIST] [--node] [--smooth S] [-o x.svg|x.png|x.vl.json]",
		.help = "one picture of what the machine did",
		.more = "LIST has commas between some of these; without it, whatever has\n"
			"something to show:\n  " TG_PANEL_LINES(" ", "\n  ") "\n"
			"--node draws the whole machine beside the job. --smooth S draws moving\n"
			"averages over S seconds, and what was sampled fainter.\n"
			"A terminal needs -o; a notebook without it shows the picture itself.\n" WITHOUT
			"\n" SPANS,
		.example = "--span last --panel cpu,memory -o last.svg",
		.where = TG_IN_BOTH,
	},
	[TG_WORD_REPORT] = {
		.name = "report",
		.usage = "[F…|FOLDER] [-o x.html|x.ipynb] [--smooth S] [--open] [--no-code] [--no-args] "
			 "[--match REGEX]",
		.help = "all of it in one page: plots, tables, processes",
		.more = "The page needs no network and can be sent by mail; the notebook can be run\n"
			"again, where it reads F through Python. FOLDER has recordings, or logs that\n"
			"other tools took: for these there are --match, --role, --tz and --interval,\n"
			"as for import. Without -o it is F's name with .html, here. --smooth S: the\n"
			"window of moving averages in seconds, 0 for none; else 60, and 10 for GPUs.\n"
			"--open shows it in the browser, unless you are here over ssh.\n" WITHOUT,
		.example = "-o report.html",
		.where = TG_IN_BOTH,
	},
	[TG_WORD_COMPARE] = {
		.name = "compare",
		.usage = "A B… [--metric COSTS] [--fail-above PERCENT] [--span SEL] [--json]",
		.help = "was it faster, and is that more than noise",
		.more = "A, B and so on are recordings. Several with commas between (a1.tacho,a2.tacho),\n"
			"or a folder of them, are repeats, and tell how much is noise. All are compared\n"
			"with A, as a whole and stage by stage. In a notebook, A alone is compared with\n"
			"its own recording. COSTS has commas between some of wall, cpu, memory, read,\n"
			"written, gpu. --fail-above 10% ends with status 3 when a cost rose by more\n"
			"than that and not within the noise.\n" SPANS,
		.example = "before.tacho after.tacho --fail-above 10%",
		.where = TG_IN_BOTH,
	},
	[TG_WORD_EXPORT] = {
		.name = "export",
		.usage = "[F] -o x.csv|x.json|x.sqlite|x.parquet|x.prom|FOLDER/|- [--format "
			 "FORMAT] [--span SEL] [--metric NAMES] [--table NAMES] [--extended] [--raw-numbers] "
			 "[--no-code] [--no-args]",
		.help = "the samples for other programs, with units and times",
		.more = "CSV has a line a sample: time (UTC), seconds, cell, then name[unit] "
			"columns.\n"
			"JSON and SQLite have the spans with their sums, events and processes "
			"besides;\n"
			"a folder gets a CSV file of each. Parquet is written by pyarrow. .prom is\n"
			"OpenMetrics. FORMAT is one of csv, json, sqlite, parquet, folder, raw,\n"
			"openmetrics, and snakemake (--extended: more columns) or nextflow\n"
			"(--raw-numbers: bytes, ms): a line a stage, as those write them.\n"
			"--metric chooses what is exported: names with commas, or none.\n"
			"Counters are exported as they were read: they only grow, and a rate is a\n"
			"difference over a difference of times. Unknown is empty, or "
			"null.\n" WITHOUT "\n" SPANS,
		.example = "-o samples.csv",
		.where = TG_IN_BOTH,
	},
	[TG_WORD_VERIFY] = {
		.name = "verify",
		.usage = "[F]",
		.help = "check that a recording is whole",
		.more = WITHOUT,
		.example = "",
		.where = TG_IN_BOTH,
	},
	[TG_WORD_MARK] = {
		.name = "mark",
		.usage = "NAME [KEY=VALUE…]",
		.help = "put a name to this moment of the recording",
		.example = "loaded rows=4000",
		.where = TG_IN_NOTEBOOK,
	},
	[TG_WORD_SET] = {
		.name = "set",
		.usage = "[NAME] [NAME=VALUE…]",
		.help = "what is sampled how often, and what a cell prints",
		.more = "Without arguments it lists the settings, their values, and where these come "
			"from.\nSeveral at once are all set, or none. NAME= takes a value back.",
		.example = "interval=0.05 report=none",
		.where = TG_IN_NOTEBOOK,
	},
	[TG_WORD_LIST] = {
		.name = "list",
		.usage = "[--json|--markdown]",
		.help = "which metrics are to be had here, and why not the others",
		.more = "Each with its unit and resolution: its value is as old or as coarse as that.\n"
			"It ends with what an administrator could allow, and what that would add.",
		.example = "",
		.where = TG_IN_BOTH,
	},
	[TG_WORD_HELP] = {
		.name = "help",
		.usage = "[WORD]",
		.help = "what the words do",
		.example = "show",
		.where = TG_IN_BOTH,
	},
};

const struct tg_word *tg_words(size_t *n)
{
	*n = TG_WORDS;
	return table;
}

const struct tg_word *tg_word_find(const char *name, enum tg_where where)
{
	for (size_t i = 0; i < TG_WORDS; i++)
		if ((table[i].where & where) && !strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

const char *tg_word_values(const char *capitals, size_t len)
{
	static const char *const values[][2] = {
		{ "SEL", "last|all|name=|kind=" },
		{ "LIST", TG_PANEL_NAMES("|") },
		{ "COSTS", "wall|cpu|memory|read|written|gpu" },
		{ "FORMAT", "csv|json|sqlite|parquet|folder|openmetrics|snakemake|nextflow|raw" },
		{ "WORD", "show|chart|report|compare|export|verify|mark|set|list|help" },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(values); i++)
		if (strlen(values[i][0]) == len && !memcmp(values[i][0], capitals, len))
			return values[i][1];
	return NULL;
}

const char *tg_word_prefix(enum tg_where where)
{
	return where == TG_IN_NOTEBOOK ? "%tacho" : "tachograph";
}

static void add_example(const struct tg_word *word, enum tg_where where, struct tg_buf *out)
{
	tg_buf_addf(out, "%s %s%s%s\n", tg_word_prefix(where), word->name,
		word->example[0] ? " " : "", word->example);
}

static void add_settings(struct tg_buf *out)
{
	tg_buf_addc(out, '\n');
	for (int i = 0; i < TG_SETTINGS; i++) {
		const struct tg_setting *s = tg_setting((enum tg_setting_name)i);

		tg_buf_addf(out, "  %-23s %s%s%s\n", s->name, s->help, s->words ? ": " : "",
			s->words ? s->words : "");
	}
}

void tg_word_help(const struct tg_word *word, enum tg_where where, struct tg_buf *out)
{
	tg_buf_addf(out, "%s %s%s%s\n\n%c%s.\n", tg_word_prefix(where), word->name,
		word->usage[0] ? " " : "", word->usage, word->help[0] - 'a' + 'A', word->help + 1);
	if (word->more)
		tg_buf_addf(out, "\n%s\n", word->more);
	if (word == &table[TG_WORD_SET])
		add_settings(out);
	tg_buf_adds(out, "\nExample: ");
	add_example(word, where, out);
}

void tg_words_help(enum tg_where where, struct tg_buf *out)
{
	tg_buf_adds(out, TG_WHAT_IT_DOES "\n\n");
	for (size_t i = 0; i < TG_WORDS; i++)
		if (table[i].where & where) {
			tg_buf_addf(out, "  %-9s %s\n            ", table[i].name, table[i].help);
			add_example(&table[i], where, out);
		}
	tg_buf_addf(out, "\n`%s help WORD` says more.\n", tg_word_prefix(where));
	if (where == TG_IN_NOTEBOOK)
		tg_buf_addf(out,
			"`%%%%tacho` on top of a cell prints its line, however short it was.\n"
			"JUmPER's names work, too, such as `%%%%%s` and `%%%%%s`.\n",
			tg_magic_name(TG_NAME_GRAPH_FOR_LAST), tg_magic_name(TG_NAME_CODE_HISTORY));
}

static const struct {
	const char *arguments, *help, *example;
} magics[TG_NAMES] = {
	[TG_NAME_CODE_HISTORY] = { "", "The recorded cells: index, timestamp, wall time, code",
		"" },
	[TG_NAME_CODE_FOR_INDEX] = { " INDEX", "The code of one recorded cell", " 3" },
	[TG_NAME_GRAPH_FOR_LAST] = { "", "A chart of the last recorded cell", "" },
	[TG_NAME_GRAPH_FOR_INDEX] = { " INDEX", "A chart of one recorded cell", " 3" },
	[TG_NAME_GRAPH_FOR_ALL] = { "", "A chart of all recorded cells", "" },
	[TG_NAME_TO_VARIABLE] = { " NAME", "JUmPER's lists of performance data in a variable",
		" data" },
	[TG_NAME_TO_JSON] = { " FILE",
		"JUmPER's lists in FILE_perfdata.json, the code in FILE_code.json", " run1" },
};

void tg_magic_help(enum tg_magic_name name, struct tg_buf *out)
{
	const char *s = tg_magic_name(name);

	if (name == TG_NAME_TACHO)
		tg_words_help(TG_IN_NOTEBOOK, out);
	else
		tg_buf_addf(out, "%%%%%s%s\n\n%s.\n\nExample: %%%%%s%s\n", s,
			magics[name].arguments, magics[name].help, s, magics[name].example);
}
