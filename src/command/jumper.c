/* SPDX-License-Identifier: BSD-3-Clause */
/* JUmPER's magics: arguments, messages, and what each shows. */
#include "command/jumper.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "command/line.h"
#include "command/run.h"
#include "report/format.h"
#include "report/picture.h"

#include "base/mem.h"

#define HAND_OVER_MS 8000 /* the proxy gives up after 10 s */

/* The cells of the run, in order. */
struct cells {
	struct tg_recording *r;
	const struct tg_span **cell;
	size_t n;
};

static int cells_open(struct tg_jumper *j, struct cells *cells)
{
	int rc;

	*cells = (struct cells){ 0 };
	rc = tg_open(j->c, NULL, &cells->r);
	if (rc != TG_WORD_OK)
		return rc;
	cells->cell = tg_xcalloc(cells->r->n_spans + 1, sizeof(*cells->cell));
	for (size_t i = 0; i < cells->r->n_spans; i++)
		if (!strcmp(cells->r->span[i].kind, "cell"))
			cells->cell[cells->n++] = &cells->r->span[i];
	return TG_WORD_OK;
}

static void cells_close(struct cells *cells)
{
	free(cells->cell);
	tg_recording_close(cells->r);
}

static int fail(struct tg_jumper *j, int result, const char *sentence)
{
	tg_err_set(&j->c->err, -EINVAL, "%s", sentence);
	return result;
}

static void say(struct tg_jumper *j, struct tg_buf *text)
{
	j->c->out.text(j->c->out.ctx, text->data, text->len);
	tg_buf_release(text);
}

/* "2026-12-01 20:58:23.092776", as Python's str() of a date, in the zone of the recording. */
static void timestamp(const struct cells *cells, const struct tg_span *cell, struct tg_buf *out)
{
	const struct tg_span_session *s = tg_recording_session(cells->r, cell->session);
	struct tg_buf utc = TG_BUF_INIT;

	tg_utc_text(&utc, cell->begin_utc_ns + s->zone_s * TG_NS_PER_S);
	if (utc.len > 11) {
		utc.data[10] = ' ';
		tg_buf_add(out, utc.data, utc.len - 1);
	}
	tg_buf_release(&utc);
}

/* ---- arguments ---- */

/* The cell that `rest` names; a negative number counts from the end, as in Python. */
static int pick(struct tg_jumper *j, const struct cells *cells, const char *magic, const char *rest,
	const struct tg_span **cell)
{
	char *end;
	long long i;

	if (!*rest) {
		tg_err_set(&j->c->err, -EINVAL, "No index specified. Use: %%%%%s index", magic);
		return TG_WORD_USAGE;
	}
	errno = 0;
	i = strtoll(rest, &end, 10);
	if (errno || end == rest || *end) {
		struct tg_buf shown = TG_BUF_INIT;

		tg_plain(&shown, rest, 40);
		tg_err_set(&j->c->err, -EINVAL, "\"%s\" is no index. Use: %%%%%s index", shown.data,
			magic);
		tg_buf_release(&shown);
		return TG_WORD_USAGE;
	}
	i = i < 0 ? i + (long long)cells->n : i;
	if (i < 0 || i >= (long long)cells->n) {
		tg_err_set(&j->c->err, -ENOENT,
			"Tracked only %zu cells. This index is not available.", cells->n);
		return TG_WORD_FAILED;
	}
	*cell = cells->cell[i];
	return TG_WORD_OK;
}

/* ---- code ---- */

static void add_html(struct tg_buf *out, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '&':
			tg_buf_adds(out, "&amp;");
			break;
		case '<':
			tg_buf_adds(out, "&lt;");
			break;
		case '>':
			tg_buf_adds(out, "&gt;");
			break;
		case '"':
			tg_buf_adds(out, "&quot;");
			break;
		default:
			/* other control characters are not allowed in HTML, even escaped */
			if ((unsigned char)*s >= 0x20 || *s == '\n' || *s == '\t')
				tg_buf_addc(out, *s);
		}
	}
}

static int code_history(struct tg_jumper *j, struct cells *cells, char *rest)
{
	struct tg_buf html = TG_BUF_INIT, text = TG_BUF_INIT, time = TG_BUF_INIT;
	struct tg_buf line = TG_BUF_INIT, wall = TG_BUF_INIT;

	(void)rest;
	tg_buf_adds(&html, "<table><thead><tr><th>index</th><th>timestamp</th><th>wall</th>"
			   "<th style=\"text-align:left\">code</th></tr></thead><tbody>");
	tg_buf_addf(&text, "%5s  %-26s  %9s  %s\n", "index", "timestamp", "wall", "code");
	for (size_t i = 0; i < cells->n; i++) {
		const struct tg_span *cell = cells->cell[i];
		const char *code = cell->code ? cell->code : "";

		tg_buf_clear(&time);
		tg_buf_clear(&line);
		tg_buf_clear(&wall);
		timestamp(cells, cell, &time);
		tg_fmt_seconds(&wall, (double)(cell->end_ns - cell->begin_ns) / 1e9);
		tg_span_title(&line, cell, 60);
		tg_buf_addf(&html,
			"<tr><td>%zu</td><td>%s</td><td>%s</td>"
			"<td style=\"text-align:left\"><pre>",
			i, time.data, wall.data);
		add_html(&html, code);
		tg_buf_adds(&html, "</pre></td></tr>");
		tg_buf_addf(&text, "%5zu  %-26s  ", i, time.data);
		tg_fmt_right(&text, wall.data, 9);
		tg_buf_addf(&text, "  %s\n", line.data);
	}
	tg_buf_adds(&html, "</tbody></table>");
	j->c->out.show(j->c->out.ctx, &(struct tg_display){ .html = html.data, .text = text.data });
	tg_buf_release(&html);
	tg_buf_release(&text);
	tg_buf_release(&time);
	tg_buf_release(&line);
	tg_buf_release(&wall);
	return TG_WORD_OK;
}

static int code_for_index(struct tg_jumper *j, struct cells *cells, char *rest)
{
	struct tg_buf text = TG_BUF_INIT;
	const struct tg_span *cell;
	int rc = pick(j, cells, "display_code_for_index", rest, &cell);

	if (rc != TG_WORD_OK)
		return rc;
	if (!cell->code)
		return fail(j, TG_WORD_FAILED, "The code of this cell was not recorded");
	tg_buf_adds(&text, "Cell timestamp: ");
	timestamp(cells, cell, &text);
	tg_buf_addf(&text, "\n--\n%s\n", cell->code);
	say(j, &text);
	return TG_WORD_OK;
}

/* ---- graphs ---- */

static int draw(
	struct tg_jumper *j, const struct cells *cells, const struct tg_span *const *cell, size_t n)
{
	struct tg_picture picture = { .recording = cells->r,
		.span = cell,
		.n_spans = n,
		.buckets = TG_PICTURE_BUCKETS_SAVED };
	struct tg_chart chart;
	int rc;

	if (!n)
		return fail(j, TG_WORD_FAILED, "No cell was recorded yet");
	rc = tg_picture_draw(&picture, &chart, &j->c->err);
	rc = rc < 0 ? TG_WORD_FAILED : tg_show_chart(j->c, &chart);
	tg_chart_free(&chart);
	return rc;
}

static int graph_for_last(struct tg_jumper *j, struct cells *cells, char *rest)
{
	(void)rest;
	return draw(j, cells, cells->n ? &cells->cell[cells->n - 1] : NULL, cells->n ? 1 : 0);
}

static int graph_for_index(struct tg_jumper *j, struct cells *cells, char *rest)
{
	const struct tg_span *cell;
	int rc = pick(j, cells, "display_graph_for_index", rest, &cell);

	return rc == TG_WORD_OK ? draw(j, cells, &cell, 1) : rc;
}

static int graph_for_all(struct tg_jumper *j, struct cells *cells, char *rest)
{
	(void)rest;
	return draw(j, cells, cells->cell, cells->n);
}

/* ---- data ---- */

static int history(struct tg_jumper *j, const struct cells *cells, struct tg_buf *out)
{
	struct tg_jw w;
	int rc = 0;

	tg_jw_init(&w, out);
	tg_jw_begin_array(&w);
	for (size_t i = 0; i < cells->n && rc == 0; i++)
		rc = tg_jumper_cell(cells->r, cells->cell[i], j->period_s, &w);
	if (rc < 0) {
		tg_err_set(&j->c->err, rc, "Cannot read the recording: %s", strerror(-rc));
		return TG_WORD_FAILED;
	}
	tg_jw_end_array(&w);
	return TG_WORD_OK;
}

int tg_jumper_hand_over(const char *fifo, const char *data, size_t len, int timeout_ms)
{
	int64_t until = tg_mono_ns() + timeout_ms * TG_NS_PER_MS;
	struct stat st;
	int fd, rc = 0;

	/* without a reader the open fails: it comes when the kernel's code has got so far */
	for (;;) {
		fd = open(fifo, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
		if (fd >= 0)
			break;
		if (errno != ENXIO || tg_mono_ns() > until)
			return errno == ENXIO ? -ETIMEDOUT : -errno;
		poll(NULL, 0, 5);
	}
	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		rc = -EINVAL;
	while (len && rc == 0) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		ssize_t n = write(fd, data, len);

		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			if (tg_mono_ns() > until)
				rc = -ETIMEDOUT;
			else
				poll(&p, 1, 100);
		} else if (errno != EINTR) {
			rc = -errno;
		}
	}
	close(fd);
	return rc;
}

static int to_variable(struct tg_jumper *j, struct cells *cells, char *rest)
{
	struct tg_buf data = TG_BUF_INIT, text = TG_BUF_INIT;
	int rc;

	if (!*rest)
		return fail(j, TG_WORD_USAGE,
			"No variable to export specified. Use: %%perfdata_to_variable myvar");
	if (!tg_magic_is_variable(rest, strlen(rest))) {
		tg_plain(&text, rest, 40);
		tg_err_set(&j->c->err, -EINVAL,
			"\"%s\" is no name of a variable. Use: %%%%perfdata_to_variable myvar",
			text.data);
		tg_buf_release(&text);
		return TG_WORD_USAGE;
	}
	if (!j->fifo)
		return fail(j, TG_WORD_FAILED,
			"Data can be handed to a variable in Python kernels only; use "
			"%%perfdata_to_json or %tacho export");
	rc = history(j, cells, &data);
	if (rc == TG_WORD_OK) {
		int sent = tg_jumper_hand_over(j->fifo, data.data, data.len, HAND_OVER_MS);

		j->handed_over = true;
		if (sent < 0) {
			rc = TG_WORD_FAILED;
			tg_err_set(&j->c->err, sent, "The kernel did not take the data: %s",
				strerror(-sent));
		}
	}
	if (rc == TG_WORD_OK) {
		tg_buf_addf(&text, "Exported performance data to %s variable\n", rest);
		say(j, &text);
	}
	tg_buf_release(&data);
	return rc;
}

static void code_json(const struct cells *cells, struct tg_buf *out)
{
	struct tg_jw w;

	tg_jw_init(&w, out);
	tg_jw_begin_array(&w);
	for (size_t i = 0; i < cells->n; i++) {
		struct tg_buf time = TG_BUF_INIT;

		timestamp(cells, cells->cell[i], &time);
		tg_jw_begin_array(&w);
		tg_jw_str(&w, time.data);
		tg_jw_str(&w, cells->cell[i]->code);
		tg_jw_end_array(&w);
		tg_buf_release(&time);
	}
	tg_jw_end_array(&w);
}

static int to_json(struct tg_jumper *j, struct cells *cells, char *rest)
{
	struct tg_buf data = TG_BUF_INIT, code = TG_BUF_INIT, name = TG_BUF_INIT;
	struct tg_buf text = TG_BUF_INIT;
	char *word[2];
	int n = tg_line_split(rest, word, 2), rc;

	if (n == 0)
		return fail(j, TG_WORD_USAGE,
			"No filename to export specified. Use: %%perfdata_to_json myfile");
	if (n != 1 || !*word[0])
		return fail(j, TG_WORD_USAGE,
			"One filename is needed, in quotes if it has blanks. Use: "
			"%%perfdata_to_json myfile");
	rc = history(j, cells, &data);
	if (rc == TG_WORD_OK) {
		tg_buf_addf(&name, "%s_perfdata.json", word[0]);
		rc = tg_write_result(j->c, name.data, NULL, data.data, data.len);
	}
	if (rc == TG_WORD_OK) {
		code_json(cells, &code);
		tg_buf_clear(&name);
		tg_buf_addf(&name, "%s_code.json", word[0]);
		rc = tg_write_result(j->c, name.data, NULL, code.data, code.len);
	}
	if (rc == TG_WORD_OK) {
		tg_buf_adds(&text, "Exported performance data to ");
		tg_plain(&text, word[0], 200);
		tg_buf_adds(&text, "_perfdata.json and ");
		tg_plain(&text, word[0], 200);
		tg_buf_adds(&text, "_code.json\n");
		say(j, &text);
	}
	tg_buf_release(&data);
	tg_buf_release(&code);
	tg_buf_release(&name);
	return rc;
}

/* ---- the table ---- */

static int (*const table[TG_NAMES])(struct tg_jumper *j, struct cells *cells, char *rest) = {
	[TG_NAME_CODE_HISTORY] = code_history,
	[TG_NAME_CODE_FOR_INDEX] = code_for_index,
	[TG_NAME_GRAPH_FOR_LAST] = graph_for_last,
	[TG_NAME_GRAPH_FOR_INDEX] = graph_for_index,
	[TG_NAME_GRAPH_FOR_ALL] = graph_for_all,
	[TG_NAME_TO_VARIABLE] = to_variable,
	[TG_NAME_TO_JSON] = to_json,
};

int tg_jumper_run(struct tg_jumper *j, enum tg_magic_name name, char *rest)
{
	struct cells cells;
	int rc = cells_open(j, &cells);

	if (rc != TG_WORD_OK)
		return rc;
	rc = table[name](j, &cells, rest);
	cells_close(&cells);
	return rc;
}
