/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which spans are meant: `3`, `2:5` (both ends are in), `:4,7`, `-1`, `last`, `all`, `name=align*`,
 * `kind=task`. Numbers count from 0 and mean cells, or where there are none stages, tasks, blocks,
 * regions; what commas separate is added up. Parsing and matching are apart, so that a bad
 * selection is told before any file is read.
 */
#ifndef TG_ANALYZE_SELECT_H
#define TG_ANALYZE_SELECT_H

#include "analyze/recording.h"

#define TG_SELECT_MAX   4096 /* bytes of a selection */
#define TG_SELECT_ITEMS 256

enum tg_select_what { TG_SELECT_RANGE, TG_SELECT_ALL, TG_SELECT_NAME, TG_SELECT_KIND };

struct tg_select_item {
	enum tg_select_what what;
	int64_t from, to; /* ranges; negative ones count from the end */
	char *pattern; /* name and kind: * and ? stand for any text, any one byte */
};

struct tg_select {
	struct tg_select_item *item;
	size_t n;
};

/* Caller releases, also after failure. 0, or -EINVAL with a sentence. */
int tg_select_parse(struct tg_select *s, const char *text, struct tg_err *err);
void tg_select_release(struct tg_select *s);

/*
 * The chosen spans in file order: *chosen is an array of pointers into `r` that the caller frees.
 * Runs are chosen only by kind or name. Returns their number; 0 is -ENOENT with a sentence.
 */
int64_t tg_select_spans(const struct tg_select *s, const struct tg_recording *r,
	const struct tg_span ***chosen, struct tg_err *err);

/* The kind that bare numbers mean in this recording ("cell"); NULL when there are only runs. */
const char *tg_select_kind(const struct tg_recording *r);

bool tg_glob(const char *pattern, const char *text);

#endif
