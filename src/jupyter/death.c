/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user's kernel died. Its last words are still in the pipes; then every request that waits is
 * answered: the cell that ran with an error that says what happened, the others as aborted. The
 * proxy then exits, so that Jupyter restarts the kernel by its own rules.
 */
#include <signal.h>

#include "base/clock.h"
#include "base/end.h"
#include "base/json.h"
#include "jupyter/state.h"

#include "base/mem.h"

#define QUIET_MS  30 /* without a message: nothing more comes */
#define DRAIN_NS  (2 * TG_NS_PER_S) /* where only a shell around the kernel died, more comes */
#define NAMED_MAX 3 /* cells that ran */

static void drain(struct tg_proxy *p)
{
	zmq_pollitem_t item[] = {
		{ p->inner.socket[TG_IOPUB], 0, ZMQ_POLLIN, 0 },
		{ p->inner.socket[TG_SHELL], 0, ZMQ_POLLIN, 0 },
		{ p->inner.socket[TG_CONTROL], 0, ZMQ_POLLIN, 0 },
	};

	int64_t end_ns = tg_mono_ns() + DRAIN_NS;

	while (tg_mono_ns() < end_ns && zmq_poll(item, TG_ARRAY_SIZE(item), QUIET_MS) > 0) {
		if (item[0].revents)
			tg_forward_iopub(p);
		if (item[1].revents)
			tg_forward_reply(p, TG_SHELL);
		if (item[2].revents)
			tg_forward_reply(p, TG_CONTROL);
	}
}

/* What was sent to the dead kernel meanwhile is only noted, to be answered with the rest. */
static void note_unread(struct tg_proxy *p)
{
	tg_forward_held(p);
	for (int i = 0; i < TG_REQUESTS_MAX / TG_TURN_MESSAGES; i++) {
		tg_forward_request(p, TG_SHELL);
		tg_forward_request(p, TG_CONTROL);
	}
}

/* The oldest unanswered cell of each subshell is the one that runs, whether or not it said so:
   one that kills itself at once dies before its execute_input is sent. */
static bool is_running(const struct tg_proxy *p, const struct tg_request *r)
{
	if (!tg_request_is(r, "execute_request") || r->replied)
		return false;
	for (const struct tg_request *q = p->requests.first; q != r; q = q->next)
		if (!q->replied && tg_request_is(q, "execute_request") &&
			!strcmp(q->subshell.data, r->subshell.data))
			return false;
	return true;
}

/* Whether Linux may have done it for want of memory; a shell in between makes a code of the signal.
 */
static bool was_killed(int code, int signal)
{
	return signal == SIGKILL || code == 128 + SIGKILL;
}

/* "cell [3] ran: x = load()" */
static void name_cell(const struct tg_request *r, struct tg_buf *out)
{
	struct tg_buf name = TG_BUF_INIT;

	tg_buf_adds(out, "cell ");
	if (r->count >= 0)
		tg_buf_addf(out, "[%lld] ", (long long)r->count);
	tg_buf_adds(out, "ran");
	tg_marker_cell_name(r->code.data + r->magic.body, r->code.len - r->magic.body, &name);
	if (name.len)
		tg_buf_addf(out, ": %s", name.data);
	tg_buf_release(&name);
}

/*
 * "The kernel was killed by signal 9 (SIGKILL) while cell [3] ran: x = load()", or "The kernel
 * exited with code 3 before it was ready"; with subshells there may be several, and which of them
 * it was nobody knows.
 */
static void explain(const struct tg_proxy *p, int code, int signal, struct tg_buf *out)
{
	int n = 0;

	tg_buf_adds(out, "The kernel ");
	tg_end_words(code, signal, out);
	if (!p->ready) {
		tg_buf_adds(out, " before it was ready");
		return;
	}
	for (const struct tg_request *r = p->requests.first; r; r = r->next) {
		if (!is_running(p, r))
			continue;
		if (n++ == NAMED_MAX) {
			tg_buf_adds(out, ", and others ran");
			break;
		}
		tg_buf_adds(out, n == 1 ? " while " : ", and ");
		name_cell(r, out);
	}
}

/* The members of an error, without braces; each line of `why` is one of the traceback. */
static void format_error(const char *why, struct tg_buf *out)
{
	tg_buf_adds(out, "\"ename\":\"KernelDied\",\"evalue\":");
	tg_json_quote(out, why, strlen(why));
	tg_buf_adds(out, ",\"traceback\":[");
	for (size_t len; (len = strcspn(why, "\n")); why += len + (why[len] == '\n')) {
		tg_json_quote(out, why, len);
		if (why[len])
			tg_buf_addc(out, ',');
	}
	tg_buf_addc(out, ']');
}

static void answer(struct tg_proxy *p, const struct tg_request *r, const char *why)
{
	bool running = is_running(p, r), cell = tg_request_is(r, "execute_request");
	struct tg_buf error = TG_BUF_INIT, content = TG_BUF_INIT;

	format_error(why, &error);
	if (running && !r->silent) {
		tg_buf_addf(&content, "{%s}", error.data);
		tg_emit_iopub(p, r, "error", content.data, content.len);
		tg_buf_clear(&content);
	}
	if (!r->replied) {
		tg_buf_addf(&content, "{\"status\":\"%s\",%s",
			cell && !running ? "aborted" : "error", error.data);
		if (running)
			tg_buf_addf(&content,
				",\"execution_count\":%lld,\"user_expressions\":{},\"payload\":[]",
				(long long)TG_MAX(r->count, 0));
		tg_buf_addc(&content, '}');
		tg_emit_reply(p, r, content.data, content.len);
	}
	if (!r->idle)
		tg_emit_status(p, r, "idle");
	tg_buf_release(&content);
	tg_buf_release(&error);
}

void tg_death(struct tg_proxy *p, int code, int signal)
{
	struct tg_buf why = TG_BUF_INIT;

	tg_ask_cancel(p);
	tg_usage_cancel(p);
	drain(p);
	note_unread(p);
	for (struct tg_request *r = p->requests.first; r; r = r->next)
		tg_cell_died(p, r, is_running(p, r) && !p->shutting ? "died" : "aborted");
	if (!p->shutting) {
		explain(p, code, signal, &why);
		if (was_killed(code, signal) && p->requests.first) {
			tg_buf_addc(&why, '\n');
			tg_marker_oom(&p->marker, &why);
		}
		for (const struct tg_request *r = p->requests.first; r; r = r->next)
			answer(p, r, why.data);
	}
	tg_buf_release(&why);
}
