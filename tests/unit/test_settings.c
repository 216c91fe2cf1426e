/* SPDX-License-Identifier: BSD-3-Clause */
#include "tap.h"

#include <errno.h>

#include "jupyter/settings.h"

#include "base/mem.h"

static void test_values(void)
{
	struct tg_settings s = { .n = 0 };
	struct tg_buf out = TG_BUF_INIT;
	char name[100], value[5000];

	T_OK(tg_settings_set(&s, "report", "\"line\"") && tg_settings_set(&s, "n", "2.5"));
	T_OK(tg_settings_set(&s, "report", "\"none\""));
	T_OK(tg_settings_is(&s, "report", "none") && !tg_settings_is(&s, "report", "non"));
	T_OK(!tg_settings_is(&s, "other", "none"));
	T_NEAR(tg_settings_num(&s, "n", 1), 2.5, 0);
	T_NEAR(tg_settings_num(&s, "report", 1), 1, 0);
	T_NEAR(tg_settings_num(&s, "other", 1), 1, 0);
	tg_settings_format(&s, &out);
	T_EQ_S(out.data, "{\"report\":\"none\",\"n\":2.5}");
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	memset(value, '1', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	T_OK(!tg_settings_set(&s, name, "1") && !tg_settings_set(&s, "x", value));
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "k%d", i);
		T_OK(tg_settings_set(&s, name, "1") == (i < TG_SETTINGS_MAX - 2));
	}
	tg_settings_release(&s);
	tg_buf_release(&out);
}

static void check_env(const char *name, const char *value, int want, double v)
{
	bool period = !strcmp(name, "JUMPER_REPORT_FREQUENCY");
	struct tg_settings s = { .n = 0 };
	struct tg_buf why = TG_BUF_INIT;

	T_EQ_I(tg_settings_env(&s, name, value, &why), want);
	T_OK((want < 0) == (why.len > 0) && (want > 0) == tg_settings_is(&s, "report", "jumper"));
	T_NEAR(tg_settings_num(&s, period ? "jumper_report_frequency_s" : "jumper_reports_min", -1),
		want > 0 ? v : -1, 0);
	tg_settings_release(&s);
	tg_buf_release(&why);
}

static void test_env(void)
{
	static const char *const bad[] = { "abc", "0", "-1", "", "1s", "nan", "inf", "0x10", "1e9",
		"{x}", "1 2" };

	check_env("JUMPER_REPORT_FREQUENCY", "0.5", 1, 0.5);
	check_env("JUMPER_REPORT_FREQUENCY", "2", 1, 2);
	check_env("JUMPER_REPORTS_MIN", "0", 1, 0);
	check_env("JUMPER_REPORTS_MIN", "5", 1, 5);
	check_env("JUMPER_REPORTS_MIN", "1.5", -EINVAL, 0);
	check_env("JUMPER_REPORTS_MIN", "-1", -EINVAL, 0);
	check_env("JUMPER_OTHER", "1", 0, 0);
	check_env("PATH", "1", 0, 0);
	for (size_t i = 0; i < TG_ARRAY_SIZE(bad); i++)
		check_env("JUMPER_REPORT_FREQUENCY", bad[i], -EINVAL, 0);
}

static void check_code(const char *code, double period, double least, size_t sentences)
{
	struct tg_settings s = { .n = 0 };
	struct tg_buf why = TG_BUF_INIT;
	size_t n = 0;

	tg_settings_code(&s, code, strlen(code), &why);
	T_NEAR(tg_settings_num(&s, "jumper_report_frequency_s", -1), period, 0);
	T_NEAR(tg_settings_num(&s, "jumper_reports_min", -1), least, 0);
	for (size_t i = 0; i < why.len; i++)
		n += why.data[i] == '\n';
	T_EQ_I(n, sentences);
	T_OK(period < 0 || tg_settings_in_code(code, strlen(code)));
	tg_settings_release(&s);
	tg_buf_release(&why);
}

static void test_code(void)
{
	check_code("%env JUMPER_REPORT_FREQUENCY=0.5", 0.5, -1, 0);
	check_code("%env JUMPER_REPORT_FREQUENCY 0.5", 0.5, -1, 0);
	check_code("%set_env JUMPER_REPORT_FREQUENCY = 0.5 ", 0.5, -1, 0);
	check_code(
		"x = 1\n  %env JUMPER_REPORT_FREQUENCY=4\r\n%env JUMPER_REPORTS_MIN=1\nx", 4, 1, 0);
	check_code("%env JUMPER_REPORT_FREQUENCY=x\n%env JUMPER_REPORTS_MIN=y", -1, -1, 2);
	check_code("%env JUMPER_REPORT_FREQUENCY", -1, -1, 0);
	check_code("%env", -1, -1, 0);
	check_code("%environ JUMPER_REPORT_FREQUENCY=1", -1, -1, 0);
	check_code("# %env JUMPER_REPORT_FREQUENCY=1", -1, -1, 0);
	check_code("", -1, -1, 0);
}

int main(void)
{
	test_values();
	test_env();
	test_code();
	return t_done();
}
