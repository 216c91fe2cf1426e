/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions behind the words, and what they share; see command.h for what they get. */
#ifndef TG_COMMAND_RUN_H
#define TG_COMMAND_RUN_H

#include "analyze/recording.h"
#include "analyze/totals.h"
#include "command/command.h"

int tg_run_chart(struct tg_command *c, int argc, char **argv);
int tg_run_compare(struct tg_command *c, int argc, char **argv);
int tg_run_export(struct tg_command *c, int argc, char **argv);
int tg_run_help(struct tg_command *c, int argc, char **argv);
int tg_run_list(struct tg_command *c, int argc, char **argv);
int tg_run_mark(struct tg_command *c, int argc, char **argv);
int tg_run_report(struct tg_command *c, int argc, char **argv);
int tg_run_set(struct tg_command *c, int argc, char **argv);
int tg_run_show(struct tg_command *c, int argc, char **argv);
int tg_run_verify(struct tg_command *c, int argc, char **argv);

/* Set the sentence for a word that does not exist, with the nearest one. Returns TG_WORD_USAGE. */
int tg_unknown_word(struct tg_command *c, const char *name);

/* Whether `report` can write a file of this name: its end says what it is. */
bool tg_is_report_name(const char *name);

struct tg_chart;

/* Show a chart as Vega-Lite, PNG and text. Returns TG_WORD_OK, or _FAILED with a sentence. */
int tg_show_chart(struct tg_command *c, const struct tg_chart *chart);

/* ---- options ---- */

struct tg_option {
	const char *name; /* "span": --span SEL, --span=SEL */
	char letter; /* -o; 0: none */
	const char **value; /* where its argument goes; NULL: it takes none */
	bool *given; /* or NULL */
	struct tg_option_values *many; /* in place of `value`, when it may be given repeatedly */
};

enum { TG_OPTION_VALUES_MAX = 16 };

/* In the order of the command line; borrowed from it. */
struct tg_option_values {
	const char *value[TG_OPTION_VALUES_MAX];
	size_t n;
};

/*
 * Take the options out of argv, in any order, until `--`. What is left is argv[1..*argc). Returns
 * 0, or TG_WORD_USAGE with a sentence that names the nearest option.
 */
int tg_options(
	struct tg_command *c, int *argc, char **argv, const struct tg_option *option, size_t n);

/*
 * Take the options at the front of argv, up to the first argument that is none of them, `--`
 * included: argv[*rest], or *rest == argc. Returns 0, or TG_WORD_USAGE with a sentence.
 */
int tg_options_first(struct tg_command *c, int argc, char **argv, const struct tg_option *option,
	size_t n, int *rest);

/* The name of the option that `arg`, "--nmae=x", may have meant; or NULL. */
const char *tg_option_near(const char *arg, const struct tg_option *option, size_t n);

/*
 * The window of moving averages that --smooth says, in seconds; TG_SMOOTH_USUAL where `text` is
 * NULL. Returns 0, or TG_WORD_USAGE with a sentence.
 */
int tg_take_smooth(struct tg_command *c, const char *text, double *s);

/* ---- recordings ---- */

bool tg_is_folder(struct tg_command *c, const char *name);

/* Whether a name ends as those of recordings do. */
bool tg_is_recording(const char *name);

/*
 * The recordings in folder `name`, by name; of very many the newest, as a note says. Returns how
 * many; 0, with a sentence: none, or it cannot be read. The caller frees each and the list.
 */
size_t tg_list_folder(struct tg_command *c, const char *name, char ***file);

/* `name` as seen from the folder of whoever asked; `~` and `~/x` are of c->home, `~user` is not. */
void tg_resolve(const struct tg_command *c, const char *name, struct tg_buf *out);

/*
 * Append the path of the recording that is named, or of the one that is meant when `name` is NULL:
 * c->file, else the newest in c->folder, which is noted. Returns TG_WORD_OK, or another result with
 * a sentence.
 */
int tg_find(struct tg_command *c, const char *name, struct tg_buf *path);

/*
 * Open the recording that is named, or the one that is meant when `name` is NULL, seen as c->run
 * says. Returns TG_WORD_OK, or TG_WORD_FAILED with a sentence.
 */
int tg_open(struct tg_command *c, const char *name, struct tg_recording **out);

/* Append what is lost: "64 bytes skipped in 1 hole, 1 chunk lost". */
void tg_damage_text(const struct tg_damage *d, struct tg_buf *out);

/* Note what of the recording is lost, when its reader met damage by now; nothing when whole. */
void tg_tell_damage(struct tg_command *c, struct tg_recording *r);

/*
 * The spans that `selection` chooses (NULL: `otherwise`). Returns TG_WORD_OK, or another result
 * with a sentence. Caller frees *span.
 */
int tg_choose(struct tg_command *c, const struct tg_recording *r, const char *selection,
	const char *otherwise, const struct tg_span ***span, size_t *n);

/*
 * The span that stands for all of a recording: its last run, else all spans as one, which is made
 * in *storage and may need the text in `kind`. NULL: there are none. Borrowed from `r` and both.
 */
const struct tg_span *tg_whole(
	const struct tg_recording *r, struct tg_span *storage, struct tg_buf *kind);

/* ---- files that are written ---- */

/* Whether a name ends so: its format follows from that. */
bool tg_ends_with(const char *name, const char *end);

struct tg_target {
	const char *name; /* borrowed */
	int fd; /* -1: the output of the word itself */
	struct tg_buf path, temp; /* temp: what is renamed to `path` in the end; or empty */
};

/*
 * Open the file `name` for writing, "-" being the output. Refused when it is the file `input` (or
 * NULL) or the recording of the kernel that asks. Result as above; after OK, end with
 * tg_target_close.
 */
int tg_target_open(struct tg_command *c, const char *name, const char *input, struct tg_target *t);

/* 0 or -errno, without a sentence. */
int tg_target_write(struct tg_command *c, struct tg_target *t, const char *data, size_t len);

/* Put it in place when `result` is OK, else leave what was there. Returns the result of both. */
int tg_target_close(struct tg_command *c, struct tg_target *t, int result);

/* All of that for `len` bytes. */
int tg_write_result(
	struct tg_command *c, const char *name, const char *input, const char *data, size_t len);

/* "Exported to x.csv": in a notebook, where silence says nothing, and not of "-". */
void tg_tell_written(struct tg_command *c, const char *done, const char *name);

#endif
