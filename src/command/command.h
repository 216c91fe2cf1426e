/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words that the command line and `%tacho` share (mark/words.h) and their running. A word gets
 * parsed arguments and an output interface; it never prints, exits or reads the environment of its
 * caller, so that the command line can print what the worker turns into messages of Jupyter. Files
 * that are asked for (-o) are written here, relative to the folder of whoever asked.
 */
#ifndef TG_COMMAND_COMMAND_H
#define TG_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/metric.h"
#include "base/nearest.h"
#include "mark/words.h"

/* One display. Members that are NULL are left out. Borrowed for the length of the call. */
struct tg_display {
	const char *vega; /* a Vega-Lite 5 specification */
	const char *html;
	const char *text;
	const char *png;
	size_t png_len;
};

/* Where results go. All but `ctx` are set. */
struct tg_output {
	void *ctx;
	void (*text)(void *ctx, const char *text, size_t len); /* the result */
	void (*note)(void *ctx, const char *sentence); /* what one should know besides */
	void (*show)(void *ctx, const struct tg_display *display);
	void (*set)(void *ctx, const char *key, const char *json); /* a setting changes */
};

/* One source of metrics and what it offers here, for `list`. */
struct tg_source_row {
	const char *name;
	const char *help;
	const struct tg_metric *metric;
	size_t n_metrics;
	bool available;
	const char *why; /* why it is not, or "" */
	struct tg_metric_row *here; /* of each of its metrics */
};

/* What this machine has of one metric. */
struct tg_metric_row {
	int64_t resolution_ns; /* its value is as old or as coarse as that; 0: at every reading */
	bool available;
	const char *why; /* why it is not, or what is to be known about it, or "" */
};

/* Something that an administrator could allow: how, and what there would be then. */
struct tg_advice_row {
	const char *what, *how, *adds;
};

/* What a word runs in. */
struct tg_command {
	enum tg_where where;
	const char *cwd; /* relative names start here; NULL: the current folder */
	const char *home; /* what `~` at a name's beginning stands for; NULL: itself */
	const char *file; /* the recording that is meant where none is named; NULL: none */
	const char *folder; /* or else the newest one in here; NULL: none */
	const char *why; /* a sentence when both are NULL or `file` is not there, or NULL */
	const char *late; /* why the newest of `file` may be missing, or NULL */
	const char *socket; /* the recorder's, or NULL */
	int64_t now_ns; /* UTC; what has no end and is recorded at this moment is running */
	int64_t root; /* process whose tree is, or would be, measured; 0: that of who asks */
	int64_t run; /* number of the run's span: only its cells are seen; -1: the whole file */
	/*
	 * What can be measured here. load_sources (or NULL) fills these at the first need, from a
	 * layer that this one does not know; the caller frees them. 0, or -errno with a sentence.
	 */
	int (*load_sources)(struct tg_command *c);
	struct tg_source_row *source;
	size_t n_sources;
	struct tg_advice_row *advice;
	size_t n_advice;
	/* Show a file to the user, where there is a screen; NULL: there is none. */
	void (*open_file)(struct tg_command *c, const char *path);
	const struct tg_json *settings; /* of the kernel, see worker.h; or NULL */
	const struct tg_json *settings_from; /* where they come from, likewise */
	bool colour; /* the output understands ANSI colours */
	struct tg_output out;
	struct tg_err err; /* one sentence when a word returned something else than 0 */
};

enum tg_word_result {
	TG_WORD_OK = 0,
	TG_WORD_FAILED = 1,
	TG_WORD_USAGE = 2,
	TG_WORD_ABOVE = 3, /* done, and something is above the limit that was given */
};

/*
 * Run it, or say what it does when --help is among the arguments. argv[0] is the word. Returns enum
 * tg_word_result.
 */
int tg_word_run(const struct tg_word *word, struct tg_command *c, int argc, char **argv);

#endif
