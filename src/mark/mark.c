/* SPDX-License-Identifier: BSD-3-Clause */
/* The client: builds the datagrams of mark/protocol.h, sends without waiting, takes answers. */
#include "mark/mark.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "mark/address.h"
#include "mark/protocol.h"
#include "mark/start.h"

#include "base/mem.h"

#define KEPT_MAX  (64u << 10) /* bytes of ends that wait: some hundred */
#define NOTE_SIZE 128

struct tg_mark {
	int fd;
	bool gone;
	uint64_t dropped,
		told; /* marks that are lost, and how many of them the recorder knows of */
	struct tg_buf out;
	struct tg_buf kept; /* ends that wait, each behind its length, a uint32_t */
	char *in; /* TG_MARK_DATAGRAM_MAX bytes, made at the first answer */
};

static struct tg_mark *new_mark(int fd)
{
	struct tg_mark *m = tg_xcalloc(1, sizeof(*m));

	m->fd = fd;
	tg_buf_init(&m->out);
	tg_buf_init(&m->kept);
	return m;
}

int tg_mark_connect(struct tg_mark **out, const char *socket_path, struct tg_err *err)
{
	int fd = tg_mark_socket_connect(socket_path);

	if (fd < 0)
		return tg_err_set(
			err, fd, "no recorder answers at %s: %s", socket_path, strerror(-fd));
	*out = new_mark(fd);
	return 0;
}

const char *tg_mark_connect_told(struct tg_mark **out)
{
	const char *told = getenv(TG_MARK_ENV);
	struct tg_mark_address address;

	if (!told || tg_mark_address_parse(&address, told) < 0 ||
		!tg_mark_address_is_here(&address) || tg_mark_connect(out, address.path, NULL) < 0)
		return NULL;
	return told;
}

/* `output` as an absolute path, because a recorder's working folder is /. */
static int absolute(struct tg_buf *out, const char *output, struct tg_err *err)
{
	char cwd[PATH_MAX];

	if (output[0] != '/') {
		if (!getcwd(cwd, sizeof(cwd)))
			return tg_err_set(
				err, -errno, "cannot tell the working folder: %s", strerror(errno));
		tg_buf_addf(out, "%s/", cwd);
	}
	tg_buf_adds(out, output);
	return 0;
}

/* `runtime` is the folder of the socket: whoever else starts a recorder must look in the same. */
static int spawn(const struct tg_mark_start *start, const char *runtime, int fd, struct tg_err *err)
{
	struct tg_buf output = TG_BUF_INIT;
	char root[24], interval[24], idle[24], linger[24];
	const char *argv[] = { "tachograph", "recorder", "--fd", "3", "--id", start->id, "--output",
		NULL, "--root", root, "--interval-ns", interval, "--idle-interval-ns", idle,
		"--linger-ns", linger, "--what", start->what ? start->what : "record", "--runtime",
		runtime, start->no_args ? "--no-args" : NULL, NULL };
	int r;

	r = absolute(&output, start->output, err);
	if (r < 0)
		return r;
	argv[7] = output.data;
	snprintf(root, sizeof(root), "%d", (int)start->root);
	snprintf(interval, sizeof(interval), "%" PRId64, start->interval_ns);
	snprintf(idle, sizeof(idle), "%" PRId64, start->idle_interval_ns);
	snprintf(linger, sizeof(linger), "%" PRId64, start->linger_ns);
	r = tg_mark_spawn(
		start->exe ? start->exe : "/proc/self/exe", (char *const *)(uintptr_t)argv, fd);
	if (r < 0)
		tg_err_set(err, r, "cannot start a recorder: %s", strerror(-r));
	tg_buf_release(&output);
	return r;
}

int tg_mark_start(struct tg_mark **out, const struct tg_mark_start *start, struct tg_err *err)
{
	struct tg_buf path = TG_BUF_INIT;
	int pair[2], fd, r;

	r = tg_mark_path(&path, start->id, ".sock", err);
	if (r < 0)
		return r;
	fd = tg_mark_socket_connect(path.data);
	*strrchr(path.data, '/') = '\0';
	if (fd >= 0) {
		*out = new_mark(fd);
		if (start->interval_ns > 0)
			tg_mark_set(*out, "interval_ns", start->interval_ns);
		if (start->idle_interval_ns > 0)
			tg_mark_set(*out, "idle_interval_ns", start->idle_interval_ns);
		if (start->root > 0)
			tg_mark_root(*out, start->root);
		goto out;
	}
	if (fd == -EPERM) {
		r = tg_err_set(err, fd, "the recorder %s belongs to another user", start->id);
		goto out;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
		r = tg_err_set(err, -errno, "cannot make a socket: %s", strerror(errno));
		goto out;
	}
	r = spawn(start, path.data, pair[1], err);
	close(pair[1]);
	if (r < 0)
		close(pair[0]);
	else
		*out = new_mark(pair[0]);
out:
	tg_buf_release(&path);
	return r;
}

void tg_mark_close(struct tg_mark *m)
{
	if (!m)
		return;
	close(m->fd);
	tg_buf_release(&m->out);
	tg_buf_release(&m->kept);
	free(m->in);
	free(m);
}

int tg_mark_fd(const struct tg_mark *m)
{
	return m->fd;
}

uint64_t tg_mark_dropped(const struct tg_mark *m)
{
	return m->dropped;
}

/* 0, -EAGAIN or -EPIPE. EMSGSIZE and ENOBUFS are as good as a full queue. */
static int send_now(struct tg_mark *m, const char *data, size_t len)
{
	ssize_t n = -1;

	if (!m->gone && len <= TG_MARK_DATAGRAM_MAX) {
		do
			n = send(m->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		while (n < 0 && errno == EINTR);
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN))
			m->gone = true;
	}
	return n >= 0 ? 0 : m->gone ? -EPIPE : -EAGAIN;
}

bool tg_mark_waits(const struct tg_mark *m)
{
	return !m->gone && (m->kept.len > 0 || m->dropped > m->told);
}

/* What the recorder is to note of the marks that are lost. Returns its length. */
static size_t format_lost(const struct tg_mark *m, char note[NOTE_SIZE])
{
	uint64_t lost = m->dropped - m->told;

	return (size_t)snprintf(note, NOTE_SIZE,
		"{\"op\":\"note\",\"text\":\"%" PRIu64 " %s lost: the recorder did not take %s\"}",
		lost, lost == 1 ? "mark is" : "marks are", lost == 1 ? "it" : "them");
}

int tg_mark_resume(struct tg_mark *m)
{
	size_t done = 0;
	char note[NOTE_SIZE];
	int r = m->gone ? -EPIPE : 0;

	while (r == 0 && done < m->kept.len) {
		uint32_t size;

		memcpy(&size, m->kept.data + done, sizeof(size));
		r = send_now(m, m->kept.data + done + sizeof(size), size);
		if (r == 0)
			done += sizeof(size) + size;
	}
	tg_buf_splice(&m->kept, 0, done, NULL, 0);
	if (r < 0 || m->dropped == m->told)
		return r;
	r = send_now(m, note, format_lost(m, note));
	if (r == 0)
		m->told = m->dropped;
	return r;
}

int tg_mark_drain(struct tg_mark *m, int timeout_ms)
{
	int64_t deadline = tg_mono_ns() + timeout_ms * TG_NS_PER_MS;
	int r = 0;

	while (tg_mark_waits(m) && (r = tg_mark_resume(m)) == -EAGAIN) {
		struct pollfd p = { .fd = m->fd, .events = POLLOUT };
		int64_t left = deadline - tg_mono_ns();

		if (left <= 0)
			break;
		poll(&p, 1, (int)(left / TG_NS_PER_MS) + 1);
	}
	return r;
}

uint64_t tg_mark_untold(const struct tg_mark *m)
{
	uint64_t n = m->dropped - m->told;
	uint32_t size;

	for (size_t at = 0; at < m->kept.len; at += sizeof(size) + size, n++)
		memcpy(&size, m->kept.data + at, sizeof(size));
	return n;
}

static void keep(struct tg_mark *m, const char *data, size_t len)
{
	uint32_t size = (uint32_t)len;

	tg_buf_add(&m->kept, &size, sizeof(size));
	tg_buf_add(&m->kept, data, len);
}

/* Start a message in m->out. */
static void open_message(struct tg_mark *m, struct tg_jw *w, enum tg_mark_op op)
{
	tg_buf_clear(&m->out);
	tg_jw_init(w, &m->out);
	tg_jw_begin_object(w);
	tg_jw_kstr(w, "op", tg_mark_op_name(op));
}

/* Send what is in m->out, behind what waits. */
static int send_message(struct tg_mark *m, struct tg_jw *w)
{
	int r;

	tg_jw_end_object(w);
	r = tg_mark_resume(m);
	return r < 0 ? r : send_now(m, m->out.data, m->out.len);
}

static int send_mark(struct tg_mark *m, struct tg_jw *w)
{
	int r = send_message(m, w);

	m->dropped += r == -EAGAIN;
	return r;
}

static int send_end(struct tg_mark *m, struct tg_jw *w)
{
	int r = send_message(m, w);

	if (r == -EAGAIN && m->kept.len + sizeof(uint32_t) + m->out.len <= KEPT_MAX) {
		keep(m, m->out.data, m->out.len);
		return 0;
	}
	m->dropped += r == -EAGAIN;
	return r;
}

static void add_text(struct tg_jw *w, const char *key, const char *s, size_t max)
{
	if (!s || !*s)
		return;
	tg_jw_key(w, key);
	tg_jw_strn(w, s, tg_mark_cut(s, strlen(s), max));
}

/* Attributes that are no object, or too many, would cost the whole message: they are left out. */
static void add_attrs(struct tg_jw *w, const char *attrs_json)
{
	size_t len = attrs_json ? strlen(attrs_json) : 0;
	struct tg_buf compact = TG_BUF_INIT;
	struct tg_json *v;

	if (len == 0 || len > TG_MARK_ATTRS_MAX)
		return;
	v = tg_json_parse(attrs_json, len, NULL);
	if (tg_json_is_object(v))
		tg_json_dump(v, &compact);
	if (compact.len > 0 && compact.len <= TG_MARK_ATTRS_MAX) {
		tg_jw_key(w, "attrs");
		tg_jw_raw(w, compact.data, compact.len);
	}
	tg_buf_release(&compact);
	tg_json_free(v);
}

static void add_moment(struct tg_jw *w, int64_t t_ns, bool edge)
{
	if (t_ns > 0)
		tg_jw_kint(w, "t", t_ns);
	if (edge)
		tg_jw_kbool(w, "edge", true);
}

/* The longest beginning of the code whose quoted form leaves the datagram within its bound. */
static void add_code(struct tg_jw *w, const char *code, size_t code_len)
{
	size_t len = tg_mark_cut(code, code_len, TG_MARK_CODE_MAX);
	struct tg_buf quoted = TG_BUF_INIT;

	while (len > 0) {
		tg_buf_clear(&quoted);
		tg_json_quote(&quoted, code, len);
		if (w->out->len + quoted.len + 16 <= TG_MARK_DATAGRAM_MAX)
			break;
		len = tg_mark_cut(code, len, len - len / 8 - 1);
	}
	if (len > 0) {
		tg_jw_key(w, "code");
		tg_jw_raw(w, quoted.data, quoted.len);
	}
	tg_buf_release(&quoted);
}

int tg_mark_begin(struct tg_mark *m, const struct tg_mark_span *span)
{
	struct tg_jw w;

	open_message(m, &w, TG_MARK_BEGIN);
	add_text(&w, "id", span->id, TG_MARK_ID_MAX);
	add_text(&w, "kind", span->kind, TG_MARK_WORD_MAX);
	add_text(&w, "name", span->name, TG_MARK_NAME_MAX);
	add_moment(&w, span->t_ns, span->edge);
	if (span->count >= 0)
		tg_jw_kint(&w, "count", span->count);
	add_text(&w, "lane", span->lane, TG_MARK_NAME_MAX);
	if (span->of_parent)
		tg_jw_kbool(&w, "of_parent", true);
	add_attrs(&w, span->attrs_json);
	if (span->code)
		add_code(&w, span->code, span->code_len);
	return send_mark(m, &w);
}

int tg_mark_end(struct tg_mark *m, const char *id, int64_t t_ns, bool edge, const char *status)
{
	struct tg_jw w;

	open_message(m, &w, TG_MARK_END);
	add_text(&w, "id", id, TG_MARK_ID_MAX);
	add_moment(&w, t_ns, edge);
	add_text(&w, "status", status, TG_MARK_WORD_MAX);
	return send_end(m, &w);
}

int tg_mark_moment(struct tg_mark *m, const char *name, int64_t t_ns, const char *attrs_json)
{
	struct tg_jw w;

	open_message(m, &w, TG_MARK_MOMENT);
	add_text(&w, "name", name, TG_MARK_NAME_MAX);
	add_moment(&w, t_ns, false);
	add_attrs(&w, attrs_json);
	return send_mark(m, &w);
}

int tg_mark_note(struct tg_mark *m, const char *text)
{
	struct tg_jw w;

	open_message(m, &w, TG_MARK_NOTE);
	add_text(&w, "text", text, TG_MARK_TEXT_MAX);
	return send_mark(m, &w);
}

static int send_root(struct tg_mark *m, enum tg_mark_op op, pid_t pid)
{
	struct tg_jw w;

	open_message(m, &w, op);
	tg_jw_kint(&w, "pid", pid);
	return send_mark(m, &w);
}

int tg_mark_root(struct tg_mark *m, pid_t pid)
{
	return send_root(m, TG_MARK_ROOT, pid);
}

int tg_mark_root_asked(struct tg_mark *m, pid_t pid)
{
	return send_root(m, TG_MARK_ROOT_ASKED, pid);
}

int tg_mark_root_end(struct tg_mark *m, pid_t pid, int exit_code, int signal)
{
	struct tg_jw w;

	open_message(m, &w, TG_MARK_ROOT_END);
	tg_jw_kint(&w, "pid", pid);
	if (signal > 0)
		tg_jw_kint(&w, "signal", signal);
	else if (signal == 0 && exit_code >= 0)
		tg_jw_kint(&w, "exit", exit_code);
	return send_end(m, &w);
}

int tg_mark_set(struct tg_mark *m, const char *key, int64_t value)
{
	struct tg_jw w;

	open_message(m, &w, TG_MARK_SET);
	tg_jw_kstr(&w, "key", key);
	tg_jw_kint(&w, "value", value);
	return send_mark(m, &w);
}

int tg_mark_bye(struct tg_mark *m)
{
	char note[NOTE_SIZE];
	struct tg_jw w;
	int r;

	open_message(m, &w, TG_MARK_BYE);
	r = send_message(m, &w);
	if (r != -EAGAIN)
		return r;
	/* nothing is read behind it: what is lost is said before */
	if (m->dropped > m->told)
		keep(m, note, format_lost(m, note));
	m->told = m->dropped;
	keep(m, m->out.data, m->out.len);
	return 0;
}

static int ask(struct tg_mark *m, enum tg_mark_op op, int64_t n)
{
	struct tg_jw w;

	open_message(m, &w, op);
	tg_jw_kint(&w, "n", n);
	return send_message(m, &w);
}

int tg_mark_ask_hello(struct tg_mark *m, int64_t n)
{
	return ask(m, TG_MARK_HELLO, n);
}

int tg_mark_ask_flush(struct tg_mark *m, int64_t n)
{
	return ask(m, TG_MARK_FLUSH, n);
}

int tg_mark_ask_usage(struct tg_mark *m, int64_t n)
{
	return ask(m, TG_MARK_USAGE, n);
}

int tg_mark_ask_progress(struct tg_mark *m, int64_t n)
{
	return ask(m, TG_MARK_PROGRESS, n);
}

int tg_mark_ask_oom(struct tg_mark *m, int64_t n)
{
	return ask(m, TG_MARK_OOM, n);
}

int tg_mark_answer(struct tg_mark *m, struct tg_json **answer)
{
	bool reset = false;

	*answer = NULL;
	if (!m->in)
		m->in = tg_xmalloc(TG_MARK_DATAGRAM_MAX);
	for (;;) {
		ssize_t n = recv(m->fd, m->in, TG_MARK_DATAGRAM_MAX, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		/* told once of one that left with something unread; its last words are behind it */
		if (n < 0 && errno == ECONNRESET && !reset) {
			reset = true;
			continue;
		}
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			m->gone = true;
			return -EPIPE;
		}
		*answer = tg_json_parse(m->in, (size_t)n, NULL);
		if (*answer)
			return 1;
	}
}

/* As tg_mark_wait; what was refused meanwhile is in `err`, whose code is then set. */
static int wait_for(
	struct tg_mark *m, int64_t n, int timeout_ms, struct tg_json **answer, struct tg_err *err)
{
	int64_t deadline = tg_mono_ns() + timeout_ms * TG_NS_PER_MS;

	for (;;) {
		struct pollfd p = { .fd = m->fd, .events = POLLIN };
		int64_t left;
		int r = tg_mark_answer(m, answer);

		if (r < 0)
			return r;
		if (r == 1 && tg_json_int(tg_json_get(*answer, "re"), -1) == n)
			return 1;
		if (r == 1) {
			const char *refused = tg_json_str(tg_json_get(*answer, "error"), NULL);

			if (refused && err)
				tg_err_set(err, -EBADMSG, "%s", refused);
			tg_json_free(*answer);
			*answer = NULL;
			continue;
		}
		left = deadline - tg_mono_ns();
		if (left <= 0)
			return 0;
		poll(&p, 1, (int)(left / TG_NS_PER_MS) + 1);
	}
}

int tg_mark_wait(struct tg_mark *m, int64_t n, int timeout_ms, struct tg_json **answer)
{
	return wait_for(m, n, timeout_ms, answer, NULL);
}

int tg_mark_settle(struct tg_mark *m, int64_t n, int timeout_ms, struct tg_err *err)
{
	struct tg_err refused = { 0 };
	struct tg_json *answer = NULL;
	int r = tg_mark_ask_hello(m, n);

	if (r == 0)
		r = wait_for(m, n, timeout_ms, &answer, &refused);
	tg_json_free(answer);
	if (refused.code)
		return tg_err_set(err, refused.code, "%s", refused.text);
	if (r == 0)
		return tg_err_set(err, -ETIMEDOUT, "the recorder does not answer");
	return r < 0 ? tg_err_set(err, r, "the recorder has ended") : 0;
}
