/* SPDX-License-Identifier: BSD-3-Clause */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "record/writer.h"
#include "recorder/lock.h"
#include "recorder/prune.h"

#define NOW 1700000000

static char dir[] = "/tmp/tg-prune-XXXXXX";

static void path_of(struct tg_buf *out, const char *name)
{
	tg_buf_clear(out);
	tg_buf_addf(out, "%s/%s", dir, name);
}

/* A recording last touched `age_s` before NOW, finished or as a killed recorder leaves it. */
static void made_by(const char *what, const char *name, int age_s, bool finished)
{
	struct timespec t[2] = { { .tv_sec = NOW - age_s }, { .tv_sec = NOW - age_s } };
	struct tg_buf path = TG_BUF_INIT, json = TG_BUF_INIT;
	struct tg_writer *w;

	path_of(&path, name);
	tg_buf_addf(&json, "{\"host\":\"h\",\"boot_id\":\"b\",\"what\":\"%s\"}", what);
	T_EQ_I(tg_writer_open(&w, path.data, json.data, NULL), 0);
	tg_buf_release(&json);
	if (finished)
		tg_writer_finish(w);
	else
		tg_writer_abandon(w);
	utimensat(AT_FDCWD, path.data, t, 0);
	tg_buf_release(&path);
}

static void recording(const char *name, int age_s, bool finished)
{
	made_by("kernel", name, age_s, finished);
}

static bool there(const char *name)
{
	struct tg_buf path = TG_BUF_INIT;
	bool yes;

	path_of(&path, name);
	yes = access(path.data, F_OK) == 0;
	tg_buf_release(&path);
	return yes;
}

static void drop(const char *name)
{
	struct tg_buf path = TG_BUF_INIT;

	path_of(&path, name);
	unlink(path.data);
	tg_buf_release(&path);
}

/* A recorder that slept for two days and goes on: its file has no end and is old. */
static void test_asleep(void)
{
	struct tg_buf path = TG_BUF_INIT, name = TG_BUF_INIT;
	int lock;

	recording("asleep.tacho", 2 * 24 * 3600, false);
	path_of(&path, "asleep.tacho");
	T_EQ_I(tg_lock_name(&name, path.data, NULL), 0);
	lock = tg_lock_take(name.data, NULL);
	T_OK(lock >= 0);
	T_EQ_I(tg_prune(dir, NULL, 0, 0, NOW), 0);
	T_OK(there("asleep.tacho"));
	tg_lock_drop(name.data, lock);
	T_EQ_I(tg_prune(dir, NULL, 0, 0, NOW), 1);
	T_OK(!there("asleep.tacho"));
	T_OK(access(name.data, F_OK) < 0); /* and no lock is left behind */
	tg_buf_release(&path);
	tg_buf_release(&name);
}

int main(void)
{
	char runtime[] = "/tmp/tg-prune-run-XXXXXX";
	struct tg_buf path = TG_BUF_INIT;
	int64_t one;
	struct stat st;

	T_OK(mkdtemp(dir) != NULL && mkdtemp(runtime) != NULL);
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	test_asleep();
	T_EQ_I(tg_prune("/nonexistent", NULL, 1, 1, NOW), -ENOENT);
	T_EQ_I(tg_prune(dir, NULL, 0, 0, NOW), 0);

	recording("a.tacho", 500, true);
	recording("b.tacho", 400, false); /* may still be written */
	recording("c.tacho", 2 * 24 * 3600, false);
	recording("d.tacho", 300, true);
	recording("e.tacho", 200, true);
	recording("notes.txt", 900, true);
	made_by("record", "job.tacho", 900, true); /* somebody's pipeline */
	path_of(&path, "text.tacho");
	T_EQ_I(close(open(path.data, O_WRONLY | O_CREAT, 0600)), 0);
	path_of(&path, "link.tacho");
	T_EQ_I(symlink("/etc/passwd", path.data), 0);

	/* three may go: what is another's, cannot be read or is in use does not count */
	T_EQ_I(tg_prune(dir, "e.tacho", 3, INT64_MAX, NOW), 0);
	path_of(&path, "a.tacho");
	T_EQ_I(stat(path.data, &st), 0);
	T_EQ_I(tg_prune(dir, "e.tacho", 20, 3 * st.st_size, NOW), 0);
	T_EQ_I(tg_prune(dir, "e.tacho", 1, INT64_MAX, NOW), 2);
	T_OK(!there("c.tacho") && !there("a.tacho")); /* the oldest two that are over */
	T_OK(there("d.tacho"));
	T_EQ_I(tg_prune(dir, "e.tacho", 0, INT64_MAX, NOW), 1);
	T_OK(there("b.tacho") && !there("d.tacho") && there("e.tacho"));
	T_OK(there("notes.txt") && there("job.tacho") && there("text.tacho") &&
		access("/etc/passwd", F_OK) == 0);
	path_of(&path, "link.tacho");
	T_OK(lstat(path.data, &st) == 0);

	/* bytes: enough for one, so that the older of two finished ones goes */
	drop("b.tacho");
	drop("job.tacho");
	drop("text.tacho");
	recording("f.tacho", 100, true);
	path_of(&path, "f.tacho");
	T_EQ_I(stat(path.data, &st), 0);
	one = st.st_size;
	T_EQ_I(tg_prune(dir, NULL, 20, one, NOW), 1);
	T_OK(!there("e.tacho") && there("f.tacho"));

	unsetenv("TACHOGRAPH_KEEP");
	T_EQ_I(tg_prune_keep(), TG_PRUNE_FILES);
	setenv("TACHOGRAPH_KEEP", "3", 1);
	T_EQ_I(tg_prune_keep(), 3);
	setenv("TACHOGRAPH_KEEP", "0", 1);
	T_OK(tg_prune_keep() == SIZE_MAX);
	setenv("TACHOGRAPH_KEEP", "many", 1);
	T_EQ_I(tg_prune_keep(), TG_PRUNE_FILES);

	drop("f.tacho");
	drop("notes.txt");
	drop("link.tacho");
	T_EQ_I(rmdir(dir), 0);
	tg_buf_clear(&path);
	tg_buf_addf(&path, "%s/tachograph", runtime);
	T_OK(rmdir(path.data) == 0 && rmdir(runtime) == 0);
	tg_buf_release(&path);
	return t_done();
}
