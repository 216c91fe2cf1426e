/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/magic.h"

#include "base/lines.h"

#include "base/mem.h"

void tg_magic_read(const char *code, size_t len, struct tg_magic *out)
{
	struct tg_magics top = { .code = code, .len = len };
	struct tg_magic_line line;

	*out = (struct tg_magic){ .kind = TG_MAGIC_NONE };
	while (tg_magics_next(&top, &line)) {
		if (line.name == TG_NAME_TO_VARIABLE && !line.question) {
			out->many = out->to_variable;
			out->to_variable = true;
			out->name = line.args;
			out->name_len = line.args_len;
		}
		if (line.whole) {
			bool cost = line.name == TG_NAME_TACHO;

			out->kind = cost ? TG_MAGIC_COST : TG_MAGIC_ALL;
			out->body = cost ? top.at : len;
			return;
		}
		out->kind = TG_MAGIC_TOP;
	}
	out->body = top.at;
	if (out->kind == TG_MAGIC_TOP && top.at == len)
		out->kind = TG_MAGIC_ALL;
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
	struct tg_text_line line;

	for (size_t at = 0; at < m->body; at = line.next) {
		line = tg_text_line_at(code, len, at);
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
