/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/kernelspec.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

#include "base/mem.h"

void tg_kernelspec_release(struct tg_kernelspec *s)
{
	free(s->name);
	free(s->dir);
	tg_strv_free(s->argv);
	tg_strv_free(s->env);
	*s = (struct tg_kernelspec){ 0 };
}

static int take_argv(struct tg_kernelspec *s, const struct tg_json *argv, struct tg_err *err)
{
	size_t n = tg_json_len(argv);

	if (!n || n > TG_KERNELSPEC_ARGS_MAX)
		return tg_err_set(err, -EBADMSG, "\"argv\" is not a list of 1 to %d texts",
			TG_KERNELSPEC_ARGS_MAX);
	s->argv = tg_xcalloc(n + 1, sizeof(*s->argv));
	for (size_t i = 0; i < n; i++) {
		const char *arg = tg_json_str(tg_json_at(argv, i), NULL);

		if (!arg)
			return tg_err_set(err, -EBADMSG, "\"argv\" holds something but texts");
		s->argv[s->n_argv++] = tg_xstrdup(arg);
	}
	return 0;
}

static void take_env(struct tg_kernelspec *s, const struct tg_json *env)
{
	size_t n = 0;

	for (const char *k = NULL; (k = tg_json_next_key(env, k));)
		n++;
	n = TG_MIN(n, (size_t)TG_KERNELSPEC_ARGS_MAX);
	s->env = tg_xcalloc(2 * n + 1, sizeof(*s->env));
	for (const char *k = NULL; s->n_env < n && (k = tg_json_next_key(env, k));) {
		s->env[2 * s->n_env] = tg_xstrdup(k);
		s->env[2 * s->n_env + 1] = tg_xstrdup(tg_json_str(tg_json_get(env, k), ""));
		s->n_env++;
	}
}

/* `install --in-place` keeps the spec of kernels/python3 in kernels/python3/inner: it is python3.
 */
static char *name_of(const char *dir)
{
	const char *base = strrchr(dir, '/'), *above = base;
	char *name;

	if (!base)
		return tg_xstrdup(dir);
	while (above > dir && above[-1] != '/')
		above--;
	if (strcmp(base, "/inner") || above == base || !strncmp(above, "kernels/", 8))
		return tg_xstrdup(base + 1);
	name = tg_xstrdup(above);
	name[base - above] = '\0';
	return name;
}

/* {"argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
    "display_name": "Python 3", "language": "python", "interrupt_mode": "signal"} */
int tg_kernelspec_parse(
	struct tg_kernelspec *s, const char *dir, const char *data, size_t len, struct tg_err *err)
{
	struct tg_json *root = tg_json_parse(data, len, err);
	int ret;

	*s = (struct tg_kernelspec){ .dir = tg_xstrdup(dir), .name = name_of(dir) };
	if (!root)
		return -EBADMSG;
	ret = take_argv(s, tg_json_get(root, "argv"), err);
	if (!ret) {
		take_env(s, tg_json_get(root, "env"));
		s->interrupt_by_message = !strcmp(
			tg_json_str(tg_json_get(root, "interrupt_mode"), "signal"), "message");
	}
	tg_json_free(root);
	return ret;
}

static int read_one(struct tg_kernelspec *s, const char *dir, struct tg_err *err)
{
	struct tg_buf path = TG_BUF_INIT, text = TG_BUF_INIT, name = TG_BUF_INIT;
	int ret;

	*s = (struct tg_kernelspec){ 0 };
	tg_buf_adds(&name, dir);
	while (name.len > 1 && name.data[name.len - 1] == '/')
		name.data[--name.len] = '\0';
	tg_buf_addf(&path, "%s/kernel.json", name.data);
	ret = tg_file_read(AT_FDCWD, path.data, TG_KERNELSPEC_FILE_MAX, &text, err);
	if (!ret) {
		ret = tg_kernelspec_parse(s, name.data, text.data, text.len, err);
		if (ret)
			tg_err_prefix(err, path.data);
	}
	tg_buf_release(&path);
	tg_buf_release(&text);
	tg_buf_release(&name);
	return ret;
}

/* ["/venv/bin/tachograph", "kernel", "-f", "{connection_file}", "--spec", "/…/kernels/python3"] or
   ["python", "-m", "tachograph", "kernel", …] */
static bool is_ours(const struct tg_kernelspec *s)
{
	const char *base = strrchr(s->argv[0], '/');

	base = base ? base + 1 : s->argv[0];
	if (s->n_argv > 1 && !strcmp(s->argv[1], "kernel"))
		return !strcmp(base, "tachograph") || !strcmp(base, "tacho");
	return s->n_argv > 3 && !strcmp(s->argv[1], "-m") && !strcmp(s->argv[2], "tachograph") &&
	       !strcmp(s->argv[3], "kernel");
}

/* The folder of the kernel behind one of ours, which the caller frees; NULL: none is named. */
static char *behind(const struct tg_kernelspec *ours)
{
	for (size_t i = 2; i + 1 < ours->n_argv && strcmp(ours->argv[i], "--") != 0; i++)
		if (!strcmp(ours->argv[i], "--spec"))
			return tg_xstrdup(ours->argv[i + 1]);
	return NULL;
}

/* `depth` more may follow, each behind the one before. */
static int follow(struct tg_kernelspec *s, const char *dir, int depth, struct tg_err *err)
{
	int ret = read_one(s, dir, err);
	char *next;

	if (ret || !is_ours(s))
		return ret;
	next = depth > 0 ? behind(s) : NULL;
	if (!next)
		return tg_err_set(err, -ELOOP,
			"%s is a kernel of tachograph itself: name the kernel behind it", s->dir);
	tg_kernelspec_release(s);
	ret = follow(s, next, depth - 1, err);
	free(next);
	return ret;
}

int tg_kernelspec_read(struct tg_kernelspec *s, const char *dir, struct tg_err *err)
{
	return follow(s, dir, TG_KERNELSPEC_DEPTH_MAX, err);
}

/* Where Jupyter looks, in its order, as "folder:folder:…" (jupyter_core.paths.jupyter_path). */
static void search_path(const char *prefix, struct tg_buf *out)
{
	const char *path = getenv("JUPYTER_PATH"), *data = getenv("JUPYTER_DATA_DIR"),
		   *xdg = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (path && *path)
		tg_buf_addf(out, "%s:", path);
	/* the environment goes before the user's folder, as Jupyter has it within one */
	if (prefix)
		tg_buf_addf(out, "%s/share/jupyter:", prefix);
	if (data && *data)
		tg_buf_addf(out, "%s:", data);
	else if (xdg && *xdg)
		tg_buf_addf(out, "%s/jupyter:", xdg);
	else if (home && *home)
		tg_buf_addf(out, "%s/.local/share/jupyter:", home);
	tg_buf_adds(out, "/usr/local/share/jupyter:/usr/share/jupyter");
}

static bool is_name(const char *s)
{
	for (size_t i = 0; s[i]; i++)
		if (!(s[i] >= '0' && s[i] <= '9') && !((s[i] | 32) >= 'a' && (s[i] | 32) <= 'z') &&
			!strchr("-_.", s[i]))
			return false;
	return *s && *s != '.';
}

int tg_kernelspec_find(
	struct tg_kernelspec *s, const char *name, const char *prefix, struct tg_err *err)
{
	static const char native[] = "{\"argv\":[\"python3\",\"-m\",\"ipykernel_launcher\",\"-f\","
				     "\"{connection_file}\"]}";
	struct tg_buf path = TG_BUF_INIT, dir = TG_BUF_INIT;
	int ret = -ENOENT;

	*s = (struct tg_kernelspec){ 0 };
	if (!is_name(name))
		return tg_err_set(err, -EINVAL, "\"%.60s\" is not a name of a kernel", name);
	search_path(prefix, &path);
	for (char *at = path.data, *end; ret == -ENOENT && at; at = end) {
		end = strchr(at, ':');
		if (end)
			*end++ = '\0';
		if (!*at)
			continue;
		tg_buf_clear(&dir);
		tg_buf_addf(&dir, "%s/kernels/%s/kernel.json", at, name);
		if (access(dir.data, F_OK))
			continue;
		tg_buf_splice(
			&dir, dir.len - strlen("/kernel.json"), strlen("/kernel.json"), NULL, 0);
		ret = tg_kernelspec_read(s, dir.data, err);
	}
	if (ret == -ENOENT && !strcmp(name, "python3")) {
		ret = tg_kernelspec_parse(s, "", native, sizeof(native) - 1, err);
		free(s->name);
		s->name = tg_xstrdup(name);
	} else if (ret == -ENOENT) {
		tg_err_set(err, ret,
			"there is no kernel named \"%.60s\"; `jupyter kernelspec list` "
			"shows those there are",
			name);
	}
	tg_buf_release(&path);
	tg_buf_release(&dir);
	return ret;
}

static bool is_python(const char *s)
{
	if (strncmp(s, "python", 6))
		return false;
	s += 6;
	if (*s == '3')
		s++;
	if (*s == '.' && s[-1] == '3')
		s++;
	while (*s >= '0' && *s <= '9')
		s++;
	return !*s;
}

static void fill_in(const char *arg, const char *const *name, const char *const *value, size_t n,
	struct tg_buf *out)
{
	while (*arg) {
		size_t i;

		for (i = 0; i < n; i++)
			if (!strncmp(arg, name[i], strlen(name[i])))
				break;
		if (i < n) {
			tg_buf_adds(out, value[i]);
			arg += strlen(name[i]);
		} else {
			tg_buf_addc(out, *arg++);
		}
	}
}

char **tg_kernelspec_command(const struct tg_kernelspec *s, const char *connection_file,
	const char *prefix, const char *python, char *const *more)
{
	static const char *const name[] = { "{connection_file}", "{resource_dir}", "{prefix}" };
	const char *const value[] = { connection_file, s->dir, prefix ? prefix : "/usr" };
	size_t n_more = 0;
	char **argv;

	while (more && more[n_more])
		n_more++;
	argv = tg_xcalloc(s->n_argv + n_more + 1, sizeof(*argv));
	for (size_t i = 0; i < s->n_argv; i++) {
		struct tg_buf arg = TG_BUF_INIT;

		if (i == 0 && is_python(s->argv[0]))
			tg_buf_adds(&arg, python);
		else
			fill_in(s->argv[i], name, value, TG_ARRAY_SIZE(name), &arg);
		argv[i] = tg_buf_detach(&arg);
	}
	for (size_t i = 0; i < n_more; i++)
		argv[s->n_argv + i] = tg_xstrdup(more[i]);
	return argv;
}

static const char *lookup(char *const *env, const char *name, size_t len)
{
	for (size_t i = 0; env[i]; i++)
		if (!strncmp(env[i], name, len) && env[i][len] == '=')
			return env[i] + len + 1;
	return NULL;
}

/* "$VAR" and "${VAR}" as Python's string.Template does it; "$$" is a dollar sign. */
static void substitute(const char *s, char *const *env, struct tg_buf *out)
{
	while (*s) {
		bool braced = s[0] == '$' && s[1] == '{';
		const char *name = s + 1 + braced, *value;
		size_t len = 0;

		if (s[0] == '$' && s[1] == '$') {
			tg_buf_addc(out, '$');
			s += 2;
			continue;
		}
		while (s[0] == '$' &&
			(((name[len] | 32) >= 'a' && (name[len] | 32) <= 'z') || name[len] == '_' ||
				(len && name[len] >= '0' && name[len] <= '9')))
			len++;
		value = len && (!braced || name[len] == '}') ? lookup(env, name, len) : NULL;
		if (value) {
			tg_buf_adds(out, value);
			s = name + len + braced;
		} else {
			tg_buf_addc(out, *s++);
		}
	}
}

char **tg_kernelspec_environ(const struct tg_kernelspec *s, char *const *base, size_t spare)
{
	char **env = tg_environ_copy(base, s->n_env + spare);

	for (size_t i = 0; i < s->n_env; i++) {
		struct tg_buf value = TG_BUF_INIT;

		substitute(s->env[2 * i + 1], base, &value);
		tg_environ_set(env, s->env[2 * i], value.data);
		tg_buf_release(&value);
	}
	return env;
}
