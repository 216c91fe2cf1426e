/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cells: which are ours, which are recorded, when they begin and end, and whether something is
 * printed when they ended. A cell that prints nothing is never kept back.
 */
#include <errno.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/json.h"
#include "jupyter/state.h"

#include "base/mem.h"

#define CELL_END_NS (250 * TG_NS_PER_MS) /* that the idle of a cell which prints waits */

static bool is_python(const struct tg_proxy *p)
{
	return !strcmp(p->language.data, "python");
}

/* What is wrong with the use of a magic and can be said without the worker; "" for nothing. */
static void find_fault(const struct tg_proxy *p, const struct tg_request *r, struct tg_buf *out)
{
	const struct tg_magic *m = &r->magic;
	const char *name = r->code.data + m->name;

	if (!m->to_variable)
		return;
	if (!m->name_len)
		tg_buf_adds(out, "No variable to export specified. "
				 "Use: %%perfdata_to_variable myvar\n");
	else if (!is_python(p))
		tg_buf_adds(out, "%%perfdata_to_variable sets variables of Python only; "
				 "%%perfdata_to_json writes a file.\n");
	else if (m->many)
		tg_buf_adds(out, "%perfdata_to_variable can be used once in a cell.\n");
	else if (!tg_magic_is_variable(name, m->name_len))
		tg_buf_addf(out,
			"\"%.*s\" is no name for a variable. "
			"Use: %%%%perfdata_to_variable myvar\n",
			(int)TG_MIN(m->name_len, (size_t)60), name);
}

/* In our private folder, which may have been removed. */
static int make_fifo(struct tg_proxy *p, const char *path)
{
	int ret = mkfifo(path, 0600);

	if (ret && errno == ENOENT && !tg_inner_folder(&p->inner))
		ret = mkfifo(path, 0600);
	return ret;
}

static void rewrite(struct tg_proxy *p, struct tg_request *r, struct tg_msg *m)
{
	struct tg_bytes content = tg_msg_part(m, TG_CONTENT);
	struct tg_bytes code = tg_jscan_member(content.at, content.len, "code");
	struct tg_buf text = TG_BUF_INIT, quoted = TG_BUF_INIT, spliced = TG_BUF_INIT;

	find_fault(p, r, &text);
	if (r->magic.to_variable && !text.len && !r->silent) {
		tg_buf_addf(
			&r->fifo, "%s/v%llu", p->inner.dir.data, (unsigned long long)++p->n_spans);
		if (make_fifo(p, r->fifo.data))
			tg_buf_clear(&r->fifo);
	}
	tg_buf_clear(&text);
	tg_magic_rewrite(&r->magic, r->code.data, r->code.len, tg_magic_comment(p->language.data),
		r->fifo.len ? r->fifo.data : NULL, &text);
	tg_json_quote_lax(&quoted, text.data, text.len);
	tg_jscan_splice(content.at, content.len, code, quoted.data, quoted.len, &spliced);
	tg_msg_replace(m, TG_CONTENT, spliced.data, spliced.len, &p->sign);
	tg_buf_release(&text);
	tg_buf_release(&quoted);
	tg_buf_release(&spliced);
}

/* Whether no earlier cell of the same shell is still at work. */
static bool is_next(const struct tg_proxy *p, const struct tg_request *r)
{
	for (const struct tg_request *q = p->requests.first; q && q != r; q = q->next)
		if (!q->replied && !q->idle && tg_request_is(q, "execute_request") &&
			!strcmp(q->subshell.data, r->subshell.data))
			return false;
	return true;
}

static void begin(struct tg_proxy *p, struct tg_request *r, int64_t t_ns)
{
	r->begun = true;
	r->span = ++p->n_spans;
	if (r->count < 0 && r->store && !r->subshell.len)
		r->count = p->count + 1;
	r->begin_ns = t_ns;
	tg_marker_begin(&p->marker, r);
}

void tg_cell_request(struct tg_proxy *p, struct tg_request *r, struct tg_msg *m)
{
	struct tg_bytes code = tg_msg_member(m, TG_CONTENT, "code");

	r->silent = tg_jscan_literal(tg_msg_member(m, TG_CONTENT, "silent"), "true");
	r->store = !r->silent &&
		   !tg_jscan_literal(tg_msg_member(m, TG_CONTENT, "store_history"), "false");
	if (tg_jscan_string(code, &r->code))
		return;
	tg_magic_read(r->code.data, r->code.len, &r->magic);
	if (r->magic.kind != TG_MAGIC_NONE)
		rewrite(p, r, m);
	if (r->silent)
		return; /* executed without our lines, and nothing is said */
	r->kind = r->magic.kind == TG_MAGIC_ALL ? TG_CELL_MAGIC : TG_CELL_CODE;
	r->answer_due = r->magic.kind == TG_MAGIC_ALL || r->magic.kind == TG_MAGIC_TOP;
	if (r->kind == TG_CELL_CODE && is_next(p, r))
		r->begin_ns = tg_mono_ns();
}

void tg_cell_request_passed(struct tg_proxy *p, struct tg_request *r)
{
	if (r->begin_ns && !r->begun)
		begin(p, r, r->begin_ns);
}

void tg_cell_busy(struct tg_proxy *p, struct tg_request *r)
{
	if (r->kind == TG_CELL_CODE && !r->begun)
		begin(p, r, tg_mono_ns());
}

void tg_cell_input(struct tg_proxy *p, struct tg_request *r, struct tg_msg *m)
{
	struct tg_bytes content = tg_msg_part(m, TG_CONTENT);
	int64_t count = tg_jscan_int(tg_msg_member(m, TG_CONTENT, "execution_count"), -1);
	struct tg_buf quoted = TG_BUF_INIT, spliced = TG_BUF_INIT;
	struct tg_bytes code;

	r->started = true;
	if (r->store && count >= 0 && !r->subshell.len)
		r->count = p->count = count;
	code = tg_jscan_member(content.at, content.len, "code");
	if (r->magic.kind == TG_MAGIC_NONE || !code.at)
		return;
	tg_json_quote_lax(&quoted, r->code.data, r->code.len);
	tg_jscan_splice(content.at, content.len, code, quoted.data, quoted.len, &spliced);
	tg_msg_replace(m, TG_CONTENT, spliced.data, spliced.len, &p->sign);
	tg_buf_release(&quoted);
	tg_buf_release(&spliced);
}

/* Whether the cell may have %env lines; other languages know none. */
static bool sets_variables(const struct tg_proxy *p, const struct tg_request *r)
{
	return is_python(p) && tg_settings_in_code(r->code.data, r->code.len);
}

void tg_cell_started(struct tg_proxy *p, struct tg_request *r)
{
	struct tg_buf fault = TG_BUF_INIT;

	if (r->silent)
		return;
	if (tg_backlog_tell(&p->backlog, &fault))
		tg_emit_stderr(p, r, fault.data);
	tg_buf_clear(&fault);
	if (p->marker.warning.len) {
		tg_emit_stderr(p, r, p->marker.warning.data);
		tg_buf_clear(&p->marker.warning);
	}
	if (sets_variables(p, r)) {
		struct tg_settings copy = p->settings; /* not yet in force */

		tg_settings_code(&copy, r->code.data, r->code.len, r->count, &fault);
		if (fault.len)
			tg_emit_stderr(p, r, fault.data);
		tg_buf_clear(&fault);
	}
	if (r->answer_due) {
		find_fault(p, r, &fault);
		if (!fault.len && r->magic.to_variable && !r->fifo.len)
			tg_buf_adds(&fault, "The variable cannot be set: "
					    "there is no folder to hand the data over in.\n");
		if (fault.len) {
			tg_emit_stderr(p, r, fault.data);
			r->answer_due = false;
			tg_forward_kept(p, r); /* the reply may have come first */
		} else {
			tg_ask_magic(p, r);
		}
	}
	tg_buf_release(&fault);
}

/* Whether the settings ask for something to be printed. */
static bool prints(const struct tg_proxy *p, const struct tg_request *r)
{
	const struct tg_settings *s = &p->settings;
	double wall_s = (double)(r->end_ns - r->begin_ns) / (double)TG_NS_PER_S;

	if (!r->store || p->dying || !strcmp(r->status, "aborted"))
		return false;
	if (r->magic.kind == TG_MAGIC_COST)
		return true;
	if (p->marker.off)
		return false;
	if (tg_settings_is(s, TG_SET_REPORT, "line"))
		return wall_s >= tg_settings_num(s, TG_SET_REPORT_MIN);
	if (tg_settings_is(s, TG_SET_REPORT, "jumper"))
		return wall_s / tg_settings_num(s, TG_SET_JUMPER_PERIOD) >
		       tg_settings_num(s, TG_SET_JUMPER_MIN);
	return false;
}

static void end(struct tg_proxy *p, struct tg_request *r, const char *status)
{
	struct tg_buf unused = TG_BUF_INIT;

	if (r->ended || r->kind != TG_CELL_CODE)
		return;
	/* the reply of one that was queued may overtake its busy: it ran since the one before ended
	 */
	if (!r->begun)
		begin(p, r, p->ended_ns && !r->subshell.len ? p->ended_ns : tg_mono_ns());
	r->status = status;
	if (!r->end_ns) /* the reply's, where it came first */
		r->end_ns = tg_mono_ns();
	tg_marker_end(&p->marker, r);
	r->ended = true;
	if (prints(p, r))
		tg_ask_cell_end(p, r);
	/* in force from the next cell on */
	if (strcmp(status, "aborted") != 0 && sets_variables(p, r)) {
		tg_settings_code(&p->settings, r->code.data, r->code.len, r->count, &unused);
		tg_marker_settings(&p->marker, &p->settings);
	}
	tg_buf_release(&unused);
}

static const char *status_of(struct tg_bytes reply)
{
	return tg_jscan_is(reply, "ok") ? "ok" : tg_jscan_is(reply, "error") ? "error" : "aborted";
}

bool tg_cell_reply(struct tg_proxy *p, struct tg_request *r, const struct tg_msg *m)
{
	struct tg_bytes status = tg_msg_member(m, TG_CONTENT, "status");
	int64_t count = tg_jscan_int(tg_msg_member(m, TG_CONTENT, "execution_count"), -1);

	/* where it overtakes execute_input */
	if (!r->begun && r->store && count >= 0 && !r->subshell.len)
		r->count = p->count = count;
	if (!r->ended) {
		r->status = status_of(status);
		r->end_ns = tg_mono_ns();
	}
	if (tg_jscan_is(status, "error"))
		tg_ask_interrupted(p, r);
	else if (!tg_jscan_is(status, "ok"))
		r->answer_due = false;
	return r->answer_due && !p->dying;
}

void tg_cell_reply_passed(struct tg_proxy *p, struct tg_request *r)
{
	end(p, r, r->status);
	if (!r->subshell.len)
		p->ended_ns = r->end_ns;
}

/* Of a cell that failed: a line of ours in it may be why, as its kernel knows no such magic. */
static void tell_below(struct tg_proxy *p, const struct tg_request *r)
{
	enum tg_magic_name name;
	int signs = tg_magics_below(r->code.data, r->code.len, r->magic.body, &name);
	struct tg_buf text = TG_BUF_INIT;

	if (!signs)
		return;
	tg_buf_addf(&text,
		"%.*s%s must stand at the top of a cell, above its code and other magics.\n", signs,
		"%%", tg_magic_name(name));
	tg_emit_stderr(p, r, text.data);
	tg_buf_release(&text);
}

bool tg_cell_idle(struct tg_proxy *p, struct tg_request *r)
{
	bool failed = r->failed || (r->status && !strcmp(r->status, "error"));

	if (failed && r->kind == TG_CELL_CODE && !r->idle)
		tell_below(p, r);
	/* the reply, which has the status, may be on its way on another socket */
	end(p, r, !r->started ? "aborted" : r->failed ? "error" : "ok");
	if (!r->started && r->answer_due) {
		/* no execute_input came, so nobody is asked: a reply that was kept goes on */
		r->answer_due = false;
		tg_forward_kept(p, r);
	}
	if (p->dying || (!r->answer_due && !r->question))
		return false;
	/* who asked for the answer waits for it; what the settings print is not worth more */
	if (!r->answer_due && !r->wanted)
		r->release_ns = tg_mono_ns() + CELL_END_NS;
	return true;
}

void tg_cell_died(struct tg_proxy *p, struct tg_request *r, const char *status)
{
	if (r->begun)
		end(p, r, status);
}
