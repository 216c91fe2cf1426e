/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the recorder on their own, with clocks played. */
#include "tap.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/format.h"
#include "recorder/clients.h"
#include "recorder/crowd.h"
#include "recorder/live.h"
#include "recorder/pace.h"
#include "recorder/queue.h"
#include "recorder/reply.h"
#include "recorder/watch.h"

#include "base/mem.h"

/* The sampler numbers fields as the file does, although neither knows the other. */
static_assert((int)TG_FIELD_CPU_NS == TG_PROCESS_CPU_NS, "field");
static_assert((int)TG_FIELD_RSS_BYTES == TG_PROCESS_RSS_BYTES, "field");
static_assert((int)TG_FIELD_VMS_BYTES == TG_PROCESS_VMS_BYTES, "field");
static_assert((int)TG_FIELD_HWM_BYTES == TG_PROCESS_HWM_BYTES, "field");
static_assert((int)TG_FIELD_READ_BYTES == TG_PROCESS_READ_BYTES, "field");
static_assert((int)TG_FIELD_WRITE_BYTES == TG_PROCESS_WRITE_BYTES, "field");
static_assert((int)TG_FIELD_READ_OPS == TG_PROCESS_READ_OPS, "field");
static_assert((int)TG_FIELD_WRITE_OPS == TG_PROCESS_WRITE_OPS, "field");
static_assert((int)TG_FIELD_THREADS == TG_PROCESS_THREADS, "field");
static_assert((int)TG_FIELDS == TG_PROCESS_FIELDS, "field");

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static struct tg_block *block_of(int64_t t_ns, uint32_t columns)
{
	struct tg_block *b = tg_block_new(1, columns, 1);
	int64_t *values = tg_xcalloc(columns, sizeof(*values));

	tg_block_add(b, t_ns, values);
	free(values);
	return b;
}

static void test_queue(void)
{
	struct tg_queue *q = tg_queue_new(16384);
	struct tg_item item = { .kind = TG_ITEM_BLOCK }, *got;
	int n = 0;

	T_OK(tg_queue_pop(q, 0) == NULL);
	T_OK(tg_queue_pop(q, 10) == NULL);
	for (;;) {
		item.block = block_of(n, 100);
		if (tg_queue_push(q, &item) < 0)
			break;
		n++;
	}
	T_OK(n > 5 && n < 18);
	tg_block_free(item.block); /* what is refused stays ours */
	/* events still find room, until they do not either; the end always does */
	item = (struct tg_item){ .kind = TG_ITEM_EVENTS, .data = tg_xstrdup("{}\n"), .n = 3 };
	T_EQ_I(tg_queue_push(q, &item), 0);
	item.data = tg_xcalloc(1, 16384);
	item.n = 16384;
	T_EQ_I(tg_queue_push(q, &item), -ENOSPC);
	free(item.data);
	item = (struct tg_item){ .kind = TG_ITEM_FINISH };
	T_EQ_I(tg_queue_push(q, &item), 0);
	for (int i = 0; i < n; i++) {
		got = tg_queue_pop(q, -1);
		T_OK(got->kind == TG_ITEM_BLOCK && got->block->t_ns[0] == i);
		tg_item_free(got);
	}
	item = (struct tg_item){ .kind = TG_ITEM_BLOCK, .block = block_of(99, 100) };
	T_EQ_I(tg_queue_push(q, &item), 0); /* room again */
	got = tg_queue_pop(q, -1);
	T_EQ_S(got->data, "{}\n");
	tg_item_free(got);
	tg_queue_free(q); /* with what is in it */
}

struct pusher {
	struct tg_queue *q;
	int64_t pushed, dropped;
};

static void *push_many(void *arg)
{
	struct pusher *p = arg;

	for (int64_t i = 1; i <= 20000; i++) {
		struct tg_item item = { .kind = TG_ITEM_BLOCK, .block = block_of(i, 10) };

		if (tg_queue_push(p->q, &item) == 0) {
			p->pushed++;
		} else {
			p->dropped++;
			tg_block_free(item.block);
		}
	}
	while (tg_queue_push(p->q, &(struct tg_item){ .kind = TG_ITEM_FINISH }) < 0)
		;
	return NULL;
}

/* Two threads: everything that was taken comes out, once and in order. */
static void test_queue_threads(void)
{
	struct pusher p = { .q = tg_queue_new(4096) };
	int64_t last = 0, taken = 0;
	bool ordered = true, end = false;
	pthread_t thread;

	pthread_create(&thread, NULL, push_many, &p);
	while (!end) {
		struct tg_item *item = tg_queue_pop(p.q, -1);

		end = item->kind == TG_ITEM_FINISH;
		if (!end) {
			ordered &= item->block->t_ns[0] > last;
			last = item->block->t_ns[0];
			taken++;
		}
		tg_item_free(item);
	}
	pthread_join(thread, NULL);
	T_OK(ordered);
	T_EQ_I(taken, p.pushed);
	T_EQ_I(p.pushed + p.dropped, 20000);
	tg_queue_free(p.q);
}

static void test_pace(void)
{
	struct tg_budget b = { 0 };
	struct tg_pace p = { 0 };
	int n = 0;

	tg_pace_set(&p, 1000, 100);
	T_EQ_I(p.next_ns, 1100);
	T_EQ_I(tg_pace_tick(&p, 1105), 0); /* a little late: the grid stays */
	T_EQ_I(p.next_ns, 1200);
	T_EQ_I(tg_pace_tick(&p, 1299), 0);
	T_EQ_I(p.next_ns, 1300);
	T_EQ_I(tg_pace_tick(&p, 3399), 20); /* those of 1300 to 3200 are gone, this is 3300's */
	T_EQ_I(p.next_ns, 3400);
	tg_pace_set(&p, 3350, 1000); /* slower: what was to come still does */
	T_EQ_I(p.next_ns, 3400);
	tg_pace_set(&p, 3350, 10);
	T_EQ_I(p.next_ns, 3360);
	for (int i = 0; i < 1000; i++)
		n += tg_budget_take(&b, 5 * TG_NS_PER_S + i, 200);
	T_EQ_I(n, 200);
	T_OK(tg_budget_take(&b, 6 * TG_NS_PER_S, 200));
}

static void test_drift(void)
{
	struct tg_drift d = { .last = { .mono_ns = 1000, .real_ns = 5000, .boot_ns = 2000 } };
	struct tg_clocks now = d.last;
	int64_t slept;

	now.mono_ns += TG_NS_PER_S;
	now.real_ns += TG_NS_PER_S + 500000; /* slewed by half a millisecond: no step */
	now.boot_ns += TG_NS_PER_S;
	T_EQ_I(tg_drift_check(&d, &now, &slept), 0);
	now.real_ns -= 3 * TG_NS_PER_MS;
	T_EQ_I(tg_drift_check(&d, &now, &slept), TG_DRIFT_STEP);
	T_EQ_I(slept, 0);
	now.real_ns += 3 * TG_NS_PER_MS + 3600 * TG_NS_PER_S;
	now.boot_ns += 3600 * TG_NS_PER_S;
	T_EQ_I(tg_drift_check(&d, &now, &slept), TG_DRIFT_STEP | TG_DRIFT_SUSPEND);
	T_EQ_I(slept, 3600 * TG_NS_PER_S);
}

static int mark_begin(
	struct tg_live *s, struct tg_events *e, uint64_t client, const char *id, const char *kind)
{
	struct tg_mark_message m = {
		.op = TG_MARK_BEGIN, .id = id, .kind = kind, .count = -1, .attrs = TG_BUF_INIT
	};

	return tg_live_begin(s, e, client, &m, 10, NULL);
}

static int mark_end(struct tg_live *s, struct tg_events *e, uint64_t client, const char *id)
{
	struct tg_mark_message m = { .op = TG_MARK_END, .id = id, .attrs = TG_BUF_INIT };

	return tg_live_end(s, e, client, &m, 20, NULL);
}

/* Stages of a process end with it; and by the begin of their ids, the youngest first. */
static void test_owners(void)
{
	struct tg_events e = { .lines = TG_BUF_INIT };
	struct tg_live s = { .next = 1 };
	struct tg_mark_message m = { .op = TG_MARK_BEGIN,
		.kind = "stage",
		.count = -1,
		.attrs = TG_BUF_INIT,
		.pid = fork() };

	if (m.pid == 0) {
		pause();
		_exit(0);
	}
	m.id = "stage/7/a";
	T_EQ_I(tg_live_begin(&s, &e, 1, &m, 10, NULL), 0);
	m.id = "stage/7/b";
	T_EQ_I(tg_live_begin(&s, &e, 2, &m, 11, NULL), 0);
	m.pid = 0;
	m.id = "stage/70/c";
	T_EQ_I(tg_live_begin(&s, &e, 3, &m, 12, NULL), 0);
	for (uint64_t client = 1; client <= 3; client++)
		tg_live_orphan(&s, client);
	T_EQ_I(mark_end(&s, &e, 4, "stage/8/"), -ENOENT);
	T_EQ_I(mark_end(&s, &e, 4, "stage/7/"), 0);
	T_OK(strstr(e.lines.data, "{\"ev\":\"end\",\"t\":20,\"span\":2,"));
	T_EQ_I(tg_live_end_with_owners(&s, &e, 30), 0);
	kill((pid_t)s.open[0].owner.pid, SIGKILL);
	waitpid(s.open[0].owner.pid, NULL, 0);
	T_EQ_I(tg_live_end_with_owners(&s, &e, 31), 1);
	T_OK(strstr(e.lines.data, "{\"ev\":\"end\",\"t\":31,\"span\":1,\"status\":\"unknown\"}"));
	T_EQ_I(s.n, 1);
	tg_live_release(&s);
	tg_buf_release(&e.lines);
}

static void test_live(void)
{
	struct tg_events e = { .lines = TG_BUF_INIT };
	struct tg_live s = { .next = 7 };
	char id[16];

	T_EQ_I(mark_begin(&s, &e, 1, "r", "run"), 0);
	T_EQ_I(mark_begin(&s, &e, 1, "a", "cell"), 0);
	T_EQ_I(mark_begin(&s, &e, 1, "a", "cell"), -EEXIST);
	T_EQ_I(mark_begin(&s, &e, 2, "a", "stage"), 0); /* another client's own */
	T_EQ_I(mark_end(&s, &e, 3, "a"), -ENOENT);
	T_EQ_I(mark_end(&s, &e, 1, "a"), 0);
	T_EQ_I(mark_end(&s, &e, 1, "a"), -ENOENT);
	tg_live_orphan(&s, 2);
	T_EQ_I(mark_end(&s, &e, 3, "a"), 0);
	T_EQ_I(mark_begin(&s, &e, 1, "b", "cell"), 0);
	T_EQ_I(mark_begin(&s, &e, 1, "r2", "run"), 0);
	T_EQ_I(mark_begin(&s, &e, 1, "c", "cell"), 0);
	T_EQ_I(s.n_runs, 2);
	tg_live_end_by_us(&s, &e, TG_LIVE_CELLS, 30, "died");
	tg_live_end_by_us(&s, &e, TG_LIVE_ORPHANS, 30, "unknown");
	T_EQ_I(s.n, 2);
	tg_live_end_by_us(&s, &e, TG_LIVE_ALL, 31, "unknown");
	T_EQ_I(s.n, 0);
	T_EQ_I(s.n_runs, 0);
	T_EQ_S(e.lines.data,
		"{\"ev\":\"begin\",\"t\":10,\"span\":7,\"id\":\"r\",\"kind\":\"run\"}\n"
		"{\"ev\":\"begin\",\"t\":10,\"span\":8,\"id\":\"a\",\"kind\":\"cell\",\"index\":0,"
		"\"parent\":7}\n"
		"{\"ev\":\"begin\",\"t\":10,\"span\":9,\"id\":\"a\",\"kind\":\"stage\",\"parent\":"
		"7}\n"
		"{\"ev\":\"end\",\"t\":20,\"span\":8,\"status\":\"unknown\"}\n"
		"{\"ev\":\"end\",\"t\":20,\"span\":9,\"status\":\"unknown\"}\n"
		"{\"ev\":\"begin\",\"t\":10,\"span\":10,\"id\":\"b\",\"kind\":\"cell\",\"index\":1,"
		"\"parent\":7}\n"
		"{\"ev\":\"begin\",\"t\":10,\"span\":11,\"id\":\"r2\",\"kind\":\"run\",\"parent\":"
		"7}\n"
		"{\"ev\":\"begin\",\"t\":10,\"span\":12,\"id\":\"c\",\"kind\":\"cell\",\"index\":0,"
		"\"parent\":11}\n"
		"{\"ev\":\"end\",\"t\":30,\"span\":12,\"status\":\"died\"}\n"
		"{\"ev\":\"end\",\"t\":30,\"span\":10,\"status\":\"died\"}\n"
		"{\"ev\":\"end\",\"t\":31,\"span\":11,\"status\":\"unknown\"}\n"
		"{\"ev\":\"end\",\"t\":31,\"span\":7,\"status\":\"unknown\"}\n");

	/* bounded, and events beyond their bound are counted and said */
	for (int i = 0; i < TG_LIVE_MAX; i++) {
		snprintf(id, sizeof(id), "%d", i);
		if (mark_begin(&s, &e, 1, id, "task") < 0)
			break;
	}
	T_EQ_I(s.n, TG_LIVE_MAX);
	T_EQ_I(mark_begin(&s, &e, 1, "one more", "task"), -ENOSPC);
	T_OK(e.lines.len <= TG_EVENTS_MAX);
	tg_live_orphan(&s, 1);
	tg_live_end_by_us(&s, &e, TG_LIVE_ORPHANS, 40, "unknown");
	T_EQ_I(s.n, 0);
	T_OK(e.lost > 0 && e.lines.len <= TG_EVENTS_MAX);
	tg_buf_clear(&e.lines);
	tg_events_say_lost(&e, 50);
	T_EQ_I(e.lost, 0);
	T_OK(strstr(e.lines.data, "events are lost") != NULL);
	tg_live_release(&s);
	tg_buf_release(&e.lines);
}

static void test_crowd(void)
{
	struct tg_events e = { .lines = TG_BUF_INIT };
	struct tg_birth b = { .t_ns = 10 * TG_NS_PER_S, .comm = "sh", .args = "sh -c x" };
	struct tg_crowd c = { 0 };
	size_t members;
	int written = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		b.entity = i + 1;
		b.pid = (pid_t)(1000 + i);
		tg_crowd_birth(&c, &e, &b);
	}
	T_EQ_I(count(e.lines.data, "\"ev\":\"birth\""), TG_CROWD_BIRTHS_PER_S);
	T_OK(tg_crowd_value(&c, &e, b.t_ns, 1));
	T_OK(!tg_crowd_value(&c, &e, b.t_ns, 1000));
	tg_buf_clear(&e.lines);
	tg_crowd_death(&c, &e, b.t_ns + 5, 1, 1000, 7);
	T_EQ_S(e.lines.data,
		"{\"ev\":\"death\",\"t\":10000000005,\"entity\":1,\"pid\":1000,\"cpu_ns\":7}\n");
	tg_buf_clear(&e.lines);
	for (uint32_t entity = 201; entity <= 900; entity++)
		tg_crowd_death(&c, &e, b.t_ns + 6, entity, 1, entity == 201 ? TG_MISSING : 10);
	T_EQ_S(e.lines.data, "");
	tg_crowd_flush(&c, &e, b.t_ns + 7);
	T_EQ_S(e.lines.data,
		"{\"ev\":\"crowd\",\"t\":10000000007,\"comm\":\"sh\",\"births\":800,\"deaths\":700,"
		"\"cpu_ns\":6990}\n");
	/* one that goes on living is listed after all, and no more than so many a second */
	tg_buf_clear(&e.lines);
	T_OK(tg_crowd_value(&c, &e, b.t_ns + TG_NS_PER_S, 901));
	T_OK(tg_crowd_value(&c, &e, b.t_ns + TG_NS_PER_S, 901));
	T_EQ_S(e.lines.data,
		"{\"ev\":\"birth\",\"t\":10000000000,\"entity\":901,\"pid\":1900,\"ppid\":0,"
		"\"start_ns\":0,\"comm\":\"sh\"}\n");
	tg_buf_clear(&e.lines);
	tg_crowd_flush(&c, &e, b.t_ns + 8);
	T_OK(strstr(e.lines.data, "\"births\":-1,\"deaths\":0") != NULL);

	/* told again after an exec: one that is listed stays listed, one of the crowd changes its
	 * name */
	tg_buf_clear(&e.lines);
	members = c.n;
	b.comm = "python3";
	b.entity = 2;
	for (int i = 0; i <= TG_CROWD_BIRTHS_PER_S; i++)
		tg_crowd_birth(&c, &e, &b);
	b.entity = 1000;
	tg_crowd_birth(&c, &e, &b);
	T_EQ_I(c.n, members);
	tg_buf_clear(&e.lines);
	tg_crowd_death(&c, &e, b.t_ns + 9, 2, 1001, 7);
	T_OK(strstr(e.lines.data, "\"ev\":\"death\"") != NULL);
	tg_buf_clear(&e.lines);
	tg_crowd_flush(&c, &e, b.t_ns + 9);
	T_OK(strstr(e.lines.data, "\"comm\":\"sh\",\"births\":-1,") != NULL);
	T_OK(strstr(e.lines.data, "\"comm\":\"python3\",\"births\":1,") != NULL);

	/* many commands: the last place is for all that have none */
	tg_buf_clear(&e.lines);
	tg_crowd_release(&c);
	for (uint32_t i = 0; i < 6000; i++) {
		char comm[16];

		snprintf(comm, sizeof(comm), "c%u", i);
		b.comm = comm;
		b.entity = i + 1;
		tg_crowd_birth(&c, &e, &b);
	}
	T_EQ_I(c.n_commands, TG_CROWD_COMMANDS);
	T_EQ_S(c.command[TG_CROWD_COMMANDS - 1].comm, "other");
	for (size_t i = 0; i < c.n_commands; i++)
		written += (int)c.command[i].births;
	T_EQ_I(written, 6000 - TG_CROWD_BIRTHS_PER_S);
	tg_crowd_release(&c);
	tg_buf_release(&e.lines);
}

static void test_watch(void)
{
	pid_t pid = fork();
	struct tg_watch a, b, nobody;
	int code, sig;

	if (pid == 0) {
		for (;;)
			pause();
	}
	tg_watch_init(&nobody, 0);
	T_OK(!tg_watch_dead(&nobody));
	tg_watch_init(&a, pid);
	tg_watch_init_plain(&b, pid);
	T_EQ_I(b.fd, -1);
	T_OK(!tg_watch_dead(&a) && !tg_watch_dead(&b));
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		/* a zombie is as dead as one that was waited for */
		siginfo_t info;

		waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
		T_OK(tg_watch_dead(&a) && tg_watch_dead(&b));
	}
	T_OK(tg_watch_dead(&a) && tg_watch_dead(&b));
	T_EQ_I(tg_watch_status(&b, &code, &sig), -ENODATA);
	if (tg_watch_status(&a, &code, &sig) == 0)
		T_OK(code == -1 && sig == SIGKILL);
	else
		T_SKIP("how a process ended", "this kernel does not say");
	tg_watch_release(&a);
	tg_watch_release(&b);
	tg_watch_init(&a, pid);
	T_OK(tg_watch_dead(&a));
	tg_watch_release(&a);
}

/*
 * The answer to usage: what is unknown is left out, also before there is a rate. Report 13: memory
 * is PSS, in which forked workers count once.
 */
static void test_reply(void)
{
	static const struct tg_metric m[] = {
		{ "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, "" },
		{ "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "" },
		{ "node.cpu_busy_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0, "" },
		{ "node.mem_total_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0, "" },
		{ "node.mem_used_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0, "" },
		{ "tree.pss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "" },
	};
	struct tg_column column[TG_ARRAY_SIZE(m)] = { 0 };
	int64_t value[TG_ARRAY_SIZE(m)] = { 5, 4096, 7, 1000, TG_MISSING, TG_MISSING };
	struct tg_reading reading = { .t_ns = TG_NS_PER_S,
		.column = column,
		.value = value,
		.n = TG_ARRAY_SIZE(m),
		.generation = 1 };
	struct tg_limits none = { .cores_milli = TG_MISSING, .memory_bytes = TG_MISSING };
	struct tg_limits some = { .cores_milli = 1500,
		.memory_bytes = 99,
		.cores_why = "cpuset",
		.memory_why = "machine" };
	struct tg_buf out = TG_BUF_INIT;
	struct tg_reply u = { 0 };

	for (size_t i = 0; i < TG_ARRAY_SIZE(m); i++)
		column[i].metric = &m[i];
	tg_reply_json(&u, 3, 0, &none, &out);
	T_OK(strstr(out.data, "{\"re\":3,\"hostname\":") == out.data);
	T_OK(!strstr(out.data, "pid") && !strstr(out.data, "kernel") &&
		!strstr(out.data, "host_") && !strstr(out.data, "limit"));
	tg_buf_clear(&out);
	tg_reply_take(&u, &reading);
	tg_reply_json(&u, 3, 12, &none, &out);
	T_OK(strstr(out.data, "\"pid\":12,\"kernel_memory\":4096,") != NULL);
	T_OK(!strstr(out.data, "kernel_cpu") && !strstr(out.data, "host_cpu_percent"));
	T_OK(strstr(out.data, "\"host_virtual_memory\":{\"total\":1000}") != NULL);
	tg_buf_clear(&out);
	reading.t_ns += TG_NS_PER_S;
	value[0] += TG_NS_PER_S / 4;
	value[2] += 100000 * TG_NS_PER_S; /* more than there are cores */
	value[4] = 250;
	tg_reply_take(&u, &reading);
	tg_reply_json(&u, 3, 12, &some, &out);
	T_OK(strstr(out.data, "\"kernel_cpu\":25,") != NULL);
	T_OK(strstr(out.data, "\"host_cpu_percent\":100,") != NULL);
	T_OK(strstr(out.data, "\"available\":750,\"percent\":25}") != NULL);
	T_OK(strstr(out.data, "\"limit_cores\":1.5,\"limit_cores_why\":\"cpuset\"") != NULL);
	/* memory of the machine comes with one reading of some, and not for ever */
	value[3] = value[4] = TG_MISSING;
	for (int i = 0; i < 3; i++) {
		tg_buf_clear(&out);
		reading.t_ns += 4 * TG_NS_PER_S;
		tg_reply_take(&u, &reading);
		tg_reply_json(&u, 3, 12, &some, &out);
		T_OK(!strstr(out.data, "\"available\":750,\"percent\":25}") == (i == 2));
	}
	value[3] = 1000;
	value[4] = 250;
	/* a counter that went back is no rate */
	tg_buf_clear(&out);
	reading.t_ns += TG_NS_PER_S;
	value[0] = 1;
	value[2] = TG_MISSING;
	tg_reply_take(&u, &reading);
	tg_reply_json(&u, 3, 12, &none, &out);
	T_OK(!strstr(out.data, "kernel_cpu") && !strstr(out.data, "host_cpu_percent"));
	/* PSS comes with one reading of some, and not for ever; it is RSS when that is less */
	for (int i = 0; i < 4; i++) {
		static const char *const want[] = { "\"kernel_memory\":1024,",
			"\"kernel_memory\":1024,", "\"kernel_memory\":512,",
			"\"kernel_memory\":4096," };

		tg_buf_clear(&out);
		reading.t_ns += (i == 3 ? 20 : 1) * TG_NS_PER_S / 10;
		value[1] = i == 2 ? 512 : 4096;
		value[5] = i ? TG_MISSING : 1024;
		tg_reply_take(&u, &reading);
		tg_reply_json(&u, 3, 12, &none, &out);
		T_OK(strstr(out.data, want[i]) != NULL);
	}
	tg_buf_release(&out);
}

/* The limit of its group comes with fewer readings than what it holds: it is the last one known. */
static void test_reply_of_a_group(void)
{
	static const struct tg_metric m[] = {
		{ "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "" },
		{ "cgroup.memory_limit_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "" },
	};
	struct tg_column column[] = { { .metric = &m[0] }, { .metric = &m[1] } };
	int64_t value[] = { 100000000, 300000000 };
	struct tg_reading reading = {
		.t_ns = TG_NS_PER_S, .column = column, .value = value, .n = 2, .generation = 1
	};
	struct tg_limits none = { .cores_milli = TG_MISSING, .memory_bytes = TG_MISSING };
	struct tg_buf out = TG_BUF_INIT;
	struct tg_reply u = { 0 };

	tg_reply_take(&u, &reading);
	value[0] = 290000000;
	value[1] = TG_MISSING;
	reading.t_ns += TG_NS_PER_S / 10;
	tg_reply_take(&u, &reading);
	tg_reply_oom_text(&u, TG_OOM_YES, "x", &none, reading.t_ns, &out);
	T_OK(strstr(out.data, "held 290 MB of 300 MB (cgroup limit)") != NULL);
	tg_buf_release(&out);
}

/* A restarted kernel that was killed held what it held, not what the one before did. */
static void test_reply_of_another_tree(void)
{
	static const struct tg_metric m[] = {
		{ "tree.cpu_ns", "ns", TG_COUNTER, TG_SCOPE_JOB, 0, "" },
		{ "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "" },
	};
	struct tg_column column[] = { { .metric = &m[0] }, { .metric = &m[1] } };
	int64_t value[] = { 5, 900000000 };
	struct tg_reading reading = {
		.t_ns = TG_NS_PER_S, .column = column, .value = value, .n = 2, .generation = 1
	};
	struct tg_limits none = { .cores_milli = TG_MISSING, .memory_bytes = TG_MISSING };
	struct tg_buf out = TG_BUF_INIT;
	struct tg_reply u = { 0 };

	tg_reply_take(&u, &reading);
	tg_reply_oom_text(&u, TG_OOM_YES, "x", &none, reading.t_ns, &out);
	T_OK(strstr(out.data, "held 900 MB") != NULL);
	tg_buf_clear(&out);
	tg_reply_forget(&u);
	tg_reply_oom_text(&u, TG_OOM_YES, "x", &none, reading.t_ns, &out);
	T_EQ_S(out.data, "Out of memory: yes: x.");
	tg_buf_clear(&out);
	reading.t_ns += TG_NS_PER_S;
	value[0] = 50; /* more than the one before had used */
	value[1] = 40000000;
	tg_reply_take(&u, &reading);
	tg_reply_oom_text(&u, TG_OOM_YES, "x", &none, reading.t_ns, &out);
	T_OK(strstr(out.data, "held 40 MB") != NULL);
	tg_buf_clear(&out);
	tg_reply_json(&u, 3, 12, &none, &out);
	T_OK(!strstr(out.data, "kernel_cpu"));
	tg_buf_release(&out);
}

static void take_message(void *ctx, uint64_t client, struct tg_mark_message *m, int fd)
{
	int *taken = ctx;

	(void)client;
	(void)m;
	*taken += fd >= 0;
	if (fd >= 0)
		close(fd);
}

static void client_gone(void *ctx, uint64_t client)
{
	(void)ctx;
	(void)client;
}

/* Two descriptors at once: one is taken, and none stays open without anyone knowing. */
static void test_two_descriptors(void)
{
	static char text[] = "{\"op\":\"bye\"}";
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = text, .iov_len = sizeof(text) - 1 };
	struct msghdr h = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&h);
	int taken = 0, pair[2], ends[2][2], sent[2];
	struct tg_clients_hooks hooks = {
		.message = take_message, .gone = client_gone, .ctx = &taken
	};
	struct tg_clients *c = tg_clients_new(-1, &hooks);
	struct pollfd p[TG_CLIENTS_FDS];
	char byte;
	size_t n;

	T_EQ_I(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
	T_OK(tg_clients_add(c, pair[1]) > 0);
	for (int i = 0; i < 2; i++) {
		T_EQ_I(pipe2(ends[i], O_CLOEXEC | O_NONBLOCK), 0);
		sent[i] = ends[i][1];
	}
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(sent));
	memcpy(CMSG_DATA(cmsg), sent, sizeof(sent));
	T_EQ_I(sendmsg(pair[0], &h, 0), (long)sizeof(text) - 1);
	for (int i = 0; i < 2; i++)
		close(sent[i]);
	n = tg_clients_poll(c, p);
	T_OK(poll(p, n, 20000) > 0);
	tg_clients_serve(c, p, n);
	T_EQ_I(taken, 1);
	for (int i = 0; i < 2; i++) {
		T_EQ_I(read(ends[i][0], &byte, 1), 0); /* the end, as nobody has the other side */
		close(ends[i][0]);
	}
	tg_clients_free(c);
	close(pair[0]);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	test_queue();
	test_queue_threads();
	test_pace();
	test_drift();
	test_live();
	test_owners();
	test_crowd();
	test_watch();
	test_reply();
	test_reply_of_another_tree();
	test_reply_of_a_group();
	test_two_descriptors();
	return t_done();
}
