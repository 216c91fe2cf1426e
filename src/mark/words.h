/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words that the command line and `%tacho` share, and what is said about them: for those who
 * run them, and for the kernel, which completes and explains them while its user types. What they
 * do is not known here (command/words.c).
 */
#ifndef TG_MARK_WORDS_H
#define TG_MARK_WORDS_H

#include <stddef.h>

#include "base/buf.h"
#include "mark/magics.h"

enum tg_where {
	TG_IN_CLI = 1 << 0,
	TG_IN_NOTEBOOK = 1 << 1,
	TG_IN_BOTH = TG_IN_CLI | TG_IN_NOTEBOOK,
};

/* In the order in which help lists them. */
enum tg_word_name {
	TG_WORD_SHOW,
	TG_WORD_CHART,
	TG_WORD_REPORT,
	TG_WORD_COMPARE,
	TG_WORD_EXPORT,
	TG_WORD_VERIFY,
	TG_WORD_MARK,
	TG_WORD_SET,
	TG_WORD_LIST,
	TG_WORD_HELP,
	TG_WORDS
};

struct tg_word {
	const char *name;
	/*
	 * Arguments: "[F…] [--span SEL] [--format csv|json] [interval=SECONDS]". Completion reads
	 * it, too: capitals stand for something, small letters for themselves.
	 */
	const char *usage;
	const char *help; /* one line; starts with a small letter */
	const char *more; /* paragraphs for `WORD --help`, or NULL */
	const char *example; /* arguments of one useful call */
	enum tg_where where;
};

/* The table, by enum tg_word_name. */
const struct tg_word *tg_words(size_t *n);

/* The word of that name in that place; NULL when there is none. */
const struct tg_word *tg_word_find(const char *name, enum tg_where where);

/*
 * The panels that a chart can have, as --panel names them, with `sep` between the names, and `fold`
 * where a line may end.
 */
#define TG_PANEL_LINES(sep, fold)                                                                  \
	"cpu" sep "cpu-roles" sep "cpu-kinds" sep "core-map" sep "cpu-raw" sep "run-queue" sep     \
	"faults" sep "processes" fold "memory" sep "memory-roles" sep "address-space" sep          \
	"memory-kinds" sep "io-bytes" sep "io-ops" fold "disks" sep "blocks" sep "disk-busy" sep   \
	"disk-ops" sep "nfs" sep "nfs-ops" sep "nfs-pages" sep "nfs-rtt" sep "lustre" sep          \
	"net" sep "infiniband" fold "gpu" sep "gpu-total" sep "gpu-memory-busy" sep                \
	"gpu-memory" sep "gpu-memory-total" fold "gpu-temperature" sep "power" sep "pressure" fold \
	"node-cpu" sep "node-memory" sep "all"
#define TG_PANEL_NAMES(sep) TG_PANEL_LINES(sep, sep)

/* What something in capitals in a usage may be: "a|b|c="; NULL: not known here. */
const char *tg_word_values(const char *capitals, size_t len);

#define TG_WHAT_IT_DOES                                                                            \
	"tachograph records what a notebook's cells, or a command, do to the machine, and shows "  \
	"it."

/* "tachograph" or "%tacho": what stands before a word in that place. */
const char *tg_word_prefix(enum tg_where where);

/* Append what `WORD --help` says in one place. */
void tg_word_help(const struct tg_word *word, enum tg_where where, struct tg_buf *out);

/* Append what `help` says: what this is, and each word of that place with an example. */
void tg_words_help(enum tg_where where, struct tg_buf *out);

/* Append what `%name?` says; of `tacho` the same as `%tacho help`. */
void tg_magic_help(enum tg_magic_name name, struct tg_buf *out);

#endif
