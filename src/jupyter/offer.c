/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/offer.h"

#include "base/lines.h"
#include "mark/magics.h"
#include "mark/setting.h"
#include "mark/words.h"

#include "base/mem.h"

/* A piece of text; `at` NULL: none. */
struct piece {
	const char *at;
	size_t len;
};

/* "  %%tacho show --json": a line that begins with a name, where one of ours may stand. */
struct line {
	struct piece name; /* with its signs */
	size_t signs; /* of `%` */
	const char *cursor, *end;
};

static bool is(struct piece s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.at, text, s.len);
}

/* Find the line with the cursor. False when no magic of ours can be in it. */
static bool find_line(const char *code, size_t len, size_t at, struct line *out)
{
	struct tg_text_line line = { 0 };
	struct tg_magics above = { .code = code };
	struct tg_magic_line magic;
	const char *p;

	do {
		if (line.next >= len)
			return false;
		line = tg_text_line_at(code, len, line.next);
	} while (at >= line.next && line.next < len);
	if (at > line.end)
		return false;
	*out = (struct line){ .cursor = code + at, .end = code + line.end };
	p = code + line.at;
	while (p < out->end && tg_text_blank(*p))
		p++;
	for (int i = 0; i < 2 && p < out->end && *p == '?'; i++)
		p++;
	out->name.at = p;
	while (out->signs < 2 && p < out->end && *p == '%') {
		out->signs++;
		p++;
	}
	if (!out->signs)
		return false;
	while (p < out->end && !tg_text_blank(*p) && *p != '?')
		p++;
	out->name.len = (size_t)(p - out->name.at);
	above.len = line.at;
	while (tg_magics_next(&above, &magic))
		if (magic.whole)
			return false;
	return above.at == above.len;
}

static void add(struct tg_offer *o, struct piece match)
{
	tg_buf_add(&o->match, match.at, match.len);
	tg_buf_addc(&o->match, '\0');
	o->n++;
}

static void add_if(struct tg_offer *o, struct piece match, struct piece typed)
{
	if (match.len >= typed.len && !memcmp(match.at, typed.at, typed.len))
		add(o, match);
}

/* ---- names ---- */

/* As IPython does: behind one sign come lines and cells, behind two only cells. */
static void offer_names(const struct line *line, struct tg_offer *o)
{
	size_t signs = TG_MIN(line->signs, o->end - o->start);
	struct piece typed = { line->name.at + signs, o->end - o->start - signs };
	char text[64];

	for (int i = 0; i < TG_NAMES; i++) {
		const char *name = tg_magic_name((enum tg_magic_name)i);

		if (strlen(name) < typed.len || memcmp(name, typed.at, typed.len) != 0)
			continue;
		for (size_t n = signs; n <= 2; n++)
			add(o, (struct piece){ text, (size_t)snprintf(text, sizeof(text), "%.*s%s",
							     (int)n, "%%", name) });
	}
}

/* ---- arguments ---- */

/* One item of a usage: "[--span SEL]", "[--json]", "[report=line|jumper|none]", "[F…]", "NAME" */
struct item {
	struct piece name, value; /* "--span" and "SEL", "report=" and "line|jumper|none" */
	bool option;
};

static struct piece next_token(const char **p)
{
	struct piece t = { *p + strspn(*p, " "), 0 };

	t.len = strcspn(t.at, " ");
	*p = t.at + t.len;
	return t.len ? t : (struct piece){ 0 };
}

static void strip_brackets(struct piece *t)
{
	if (t->len && t->at[0] == '[') {
		t->at++;
		t->len--;
	}
	if (t->len && t->at[t->len - 1] == ']')
		t->len--;
}

static bool next_item(const char **usage, struct item *out)
{
	struct piece t = next_token(usage), value;
	const char *next = *usage, *equals;

	if (!t.at)
		return false;
	*out = (struct item){ .name = t };
	strip_brackets(&out->name);
	out->option = out->name.len > 1 && out->name.at[0] == '-';
	if (out->option && t.at[t.len - 1] != ']') {
		value = next_token(&next);
		if (value.at && value.at[0] != '[') {
			strip_brackets(&value);
			out->value = value;
			*usage = next;
		}
	} else if (!out->option && (equals = memchr(out->name.at, '=', out->name.len))) {
		size_t len = (size_t)(equals + 1 - out->name.at);

		out->value = (struct piece){ equals + 1, out->name.len - len };
		out->name.len = len;
	}
	return true;
}

/* Small letters stand for themselves; what has a dot is a name of a file. */
static bool is_literal(struct piece s)
{
	return s.len && s.at[0] >= 'a' && s.at[0] <= 'z' && !memchr(s.at, '.', s.len);
}

/* Values of "csv|json", or of "SEL". Behind a comma another one of the latter begins. */
static void offer_values(struct piece values, struct piece typed, struct tg_offer *o)
{
	const char *known = tg_word_values(values.at, values.len), *comma;
	struct piece one;

	o->alone = true;
	if (known) {
		values = (struct piece){ known, strlen(known) };
		comma = memrchr(typed.at, ',', typed.len);
		if (comma) {
			typed.len -= (size_t)(comma + 1 - typed.at);
			typed.at = comma + 1;
		}
	}
	o->start = o->end - typed.len;
	for (const char *p = values.at, *end = p + values.len; p < end; p = one.at + one.len + 1) {
		const char *bar = memchr(p, '|', (size_t)(end - p));

		one = (struct piece){ p, (size_t)((bar ? bar : end) - p) };
		if (is_literal(one))
			add_if(o, one, typed);
	}
}

static struct piece behind_equals(struct piece s)
{
	const char *equals = s.len ? memchr(s.at, '=', s.len) : NULL;

	return equals ? (struct piece){ equals + 1, s.len - (size_t)(equals + 1 - s.at) }
		      : (struct piece){ 0 };
}

/* Whether it is the value of that item that is being typed. */
static bool is_value_of(
	const struct item *item, struct piece before, struct piece typed, struct piece *value)
{
	struct piece right = behind_equals(typed);
	size_t left = typed.len - right.len;

	*value = right;
	if (!item->value.at)
		return false;
	if (!item->option)
		return right.at && left == item->name.len && !memcmp(typed.at, item->name.at, left);
	if (before.len == item->name.len && !memcmp(before.at, item->name.at, before.len)) {
		*value = typed;
		return true;
	}
	return right.at && left == item->name.len + 1 &&
	       !memcmp(typed.at, item->name.at, item->name.len);
}

/* `set` takes what is in the table of settings: "interval=", "report=line". */
static bool offer_settings(struct piece typed, struct tg_offer *o)
{
	struct piece value = behind_equals(typed);
	const char *words;
	char text[64];

	if (!value.at) {
		for (int i = 0; i < TG_SETTINGS; i++) {
			const char *name = tg_setting((enum tg_setting_name)i)->name;
			int len = snprintf(text, sizeof(text), "%s=", name);

			add_if(o, (struct piece){ text, (size_t)len }, typed);
		}
	} else {
		enum tg_setting_name name = tg_setting_find(typed.at, typed.len - value.len - 1);

		words = name == TG_SETTINGS ? NULL : tg_setting(name)->words;
		o->start = o->end - value.len;
		for (size_t len; words && *words; words += len + strspn(words + len, ", ")) {
			len = strcspn(words, ",");
			add_if(o, (struct piece){ words, len }, value);
		}
	}
	o->alone = true;
	return true;
}

/* Whether there is something to be offered in the place of `typed`, which stands behind `before`.
 */
static bool offer_arguments(
	const struct tg_word *word, struct piece before, struct piece typed, struct tg_offer *o)
{
	const char *usage = word->usage;
	bool dashes = typed.len && typed.at[0] == '-';
	struct piece value;
	struct item item;
	size_t n;

	if (!strcmp(word->name, tg_words(&n)[TG_WORD_SET].name))
		return offer_settings(typed, o);
	while (next_item(&usage, &item))
		if (is_value_of(&item, before, typed, &value)) {
			offer_values(item.value, value, o);
			return o->n > 0; /* a file, a number: others may know */
		}
	for (usage = word->usage; next_item(&usage, &item);) {
		const char *known = tg_word_values(item.name.at, item.name.len);

		if (item.option || is_literal(item.name))
			add_if(o, item.name, typed);
		else if (known)
			offer_values(item.name, typed, o);
	}
	o->alone = dashes || o->n;
	return o->alone;
}

/* The first argument of a line, up to where a question begins; or none. */
static struct piece first_argument(const struct line *line, const char *end)
{
	struct piece first = { line->name.at + line->name.len, 0 };

	while (first.at < end && tg_text_blank(*first.at))
		first.at++;
	while (first.at + first.len < end && !tg_text_blank(first.at[first.len]))
		first.len++;
	return first;
}

static const struct tg_word *find_word(struct piece s)
{
	size_t n;
	const struct tg_word *word = tg_words(&n);

	for (size_t i = 0; i < n; i++)
		if ((word[i].where & TG_IN_NOTEBOOK) && is(s, word[i].name))
			return &word[i];
	return NULL;
}

static bool offer_words(struct piece typed, struct tg_offer *o)
{
	size_t n;
	const struct tg_word *word = tg_words(&n);

	for (size_t i = 0; i < n; i++)
		if (word[i].where & TG_IN_NOTEBOOK)
			add_if(o, (struct piece){ word[i].name, strlen(word[i].name) }, typed);
	o->alone = true;
	return true;
}

static bool is_tacho(const struct line *line)
{
	return is((struct piece){ line->name.at + line->signs, line->name.len - line->signs },
		tg_magic_name(TG_NAME_TACHO));
}

bool tg_offer(const char *code, size_t len, size_t at, struct tg_offer *out)
{
	struct piece first, typed, before = { 0 };
	const struct tg_word *word;
	struct line line;
	const char *p, *end_of_name;

	*out = (struct tg_offer){ .match = TG_BUF_INIT, .end = at };
	if (!find_line(code, len, at, &line) || line.cursor <= line.name.at)
		return false;
	end_of_name = line.name.at + line.name.len;
	if (line.cursor <= end_of_name) {
		out->start = (size_t)(line.name.at - code);
		offer_names(&line, out);
		return out->n > 0;
	}
	if (!is_tacho(&line) || *end_of_name == '?')
		return false;
	for (p = end_of_name; p < line.cursor; p++)
		if (strchr("\"'\\", *p)) /* what is in quotes is theirs */
			return false;
	while (!tg_text_blank(p[-1]))
		p--;
	typed = (struct piece){ p, (size_t)(line.cursor - p) };
	out->start = (size_t)(p - code);
	first = first_argument(&line, line.cursor);
	if (first.at + first.len == line.cursor)
		return offer_words(typed, out);
	while (tg_text_blank(p[-1]))
		p--;
	for (before.at = p; !tg_text_blank(before.at[-1]); before.len++)
		before.at--;
	word = find_word(first);
	return word && offer_arguments(word, before, typed, out);
}

bool tg_explain(const char *code, size_t len, size_t at, struct tg_buf *out)
{
	const struct tg_word *word;
	struct piece first;
	struct line line;
	int i = 0;

	if (!find_line(code, len, at, &line))
		return false;
	while (i < TG_NAMES &&
		!is((struct piece){ line.name.at + line.signs, line.name.len - line.signs },
			tg_magic_name((enum tg_magic_name)i)))
		i++;
	if (i == TG_NAMES)
		return false;
	first = first_argument(&line, line.end);
	while (first.len && first.at[first.len - 1] == '?')
		first.len--;
	word = i == TG_NAME_TACHO && line.cursor >= first.at ? find_word(first) : NULL;
	if (word)
		tg_word_help(word, TG_IN_NOTEBOOK, out);
	else
		tg_magic_help((enum tg_magic_name)i, out);
	return true;
}
