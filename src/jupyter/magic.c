/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/magic.h"

#include "base/mem.h"

static const char to_variable[] = "perfdata_to_variable";

static const char *const words[] = { "tacho", to_variable, "perfdata_to_json",
	"display_code_history", "display_code_for_index", "display_graph_for_last",
	"display_graph_for_index", "display_graph_for_all" };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

/*
 * Length of the line break at `s`, 0 when there is none: what Python's str.splitlines takes for
 * one, since IPython looks for magics behind each of them.
 */
static size_t line_break(const char *s, size_t len)
{
	unsigned char c = (unsigned char)s[0];

	if (c == '\r' && len > 1 && s[1] == '\n')
		return 2;
	if ((c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e))
		return 1;
	if (c == 0xc2 && len > 1 && (unsigned char)s[1] == 0x85) /* U+0085 */
		return 2;
	if (len > 2 && !memcmp(s, "\xe2\x80", 2) && ((unsigned char)s[2] & 0xfe) == 0xa8)
		return 3; /* U+2028, U+2029 */
	return 0;
}

struct line {
	size_t at, end, next; /* end: of its text; next: behind its break */
};

static struct line line_at(const char *code, size_t len, size_t at)
{
	struct line line = { at, at, len };

	while (line.end < len) {
		size_t n = line_break(code + line.end, len - line.end);

		if (n) {
			line.next = line.end + n;
			break;
		}
		line.end++;
	}
	return line;
}

/*
 * `%word args`, `%word?` or `?%word` of ours. Returns the number of per cent signs, 0: none. The
 * word is "" for a question.
 */
static int read_magic(const char *code, struct line line, const char **word, size_t *args)
{
	size_t at = line.at, start;
	bool question = false;
	int percent = 0;

	while (at < line.end && is_blank(code[at]))
		at++;
	if (at < line.end && code[at] == '?') {
		question = true;
		at++;
	}
	while (at < line.end && code[at] == '%' && percent < 2) {
		percent++;
		at++;
	}
	start = at;
	while (at < line.end && !is_blank(code[at]) && code[at] != '?')
		at++;
	for (size_t i = 0; percent && i < TG_ARRAY_SIZE(words); i++) {
		if (at - start != strlen(words[i]) || memcmp(code + start, words[i], at - start))
			continue;
		if (!question && at < line.end && code[at] == '?') {
			question = true;
			at++;
		}
		while (at < line.end && is_blank(code[at]))
			at++;
		if (question && at < line.end)
			return 0;
		*word = question ? "" : words[i];
		*args = at;
		return question ? 1 : percent; /* a question is a line, whatever it is about */
	}
	return 0;
}

static bool is_empty(const char *code, struct line line)
{
	size_t at = line.at;

	while (at < line.end && is_blank(code[at]))
		at++;
	return at == line.end || code[at] == '#';
}

static void take_variable(struct tg_magic *out, const char *code, struct line line, size_t args)
{
	size_t end = args;

	while (end < line.end && !is_blank(code[end]))
		end++;
	out->many = out->to_variable;
	out->to_variable = true;
	out->name = args;
	out->name_len = end - args;
}

void tg_magic_read(const char *code, size_t len, struct tg_magic *out)
{
	struct line line;

	*out = (struct tg_magic){ .kind = TG_MAGIC_NONE };
	for (size_t at = 0; at < len; at = line.next) {
		const char *word;
		size_t args;
		int percent;

		line = line_at(code, len, at);
		percent = read_magic(code, line, &word, &args);
		if (!percent && is_empty(code, line))
			continue;
		out->body = at;
		if (!percent)
			return;
		if (word == to_variable)
			take_variable(out, code, line, args);
		if (percent == 2 && out->kind == TG_MAGIC_NONE) {
			bool bare = word == words[0] && args == line.end;

			/* %%tacho with words is as good as %tacho */
			if (word != words[0] || bare) {
				out->kind = bare ? TG_MAGIC_COST : TG_MAGIC_ALL;
				out->body = bare ? line.next : len;
				return;
			}
		}
		out->kind = TG_MAGIC_TOP;
	}
	if (out->kind == TG_MAGIC_TOP) {
		out->kind = TG_MAGIC_ALL;
		out->body = len;
	}
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

const char *tg_magic_comment(const char *language)
{
	static const char *const other[][2] = { { "javascript", "//" }, { "typescript", "//" },
		{ "c", "//" }, { "c++", "//" }, { "cpp", "//" }, { "java", "//" },
		{ "scala", "//" }, { "kotlin", "//" }, { "go", "//" }, { "rust", "//" },
		{ "c#", "//" }, { "f#", "//" }, { "groovy", "//" }, { "stata", "//" },
		{ "sql", "--" }, { "haskell", "--" }, { "lua", "--" }, { "matlab", "%" },
		{ "octave", "%" }, { "prolog", "%" }, { "erlang", "%" }, { "clojure", ";" },
		{ "scheme", ";" }, { "common-lisp", ";" }, { "fortran", "!" } };

	for (size_t i = 0; i < TG_ARRAY_SIZE(other); i++)
		if (!strcasecmp(language, other[i][0]))
			return other[i][1];
	return "#";
}

/* v = __import__("json").load(open(b"/run/user/1000/tachograph/k-…/v1")) */
static void add_reader(
	const struct tg_magic *m, const char *code, const char *fifo, struct tg_buf *out)
{
	tg_buf_addf(
		out, "%.*s = __import__(\"json\").load(open(b\"", (int)m->name_len, code + m->name);
	for (const unsigned char *p = (const unsigned char *)fifo; *p; p++)
		if (*p < 0x20 || *p >= 0x7f || *p == '"' || *p == '\\')
			tg_buf_addf(out, "\\x%02x", *p);
		else
			tg_buf_addc(out, (char)*p);
	tg_buf_adds(out, "\"))");
}

/* Kernels choke on lone surrogates and NULs, in comments as well: ours need not hold them. */
static void replace_unfit(char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!s[i])
			s[i] = ' ';
		if (i + 2 < len && (unsigned char)s[i] == 0xed && (unsigned char)s[i + 1] >= 0xa0)
			memcpy(s + i, "\xef\xbf\xbd", 3);
	}
}

void tg_magic_rewrite(const struct tg_magic *m, const char *code, size_t len, const char *comment,
	const char *fifo, struct tg_buf *out)
{
	size_t start = out->len;
	struct line line;

	for (size_t at = 0; at < m->body; at = line.next) {
		line = line_at(code, len, at);
		if (line.end > line.at)
			tg_buf_addf(out, "%s ", comment);
		tg_buf_add(out, code + at, line.next - at);
	}
	replace_unfit(out->data + start, out->len - start);
	if (fifo && m->to_variable) {
		if (out->len && out->data[out->len - 1] != '\n')
			tg_buf_addc(out, '\n');
		add_reader(m, code, fifo, out);
		if (m->body < len)
			tg_buf_addc(out, '\n');
	}
	tg_buf_add(out, code + m->body, len - m->body);
}
