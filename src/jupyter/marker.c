/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/marker.h"

#include <errno.h>
#include <sodium.h>

#include "base/clock.h"
#include "base/lines.h"
#include "base/paths.h"
#include "mark/address.h"
#include "mark/file_name.h"
#include "mark/protocol.h"

#include "base/mem.h"

#define NAME_CHARACTERS 60
#define TWICE_NS        (60 * TG_NS_PER_S) /* a second death within this ends the recording */
#define AGAIN_NS        (50 * TG_NS_PER_MS) /* for the dead one to be gone whole */
#define OOM_MS          100 /* who waits for the end of a dead kernel waits no longer for us */
#define DRAIN_MS        200 /* for the last ends to find room, when the kernel is gone */
#define HELLO_NS        (10 * TG_NS_PER_S) /* between questions for a warning */

/* <what>-HOST-YYYYmmdd-HHMMSS.tacho in the folder for kernels' recordings */
static int name_output(struct tg_buf *out, const char *what, struct tg_err *err)
{
	const char *base = strrchr(what, '/');
	size_t len;
	int ret = tg_paths_recordings(out, err);

	if (ret)
		return ret;
	base = base ? base + 1 : what;
	len = strlen(base);
	if (len >= 6 && !strcmp(base + len - 6, ".ipynb"))
		len -= 6;
	tg_buf_addc(out, '/');
	tg_mark_file_name(out, len ? base : "kernel", len ? len : strlen("kernel"), false);
	return 0;
}

static void launch(struct tg_marker *m)
{
	struct tg_mark_start start = { .id = m->id,
		.output = m->output.data,
		.root = m->root,
		.interval_ns = m->interval_ns,
		.what = "kernel" };
	struct tg_err err = { 0 };

	if (tg_mark_start(&m->mark, &start, &err)) {
		m->mark = NULL;
		tg_marker_off(m, err.text);
		return;
	}
	tg_buf_clear(&m->refusal);
	m->greeted = false;
	tg_mark_ask_hello(m->mark, ++m->question);
	m->hello_ns = tg_mono_ns();
}

void tg_marker_start(struct tg_marker *m, struct tg_requests *requests,
	const struct tg_settings *settings, const char *id, const char *what)
{
	struct tg_err err = { 0 };
	unsigned char random[4];

	*m = (struct tg_marker){ .output = TG_BUF_INIT,
		.file = TG_BUF_INIT,
		.socket = TG_BUF_INIT,
		.refusal = TG_BUF_INIT,
		.why = TG_BUF_INIT,
		.warning = TG_BUF_INIT,
		.warned = TG_BUF_INIT,
		.kernel = TG_BUF_INIT,
		.requests = requests };
	tg_marker_settings(m, settings);
	snprintf(m->id, sizeof(m->id), "kernel-%.16s", id);
	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(m->unique, sizeof(m->unique), random, sizeof(random));
	if (name_output(&m->output, what, &err) || tg_mark_path(&m->socket, m->id, ".sock", &err)) {
		tg_marker_off(m, err.text);
		return;
	}
	tg_buf_add(&m->file, m->output.data, m->output.len);
	launch(m);
}

void tg_marker_release(struct tg_marker *m)
{
	if (m->mark)
		tg_mark_drain(m->mark, DRAIN_MS);
	tg_mark_close(m->mark);
	tg_buf_release(&m->output);
	tg_buf_release(&m->file);
	tg_buf_release(&m->socket);
	tg_buf_release(&m->refusal);
	tg_buf_release(&m->why);
	tg_buf_release(&m->warning);
	tg_buf_release(&m->warned);
	tg_buf_release(&m->kernel);
	*m = (struct tg_marker){ .off = true };
}

void tg_marker_off(struct tg_marker *m, const char *why)
{
	tg_mark_close(m->mark);
	m->mark = NULL;
	m->off = true;
	tg_buf_clear(&m->why);
	tg_buf_addf(&m->why, "Nothing is recorded: %s.", why);
	tg_buf_addf(&m->warning, "tachograph: nothing is recorded: %s\n", why);
}

/*
 * {"re":1,"file":"/…/x.tacho","socket":"/…/kernel-….sock","session":1,"warning":"…"}
 * {"end":"cannot listen at /…/kernel-….sock: Address already in use"}
 */
static void take_news(struct tg_marker *m, const struct tg_json *answer)
{
	const char *file = tg_json_str(tg_json_get(answer, "file"), NULL),
		   *socket = tg_json_str(tg_json_get(answer, "socket"), NULL),
		   *warning = tg_json_str(tg_json_get(answer, "warning"), NULL),
		   *end = tg_json_str(tg_json_get(answer, "end"), NULL);

	if (file) {
		m->greeted = true;
		tg_buf_clear(&m->file);
		tg_buf_adds(&m->file, file);
	}
	if (socket) {
		tg_buf_clear(&m->socket);
		tg_buf_adds(&m->socket, socket);
	}
	if (end) {
		tg_buf_clear(&m->refusal);
		tg_buf_adds(&m->refusal, end);
	}
	if (warning && strcmp(warning, m->warned.data)) {
		tg_buf_clear(&m->warned);
		tg_buf_adds(&m->warned, warning);
		tg_buf_addf(&m->warning, "tachograph: %s\n", warning);
	}
}

/* Cells are missing in the recording, which says so, too. */
static void tell_lost(struct tg_marker *m)
{
	if (!m->told_lost)
		tg_buf_adds(&m->warning, "tachograph: the recorder takes no more marks, "
					 "some cells are missing from the recording\n");
	m->told_lost = true;
}

/* The recorder is gone. One that could not begin gets a second try, too: its reason may have gone.
 */
static void lost(struct tg_marker *m)
{
	int64_t now = tg_mono_ns();
	struct tg_json *last;

	while (tg_mark_answer(m->mark, &last) > 0) {
		take_news(m, last);
		tg_json_free(last);
	}
	m->n_lost += tg_mark_untold(m->mark);
	if (m->n_lost)
		tell_lost(m);
	tg_mark_close(m->mark);
	m->mark = NULL;
	if (m->died_ns && now - m->died_ns < TWICE_NS)
		tg_marker_off(m, m->refusal.len ? m->refusal.data
						: "the recorder ended twice within a minute");
	else if (m->greeted && m->refusal.len)
		tg_buf_addf(&m->warning, "tachograph: %s, a new one begins\n", m->refusal.data);
	m->died_ns = now;
	m->again_ns = now + AGAIN_NS;
}

static int begin_run(struct tg_marker *m, bool resumed)
{
	char id[24], attrs[64];
	struct tg_mark_span span = { .id = id,
		.kind = "run",
		.name = m->kernel.data,
		.t_ns = m->run_ns,
		.count = -1,
		.attrs_json = attrs };

	snprintf(id, sizeof(id), "%s-run", m->unique);
	snprintf(attrs, sizeof(attrs), "{\"pid\":%d%s}", (int)m->root,
		resumed ? ",\"resumed\":true" : "");
	return tg_mark_begin(m->mark, &span);
}

/* What became of a mark. */
static void look_at(struct tg_marker *m, int result)
{
	if (result == -EAGAIN)
		tell_lost(m);
	else if (result == -EPIPE)
		lost(m);
}

void tg_marker_run(struct tg_marker *m, pid_t pid, const char *kernel)
{
	bool again = m->root > 0;

	m->root = pid;
	if (!again)
		m->run_ns = tg_mono_ns();
	tg_buf_clear(&m->kernel);
	tg_buf_adds(&m->kernel, kernel);
	if (m->off || !m->mark)
		return;
	look_at(m, tg_mark_root(m->mark, pid));
	if (!again && m->mark)
		look_at(m, begin_run(m, false));
}

void tg_marker_run_asked(struct tg_marker *m)
{
	if (m->mark && m->root)
		look_at(m, tg_mark_root_asked(m->mark, m->root));
}

void tg_marker_run_end(struct tg_marker *m, int code, int signal, const char *status)
{
	char id[24];

	if (!m->mark)
		return;
	snprintf(id, sizeof(id), "%s-run", m->unique);
	tg_mark_root_end(m->mark, m->root, code, signal);
	tg_mark_end(m->mark, id, tg_mono_ns(), false, status);
}

void tg_marker_cell_name(const char *code, size_t len, struct tg_buf *out)
{
	struct tg_text_line line = tg_text_first_code(code, len);
	size_t cut = line.at, characters = 0;

	/* a character begins where no continuation byte of UTF-8 is */
	while (cut < line.end) {
		if (((unsigned char)code[cut] & 0xc0) != 0x80 && ++characters > NAME_CHARACTERS)
			break;
		cut++;
	}
	tg_buf_add(out, code + line.at, cut - line.at);
}

void tg_marker_span_id(const struct tg_marker *m, const struct tg_request *r, struct tg_buf *out)
{
	tg_buf_addf(out, "%s-%llu", m->unique, (unsigned long long)r->span);
}

/* Code that is hidden can be recognised, not read. */
static void hash_code(const struct tg_request *r, struct tg_buf *out)
{
	unsigned char digest[crypto_hash_sha256_BYTES];
	char hex[2 * sizeof(digest) + 1];

	crypto_hash_sha256(digest, (const unsigned char *)r->code.data, r->code.len);
	sodium_bin2hex(hex, sizeof(hex), digest, sizeof(digest));
	tg_buf_addf(out, "sha256:%s", hex);
}

static int begin_cell(struct tg_marker *m, const struct tg_request *r, bool resumed)
{
	struct tg_buf id = TG_BUF_INIT, name = TG_BUF_INIT, code = TG_BUF_INIT;
	struct tg_mark_span span = { .kind = "cell",
		.t_ns = r->begin_ns,
		.edge = true,
		.count = r->count,
		.attrs_json = resumed ? "{\"resumed\":true}" : NULL };
	int ret;

	tg_marker_span_id(m, r, &id);
	if (m->hide_code) {
		hash_code(r, &code);
	} else {
		/* what is executed, not our own lines above it */
		tg_marker_cell_name(
			r->code.data + r->magic.body, r->code.len - r->magic.body, &name);
		tg_buf_add(&code, r->code.data, r->code.len);
	}
	span.id = id.data;
	span.name = name.data;
	span.code = code.data;
	span.code_len = code.len;
	span.lane = r->subshell.len ? r->subshell.data : NULL;
	ret = tg_mark_begin(m->mark, &span);
	tg_buf_release(&id);
	tg_buf_release(&name);
	tg_buf_release(&code);
	return ret;
}

/* For a recorder that takes the place of one that did not take all. */
static int note_lost(struct tg_marker *m)
{
	char text[96];
	int ret;

	if (!m->n_lost)
		return 0;
	snprintf(text, sizeof(text), "%llu %s lost: the recorder before ended without %s",
		(unsigned long long)m->n_lost, m->n_lost == 1 ? "mark is" : "marks are",
		m->n_lost == 1 ? "it" : "them");
	ret = tg_mark_note(m->mark, text);
	if (!ret)
		m->n_lost = 0;
	return ret;
}

/*
 * Start a recorder in a dead one's place, and tell it what is going on. Of the file systems only
 * that of the runtime folder is touched, which is this machine's own.
 */
static void again(struct tg_marker *m)
{
	int ret;

	launch(m);
	if (!m->mark || !m->root)
		return;
	look_at(m, note_lost(m));
	if (m->mark)
		look_at(m, begin_run(m, true));
	for (struct tg_request *r = m->requests->first; r && m->mark; r = r->next) {
		if (!r->begun || r->ended)
			continue;
		ret = begin_cell(m, r, true);
		r->untold = ret < 0;
		look_at(m, ret);
	}
}

/* Whether a recorder is there to be told of an edge. */
static bool ready(struct tg_marker *m)
{
	if (!m->off && !m->mark)
		again(m);
	return m->mark;
}

void tg_marker_begin(struct tg_marker *m, struct tg_request *r)
{
	bool was = m->mark;
	int ret;

	if (!ready(m) || !was)
		return; /* a new one was told of this cell too */
	if (tg_mono_ns() - m->hello_ns > HELLO_NS) {
		tg_mark_ask_hello(m->mark, ++m->question);
		m->hello_ns = tg_mono_ns();
	}
	ret = begin_cell(m, r, false);
	r->untold = ret < 0;
	look_at(m, ret);
}

void tg_marker_end(struct tg_marker *m, struct tg_request *r)
{
	struct tg_buf id = TG_BUF_INIT;

	tg_marker_span_id(m, r, &id);
	/* where the recorder is gone, the next one is told that it began, too */
	for (int i = 0; i < 2 && ready(m) && !r->untold; i++) {
		int ret = tg_mark_end(m->mark, id.data, r->end_ns, true, r->status);

		look_at(m, ret);
		if (ret != -EPIPE)
			break;
	}
	tg_buf_release(&id);
}

void tg_marker_tick(struct tg_marker *m)
{
	if (tg_mono_ns() >= tg_marker_deadline(m))
		again(m);
	if (tg_marker_waits(m) && tg_mark_resume(m->mark) == -EPIPE)
		lost(m);
}

bool tg_marker_waits(const struct tg_marker *m)
{
	return m->mark && tg_mark_waits(m->mark);
}

int64_t tg_marker_deadline(const struct tg_marker *m)
{
	return !m->off && !m->mark ? m->again_ns : INT64_MAX;
}

void tg_marker_settings(struct tg_marker *m, const struct tg_settings *s)
{
	int64_t interval_ns =
		(int64_t)(tg_settings_num(s, TG_SET_INTERVAL) * (double)TG_NS_PER_S + 0.5);

	m->hide_code = tg_settings_is(s, TG_SET_CODE, "0");
	if (interval_ns == m->interval_ns)
		return;
	m->interval_ns = interval_ns;
	if (m->mark)
		tg_mark_set(m->mark, "interval_ns", interval_ns);
}

void tg_marker_bye(struct tg_marker *m)
{
	if (m->mark)
		tg_mark_bye(m->mark);
}

int tg_marker_fd(const struct tg_marker *m)
{
	return m->mark ? tg_mark_fd(m->mark) : -1;
}

int64_t tg_marker_ask_usage(struct tg_marker *m)
{
	if (!m->mark || tg_mark_ask_usage(m->mark, ++m->question))
		return 0;
	return m->question;
}

void tg_marker_oom(struct tg_marker *m, struct tg_buf *out)
{
	struct tg_json *answer = NULL;
	const char *text, *why = "no recorder is there to ask";

	if (m->mark && !tg_mark_ask_oom(m->mark, ++m->question) &&
		!tg_mark_wait(m->mark, m->question, OOM_MS, &answer))
		why = "the recorder does not answer";
	text = tg_json_str(tg_json_get(answer, "text"), NULL);
	if (text)
		tg_buf_adds(out, text);
	else
		tg_buf_addf(out, "Out of memory: unknown: %s.", why);
	tg_json_free(answer);
}

int64_t tg_marker_answer(struct tg_marker *m, struct tg_json **answer)
{
	*answer = NULL;
	while (m->mark) {
		int got = tg_mark_answer(m->mark, answer);
		int64_t n;

		if (got < 0)
			lost(m);
		if (got <= 0)
			return 0;
		n = tg_json_int(tg_json_get(*answer, "re"), 0);
		if (n > 0 && !tg_json_get(*answer, "file"))
			return n;
		take_news(m, *answer);
		tg_json_free(*answer);
		*answer = NULL;
	}
	return 0;
}
