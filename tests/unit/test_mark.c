/* SPDX-License-Identifier: BSD-3-Clause */
/* The client of a recorder and its protocol; the recorder at the other end is played here. */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "mark/address.h"
#include "mark/mark.h"
#include "mark/protocol.h"
#include "mark/start.h"

#include "base/mem.h"

static int parse(struct tg_mark_message *m, const char *text)
{
	return tg_mark_message_parse(m, text, strlen(text), NULL);
}

static void test_parse(void)
{
	struct tg_mark_message m;

	T_EQ_I(parse(&m, "{\"op\":\"begin\",\"id\":\"c7\",\"kind\":\"cell\",\"name\":\"[7]\","
			 "\"t\":81234567890123,\"edge\":true,\"count\":7,\"code\":\"x = f(3)\\n\","
			 "\"attrs\":{\"a\": [1, 2.5]}}"),
		0);
	T_EQ_I(m.op, TG_MARK_BEGIN);
	T_EQ_S(m.id, "c7");
	T_EQ_S(m.kind, "cell");
	T_EQ_S(m.code, "x = f(3)\n");
	T_EQ_S(m.attrs.data, "{\"a\":[1,2.5]}");
	T_EQ_I(m.t_ns, INT64_C(81234567890123));
	T_EQ_I(m.count, 7);
	T_EQ_I(m.n, -1);
	T_OK(m.edge);
	T_OK(m.lane == NULL && m.status == NULL);
	tg_mark_message_release(&m);

	T_EQ_I(parse(&m, "{\"op\":\"root_end\",\"pid\":12,\"signal\":9}"), 0);
	T_EQ_I(m.signal, 9);
	T_EQ_I(m.exit_code, -1);
	tg_mark_message_release(&m);

	/* what is refused is refused with its number, so that the answer finds its question */
	T_EQ_I(parse(&m, "{\"op\":\"frob\",\"n\":3}"), -EBADMSG);
	T_EQ_I(m.n, 3);
	tg_mark_message_release(&m);
}

static void test_refuse(void)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"\"begin\"",
		"{\"op\":7}",
		"{\"op\":\"begin\",\"id\":\"a\"}",
		"{\"op\":\"begin\",\"kind\":\"cell\"}",
		"{\"op\":\"begin\",\"id\":\"\",\"kind\":\"cell\"}",
		"{\"op\":\"begin\",\"id\":5,\"kind\":\"cell\"}",
		"{\"op\":\"begin\",\"id\":\"a\",\"kind\":\"cell\",\"t\":-1}",
		"{\"op\":\"begin\",\"id\":\"a\",\"kind\":\"cell\",\"t\":1.5}",
		"{\"op\":\"begin\",\"id\":\"a\",\"kind\":\"cell\",\"attrs\":[1]}",
		"{\"op\":\"root\"}",
		"{\"op\":\"root\",\"pid\":99999999999}",
		"{\"op\":\"root_asked\"}",
		"{\"op\":\"root_end\",\"pid\":1,\"exit\":256}",
		"{\"op\":\"set\",\"key\":\"path\",\"value\":5000000}",
		"{\"op\":\"set\",\"key\":\"interval_ns\"}",
		"{\"op\":\"set\",\"key\":\"interval_ns\",\"value\":10}",
		"{\"op\":\"hello\"}",
		"{\"op\":\"note\"}",
	};
	struct tg_mark_message m;
	char *big = tg_xmalloc(TG_MARK_DATAGRAM_MAX + 2);
	size_t used;

	for (size_t i = 0; i < TG_ARRAY_SIZE(bad); i++) {
		if (!T_OK(parse(&m, bad[i]) == -EBADMSG))
			fprintf(stderr, "#   %s\n", bad[i]);
		tg_mark_message_release(&m);
	}
	/* each bound: a name one byte too long, a datagram one byte too long */
	used = (size_t)snprintf(big, 64, "{\"op\":\"moment\",\"name\":\"");
	memset(big + used, 'x', TG_MARK_NAME_MAX + 1);
	memcpy(big + used + TG_MARK_NAME_MAX + 1, "\"}", 3);
	T_EQ_I(parse(&m, big), -EBADMSG);
	tg_mark_message_release(&m);
	memcpy(big + used + TG_MARK_NAME_MAX, "\"}", 3);
	T_EQ_I(parse(&m, big), 0);
	tg_mark_message_release(&m);
	memset(big, ' ', TG_MARK_DATAGRAM_MAX + 1);
	memcpy(big, "{\"op\":\"bye\"}", 12);
	T_EQ_I(tg_mark_message_parse(&m, big, TG_MARK_DATAGRAM_MAX + 1, NULL), -EBADMSG);
	tg_mark_message_release(&m);
	T_EQ_I(tg_mark_message_parse(&m, big, TG_MARK_DATAGRAM_MAX, NULL), 0);
	tg_mark_message_release(&m);
	free(big);
}

static void test_cut(void)
{
	T_EQ_I(tg_mark_cut("abc", 3, 5), 3);
	T_EQ_I(tg_mark_cut("abcdef", 6, 5), 5);
	T_EQ_I(tg_mark_cut("ab\xe2\x82\xac", 5, 4), 2);
	T_EQ_I(tg_mark_cut("ab\xe2\x82\xac", 5, 5), 5);
	T_EQ_I(tg_mark_cut("\x80\x80\x80\x80\x80\x80\x80\x80", 8, 6), 6);
	T_EQ_I(tg_mark_cut("\xf0\x9f\x98\x80", 4, 3), 0);
}

static void test_address(const char *dir)
{
	struct tg_buf path = TG_BUF_INIT, name = TG_BUF_INIT;
	int listening, fd;
	struct stat st;

	T_OK(tg_mark_id_ok("kernel-0a1B.x_y"));
	T_OK(!tg_mark_id_ok(""));
	T_OK(!tg_mark_id_ok("../x"));
	T_OK(!tg_mark_id_ok("a/b"));
	T_OK(!tg_mark_id_ok(".sock"));
	tg_buf_addf(&path, "%s/none.sock", dir);
	T_EQ_I(tg_mark_socket_connect(path.data), -ENOENT);
	/* longer than an address holds */
	tg_buf_clear(&path);
	tg_buf_addf(&path, "%s/", dir);
	for (int i = 0; i < 100; i++)
		tg_buf_addc(&path, 'd');
	T_EQ_I(mkdir(path.data, 0700), 0);
	tg_buf_adds(&path, "/x.sock");
	listening = tg_mark_socket_listen(path.data, 4);
	T_OK(listening >= 0);
	T_EQ_I(stat(path.data, &st), 0);
	T_EQ_I(st.st_mode & 0777, 0600);
	fd = tg_mark_socket_connect(path.data);
	T_OK(fd >= 0);
	close(fd);
	close(listening);
	/* a dead one's socket is told from none, and can be replaced */
	T_EQ_I(tg_mark_socket_connect(path.data), -ECONNREFUSED);
	listening = tg_mark_socket_listen(path.data, 4);
	T_OK(listening >= 0);
	close(listening);
	tg_buf_release(&path);

	T_EQ_I(tg_mark_path(&name, "abc", ".lock", NULL), 0);
	T_OK(strstr(name.data, "/tachograph/abc.lock") != NULL);
	T_EQ_I(tg_mark_path(&name, "a/c", ".lock", NULL), -EINVAL);
	tg_buf_release(&name);
}

/* TACHOGRAPH_SOCKET: what is of this host and boot is known from what is not. */
static void test_variable(void)
{
	static const char boot[] = "3f0c4d56-6f9e-4c0b-8a51-0d6a7a1c2b3e";
	static const char *const bad[] = { "", ":", "::", "/run/x.sock", "host:/run/x.sock",
		"host::run/x.sock", ":3f0c4d56-6f9e-4c0b-8a51-0d6a7a1c2b3e:/x", "host:3f0c4d56:/x",
		"host:3f0c4d56-6f9e-4c0b-8a51-0d6a7a1c2b3g:/x", "ho st::/x", "h\x1b::/x",
		"h::/x\ny", "host:3f0c4d56-6f9e-4c0b-8a51-0d6a7a1c2b3e", "host:" };
	struct tg_buf text = TG_BUF_INIT;
	struct tg_mark_address a;

	tg_buf_addf(&text, "node7:%s:/run/user/1/k:1.sock", boot);
	T_EQ_I(tg_mark_address_parse(&a, text.data), 0);
	T_EQ_S(a.host, "node7");
	T_EQ_S(a.boot_id, boot);
	T_EQ_S(a.path, "/run/user/1/k:1.sock");
	T_OK(!tg_mark_address_is_here(&a));
	T_EQ_I(tg_mark_address_parse(&a, "node7::/x"), 0);
	T_EQ_S(a.boot_id, "");
	for (size_t i = 0; i < TG_ARRAY_SIZE(bad); i++)
		if (!T_OK(tg_mark_address_parse(&a, bad[i]) == -EBADMSG))
			fprintf(stderr, "#   %s\n", bad[i]);
	/* each bound, and one more */
	for (unsigned i = 0; i < 2; i++) {
		tg_buf_clear(&text);
		for (unsigned k = 0; k < TG_MARK_HOST_MAX + i; k++)
			tg_buf_addc(&text, 'h');
		tg_buf_adds(&text, "::/x");
		T_EQ_I(tg_mark_address_parse(&a, text.data), i ? -EBADMSG : 0);
		tg_buf_clear(&text);
		tg_buf_adds(&text, "h::/");
		for (unsigned k = 0; k < 4094 + i; k++)
			tg_buf_addc(&text, 'p');
		T_EQ_I(tg_mark_address_parse(&a, text.data), i ? -EBADMSG : 0);
	}
	tg_buf_clear(&text);
	tg_mark_address_format(&text, "/tmp/x.sock");
	T_EQ_I(tg_mark_address_parse(&a, text.data), 0);
	T_EQ_S(a.path, "/tmp/x.sock");
	T_OK(tg_mark_address_is_here(&a) == (a.boot_id[0] != '\0')); /* unknown: not known to be */
	T_OK(access("/proc/sys/kernel/random/boot_id", R_OK) ||
		strlen(a.boot_id) == TG_MARK_BOOT_ID_LEN);
	if (a.boot_id[0])
		a.boot_id[0] = a.boot_id[0] == '0' ? '1' : '0';
	else
		memcpy(a.boot_id, boot, sizeof(boot));
	T_OK(!tg_mark_address_is_here(&a));
	a.boot_id[0] = '\0';
	T_OK(!tg_mark_address_is_here(&a));
	tg_buf_release(&text);
}

/* One datagram, parsed. */
static bool receive(int fd, struct tg_mark_message *m)
{
	char *data = tg_xmalloc(TG_MARK_DATAGRAM_MAX + 1);
	ssize_t n = recv(fd, data, TG_MARK_DATAGRAM_MAX + 1, 0);
	bool good = n > 0 && n <= TG_MARK_DATAGRAM_MAX &&
		    tg_mark_message_parse(m, data, (size_t)n, NULL) == 0;

	free(data);
	return good;
}

static void take(int fd, struct tg_mark_message *m)
{
	if (!T_OK(receive(fd, m)))
		abort();
}

/* Two marks are lost and the queue is full: ends wait for room, in their order, then a note. */
static void test_kept(struct tg_mark *mark, int fd)
{
	char id[TG_MARK_ID_MAX];
	struct tg_mark_message m;
	int kept = 0, seen = 0;

	T_OK(tg_mark_waits(mark));
	T_EQ_I(tg_mark_resume(mark), -EAGAIN);
	/* within a bound, that is: what comes then is lost, too */
	for (; tg_mark_dropped(mark) == 2 && kept < 100000; kept++) {
		snprintf(id, sizeof(id), "c%d", kept);
		tg_mark_end(mark, id, 99, true, "ok");
	}
	T_OK(kept > 300 && kept < 3000);
	kept--;
	T_EQ_I(tg_mark_end(mark, id, 99, true, "ok"), -EAGAIN);
	T_EQ_I(tg_mark_dropped(mark), 4);
	/* the other side reads again; the next mark goes behind what waits */
	for (bool note = false; !note;) {
		int r = tg_mark_resume(mark);

		if (r < 0)
			T_EQ_I(r, -EAGAIN);
		take(fd, &m);
		if (m.op == TG_MARK_END) {
			snprintf(id, sizeof(id), "c%d", seen++);
			T_EQ_S(m.id, id);
		}
		note = m.op == TG_MARK_NOTE && strcmp(m.text, "x") != 0;
		if (note)
			T_EQ_S(m.text, "4 marks are lost: the recorder did not take them");
		tg_mark_message_release(&m);
	}
	T_EQ_I(seen, kept);
	T_OK(!tg_mark_waits(mark));
	T_EQ_I(tg_mark_resume(mark), 0);
	T_EQ_I(tg_mark_note(mark, "x"), 0);
	take(fd, &m);
	T_EQ_S(m.text, "x");
	tg_mark_message_release(&m);
}

struct reader {
	int fd, ends;
	bool bye;
	char last[64]; /* note */
};

/* A thread that reads until the last message of a client; the checks are for who waits for it. */
static void *read_all(void *arg)
{
	struct reader *r = arg;
	struct tg_mark_message m;

	while (!r->bye && receive(r->fd, &m)) {
		r->bye = m.op == TG_MARK_BYE;
		r->ends += m.op == TG_MARK_END;
		if (m.op == TG_MARK_NOTE)
			snprintf(r->last, sizeof(r->last), "%s", m.text);
		tg_mark_message_release(&m);
	}
	return NULL;
}

/* Ends and the last message wait for room, and at the end they are waited for, within a bound. */
static void test_drain(const char *dir)
{
	struct tg_buf path = TG_BUF_INIT;
	struct tg_mark *mark;
	struct reader reader = { 0 };
	pthread_t thread;
	int listening, fd;

	tg_buf_addf(&path, "%s/drain.sock", dir);
	listening = tg_mark_socket_listen(path.data, 4);
	T_EQ_I(tg_mark_connect(&mark, path.data, NULL), 0);
	fd = accept(listening, NULL, NULL);
	T_EQ_I(tg_mark_drain(mark, 0), 0);
	while (tg_mark_note(mark, "x") == 0)
		T_EQ_I(tg_mark_untold(mark), 0);
	for (int i = 0; i < 3; i++)
		T_EQ_I(tg_mark_end(mark, "c", 9, false, "ok"), 0);
	T_EQ_I(tg_mark_untold(mark), 4);
	T_EQ_I(tg_mark_bye(mark), 0);
	T_EQ_I(tg_mark_drain(mark, 10), -EAGAIN);
	T_OK(tg_mark_waits(mark));
	reader.fd = fd;
	T_EQ_I(pthread_create(&thread, NULL, read_all, &reader), 0);
	T_EQ_I(tg_mark_drain(mark, 60000), 0);
	T_OK(!tg_mark_waits(mark));
	T_EQ_I(tg_mark_untold(mark), 0);
	pthread_join(thread, NULL);
	T_OK(reader.bye);
	T_EQ_I(reader.ends, 3);
	T_EQ_S(reader.last, "1 mark is lost: the recorder did not take it");
	close(fd);
	close(listening);
	tg_mark_close(mark);
	tg_buf_release(&path);
}

static void test_client(const char *dir)
{
	struct tg_mark_span span = { .id = "c1", .kind = "cell", .count = 3, .t_ns = 77 };
	struct tg_json *answer;
	struct tg_mark_message m;
	struct tg_buf path = TG_BUF_INIT;
	struct tg_mark *mark;
	char *code = tg_xmalloc(100000);
	int listening, fd, n = 0;

	tg_buf_addf(&path, "%s/server.sock", dir);
	T_EQ_I(tg_mark_connect(&mark, path.data, NULL), -ENOENT);
	listening = tg_mark_socket_listen(path.data, 4);
	T_EQ_I(tg_mark_connect(&mark, path.data, NULL), 0);
	fd = accept(listening, NULL, NULL);
	T_OK(fd >= 0);

	/* whatever the bytes of the code, what arrives is valid and within the bound */
	for (int round = 0; round < 4; round++) {
		static const char *const unit[] = { "a", "\xc3\xa4", "\x01",
			"\xff\xf0\x9f\x98\x80" };
		size_t u = strlen(unit[round]);

		for (size_t i = 0; i + u <= 100000; i += u)
			memcpy(code + i, unit[round], u);
		span.code = code;
		span.code_len = 100000;
		span.edge = round == 1;
		span.attrs_json = round == 2 ? "{\"k\": 1}" : round == 3 ? "{broken" : NULL;
		T_EQ_I(tg_mark_begin(mark, &span), 0);
		take(fd, &m);
		T_EQ_S(m.id, "c1");
		T_EQ_I(m.count, 3);
		T_EQ_I(m.t_ns, 77);
		T_EQ_I(m.edge, round == 1);
		T_EQ_S(m.attrs.data, round == 2 ? "{\"k\":1}" : "");
		T_OK(m.code && strlen(m.code) > 5000);
		if (round == 0)
			T_EQ_I(m.code ? strlen(m.code) : 0, TG_MARK_CODE_MAX);
		tg_mark_message_release(&m);
	}
	T_EQ_I(tg_mark_end(mark, "c1", 99, true, "ok"), 0);
	take(fd, &m);
	T_EQ_I(m.op, TG_MARK_END);
	T_EQ_S(m.status, "ok");
	tg_mark_message_release(&m);
	T_EQ_I(tg_mark_root_asked(mark, 5), 0);
	take(fd, &m);
	T_OK(m.op == TG_MARK_ROOT_ASKED && m.pid == 5);
	tg_mark_message_release(&m);
	T_EQ_I(tg_mark_root_end(mark, 5, -1, -1), 0);
	take(fd, &m);
	T_OK(m.exit_code == -1 && m.signal == -1 && m.pid == 5);
	tg_mark_message_release(&m);
	T_EQ_I(tg_mark_set(mark, "interval_ns", 5000000), 0);
	take(fd, &m);
	T_EQ_I(m.value, 5000000);
	tg_mark_message_release(&m);

	/* answers: the one that is waited for, past others and past nonsense */
	T_EQ_I(tg_mark_answer(mark, &answer), 0);
	T_EQ_I(tg_mark_ask_flush(mark, 8), 0);
	T_OK(send(fd, "{\"re\":7}", 8, 0) == 8);
	T_OK(send(fd, "junk", 4, 0) == 4);
	T_OK(send(fd, "{\"re\":8,\"offset\":512}", 21, 0) == 21);
	T_EQ_I(tg_mark_wait(mark, 8, 10000, &answer), 1);
	T_EQ_I(tg_json_int(tg_json_get(answer, "offset"), 0), 512);
	tg_json_free(answer);
	T_EQ_I(tg_mark_wait(mark, 9, 20, &answer), 0);

	/* one who does not read: marks are dropped and counted, nothing waits */
	while (n < 100000 && tg_mark_note(mark, "x") == 0)
		n++;
	T_OK(n > 3 && n < 100000);
	T_EQ_I(tg_mark_note(mark, "x"), -EAGAIN);
	T_EQ_I(tg_mark_dropped(mark), 2);
	test_kept(mark, fd);
	close(fd);
	T_EQ_I(tg_mark_note(mark, "x"), -EPIPE);
	T_EQ_I(tg_mark_answer(mark, &answer), -EPIPE);
	tg_mark_close(mark);
	tg_mark_close(NULL);
	close(listening);
	free(code);
	tg_buf_release(&path);
}

static void *idle_thread(void *arg)
{
	sigset_t all;
	int s;

	(void)arg;
	sigfillset(&all);
	sigwait(&all, &s);
	return NULL;
}

/* With threads, blocked and ignored signals and stray descriptors: none of it reaches the child. */
static void test_spawn(void)
{
	static const char script[] =
		"exec >&3; grep -E '^Sig(Blk|Ign)|^PPid' /proc/self/status; pwd; i=0; "
		"while [ $i -lt 40 ]; do [ -e /proc/$$/fd/$i ] && printf '%d ' $i; i=$((i+1)); "
		"done; readlink /proc/$$/fd/0; cut -d' ' -f6 /proc/$$/stat; echo $$";
	const char *argv[] = { "sh", "-c", script, NULL };
	char text[4096] = "", *line[16] = { 0 };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	sigset_t mask, old;
	size_t used = 0, n = 0;
	pthread_t thread;
	int pair[2], stray;
	ssize_t got;

	sigfillset(&mask);
	pthread_sigmask(SIG_SETMASK, &mask, &old);
	pthread_create(&thread, NULL, idle_thread, NULL);
	sigaction(SIGCHLD, &ignore, &before); /* then there is nothing to wait for */
	stray = open("/dev/null", O_RDONLY);
	T_EQ_I(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	T_EQ_I(tg_mark_spawn("/bin/sh", (char *const *)(uintptr_t)argv, pair[1]), 0);
	close(pair[1]);
	while ((got = read(pair[0], text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)got;
	close(pair[0]);
	close(stray);
	sigaction(SIGCHLD, &before, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	for (char *p = text; n < 16 && (line[n] = strsep(&p, "\n")); n++)
		;
	if (!T_OK(n >= 7)) {
		fprintf(stderr, "#   %s\n", text);
		return;
	}
	T_OK(!strstr(line[0], "PPid") || strtol(line[0] + 6, NULL, 10) != getpid());
	T_EQ_S(line[1], "SigBlk:\t0000000000000000");
	T_EQ_S(line[2], "SigIgn:\t0000000000000000");
	T_EQ_S(line[3], "/");
	T_EQ_S(line[4], "0 1 2 3 /dev/null");
	T_OK(strtol(line[5], NULL, 10) != getsid(0));
	T_OK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);

	/* an executable that is not there: the other end sees the end of the stream */
	T_EQ_I(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	T_EQ_I(tg_mark_spawn("/nonexistent", (char *const *)(uintptr_t)argv, pair[1]), 0);
	close(pair[1]);
	T_EQ_I(read(pair[0], text, 1), 0);
	close(pair[0]);
}

int main(void)
{
	char dir[] = "/tmp/tg-mark-XXXXXX";
	struct tg_buf clean = TG_BUF_INIT;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!mkdtemp(dir))
		return 99;
	setenv("XDG_RUNTIME_DIR", dir, 1);
	test_parse();
	test_refuse();
	test_cut();
	test_address(dir);
	test_variable();
	test_client(dir);
	test_drain(dir);
	test_spawn();
	tg_buf_addf(&clean, "rm -r %s", dir);
	T_EQ_I(system(clean.data), 0);
	tg_buf_release(&clean);
	return t_done();
}
