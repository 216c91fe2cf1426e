/* SPDX-License-Identifier: BSD-3-Clause */
/* `compare`: what each side cost, as a whole and stage by stage, against the first. */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "command/compared.h"
#include "command/run.h"

#include "base/mem.h"

/* ---- what is asked for ---- */

static int take_costs(struct tg_command *c, const char *list, struct tg_comparison *k)
{
	struct tg_buf shown = TG_BUF_INIT;
	size_t len;

	k->asked = list != NULL;
	for (enum tg_cost cost = 0; cost < TG_COSTS; cost++)
		k->chosen[cost] = !list;
	for (const char *at = list; at; at = at[len] ? at + len + 1 : NULL) {
		enum tg_cost cost = 0;

		len = strcspn(at, ",");
		while (cost < TG_COSTS && (strlen(tg_cost_word(cost)) != len ||
						  memcmp(tg_cost_word(cost), at, len) != 0))
			cost++;
		if (cost == TG_COSTS) {
			tg_plain(&shown, at, TG_MIN(len, (size_t)40));
			tg_err_set(&c->err, -EINVAL,
				"There is no cost \"%s\"; --metric has commas between some of "
				"wall, "
				"cpu, memory, read, written and gpu",
				shown.data ? shown.data : "");
			tg_buf_release(&shown);
			return TG_WORD_USAGE;
		}
		k->chosen[cost] = true;
	}
	return TG_WORD_OK;
}

/* "10%", "10 %", "10", "2.5" */
static int take_limit(struct tg_command *c, const char *text, double *pct)
{
	char *end;

	*pct = NAN;
	if (!text)
		return TG_WORD_OK;
	*pct = strtod(text, &end);
	if (end != text) {
		end += *end == ' ';
		end += *end == '%';
		if (!*end && *pct >= 0 && *pct <= 1e6)
			return TG_WORD_OK;
	}
	tg_err_set(&c->err, -EINVAL, "--fail-above is a number of per cent from 0, not \"%.40s\"",
		text);
	return TG_WORD_USAGE;
}

/* ---- which recordings ---- */

static void add_file(struct tg_compared_side *side, char *file)
{
	side->file = tg_xrealloc(side->file, side->n + 1, sizeof(*side->file));
	side->file[side->n++] = file;
}

static bool is_there(struct tg_command *c, const char *name)
{
	struct tg_buf path = TG_BUF_INIT;
	bool there;

	tg_resolve(c, name, &path);
	there = name[0] && access(path.data, F_OK) == 0;
	tg_buf_release(&path);
	return there;
}

static int take_name(struct tg_command *c, const char *name, struct tg_compared_side *side)
{
	char **file;
	size_t n;

	if (!tg_is_folder(c, name)) {
		add_file(side, tg_xstrdup(name));
		return TG_WORD_OK;
	}
	n = tg_list_folder(c, name, &file);
	for (size_t i = 0; i < n; i++)
		add_file(side, file[i]);
	free(file);
	return n ? TG_WORD_OK : TG_WORD_FAILED;
}

/* A name that exists is that, whatever commas are in it. */
static int take_side(struct tg_command *c, const char *given, struct tg_compared_side *side)
{
	int rc = TG_WORD_OK;
	size_t len;

	side->name = tg_xstrdup(given);
	if (is_there(c, given))
		return take_name(c, given, side);
	for (const char *at = given; at && rc == TG_WORD_OK; at = at[len] ? at + len + 1 : NULL) {
		char *name;

		len = strcspn(at, ",");
		name = tg_xmemdup0(at, len);
		rc = take_name(c, name, side);
		free(name);
	}
	return rc;
}

/* ---- reading them ---- */

static int add_span(struct tg_command *c, struct tg_recording *r, const struct tg_span *span,
	bool whole, struct tg_comparison *k)
{
	struct tg_totals t;
	int rc = tg_totals_of(r, span, &t);

	if (rc < 0) {
		tg_err_set(&c->err, rc, "Cannot read %s: %s", r->path, strerror(-rc));
		return TG_WORD_FAILED;
	}
	tg_compare_add(&k->spans, span, &t, whole);
	return TG_WORD_OK;
}

/* Who failed half-way cost less than who did it all. */
static void tell_failure(
	struct tg_command *c, const struct tg_recording *r, const struct tg_span *whole)
{
	struct tg_buf line = TG_BUF_INIT;

	if (!strcmp(whole->status, "ok") || !strcmp(whole->status, "unknown"))
		return;
	tg_plain(&line, r->path, 150);
	tg_buf_adds(&line, ": its status is \"");
	tg_plain(&line, whole->status, 20);
	tg_buf_adds(&line, "\", so it may lack what others have done");
	c->out.note(c->out.ctx, line.data);
	tg_buf_release(&line);
}

static int add_whole(struct tg_command *c, struct tg_recording *r, struct tg_comparison *k)
{
	struct tg_buf kind = TG_BUF_INIT, path = TG_BUF_INIT;
	struct tg_span storage;
	const struct tg_span *whole = tg_whole(r, &storage, &kind);
	int rc = TG_WORD_FAILED;

	if (whole) {
		tell_failure(c, r, whole);
		rc = add_span(c, r, whole, true, k);
	} else {
		tg_plain(&path, r->path, 150);
		tg_err_set(&c->err, -ENOENT, "%s: nothing was recorded", path.data);
	}
	tg_buf_release(&path);
	tg_buf_release(&kind);
	return rc;
}

/* Spans that a selection leaves out of one recording may be in another. */
static int add_spans(struct tg_command *c, struct tg_recording *r, const char *selection,
	struct tg_comparison *k)
{
	const struct tg_span **span;
	size_t n;
	int rc = tg_choose(c, r, selection, "all", &span, &n);

	if (rc == TG_WORD_FAILED) {
		c->err.text[0] = '\0';
		rc = TG_WORD_OK;
	}
	for (size_t i = 0; i < n && rc == TG_WORD_OK; i++)
		rc = add_span(c, r, span[i], false, k);
	free(span);
	return rc;
}

/* `name` NULL: the recording that is meant where none is named. */
static int add_recording(struct tg_command *c, const char *name, size_t side, const char *selection,
	struct tg_comparison *k)
{
	struct tg_recording *r;
	int rc = tg_open(c, name, &r);

	if (rc != TG_WORD_OK)
		return rc;
	tg_compare_file(&k->spans, side);
	if (!selection)
		rc = add_whole(c, r, k);
	if (rc == TG_WORD_OK)
		rc = add_spans(c, r, selection, k);
	if (rc == TG_WORD_OK)
		tg_tell_damage(c, r);
	tg_recording_close(r);
	return rc;
}

static int add_sides(
	struct tg_command *c, int n, char **given, const char *selection, struct tg_comparison *k)
{
	int rc = TG_WORD_OK;

	for (int i = 0; i < n && rc == TG_WORD_OK; i++) {
		struct tg_compared_side *side = &k->side[i];

		rc = take_side(c, given[i], side);
		for (size_t f = 0; f < side->n && rc == TG_WORD_OK; f++)
			rc = add_recording(c, side->file[f], (size_t)i, selection, k);
	}
	if (n == 1 && rc == TG_WORD_OK) {
		k->side[1].name = tg_xstrdup("this notebook");
		add_file(&k->side[1], tg_xstrdup(c->file ? c->file : ""));
		rc = add_recording(c, NULL, 1, selection, k);
	}
	return rc;
}

static void release(struct tg_comparison *k)
{
	for (size_t i = 0; i < TG_COMPARE_SIDES; i++) {
		for (size_t f = 0; f < k->side[i].n; f++)
			free(k->side[i].file[f]);
		free(k->side[i].file);
		free(k->side[i].name);
	}
	tg_compare_release(&k->spans);
}

static int compare(struct tg_command *c, struct tg_comparison *k, const char *selection, bool json)
{
	tg_compare_match(&k->spans);
	if (!k->spans.n_rows) {
		tg_err_set(
			&c->err, -ENOENT, "--span %.40s selects nothing in any of them", selection);
		return TG_WORD_FAILED;
	}
	if (json)
		tg_compared_json(c, k);
	else
		tg_compared_print(c, k);
	return tg_compared_above(k, &c->err) ? TG_WORD_ABOVE : TG_WORD_OK;
}

int tg_run_compare(struct tg_command *c, int argc, char **argv)
{
	const char *list = NULL, *limit = NULL, *selection = NULL;
	bool json = false;
	const struct tg_option option[] = {
		{ "metric", 'm', &list, NULL },
		{ "fail-above", 0, &limit, NULL },
		{ "span", 's', &selection, NULL },
		{ "json", 'j', NULL, &json },
	};
	struct tg_comparison k = { .asked = false };
	int least = c->where == TG_IN_NOTEBOOK ? 1 : 2, n, rc;

	if (tg_options(c, &argc, argv, option, TG_ARRAY_SIZE(option)) != TG_WORD_OK)
		return TG_WORD_USAGE;
	n = argc - 1;
	if (n < least || n > TG_COMPARE_SIDES) {
		tg_err_set(&c->err, -EINVAL, "compare wants %s recordings or more, and at most %d",
			least == 1 ? "one" : "two", TG_COMPARE_SIDES);
		return TG_WORD_USAGE;
	}
	if (take_costs(c, list, &k) != TG_WORD_OK ||
		take_limit(c, limit, &k.limit_pct) != TG_WORD_OK)
		return TG_WORD_USAGE;
	tg_compare_init(&k.spans, (size_t)TG_MAX(n, 2));
	rc = add_sides(c, n, argv + 1, selection, &k);
	if (rc == TG_WORD_OK)
		rc = compare(c, &k, selection, json);
	release(&k);
	return rc;
}
