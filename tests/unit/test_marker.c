/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks that a recorder did not take before it died are told to the user once, and noted in the
 * recording by the one that takes its place. The recorders are this program: the first is deaf and
 * ends when it is told to, the second writes down what it gets.
 */
#include "tap.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/tidy.h"
#include "jupyter/marker.h"
#include "mark/protocol.h"

#include "base/mem.h"

#define PLACE "TG_TEST_PLACE"

static char root[] = "/tmp/tg-test-XXXXXX";

static char *path_of(const char *name)
{
	struct tg_buf path = TG_BUF_INIT;

	tg_buf_addf(&path, "%s/%s", getenv(PLACE), name);
	return tg_buf_detach(&path);
}

static bool is_there(const char *name)
{
	char *path = path_of(name);
	bool is = !access(path, F_OK);

	free(path);
	return is;
}

static void make(const char *name)
{
	char *path = path_of(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	T_OK(fd >= 0);
	close(fd);
	free(path);
}

static void await(const char *name)
{
	for (int i = 0; i < 6000 && !is_there(name); i++)
		usleep(10000);
}

static int be_recorder(void)
{
	char *data = tg_xmalloc(TG_MARK_DATAGRAM_MAX), *path = path_of("heard");
	ssize_t n;
	int fd;

	if (!is_there("go")) {
		make("deaf");
		await("go");
		free(data);
		free(path);
		return 0;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	fcntl(3, F_SETFL, fcntl(3, F_GETFL) & ~O_NONBLOCK);
	while ((n = recv(3, data, TG_MARK_DATAGRAM_MAX, 0)) > 0)
		if (write(fd, data, (size_t)n) != n || write(fd, "\n", 1) != 1)
			return 1;
	close(fd);
	make("done");
	free(data);
	free(path);
	return 0;
}

static int count(const char *text, const char *what)
{
	int n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

static void test_lost(void)
{
	struct tg_request cell = { .code = TG_BUF_INIT, .subshell = TG_BUF_INIT };
	struct tg_requests requests = { .first = &cell, .last = &cell, .n = 1 };
	struct tg_settings settings = { 0 };
	struct tg_buf why = TG_BUF_INIT;
	struct tg_json *answer;
	struct tg_marker m;
	struct tg_buf heard = TG_BUF_INIT;
	char *path = path_of("heard");

	tg_settings_start(&settings, NULL, &why);
	tg_marker_start(&m, &requests, &settings, "0123456789abcdef", "test");
	T_EQ_S(m.warning.data, "");
	tg_marker_run(&m, getpid(), "python3");
	cell.begun = true;
	cell.begin_ns = cell.end_ns = tg_mono_ns();
	cell.span = 1;
	cell.count = 1;
	cell.status = "ok";
	tg_marker_begin(&m, &cell);
	for (int i = 0; i < 100000 && !tg_marker_waits(&m); i++)
		tg_marker_end(&m, &cell);
	tg_marker_end(&m, &cell);
	T_OK(tg_marker_waits(&m));
	T_EQ_S(m.warning.data, ""); /* the two that wait may find room */

	await("deaf");
	make("go");
	poll(&(struct pollfd){ .fd = tg_marker_fd(&m), .events = POLLIN }, 1, 60000);
	T_EQ_I(tg_marker_answer(&m, &answer), 0);
	T_EQ_I(tg_marker_fd(&m), -1);
	T_EQ_I(count(m.warning.data, "some cells are missing from the recording\n"), 1);
	for (int i = 0; i < 6000 && tg_marker_fd(&m) < 0; i++) {
		usleep(10000);
		tg_marker_tick(&m);
	}
	T_OK(tg_marker_fd(&m) >= 0);
	tg_marker_end(&m, &cell);
	T_EQ_I(count(m.warning.data, "\n"), 1);
	tg_marker_release(&m);
	await("done");
	T_EQ_I(tg_file_read(AT_FDCWD, path, 1u << 20, &heard, NULL), 0);
	T_EQ_I(count(heard.data, "2 marks are lost: the recorder before ended without them"), 1);
	T_EQ_I(count(heard.data, "\"kind\":\"run\""), 1);
	T_EQ_I(count(heard.data, "\"kind\":\"cell\""), 1);
	T_EQ_I(count(heard.data, "\"op\":\"end\""), 1);
	tg_buf_release(&heard);
	free(path);
	tg_buf_release(&why);
}

int main(int argc, char **argv)
{
	char *runtime;

	if (argc > 1 && !strcmp(argv[1], "recorder"))
		return be_recorder();
	T_OK(mkdtemp(root) != NULL);
	setenv(PLACE, root, 1);
	setenv("TACHOGRAPH_RUNTIME_DIR", root, 1);
	setenv("TACHOGRAPH_DIR", root, 1);
	unsetenv("_TACHOGRAPH_RUNTIME");
	test_lost();
	runtime = path_of("tachograph");
	tg_tidy_remove_folder(AT_FDCWD, runtime);
	tg_tidy_remove_folder(AT_FDCWD, root);
	free(runtime);
	return t_done();
}
