/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What words write to: never onto a recording, never half a file in place of a whole one, and no
 * success where nothing could be written.
 */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "command/command.h"

#include "base/mem.h"

static void on_text(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	(void)text;
	(void)len;
}

static void on_note(void *ctx, const char *sentence)
{
	tg_buf_addf(ctx, "%s\n", sentence);
}

static void on_show(void *ctx, const struct tg_display *display)
{
	(void)ctx;
	(void)display;
}

static void on_set(void *ctx, const char *key, const char *json)
{
	(void)ctx;
	(void)key;
	(void)json;
}

/* Run a line of words, cut at blanks; in a notebook the recording `own` is the kernel's. */
static int run(const char *line, const char *own, struct tg_err *err, struct tg_buf *note)
{
	struct tg_command command = { .where = own ? TG_IN_NOTEBOOK : TG_IN_CLI,
		.cwd = run_dir(),
		.file = own,
		.run = -1,
		.out = { note, on_text, on_note, on_show, on_set } };
	char *copy = tg_xstrdup(line), *save = NULL, *argv[16];
	int argc = 0, rc;

	for (char *s = strtok_r(copy, " ", &save); s && argc < 16; s = strtok_r(NULL, " ", &save))
		argv[argc++] = s;
	rc = tg_word_run(tg_word_find(argv[0], command.where), &command, argc, argv);
	*err = command.err;
	free(copy);
	return rc;
}

static void wants(const char *line, const char *own, int result, const char *sentence)
{
	struct tg_buf note = TG_BUF_INIT;
	struct tg_err err;

	T_EQ_I(run(line, own, &err, &note), result);
	T_EQ_S(err.text, sentence);
	tg_buf_release(&note);
}

static struct tg_buf slurp(const char *name)
{
	struct tg_buf b = TG_BUF_INIT;

	T_EQ_I(tg_file_read(AT_FDCWD, run_path(name), 1 << 20, &b, NULL), 0);
	return b;
}

static void spew(const char *name, const char *text)
{
	int fd = open(run_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	T_OK(fd >= 0 && tg_file_write_all(fd, text, strlen(text)) == 0);
	close(fd);
}

static void test_onto_itself(void)
{
	struct tg_buf before = slurp("run.tacho"), after;

	T_EQ_I(symlink("run.tacho", run_path("soft.svg")), 0);
	T_EQ_I(link(run_path("run.tacho"), run_path("hard.csv")), 0);
	wants("export run.tacho -o run.tacho --format csv", NULL, TG_WORD_FAILED,
		"run.tacho is the recording itself: choose another name");
	wants("export run.tacho -o hard.csv", NULL, TG_WORD_FAILED,
		"hard.csv is the recording itself: choose another name");
	wants("chart run.tacho -o soft.svg", NULL, TG_WORD_FAILED,
		"soft.svg is the recording itself: choose another name");
	wants("export -f csv -o ./run.tacho", run_path("run.tacho"), TG_WORD_FAILED,
		"./run.tacho is the recording itself: choose another name");
	run_write(run_path("other.tacho"),
		0); /* another is read; the kernel's own still is not to go */
	wants("export other.tacho -f csv -o run.tacho", run_path("run.tacho"), TG_WORD_FAILED,
		"run.tacho is the recording itself: choose another name");
	after = slurp("run.tacho");
	T_OK(before.len == after.len && !memcmp(before.data, after.data, after.len));
	unlink(run_path("other.tacho"));
	unlink(run_path("soft.svg"));
	unlink(run_path("hard.csv"));
	tg_buf_release(&before);
	tg_buf_release(&after);
}

static mode_t mode_of(const char *name)
{
	struct stat st = { 0 };

	T_EQ_I(lstat(run_path(name), &st), 0);
	return st.st_mode;
}

/* A file keeps its mode, a link stays a link, a new file gets what the umask leaves. */
static void test_replaces(void)
{
	mode_t mask = umask(027);
	struct tg_buf got;

	spew("old.csv", "old");
	T_EQ_I(chmod(run_path("old.csv"), 0604), 0);
	T_EQ_I(symlink("old.csv", run_path("link.csv")), 0);
	wants("export run.tacho -o link.csv", NULL, TG_WORD_OK, "");
	wants("export run.tacho -o new.csv", NULL, TG_WORD_OK, "");
	T_OK(S_ISLNK(mode_of("link.csv")));
	T_EQ_I(mode_of("old.csv") & 0777, 0604);
	T_EQ_I(mode_of("new.csv") & 0777, 0640);
	got = slurp("old.csv");
	T_OK(!strncmp(got.data, "time", 4));
	tg_buf_release(&got);
	unlink(run_path("old.csv"));
	unlink(run_path("link.csv"));
	unlink(run_path("new.csv"));
	umask(mask);
}

/* Run a line of shell in the folder of this run, with $T the executable; its output in `out`. */
static int sh(const char *line, struct tg_buf *out)
{
	struct tg_buf all = TG_BUF_INIT;
	char part[4096];
	size_t n;
	FILE *f;
	int status;

	tg_buf_clear(out);
	tg_buf_addf(&all, "cd %s && T=%s && { %s; } 2>&1", run_dir(), getenv("TG_EXE"), line);
	f = popen(all.data, "r");
	while (f && (n = fread(part, 1, sizeof(part), f)) > 0)
		tg_buf_add(out, part, n);
	status = f ? pclose(f) : -1;
	tg_buf_release(&all);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* No room: the old file is as it was, and nothing is left beside it. */
static void test_no_room(void)
{
	struct tg_buf out = TG_BUF_INIT, got;

	spew("old.csv", "old");
	T_EQ_I(sh("trap '' XFSZ; ulimit -f 1; $T export run.tacho -o old.csv", &out), 1);
	T_OK(strstr(out.data, "File too large") != NULL);
	got = slurp("old.csv");
	T_EQ_S(got.data, "old");
	tg_buf_release(&got);
	unlink(run_path("old.csv"));
	T_EQ_I(sh("ls -A", &out), 0);
	T_EQ_S(out.data, "run.tacho\n");
	/* pipes are written as they are */
	T_EQ_I(sh("$T export run.tacho -o /dev/stdout --format csv | head -c 4", &out), 0);
	T_EQ_S(out.data, "time");
	tg_buf_release(&out);
}

/* A word that is none is told once, and the roles that a command starts are silent. */
static void test_log_level(void)
{
	struct tg_buf out = TG_BUF_INIT;

	T_EQ_I(sh("TACHOGRAPH_LOG=loud $T help 2>&1 >/dev/null", &out), 0);
	T_EQ_S(out.data,
		"tachograph warn cli: TACHOGRAPH_LOG is none of error, warn, info and debug; "
		"it is ignored\n");
	T_EQ_I(sh("TACHOGRAPH_LOG= $T help 2>&1 >/dev/null", &out), 0);
	T_EQ_S(out.data, "");
	T_EQ_I(sh("TACHOGRAPH_LOG=loud $T worker --nonsense 2>&1 | grep -c LOG", &out), 1);
	T_EQ_S(out.data, "0\n");
	tg_buf_release(&out);
}

/* A full disk behind stdout is told, however much was written before it showed. */
static void test_full_output(void)
{
	static const char *const words[] = { "export run.tacho -o -", "show run.tacho",
		"show run.tacho --json", "list", "help", "show --help", "--help", "--version",
		"kernel --help" };
	struct tg_buf line = TG_BUF_INIT, out = TG_BUF_INIT;

	for (size_t i = 0; i < TG_ARRAY_SIZE(words); i++) {
		tg_buf_clear(&line);
		tg_buf_addf(&line, "$T %s > /dev/full", words[i]);
		if (!T_EQ_I(sh(line.data, &out), 1))
			fprintf(stderr, "# %s\n", words[i]);
		T_EQ_S(out.data, "tachograph: cannot write: No space left on device\n");
	}
	T_EQ_I(sh("$T --version >&-", &out), 1);
	T_EQ_S(out.data, "tachograph: cannot write: Bad file descriptor\n");
	T_EQ_I(sh("$T chart run.tacho -o x.svg >&- && rm x.svg", &out), 0);
	T_EQ_S(out.data, "");
	tg_buf_release(&line);
	tg_buf_release(&out);
}

int main(void)
{
	run_write(run_path("run.tacho"), 0);
	test_onto_itself();
	test_replaces();
	if (getenv("TG_EXE")) {
		test_no_room();
		test_log_level();
		test_full_output();
	}
	unlink(run_path("run.tacho"));
	T_EQ_I(rmdir(run_dir()), 0);
	return t_done();
}
