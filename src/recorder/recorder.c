/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop: wait for the next moment that something is due (a tick, a flush, the clocks, the end)
 * or for something to come in (a mark, a signal, the death of the root, the writer's news).
 */
#include "recorder/recorder.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/tidy.h"
#include "mark/address.h"
#include "recorder/clients.h"
#include "recorder/job.h"
#include "recorder/lock.h"
#include "recorder/output.h"
#include "recorder/session.h"
#include "recorder/watch.h"

#include "base/mem.h"

#define INTERVAL_NS      (100 * TG_NS_PER_MS)
#define IDLE_INTERVAL_NS TG_NS_PER_S
#define LINGER_NS        (10 * TG_NS_PER_S)
#define OPENING_NS       (2 * TG_NS_PER_S) /* how long clients wait for a slow file system */
#define LOOK_NS          (2 * TG_NS_PER_S) /* whether our socket has its name */
#define LOCK_NS          (30 * TG_NS_PER_S)
#define FINISH_MS        60000
#define LAST_TURNS       256
#define BACKLOG          128

struct recorder {
	struct tg_recorder_options o;
	struct tg_buf socket_path, lock_path;
	int lock, signals;
	struct tg_clients *clients;
	struct tg_output *output;
	struct tg_output_state state;
	struct tg_job *job; /* NULL until the file is open */
	int64_t opening_until; /* clients are not read before that, or before the file is open */
	int64_t look_ns; /* when the socket's name is looked at next */
	int64_t lonely_since; /* root and clients are gone; 0: not so */
	bool bye, terminated; /* a client said so; a signal did */
	pid_t root; /* asked for before there was a job */
	uint64_t early; /* marks that came before it, too: there is no file for them */
};

static void answer_hello(struct recorder *r, uint64_t client, int64_t n)
{
	struct tg_buf out = TG_BUF_INIT;
	struct tg_jw w;

	tg_jw_init(&w, &out);
	tg_jw_begin_object(&w);
	tg_jw_kint(&w, "re", n);
	/* where it will be, when it is not open yet */
	tg_jw_kstr(&w, "file", r->state.file[0] ? r->state.file : r->o.output);
	if (r->state.open)
		tg_jw_kint(&w, "session", r->state.session);
	tg_jw_kstr(&w, "socket", r->socket_path.data);
	if (r->state.warning[0])
		tg_jw_kstr(&w, "warning", r->state.warning);
	else if (!r->state.open)
		tg_jw_kstr(
			&w, "warning", "nothing is recorded yet: the file system does not answer");
	tg_jw_end_object(&w);
	tg_clients_answer(r->clients, client, &out);
	tg_buf_release(&out);
}

static void answer_flush(struct recorder *r, uint64_t client, int64_t n)
{
	struct tg_item item = { .kind = TG_ITEM_FLUSH, .client = client, .number = n };

	tg_job_flush(r->job, tg_mono_ns());
	if (tg_output_push(r->output, &item) < 0)
		tg_clients_refuse(r->clients, client, n, "the file could not take more");
}

static void answer_usage(struct recorder *r, uint64_t client, int64_t n)
{
	struct tg_buf out = TG_BUF_INIT;

	tg_job_usage(r->job, n, &out);
	tg_clients_answer(r->clients, client, &out);
	tg_buf_release(&out);
}

static void answer_progress(struct recorder *r, uint64_t client, int64_t n)
{
	struct tg_buf out = TG_BUF_INIT;

	tg_job_progress(r->job, n, &out);
	tg_clients_answer(r->clients, client, &out);
	tg_buf_release(&out);
}

static void answer_oom(struct recorder *r, uint64_t client, int64_t n)
{
	struct tg_buf out = TG_BUF_INIT;

	tg_job_oom(r->job, n, tg_mono_ns(), &out);
	tg_clients_answer(r->clients, client, &out);
	tg_buf_release(&out);
}

/* Take in the socket of another recorder's starter. */
static void adopt(struct recorder *r, uint64_t client, const struct tg_mark_message *m, int fd)
{
	struct tg_buf out = TG_BUF_INIT;

	if (fd < 0 || !tg_clients_add(r->clients, fd)) {
		tg_clients_refuse(r->clients, client, m->n, "no room for a socket");
		return;
	}
	if (m->pid && r->job)
		tg_job_root(r->job, (pid_t)m->pid, tg_mono_ns());
	else if (m->pid)
		r->root = (pid_t)m->pid;
	tg_buf_addf(&out, "{\"re\":%lld}", (long long)m->n);
	tg_clients_answer(r->clients, client, &out);
	tg_buf_release(&out);
}

/* Before there is a file. What the job will begin with is kept; of the rest it will say how many.
 */
static void hear_early(struct recorder *r, uint64_t client, const struct tg_mark_message *m)
{
	if (m->n >= 0)
		tg_clients_refuse(r->clients, client, m->n, "nothing is recorded");
	else if (m->op == TG_MARK_ROOT)
		r->root = (pid_t)m->pid;
	else if (m->op == TG_MARK_SET && !strcmp(m->key, "interval_ns"))
		r->o.interval_ns = m->value;
	else if (m->op == TG_MARK_SET)
		r->o.idle_interval_ns = m->value;
	else
		r->early++;
}

static void note_early(struct recorder *r, int64_t now)
{
	char text[128];
	struct tg_mark_message note = { .op = TG_MARK_NOTE, .text = text, .n = -1 };

	snprintf(text, sizeof(text), "%llu %s lost: there was no file yet",
		(unsigned long long)r->early, r->early == 1 ? "mark is" : "marks are");
	tg_job_mark(r->job, 0, &note, now, NULL);
	r->early = 0;
}

static void mark(struct recorder *r, uint64_t client, struct tg_mark_message *m)
{
	struct tg_err err = { 0 };

	if (m->op == TG_MARK_BEGIN)
		m->pid = m->of_parent ? tg_watch_parent(tg_clients_process(r->clients, client)) : 0;
	if (tg_job_mark(r->job, client, m, tg_mono_ns(), &err) < 0)
		tg_clients_refuse(r->clients, client, m->n, err.text);
}

static void on_message(void *ctx, uint64_t client, struct tg_mark_message *m, int fd)
{
	struct recorder *r = ctx;

	if (m->op == TG_MARK_ADOPT) {
		adopt(r, client, m, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	if (m->op == TG_MARK_BYE) {
		r->bye = true;
	} else if (m->op == TG_MARK_HELLO) {
		answer_hello(r, client, m->n);
	} else if (!r->job) {
		hear_early(r, client, m);
	} else if (m->op == TG_MARK_FLUSH) {
		answer_flush(r, client, m->n);
	} else if (m->op == TG_MARK_USAGE) {
		answer_usage(r, client, m->n);
	} else if (m->op == TG_MARK_PROGRESS) {
		answer_progress(r, client, m->n);
	} else if (m->op == TG_MARK_OOM) {
		answer_oom(r, client, m->n);
	} else {
		mark(r, client, m);
	}
}

static void on_gone(void *ctx, uint64_t client)
{
	struct recorder *r = ctx;

	if (r->job)
		tg_job_client_gone(r->job, client, tg_mono_ns());
}

/* News of the writer: the file is open, a warning, flushes that are done. */
static void hear_output(struct recorder *r)
{
	uint64_t client;
	int64_t n, offset;
	bool was_open = r->state.open;

	tg_output_state(r->output, &r->state);
	if (r->state.open && !was_open) {
		r->job = tg_job_new(&r->o, r->output, &r->state, r->socket_path.data, tg_mono_ns());
		if (r->root)
			tg_job_root(r->job, r->root, tg_mono_ns());
		if (r->early)
			note_early(r, tg_mono_ns());
	}
	while (tg_output_flushed(r->output, &client, &n, &offset)) {
		struct tg_buf out = TG_BUF_INIT;

		if (offset < 0) {
			tg_clients_refuse(r->clients, client, n, "the file lacks something");
			continue;
		}
		tg_buf_addf(&out, "{\"re\":%lld,\"offset\":%lld}", (long long)n, (long long)offset);
		tg_clients_answer(r->clients, client, &out);
		tg_buf_release(&out);
	}
}

/* Whether nobody is left to record for; then since when. */
static void look_for_company(struct recorder *r, int64_t now)
{
	bool lonely = tg_clients_count(r->clients) == 0 &&
		      !(r->job ? tg_job_root_lives(r->job) : r->root != 0 && kill(r->root, 0) == 0);

	if (!lonely)
		r->lonely_since = 0;
	else if (!r->lonely_since)
		r->lonely_since = now;
}

/* The earliest moment that something is due without anything coming in. */
static int64_t next_moment(const struct recorder *r, int64_t now)
{
	int64_t next = now + TG_NS_PER_S; /* what must be asked for is asked for each second */

	if (r->job)
		next = TG_MIN(next, tg_job_next(r->job));
	if (now < r->opening_until)
		next = TG_MIN(next, r->opening_until);
	if (r->lonely_since)
		next = TG_MIN(next, r->lonely_since + r->o.linger_ns);
	return next;
}

static void wait_for_something(struct recorder *r)
{
	struct pollfd p[3 + TG_CLIENTS_FDS] = {
		{ .fd = r->signals, .events = POLLIN },
		{ .fd = tg_output_fd(r->output), .events = POLLIN },
		{ .fd = r->job ? tg_job_fd(r->job) : -1, .events = POLLIN },
	};
	int64_t now = tg_mono_ns();
	bool listen = r->state.open || r->state.failed || now >= r->opening_until;
	size_t n = listen ? tg_clients_poll(r->clients, p + 3) : 0;
	int64_t left = TG_MAX(next_moment(r, now) - now, 0);
	struct timespec timeout = { .tv_sec = left / TG_NS_PER_S, .tv_nsec = left % TG_NS_PER_S };
	struct signalfd_siginfo signal;

	if (ppoll(p, 3 + n, &timeout, NULL) <= 0)
		return;
	if (p[0].revents && read(r->signals, &signal, sizeof(signal)) > 0 &&
		signal.ssi_signo != SIGHUP)
		r->terminated = true;
	if (p[1].revents)
		hear_output(r);
	if (n)
		tg_clients_serve(r->clients, p + 3, n);
}

/*
 * The end is due. Whoever knocked at the last moment is let in, and then there is no end yet.
 * Returns whether it ends.
 */
static bool close_the_door(struct recorder *r)
{
	/* the socket beside another's lock is the other's */
	if (tg_lock_is_there(r->lock_path.data, r->lock))
		unlink(r->socket_path.data);
	if (!tg_clients_stop_listening(r->clients) || r->terminated || r->state.deleted)
		return true;
	r->lonely_since = 0;
	r->bye = false;
	tg_clients_listen(r->clients, tg_mark_socket_listen(r->socket_path.data, BACKLOG));
	return false;
}

/* What clients had sent before the end came, within reason. */
static void hear_the_last(struct recorder *r)
{
	struct pollfd p[TG_CLIENTS_FDS];

	for (int i = 0; i < LAST_TURNS; i++) {
		size_t n = tg_clients_poll(r->clients, p);

		if (poll(p, n, 0) <= 0)
			break;
		tg_clients_serve(r->clients, p, n);
	}
}

/*
 * The runtime folder may be removed under us, as at the end of a login. Clients that come later
 * would not reach us any more: then listen again, where that folder is now. Not when another of
 * our name has the lock there.
 */
static void look_for_socket(struct recorder *r, int64_t now)
{
	struct tg_buf socket = TG_BUF_INIT, lock_path = TG_BUF_INIT;
	int lock = r->lock, listening = -1;

	if (now < r->look_ns)
		return;
	r->look_ns = now + LOOK_NS;
	if (access(r->socket_path.data, F_OK) == 0 || errno != ENOENT)
		return;
	if (tg_mark_path(&socket, r->o.id, ".sock", NULL) < 0 ||
		tg_mark_path(&lock_path, r->o.id, ".lock", NULL) < 0)
		goto out;
	if (!tg_lock_is_there(lock_path.data, r->lock))
		lock = tg_lock_take(lock_path.data, NULL);
	if (lock >= 0)
		listening = tg_mark_socket_listen(socket.data, BACKLOG);
	if (listening >= 0) {
		struct tg_buf old[] = { r->socket_path, r->lock_path };

		tg_clients_listen(r->clients, listening);
		if (lock != r->lock)
			close(r->lock);
		r->lock = lock;
		r->socket_path = socket;
		r->lock_path = lock_path;
		socket = old[0];
		lock_path = old[1];
	} else if (lock >= 0 && lock != r->lock) {
		tg_lock_drop(lock_path.data, lock);
	}
out:
	tg_buf_release(&socket);
	tg_buf_release(&lock_path);
}

static void format_end(struct tg_buf *out, const char *sentence)
{
	tg_buf_adds(out, "{\"end\":");
	tg_json_quote(out, sentence, strlen(sentence));
	tg_buf_addc(out, '}');
}

/*
 * Who deletes a recording while it is taken may want just that, and what is written would never be
 * read. So we end, and leave it to our clients to begin another, in which only they can say again
 * what is going on.
 */
static void say_deleted(struct recorder *r)
{
	struct tg_buf out = TG_BUF_INIT;

	format_end(&out, "the recording was deleted");
	tg_clients_tell(r->clients, &out);
	tg_buf_release(&out);
}

static void loop(struct recorder *r)
{
	bool end = false;

	while (!end) {
		int64_t now;

		wait_for_something(r);
		now = tg_mono_ns();
		if (r->job)
			tg_job_run(r->job, now);
		look_for_company(r, now);
		look_for_socket(r, now);
		end = r->bye || r->terminated || r->state.deleted ||
		      (r->lonely_since && now >= r->lonely_since + r->o.linger_ns);
		end = end && close_the_door(r);
	}
	hear_the_last(r);
	if (r->state.deleted)
		say_deleted(r);
}

/* The lock, or 0 when the starter's socket went to another recorder. */
static int become_the_one(struct recorder *r, struct tg_err *err)
{
	int64_t until = tg_mono_ns() + LOCK_NS;

	for (;;) {
		r->lock = tg_lock_take(r->lock_path.data, err);
		if (r->lock >= 0)
			return 1;
		if (r->lock != -EWOULDBLOCK)
			return r->lock;
		if (tg_lock_hand_over(r->socket_path.data, r->o.fd, r->o.root) == 0)
			return 0;
		if (tg_mono_ns() > until)
			return tg_err_set(err, -EWOULDBLOCK,
				"another recorder holds %s and does not answer", r->lock_path.data);
		usleep(20000); /* it has not begun to listen, or is about to let go */
	}
}

/* What this process is like: known by name, woken in time, private files, as many as it needs. */
static void set_up_process(struct recorder *r)
{
	struct rlimit files;
	sigset_t mask;

	prctl(PR_SET_NAME, "tacho-recorder");
	prctl(PR_SET_TIMERSLACK, 1ul);
	umask(077);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a size limit is then an error of write(2), as a full disk is */
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	r->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	/* it starts nothing but helpers that ask GPU drivers, which may inherit this */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = TG_MIN(files.rlim_max, TG_MAX(files.rlim_cur, 65536));
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static void set_defaults(struct tg_recorder_options *o)
{
	if (o->interval_ns <= 0)
		o->interval_ns = INTERVAL_NS;
	if (o->idle_interval_ns <= 0)
		o->idle_interval_ns = IDLE_INTERVAL_NS;
	if (o->linger_ns <= 0)
		o->linger_ns = LINGER_NS;
	if (!o->queue_bytes)
		o->queue_bytes = TG_QUEUE_BYTES;
}

/* The starter learns why there is no recorder: stderr is /dev/null. */
static void say_failed(int fd, const char *sentence)
{
	struct tg_buf out = TG_BUF_INIT;

	format_end(&out, sentence);
	if (send(fd, out.data, out.len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		tg_log(TG_LOG_ERROR, "recorder", "%s", sentence);
	tg_buf_release(&out);
}

static int record(struct recorder *r, struct tg_err *err)
{
	struct tg_clients_hooks hooks = { .message = on_message, .gone = on_gone, .ctx = r };
	struct tg_buf session = TG_BUF_INIT;
	struct tg_clocks clocks = tg_clocks_now();
	int listening = tg_mark_socket_listen(r->socket_path.data, BACKLOG);
	int result;

	if (listening < 0)
		return tg_err_set(err, listening, "cannot listen at %s: %s", r->socket_path.data,
			strerror(-listening));
	r->clients = tg_clients_new(listening, &hooks);
	tg_session_json(&session, &r->o, &clocks);
	result = tg_output_start(&r->output, r->o.output, session.data, r->o.queue_bytes,
		!strcmp(r->o.what, "kernel"));
	tg_buf_release(&session);
	if (result < 0) {
		tg_err_set(err, result, "cannot start a thread: %s", strerror(-result));
		unlink(r->socket_path.data);
	} else {
		if (r->o.fd >= 0)
			tg_clients_add(r->clients, r->o.fd);
		r->o.fd = -1;
		r->opening_until = tg_mono_ns() + OPENING_NS;
		r->root = r->o.root;
		loop(r);
		if (r->job)
			tg_job_finish(r->job, tg_mono_ns());
		result = tg_output_finish(r->output, FINISH_MS);
	}
	tg_clients_free(r->clients);
	tg_job_free(r->job);
	return result;
}

/* What others of us that were killed have left beside our lock, and what a proxy did. */
static void tidy(const struct recorder *r)
{
	char *folder = tg_xmemdup0(
		r->lock_path.data, (size_t)(strrchr(r->lock_path.data, '/') - r->lock_path.data));

	tg_tidy_runtime(folder);
	free(folder);
}

int tg_recorder_run(const struct tg_recorder_options *options, struct tg_err *err)
{
	struct recorder r = {
		.o = *options, .socket_path = TG_BUF_INIT, .lock_path = TG_BUF_INIT, .lock = -1
	};
	int result;

	set_up_process(&r);
	set_defaults(&r.o);
	result = tg_mark_path(&r.socket_path, options->id, ".sock", err);
	if (result >= 0)
		result = tg_mark_path(&r.lock_path, options->id, ".lock", err);
	if (result >= 0)
		result = become_the_one(&r, err);
	if (result > 0) {
		tidy(&r);
		result = record(&r, err);
		/* a thread that still writes keeps the lock until the process is really gone */
		if (result != -ETIMEDOUT)
			tg_lock_drop(r.lock_path.data, r.lock);
		tidy(&r);
	}
	if (result < 0 && r.o.fd >= 0)
		say_failed(r.o.fd, err->text);
	if (r.o.fd >= 0)
		close(r.o.fd);
	close(r.signals);
	tg_buf_release(&r.socket_path);
	tg_buf_release(&r.lock_path);
	return result;
}
