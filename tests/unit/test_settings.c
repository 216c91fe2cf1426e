/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings: their values at the edges, where they come from, which place is stronger. */
#include "tap.h"

#include "jupyter/settings.h"

#include "base/mem.h"

static void clear_environment(void)
{
	for (int i = 0; i < TG_SETTINGS; i++)
		if (tg_setting((enum tg_setting_name)i)->variable)
			unsetenv(tg_setting((enum tg_setting_name)i)->variable);
	unsetenv("TACHOGRAPH_KEEP");
}

static struct tg_settings started(const char *report)
{
	struct tg_settings s;
	struct tg_buf why = TG_BUF_INIT;

	tg_settings_start(&s, report, &why);
	T_EQ_I(why.len, 0);
	tg_buf_release(&why);
	return s;
}

/* Where a value comes from; "" for a default. */
static void check_from(const struct tg_settings *s, enum tg_setting_name name, const char *want)
{
	struct tg_buf out = TG_BUF_INIT;
	struct tg_json *json;

	tg_settings_format_from(s, &out);
	json = tg_json_parse(out.data, out.len, NULL);
	T_EQ_S(tg_json_str(tg_json_get(json, tg_setting(name)->key), ""), want);
	tg_json_free(json);
	tg_buf_release(&out);
}

static void take(struct tg_settings *s, const char *text, int64_t count)
{
	struct tg_json *json = tg_json_parse(text, strlen(text), NULL);

	T_OK(json != NULL);
	tg_settings_take(s, json, count);
	tg_json_free(json);
}

static void check_read(enum tg_setting_name name, const char *text, const char *want)
{
	char out[TG_SETTING_TEXT_MAX] = "";

	if (!T_OK(tg_setting_read(name, text, out) == (want != NULL)))
		fprintf(stderr, "# %s=%s\n", tg_setting(name)->name, text);
	T_EQ_S(out, want ? want : "");
}

static void test_edges(void)
{
	static const char *const no_number[] = { "", " ", "abc", "-1", "nan", "inf", "0x10", "0,5",
		"100ms", "1s", "1 2", "{x}", "$x", "1e", "--1", "1e400", "0.1;", "\xc2\xbd" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(no_number); i++) {
		check_read(TG_SET_INTERVAL, no_number[i], NULL);
		check_read(TG_SET_REPORT_MIN, no_number[i], NULL);
		check_read(TG_SET_CODE, no_number[i], NULL);
		check_read(TG_SET_JUMPER_PERIOD, no_number[i], NULL);
		check_read(TG_SET_JUMPER_MIN, no_number[i], NULL);
		check_read(TG_SET_REPORT, no_number[i], NULL);
	}
	check_read(TG_SET_INTERVAL, "0", NULL);
	check_read(TG_SET_INTERVAL, "0.0009", NULL);
	check_read(TG_SET_INTERVAL, "0.001", "0.001");
	check_read(TG_SET_INTERVAL, "1e-3", "0.001");
	check_read(TG_SET_INTERVAL, "+.5", "0.5");
	check_read(TG_SET_INTERVAL, "3600", "3600");
	check_read(TG_SET_INTERVAL, "3600.1", NULL);
	check_read(TG_SET_INTERVAL, "1e9", NULL);
	check_read(TG_SET_REPORT, "line", "line");
	check_read(TG_SET_REPORT, "jumper", "jumper");
	check_read(TG_SET_REPORT, "none", "none");
	check_read(TG_SET_REPORT, "lin", NULL);
	check_read(TG_SET_REPORT, "line, jumper", NULL);
	check_read(TG_SET_REPORT, "LINE", NULL);
	check_read(TG_SET_REPORT, "loud", NULL);
	check_read(TG_SET_REPORT_MIN, "0", "0");
	check_read(TG_SET_REPORT_MIN, "-0", "0");
	check_read(TG_SET_REPORT_MIN, "86400", "86400");
	check_read(TG_SET_REPORT_MIN, "86401", NULL);
	check_read(TG_SET_CODE, "0", "0");
	check_read(TG_SET_CODE, "1", "1");
	check_read(TG_SET_CODE, "2", NULL);
	check_read(TG_SET_CODE, "0.5", NULL);
	check_read(TG_SET_CODE, "false", NULL);
	check_read(TG_SET_JUMPER_PERIOD, "0.5", "0.5");
	check_read(TG_SET_JUMPER_PERIOD, "0", NULL);
	check_read(TG_SET_JUMPER_PERIOD, "86400", "86400");
	check_read(TG_SET_JUMPER_PERIOD, "1e9", NULL);
	check_read(TG_SET_JUMPER_MIN, "0", "0");
	check_read(TG_SET_JUMPER_MIN, "1.5", NULL);
	check_read(TG_SET_JUMPER_MIN, "1e9", "1000000000");
	check_read(TG_SET_JUMPER_MIN, "1e10", NULL);
}

static void test_names(void)
{
	for (int i = 0; i < TG_SETTINGS; i++) {
		const struct tg_setting *s = tg_setting((enum tg_setting_name)i);
		char text[TG_SETTING_TEXT_MAX];

		T_EQ_I(tg_setting_find(s->name, strlen(s->name)), i);
		if (s->variable)
			T_EQ_I(tg_setting_of_variable(s->variable, strlen(s->variable)), i);
		T_OK(tg_setting_read((enum tg_setting_name)i, s->otherwise, text));
		T_EQ_S(text, s->otherwise);
	}
	T_EQ_I(tg_setting_find("interva", 7), TG_SETTINGS);
	T_EQ_I(tg_setting_find("", 0), TG_SETTINGS);
	T_EQ_I(tg_setting_of_variable("interval", 8), TG_SETTINGS);
}

static void test_places(void)
{
	struct tg_buf out = TG_BUF_INIT, why = TG_BUF_INIT;
	static const char cell[] = "%env TACHOGRAPH_REPORT=line\n%env TACHOGRAPH_INTERVAL 0.3";
	static const char empty[] = "%env TACHOGRAPH_REPORT=";
	struct tg_settings s = started(NULL);

	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "line");
	check_from(&s, TG_SET_REPORT, "");
	tg_settings_format_from(&s, &out);
	T_EQ_S(out.data, "{}");
	tg_buf_clear(&out);
	tg_settings_format(&s, &out);
	T_EQ_S(out.data, "{\"interval_s\":0.1,\"report\":\"line\",\"report_min_s\":2,\"code\":1,"
			 "\"jumper_report_frequency_s\":2,\"jumper_reports_min\":2}");

	s = started("none");
	T_OK(tg_settings_is(&s, TG_SET_REPORT, "none"));
	check_from(&s, TG_SET_REPORT, "kernelspec");
	setenv("TACHOGRAPH_REPORT", "jumper", 1);
	setenv("TACHOGRAPH_INTERVAL", "0.2", 1);
	setenv("TACHOGRAPH_CODE", "0", 1);
	s = started("none");
	T_OK(tg_settings_is(&s, TG_SET_REPORT, "jumper") && tg_settings_is(&s, TG_SET_CODE, "0"));
	check_from(&s, TG_SET_REPORT, "environment");
	tg_settings_code(&s, cell, strlen(cell), 3, &why);
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "line");
	T_NEAR(tg_settings_num(&s, TG_SET_INTERVAL), 0.3, 0);
	check_from(&s, TG_SET_REPORT, "%env in cell [3]");
	take(&s, "{\"report\":\"none\",\"interval_s\":5e-2,\"other\":1}", 4);
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "none");
	T_EQ_S(tg_settings_text(&s, TG_SET_INTERVAL), "0.05");
	check_from(&s, TG_SET_REPORT, "%tacho set in cell [4]");
	T_EQ_I(why.len, 0);
	tg_settings_code(&s, cell, strlen(cell), -1, &why);
	T_EQ_S(why.data,
		"TACHOGRAPH_REPORT=line waits until `%tacho set report=` takes none back.\n"
		"TACHOGRAPH_INTERVAL=0.3 waits until `%tacho set interval=` takes 0.05 back.\n");
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "none");
	take(&s, "{\"report\":null}", 5);
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "line");
	check_from(&s, TG_SET_REPORT, "%env");
	tg_settings_code(&s, empty, strlen(empty), 6, &why);
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "jumper");
	check_from(&s, TG_SET_REPORT, "environment");
	take(&s, "{\"report\":7,\"interval_s\":0,\"code\":\"1\",\"jumper_reports_min\":[1]}", 7);
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "jumper");
	T_EQ_S(tg_settings_text(&s, TG_SET_INTERVAL), "0.05");
	T_EQ_S(tg_settings_text(&s, TG_SET_CODE), "0");
	T_EQ_S(tg_settings_text(&s, TG_SET_JUMPER_MIN), "2");
	clear_environment();
	tg_buf_release(&out);
	tg_buf_release(&why);
}

static void cell(struct tg_settings *s, const char *code)
{
	struct tg_buf why = TG_BUF_INIT;

	tg_settings_code(s, code, strlen(code), 1, &why);
	T_EQ_I(why.len, 0);
	tg_buf_release(&why);
}

/* JUmPER's variables ask for its report, in their place and from their moment on. */
static void test_jumper(void)
{
	struct tg_settings s = started("none");

	cell(&s, "%env JUMPER_REPORTS_MIN=0");
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "jumper");
	check_from(&s, TG_SET_REPORT, "%env in cell [1]");
	cell(&s, "%env TACHOGRAPH_REPORT=line");
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "line");
	cell(&s, "%env JUMPER_REPORT_FREQUENCY=0.5");
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "jumper");
	take(&s, "{\"report\":\"line\"}", 2);
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "line");
	take(&s, "{\"report\":null,\"jumper_reports_min\":5}", 2);
	check_from(&s, TG_SET_REPORT, "%tacho set in cell [2]");
	take(&s, "{\"report\":\"none\",\"jumper_reports_min\":4}", 2); /* named: that one */
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "none");
	take(&s, "{\"jumper_reports_min\":3}", 2);
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "jumper");
	take(&s, "{\"jumper_reports_min\":null}", 2);
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "none");
	T_EQ_S(tg_settings_text(&s, TG_SET_JUMPER_MIN), "0");

	setenv("JUMPER_REPORT_FREQUENCY", "1", 1);
	s = started("none");
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "jumper");
	check_from(&s, TG_SET_REPORT, "environment");
	setenv("TACHOGRAPH_REPORT", "line", 1);
	s = started("none");
	T_EQ_S(tg_settings_text(&s, TG_SET_REPORT), "line");
	clear_environment();
}

static void check_start(const char *variable, const char *value, const char *sentence)
{
	struct tg_settings s;
	struct tg_buf why = TG_BUF_INIT;

	setenv(variable, value, 1);
	tg_settings_start(&s, NULL, &why);
	T_EQ_S(why.len ? why.data : "", sentence);
	T_OK(tg_settings_is(&s, TG_SET_REPORT, "line") && tg_settings_is(&s, TG_SET_CODE, "1") &&
		tg_settings_is(&s, TG_SET_INTERVAL, "0.1"));
	clear_environment();
	tg_buf_release(&why);
}

static void test_bad_environment(void)
{
	check_start("TACHOGRAPH_INTERVAL", "0,5",
		"TACHOGRAPH_INTERVAL=0,5 is not a number of seconds from 0.001 to 3600; 0.1 "
		"stays.\n");
	check_start("TACHOGRAPH_INTERVAL", "", "");
	check_start("TACHOGRAPH_REPORT", "loud",
		"TACHOGRAPH_REPORT=loud is not one of line, jumper, none; line stays.\n");
	check_start("TACHOGRAPH_CODE", "no", "TACHOGRAPH_CODE=no is not 0 or 1; 1 stays.\n");
	check_start("JUMPER_REPORT_FREQUENCY", "abc",
		"JUMPER_REPORT_FREQUENCY=abc is not a number of seconds from 0.001 to 86400; "
		"2 stays.\n");
	check_start("JUMPER_REPORTS_MIN", "-1",
		"JUMPER_REPORTS_MIN=-1 is not a whole number from 0 to 1000000000; 2 stays.\n");
	check_start("TACHOGRAPH_KEEP", "0", "");
	check_start("TACHOGRAPH_KEEP", "20", "");
	check_start("TACHOGRAPH_KEEP", "-1",
		"TACHOGRAPH_KEEP=-1 is not a number of recordings; 20 stays.\n");
	check_start("TACHOGRAPH_KEEP", "few",
		"TACHOGRAPH_KEEP=few is not a number of recordings; 20 stays.\n");
}

static void check_code(const char *code, const char *period, const char *least, const char *want)
{
	struct tg_settings s = started(NULL);
	struct tg_buf why = TG_BUF_INIT;

	tg_settings_code(&s, code, strlen(code), 1, &why);
	if (!T_OK(!strcmp(s.value[TG_FROM_ENV][TG_SET_JUMPER_PERIOD].text, period) &&
		    !strcmp(s.value[TG_FROM_ENV][TG_SET_JUMPER_MIN].text, least)))
		fprintf(stderr, "# %s\n", code);
	T_EQ_S(why.len ? why.data : "", want);
	T_OK((!*period && !*want) || tg_settings_in_code(code, strlen(code)));
	tg_buf_release(&why);
}

#define P "JUMPER_REPORT_FREQUENCY"
#define N "JUMPER_REPORTS_MIN"

static void test_code(void)
{
	check_code("%env " P "=0.5", "0.5", "", "");
	check_code("%env " P " 0.5", "0.5", "", "");
	check_code("%set_env " P " = 0.5 ", "0.5", "", "");
	check_code("x = 1\n  %env " P "=4\r\n%env " N "=1\nx", "4", "1", "");
	check_code("%env " P, "", "", "");
	check_code("%env", "", "", "");
	check_code("%environ " P "=1", "", "", "");
	check_code("# %env " P "=1", "", "", "");
	check_code("", "", "", "");
	check_code("env " P "=1", "1", "", ""); /* a cell of one line needs no sign */
	check_code("set_env " P " 1\n", "1", "", "");
	check_code("env " P "=1\n2", "", "", "");
	check_code("%env " P " " N "=1", "", "", ""); /* IPython refuses it */
	check_code("%env\t" P "=1", "", "", "");
	check_code("%env  " P " 1", "", "", "");
	check_code("%env  " P "= 1", "1", "", "");
	check_code("% env " P "=1", "", "", "");
	check_code("x = '''\n%env " P "=1\n'''\n%env " N "=1", "", "1", "");
	check_code("x = \"\"\"a'\n%env " P "=1\n\\\"\"\"\n%env " P "=1\n\"\"\"", "", "", "");
	check_code("f(1,\n%env " P "=1\n)\n%env " N "=2", "", "2", "");
	check_code("x = 7 \\\n%env " P "=1", "", "", "");
	check_code("x = 'it'  # (\n%env " P "=1", "1", "", "");
	check_code("x = 'open\n%env " P "=1", "1", "", "");
	check_code("%%bash\n%env " P "=1", "", "", "");
	check_code("\n%%time\n%env " P "=1", "1", "", "");
	check_code("%%capture out\n%env " P "=1", "1", "", "");
	check_code("# not above\n%%bash\n%env " P "=1", "1", "", "");
	check_code("%env TACHOGRAPH_SOCKET=x\n%env PATH=/bin\n%env JUMPER_LOG_DIR=/", "", "", "");
	check_code("%env " P "=x\n%env " N "=y", "", "",
		P "=x is not a number of seconds from 0.001 to 86400; 2 stays.\n" N
		  "=y is not a whole number from 0 to 1000000000; 2 stays.\n");
	check_code("%env " P "={x}", "", "",
		P "={x} is not understood: tachograph reads the line as it is written, not what "
		  "Python puts into it; 2 stays.\n");
	check_code("%env TACHOGRAPH_DIR=/tmp", "", "",
		"TACHOGRAPH_DIR is read when a kernel starts: it changes nothing here; set it "
		"where Jupyter is started.\n");
	check_code("%env TACHOGRAPH_INTERVALL=1", "", "",
		"TACHOGRAPH_INTERVALL is no setting; `%tacho set` lists them.\n");
	for (const char *const *v = tg_setting_at_start(); *v; v++) {
		struct tg_settings s = started(NULL);
		struct tg_buf code = TG_BUF_INIT, why = TG_BUF_INIT;

		tg_buf_addf(&code, "%%env %s=1", *v);
		tg_settings_code(&s, code.data, code.len, 1, &why);
		T_OK(strstr(why.data, " is read when a kernel starts: ") != NULL);
		tg_buf_release(&code);
		tg_buf_release(&why);
	}
}

int main(void)
{
	clear_environment();
	test_edges();
	test_names();
	test_places();
	test_jumper();
	test_bad_environment();
	test_code();
	return t_done();
}
