/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The private folder of the user's own kernel: nobody tidies it while the kernel runs, also when it
 * had to be made again; where it cannot be made, the reason is told and nothing is left behind.
 */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include "base/clock.h"
#include "base/tidy.h"
#include "jupyter/inner.h"

#include "base/mem.h"

#define ID "0123456789abcdef"

static char root[] = "/tmp/tg-test-XXXXXX";

static void test_folder(struct tg_inner_start *start, const char *runtime)
{
	struct tg_buf folder = TG_BUF_INIT;
	struct tg_err err = { 0 };
	struct tg_inner in;

	T_EQ_I(tg_inner_start(&in, start, &err), 0);
	T_EQ_S(err.text, "");
	tg_buf_addf(&folder, "%s/k-" ID, runtime);
	T_EQ_S(in.dir.data, folder.data);
	T_EQ_I(tg_tidy_runtime(runtime), 0);
	T_EQ_I(tg_inner_folder(&in), 0);
	T_EQ_I(tg_tidy_lock_folder(AT_FDCWD, folder.data), -EWOULDBLOCK);

	/* with all that is around it */
	tg_tidy_remove_folder(AT_FDCWD, folder.data);
	T_EQ_I(rmdir(runtime), 0);
	T_EQ_I(tg_inner_folder(&in), 0);
	T_EQ_I(access(folder.data, F_OK), 0);
	T_EQ_I(tg_tidy_runtime(runtime), 0);
	T_EQ_I(tg_tidy_lock_folder(AT_FDCWD, folder.data), -EWOULDBLOCK);

	kill(in.pid, SIGKILL);
	tg_inner_reap(&in);
	tg_inner_close(&in);
	T_EQ_I(access(folder.data, F_OK), -1);
	tg_buf_release(&folder);
}

/* A kernel that makes not all of its sockets, or not in time, is not waited for for ever. */
static void test_no_sockets(struct tg_inner_start *start)
{
	struct tg_inner in;

	T_EQ_I(tg_inner_start(&in, start, NULL), 0);
	T_OK(in.conn.ipc && !tg_inner_connect(&in));
	in.started_ns -= 59 * TG_NS_PER_S;
	T_OK(!tg_inner_connect(&in));
	in.started_ns -= 2 * TG_NS_PER_S;
	T_OK(tg_inner_connect(&in) && in.connected);
	kill(in.pid, SIGKILL);
	tg_inner_reap(&in);
	tg_inner_close(&in);
}

/* One that was removed, and made again by somebody else, is not ours to remove. */
static void test_folder_of_another(struct tg_inner_start *start)
{
	struct tg_err err = { 0 };
	struct tg_buf folder = TG_BUF_INIT;
	struct tg_inner in;
	int fd;

	T_EQ_I(tg_inner_start(&in, start, &err), 0);
	tg_buf_adds(&folder, in.dir.data);
	tg_tidy_remove_folder(AT_FDCWD, folder.data);
	T_EQ_I(mkdir(folder.data, 0700), 0);
	fd = tg_tidy_lock_folder(AT_FDCWD, folder.data);
	T_OK(fd >= 0);
	kill(in.pid, SIGKILL);
	tg_inner_reap(&in);
	tg_inner_close(&in);
	T_EQ_I(rmdir(folder.data), 0);
	close(fd);
	tg_buf_release(&folder);
}

/* A folder can be made and not be opened: no descriptor is left. */
static void test_reason(struct tg_inner_start *start, const char *runtime)
{
	struct tg_buf want = TG_BUF_INIT;
	struct tg_err err = { 0 };
	struct rlimit before, none;
	struct tg_inner in;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	T_EQ_I(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)fd;
	close(fd);
	T_EQ_I(setrlimit(RLIMIT_NOFILE, &none), 0);
	T_EQ_I(tg_inner_start(&in, start, &err), -EMFILE);
	tg_inner_close(&in);
	T_EQ_I(setrlimit(RLIMIT_NOFILE, &before), 0);
	tg_buf_addf(&want, "%s/k-" ID ": %s", runtime, strerror(EMFILE));
	T_EQ_S(err.text, want.data);
	T_EQ_I(rmdir(runtime), 0); /* it is empty */
	tg_buf_release(&want);
}

int main(void)
{
	static const char spec_text[] =
		"{\"argv\":[\"sleep\",\"600\"],\"display_name\":\"x\",\"language\":\"x\"}";
	struct tg_buf runtime = TG_BUF_INIT, file = TG_BUF_INIT;
	struct tg_conn outer = { .key = (char[]){ "key" }, .others = TG_BUF_INIT };
	struct tg_inner_start start = {
		.outer = &outer, .id = ID, .prefix = "/usr", .python = "python3"
	};
	struct tg_signals signals;
	struct tg_kernelspec spec;

	T_OK(mkdtemp(root) != NULL);
	setenv("TACHOGRAPH_RUNTIME_DIR", root, 1);
	unsetenv("_TACHOGRAPH_RUNTIME");
	tg_buf_addf(&runtime, "%s/tachograph", root);
	tg_buf_addf(&file, "%s/kernel-1.json", root);
	T_EQ_I(tg_kernelspec_parse(&spec, root, spec_text, strlen(spec_text), NULL), 0);
	T_EQ_I(tg_signals_open(&signals, false), 0);
	start.outer_file = file.data;
	start.spec = &spec;
	start.signals = &signals;
	start.context = zmq_ctx_new();
	test_folder(&start, runtime.data);
	test_folder_of_another(&start);
	test_no_sockets(&start);
	test_reason(&start, runtime.data);
	zmq_ctx_term(start.context);
	tg_signals_close(&signals);
	tg_kernelspec_release(&spec);
	tg_buf_release(&runtime);
	tg_buf_release(&file);
	T_EQ_I(rmdir(root), 0);
	return t_done();
}
