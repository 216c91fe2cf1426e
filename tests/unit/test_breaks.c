/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a line ends: kernel, worker and settings must see the same magics behind every line break
 * of Unicode. What settings expect of `%env` was tried out with IPython 9.
 */
#include "tap.h"

#include "base/json.h"
#include "command/worker.h"
#include "jupyter/magic.h"
#include "jupyter/settings.h"

#include "base/mem.h"

static const char *const breaks[] = { "\n", "\r\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e",
	"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9" };
static const char *const none[] = { "\t", " ", "\x1f", "\xc2\xa0", "\xe2\x80\xaa", "\xc2\x84" };

/* `with` with each | replaced. */
static char *filled(const char *with, const char *part)
{
	struct tg_buf out = TG_BUF_INIT;

	for (; *with; with++)
		if (*with == '|')
			tg_buf_adds(&out, part);
		else
			tg_buf_addc(&out, *with);
	return tg_buf_detach(&out);
}

/* How many times the worker said what %tacho help says; -1: that there is no magic. */
static int helps(const char *code)
{
	struct tg_buf request = TG_BUF_INIT, answer = TG_BUF_INIT;
	int n = 0;

	tg_buf_adds(&request, "{\"n\":1,\"do\":\"magic\",\"code\":");
	tg_json_quote(&request, code, strlen(code));
	tg_buf_addc(&request, '}');
	tg_worker_answer(NULL, request.data, request.len, &answer);
	for (const char *p = answer.data; (p = strstr(p, "help WORD` says more")); p++)
		n++;
	if (strstr(answer.data, "There is no magic in this cell"))
		n = n ? -2 : -1;
	tg_buf_release(&request);
	tg_buf_release(&answer);
	return n;
}

static void check(const char *text, const char *part, enum tg_magic_kind kind, size_t body, int n)
{
	char *code = filled(text, part);
	struct tg_magic m;

	tg_magic_read(code, strlen(code), &m);
	if (!T_OK(m.kind == kind && helps(code) == n) ||
		(kind == TG_MAGIC_TOP && !T_OK(m.body == body)))
		fprintf(stderr, "# \"%s\" with %02x…: kind %d, body %zu, %d helps\n", text,
			(unsigned char)part[0], m.kind, m.body, helps(code));
	free(code);
}

/* The kernel takes out what the worker then runs. */
static void test_magics(void)
{
	static const struct {
		const char *text;
		enum tg_magic_kind kind;
		size_t body; /* without the breaks */
		int helps;
		enum tg_magic_kind joined; /* where it is no break */
	} table[] = {
		{ "%tacho help", TG_MAGIC_ALL, 0, 1, TG_MAGIC_ALL },
		{ "|%tacho help", TG_MAGIC_ALL, 0, 1, TG_MAGIC_NONE },
		{ "# c|%tacho help", TG_MAGIC_ALL, 0, 1, TG_MAGIC_NONE },
		{ "%tacho help|%tacho help", TG_MAGIC_ALL, 0, 2, TG_MAGIC_ALL },
		{ "%tacho help|x = 1", TG_MAGIC_TOP, 11, 1, TG_MAGIC_ALL },
		{ "%%tacho help||x = 1", TG_MAGIC_TOP, 12, 1, TG_MAGIC_ALL },
		{ "x = 1|%tacho help", TG_MAGIC_NONE, 0, -1, TG_MAGIC_NONE },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(table); i++) {
		for (size_t k = 0; k < TG_ARRAY_SIZE(breaks); k++) {
			size_t body = table[i].body + strlen(breaks[k]) * (i == 5 ? 2 : 1);

			check(table[i].text, breaks[k], table[i].kind, body, table[i].helps);
		}
		for (size_t k = 2; i > 1 && k < TG_ARRAY_SIZE(none); k++) {
			char *code = filled(table[i].text, none[k]);
			struct tg_magic m;

			tg_magic_read(code, strlen(code), &m);
			T_EQ_I(m.kind, table[i].joined);
			T_OK((helps(code) < 0) == (m.kind == TG_MAGIC_NONE));
			free(code);
		}
	}
}

/* `%env` of a setting is in force where IPython runs it. */
static void test_settings(void)
{
	static const struct {
		const char *text;
		bool newline_only; /* else every break is one */
	} table[] = {
		{ "|%env JUMPER_REPORTS_MIN=5", false },
		{ " |%env JUMPER_REPORTS_MIN=5", false },
		{ "\n|%env JUMPER_REPORTS_MIN=5\n", false },
		{ "%env JUMPER_REPORTS_MIN=5|", false },
		{ "%env JUMPER_REPORTS_MIN=5|x = 1", false },
		{ "%env B=1|%env JUMPER_REPORTS_MIN=5", false },
		{ "x = 1|%env JUMPER_REPORTS_MIN=5", true },
		{ "x = 1\n|%env JUMPER_REPORTS_MIN=5", true },
		{ "#c|%env JUMPER_REPORTS_MIN=5", true },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(table); i++)
		for (size_t k = 0; k < TG_ARRAY_SIZE(breaks); k++) {
			char *code = filled(table[i].text, breaks[k]);
			/*
			 * Behind a newline IPython skips a carriage return as a blank. It also ends
			 * comments there, which we do not: no front end sends one alone.
			 */
			bool newline = k < 2 || (k == 2 && strchr(table[i].text, '\n'));
			bool want = newline || !table[i].newline_only;
			struct tg_settings s = { .n_set = 0 };
			struct tg_buf why = TG_BUF_INIT;

			tg_settings_code(&s, code, strlen(code), 1, &why);
			if (!T_OK(tg_settings_num(&s, TG_SET_JUMPER_MIN) == (want ? 5 : 2)) ||
				!T_OK(why.len == 0))
				fprintf(stderr, "# \"%s\" with break %zu\n", table[i].text, k);
			tg_buf_release(&why);
			free(code);
		}
}

int main(void)
{
	test_magics();
	test_settings();
	return t_done();
}
