/* SPDX-License-Identifier: BSD-3-Clause */
/* What may be done to a recorder: killed, starved of disk, crowded, sent nonsense. */
#include "recorder_kit.h"

#include <dirent.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "base/paths.h"
#include "mark/start.h"

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

/* Put an empty file into the runtime folder. Its path; the caller frees. */
static char *plant(const char *name)
{
	struct tg_buf folder = TG_BUF_INIT, path = TG_BUF_INIT;

	T_EQ_I(tg_paths_runtime(&folder, NULL), 0);
	tg_buf_addf(&path, "%s/%s", folder.data, name);
	close(open(path.data, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	tg_buf_release(&folder);
	return tg_buf_detach(&path);
}

/* What killed recorders and kernels have left goes when another starts; what is in use stays. */
static void test_stale_locks(void)
{
	enum { OLD, DEAD, DEAD_SOCKET, FOLDER, HELD, OTHER, NOT_OURS, N };
	static const char *const name[N] = { "file-0123.lock", "dead.lock", "dead.sock",
		"k-0123456789abcdef", "held.lock", "conn.json", "k-means" };
	static const bool stays[N] = { [HELD] = true, [OTHER] = true, [NOT_OURS] = true };
	char *before = tg_xstrdup(getenv("XDG_RUNTIME_DIR")), own[] = "/tmp/tg-stale-XXXXXX";
	struct tg_buf runtime = TG_BUF_INIT;
	struct tg_mark *m;
	char *path[N];
	int held;

	/* the recorder of the test before tidies, too, when it has said goodbye */
	T_OK(mkdtemp(own) != NULL);
	setenv("XDG_RUNTIME_DIR", own, 1);
	for (int i = 0; i < N; i++)
		path[i] = plant(name[i]);
	unlink(path[FOLDER]);
	T_EQ_I(mkdir(path[FOLDER], 0700), 0);
	free(plant("k-0123456789abcdef/connection.json"));
	held = open(path[HELD], O_RDWR | O_CLOEXEC);
	T_EQ_I(flock(held, LOCK_EX | LOCK_NB), 0);
	m = start("tidy", getpid());
	free(hello(m, "file"));
	for (int i = 0; i < N; i++)
		if (!T_EQ_I(access(path[i], F_OK) == 0, stays[i]))
			fprintf(stderr, "#   %s\n", path[i]);
	tg_mark_bye(m);
	wait_end(m);
	tg_mark_close(m);
	close(held);
	for (int i = 0; i < N; i++) {
		unlink(path[i]);
		free(path[i]);
	}
	tg_paths_runtime(&runtime, NULL);
	for (int i = 0; i < 500 && rmdir(runtime.data) && errno == ENOTEMPTY; i++)
		usleep(10000); /* its lock and socket go last */
	rmdir(own);
	setenv("XDG_RUNTIME_DIR", before, 1);
	tg_buf_release(&runtime);
	free(before);
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
	T_EQ_I(flush(m), -1); /* the file lacks it */
	warning = hello(m, "warning");
	T_OK(warning && strstr(warning, "cannot be written") != NULL);
	free(warning);
	limit_file_size(pid, RLIM_INFINITY);
	usleep(200000);
	T_OK(flush(m) > 0); /* what is lost is said in it */
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

/* The thread of `pid` that is not its first: the one that writes. */
static pid_t writer_of(pid_t pid)
{
	struct tg_buf path = TG_BUF_INIT;
	struct dirent *entry;
	pid_t tid = 0;
	DIR *tasks;

	tg_buf_addf(&path, "/proc/%d/task", (int)pid);
	tasks = opendir(path.data);
	while (tasks && (entry = readdir(tasks)))
		if (strtol(entry->d_name, NULL, 10) != pid && entry->d_name[0] != '.')
			tid = (pid_t)strtol(entry->d_name, NULL, 10);
	if (tasks)
		closedir(tasks);
	tg_buf_release(&path);
	return tid;
}

/*
 * A file system that hangs, played by holding the writing thread alone: the recorder answers,
 * samples, drops what its queue cannot hold, and says so when it can.
 */
static void test_hung(void)
{
	char *file = path_of("hung.tacho"), *socket = path_of("tachograph/hung.sock"), *answer;
	const char *argv[] = { "tachograph", "recorder", "--fd", "3", "--id", "hung", "--output",
		file, "--interval-ns", "5000000", "--queue-bytes", "30000", NULL };
	struct tg_mark *m = NULL;
	struct contents c;
	int pair[2], status;
	pid_t pid, tid;
	bool held;

	T_EQ_I(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	T_EQ_I(tg_mark_spawn(getenv("TG_EXE"), (char *const *)(uintptr_t)argv, pair[1]), 0);
	close(pair[1]);
	for (int i = 0; i < WAIT_MS / 10 && !m; i++) {
		usleep(10000);
		if (tg_mark_connect(&m, socket, NULL) < 0)
			m = NULL;
	}
	if (!T_OK(m != NULL))
		return;
	T_EQ_I(tg_mark_root(m, getpid()), 0);
	begin(m, "before", "cell");
	flush(m);
	pid = recorder_of(socket);
	tid = writer_of(pid);
	T_OK(tid > 0);
	held = ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0;
	if (!held) {
		T_SKIP("a file system that hangs", "may not hold a thread");
	} else {
		T_EQ_I(ptrace(PTRACE_INTERRUPT, tid, NULL, NULL), 0);
		T_EQ_I(waitpid(tid, &status, __WALL), tid);
		for (int i = 0; i < 30; i++) { /* three seconds, that is three flushes or more */
			usleep(100000);
			answer = hello(m, "file");
			T_EQ_S(answer, file);
			free(answer);
		}
		begin(m, "within", "cell");
		T_EQ_I(ptrace(PTRACE_DETACH, tid, NULL, NULL), 0);
	}
	flush(m);
	begin(m, "after", "cell");
	tg_mark_bye(m);
	wait_end(m);
	tg_mark_close(m);
	close(pair[0]);
	read_back(file, &c);
	T_OK(c.damage.ended);
	T_EQ_I(strstr(c.events.data, "the file could not take more") != NULL, held);
	T_EQ_I(count(c.events.data, "\"ev\":\"begin\""), held ? 3 : 2);
	T_EQ_I(count(c.events.data, "\"ev\":\"end\""), held ? 3 : 2);
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
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "", MS_REC | MS_PRIVATE, "") < 0 ||
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
	begin(m, "early", "cell");
	end(m, "early");
	T_EQ_I(tg_mark_set(m, "interval_ns", 10 * TG_NS_PER_MS), 0);
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
	T_EQ_I(count(c.events.data, "\"2 marks are lost: there was no file yet\""), 1);
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
	T_EQ_I(count(c.events.data, "\"text\":\"note "), STARTERS * NOTES);
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

int main(void)
{
	int r = set_up();

	if (r)
		return r;
	test_killed();
	test_stale_locks();
	test_no_room();
	test_hung();
	test_full_disk();
	test_two_starters();
	test_many_clients();
	test_garbage();
	return tear_down();
}
