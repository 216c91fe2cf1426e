/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/proxy.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <sodium.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/paths.h"
#include "base/pidfd.h"
#include "jupyter/state.h"

#include "base/mem.h"

#define GATE_AGAIN_NS   (20 * TG_NS_PER_MS) /* after a reply that came without its idle */
#define GATE_TRIES      50 /* a kernel that never says idle for it gets through all the same */
#define GATE_NS         (10 * TG_NS_PER_S) /* nor does one that never answers hold up the rest */
#define CONNECT_POLL_MS 3
#define TERM_WAIT_NS    (2 * TG_NS_PER_S) /* for a kernel that never got ready */
#define TERM_TOLD_NS    (60 * TG_NS_PER_S) /* an end later than that has another reason */
#define TRIM_BYTES      (8u << 20) /* passed on: memory is given back at the next quiet moment */
#define TRIM_QUIET_NS   (500 * TG_NS_PER_MS) /* clients' heartbeats, one a second, aside */

/* ---- start ---- */

/*
 * The environment that the executable is installed in: /x/.venv for /x/.venv/bin/tachograph. Its
 * python is the one that `python -m tachograph` was started with.
 */
static void find_prefix(struct tg_proxy *p)
{
	char *slash;

	if (!tg_paths_self(&p->prefix)) {
		tg_buf_adds(&p->worker_exe, p->prefix.data);
		for (int i = 0; i < 2; i++) {
			slash = strrchr(p->prefix.data, '/');
			if (slash) {
				p->prefix.len = (size_t)(slash - p->prefix.data);
				*slash = '\0';
			}
		}
	}
	if (p->options->worker) {
		tg_buf_clear(&p->worker_exe);
		tg_buf_adds(&p->worker_exe, p->options->worker);
	}
	if (p->options->python) {
		tg_buf_adds(&p->python, p->options->python);
		return;
	}
	tg_buf_addf(&p->python, "%s/bin/python3", p->prefix.data);
	if (access(p->python.data, X_OK)) {
		tg_buf_clear(&p->python);
		tg_buf_adds(&p->python, "python3");
	}
}

/* Sixteen hexadecimal digits that stay the same over restarts of this kernel. */
static void make_id(struct tg_proxy *p)
{
	char *path = realpath(p->options->connection_file, NULL);
	const char *name = path ? path : p->options->connection_file;
	unsigned char hash[crypto_generichash_BYTES_MIN], random[8];

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)name, strlen(name), NULL, 0);
	sodium_bin2hex(p->id, sizeof(p->id), hash, 8);
	free(path);
	randombytes_buf(random, sizeof(random));
	memcpy(p->gate_id, "tg-", 3);
	sodium_bin2hex(p->gate_id + 3, sizeof(p->gate_id) - 3, random, sizeof(random));
}

static int set_curve(struct tg_proxy *p, void *s)
{
	const int one = 1;

	if (!p->conn.curve_secret)
		return 0;
	return zmq_setsockopt(s, ZMQ_CURVE_SERVER, &one, sizeof(one)) ||
			       zmq_setsockopt(s, ZMQ_CURVE_SECRETKEY, p->conn.curve_secret,
				       strlen(p->conn.curve_secret) + 1)
		       ? -errno
		       : 0;
}

static int bind_outer(struct tg_proxy *p, struct tg_err *err)
{
	static const int one = 1, none = 0, linger_ms = 1000;

	for (int i = 0; i < TG_N_CHANNELS; i++) {
		void *s = zmq_socket(p->context, i == TG_IOPUB ? ZMQ_XPUB : ZMQ_ROUTER);

		if (!s)
			return tg_err_set(err, -errno, "no socket: %s", zmq_strerror(errno));
		p->outer[i] = s;
		zmq_setsockopt(s, ZMQ_LINGER, &linger_ms, sizeof(linger_ms));
		zmq_setsockopt(s, ZMQ_RCVHWM, &none, sizeof(none));
		/* of iopub, what waits is bounded by backlog.c */
		zmq_setsockopt(s, ZMQ_SNDHWM, &none, sizeof(none));
		zmq_setsockopt(s, i == TG_IOPUB ? ZMQ_XPUB_VERBOSE : ZMQ_ROUTER_HANDOVER, &one,
			sizeof(one));
		if (set_curve(p, s))
			return tg_err_set(err, -EPROTONOSUPPORT,
				"\"curve_secretkey\" cannot be used: %s", zmq_strerror(errno));
		tg_buf_clear(&p->text);
		tg_conn_endpoint(&p->conn, (enum tg_channel)i, &p->text);
		if (zmq_bind(s, p->text.data))
			return tg_err_set(err, -errno, "cannot listen on %s: %s", p->text.data,
				zmq_strerror(errno));
	}
	return 0;
}

static void start_recorder(struct tg_proxy *p)
{
	const char *notebook = getenv("JPY_SESSION_NAME");
	struct tg_buf why = TG_BUF_INIT;

	tg_settings_start(&p->settings, p->options->report, &why);
	if (p->options->record)
		tg_marker_start(&p->marker, &p->requests, &p->settings, p->id,
			notebook && *notebook ? notebook : p->spec.name);
	else
		tg_marker_off(&p->marker, "this kernel was started with --no-record");
	if (!p->options->record)
		tg_buf_clear(&p->marker.warning);
	tg_buf_add(&p->marker.warning, why.data, why.len);
	tg_buf_release(&why);
}

/*
 * The server that started us: a descriptor that becomes readable when it is gone; without one
 * (Linux 4.18, some containers) our parent is looked at once a second, as ipykernel does.
 */
static void watch_parent(struct tg_proxy *p)
{
	const char *text = getenv("JPY_PARENT_PID");
	long pid = text ? strtol(text, NULL, 10) : 0;

	if (pid <= 1)
		return;
	p->parent_fd = tg_pidfd_open((pid_t)pid);
	if (p->parent_fd < 0)
		p->parent = getppid();
}

static int start_inner(struct tg_proxy *p, struct tg_err *err)
{
	struct tg_inner_start start = {
		.outer = &p->conn,
		.outer_file = p->options->connection_file,
		.id = p->id,
		.spec = &p->spec,
		.prefix = p->prefix.data,
		.python = p->python.data,
		.more = p->options->more,
		.recorder = p->marker.off ? NULL : p->marker.socket.data,
		.signals = &p->signals,
		.context = p->context,
		.tcp = p->tcp,
	};
	int ret = tg_inner_start(&p->inner, &start, err);

	if (ret)
		tg_err_prefix(err, "the kernel cannot be started");
	else
		tg_marker_run(&p->marker, p->inner.pid, p->spec.name);
	return ret;
}

static int start(struct tg_proxy *p, struct tg_err *err)
{
	const struct tg_proxy_options *o = p->options;
	int ret;

	p->tcp = o->tcp;
	if (sodium_init() < 0)
		return tg_err_set(err, -ENOSYS, "libsodium does not start");
	if ((ret = tg_conn_read(&p->conn, o->connection_file, err)))
		return ret;
	tg_sign_init(&p->sign, p->conn.key, strlen(p->conn.key));
	find_prefix(p);
	make_id(p);
	ret = o->spec ? tg_kernelspec_read(&p->spec, o->spec, err)
		      : tg_kernelspec_find(
				&p->spec, o->kernel ? o->kernel : "python3", p->prefix.data, err);
	if (ret)
		return ret;
	if ((ret = tg_signals_open(&p->signals, false)))
		return tg_err_set(err, ret, "no signalfd: %s", strerror(-ret));
	watch_parent(p);
	p->context = zmq_ctx_new();
	if (!p->context)
		return tg_err_set(err, -errno, "no zmq context: %s", zmq_strerror(errno));
	if ((ret = bind_outer(p, err)))
		return ret;
	start_recorder(p);
	return start_inner(p, err);
}

/* ---- the loop ---- */

/*
 * Some kernels cannot listen on ipc: xeus ends where the name has more than 31 characters. One that
 * ended with an error, or by an assertion, before it was ready is started once more, over tcp.
 */
static void start_over_tcp(struct tg_proxy *p, struct tg_err *err)
{
	tg_inner_reap(&p->inner);
	tg_inner_close(&p->inner);
	p->tcp = true;
	p->n_gate = 0;
	p->gate_replied = false;
	if (start_inner(p, err)) {
		tg_marker_run_end(&p->marker, 1, 0, "died");
		p->done = true;
	}
}

static void on_ended(struct tg_proxy *p, int code, int signal, struct tg_err *err)
{
	bool told = p->shutting || p->term_early ||
		    (p->term && (!signal || signal == p->term) &&
			    tg_mono_ns() - p->term_ns < TERM_TOLD_NS);

	if (!told && !p->ready && (code || signal == SIGABRT) && p->inner.conn.ipc) {
		start_over_tcp(p, err);
		return;
	}
	tg_death(p, code, signal);
	tg_marker_run_end(&p->marker, code, signal, told ? "ok" : "died");
	if (p->shutting && !p->restart)
		tg_marker_bye(&p->marker);
	tg_inner_reap(&p->inner);
	p->done = true;
	p->exit_status = signal ? 128 + signal : code;
	if (told)
		p->exit_status = p->ready ? p->exit_status : 0;
	else if (!p->ready)
		p->exit_status = tg_err_set(err, 1,
			"the kernel \"%.60s\" ended before it was ready, with %s %d", p->spec.name,
			signal ? "signal" : "exit code", signal ? signal : code);
}

static void on_signals(struct tg_proxy *p)
{
	struct signalfd_siginfo info;

	while (read(p->signals.fd, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGINT:
			/* the group has it already; a kernel that wants messages gets one */
			if (p->spec.interrupt_by_message && p->ready)
				tg_emit_request(p, TG_CONTROL, "interrupt_request");
			break;
		case SIGTERM:
		case SIGHUP:
			/* what it sent to its group it has already, and nobody else asked for */
			if (info.ssi_code == SI_USER && (pid_t)info.ssi_pid == p->inner.pid)
				break;
			if (p->inner.pid > 0)
				kill(p->inner.pid, (int)info.ssi_signo);
			p->term = (int)info.ssi_signo;
			p->term_ns = tg_mono_ns();
			p->term_early = p->term_early || !p->ready;
			break;
		default: /* SIGCHLD: the user's kernel is looked after by the caller */
			tg_worker_reap(&p->worker);
			break;
		}
	}
}

static void on_subscription(struct tg_proxy *p)
{
	while (tg_msg_recv(&p->msg, p->outer[TG_IOPUB]) > 0) {
		zmq_msg_t *f = &p->msg.frame[0];
		const char *data = zmq_msg_data(f);

		/* 1 and the topic: a subscription; 0 and the topic: its end */
		if (zmq_msg_size(f) >= 1 && data[0] == 1)
			tg_emit_welcome(p, data + 1, zmq_msg_size(f) - 1);
	}
}

static void on_heartbeat(struct tg_proxy *p)
{
	while (tg_msg_recv(&p->msg, p->outer[TG_HB]) > 0)
		tg_msg_send(&p->msg, p->outer[TG_HB]);
}

/*
 * The first busy and idle of a kernel are lost to a subscriber that connects late. So the front
 * end is not read before a request of our own has had its reply and its idle.
 */
static void tend_gate(struct tg_proxy *p)
{
	int64_t now = tg_mono_ns();

	if (!tg_inner_connect(&p->inner))
		return;
	if (!p->ready) {
		if (!p->n_gate)
			p->connected_ns = now;
		if (!p->n_gate || (p->gate_replied && now - p->gate_ns > GATE_AGAIN_NS)) {
			p->gate_replied = false;
			tg_emit_request(p, TG_SHELL, "kernel_info_request");
		}
		p->ready = p->n_gate > GATE_TRIES || now - p->connected_ns > GATE_NS;
	}
	if (p->ready)
		tg_forward_held(p);
}

static void kill_inner(struct tg_proxy *p)
{
	if (p->inner.pid > 0)
		kill(p->inner.pid, SIGKILL);
}

/* Told once: a kernel that does not die at once must not keep the loop busy. */
static void on_parent_gone(struct tg_proxy *p)
{
	if (p->parent_fd >= 0)
		close(p->parent_fd);
	p->parent_fd = -1;
	p->parent = 0;
	p->shutting = true;
	kill_inner(p);
}

enum item {
	SIGNALS,
	PARENT,
	WORKER,
	RECORDER,
	SUBSCRIPTION,
	HEARTBEAT,
	IOPUB,
	REPLY,
	CONTROL_REPLY,
	INPUT,
	CONTROL,
	SHELL,
	INPUT_REPLY,
	N_ITEMS
};

static bool can_give_back(const struct tg_proxy *p)
{
	return p->n_bytes + p->backlog.freed > TRIM_BYTES;
}

/* What a flood left: heap that nothing uses, and buffers that had grown to its largest message. */
static void give_back(struct tg_proxy *p)
{
	tg_requests_trim(&p->requests);
	if (!p->replies.n)
		tg_outbox_release(&p->replies);
	if (!p->iopub.n)
		tg_outbox_release(&p->iopub);
	tg_msg_release(&p->msg);
	tg_msg_release(&p->own);
	tg_buf_release(&p->text);
	malloc_trim(0);
	p->n_bytes = 0;
	p->backlog.freed = 0;
}

/* How long nothing can happen, in ms; -1: for ever. */
static int poll_timeout(const struct tg_proxy *p)
{
	int64_t at = TG_MIN(tg_ask_deadline(p), tg_usage_deadline(p)), left;
	int ms = -1;

	at = TG_MIN(at, tg_marker_deadline(&p->marker));
	at = TG_MIN(at, tg_backlog_deadline(&p->backlog));
	if (!p->inner.connected)
		return CONNECT_POLL_MS;
	if (!p->ready)
		ms = 10;
	else if (p->term_early)
		ms = 100;
	else if (can_give_back(p) || p->backlog.bytes > TRIM_BYTES || p->parent)
		ms = 1000; /* who reads what waits, or leaves, frees memory without a word */
	if (at == INT64_MAX)
		return ms;
	left = TG_MAX((at - tg_mono_ns()) / TG_NS_PER_MS + 1, 0);
	return ms < 0 ? (int)TG_MIN(left, 60000) : (int)TG_MIN(left, ms);
}

/* A descriptor to wait for, or nothing in its place. */
static zmq_pollitem_t watch(const struct tg_proxy *p, int fd, bool write_too)
{
	short events = write_too ? ZMQ_POLLIN | ZMQ_POLLOUT : ZMQ_POLLIN;

	return (zmq_pollitem_t){ NULL, fd >= 0 ? fd : p->signals.fd, fd >= 0 ? events : (short)0,
		0 };
}

static void turn(struct tg_proxy *p, struct tg_err *err)
{
	const short in = ZMQ_POLLIN, answer = p->ready ? in : 0;
	const short shell = p->ready && tg_requests_room(&p->requests, TG_SHELL) ? in : 0;
	const short control = tg_requests_room(&p->requests, TG_CONTROL) ? in : 0;
	const short iopub = p->iopub.n < TG_OUTBOX_MAX ? in : 0;
	const short reply = p->replies.n < TG_OUTBOX_MAX ? in : 0;
	zmq_pollitem_t item[N_ITEMS] = {
		[SIGNALS] = { NULL, p->signals.fd, in, 0 },
		[PARENT] = watch(p, p->parent_fd, false),
		[WORKER] = watch(p, p->worker.fd, p->worker.out.len),
		[RECORDER] = watch(p, tg_marker_fd(&p->marker), tg_marker_waits(&p->marker)),
		[SUBSCRIPTION] = { p->outer[TG_IOPUB], 0, in, 0 },
		[HEARTBEAT] = { p->outer[TG_HB], 0, in, 0 },
		[IOPUB] = { p->inner.socket[TG_IOPUB], 0, iopub, 0 },
		[REPLY] = { p->inner.socket[TG_SHELL], 0, reply, 0 },
		[CONTROL_REPLY] = { p->inner.socket[TG_CONTROL], 0, in, 0 },
		[INPUT] = { p->inner.socket[TG_STDIN], 0, in, 0 },
		[CONTROL] = { p->outer[TG_CONTROL], 0, control, 0 },
		[SHELL] = { p->outer[TG_SHELL], 0, shell, 0 },
		[INPUT_REPLY] = { p->outer[TG_STDIN], 0, answer, 0 },
	};
	int n = zmq_poll(item, N_ITEMS, poll_timeout(p)), code, signal;

	if (n < 0)
		return; /* EINTR */
	if (n > (item[HEARTBEAT].revents ? 1 : 0))
		p->busy_ns = tg_mono_ns();
	else if (p->ready && can_give_back(p) && tg_mono_ns() - p->busy_ns > TRIM_QUIET_NS)
		give_back(p);
	if (item[SIGNALS].revents)
		on_signals(p);
	if (item[PARENT].revents || (p->parent && getppid() != p->parent))
		on_parent_gone(p);
	if (item[WORKER].revents)
		tg_ask_read(p);
	if (item[RECORDER].revents)
		tg_usage_read(p);
	if (item[SUBSCRIPTION].revents)
		on_subscription(p);
	if (item[HEARTBEAT].revents)
		on_heartbeat(p);
	if (item[IOPUB].revents)
		tg_forward_iopub(p);
	if (item[REPLY].revents)
		tg_forward_reply(p, TG_SHELL);
	if (item[CONTROL_REPLY].revents)
		tg_forward_reply(p, TG_CONTROL);
	if (item[INPUT].revents)
		tg_forward_reply(p, TG_STDIN);
	if (p->ready && p->held)
		tg_forward_held(p); /* before what came after it */
	if (item[CONTROL].revents)
		tg_forward_request(p, TG_CONTROL);
	if (item[SHELL].revents)
		tg_forward_request(p, TG_SHELL);
	if (item[INPUT_REPLY].revents)
		tg_forward_request(p, TG_STDIN);
	tg_ask_tick(p);
	tg_usage_tick(p);
	tg_marker_tick(&p->marker);
	tg_backlog_tick(&p->backlog, &p->conn);
	/* one that is ready has the time that it takes, as without us */
	if (p->term_early && tg_mono_ns() - p->term_ns > TERM_WAIT_NS)
		kill_inner(p);
	if (tg_inner_ended(&p->inner, &code, &signal))
		on_ended(p, code, signal, err);
	else if (!p->ready || p->held)
		tend_gate(p);
}

static void release(struct tg_proxy *p)
{
	kill_inner(p);
	tg_inner_reap(&p->inner);
	tg_inner_close(&p->inner);
	for (int i = 0; i < TG_N_CHANNELS; i++)
		if (p->outer[i])
			zmq_close(p->outer[i]);
	for (size_t i = 0; i < p->n_held; i++)
		tg_msg_release(&p->held[i]);
	free(p->held);
	tg_worker_stop(&p->worker);
	tg_marker_release(&p->marker);
	tg_outbox_release(&p->replies);
	tg_outbox_release(&p->iopub);
	for (size_t i = 0; i < TG_USAGE_MAX; i++)
		tg_msg_release(&p->usage[i].msg);
	tg_msg_release(&p->msg);
	tg_msg_release(&p->own);
	tg_requests_release(&p->requests);
	if (p->context)
		zmq_ctx_term(p->context);
	tg_backlog_release(&p->backlog);
	if (p->parent_fd >= 0)
		close(p->parent_fd);
	if (p->signals.fd >= 0)
		tg_signals_close(&p->signals);
	tg_kernelspec_release(&p->spec);
	tg_conn_release(&p->conn);
	tg_buf_release(&p->prefix);
	tg_buf_release(&p->python);
	tg_buf_release(&p->worker_exe);
	tg_buf_release(&p->text);
	tg_buf_release(&p->session);
	tg_buf_release(&p->language);
	sodium_memzero(&p->sign, sizeof(p->sign));
}

/*
 * Two threads of small messages: one arena, so that what a flood took can be given back. A buffer
 * of 50 MB is used again for the next: mapped anew for each, its pages cost more than the copies.
 */
static void set_heap(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT_MAX); /* give_back trims */
}

int tg_proxy_run(const struct tg_proxy_options *options, struct tg_err *err)
{
	struct tg_proxy p = {
		.options = options,
		.conn = { .others = TG_BUF_INIT },
		.signals = { .fd = -1 },
		.inner = { .dir = TG_BUF_INIT,
			.file = TG_BUF_INIT,
			.lock_fd = -1,
			.conn = { .others = TG_BUF_INIT } },
		.parent_fd = -1,
		.worker = TG_WORKER_INIT,
		.worker_exe = TG_BUF_INIT,
		.marker = { .off = true,
			.output = TG_BUF_INIT,
			.file = TG_BUF_INIT,
			.socket = TG_BUF_INIT,
			.refusal = TG_BUF_INIT,
			.why = TG_BUF_INIT,
			.warning = TG_BUF_INIT,
			.warned = TG_BUF_INIT,
			.kernel = TG_BUF_INIT },
		.prefix = TG_BUF_INIT,
		.python = TG_BUF_INIT,
		.text = TG_BUF_INIT,
		.session = TG_BUF_INIT,
		.language = TG_BUF_INIT,
		.exit_status = 1,
	};

	tg_emit_date(p.started);
	set_heap();
	if (!start(&p, err))
		while (!p.done)
			turn(&p, err);
	release(&p);
	return p.exit_status;
}
