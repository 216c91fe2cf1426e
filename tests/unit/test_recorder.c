/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder as a process: started, marked, stopped, killed, and its file read back. */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "mark/address.h"
#include "mark/mark.h"
#include "mark/protocol.h"
#include "record/reader.h"

#include "base/mem.h"

#define WAIT_MS 20000 /* for things that take milliseconds unless the machine is overloaded */

static char dir[] = "/tmp/tg-recorder-XXXXXX";

/* A path in the test's folder; the caller frees. */
static char *path_of(const char *name)
{
	struct tg_buf b = TG_BUF_INIT;

	tg_buf_addf(&b, "%s/%s", dir, name);
	return tg_buf_detach(&b);
}

/* Start a recorder `name` of process `root` that ends half a second after it is alone. */
static struct tg_mark *start(const char *name, pid_t root)
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

static void begin(struct tg_mark *m, const char *id, const char *kind)
{
	struct tg_mark_span span = { .id = id,
		.kind = kind,
		.name = id,
		.t_ns = tg_mono_ns(),
		.edge = !strcmp(kind, "cell"),
		.count = -1 };

	T_EQ_I(tg_mark_begin(m, &span), 0);
}

static void end(struct tg_mark *m, const char *id)
{
	T_EQ_I(tg_mark_end(m, id, tg_mono_ns(), true, "ok"), 0);
}

/* Ask, and give back one string member of the answer; the caller frees. NULL: absent. */
static char *hello(struct tg_mark *m, const char *member)
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

static int64_t flush(struct tg_mark *m)
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
static void wait_end(struct tg_mark *m)
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
	int64_t last_row_ns, last_event_ns;
	size_t n_sessions;
};

static int add_event(void *ctx, uint32_t session, const char *json, size_t len)
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

static void read_back(const char *file, struct contents *c)
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
		c->last_row_ns = TG_MAX(c->last_row_ns, table[i].last_ns);
	}
	tg_reader_close(r);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* A child that waits for its end. */
static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* A kernel's life: run, cells, a moment, a note, the root's end, bye. */
static void test_round_trip(void)
{
	pid_t root = sleeper();
	struct tg_mark *m = start("round", root), *other;
	struct contents c;
	char *file, *socket, *warning;
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

	T_EQ_I(tg_mark_ask_usage(m, 5), 0);
	T_EQ_I(tg_mark_wait(m, 5, WAIT_MS, &usage), 1);
	T_EQ_I(tg_json_int(tg_json_get(usage, "pid"), 0), root);
	T_OK(tg_json_str(tg_json_get(usage, "hostname"), NULL) != NULL);
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
	T_OK(strstr(c.events.data, "\"signal\":9") != NULL);
	T_OK(strstr(c.events.data, "\"ev\":\"interval\"") != NULL);
	T_OK(strstr(c.events.data, "\"ev\":\"limit\"") != NULL);
	T_EQ_I(access(socket, F_OK), -1);
	tg_buf_release(&c.events);
	free(file);
	free(socket);
}

/* The process at the other end: who called listen(2). */
static pid_t recorder_of(const char *socket)
{
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	int fd = tg_mark_socket_connect(socket);

	T_OK(fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0);
	close(fd);
	return peer.pid;
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

/* Wait until the file has its end chunk. */
static void wait_ended(const char *file, struct contents *c)
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
static void be_quiet(void)
{
	t_failed = 0;
	if (!freopen("/dev/null", "w", stdout))
		_exit(4);
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
	T_EQ_I(count(c.events.data, "\"signal\""), count(c.events.data, "\"signal\":9}"));
	T_EQ_I(count(c.events.data, "\"status\":\"died\""), 1);
	tg_buf_release(&c.events);
	free(file);
	free(socket);
}

/* SIGKILL whenever: what is older than a second can be read, and nothing is damaged. */
static void test_killed(void)
{
	uint64_t seed = 0x9e3779b97f4a7c15u ^ (uint64_t)tg_mono_ns();

	fprintf(stderr, "# seed of the kills: %llu\n", (unsigned long long)seed);
	for (int round = 0; round < 6; round++) {
		char name[32], id[16];
		struct contents c = { 0 };
		struct tg_mark *m;
		char *file, *socket;
		int64_t until, killed;
		pid_t pid;

		snprintf(name, sizeof(name), "killed%d", round);
		m = start(name, getpid());
		begin(m, "run", "run");
		begin(m, "long", "cell");
		file = hello(m, "file");
		socket = hello(m, "socket");
		pid = recorder_of(socket);
		until = tg_mono_ns() + (int64_t)(t_random(&seed) % 2500) * TG_NS_PER_MS;
		for (int i = 0; tg_mono_ns() < until; i++) {
			struct tg_mark_span span = { .id = id, .kind = "cell", .count = -1 };

			snprintf(id, sizeof(id), "c%d", i);
			span.t_ns = tg_mono_ns();
			span.edge = true;
			tg_mark_begin(m, &span);
			usleep((useconds_t)(t_random(&seed) % 5000));
			tg_mark_end(m, id, tg_mono_ns(), true, "ok");
		}
		killed = tg_mono_ns();
		kill(pid, SIGKILL);
		wait_end(m);
		tg_mark_close(m);
		read_back(file, &c);
		T_OK(!c.damage.ended);
		T_EQ_I(c.n_sessions, 1);
		/* one second, and two more for a machine that is busy with other things */
		if (c.rows && killed - until < TG_NS_PER_S)
			T_OK(killed - c.last_row_ns < 3 * TG_NS_PER_S);
		tg_buf_release(&c.events);

		/* the next one goes on in the same file */
		m = start(name, getpid());
		begin(m, "again", "run");
		free(hello(m, "file"));
		tg_mark_bye(m);
		wait_end(m);
		tg_mark_close(m);
		read_back(file, &c);
		T_OK(c.damage.ended);
		T_EQ_I(c.n_sessions, 2);
		T_OK(strstr(c.events.data, "\"name\":\"again\"") != NULL);
		tg_buf_release(&c.events);
		free(file);
		free(socket);
	}
}

static void limit_file_size(pid_t pid, rlim_t bytes)
{
	struct rlimit limit;

	T_EQ_I(prlimit(pid, RLIMIT_FSIZE, NULL, &limit), 0);
	limit.rlim_cur = bytes;
	T_EQ_I(prlimit(pid, RLIMIT_FSIZE, &limit, NULL), 0);
}

/* No room for a while: one sentence, and afterwards everything but what came between. */
static void test_no_room(void)
{
	struct tg_mark *m = start("noroom", getpid());
	char *file, *socket, *warning;
	struct contents c;
	pid_t pid;

	begin(m, "run", "run");
	begin(m, "before", "cell");
	flush(m);
	file = hello(m, "file");
	socket = hello(m, "socket");
	pid = recorder_of(socket);
	limit_file_size(pid, 100);
	usleep(200000); /* some rows to lose */
	flush(m);
	end(m, "before"); /* an event is kept until there is room */
	begin(m, "between", "cell");
	flush(m);
	warning = hello(m, "warning");
	T_OK(warning && strstr(warning, "cannot be written") != NULL);
	free(warning);
	limit_file_size(pid, RLIM_INFINITY);
	usleep(200000);
	flush(m);
	warning = hello(m, "warning");
	T_OK(warning && strstr(warning, "has a gap") != NULL);
	free(warning);
	begin(m, "after", "cell");
	tg_mark_bye(m);
	wait_end(m);
	tg_mark_close(m);
	read_back(file, &c);
	T_OK(c.damage.ended);
	T_OK(strstr(c.events.data, "the file could not be written") != NULL);
	T_EQ_I(count(c.events.data, "\"name\":\"between\""), 1);
	T_EQ_I(count(c.events.data, "\"name\":\"after\""), 1);
	T_EQ_I(count(c.events.data, "\"ev\":\"begin\""), 4);
	T_EQ_I(count(c.events.data, "\"ev\":\"end\""), 4);
	tg_buf_release(&c.events);
	free(file);
	free(socket);
}

/* Fill what is left of the file system that `path` is on. */
static void fill_up(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char zeros[512] = "";

	T_OK(fd >= 0);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	T_EQ_I(errno, ENOSPC);
	close(fd);
}

/* The same on a real full disk, where the recorder finds no room even for its file at first. */
static void test_full_disk(void)
{
	char *small = path_of("small"), *file = path_of("small/x.tacho"), *text;
	char *filler = path_of("small/filler"), *extra = path_of("small/extra");
	struct tg_mark_start s = { .id = "full",
		.root = getpid(),
		.what = "kernel",
		.interval_ns = 20 * TG_NS_PER_MS,
		.output = file,
		.exe = getenv("TG_EXE") };
	struct tg_json *answer = NULL;
	struct contents c;
	struct tg_mark *m;

	T_EQ_I(mkdir(small, 0700), 0);
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("tmpfs", small, "tmpfs", 0, "size=64k,nr_inodes=5") < 0) {
		T_SKIP("a full disk", "no mount namespace for us");
		goto out;
	}
	/* no inode: neither for the file nor for another */
	for (int i = 0; i < 8; i++) {
		char name[64];
		int fd;

		snprintf(name, sizeof(name), "%s/%d", small, i);
		fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		close(fd);
	}
	T_EQ_I(tg_mark_start(&m, &s, NULL), 0);
	text = hello(m, "warning");
	T_OK(text && strstr(text, "nothing is recorded: ") == text);
	free(text);
	T_EQ_I(tg_mark_ask_flush(m, 3), 0);
	T_EQ_I(tg_mark_wait(m, 3, WAIT_MS, &answer), 1);
	T_EQ_S(tg_json_str(tg_json_get(answer, "error"), NULL), "nothing is recorded");
	tg_json_free(answer);
	for (int i = 0; i < 8; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s/%d", small, i);
		unlink(name);
	}
	for (int i = 0; i < 200; i++) { /* it tries again each second */
		text = hello(m, "warning");
		if (text && strstr(text, "late"))
			break;
		free(text);
		text = NULL;
		usleep(100000);
	}
	T_OK(text != NULL);
	free(text);
	begin(m, "before", "cell");
	flush(m);
	fill_up(filler);
	for (int i = 0; i < 40; i++) { /* what is left in its last page is filled by itself */
		begin(m, "x", "cell");
		end(m, "x");
		flush(m);
	}
	fill_up(extra);
	usleep(300000);
	flush(m);
	T_EQ_I(unlink(filler), 0);
	T_EQ_I(unlink(extra), 0);
	end(m, "before");
	begin(m, "after", "cell");
	flush(m);
	text = hello(m, "warning");
	T_OK(text && strstr(text, "has a gap") != NULL);
	free(text);
	tg_mark_bye(m);
	wait_end(m);
	tg_mark_close(m);
	read_back(file, &c);
	T_OK(c.damage.ended);
	T_EQ_I(count(c.events.data, "\"name\":\"after\""), 1);
	T_EQ_I(count(c.events.data, "\"ev\":\"begin\""), 42);
	T_EQ_I(count(c.events.data, "\"ev\":\"end\""), 42);
	tg_buf_release(&c.events);
	T_EQ_I(umount(small), 0);
out:
	free(small);
	free(file);
	free(filler);
	free(extra);
}

/* Two of the same name at the same moment: one recorder, and nothing that was said is lost. */
static void test_two_starters(void)
{
	enum { STARTERS = 4, NOTES = 100 };
	char *file = path_of("twins.tacho");
	struct contents c;
	pid_t child[STARTERS];
	int ready[2];
	char text[32];

	T_EQ_I(pipe(ready), 0);
	fflush(stdout);
	for (int k = 0; k < STARTERS; k++) {
		child[k] = fork();
		if (child[k] == 0) {
			struct tg_mark *m;

			close(ready[1]);
			if (read(ready[0], text, 1) != 0) /* all go at once */
				_exit(3);
			be_quiet();
			m = start("twins", 0);
			for (int i = 0; i < NOTES; i++) {
				snprintf(text, sizeof(text), "note %d.%d", k, i);
				/* many at once: a full queue is then no loss but a wait */
				while (tg_mark_note(m, text) == -EAGAIN)
					usleep(1000);
			}
			flush(m);
			tg_mark_close(m);
			_exit(t_failed ? 1 : 0);
		}
	}
	close(ready[0]);
	close(ready[1]);
	for (int k = 0; k < STARTERS; k++) {
		int status;

		T_EQ_I(waitpid(child[k], &status, 0), child[k]);
		T_EQ_I(status, 0);
	}
	wait_ended(file, &c);
	T_EQ_I(c.n_sessions, 1);
	T_EQ_I(count(c.events.data, "\"ev\":\"note\""), STARTERS * NOTES);
	for (int k = 0; k < STARTERS; k++) {
		snprintf(text, sizeof(text), "\"note %d.%d\"", k, NOTES - 1);
		T_EQ_I(count(c.events.data, text), 1);
	}
	tg_buf_release(&c.events);
	free(file);
}

/* More clients than it serves at a time: the rest waits its turn with what it has said. */
static void test_many_clients(void)
{
	enum { CLIENTS = 100 };
	struct tg_mark *m = start("many", getpid()), *other[CLIENTS];
	char *file = hello(m, "file"), *socket = hello(m, "socket");
	struct contents c;
	char text[32];

	for (int i = 0; i < CLIENTS; i++) {
		T_EQ_I(tg_mark_connect(&other[i], socket, NULL), 0);
		snprintf(text, sizeof(text), "client %d", i);
		T_EQ_I(tg_mark_note(other[i], text), 0);
	}
	free(hello(m, "file"));
	for (int i = 0; i < CLIENTS / 2; i++)
		tg_mark_close(other[i]);
	free(hello(other[CLIENTS - 1], "file")); /* its turn has come */
	for (int i = CLIENTS / 2; i < CLIENTS; i++)
		tg_mark_close(other[i]);
	tg_mark_bye(m);
	wait_end(m);
	tg_mark_close(m);
	read_back(file, &c);
	T_EQ_I(count(c.events.data, "\"text\":\"client "), CLIENTS);
	tg_buf_release(&c.events);
	free(file);
	free(socket);
}

/* Whatever is sent: an answer that says so, and the recorder goes on. */
static void test_garbage(void)
{
	struct tg_mark *m = start("garbage", getpid());
	char *file = hello(m, "file"), *socket = hello(m, "socket");
	uint64_t seed = 4711;
	struct contents c;
	char *bytes = tg_xmalloc(100000);
	char answer[512];
	ssize_t n;
	int fd;

	fd = tg_mark_socket_connect(socket);
	for (int i = 0; i < 100000; i++)
		bytes[i] = (char)t_random(&seed);
	for (int len = 1; len <= 65536; len *= 16) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		T_EQ_I(send(fd, bytes, (size_t)len, 0), len);
		T_EQ_I(poll(&p, 1, WAIT_MS), 1);
		n = recv(fd, answer, sizeof(answer) - 1, 0);
		T_OK(n > 0);
		answer[n > 0 ? n : 0] = '\0';
		T_OK(strstr(answer, "{\"error\":\"") == answer);
	}
	memset(bytes, ' ', 100000);
	memcpy(bytes, "{\"op\":\"bye\"}", 12);
	T_EQ_I(send(fd, bytes, 100000, 0), 100000);
	n = recv(fd, answer, sizeof(answer) - 1, MSG_DONTWAIT);
	for (int i = 0; n < 0 && i < 1000; i++) {
		usleep(10000);
		n = recv(fd, answer, sizeof(answer) - 1, MSG_DONTWAIT);
	}
	T_OK(n > 0 && strstr(answer, "more than 65536 bytes") != NULL);
	T_EQ_I(send(fd, "", 0, 0), 0); /* ends the connection, and only that */
	close(fd);
	T_EQ_I(tg_mark_end(m, "never begun", 0, false, NULL), 0);
	free(hello(m, "file"));
	tg_mark_bye(m);
	wait_end(m);
	tg_mark_close(m);
	read_back(file, &c);
	T_OK(c.damage.ended);
	T_EQ_I(count(c.events.data, "\"ev\":\"end\""), 0);
	tg_buf_release(&c.events);
	free(bytes);
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
	end(m, "x");
	file = hello(m, "file");
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
	T_EQ_I(count(c.events.data, "\"exit\":3"), 1);
	T_OK(strstr(c.events.data, "\"ns\":5000000}") != NULL);
	T_OK(strstr(c.events.data, "\"ns\":7000000}") != NULL);
	T_EQ_I(count(c.events.data, "\"ns\":1}"), 0);
	tg_buf_release(&c.events);
	free(text);
	free(file);
}

/* One that cannot begin says why to its starter before it goes. */
static void test_cannot_begin(void)
{
	char *lock = path_of("tachograph/bad.lock");
	struct tg_json *answer = NULL;
	const char *why;
	struct tg_mark *m;
	int r = 0;

	T_EQ_I(mkdir(lock, 0700), 0); /* where its lock should be */
	m = start("bad", 0);
	for (int i = 0; i < WAIT_MS / 10 && r == 0; i++) {
		usleep(10000);
		r = tg_mark_answer(m, &answer);
	}
	T_EQ_I(r, 1);
	why = tg_json_str(tg_json_get(answer, "error"), "");
	T_OK(strstr(why, "bad.lock") != NULL);
	tg_json_free(answer);
	wait_end(m);
	tg_mark_close(m);
	free(lock);
}

int main(void)
{
	struct tg_buf clean = TG_BUF_INIT;

	if (!mkdtemp(dir) || !getenv("TG_EXE"))
		return 99;
	setvbuf(stdout, NULL, _IOLBF, 0);
	setenv("XDG_RUNTIME_DIR", dir, 1);
	test_round_trip();
	test_signals();
	test_orphaned();
	test_killed();
	test_no_room();
	test_full_disk();
	test_two_starters();
	test_many_clients();
	test_garbage();
	test_late();
	test_set_and_restart();
	test_cannot_begin();
	tg_buf_addf(&clean, "rm -r %s", dir);
	T_EQ_I(system(clean.data), 0);
	tg_buf_release(&clean);
	return t_done();
}
