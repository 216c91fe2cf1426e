/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a recorder as a process: started, marked, handed on, ended; its file read back. */
#include "recorder_kit.h"

/* A kernel's life: run, cells, a moment, a note, the root's end, bye. */
static void test_round_trip(void)
{
	pid_t root = sleeper();
	struct tg_mark *m = start("round", root), *other;
	struct contents c;
	char *file, *socket, *warning;
	const struct tg_json *memory;
	struct tg_json *usage = NULL;
	struct stat st;
	int64_t offset;

	begin(m, "run", "run");
	begin(m, "a", "cell");
	end(m, "a");
	begin(m, "b", "cell");
	T_EQ_I(tg_mark_moment(m, "half", tg_mono_ns(), "{\"x\":1}"), 0);
	T_EQ_I(tg_mark_note(m, "a note"), 0);
	file = hello(m, "file");
	socket = hello(m, "socket");
	warning = hello(m, "warning");
	T_OK(file && strstr(file, "/round.tacho"));
	T_OK(warning == NULL);
	offset = flush(m);
	T_EQ_I(stat(file, &st), 0);
	T_OK(offset > 0 && offset <= st.st_size);
	T_EQ_I(st.st_mode & 0777, 0600);

	/* a stage from another connection: it outlives it, and a third one ends it */
	T_EQ_I(tg_mark_connect(&other, socket, NULL), 0);
	begin(other, "s", "stage");
	tg_mark_close(other);
	T_EQ_I(tg_mark_connect(&other, socket, NULL), 0);
	end(other, "s");
	free(hello(other, "file"));
	tg_mark_close(other);

	/* a rate takes two readings: before that it is left out */
	for (int i = 0; i < 500 && !tg_json_get(usage, "kernel_cpu"); i++) {
		tg_json_free(usage);
		usleep(10000);
		T_EQ_I(tg_mark_ask_usage(m, 5), 0);
		T_EQ_I(tg_mark_wait(m, 5, WAIT_MS, &usage), 1);
	}
	T_EQ_I(tg_json_int(tg_json_get(usage, "pid"), 0), root);
	T_OK(tg_json_str(tg_json_get(usage, "hostname"), NULL) != NULL);
	T_OK(tg_json_int(tg_json_get(usage, "kernel_memory"), 0) > 0);
	T_OK(tg_json_num(tg_json_get(usage, "kernel_cpu"), -1) >= 0);
	T_OK(tg_json_int(tg_json_get(usage, "cpu_count"), 0) > 0);
	T_OK(tg_json_num(tg_json_get(usage, "limit_cores"), 0) > 0);
	memory = tg_json_get(usage, "host_virtual_memory");
	T_OK(tg_json_int(tg_json_get(memory, "total"), 0) >
		tg_json_int(tg_json_get(memory, "available"), INT64_MAX));
	tg_json_free(usage);

	stop(root);
	T_EQ_I(tg_mark_root_end(m, root, -1, SIGKILL), 0);
	begin(m, "c", "cell"); /* counted on, although the root is dead */
	T_EQ_I(tg_mark_bye(m), 0);
	wait_end(m);
	tg_mark_close(m);

	read_back(file, &c);
	T_OK(c.damage.ended);
	T_EQ_I(c.damage.tail_bytes, 0);
	T_OK(c.rows > 3);
	T_EQ_I(count(c.events.data, "\"ev\":\"begin\""), 5);
	T_EQ_I(count(c.events.data, "\"ev\":\"end\""), 5);
	T_OK(strstr(c.events.data, "\"kind\":\"cell\",\"name\":\"a\",\"index\":0,\"parent\":") !=
		NULL);
	T_OK(strstr(c.events.data, "\"name\":\"b\",\"index\":1,") != NULL);
	T_OK(strstr(c.events.data, "\"name\":\"c\",\"index\":2,") != NULL);
	T_EQ_I(count(c.events.data, "\"status\":\"died\""), 1);
	T_EQ_I(count(c.events.data, "\"status\":\"unknown\""), 2);
	T_EQ_I(count(c.events.data, "\"ev\":\"mark\""), 1);
	T_OK(strstr(c.events.data, "\"attrs\":{\"x\":1}") != NULL);
	T_EQ_I(count(c.events.data, "\"ev\":\"root\""), 1);
	T_OK(strstr(c.events.data, "\"ev\":\"root_end\"") != NULL);
	T_OK(strstr(c.events.data, "\"signal\":9,\"oom\":\"") != NULL);
	T_OK(strstr(c.events.data, "\"text\":\"Out of memory: ") != NULL);
	T_OK(strstr(c.events.data, "\"ev\":\"interval\"") != NULL);
	T_OK(strstr(c.events.data, "\"ev\":\"limit\"") != NULL);
	T_EQ_I(access(socket, F_OK), -1);
	tg_buf_release(&c.events);
	free(file);
	free(socket);
}

/* One line of /proc/PID/status, the caller frees. */
static char *status_line(pid_t pid, const char *key)
{
	struct tg_buf path = TG_BUF_INIT, text = TG_BUF_INIT;
	char *line, *end;

	tg_buf_addf(&path, "/proc/%d/status", (int)pid);
	tg_file_read(AT_FDCWD, path.data, 1u << 16, &text, NULL);
	line = strstr(text.data, key);
	end = line ? strchr(line, '\n') : NULL;
	line = end ? tg_xmemdup0(line, (size_t)(end - line)) : tg_xstrdup("");
	tg_buf_release(&path);
	tg_buf_release(&text);
	return line;
}

/* Started with everything blocked and ignored: SIGTERM finishes the file all the same. */
static void test_signals(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	sigset_t all, old;
	struct contents c;
	struct tg_mark *m;
	char *file, *socket, *line;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	sigaction(SIGTERM, &ignore, &before);
	m = start("signals", getpid());
	sigaction(SIGTERM, &before, NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	file = hello(m, "file");
	socket = hello(m, "socket");
	pid = recorder_of(socket);
	T_EQ_I(getsid(pid), getpgid(pid));
	T_OK(getsid(pid) != getsid(0));
	line = status_line(pid, "Name:");
	T_EQ_S(line, "Name:\ttacho-recorder");
	free(line);
	line = status_line(pid, "PPid:");
	T_OK(strtol(line + 5, NULL, 10) != getpid());
	free(line);
	kill(pid, SIGHUP); /* says nothing to it */
	free(hello(m, "file"));
	kill(pid, SIGTERM);
	wait_end(m);
	tg_mark_close(m);
	read_back(file, &c);
	T_OK(c.damage.ended);
	T_OK(strstr(c.events.data, "\"ev\":\"alive\"") != NULL); /* we are */
	tg_buf_release(&c.events);
	free(file);
	free(socket);
}

/* The starter is killed: it goes on while the root lives, then ends by itself. */
static void test_orphaned(void)
{
	pid_t root = sleeper(), starter;
	char *file = path_of("orphan.tacho"), *socket = path_of("tachograph/orphan.sock");
	struct tg_mark *m;
	struct contents c;

	fflush(stdout);
	starter = fork();
	if (starter == 0) {
		be_quiet();
		m = start("orphan", root);
		begin(m, "x", "cell");
		flush(m);
		raise(SIGKILL);
	}
	waitpid(starter, NULL, 0);
	usleep(1000000); /* twice as long as it would last alone */
	T_EQ_I(tg_mark_connect(&m, socket, NULL), 0);
	tg_mark_close(m);
	stop(root);
	wait_ended(file, &c);
	T_OK(strstr(c.events.data, "\"ev\":\"root_end\"") != NULL);
	/* nobody said how it died: a new kernel knows, else it is left out, never guessed */
	T_OK(!strstr(c.events.data, "\"exit\""));
	T_EQ_I(count(c.events.data, "\"signal\""), count(c.events.data, "\"signal\":9,\"oom\""));
	T_EQ_I(count(c.events.data, "\"status\":\"died\""), 1);
	tg_buf_release(&c.events);
	free(file);
	free(socket);
}

/* Stopped for two seconds: the ticks in between are counted, not made up for. */
static void test_late(void)
{
	struct tg_mark *m = start("late", getpid());
	char *file = hello(m, "file"), *socket = hello(m, "socket");
	pid_t pid = recorder_of(socket);
	int64_t stopped, missed = 0;
	struct contents before, c;
	const char *p;

	begin(m, "x", "cell");
	usleep(300000);
	flush(m);
	read_back(file, &before);
	kill(pid, SIGSTOP);
	stopped = tg_mono_ns();
	usleep(2000000);
	kill(pid, SIGCONT);
	flush(m);
	stopped = tg_mono_ns() - stopped;
	tg_mark_bye(m);
	wait_end(m);
	tg_mark_close(m);
	read_back(file, &c);
	for (p = c.events.data; (p = strstr(p, "\"ev\":\"missed\"")); p++)
		missed += strtoll(strstr(p, "\"n\":") + 4, NULL, 10);
	T_OK(missed >= 97); /* two seconds of 20 ms, less what a grid may round away */
	/* rows that were taken and ticks that were missed are together no more than there were */
	T_OK((int64_t)(c.rows - before.rows) + missed <= stopped / (20 * TG_NS_PER_MS) + 10);
	tg_buf_release(&before.events);
	tg_buf_release(&c.events);
	free(file);
	free(socket);
}

/* Wait until the file has an event with `text` in it. */
static void wait_event(struct tg_mark *m, const char *text)
{
	int64_t until = tg_mono_ns() + WAIT_MS * TG_NS_PER_MS;
	char *file = hello(m, "file");
	bool found = false;

	while (!found && tg_mono_ns() < until) {
		struct contents c;

		usleep(10000);
		flush(m);
		read_back(file, &c);
		found = strstr(c.events.data, text) != NULL;
		tg_buf_release(&c.events);
	}
	T_OK(found);
	free(file);
}

/* Spans shorter than any period, one after the other: whole rows are still taken. */
static void test_short_cells(void)
{
	struct tg_mark *m = start("short", getpid());
	char *file = hello(m, "file"), id[16];
	int64_t until = tg_mono_ns() + TG_NS_PER_S;
	struct contents c;
	int n = 0;

	for (; tg_mono_ns() < until; n++) {
		snprintf(id, sizeof(id), "c%d", n);
		begin(m, id, "cell");
		usleep(2000);
		end(m, id);
		usleep(1000);
	}
	tg_mark_bye(m);
	wait_end(m);
	tg_mark_close(m);
	read_back(file, &c);
	T_EQ_I(count(c.events.data, "\"ev\":\"end\""), n);
	T_OK(c.whole_rows >= 10); /* of 50 ticks of 20 ms, on a busy machine */
	T_OK(count(c.events.data, "\"ev\":\"interval\"") <= c.whole_rows + 1);
	tg_buf_release(&c.events);
	free(file);
}

/* The period is changed while it runs; a restarted kernel brings its new root. */
static void test_set_and_restart(void)
{
	pid_t first = sleeper(), second = sleeper();
	struct tg_mark *m = start("set", first), *again;
	struct contents c;
	char *file, *text = NULL;

	begin(m, "x", "cell");
	T_EQ_I(tg_mark_set(m, "interval_ns", 5 * TG_NS_PER_MS), 0);
	T_EQ_I(tg_mark_set(m, "idle_interval_ns", 7 * TG_NS_PER_MS), 0);
	wait_event(m, "\"ns\":5000000}"); /* said at the next tick */
	end(m, "x");
	wait_event(m, "\"ns\":7000000}");
	file = hello(m, "file");
	begin(m, "z", "cell");
	T_EQ_I(tg_mark_root_asked(m, first), 0); /* the second is not */
	stop(first);
	T_EQ_I(tg_mark_root_end(m, first, 3, 0), 0);
	again = start("set", second); /* the same name: the same recorder, another root */
	text = hello(again, "file");
	T_EQ_S(text, file);
	T_EQ_I(tg_mark_set(m, "interval_ns", 1), 0); /* refused by the other end */
	begin(again, "y", "cell");
	flush(again);
	stop(second);
	tg_mark_close(m);
	tg_mark_close(again);
	wait_ended(file, &c);
	T_EQ_I(c.n_sessions, 1);
	T_EQ_I(count(c.events.data, "\"ev\":\"root\""), 2);
	T_EQ_I(count(c.events.data, "\"ev\":\"root_end\""), 2);
	T_EQ_I(count(c.events.data, "\"exit\":3,\"asked\":true}"), 1);
	T_EQ_I(count(c.events.data, "\"asked\":"), 1);
	T_EQ_I(count(c.events.data, "\"status\":\"aborted\""), 1);
	T_EQ_I(count(c.events.data, "\"status\":\"died\""), 1);
	T_OK(strstr(c.events.data, "\"ns\":5000000}") != NULL);
	T_OK(strstr(c.events.data, "\"ns\":7000000}") != NULL);
	T_EQ_I(count(c.events.data, "\"ns\":1}"), 0);
	tg_buf_release(&c.events);
	free(text);
	free(file);
}

/* One that cannot begin says why to its starter before it goes. */
static void cannot_begin(const char *in_the_way, const char *expected)
{
	char *path = path_of(in_the_way);
	struct tg_json *answer = NULL;
	struct tg_mark *m;
	const char *why;
	int r = 0;

	T_EQ_I(mkdir(path, 0700), 0);
	m = start("bad", 0);
	tg_mark_ask_hello(m, 1); /* will never be read, which is an error on our side */
	for (int i = 0; i < WAIT_MS / 10 && r == 0; i++) {
		usleep(10000);
		r = tg_mark_answer(m, &answer);
	}
	T_EQ_I(r, 1);
	why = tg_json_str(tg_json_get(answer, "end"), "");
	T_OK(strstr(why, path) != NULL);
	T_OK(strstr(why, expected) != NULL);
	tg_json_free(answer);
	wait_end(m);
	tg_mark_close(m);
	T_EQ_I(rmdir(path), 0);
	free(path);
}

int main(void)
{
	int r = set_up();

	if (r)
		return r;
	test_round_trip();
	test_signals();
	test_orphaned();
	test_late();
	test_short_cells();
	test_set_and_restart();
	cannot_begin("tachograph/bad.lock", "cannot open ");
	cannot_begin("tachograph/bad.sock", "cannot listen at ");
	return tear_down();
}
