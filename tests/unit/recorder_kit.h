/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of the recorder as a process share: start one, talk to it, read its file back. */
#ifndef TG_TESTS_RECORDER_KIT_H
#define TG_TESTS_RECORDER_KIT_H

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "mark/address.h"
#include "mark/mark.h"
#include "record/reader.h"

#include "base/mem.h"

#define WAIT_MS 20000 /* for things that take milliseconds unless the machine is overloaded */

static char dir[] = "/tmp/tg-recorder-XXXXXX";

/* A path in the test's folder; the caller frees. */
static inline char *path_of(const char *name)
{
	struct tg_buf b = TG_BUF_INIT;

	tg_buf_addf(&b, "%s/%s", dir, name);
	return tg_buf_detach(&b);
}

/* Start a recorder `name` of process `root` that ends half a second after it is alone. */
static inline struct tg_mark *start(const char *name, pid_t root)
{
	char *output = path_of(name);
	struct tg_buf file = TG_BUF_INIT;
	struct tg_mark_start s = { .id = name,
		.root = root,
		.what = "kernel",
		.interval_ns = 20 * TG_NS_PER_MS,
		.linger_ns = 500 * TG_NS_PER_MS,
		.exe = getenv("TG_EXE") };
	struct tg_mark *m = NULL;
	struct tg_err err = { 0 };

	tg_buf_addf(&file, "%s.tacho", output);
	s.output = file.data;
	if (!T_OK(tg_mark_start(&m, &s, &err) == 0)) {
		fprintf(stderr, "#   %s\n", err.text);
		exit(1);
	}
	tg_buf_release(&file);
	free(output);
	return m;
}

static inline void begin(struct tg_mark *m, const char *id, const char *kind)
{
	struct tg_mark_span span = { .id = id,
		.kind = kind,
		.name = id,
		.t_ns = tg_mono_ns(),
		.edge = !strcmp(kind, "cell"),
		.count = -1 };

	T_EQ_I(tg_mark_begin(m, &span), 0);
}

static inline void end(struct tg_mark *m, const char *id)
{
	T_EQ_I(tg_mark_end(m, id, tg_mono_ns(), true, "ok"), 0);
}

/* Ask, and give back one string member of the answer; the caller frees. NULL: absent. */
static inline char *hello(struct tg_mark *m, const char *member)
{
	struct tg_json *answer = NULL;
	const char *s;
	char *copy;

	T_EQ_I(tg_mark_ask_hello(m, 77), 0);
	T_EQ_I(tg_mark_wait(m, 77, WAIT_MS, &answer), 1);
	s = tg_json_str(tg_json_get(answer, member), NULL);
	copy = s ? tg_xstrdup(s) : NULL;
	tg_json_free(answer);
	return copy;
}

/* The offset; -1 when the recorder refused. */
static inline int64_t flush(struct tg_mark *m)
{
	struct tg_json *answer = NULL;
	int64_t offset;

	T_EQ_I(tg_mark_ask_flush(m, 78), 0);
	T_EQ_I(tg_mark_wait(m, 78, WAIT_MS, &answer), 1);
	offset = tg_json_int(tg_json_get(answer, "offset"), -1);
	tg_json_free(answer);
	return offset;
}

/* Wait until the recorder at the other end is gone. */
static inline void wait_end(struct tg_mark *m)
{
	struct tg_json *answer;
	int64_t until = tg_mono_ns() + WAIT_MS * TG_NS_PER_MS;
	int r = 0;

	while (r >= 0 && tg_mono_ns() < until) {
		struct pollfd p = { .fd = tg_mark_fd(m), .events = POLLIN };

		r = tg_mark_answer(m, &answer);
		if (r == 1)
			tg_json_free(answer);
		else if (r == 0)
			poll(&p, 1, 100);
	}
	T_EQ_I(r, -EPIPE);
}

/* What is in a file. */
struct contents {
	struct tg_buf events; /* all lines */
	struct tg_damage damage;
	uint64_t rows;
	uint64_t whole_rows; /* those that have the machine's columns, too: no edge's */
	int64_t last_row_ns, last_event_ns;
	size_t n_sessions;
};

static inline int add_event(void *ctx, uint32_t session, const char *json, size_t len)
{
	struct contents *c = ctx;
	const char *t = strstr(json, "\"t\":");

	(void)session;
	if (t)
		c->last_event_ns = TG_MAX(c->last_event_ns, strtoll(t + 4, NULL, 10));
	tg_buf_add(&c->events, json, len);
	tg_buf_addc(&c->events, '\n');
	return 0;
}

static inline int add_block(void *ctx, const struct tg_block *b)
{
	struct contents *c = ctx;

	for (uint32_t i = 0; i < b->n_rows; i++)
		c->whole_rows += b->values[i] != TG_MISSING;
	return 0;
}

/* Count the rows of a table in which the machine's CPU time is there. */
static inline void count_whole_rows(
	struct tg_reader *r, const struct tg_table *table, struct contents *c)
{
	for (uint32_t i = 0; i < table->n_columns; i++)
		if (!strcmp(table->column[i].metric->name, "node.cpu_busy_ns"))
			tg_reader_blocks(r, table, &i, 1, INT64_MIN, INT64_MAX, add_block, c);
}

static inline void read_back(const char *file, struct contents *c)
{
	struct tg_err err = { 0 };
	struct tg_reader *r;
	const struct tg_table *table;
	size_t n;

	*c = (struct contents){ .events = TG_BUF_INIT };
	if (!T_OK(tg_reader_open(&r, file, &err) == 0)) {
		fprintf(stderr, "#   %s\n", err.text);
		return;
	}
	T_EQ_I(tg_reader_verify(r, &c->damage), 0);
	T_EQ_I(c->damage.holes, 0);
	T_EQ_I(c->damage.lost_chunks, 0);
	T_EQ_I(tg_reader_events(r, add_event, c), 0);
	tg_reader_sessions(r, &c->n_sessions);
	table = tg_reader_tables(r, &n);
	for (size_t i = 0; i < n; i++) {
		c->rows += table[i].n_rows;
		count_whole_rows(r, &table[i], c);
		c->last_row_ns = TG_MAX(c->last_row_ns, table[i].last_ns);
	}
	tg_reader_close(r);
}

static inline size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* A child that waits for its end. */
static inline pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	return pid;
}

static inline void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The process at the other end: who called listen(2). */
static inline pid_t recorder_of(const char *socket)
{
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	int fd = tg_mark_socket_connect(socket);

	T_OK(fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0);
	close(fd);
	return peer.pid;
}

/* Wait until the file has its end chunk. */
static inline void wait_ended(const char *file, struct contents *c)
{
	int64_t until = tg_mono_ns() + WAIT_MS * TG_NS_PER_MS;
	struct tg_reader *r;
	bool ended = false;

	while (!ended && tg_mono_ns() < until) {
		usleep(20000);
		if (tg_reader_open(&r, file, NULL) < 0)
			continue;
		ended = tg_reader_damage(r)->ended;
		tg_reader_close(r);
	}
	T_OK(ended);
	read_back(file, c);
}

/* In a forked child: its checks count for its exit status alone. */
static inline void be_quiet(void)
{
	t_failed = 0;
	if (!freopen("/dev/null", "w", stdout))
		_exit(4);
}

/* Once, first: a folder of our own. Returns an exit status or 0. */
static inline int set_up(void)
{
	if (!mkdtemp(dir) || !getenv("TG_EXE"))
		return 99;
	setvbuf(stdout, NULL, _IOLBF, 0);
	setenv("XDG_RUNTIME_DIR", dir, 1);
	return 0;
}

static inline int tear_down(void)
{
	struct tg_buf clean = TG_BUF_INIT;

	tg_buf_addf(&clean, "rm -r %s", dir);
	T_EQ_I(system(clean.data), 0);
	tg_buf_release(&clean);
	return t_done();
}

#endif
