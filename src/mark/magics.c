/* SPDX-License-Identifier: BSD-3-Clause */
#include "mark/magics.h"

#include "base/lines.h"

#include "base/mem.h"

static const char *const names[TG_NAMES] = {
	[TG_NAME_TACHO] = "tacho",
	[TG_NAME_CODE_HISTORY] = "display_code_history",
	[TG_NAME_CODE_FOR_INDEX] = "display_code_for_index",
	[TG_NAME_GRAPH_FOR_LAST] = "display_graph_for_last",
	[TG_NAME_GRAPH_FOR_INDEX] = "display_graph_for_index",
	[TG_NAME_GRAPH_FOR_ALL] = "display_graph_for_all",
	[TG_NAME_TO_VARIABLE] = "perfdata_to_variable",
	[TG_NAME_TO_JSON] = "perfdata_to_json",
};

const char *tg_magic_name(enum tg_magic_name name)
{
	return names[name];
}

static enum tg_magic_name find(const char *s, size_t len)
{
	size_t i = 0;

	while (i < TG_NAMES && (strlen(names[i]) != len || memcmp(names[i], s, len) != 0))
		i++;
	return (enum tg_magic_name)i;
}

static bool is_word(const char *code, size_t at, size_t end)
{
	while (at < end && !tg_text_blank(code[at]))
		at++;
	return at == end;
}

/* Cut up to two question marks off the end. Whether there was one. */
static bool cut_question(const char *code, size_t start, size_t *end)
{
	size_t was = *end;

	while (*end > start && was - *end < 2 && code[*end - 1] == '?')
		(*end)--;
	return *end < was;
}

/*
 * "%%display_graph_for_index 3", "%tacho show --json", "?%tacho", "%tacho?", "%tacho show?"; signs
 * or 0. What stands behind `tacho` in a question is one word.
 */
static int read_line(const char *code, struct tg_text_line line, struct tg_magic_line *out)
{
	size_t at = line.at, start;
	int signs = 0;

	*out = (struct tg_magic_line){ .question = code[at] == '?' };
	for (int i = 0; i < 2 && at < line.end && code[at] == '?'; i++)
		at++;
	while (at < line.end && code[at] == '%' && signs < 2) {
		signs++;
		at++;
	}
	start = at;
	while (at < line.end && !tg_text_blank(code[at]) && code[at] != '?')
		at++;
	out->name = find(code + start, at - start);
	if (!signs || out->name == TG_NAMES)
		return 0;
	if (at < line.end && code[at] == '?') {
		if (out->question || !cut_question(code, at, &line.end) || at < line.end)
			return 0;
		out->question = true;
	}
	while (at < line.end && tg_text_blank(code[at]))
		at++;
	if (at < line.end && out->name == TG_NAME_TACHO && is_word(code, at, line.end))
		out->question |= cut_question(code, at, &line.end);
	else if (out->question && at < line.end)
		return 0;
	out->args = at;
	out->args_len = line.end - at;
	return signs;
}

bool tg_magics_next(struct tg_magics *m, struct tg_magic_line *out)
{
	while (m->at < m->len) {
		struct tg_text_line line =
			tg_text_trim(m->code, tg_text_line_at(m->code, m->len, m->at));
		int signs;

		if (line.at == line.end || m->code[line.at] == '#') {
			m->at = line.next;
			continue;
		}
		signs = read_line(m->code, line, out);
		if (!signs)
			return false;
		/* a question is a line, whatever it is about */
		out->whole = signs == 2 && !m->some && !out->question &&
			     (out->name != TG_NAME_TACHO || !out->args_len);
		m->some = true;
		m->at = line.next;
		return true;
	}
	return false;
}

int tg_magics_below(const char *code, size_t len, size_t at, enum tg_magic_name *name)
{
	int signs = 0;

	while (!signs && at < len) {
		struct tg_text_line line = tg_text_trim(code, tg_text_line_at(code, len, at));
		struct tg_magic_line magic;

		if (line.at < line.end && (signs = read_line(code, line, &magic)))
			*name = magic.name;
		at = line.next;
	}
	return signs;
}

bool tg_magic_is_variable(const char *s, size_t len)
{
	static const char *const keywords[] = { "False", "None", "True", "and", "as", "assert",
		"async", "await", "break", "class", "continue", "def", "del", "elif", "else",
		"except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
		"nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
		"__debug__" };

	for (size_t i = 0; i < len; i++) {
		bool letter = ((s[i] | 32) >= 'a' && (s[i] | 32) <= 'z') || s[i] == '_';

		if (!letter && !(i && s[i] >= '0' && s[i] <= '9'))
			return false;
	}
	for (size_t i = 0; i < TG_ARRAY_SIZE(keywords); i++)
		if (strlen(keywords[i]) == len && !memcmp(keywords[i], s, len))
			return false;
	return len > 0;
}
