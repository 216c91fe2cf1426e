/* SPDX-License-Identifier: BSD-3-Clause */
#include "tap.h"

#include "jupyter/magic.h"

#include "base/mem.h"

static const char *const kinds[] = { "none", "all", "top", "cost" };

static void check(const char *code, enum tg_magic_kind kind, const char *fifo, const char *want)
{
	struct tg_buf out = TG_BUF_INIT;
	struct tg_magic m;

	tg_magic_read(code, strlen(code), &m);
	T_EQ_S(kinds[m.kind], kinds[kind]);
	if (m.kind != TG_MAGIC_NONE) {
		tg_magic_rewrite(&m, code, strlen(code), "#", fifo, &out);
		T_EQ_S(out.data, want);
	}
	tg_buf_release(&out);
}

static void test_kinds(void)
{
	static const char *const others[] = { "", "1+1", "print('%tacho')", "x\n%tacho show",
		"%tachos", "%%tacho_x", "%time 1", "%%display_graph_for_lastXYZ", "%%%tacho",
		"tacho", "# %tacho\n1", "%env A=1\n%tacho", "%", "%%", "% tacho", "%%time\n%%tacho",
		"!%tacho" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(others); i++)
		check(others[i], TG_MAGIC_NONE, NULL, NULL);
	check("%tacho show", TG_MAGIC_ALL, NULL, "# %tacho show");
	check("%tacho", TG_MAGIC_ALL, NULL, "# %tacho");
	check("%%display_graph_for_all", TG_MAGIC_ALL, NULL, "# %%display_graph_for_all");
	check("%display_graph_for_last\n", TG_MAGIC_ALL, NULL, "# %display_graph_for_last\n");
	/* blank lines and comments above; the rest of a cell magic is no code */
	check("\n  # c\n\t%%perfdata_to_json f\nx = (\n\n", TG_MAGIC_ALL, NULL,
		"\n#   # c\n# \t%%perfdata_to_json f\n# x = (\n\n");
	/* lines at the top, code below */
	check("%tacho a\n# c\n%display_code_history\n\nx = 1\n%tacho b\n", TG_MAGIC_TOP, NULL,
		"# %tacho a\n# # c\n# %display_code_history\n\nx = 1\n%tacho b\n");
	check("%%tacho show\n1", TG_MAGIC_TOP, NULL, "# %%tacho show\n1");
	check("%%tacho\nx\n", TG_MAGIC_COST, NULL, "# %%tacho\nx\n");
	check("%%tacho  \r\nx", TG_MAGIC_COST, NULL, "# %%tacho  \r\nx");
	check("%%tacho", TG_MAGIC_COST, NULL, "# %%tacho");
	/* questions */
	check("%tacho?", TG_MAGIC_ALL, NULL, "# %tacho?");
	check("?%%perfdata_to_variable \nx", TG_MAGIC_TOP, NULL, "# ?%%perfdata_to_variable \nx");
	check("%%tacho?\n1", TG_MAGIC_TOP, NULL, "# %%tacho?\n1");
	check("%tacho? x", TG_MAGIC_NONE, NULL, NULL);
	check("?%time", TG_MAGIC_NONE, NULL, NULL);
	/* a cell magic below a line is code of the user's kernel, which will say so */
	check("%tacho a\n%%time\n1", TG_MAGIC_TOP, NULL, "# %tacho a\n%%time\n1");
}

static void check_below(const char *code, const char *want)
{
	enum tg_magic_name name = TG_NAMES;
	struct tg_magic m;
	char got[60] = "";
	int signs;

	tg_magic_read(code, strlen(code), &m);
	signs = tg_magics_below(code, strlen(code), m.body, &name);
	if (signs)
		snprintf(got, sizeof(got), "%.*s%s", signs, "%%", tg_magic_name(name));
	T_EQ_S(got, want);
}

/* What looks like a magic of ours and is none, for where it stands. */
static void test_below(void)
{
	check_below("", "");
	check_below("z = 1\n%tacho show\n%%perfdata_to_json x", "%tacho");
	check_below("z = 1\r\n\n\t%%display_graph_for_all", "%%display_graph_for_all");
	check_below("%%time\n%tacho", "%tacho");
	check_below("%%tacho\n%tacho show", "%tacho");
	check_below("%tacho show\nz = 1\n%tacho show", "%tacho");
	check_below("z = 1\n?%tacho", "%tacho");
	check_below("%tacho show\n# c\n%display_code_history", "");
	check_below("%%display_code_history\nx\n%tacho", "");
	check_below("z = 1\n# %tacho\n%tachos\nx = %tacho show\n'%tacho'", "");
}

/* IPython looks for magics behind every line break of Unicode: none may be left bare. */
static void test_breaks(void)
{
	check("%%display_code_history\r%x\f%y\v%z\x1c%a\xc2\x85%b\xe2\x80\xa8%c\xe2\x80\xa9%d",
		TG_MAGIC_ALL, NULL,
		"# %%display_code_history\r# %x\f# %y\v# %z\x1c# %a\xc2\x85# %b\xe2\x80\xa8# %c"
		"\xe2\x80\xa9# %d");
	check("%%display_code_history\r\n%x", TG_MAGIC_ALL, NULL,
		"# %%display_code_history\r\n# %x");
}

/* Lone surrogates are replaced in comments, not in code. */
static void test_surrogate(void)
{
	check("%tacho \xed\xa0\x80\nx\xed\xbf\xbf", TG_MAGIC_TOP, NULL,
		"# %tacho \xef\xbf\xbd\nx\xed\xbf\xbf");
	check("%tacho \xed\x9f\xbf", TG_MAGIC_ALL, NULL, "# %tacho \xed\x9f\xbf");
}

static void test_variable(void)
{
	static const char *const good[] = { "v", "_", "a1", "Klasse", "classes" };
	static const char *const bad[] = { "", "1a", "a b", "a.b", "a-b", "class", "None",
		"\xc3\xa4", "a;b", "__debug__" };
	struct tg_magic m;
	static const char two[] = "%perfdata_to_variable a\n%perfdata_to_variable b";

	for (size_t i = 0; i < TG_ARRAY_SIZE(good); i++)
		T_OK(tg_magic_is_variable(good[i], strlen(good[i])));
	for (size_t i = 0; i < TG_ARRAY_SIZE(bad); i++)
		T_OK(!tg_magic_is_variable(bad[i], strlen(bad[i])));
	check("%%perfdata_to_variable v\nrest", TG_MAGIC_ALL, "/run/a\"b\\\xc3\xa4/v1",
		"# %%perfdata_to_variable v\n# rest\nv = __import__(\"json\").load(open("
		"b\"/run/a\\x22b\\x5c\\xc3\\xa4/v1\"))");
	check("%perfdata_to_variable  v \nprint(v)", TG_MAGIC_TOP, "/f",
		"# %perfdata_to_variable  v \nv = "
		"__import__(\"json\").load(open(b\"/f\"))\nprint(v)");
	check("%%perfdata_to_variable", TG_MAGIC_ALL, NULL, "# %%perfdata_to_variable");
	tg_magic_read(two, sizeof(two) - 1, &m);
	T_OK(m.many && m.to_variable);
	tg_magic_read("%perfdata_to_variable v x", 25, &m);
	T_EQ_I(m.name_len, 3); /* which is no variable */
	tg_magic_read("%%perfdata_to_variable \t", 24, &m);
	T_OK(m.to_variable && m.name_len == 0);
}

static void test_comment(void)
{
	T_EQ_S(tg_magic_comment("python"), "#");
	T_EQ_S(tg_magic_comment("R"), "#");
	T_EQ_S(tg_magic_comment("Rust"), "//");
	T_EQ_S(tg_magic_comment("sql"), "--");
	T_EQ_S(tg_magic_comment(""), "#");
}

int main(void)
{
	test_kinds();
	test_below();
	test_breaks();
	test_surrogate();
	test_variable();
	test_comment();
	return t_done();
}
