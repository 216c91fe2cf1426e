/* SPDX-License-Identifier: BSD-3-Clause */
/* What is offered where, and how it gets into replies of many shapes. */
#include "tap.h"

#include "jupyter/complete.h"
#include "mark/magics.h"

#include "base/mem.h"

/* `^` is the cursor. The matches, with blanks between; "(none)" when nothing may be offered. */
static void offered(const char *marked, size_t start, const char *want)
{
	size_t at = (size_t)(strchr(marked, '^') - marked);
	struct tg_buf code = TG_BUF_INIT, got = TG_BUF_INIT;
	struct tg_offer o;
	const char *match;

	tg_buf_add(&code, marked, at);
	tg_buf_adds(&code, marked + at + 1);
	if (!tg_offer(code.data, code.len, at, &o)) {
		tg_buf_adds(&got, "(none)");
	} else {
		T_EQ_I(o.start, start);
		T_EQ_I(o.end, at);
		match = o.match.data;
		for (size_t i = 0; i < o.n; i++, match += strlen(match) + 1)
			tg_buf_addf(&got, "%s%s", i ? " " : "", match);
	}
	if (!T_OK(!strcmp(got.data, want)))
		fprintf(stderr, "# %s: got %s, want %s\n", marked, got.data, want);
	tg_buf_release(&o.match);
	tg_buf_release(&code);
	tg_buf_release(&got);
}

static void test_offers(void)
{
	offered("%t^", 0, "%tacho %%tacho");
	offered("%^%t", 0,
		"%tacho %%tacho %display_code_history %%display_code_history "
		"%display_code_for_index %%display_code_for_index "
		"%display_graph_for_last %%display_graph_for_last "
		"%display_graph_for_index %%display_graph_for_index "
		"%display_graph_for_all %%display_graph_for_all "
		"%perfdata_to_variable %%perfdata_to_variable "
		"%perfdata_to_json %%perfdata_to_json");
	offered("%%perf^", 0, "%%perfdata_to_variable %%perfdata_to_json");
	offered("\n# c\n  %ta^cho", 7, "%tacho %%tacho");
	offered("%tacho show\n\n%ta^\nx", 13, "%tacho %%tacho");
	offered("?%ta^", 1, "%tacho %%tacho");
	offered("^%ta", 0, "(none)");
	offered("x\n%ta^", 0, "(none)");
	offered("%%tacho\n%ta^", 0, "(none)");
	offered("%%display_code_history\n%ta^", 0, "(none)");
	offered("%ta\n^", 0, "(none)");
	offered("%zz^", 0, "(none)");
	offered("%%%t^", 0, "(none)");
	offered("ta^", 0, "(none)");
	offered("^", 0, "(none)");
	offered("%tacho ^", 7, "show chart report compare export verify mark set list help");
	offered("%%tacho s^", 8, "show set");
	offered("%tacho xy^", 7, "");
	offered("%tacho show --^", 12, "--span --json");
	offered("%tacho chart ^", 13, "--span --panel --node --smooth -o");
	offered("%tacho show --span ^", 19, "last all name= kind=");
	offered("%tacho show --span=l^", 19, "last");
	offered("%tacho chart --panel cpu,mem^", 25, "memory memory-roles memory-kinds");
	offered("%tacho chart -o las^", 0, "(none)");
	offered("%tacho export -o a.csv --format c^", 32, "csv");
	offered("%tacho help ver^", 12, "verify");
	offered("%tacho set report=^", 18, "line jumper none");
	offered("%tacho set re^", 11, "report= report-min=");
	offered("%tacho set report=n^", 18, "none");
	offered("%tacho set interval=^", 20, "");
	offered("%tacho show ru^", 0, "(none)");
	offered("%tacho show \"a ^", 0, "(none)");
	offered("%tacho mark x ke^", 0, "(none)");
	offered("%perfdata_to_json f^", 0, "(none)");
}

/* The reply to `%t^` behind `lead`. */
static void merged(const char *lead, const char *reply, const char *want)
{
	struct tg_buf code = TG_BUF_INIT, out = TG_BUF_INIT;
	struct tg_bytes content = { reply, strlen(reply) };
	struct tg_offer o;

	tg_buf_addf(&code, "%s%%t", lead);
	T_OK(tg_offer(code.data, code.len, code.len, &o));
	if (!tg_complete_merge(code.data, &o, content, &out)) {
		T_EQ_I(out.len, 0);
		tg_buf_adds(&out, "(as it is)");
	}
	T_EQ_S(out.data, want);
	tg_buf_release(&o.match);
	tg_buf_release(&code);
	tg_buf_release(&out);
}

#define RANGE "\"cursor_start\":0,\"cursor_end\":2,"
#define TYPE(from, to, text)                                                                       \
	"{\"start\":" from ",\"end\":" to ",\"text\":\"" text                                      \
	"\",\"type\":\"magic\",\"signature\":\"\"}"
#define OURS                                                                                       \
	"{\"status\":\"ok\",\"matches\":[\"%tacho\",\"%%tacho\"],\"cursor_start\":0,"              \
	"\"cursor_end\":2,\"metadata\":{\"_jupyter_types_experimental\":[" TYPE(                   \
		"0", "2", "%tacho") "," TYPE("0", "2", "%%tacho") "]}}"

static void test_merge(void)
{
	/* theirs first, byte for byte; members in any order */
	merged("", "{" RANGE "\"x\":1e400, \"matches\" : [ \"a\\\"]\\ud800\" ],\"status\":\"ok\"}",
		"{" RANGE "\"x\":1e400, \"matches\" : [ \"a\\\"]\\ud800\" ,\"%tacho\",\"%%tacho\"]"
		",\"status\":\"ok\"}");
	merged("",
		"{\"metadata\":{\"_jupyter_types_experimental\":[],\"y\":0.1},\"matches\":[\"a\"]"
		"," RANGE "\"status\":\"ok\"}",
		"{\"metadata\":{\"_jupyter_types_experimental\":[" TYPE(
			"0", "2", "%tacho") "," TYPE("0", "2",
			"%%tacho") "],\"y\":0.1},\"matches\":[\"a\",\"%tacho\",\"%%tacho\"]," RANGE
				   "\"status\":\"ok\"}");
	merged("",
		"{\"status\":\"ok\",\"matches\":[\"a\"]," RANGE
		"\"metadata\":{\"_jupyter_types_experimental\":[{\"text\":\"a\"}]}}",
		"{\"status\":\"ok\",\"matches\":[\"a\",\"%tacho\",\"%%tacho\"]," RANGE
		"\"metadata\":{\"_jupyter_types_experimental\":[{\"text\":\"a\"}," TYPE(
			"0", "2", "%tacho") "," TYPE("0", "2", "%%tacho") "]}}");
	/* what is there already is not said twice */
	merged("", "{\"status\":\"ok\"," RANGE "\"matches\":[\"%tacho\"]}",
		"{\"status\":\"ok\"," RANGE "\"matches\":[\"%tacho\",\"%%tacho\"]}");
	/* another range: the same text in theirs */
	merged("", "{\"status\":\"ok\",\"cursor_start\":1,\"cursor_end\":2,\"matches\":[\"t\"]}",
		"{\"status\":\"ok\",\"cursor_start\":1,\"cursor_end\":2,"
		"\"matches\":[\"t\",\"tacho\",\"%tacho\"]}");
	merged("#\xf0\x9f\x98\x80\n ",
		"{\"status\":\"ok\",\"cursor_start\":3,\"cursor_end\":6,\"matches\":[\"t\"]}",
		"{\"status\":\"ok\",\"cursor_start\":3,\"cursor_end\":6,"
		"\"matches\":[\"t\",\" %tacho\",\" %%tacho\"]}");
	/* another end: theirs alone */
	merged("", "{\"status\":\"ok\",\"cursor_start\":0,\"cursor_end\":9,\"matches\":[\"t\"]}",
		"(as it is)");
	merged("", "{\"status\":\"ok\",\"matches\":[\"t\"]}", "(as it is)");
	/* nothing of theirs */
	merged("", "{\"status\":\"ok\",\"matches\":[],\"cursor_start\":9,\"cursor_end\":9}", OURS);
	merged("", "{\"status\":\"ok\"}", OURS);
	merged("", "{\"status\":\"ok\",\"matches\":7}", OURS);
	merged("", "{\"status\":\"error\"}", OURS);
	merged("", "{\"status\":\"aborted\"}", "(as it is)");
	merged("", "", "(as it is)");
	merged("", "[]", "(as it is)");
	merged("", "{\"matches\":[\"a\"", "(as it is)");
}

static void test_huge(void)
{
	struct tg_buf reply = TG_BUF_INIT, out = TG_BUF_INIT;
	struct tg_offer o;

	T_OK(tg_offer("%t", 2, 2, &o));
	tg_buf_adds(&reply, "{\"status\":\"ok\"," RANGE "\"matches\":[\"a\"");
	while (reply.len < 17u << 20)
		tg_buf_adds(&reply, ",\"a long match that is not one of ours\"");
	tg_buf_adds(&reply, "]}");
	T_OK(!tg_complete_merge("%t", &o, (struct tg_bytes){ reply.data, reply.len }, &out));
	T_EQ_I(out.len, 0);
	tg_buf_release(&o.match);
	tg_buf_release(&reply);
	tg_buf_release(&out);
}

static void test_points(void)
{
	static const char s[] = "a\xc3\xa4\xf0\x9f\x98\x80\xed\xa0\x80\xff"
				"b";

	T_EQ_I(tg_complete_byte(s, sizeof(s) - 1, 3), 7);
	T_EQ_I(tg_complete_byte(s, sizeof(s) - 1, 4), 10);
	T_EQ_I(tg_complete_byte(s, sizeof(s) - 1, INT64_MAX), 12);
	T_EQ_I(tg_complete_byte(s, sizeof(s) - 1, -1), 0);
	T_EQ_I(tg_complete_point(s, 12), 6);
}

/* Whether a line asks for help, and with what word. */
static void asks(const char *code, const char *want)
{
	struct tg_magics top = { .code = code, .len = strlen(code) };
	struct tg_magic_line m;
	char *got = tg_xmemdup0("-", 1);

	if (tg_magics_next(&top, &m) && m.question) {
		free(got);
		got = tg_xmemdup0(code + m.args, m.args_len);
	}
	T_EQ_S(got, want);
	free(got);
}

static void test_questions(void)
{
	asks("%tacho?", "");
	asks("%tacho??", "");
	asks("??%tacho", "");
	asks("%tacho show?", "show");
	asks("%tacho show??", "show");
	asks("?%tacho show", "show");
	asks("%tacho mark really?  ", "-");
	asks("%tacho?x", "-");
	asks("%tacho???", "-");
	asks("%tacho show", "-");
	asks("%%display_graph_for_last?", "");
	asks("%display_code_for_index 3?", "-");
}

int main(void)
{
	test_offers();
	test_merge();
	test_huge();
	test_points();
	test_questions();
	return t_done();
}
