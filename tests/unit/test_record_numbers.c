/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that lost chunks and were written on: no number means two spans. */
#include "recording.h"
#include "run.h"

#include <errno.h>

#include "analyze/recording.h"
#include "record/chunk.h"

#include "base/mem.h"

static struct tg_writer *open_writer(const char *path)
{
	struct tg_err err = { 0 };
	struct tg_writer *w;

	if (tg_writer_open(&w, path, RUN_SESSION, &err) < 0) {
		fprintf(stderr, "# %s\n", err.text);
		exit(1);
	}
	return w;
}

static struct tg_recording *open_recording(const char *path)
{
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };

	if (tg_recording_open(&r, path, &err) < 0) {
		fprintf(stderr, "# %s\n", err.text);
		exit(1);
	}
	return r;
}

#define BEGIN(span, kind, more)                                                                    \
	"{\"ev\":\"begin\",\"t\":1001000000000,\"span\":" #span ",\"kind\":\"" kind "\"" more "}"

/* Numbers of spans whose beginning is lost are not given out again. */
static void test_lost_numbers(void)
{
	const char *path = run_path("lost.tacho");
	struct tg_writer *w;
	uint64_t whole;
	struct tg_buf b;
	off_t at;

	unlink(path);
	w = open_writer(path);
	run_event(w, BEGIN(1, "run", ""));
	at = (off_t)tg_writer_offset(w) + TG_CHUNK_HEADER;
	run_event(w, BEGIN(9, "cell", ""));
	run_event(w, "{\"ev\":\"end\",\"t\":1002000000000,\"span\":9}");
	tg_writer_abandon(w);
	w = open_writer(path);
	whole = tg_writer_next_span(w);
	tg_writer_abandon(w);
	T_EQ_I(whole, 10);
	b = r_slurp(path);
	b.data[at + 3] ^= 1;
	r_spew(path, b.data, b.len);
	w = open_writer(path);
	T_OK(tg_writer_next_span(w) > whole);
	tg_writer_abandon(w);
	unlink(path);
	tg_buf_release(&b);
}

/* Where it has happened all the same, each session's spans are its own. */
static void test_used_twice(void)
{
	const char *path = run_path("twice.tacho");
	struct tg_recording *r;
	struct tg_writer *w;

	unlink(path);
	w = open_writer(path);
	run_event(w, BEGIN(1, "run", ""));
	run_event(w, BEGIN(5, "stage", ",\"name\":\"a\",\"parent\":1"));
	run_event(w, BEGIN(6, "cell", ",\"parent\":5"));
	run_event(w, BEGIN(7, "cell", ",\"parent\":8")); /* 8 is lost */
	run_event(w, "{\"ev\":\"end\",\"t\":1002000000000,\"span\":6,\"status\":\"ok\"}");
	tg_writer_abandon(w);
	w = open_writer(path);
	run_event(w, BEGIN(8, "run", ""));
	run_event(w, BEGIN(5, "stage", ",\"name\":\"b\",\"parent\":8"));
	run_event(w, BEGIN(9, "cell", ",\"parent\":5"));
	run_event(w, BEGIN(9, "cell", ",\"parent\":5")); /* no reason to believe this one */
	run_event(w, "{\"ev\":\"end\",\"t\":1003000000000,\"span\":5,\"status\":\"ok\"}");
	tg_writer_finish(w);
	r = open_recording(path);
	T_EQ_I(r->n_spans, 7);
	T_EQ_I(r->n_bad, 1);
	T_EQ_S(r->span[1].name, "a");
	T_OK(r->span[1].open && r->span[1].session == 1);
	T_EQ_I(r->span[1].run, 1);
	T_EQ_I(r->span[2].parent, r->span[1].number);
	T_EQ_I(r->span[2].run, 1);
	T_EQ_I(r->span[3].run, 1); /* not the later session's 8 */
	T_EQ_S(r->span[5].name, "b");
	T_OK(!r->span[5].open && r->span[5].session == 2);
	T_OK(r->span[5].number != r->span[1].number);
	T_EQ_I(r->span[5].run, 8);
	T_EQ_I(r->span[6].parent, r->span[5].number);
	T_EQ_I(r->span[6].run, 8);
	tg_recording_only_run(r, 1);
	T_EQ_I(r->n_spans, 4);
	tg_recording_close(r);
	unlink(path);
}

/* The last run is found also where its number is one that the file cannot have. */
static void test_last_run_used_twice(void)
{
	const char *path = run_path("last.tacho");
	struct tg_recording *r;
	struct tg_writer *w;

	unlink(path);
	w = open_writer(path);
	run_event(w, BEGIN(1, "run", ""));
	run_event(w, BEGIN(2, "cell", ",\"parent\":1"));
	tg_writer_abandon(w);
	w = open_writer(path);
	run_event(w, BEGIN(1, "run", ""));
	run_event(w, BEGIN(3, "cell", ",\"parent\":1"));
	tg_writer_finish(w);
	r = open_recording(path);
	T_EQ_I(r->n_spans, 4);
	tg_recording_only_run(r, -1);
	T_EQ_I(r->n_spans, 2);
	T_EQ_I(r->span[0].session, 2);
	T_EQ_I(r->span[1].number, 3);
	T_EQ_I(r->span[1].index, 0);
	tg_recording_close(r);
	unlink(path);
}

/* The largest number that JSON brings here does not bring those that follow out of its range. */
static void test_largest_number(void)
{
	const char *path = run_path("largest.tacho");
	struct tg_recording *r;
	struct tg_writer *w;
	uint64_t next;

	unlink(path);
	w = open_writer(path);
	run_event(w, BEGIN(1, "run", ""));
	run_event(w, BEGIN(9223372036854775807, "cell", ",\"parent\":1"));
	tg_writer_abandon(w);
	w = open_writer(path);
	next = tg_writer_next_span(w);
	T_EQ_I(next, 2);
	tg_writer_abandon(w);
	r = open_recording(path);
	T_EQ_I(r->n_spans, 2);
	T_EQ_I(r->span[1].run, 1);
	tg_recording_close(r);
	unlink(path);
}

static void refused(const char *path)
{
	struct tg_buf want = TG_BUF_INIT;
	struct tg_err err = { 0 };
	struct tg_writer *w;

	tg_buf_addf(&want, "%s exists and its numbers are used up", path);
	T_EQ_I(tg_writer_open(&w, path, RUN_SESSION, &err), -EEXIST);
	T_EQ_S(err.text, want.data);
	tg_buf_release(&want);
	unlink(path);
}

/* A file whose numbers of tables or of processes would begin anew is not written on. */
static void test_used_up(void)
{
	const char *path = run_path("up.tacho");
	struct tg_column column[2] = { 0 };
	struct tg_writer *w;

	r_columns(column, 2);
	unlink(path);
	w = open_writer(path);
	T_EQ_I(tg_writer_table(w, TG_TABLES_MAX - 1, "main", column, 2), 0);
	tg_writer_finish(w);
	refused(path);
	w = open_writer(path);
	run_event(w, "{\"ev\":\"birth\",\"t\":1001000000000,\"entity\":4294967294,\"pid\":1}");
	tg_writer_finish(w);
	refused(path);
}

/* A list that grows while spans are added keeps what is said of the span before. */
static void test_many_parents(void)
{
	const char *path = run_path("parents.tacho");
	struct tg_buf e = TG_BUF_INIT;
	struct tg_recording *r;
	struct tg_writer *w;
	int wrong = 0;

	unlink(path);
	w = open_writer(path);
	for (int i = 1; i <= 3000; i++)
		tg_buf_addf(&e,
			"{\"ev\":\"begin\",\"t\":1001000000000,\"span\":%d,\"kind\":\"block\","
			"\"parent\":%d}\n",
			i, i - 1);
	tg_writer_events(w, e.data, e.len);
	tg_writer_finish(w);
	r = open_recording(path);
	T_EQ_I(r->n_spans, 3000);
	for (size_t i = 0; i < r->n_spans; i++)
		wrong += r->span[i].number != i + 1 || r->span[i].parent != i;
	T_EQ_I(wrong, 0);
	tg_recording_close(r);
	tg_buf_release(&e);
	unlink(path);
}

int main(void)
{
	test_many_parents();
	test_lost_numbers();
	test_used_twice();
	test_last_run_used_twice();
	test_largest_number();
	test_used_up();
	rmdir(run_dir());
	return t_done();
}
