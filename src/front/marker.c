/* SPDX-License-Identifier: BSD-3-Clause */
#include "front/marker.h"

#include <errno.h>
#include <math.h>
#include <sys/prctl.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/mask.h"
#include "mark/address.h"
#include "mark/batch.h"
#include "mark/file_name.h"

#include "base/mem.h"

#define READY_MS  200 /* the command waits that long for its counter */
#define EDGE_MS   20 /* … and for the row at its beginning */
#define END_MS    500
#define FINISH_MS 10000 /* a slow file system */
#define TWICE_NS  (60 * TG_NS_PER_S)
#define ARGS_MAX  4096
#define SAID_MAX  16384 /* of what is not said twice */

static void say(const struct tg_front_marker *m, const char *what, const char *why)
{
	struct tg_buf text = TG_BUF_INIT;

	tg_buf_addf(&text, "%s: %s", what, why);
	m->o->say(m->o->ctx, text.data);
	tg_buf_release(&text);
}

static void give_up(struct tg_front_marker *m, const char *why)
{
	tg_mark_close(m->mark);
	m->mark = NULL;
	say(m, m->begin_ns ? "nothing more is recorded" : "nothing is recorded", why);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Of a span of another recording, the job's request was for more than this. */
static void add_request(const struct tg_front_marker *m, struct tg_jw *w)
{
	struct tg_job_request request = TG_JOB_REQUEST_NONE;
	struct tg_batch batch;

	if (!m->nested) {
		tg_batch_find(&batch);
		tg_batch_add(w, &batch);
		tg_job_request_told(&batch, &request);
	}
	if (m->o->request)
		tg_job_request_parse(m->o->request, &request, NULL);
	tg_job_request_add(w, &request);
}

/* {"command":"make -j8","batch":{…},"requested":{"cpus":8}} with what looks like a secret masked.
 */
static void describe(struct tg_front_marker *m, const char *args, size_t len)
{
	char text[ARGS_MAX];
	struct tg_jw w;

	tg_buf_adds(&m->name, m->o->name ? m->o->name : base_of(args));
	if (m->o->attrs_json) {
		tg_buf_adds(&m->attrs, m->o->attrs_json);
		return;
	}
	tg_jw_init(&w, &m->attrs);
	tg_jw_begin_object(&w);
	if (!m->o->no_args && tg_mask_args(args, len, text, sizeof(text)))
		tg_jw_kstr(&w, "command", text);
	add_request(m, &w);
	tg_jw_end_object(&w);
}

/* Another recording of this host that we are below; not when a file of our own was asked for. */
static bool find_outer(struct tg_front_marker *m)
{
	const char *told = m->o->output ? NULL : tg_mark_connect_told(&m->mark);

	if (told)
		tg_buf_adds(&m->address, told);
	return told;
}

void tg_front_marker_init(struct tg_front_marker *m, const struct tg_front_options *o,
	const char *args, size_t len, bool own)
{
	struct tg_buf socket = TG_BUF_INIT;
	struct tg_err err = { 0 };
	uint64_t random = 0;

	*m = (struct tg_front_marker){ .o = o,
		.output = TG_BUF_INIT,
		.file = TG_BUF_INIT,
		.address = TG_BUF_INIT,
		.name = TG_BUF_INIT,
		.attrs = TG_BUF_INIT,
		.said = TG_BUF_INIT };
	if (getrandom(&random, sizeof(random), 0) < 0)
		random = (uint64_t)tg_mono_ns();
	snprintf(m->id, sizeof(m->id), "record-%016llx", (unsigned long long)random);
	m->nested = !own && find_outer(m);
	describe(m, args, len);
	if (m->nested || o->stage)
		return;
	if (o->output) {
		tg_buf_adds(&m->output, o->output);
	} else {
		if (o->folder)
			tg_buf_addf(&m->output, "%s/", o->folder);
		tg_mark_file_name(&m->output, m->name.data, m->name.len, true);
	}
	if (tg_mark_path(&socket, m->id, ".sock", &err) < 0)
		give_up(m, err.text);
	else
		tg_mark_address_format(&m->address, socket.data);
	tg_buf_release(&socket);
}

void tg_front_marker_release(struct tg_front_marker *m)
{
	tg_mark_close(m->mark);
	tg_buf_release(&m->output);
	tg_buf_release(&m->file);
	tg_buf_release(&m->address);
	tg_buf_release(&m->name);
	tg_buf_release(&m->attrs);
	tg_buf_release(&m->said);
}

/* A recorder repeats itself. */
static void say_once(struct tg_front_marker *m, const char *sentence)
{
	struct tg_buf line = TG_BUF_INIT;

	if (!sentence)
		return;
	tg_buf_addf(&line, "\n%s\n", sentence);
	if (!m->said.data || !strstr(m->said.data, line.data)) {
		if (m->said.len < SAID_MAX)
			tg_buf_add(&m->said, line.data, line.len);
		m->o->say(m->o->ctx, sentence);
	}
	tg_buf_release(&line);
}

/* {"re":1,"file":"/…/x.tacho","session":1,"warning":"…"}, {"end":"cannot open …"} */
static void take_news(struct tg_front_marker *m, const struct tg_json *answer)
{
	const char *file = tg_json_str(tg_json_get(answer, "file"), NULL),
		   *warning = tg_json_str(tg_json_get(answer, "warning"), NULL),
		   *end = tg_json_str(tg_json_get(answer, "end"), NULL);

	/* without a session it is what would be written, if it could */
	if (file && tg_json_get(answer, "session")) {
		tg_buf_clear(&m->file);
		tg_buf_adds(&m->file, file);
	}
	say_once(m, warning);
	say_once(m, end);
}

static bool start(struct tg_front_marker *m)
{
	struct tg_mark_start start = { .id = m->id,
		.output = m->output.data,
		.root = m->root,
		.interval_ns = m->o->interval_ns,
		.what = "record",
		.no_args = m->o->no_args };
	struct tg_err err = { 0 };
	int r, takes_orphans = 0;

	if (m->nested)
		return true;
	/* or we would become the recorder's parent */
	prctl(PR_GET_CHILD_SUBREAPER, &takes_orphans);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	r = tg_mark_start(&m->mark, &start, &err);
	prctl(PR_SET_CHILD_SUBREAPER, takes_orphans);
	if (r < 0) {
		m->mark = NULL;
		give_up(m, err.text);
	}
	return r == 0;
}

/* Told again after a recorder has died, the run goes on from its old begin. */
static int begin_span(struct tg_front_marker *m, bool resumed)
{
	struct tg_buf attrs = TG_BUF_INIT;
	struct tg_mark_span span = { .id = m->id,
		.kind = m->nested ? "stage" : "run",
		.name = m->name.data,
		.t_ns = m->begin_ns,
		.edge = true,
		.count = -1,
		.attrs_json = m->attrs.data };
	int r;

	if (resumed) {
		tg_buf_add(&attrs, m->attrs.data, m->attrs.len - 1); /* but its "}" */
		tg_buf_addf(&attrs, "%s\"resumed\":true}", m->attrs.len > 2 ? "," : "");
		span.attrs_json = attrs.data;
	}
	r = tg_mark_begin(m->mark, &span);
	tg_buf_release(&attrs);
	return r;
}

/* The recorder is gone: another one begins in its place, unless that was so a moment ago. */
static void lost(struct tg_front_marker *m)
{
	int64_t now = tg_mono_ns();
	bool again = !m->nested && (!m->died_ns || now - m->died_ns > TWICE_NS);

	m->died_ns = now;
	tg_mark_close(m->mark);
	m->mark = NULL;
	if (!again)
		give_up(m, m->nested ? "the recorder has ended"
				     : "the recorder has ended twice within a minute");
	else if (start(m) && (!m->begin_ns || begin_span(m, true) == 0))
		tg_mark_ask_hello(m->mark, ++m->question);
}

/* Ask who it is, for it answers when it has done what came before. */
static void settle(struct tg_front_marker *m, int timeout_ms)
{
	struct tg_json *answer = NULL;
	int got;

	if (!m->mark || tg_mark_ask_hello(m->mark, ++m->question) < 0)
		return;
	got = tg_mark_wait(m->mark, m->question, timeout_ms, &answer);
	if (got > 0)
		take_news(m, answer);
	tg_json_free(answer);
	if (got < 0)
		lost(m);
}

void tg_front_marker_begin(struct tg_front_marker *m, pid_t pid)
{
	m->root = pid;
	if (!m->address.len || !start(m))
		return;
	settle(m, READY_MS);
	m->begin_ns = tg_mono_ns();
	if (m->mark && begin_span(m, false) < 0)
		lost(m);
	settle(m, EDGE_MS);
}

void tg_front_marker_end(struct tg_front_marker *m, int code, int signal)
{
	const char *status = signal > 0  ? "died"
			     : code > 0  ? "error"
			     : code == 0 ? "ok"
					 : "unknown";

	if (!m->mark)
		return;
	tg_mark_end(m->mark, m->id, tg_mono_ns(), true, status);
	if (!m->nested && (code >= 0 || signal > 0))
		tg_mark_root_end(m->mark, m->root, code, signal);
	settle(m, END_MS);
}

void tg_front_marker_bye(struct tg_front_marker *m)
{
	int64_t until = tg_mono_ns() + FINISH_MS * TG_NS_PER_MS;

	if (!m->mark || m->nested)
		return;
	tg_mark_bye(m->mark);
	for (;;) {
		struct tg_json *answer = NULL;
		int64_t left_ms = (until - tg_mono_ns()) / TG_NS_PER_MS;
		int got = left_ms > 0 ? tg_mark_wait(m->mark, 0, (int)left_ms, &answer) : 0;

		tg_json_free(answer);
		if (got < 0)
			return;
		if (got == 0)
			break;
	}
	say(m, "the recording is not complete yet", m->output.data);
}

void tg_front_marker_ask(struct tg_front_marker *m)
{
	if (m->mark && tg_mark_ask_progress(m->mark, ++m->question) == -EPIPE)
		lost(m);
}

int tg_front_marker_fd(const struct tg_front_marker *m)
{
	return m->mark ? tg_mark_fd(m->mark) : -1;
}

struct tg_json *tg_front_marker_hear(struct tg_front_marker *m)
{
	struct tg_json *answer = NULL;
	int got = m->mark ? tg_mark_answer(m->mark, &answer) : 0;

	if (got < 0)
		lost(m);
	if (got <= 0)
		return NULL;
	take_news(m, answer);
	return answer;
}
