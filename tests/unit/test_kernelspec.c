/* SPDX-License-Identifier: BSD-3-Clause */
#include "tap.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "jupyter/kernelspec.h"

#include "base/mem.h"

static char root[] = "/tmp/tg-test-XXXXXX";

static void put(const char *folder, const char *name, const char *text)
{
	struct tg_buf path = TG_BUF_INIT;
	FILE *f;

	tg_buf_addf(&path, "%s/%s/kernels/%s", root, folder, name);
	T_EQ_I(tg_paths_mkdirs(path.data, 0700, NULL), 0);
	tg_buf_adds(&path, "/kernel.json");
	f = fopen(path.data, "w");
	T_OK(f != NULL);
	if (f) {
		fputs(text, f);
		fclose(f);
	}
	tg_buf_release(&path);
}

static void set_path(const char *variable, const char *folder)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", root, folder);
	setenv(variable, path, 1);
}

static void check_find(const char *name, const char *prefix, const char *first_arg)
{
	struct tg_kernelspec s;
	struct tg_err err = { 0 };

	T_EQ_I(tg_kernelspec_find(&s, name, prefix, &err), 0);
	T_EQ_S(err.text, "");
	T_EQ_S(s.argv ? s.argv[0] : NULL, first_arg);
	T_EQ_S(s.name, name);
	tg_kernelspec_release(&s);
}

/* JUPYTER_PATH, then the environment, then the user's folder. */
static void test_order(void)
{
	char prefix[200];
	struct tg_kernelspec s;
	struct tg_err err = { 0 };

	set_path("JUPYTER_PATH", "path");
	set_path("JUPYTER_DATA_DIR", "user");
	snprintf(prefix, sizeof(prefix), "%s/env", root);
	put("user", "k", "{\"argv\":[\"user\"]}");
	check_find("k", prefix, "user");
	put("env/share/jupyter", "k", "{\"argv\":[\"env\"]}");
	check_find("k", prefix, "env");
	check_find("k", NULL, "user");
	put("path", "k", "{\"argv\":[\"path\"]}");
	check_find("k", prefix, "path");

	T_EQ_I(tg_kernelspec_find(&s, "nope", prefix, &err), -ENOENT);
	T_OK(strstr(err.text, "there is no kernel named \"nope\"") != NULL);
	tg_kernelspec_release(&s);
	T_EQ_I(tg_kernelspec_find(&s, "../k", prefix, &err), -EINVAL);
	tg_kernelspec_release(&s);
	put("path", "broken", "{\"argv\":");
	T_EQ_I(tg_kernelspec_find(&s, "broken", prefix, &err), -EBADMSG);
	T_OK(strstr(err.text, "/broken/kernel.json: ") != NULL);
	tg_kernelspec_release(&s);
}

/* Kernels of ours stand for what is behind them; the one kept in place bears its own name. */
static void test_behind(void)
{
	static const char ours[] = "{\"argv\":[\"/bin/tachograph\",\"kernel\",\"--spec\","
				   "\"%s/behind/kernels/%s\"]}";
	struct tg_kernelspec s;
	struct tg_err err = { 0 };
	char text[300];

	set_path("JUPYTER_PATH", "behind");
	put("behind", "calm/inner", "{\"argv\":[\"calm\"]}");
	snprintf(text, sizeof(text), ours, root, "calm/inner");
	put("behind", "calm", text);
	check_find("calm", NULL, "calm");

	snprintf(text, sizeof(text), ours, root, "calm");
	put("behind", "outer", text);
	T_EQ_I(tg_kernelspec_find(&s, "outer", NULL, &err), 0);
	T_EQ_S(s.name, "calm");
	tg_kernelspec_release(&s);

	snprintf(text, sizeof(text), ours, root, "loop");
	put("behind", "loop", text);
	T_EQ_I(tg_kernelspec_find(&s, "loop", NULL, &err), -ELOOP);
	T_OK(strstr(err.text, "name the kernel behind it") != NULL);
	tg_kernelspec_release(&s);

	/* what follows `--` is for the kernel behind */
	put("behind", "args", "{\"argv\":[\"tacho\",\"kernel\",\"--\",\"--spec\",\"/nowhere\"]}");
	T_EQ_I(tg_kernelspec_find(&s, "args", NULL, &err), -ELOOP);
	tg_kernelspec_release(&s);
}

/* Where there is no spec "python3", ipykernel is it, as in jupyter_client. */
static void test_native(void)
{
	struct tg_kernelspec s;
	struct tg_err err = { 0 };
	char **argv;

	if (!access("/usr/share/jupyter/kernels/python3", F_OK) ||
		!access("/usr/local/share/jupyter/kernels/python3", F_OK)) {
		T_SKIP("native python3", "this system has a kernelspec of that name");
		return;
	}
	T_EQ_I(tg_kernelspec_find(&s, "python3", NULL, &err), 0);
	argv = tg_kernelspec_command(&s, "/c.json", NULL, "/venv/bin/python", NULL);
	T_EQ_S(argv[0], "/venv/bin/python");
	T_EQ_S(argv[2], "ipykernel_launcher");
	T_EQ_S(argv[4], "/c.json");
	T_OK(!argv[5]);
	tg_strv_free(argv);
	tg_kernelspec_release(&s);
}

static void test_command(void)
{
	static const char text[] =
		"{\"argv\":[\"python3.11\",\"-f\",\"{connection_file}\",\"a{resource_dir}b\","
		"\"{prefix}/x\",\"{other}\"],\"interrupt_mode\":\"message\","
		"\"env\":{\"A\":\"1\",\"P\":\"/x:${PATH}\",\"Q\":\"$HOMEX$$${nope}\",\"N\":7}}";
	char *const base[] = { (char[]){ "PATH=/bin" }, (char[]){ "A=0" }, (char[]){ "HOMEX=h" },
		NULL };
	struct tg_kernelspec s;
	struct tg_err err = { 0 };
	/* filled in already, and of any bytes */
	char *const more[] = { (char[]){ "--" }, (char[]){ "" }, (char[]){ "{prefix} \xff\n" },
		NULL };
	char **argv, **env;

	T_EQ_I(tg_kernelspec_parse(&s, "/d/name", text, sizeof(text) - 1, &err), 0);
	T_OK(s.interrupt_by_message);
	T_EQ_S(s.name, "name");
	argv = tg_kernelspec_command(&s, "/c.json", "/pre", "py", more);
	T_EQ_S(argv[0], "py");
	T_EQ_S(argv[2], "/c.json");
	T_EQ_S(argv[3], "a/d/nameb");
	T_EQ_S(argv[4], "/pre/x");
	T_EQ_S(argv[5], "{other}");
	for (size_t i = 0; more[i]; i++)
		T_EQ_S(argv[6 + i], more[i]);
	T_OK(!argv[9]);
	tg_strv_free(argv);

	env = tg_kernelspec_environ(&s, base, 2);
	tg_environ_set(env, "NEW", "x");
	tg_environ_set(env, "HOMEX", NULL);
	T_EQ_S(env[0], "PATH=/bin");
	T_EQ_S(env[1], "A=1");
	T_EQ_S(env[2], "P=/x:/bin");
	T_EQ_S(env[3], "Q=h$${nope}");
	T_EQ_S(env[4], "N=");
	T_EQ_S(env[5], "NEW=x");
	T_OK(!env[6]);
	tg_strv_free(env);
	tg_kernelspec_release(&s);
}

static void test_bad(void)
{
	static const char *const bad[] = { "[]", "{}", "{\"argv\":[]}", "{\"argv\":[1]}",
		"{\"argv\":\"x\"}", "nonsense" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(bad); i++) {
		struct tg_kernelspec s;
		struct tg_err err = { 0 };

		T_EQ_I(tg_kernelspec_parse(&s, "/d", bad[i], strlen(bad[i]), &err), -EBADMSG);
		T_OK(err.text[0] != '\0');
		tg_kernelspec_release(&s);
	}
}

int main(void)
{
	T_OK(mkdtemp(root) != NULL);
	test_order();
	test_behind();
	test_native();
	test_command();
	test_bad();
	return t_done();
}
