/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of rows and events into a file: names, locks, files that come late or take too little. */
#include "tap.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/reader.h"
#include "recorder/lock.h"
#include "recorder/output.h"
#include "recorder/rows.h"

#include "base/mem.h"

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void check_name(const char *path, int i, const char *want)
{
	struct tg_buf b = TG_BUF_INIT;

	tg_output_name(&b, path, i);
	T_EQ_S(b.data, want);
	tg_buf_release(&b);
}

/* Wait until the output is open, or has failed. */
static void wait_output(struct tg_output *o, struct tg_output_state *state)
{
	do {
		usleep(1000);
		tg_output_state(o, state);
	} while (!state->open && !state->failed);
}

static const struct tg_metric metric = { "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0,
	"CPU time" };

static int add_event(void *ctx, uint32_t session, const char *json, size_t len)
{
	(void)session;
	tg_buf_add(ctx, json, len);
	tg_buf_addc(ctx, '\n');
	return 0;
}

/* All events of a file, one a line. */
static void read_events(const char *path, struct tg_buf *events)
{
	struct tg_reader *reader;

	tg_buf_clear(events);
	if (!T_OK(tg_reader_open(&reader, path, NULL) == 0))
		return;
	tg_reader_events(reader, add_event, events);
	T_OK(tg_reader_damage(reader)->ended);
	tg_reader_close(reader);
}

/* A file that takes nothing for a while: nobody waits, the loss is one gap, the rest is there. */
static void test_overflow(const char *dir)
{
	struct tg_output_state state;
	struct tg_events e = { .lines = TG_BUF_INIT };
	struct tg_buf events = TG_BUF_INIT;
	struct tg_column column = { .metric = &metric };
	struct tg_buf path = TG_BUF_INIT;
	int64_t value = 5, rows = 3000, until;
	struct tg_output *o;
	struct tg_rows r;

	tg_buf_addf(&path, "%s/overflow.tacho", dir);
	T_EQ_I(tg_output_start(&o, path.data, "{\"host\":\"h\",\"boot_id\":\"b\"}", 8192, false),
		0);
	wait_output(o, &state);
	T_OK(state.open);
	tg_rows_init(&r, o, state.next_table);
	/* faster than any file: each row a block of its own, until some are refused */
	for (int64_t t = 1; t <= 1000000 && (t <= rows || !r.gap_from); t++) {
		struct tg_reading reading = {
			.t_ns = t, .column = &column, .value = &value, .n = 1, .generation = 1
		};

		tg_rows_add(&r, &reading);
		tg_rows_value(&r, t, 1, 0, t);
		tg_rows_flush(&r, &e);
	}
	T_OK(r.gap_from > 0 || strstr(e.lines.data, "gap"));
	/* once the thread has caught up, the gap is taken too */
	until = tg_mono_ns() + 60 * TG_NS_PER_S;
	while ((r.gap_from || e.lines.len) && tg_mono_ns() < until) {
		usleep(1000);
		tg_rows_flush(&r, &e);
	}
	T_EQ_I(r.gap_from, 0);
	T_EQ_I(e.lines.len, 0);
	T_EQ_I(tg_output_finish(o, 20000), 0);
	read_events(path.data, &events);
	T_OK(strstr(events.data, "\"ev\":\"gap\"") != NULL);
	T_OK(strstr(events.data, "the file could not take more") != NULL);
	tg_buf_release(&events);
	tg_rows_release(&r);
	tg_buf_release(&e.lines);
	tg_buf_release(&path);
}

/* The folder comes later than the recorder: a sentence, then a recording. */
static void test_late_file(const char *dir)
{
	struct tg_buf path = TG_BUF_INIT, folder = TG_BUF_INIT, events = TG_BUF_INIT;
	struct tg_item item = { .kind = TG_ITEM_EVENTS };
	struct tg_output_state state;
	struct tg_output *o;

	tg_buf_addf(&folder, "%s/later", dir);
	tg_buf_addf(&path, "%s/x.tacho", folder.data);
	T_EQ_I(tg_output_start(&o, path.data, "{\"host\":\"h\",\"boot_id\":\"b\"}", 8192, false),
		0);
	wait_output(o, &state);
	T_OK(state.failed && !state.open);
	T_OK(strstr(state.warning, "nothing is recorded: ") == state.warning);
	T_EQ_I(mkdir(folder.data, 0700), 0);
	while (!state.open) {
		usleep(10000);
		tg_output_state(o, &state);
	}
	T_OK(strstr(state.warning, "late") != NULL);
	T_EQ_S(state.file, path.data);
	item.data = tg_xstrdup("{\"ev\":\"note\",\"t\":1,\"text\":\"x\"}\n");
	item.n = strlen(item.data);
	T_EQ_I(tg_output_push(o, &item), 0);
	T_EQ_I(tg_output_finish(o, 20000), 0);
	read_events(path.data, &events);
	T_EQ_I(count(events.data, "note"), 1);
	tg_buf_release(&events);
	tg_buf_release(&path);
	tg_buf_release(&folder);
}

/* A file of another machine is not touched: the recording goes beside it. */
static void test_names(const char *dir)
{
	struct tg_buf path = TG_BUF_INIT, second = TG_BUF_INIT;
	struct tg_output_state state;
	struct tg_output *o, *other;

	check_name("/a/b.tacho", 1, "/a/b.tacho");
	check_name("/a/b.tacho", 2, "/a/b-2.tacho");
	check_name("/a.d/b", 3, "/a.d/b-3");
	check_name("/a/.hidden", 2, "/a/.hidden-2");
	for (int i = 1; i <= 3; i++) {
		tg_buf_clear(&path);
		tg_buf_addf(&path, "%s/names.tacho", dir);
		T_EQ_I(tg_output_start(&o, path.data,
			       i == 2 ? "{\"host\":\"other\",\"boot_id\":\"b\"}"
				      : "{\"host\":\"h\",\"boot_id\":\"b\"}",
			       8192, false),
			0);
		wait_output(o, &state);
		T_OK(state.open);
		tg_buf_clear(&second);
		tg_buf_addf(&second, "%s/names-2.tacho", dir);
		T_EQ_S(state.file, i == 2 ? second.data : path.data);
		T_EQ_I(state.session, i == 3 ? 2 : 1);
		T_EQ_I(tg_output_finish(o, 20000), 0);
	}
	/* one that is being written is another's, whatever its sessions say; also by another path
	 */
	T_EQ_I(tg_output_start(&o, path.data, "{\"host\":\"h\",\"boot_id\":\"b\"}", 8192, false),
		0);
	wait_output(o, &state);
	T_EQ_S(state.file, path.data);
	tg_buf_clear(&path);
	tg_buf_addf(&path, "%s/../%s/names.tacho", dir, strrchr(dir, '/') + 1);
	T_EQ_I(tg_output_start(
		       &other, path.data, "{\"host\":\"other\",\"boot_id\":\"b\"}", 8192, false),
		0);
	wait_output(other, &state);
	T_OK(state.open && strstr(state.file, "/names-2.tacho"));
	T_EQ_I(state.session, 2);
	T_EQ_I(tg_output_finish(other, 20000), 0);
	T_EQ_I(tg_output_finish(o, 20000), 0);
	tg_buf_release(&path);
	tg_buf_release(&second);
}

static void test_lock(const char *dir)
{
	struct tg_buf path = TG_BUF_INIT;
	int a, b;

	tg_buf_addf(&path, "%s/x.lock", dir);
	a = tg_lock_take(path.data, NULL);
	T_OK(a >= 0);
	T_EQ_I(tg_lock_take(path.data, NULL), -EWOULDBLOCK);
	tg_lock_drop(path.data, a);
	T_EQ_I(access(path.data, F_OK), -1);
	b = tg_lock_take(path.data, NULL);
	T_OK(b >= 0);
	tg_lock_drop(path.data, b);
	T_EQ_I(tg_lock_hand_over(path.data, 0, 0), -EAGAIN);
	tg_buf_release(&path);
}

int main(void)
{
	char dir[] = "/tmp/tg-output-XXXXXX";
	struct tg_buf clean = TG_BUF_INIT;

	if (!mkdtemp(dir))
		return 99;
	setvbuf(stdout, NULL, _IOLBF, 0);
	setenv("XDG_RUNTIME_DIR", dir, 1);
	test_names(dir);
	test_late_file(dir);
	test_overflow(dir);
	test_lock(dir);
	tg_buf_addf(&clean, "rm -r %s", dir);
	T_EQ_I(system(clean.data), 0);
	tg_buf_release(&clean);
	return t_done();
}
