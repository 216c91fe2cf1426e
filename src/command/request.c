/* SPDX-License-Identifier: BSD-3-Clause */
/* One request of the proxy, and its answer. */
#include <errno.h>
#include <math.h>
#include <poll.h>

#include "analyze/totals.h"
#include "base/clock.h"
#include "base/json.h"
#include "command/jumper.h"
#include "command/line.h"
#include "command/messages.h"
#include "command/run.h"
#include "command/worker.h"
#include "mark/mark.h"
#include "report/format.h"

#include "base/mem.h"

#define FLUSH_MS    500
#define LATE        "The recorder does not answer: what happened last may be missing"
#define UNWRITTEN   "What happened last may be missing: the recorder could not write it yet"
#define END_TRIES   5 /* the end mark of a cell may be read after our flush */
#define END_WAIT_MS 10

struct request {
	const struct tg_worker_host *host;
	const struct tg_json *json, *settings;
	struct tg_messages *messages;
	struct tg_command c;
	struct tg_buf why; /* what c.why points to, when the recorder says so */
	bool flushed;
};

/* {"re":1,"file":"/…/x.tacho","warning":"nothing is recorded: cannot write /…: …"} */
static void hear(struct request *q, const struct tg_json *hello)
{
	const char *warning = tg_json_str(tg_json_get(hello, "warning"), NULL);

	if (tg_json_get(hello, "session") || !warning || !*warning)
		return;
	tg_buf_clear(&q->why);
	tg_buf_addc(&q->why, warning[0] == 'n' ? 'N' : warning[0]);
	tg_buf_adds(&q->why, warning + 1);
	q->c.why = q->why.data;
}

/*
 * What was marked and sampled up to now must be in the file before it is read. Where that cannot
 * be had, the command is told why.
 */
static void flush(struct request *q)
{
	struct tg_json *answer = NULL;
	struct tg_mark *mark;

	q->flushed = true;
	if (!q->c.socket)
		return;
	q->c.late = LATE;
	if (tg_mark_connect(&mark, q->c.socket, NULL) < 0)
		return;
	if (tg_mark_ask_hello(mark, 1) == 0 && tg_mark_ask_flush(mark, 2) == 0 &&
		tg_mark_wait(mark, 1, FLUSH_MS, &answer) == 1) {
		hear(q, answer);
		tg_json_free(answer);
		q->c.late = q->why.len ? q->why.data : UNWRITTEN;
		if (tg_mark_wait(mark, 2, FLUSH_MS, &answer) == 1) {
			if (tg_json_get(answer, "offset"))
				q->c.late = NULL;
			tg_json_free(answer);
		}
	}
	tg_mark_close(mark);
}

/* ---- magics ---- */

static int run_tacho(struct request *q, char *rest)
{
	char *word[TG_LINE_WORDS + 1];
	int n = tg_line_split(rest, word, TG_LINE_WORDS);
	const struct tg_word *w;

	if (n < 0) {
		tg_err_set(&q->c.err, -EINVAL, "A quote is open, or there are too many words");
		return TG_WORD_USAGE;
	}
	if (n == 0 || !strcmp(word[0], "--help") || !strcmp(word[0], "-h")) {
		word[0] = (char *)"help";
		n = TG_MAX(n, 1);
	}
	word[n] = NULL;
	w = tg_word_find(word[0], TG_IN_NOTEBOOK);
	if (!w)
		return tg_unknown_word(&q->c, word[0]);
	return tg_word_run(w, &q->c, n, word);
}

/* Returns enum tg_word_result; `word` is of `tacho`, or "". */
static int help(struct request *q, enum tg_magic_name name, char *word)
{
	char *argv[] = { (char *)"help", word, NULL };
	struct tg_buf out = TG_BUF_INIT;

	if (*word)
		return tg_run_help(&q->c, 2, argv);

	tg_magic_help(name, &out);
	q->c.out.text(q->c.out.ctx, out.data, out.len);
	tg_buf_release(&out);
	return TG_WORD_OK;
}

static int run_magic(struct request *q, struct tg_jumper *j, enum tg_magic_name name, char *rest)
{
	if (!q->flushed)
		flush(q);
	return name == TG_NAME_TACHO ? run_tacho(q, rest) : tg_jumper_run(j, name, rest);
}

static void magics(struct request *q, struct tg_jumper *j)
{
	const char *code = tg_json_str(tg_json_get(q->json, "code"), "");
	struct tg_magics top = { .code = code, .len = strlen(code) };
	struct tg_magic_line m;

	while (tg_magics_next(&top, &m)) {
		char *rest = tg_xmemdup0(code + m.args, m.args_len);

		q->c.err.text[0] = '\0';
		if ((m.question ? help(q, m.name, rest) : run_magic(q, j, m.name, rest)) !=
				TG_WORD_OK &&
			q->c.err.text[0])
			tg_messages_error(q->messages, q->c.err.text);
		free(rest);
		if (m.whole) /* JUmPER ignores what else is in the cell */
			break;
	}
	if (!top.some)
		tg_messages_error(q->messages, "There is no magic in this cell");
}

/* ---- the end of a cell ---- */

/* The cell that a request is about. Where it is lost, no line is better than another cell's. */
static const struct tg_span *cell_by_id(const struct tg_recording *r, const char *id)
{
	for (size_t i = r->n_spans; i-- > 0;)
		if (!strcmp(r->span[i].kind, "cell") && r->span[i].id && !strcmp(r->span[i].id, id))
			return &r->span[i];
	return NULL;
}

static void report_cell(struct request *q, const struct tg_jumper *j, struct tg_recording *r,
	const struct tg_span *cell, const char *report)
{
	struct tg_buf out = TG_BUF_INIT;
	struct tg_totals totals;

	if (!strcmp(report, "jumper")) {
		if (tg_jumper_report(r, cell, j->period_s, j->reports_min, &out) < 0)
			tg_buf_clear(&out);
	} else if ((double)(cell->end_ns - cell->begin_ns) / 1e9 >=
			   tg_json_num(tg_json_get(q->settings, "report_min_s"), 2) &&
		   tg_totals_of(r, cell, &totals) == 0) {
		tg_fmt_headline(&out, &totals);
		tg_buf_addc(&out, '\n');
	}
	if (out.len)
		q->c.out.text(q->c.out.ctx, out.data, out.len);
	tg_buf_release(&out);
}

/*
 * A recording that cannot be read is nothing to trouble every cell with: the first magic says so.
 */
static void cell_end(struct request *q, const struct tg_jumper *j)
{
	const char *report = tg_json_str(tg_json_get(q->settings, "report"), "line");
	const char *id = tg_json_str(tg_json_get(tg_json_get(q->json, "cell"), "id"), NULL);
	struct tg_recording *r = NULL;

	if (!strcmp(report, "none") || !q->c.file || !id)
		return;
	for (int i = 0; i < END_TRIES; i++) {
		const struct tg_span *cell;

		flush(q);
		q->c.late = NULL; /* the first magic says so */
		if (tg_open(&q->c, NULL, &r) != TG_WORD_OK)
			return;
		cell = cell_by_id(r, id);
		if (cell && !cell->open) {
			report_cell(q, j, r, cell, report);
			break;
		}
		tg_recording_close(r);
		r = NULL;
		poll(NULL, 0, END_WAIT_MS);
	}
	tg_recording_close(r);
}

/* ---- requests ---- */

static double setting(const struct request *q, const char *key, double min, double otherwise)
{
	double v = tg_json_num(tg_json_get(q->settings, key), otherwise);

	return v >= min && v < 1e9 ? v : otherwise;
}

static void read_request(struct request *q)
{
	const struct tg_json *recorder = tg_json_get(q->json, "recorder");
	const struct tg_json *kernel = tg_json_get(q->json, "kernel");
	const char *cwd = tg_json_str(tg_json_get(kernel, "cwd"), NULL), *home = getenv("HOME");

	q->settings = tg_json_get(q->json, "settings");
	q->c = (struct tg_command){
		.where = TG_IN_NOTEBOOK,
		.cwd = cwd && cwd[0] == '/' ? cwd : NULL,
		.home = home && home[0] == '/' ? home : NULL, /* no shell has seen the names */
		.file = tg_json_str(tg_json_get(recorder, "file"), NULL),
		.why = tg_json_str(tg_json_get(q->json, "why"), NULL),
		.socket = tg_json_str(tg_json_get(recorder, "socket"), NULL),
		.now_ns = tg_real_ns(),
		.root = tg_json_int(tg_json_get(kernel, "pid"), 0),
		.run = tg_json_int(tg_json_get(recorder, "run"), -1),
		.settings = q->settings,
		.settings_from = tg_json_get(q->json, "from"),
		.load_sources = q->host ? q->host->load_sources : NULL,
		.out = tg_messages_output(q->messages),
	};
	if (!q->c.file && !q->c.why)
		q->c.why = "Nothing is recorded here";
}

static void answer_request(struct request *q)
{
	const char *what = tg_json_str(tg_json_get(q->json, "do"), "");
	struct tg_jumper j = { .c = &q->c };

	read_request(q);
	j.period_s = setting(q, "jumper_report_frequency_s", 1e-3, 2);
	j.reports_min = setting(q, "jumper_reports_min", 0, 2);
	j.fifo = tg_json_str(tg_json_get(q->json, "fifo"), NULL);
	if (!strcmp(what, "magic"))
		magics(q, &j);
	else if (!strcmp(what, "cell_end"))
		cell_end(q, &j);
	else
		tg_messages_error(q->messages, "The worker does not know this request");
	/* the kernel's code waits for something: it gets an empty list where there is nothing */
	if (j.fifo && !j.handed_over)
		tg_jumper_hand_over(j.fifo, "[]", 2, 2000);
	if (q->host && q->host->free_sources)
		q->host->free_sources(&q->c);
}

void tg_worker_answer(
	const struct tg_worker_host *host, const char *request, size_t len, struct tg_buf *out)
{
	struct tg_err err = { 0 };
	struct tg_messages messages;
	struct request q = { .host = host, .messages = &messages, .why = TG_BUF_INIT };
	struct tg_json *json;

	json = tg_json_parse(request, len, &err);
	tg_messages_init(&messages);
	q.json = json;
	tg_buf_addf(out, "{\"n\":%lld", (long long)tg_json_int(tg_json_get(json, "n"), 0));
	if (tg_json_is_object(json))
		answer_request(&q);
	else
		tg_messages_error(&messages, "The worker cannot read this request");
	tg_messages_finish(&messages, out);
	tg_buf_addc(out, '}');
	tg_messages_release(&messages);
	tg_buf_release(&q.why);
	tg_json_free(json);
}
