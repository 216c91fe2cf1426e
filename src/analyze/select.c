/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/select.h"

#include <errno.h>
#include <limits.h>

#include "base/mem.h"

#define HOW "say for example 3, 2:5, -1, last or all"

bool tg_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *resume = NULL;

	/* on a mismatch the last star takes one more byte: no recursion, no exponential time */
	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			resume = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* One number at *p, with a sign; false when there is none or it is out of all bounds. */
static bool parse_number(const char **p, int64_t *value)
{
	const char *digit = *p + (**p == '-');
	char *end;

	if (*digit < '0' || *digit > '9')
		return false;
	errno = 0;
	*value = strtoll(*p, &end, 10);
	if (errno || *value > INT_MAX || *value < -INT_MAX)
		return false;
	*p = end;
	return true;
}

/* "3", "-1", "2:5", ":4", "3:", ":" */
static bool parse_range(const char *p, struct tg_select_item *item)
{
	item->what = TG_SELECT_RANGE;
	item->from = 0;
	item->to = -1;
	if (*p != ':') {
		if (!parse_number(&p, &item->from))
			return false;
		if (!*p) {
			item->to = item->from;
			return true;
		}
	}
	if (*p++ != ':')
		return false;
	if (!*p)
		return true;
	return parse_number(&p, &item->to) && !*p;
}

static bool parse_item(char *text, struct tg_select_item *item)
{
	size_t len;

	while (*text == ' ')
		text++;
	len = strlen(text);
	while (len && text[len - 1] == ' ')
		text[--len] = '\0';
	if (!strcmp(text, "last")) {
		item->what = TG_SELECT_RANGE;
		item->from = item->to = -1;
		return true;
	}
	if (!strcmp(text, "all")) {
		item->what = TG_SELECT_ALL;
		return true;
	}
	if (!strncmp(text, "name=", 5) || !strncmp(text, "kind=", 5)) {
		item->what = text[0] == 'n' ? TG_SELECT_NAME : TG_SELECT_KIND;
		item->pattern = tg_xstrdup(text + 5);
		return text[5] != '\0';
	}
	return parse_range(text, item);
}

int tg_select_parse(struct tg_select *s, const char *text, struct tg_err *err)
{
	struct tg_buf shown = TG_BUF_INIT;
	char *copy, *at, *next;
	int r = 0;

	*s = (struct tg_select){ 0 };
	if (strlen(text) > TG_SELECT_MAX)
		return tg_err_set(err, -EINVAL, "The selection of spans is too long");
	copy = tg_xstrdup(text);
	s->item = tg_xcalloc(TG_SELECT_ITEMS, sizeof(*s->item));
	for (at = copy; at && r == 0; at = next) {
		next = strchr(at, ',');
		if (next)
			*next++ = '\0';
		if (s->n == TG_SELECT_ITEMS) {
			r = tg_err_set(err, -EINVAL, "A selection of spans has at most %d parts",
				TG_SELECT_ITEMS);
		} else if (!parse_item(at, &s->item[s->n++])) {
			tg_plain(&shown, at, 40);
			r = tg_err_set(err, -EINVAL, "\"%s\" selects no spans; " HOW, shown.data);
		}
	}
	tg_buf_release(&shown);
	free(copy);
	return r;
}

void tg_select_release(struct tg_select *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->item[i].pattern);
	free(s->item);
	*s = (struct tg_select){ 0 };
}

static size_t count_kind(const struct tg_recording *r, const char *kind)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_spans; i++)
		n += !strcmp(r->span[i].kind, kind);
	return n;
}

const char *tg_select_kind(const struct tg_recording *r)
{
	static const char *const kind[] = { "cell", "stage", "task", "block", "region" };

	for (size_t k = 0; k < TG_ARRAY_SIZE(kind); k++)
		if (count_kind(r, kind[k]))
			return kind[k];
	return NULL;
}

static bool matches(const struct tg_select_item *item, const struct tg_span *span, const char *kind,
	int64_t n_kind)
{
	int64_t from = item->from < 0 ? item->from + n_kind : item->from;
	int64_t to = item->to < 0 ? item->to + n_kind : item->to;

	switch (item->what) {
	case TG_SELECT_ALL:
		return strcmp(span->kind, "run") != 0;
	case TG_SELECT_KIND:
		return tg_glob(item->pattern, span->kind);
	case TG_SELECT_NAME:
		return span->name && tg_glob(item->pattern, span->name);
	case TG_SELECT_RANGE:
		return kind && !strcmp(span->kind, kind) && span->index >= from &&
		       span->index <= to;
	}
	return false;
}

int64_t tg_select_spans(const struct tg_select *s, const struct tg_recording *r,
	const struct tg_span ***chosen, struct tg_err *err)
{
	const char *kind = tg_select_kind(r);
	int64_t n_kind = kind ? (int64_t)count_kind(r, kind) : 0;
	int64_t n = 0;

	*chosen = tg_xcalloc(r->n_spans + 1, sizeof(**chosen));
	for (size_t i = 0; i < r->n_spans; i++)
		for (size_t k = 0; k < s->n; k++)
			if (matches(&s->item[k], &r->span[i], kind, n_kind)) {
				(*chosen)[n++] = &r->span[i];
				break;
			}
	if (n)
		return n;
	free(*chosen);
	*chosen = NULL;
	if (!kind)
		return tg_err_set(err, -ENOENT, "There are no cells or stages in this recording");
	return tg_err_set(err, -ENOENT, "This selects none of the %lld %s%s; they count from 0",
		(long long)n_kind, kind, n_kind == 1 ? "" : "s");
}
