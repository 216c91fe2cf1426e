/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the worker is asked, and what becomes of its answers (ARCHITECTURE.md, "The worker's
 * protocol"). Its messages go out before the idle of the cell they belong to. When it crashes,
 * hangs or talks nonsense, the cells that wait get one sentence, and the next question a new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "jupyter/state.h"

#include "base/mem.h"

#define FIFO_AGAIN_NS   (50 * TG_NS_PER_MS)
#define FIFO_PATIENCE   (5 * TG_NS_PER_S) /* after an answer, for the kernel to have read it */
#define PREPARE_NS      TG_NS_PER_S /* of a cell that may print: then a worker is started */
#define STUCK_NS        (2 * TG_NS_PER_S)
#define CODE_MAX        (1u << 20) /* of a cell, for the worker */
#define SENTENCE_CRASH  "tachograph: the magic was not answered, its worker ended.\n"
#define SENTENCE_HANG   "tachograph: the magic was not answered within 10 s.\n"
#define SENTENCE_BROKEN "tachograph: the magic was not answered in an understandable way.\n"

/* ---- questions ---- */

static void add_kernel(struct tg_proxy *p, struct tg_jw *w)
{
	char link[40], cwd[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/cwd", (int)p->inner.pid);
	n = readlink(link, cwd, sizeof(cwd));
	tg_jw_key(w, "kernel");
	tg_jw_begin_object(w);
	tg_jw_kint(w, "pid", p->inner.pid);
	if (n > 0 && (size_t)n < sizeof(cwd)) {
		tg_jw_key(w, "cwd");
		tg_jw_strn(w, cwd, (size_t)n);
	}
	tg_jw_kstr(w, "language", p->language.data);
	tg_jw_end_object(w);
}

static void add_recorder(struct tg_proxy *p, struct tg_jw *w)
{
	tg_jw_key(w, "recorder");
	if (p->marker.off) {
		tg_jw_null(w);
		tg_jw_kstr(w, "why", p->marker.why.data);
		return;
	}
	tg_jw_begin_object(w);
	tg_jw_kstr(w, "file", p->marker.file.data);
	tg_jw_kstr(w, "socket", p->marker.socket.data);
	tg_jw_kint(w, "run", -1); /* the last one in the file is this kernel's */
	tg_jw_end_object(w);
}

static void add_cell(struct tg_proxy *p, const struct tg_request *r, struct tg_jw *w)
{
	struct tg_buf id = TG_BUF_INIT;

	tg_jw_key(w, "cell");
	tg_jw_begin_object(w);
	if (r->begun) {
		tg_marker_span_id(&p->marker, r, &id);
		tg_jw_kstr(w, "id", id.data);
	}
	if (r->ended) {
		tg_jw_knum(w, "wall_s", (double)(r->end_ns - r->begin_ns) / (double)TG_NS_PER_S);
		tg_jw_kstr(w, "status", r->status);
	}
	if (r->count >= 0)
		tg_jw_kint(w, "count", r->count);
	tg_jw_end_object(w);
	tg_buf_release(&id);
}

static void add_settings(struct tg_proxy *p, const struct tg_request *r, struct tg_jw *w)
{
	struct tg_buf settings = TG_BUF_INIT;

	tg_jw_key(w, "settings");
	if (r->magic.kind == TG_MAGIC_COST) {
		static const char line[] = "{\"report\":\"line\",\"report_min_s\":0}";

		tg_jw_raw(w, line, sizeof(line) - 1);
		return;
	}
	tg_settings_format(&p->settings, &settings);
	tg_jw_raw(w, settings.data, settings.len);
	tg_buf_clear(&settings);
	tg_jw_key(w, "from");
	tg_settings_format_from(&p->settings, &settings);
	tg_jw_raw(w, settings.data, settings.len);
	tg_buf_release(&settings);
}

/* A worker that is long about something nobody waits for any more is replaced. */
static void renew_worker(struct tg_proxy *p)
{
	if (!p->worker.waiting || tg_mono_ns() - p->worker.since_ns < STUCK_NS)
		return;
	for (const struct tg_request *r = p->requests.first; r; r = r->next)
		if (r->question)
			return;
	tg_worker_stop(&p->worker);
}

static int ask(struct tg_proxy *p, struct tg_request *r, const char *what, struct tg_err *err)
{
	struct tg_buf json = TG_BUF_INIT;
	struct tg_jw w;
	int ret;

	renew_worker(p);
	tg_jw_init(&w, &json);
	tg_jw_begin_object(&w);
	tg_jw_kint(&w, "n", ++p->n_questions);
	tg_jw_kstr(&w, "do", what);
	tg_jw_key(&w, "code");
	tg_jw_strn(&w, r->code.data, TG_MIN(r->code.len, (size_t)CODE_MAX));
	add_cell(p, r, &w);
	add_kernel(p, &w);
	add_recorder(p, &w);
	add_settings(p, r, &w);
	if (r->fifo.len)
		tg_jw_kstr(&w, "fifo", r->fifo.data);
	tg_jw_end_object(&w);
	ret = tg_worker_ask(&p->worker, p->worker_exe.data, p->options->worker, &p->signals,
		json.data, json.len, err);
	r->question = ret ? 0 : p->n_questions;
	tg_buf_release(&json);
	return ret;
}

/* The answer is there, or will never be: nothing of this cell waits any more. */
static void settle(struct tg_proxy *p, struct tg_request *r)
{
	r->question = 0;
	r->answer_due = r->wanted = false;
	if (r->fifo.len)
		r->fifo_ns = tg_mono_ns() + FIFO_PATIENCE;
	tg_forward_kept(p, r);
}

static void fail(struct tg_proxy *p, struct tg_request *r, const char *sentence)
{
	if (r->wanted)
		tg_emit_stderr(p, r, sentence);
	if (r->fifo.len)
		r->fifo_ns = tg_mono_ns(); /* the user's kernel must not wait for a value */
	r->question = 0;
	r->answer_due = r->wanted = false;
	/* with a variable to be set, the user's kernel goes on first */
	tg_forward_kept(p, r);
}

/* Every question that is open has failed. */
static void fail_all(struct tg_proxy *p, const char *sentence)
{
	struct tg_request *next;

	tg_worker_stop(&p->worker);
	for (struct tg_request *r = p->requests.first; r; r = next) {
		next = r->next; /* r may be forgotten */
		if (r->question)
			fail(p, r, sentence);
	}
}

/* The worker is gone, and with it every question that no other can be asked. */
static void fail_gone(struct tg_proxy *p)
{
	if (tg_worker_again(&p->worker, p->worker_exe.data, p->options->worker, &p->signals))
		fail_all(p, SENTENCE_CRASH);
}

void tg_ask_magic(struct tg_proxy *p, struct tg_request *r)
{
	struct tg_buf sentence = TG_BUF_INIT;
	struct tg_err err = { 0 };

	r->wanted = true;
	if (ask(p, r, "magic", &err)) {
		tg_buf_addf(&sentence, "tachograph: the magic cannot be answered: %s.\n", err.text);
		fail(p, r, sentence.data);
	}
	tg_buf_release(&sentence);
}

void tg_ask_cell_end(struct tg_proxy *p, struct tg_request *r)
{
	struct tg_err err = { 0 };

	if (r->question)
		return;
	r->wanted = r->magic.kind == TG_MAGIC_COST;
	if (ask(p, r, "cell_end", &err))
		fail(p, r, "tachograph: what the cell cost cannot be told, no worker starts.\n");
}

/* ---- answers ---- */

static bool may_send(struct tg_bytes type)
{
	return tg_jscan_is(type, "stream") || tg_jscan_is(type, "display_data") ||
	       tg_jscan_is(type, "update_display_data");
}

static void send_messages(struct tg_proxy *p, struct tg_request *r, struct tg_bytes messages)
{
	struct tg_bytes one = { 0 };

	while ((one = tg_jscan_next(messages, one)).at) {
		struct tg_bytes type = tg_jscan_member(one.at, one.len, "msg_type");
		struct tg_bytes content = tg_jscan_member(one.at, one.len, "content");
		struct tg_buf name = TG_BUF_INIT;

		if (may_send(type) && content.at && content.at[0] == '{' &&
			!tg_jscan_string(type, &name))
			tg_emit_iopub(p, r, name.data, content.at, content.len);
		tg_buf_release(&name);
	}
}

/* {"n":7,"messages":[{"msg_type":"stream","content":{…}}],"settings":{…}} */
static int take_answer(struct tg_proxy *p, const struct tg_buf *text)
{
	/* parsed to know that it is valid; what goes out are the bytes themselves */
	struct tg_json *answer = tg_json_parse(text->data, text->len, NULL);
	int64_t n = tg_json_int(tg_json_get(answer, "n"), 0);
	struct tg_request *r = p->requests.first;

	if (n <= 0) {
		tg_json_free(answer);
		return -EBADMSG;
	}
	while (r && r->question != n)
		r = r->next;
	tg_settings_take(&p->settings, tg_json_get(answer, "settings"), r ? r->count : -1);
	tg_marker_settings(&p->marker, &p->settings);
	tg_json_free(answer);
	if (!r)
		return 0; /* it came too late */
	send_messages(p, r, tg_jscan_member(text->data, text->len, "messages"));
	settle(p, r);
	return 0;
}

void tg_ask_read(struct tg_proxy *p)
{
	struct tg_buf text = TG_BUF_INIT;
	int got;

	if (tg_worker_write(&p->worker)) {
		fail_gone(p);
		return;
	}
	while ((got = tg_worker_read(&p->worker, &text)) > 0) {
		got = take_answer(p, &text);
		tg_buf_clear(&text);
		if (got)
			break;
	}
	tg_buf_release(&text);
	if (got == -EBADMSG)
		fail_all(p, SENTENCE_BROKEN);
	else if (got < 0)
		fail_gone(p);
}

/* ---- time ---- */

/* Write an empty list in the worker's place. Whether there is nothing left to do. */
static bool write_fifo(const struct tg_request *r)
{
	int fd = open(r->fifo.data, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return errno != ENXIO; /* nobody reads yet */
	done = write(fd, "[]", 2) == 2;
	close(fd);
	return done;
}

/* Whether a worker will soon be asked about a cell that still runs, and is not there. */
static bool needs_worker(const struct tg_proxy *p, const struct tg_request *r)
{
	return p->worker.fd < 0 && !p->marker.off && r->begun && !r->ended && !r->prepared &&
	       r->store && !tg_settings_is(&p->settings, TG_SET_REPORT, "none");
}

/* Starting takes some of the 250 ms that a cell's idle may wait: do it while the cell runs. */
static void prepare(struct tg_proxy *p, struct tg_request *r)
{
	struct tg_err err;

	r->prepared = true;
	tg_worker_start(&p->worker, p->worker_exe.data, p->options->worker, &p->signals, &err);
}

void tg_ask_tick(struct tg_proxy *p)
{
	int64_t now = tg_mono_ns();
	struct tg_request *next;

	if (now >= tg_worker_deadline(&p->worker)) {
		if (p->worker.waiting)
			fail_all(p, SENTENCE_HANG);
		else
			tg_worker_stop(&p->worker);
	}
	for (struct tg_request *r = p->requests.first; r; r = next) {
		next = r->next;
		if (needs_worker(p, r) && now >= r->begin_ns + PREPARE_NS)
			prepare(p, r);
		if (r->fifo_ns && now >= r->fifo_ns)
			r->fifo_ns = write_fifo(r) ? 0 : now + FIFO_AGAIN_NS;
		if (r->release_ns && now >= r->release_ns) {
			r->question = 0;
			tg_forward_kept(p, r);
		}
	}
}

int64_t tg_ask_deadline(const struct tg_proxy *p)
{
	int64_t at = tg_worker_deadline(&p->worker);

	for (const struct tg_request *r = p->requests.first; r; r = r->next) {
		if (needs_worker(p, r))
			at = TG_MIN(at, r->begin_ns + PREPARE_NS);
		if (r->fifo_ns)
			at = TG_MIN(at, r->fifo_ns);
		if (r->release_ns)
			at = TG_MIN(at, r->release_ns);
	}
	return at;
}

void tg_ask_interrupted(struct tg_proxy *p, struct tg_request *r)
{
	if (!r->fifo.len)
		return;
	/* it may wait for a reader of the variable, who will never come */
	if (r->question && p->worker.waiting == 1)
		tg_worker_stop(&p->worker);
	r->question = 0;
	r->answer_due = r->wanted = false;
	unlink(r->fifo.data);
	tg_forward_kept(p, r); /* the idle may have come first */
}

void tg_ask_cancel(struct tg_proxy *p)
{
	struct tg_request *next;

	p->dying = true;
	for (struct tg_request *r = p->requests.first; r; r = next) {
		next = r->next;
		if (r->question || r->pinned)
			settle(p, r);
	}
	tg_worker_stop(&p->worker);
}
