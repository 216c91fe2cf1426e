/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a dead kernel was killed for want of memory: yes, no or unknown, on trees of /proc and
 * /sys made here, where the counters of each version of control groups move or stand still.
 */
#include "tap.h"

#include "made_tree.h"

#include "base/clock.h"
#include "recorder/reply.h"
#include "sample/oom.h"

#include "base/mem.h"

#define ROOT   77
#define GROUP  "sys/fs/cgroup/job"
#define ALIVE  "77 (python3) S 1 77 77 0 -1 4194304 118 0 0 0 1 1 0 0 20 0 1 0 4000 0 0\n"
#define ENDING "77 (py) 4) R 1 77 77 0 -1 4194308 118 0 0 0 1 1 0 0 20 0 1 0 4000 0 0\n"
#define ZOMBIE "77 (python3) Z 1 77 77 0 -1 4194572 118 0 0 0 1 1 0 0 20 0 1 0 4000 0 0\n"

struct machine {
	char folder[32];
	struct tg_text text;
	struct tg_env env;
	struct tg_oom_watch oom;
	char why[TG_OOM_WHY];
	char note[TG_OOM_WHY]; /* all that was told, the newest */
	int notes;
	bool asked;
	struct tg_sampler_hooks hooks;
};

static void on_note(void *ctx, int64_t t_ns, const char *text)
{
	struct machine *m = ctx;

	(void)t_ns;
	m->notes++;
	snprintf(m->note, sizeof(m->note), "%s", text);
}

static void put(const struct machine *m, const char *path, const char *text)
{
	put_file(m->folder, path, text);
}

static void put_kills(const struct machine *m, const char *path, int n)
{
	char text[128];

	/* under_oom and oom_kill_disable begin alike: only the whole word counts */
	snprintf(text, sizeof(text), "oom_kill_disable 9\nunder_oom 0\noom 5\noom_kill %d\n", n);
	put(m, path, text);
}

static struct machine *machine_of(const char *mount, const char *groups)
{
	struct machine *m = tg_xcalloc(1, sizeof(*m));

	strncpy(m->folder, "/tmp/tg-oom-XXXXXX", sizeof(m->folder) - 1);
	if (!mkdtemp(m->folder))
		abort();
	put(m, "proc/self/mountinfo", mount);
	put(m, "proc/77/cgroup", groups);
	put(m, "proc/77/stat", ALIVE);
	put_kills(m, "proc/vmstat", 40);
	m->env = (struct tg_env){
		.root_fd = open(m->folder, O_RDONLY | O_DIRECTORY), .root = ROOT, .text = &m->text
	};
	m->hooks = (struct tg_sampler_hooks){ .note = on_note, .ctx = m };
	m->env.hooks = &m->hooks;
	tg_text_init(&m->text);
	tg_oom_init(&m->oom);
	return m;
}

static struct machine *v2(void)
{
	return machine_of("30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/job\n");
}

static struct machine *v1(void)
{
	return machine_of("32 24 0:30 / /sys/fs/cgroup rw shared:11 - cgroup cgroup rw,memory\n",
		"4:memory:/job\n0::/\n");
}

static void machine_free(struct machine *m)
{
	tg_oom_release(&m->oom);
	tg_text_release(&m->text);
	close(m->env.root_fd);
	remove_tree(m->folder);
	free(m);
}

static void look(struct machine *m, int64_t now_s)
{
	tg_oom_look(&m->oom, &m->env, now_s * TG_NS_PER_S);
}

static enum tg_oom tell(struct machine *m, int64_t now_s)
{
	look(m, now_s);
	return tg_oom_tell(&m->oom, m->asked, now_s * TG_NS_PER_S, m->why, sizeof(m->why));
}

static void test_v2(void)
{
	struct machine *m = v2();

	put_kills(m, GROUP "/memory.events", 3);
	look(m, 100);
	put(m, "proc/77/stat", ZOMBIE);
	T_EQ_I(tell(m, 101), TG_OOM_NO);
	T_OK(strstr(m->why, "(oom_kill in memory.events: 3, as before)") != NULL);
	put_kills(m, GROUP "/memory.events", 4);
	T_EQ_I(tell(m, 102), TG_OOM_YES);
	T_OK(strstr(m->why, "(oom_kill in memory.events: 3, then 4)") != NULL);
	machine_free(m);
}

/* A look between the kill and the question has seen the rise already; an old rise is another's. */
static void test_when(void)
{
	struct machine *m = v2();

	put_kills(m, GROUP "/memory.events", 0);
	look(m, 100);
	put_kills(m, GROUP "/memory.events", 1);
	look(m, 101);
	T_EQ_I(tell(m, 103), TG_OOM_YES);
	T_OK(strstr(m->why, "0, then 1") != NULL);
	T_EQ_I(tell(m, 160), TG_OOM_NO);
	T_OK(strstr(m->why, "1, as before") != NULL);
	machine_free(m);
}

/* pitfall 20: a worker was killed, and the root by the user, or for another reason */
static void test_which(void)
{
	struct machine *m = v2();

	put_kills(m, GROUP "/memory.events", 0);
	look(m, 100);
	m->env.vanished_ns = 102 * TG_NS_PER_S;
	put_kills(m, GROUP "/memory.events", 1);
	look(m, 102);
	T_EQ_I(tell(m, 106), TG_OOM_UNKNOWN);
	T_EQ_S(m->why,
		"a process of its control group was killed for want of memory just then (oom_kill "
		"in memory.events: 0, then 1); others of the job's processes have ended, too, and "
		"no counter tells which");
	m->env.vanished_ns = 90 * TG_NS_PER_S; /* that was long before */
	T_EQ_I(tell(m, 106), TG_OOM_YES);
	m->asked = true;
	T_EQ_I(tell(m, 106), TG_OOM_UNKNOWN);
	T_OK(strstr(m->why, "1), but it had been asked to end, and no counter tells which"));
	T_EQ_I(tell(m, 160), TG_OOM_NO);
	machine_free(m);
}

/* pitfall 20: a group that is killed as a whole (memory.oom.group) leaves nothing open */
static void test_whole_group(void)
{
	struct machine *m = machine_of(
		"30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/slice/job\n");
	const char *local = "sys/fs/cgroup/slice/memory.events.local";

	put_kills(m, "sys/fs/cgroup/slice/job/memory.events", 0);
	put(m, local, "oom 0\noom_kill 0\noom_group_kill 2\n");
	look(m, 100);
	m->asked = true;
	m->env.vanished_ns = 101 * TG_NS_PER_S;
	put_kills(m, "sys/fs/cgroup/slice/job/memory.events", 3);
	T_EQ_I(tell(m, 101), TG_OOM_UNKNOWN);
	put(m, local, "oom 0\noom_kill 0\noom_group_kill 3\n");
	T_EQ_I(tell(m, 101), TG_OOM_YES);
	T_OK(strstr(m->why, "0, then 3); the group /slice was killed as a whole (oom_group_kill in "
			    "memory.events.local: 2, then 3)") != NULL);
	machine_free(m);
}

/* Version 1 shows a process that ends in no group: the group it was in before is the one. */
static void test_v1(void)
{
	struct machine *m = v1();

	put_kills(m, GROUP "/memory.oom_control", 0);
	put_kills(m, "sys/fs/cgroup/memory.oom_control", 90);
	look(m, 100);
	put(m, "proc/77/cgroup", "4:memory:/\n0::/\n");
	put(m, "proc/77/stat", ENDING);
	T_EQ_I(tell(m, 101), TG_OOM_NO);
	T_OK(strstr(m->why, "memory.oom_control: 0, as before") != NULL);
	put_kills(m, GROUP "/memory.oom_control", 1);
	put(m, "proc/77/stat", ZOMBIE);
	T_EQ_I(tell(m, 101), TG_OOM_YES);
	machine_free(m);
}

/* One that lives and was moved is followed; the kills of its old group are not its own. */
static void test_moved(void)
{
	struct machine *m = v2();

	put_kills(m, GROUP "/memory.events", 0);
	put_kills(m, "sys/fs/cgroup/other/memory.events", 7);
	look(m, 100);
	put(m, "proc/77/cgroup", "0::/other\n");
	look(m, 101);
	put_kills(m, GROUP "/memory.events", 1);
	T_EQ_I(tell(m, 102), TG_OOM_NO);
	put_kills(m, "sys/fs/cgroup/other/memory.events", 8);
	T_EQ_I(tell(m, 102), TG_OOM_YES);
	machine_free(m);
}

/* A group that was removed at once, or none: the machine's counter can only say no. */
static void test_no_group(void)
{
	struct machine *m = v2();

	put_kills(m, GROUP "/memory.events", 0);
	look(m, 100);
	put(m, GROUP "/memory.events", ""); /* as a removed one: nothing to be read */
	put(m, "proc/77/cgroup", "0::/job (deleted)\n");
	put(m, "proc/77/stat", ZOMBIE);
	T_EQ_I(tell(m, 101), TG_OOM_NO);
	T_OK(strstr(m->why, "/proc/vmstat: 40, as before") != NULL);
	put_kills(m, "proc/vmstat", 41);
	T_EQ_I(tell(m, 102), TG_OOM_UNKNOWN);
	T_OK(strstr(m->why, "/proc/vmstat: 40, then 41") != NULL);
	machine_free(m);
}

/*
 * pitfall 20: the limit that was reached is often that of a group above: it is named, with its
 * evidence. A group above that counts nothing new is no cause.
 */
static void test_above(void)
{
	struct machine *m = machine_of(
		"30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/user.slice/job/step\n");
	const char *step = "sys/fs/cgroup/user.slice/job/step/memory.events";

	put_kills(m, step, 0);
	put(m, "sys/fs/cgroup/user.slice/job/step/memory.events.local", "oom 0\noom_kill 0\n");
	put_kills(m, "sys/fs/cgroup/user.slice/job/memory.events", 2);
	put(m, "sys/fs/cgroup/user.slice/job/memory.events.local", "oom 7\noom_kill 0\n");
	put_kills(m, "sys/fs/cgroup/user.slice/memory.events", 5);
	put(m, "sys/fs/cgroup/user.slice/memory.events.local", "oom 0\noom_kill 0\n");
	look(m, 100);
	T_EQ_I(m->notes, 0);
	put(m, "proc/77/stat", ZOMBIE);
	put_kills(m, step, 1);
	put_kills(m, "sys/fs/cgroup/user.slice/job/memory.events", 3);
	put(m, "sys/fs/cgroup/user.slice/job/memory.events.local", "oom 8\noom_kill 0\n");
	put_kills(m, "sys/fs/cgroup/user.slice/memory.events", 6);
	T_EQ_I(tell(m, 101), TG_OOM_YES);
	T_EQ_S(m->why,
		"a process of its control group was killed for want of memory just then (oom_kill "
		"in "
		"memory.events: 0, then 1); the limit of /user.slice/job was reached (oom in "
		"memory.events.local: 7, then 8)");
	T_EQ_I(m->notes, 1);
	T_EQ_S(m->note,
		"a process of the job's control group was killed for want of memory (oom_kill in "
		"memory.events: 0, then 1); the limit of /user.slice/job was reached (oom in "
		"memory.events.local: 7, then 8)");
	machine_free(m);
}

/* pitfall 20: kills beside the job are told as such; a limit that is reached without a kill, too */
static void test_notes(void)
{
	struct machine *m = machine_of(
		"30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/slice/job\n");

	put_kills(m, "sys/fs/cgroup/slice/job/memory.events", 1);
	put(m, "sys/fs/cgroup/slice/job/memory.events.local", "oom 0\n");
	put_kills(m, "sys/fs/cgroup/slice/memory.events", 4);
	look(m, 100);
	put_kills(m, "sys/fs/cgroup/slice/memory.events", 6);
	look(m, 101);
	T_EQ_S(m->note, "a process below the control group /slice was killed for want of memory "
			"(oom_kill in memory.events: 4, then 6)");
	put(m, "sys/fs/cgroup/slice/job/memory.events.local", "oom 3\n");
	look(m, 102);
	T_EQ_S(m->note, "no memory was to be had: its limit was reached (oom in "
			"memory.events.local: 0, then 3)");
	look(m, 103);
	T_EQ_I(m->notes, 2);
	T_EQ_I(tell(m, 104), TG_OOM_NO);
	machine_free(m);
}

/* pitfall 20: the job's own group is gone with its last process; the one above it counts it, too */
static void test_group_gone(void)
{
	struct machine *m = machine_of(
		"30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/slice/job\n");

	put_kills(m, "sys/fs/cgroup/slice/job/memory.events", 0);
	put_kills(m, "sys/fs/cgroup/slice/memory.events", 4);
	look(m, 100);
	put(m, "sys/fs/cgroup/slice/job/memory.events", "");
	put(m, "proc/77/stat", ZOMBIE);
	put_kills(m, "proc/vmstat", 41); /* somewhere else on the machine */
	T_EQ_I(tell(m, 101), TG_OOM_NO);
	T_OK(strstr(m->why, "no process below the control group /slice was killed") != NULL);
	put_kills(m, "sys/fs/cgroup/slice/memory.events", 5);
	T_EQ_I(tell(m, 102), TG_OOM_UNKNOWN);
	T_OK(strstr(m->why, "(oom_kill in memory.events: 4, then 5), and no counter tells which"));
	machine_free(m);
}

/* pitfall 20: a rise that was seen is not forgotten when the group is gone a moment later */
static void test_group_gone_after(void)
{
	struct machine *m = v2();

	put_kills(m, GROUP "/memory.events", 0);
	look(m, 100);
	put_kills(m, GROUP "/memory.events", 1);
	look(m, 101);
	put(m, GROUP "/memory.events", "");
	T_EQ_I(tell(m, 102), TG_OOM_YES);
	machine_free(m);
}

/* pitfall 20: version 1 counts how often each limit was hit, which alone is nothing to tell */
static void test_above_v1(void)
{
	struct machine *m =
		machine_of("32 24 0:30 / /sys/fs/cgroup rw shared:11 - cgroup cgroup rw,memory\n",
			"4:memory:/job/a-name-as-long-as-those-of-containers-0123456789abcdef\n");
	char own[160];

	snprintf(own, sizeof(own), "%s/%s", GROUP,
		"a-name-as-long-as-those-of-containers-0123456789abcdef/memory.oom_control");
	put_kills(m, own, 0);
	put_kills(m, GROUP "/memory.oom_control", 0);
	put(m, GROUP "/memory.failcnt", "12\n");
	look(m, 100);
	put(m, GROUP "/memory.failcnt", "90\n");
	look(m, 101);
	T_EQ_I(m->notes, 0);
	put(m, GROUP "/memory.failcnt", "97\n");
	put_kills(m, own, 1);
	T_EQ_I(tell(m, 102), TG_OOM_YES);
	T_OK(strstr(m->why, "memory.oom_control: 0, then 1); the limit of /job was reached "
			    "(memory.failcnt: 90, then 97)") != NULL);
	put_kills(m, GROUP "/memory.oom_control", 1);
	look(m, 103);
	T_EQ_S(m->note, "a process of the control group /job was killed for want of memory "
			"(oom_kill in memory.oom_control: 0, then 1)");
	machine_free(m);
}

static void test_nothing_to_read(void)
{
	struct machine *m = v2();

	put(m, "proc/vmstat", "nr_free_pages 12\n"); /* before Linux 4.13 */
	look(m, 100);
	T_EQ_I(tell(m, 101), TG_OOM_UNKNOWN);
	T_EQ_S(m->why, "no counter of such kills can be read here");
	machine_free(m);
}

/* First seen when it had ended: the counters of before are not known, which is not "no". */
static void test_too_late(void)
{
	struct machine *m = v2();

	put_kills(m, GROUP "/memory.events", 1);
	put(m, "proc/77/stat", ZOMBIE);
	T_EQ_I(tell(m, 100), TG_OOM_UNKNOWN);
	T_EQ_S(m->why, "it ended before its memory could be looked at");
	/* nor is it for the next one, whose counters are known */
	m->env.root = 78;
	put(m, "proc/78/cgroup", "0::/job\n");
	put(m, "proc/78/stat", ALIVE);
	look(m, 101);
	T_EQ_I(tell(m, 102), TG_OOM_NO);
	m->env.root = 0;
	tg_oom_look(&m->oom, &m->env, 103 * TG_NS_PER_S);
	machine_free(m);
}

/* What is said of it, with what the tree held at most in the last seconds. */
static void test_text(void)
{
	static const struct tg_metric metric[] = {
		{ "tree.rss_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "" },
		{ "cgroup.memory_limit_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0, "" },
	};
	struct tg_column column[] = { { .metric = &metric[0] }, { .metric = &metric[1] } };
	int64_t value[] = { INT64_C(1900000000), INT64_C(2000000000) };
	struct tg_reading reading = {
		.t_ns = 100 * TG_NS_PER_S, .column = column, .value = value, .n = 2, .generation = 1
	};
	struct tg_limits limits = { .memory_bytes = INT64_C(8000000000), .memory_why = "machine" };
	struct tg_limits none = { .memory_bytes = TG_MISSING };
	struct tg_reply u = { 0 };
	struct tg_buf out = TG_BUF_INIT;

	tg_reply_oom_text(&u, TG_OOM_UNKNOWN, "because", &none, 0, &out);
	T_EQ_S(out.data, "Out of memory: unknown: because.");
	value[0] = 0; /* they had ended when they were looked at first: that is no figure */
	tg_reply_take(&u, &reading);
	tg_buf_clear(&out);
	tg_reply_oom_text(&u, TG_OOM_UNKNOWN, "because", &none, reading.t_ns, &out);
	T_EQ_S(out.data, "Out of memory: unknown: because.");
	reading.t_ns += TG_NS_PER_S;
	value[0] = INT64_C(1900000000);
	tg_reply_take(&u, &reading);
	reading.t_ns += TG_NS_PER_S / 5;
	value[0] = 1000000; /* it is going, and gives it back */
	tg_reply_take(&u, &reading);
	tg_buf_clear(&out);
	tg_reply_oom_text(
		&u, TG_OOM_YES, "because", &limits, reading.t_ns + TG_NS_PER_S / 10, &out);
	T_EQ_S(out.data, "Out of memory: yes: because. Its processes held 1.9 GB of 2.0 GB (cgroup "
			 "limit) 0.3 s before.");
	reading.t_ns += 20 * TG_NS_PER_S;
	value[0] = TG_MISSING;
	tg_reply_take(&u, &reading); /* not known is not less */
	value[0] = 43000000;
	value[1] = TG_MISSING; /* of no group of its own, for long enough */
	reading.t_ns += 20 * TG_NS_PER_S;
	tg_reply_take(&u, &reading);
	tg_buf_clear(&out);
	tg_reply_oom_text(&u, TG_OOM_NO, "because", &limits, reading.t_ns, &out);
	T_OK(strstr(out.data,
		     "no: because. Its processes held 43 MB of 8.0 GB (machine) 0.0 s before.") !=
		NULL);
	tg_buf_release(&out);
}

int main(void)
{
	test_v2();
	test_when();
	test_which();
	test_whole_group();
	test_v1();
	test_moved();
	test_no_group();
	test_above();
	test_notes();
	test_group_gone();
	test_group_gone_after();
	test_above_v1();
	test_nothing_to_read();
	test_too_late();
	test_text();
	return t_done();
}
