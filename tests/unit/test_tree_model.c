/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree's sums against a model of what a kernel does: processes that fork, work, end, are waited
 * for or not, at random, in a /proc that is written for it. What was used is known, so that it can
 * be said whether any of it is lost or counts twice.
 */
#include "tap.h"

#include "made_tree.h"
#include "sample_util.h"

#include "base/mem.h"

#define TICK_NS (TG_NS_PER_S / sysconf(_SC_CLK_TCK))
#define PIDS    40 /* few, so that they are given out again soon */
#define FIRST   100
#define ROOT    FIRST
#define LIVES   4096
#define SEEDS   6
#define STEPS   60

/* What a process has used: ticks of CPU time, and bytes read, one of the figures of I/O. */
struct used {
	int64_t ticks, bytes;
};

struct life {
	int ppid;
	int64_t start;
	struct used own, children; /* of those waited for, with theirs */
	bool member; /* of the root's tree */
	bool ignores; /* SIGCHLD: its children go unwaited */
	bool zombie, seen, moved; /* since the last reading */
	bool dropped; /* in state X: the kernel is about to take it away, and tells all as 0 */
};

struct world {
	char folder[32];
	uint64_t seed;
	struct life life[PIDS]; /* by pid; start 0: there is none */
	int64_t now;
	struct used all; /* of members, whatever became of them */
	struct used sum; /* of the last reading */
	bool no_children_files;
	bool busy; /* changes also while it is read */
	bool orphans; /* a parent may end before its children in this step */
	int64_t told[LIVES], told_sum; /* CPU time, by entity, as the tree has seen it */
};

static unsigned below(struct world *w, unsigned n)
{
	return (unsigned)(t_random(&w->seed) >> 33) % n;
}

static struct life *at(struct world *w, int pid)
{
	return &w->life[pid - FIRST];
}

static void write_one(struct world *w, int pid)
{
	const struct life *p = at(w, pid);
	char path[64], text[256];
	bool told = p->start && !p->dropped;

	snprintf(path, sizeof(path), "proc/%d/stat", pid);
	if (!p->start) {
		put_file(w->folder, path, NULL);
		return;
	}
	snprintf(text, sizeof(text),
		"%d (sh) %c %d 1 1 0 -1 4194304 0 0 0 0 %lld 0 %lld 0 20 0 %d 0 %lld 0 0\n", pid,
		p->dropped  ? 'X'
		: p->zombie ? 'Z'
			    : 'S',
		told ? p->ppid : 0, told ? (long long)p->own.ticks : 0,
		told ? (long long)p->children.ticks : 0, told ? 2 - pid % 2 : 0,
		(long long)p->start);
	put_file(w->folder, path, text);
	snprintf(path, sizeof(path), "proc/%d/io", pid);
	snprintf(text, sizeof(text),
		"rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: %lld\nwrite_bytes: 0\n"
		"cancelled_write_bytes: 0\n",
		told ? (long long)(p->own.bytes + p->children.bytes) : 0);
	put_file(w->folder, path, text);
}

static void write_children(struct world *w, int pid)
{
	struct tg_buf text = TG_BUF_INIT;
	char path[64];

	if (pid < FIRST)
		return;
	snprintf(path, sizeof(path), "proc/%d/task/%d/stat", pid, pid);
	put_file(w->folder, path, at(w, pid)->start ? "" : NULL);
	if (w->no_children_files)
		return;
	for (int i = 0; i < PIDS; i++)
		if (w->life[i].start && !w->life[i].dropped && w->life[i].ppid == pid)
			tg_buf_addf(&text, "%d ", FIRST + i);
	snprintf(path, sizeof(path), "proc/%d/task/%d/children", pid, pid);
	put_file(w->folder, path, at(w, pid)->start ? text.len ? text.data : "" : NULL);
	tg_buf_release(&text);
}

static void work(struct world *w, int pid)
{
	struct life *p = at(w, pid);
	/* less than three ticks may be lost of one that nobody waits for: clocks are as coarse */
	struct used u = { below(w, 2) ? 0 : 3 + below(w, 20), below(w, 5) ? 0 : below(w, 100000) };

	p->own.ticks += u.ticks;
	p->own.bytes += u.bytes;
	p->moved |= u.ticks || u.bytes;
	if (p->member) {
		w->all.ticks += u.ticks;
		w->all.bytes += u.bytes;
	}
	write_one(w, pid);
}

static void place(struct world *w, int pid, int ppid)
{
	struct life *p = at(w, pid);

	*p = (struct life){ .ppid = ppid, .start = ++w->now, .ignores = !below(w, 3) };
	p->member = pid == ROOT || (ppid != 1 && at(w, ppid)->member);
	if (!p->member)
		p->own = (struct used){ 100000, 100000000 };
	write_children(w, pid);
	write_one(w, pid);
	write_children(w, ppid);
}

/* `ppid` 1: a stranger. 0: that number is not free. */
static int begin(struct world *w, int ppid)
{
	int pid = FIRST + (int)below(w, PIDS);

	if (at(w, pid)->start)
		return 0;
	place(w, pid, ppid);
	return pid;
}

/* The kernel forgets it; its parent's figures have its own if it was waited for. */
static void reap(struct world *w, int pid, bool waited)
{
	struct life *p = at(w, pid);
	int ppid = p->ppid;

	if (waited && ppid != 1) {
		struct life *a = at(w, ppid);

		a->children.ticks += p->own.ticks + p->children.ticks;
		a->children.bytes += p->own.bytes + p->children.bytes;
		a->moved = true;
		write_one(w, ppid);
	}
	if (below(w, 4)) {
		p->start = 0;
		write_children(w, pid);
	} else {
		p->dropped = true;
	}
	write_one(w, pid);
	write_children(w, ppid);
}

static void end(struct world *w, int pid)
{
	struct life *p = at(w, pid);

	for (int i = 0; i < PIDS; i++) {
		struct life *c = &w->life[i];

		if (!c->start || c->dropped || c->ppid != pid)
			continue;
		c->ppid = 1;
		write_one(w, FIRST + i);
	}
	p->zombie = true;
	write_children(w, pid);
	if (p->ppid != 1 && at(w, p->ppid)->ignores)
		reap(w, pid, false);
	else
		write_one(w, pid);
}

/* Whether its end hides nothing: it was seen since it worked, and so were those it leaves behind.
 */
static bool may_end(const struct world *w, int pid)
{
	const struct life *p = &w->life[pid - FIRST];

	for (int i = 0; i < PIDS; i++) {
		const struct life *c = &w->life[i];

		if (c->start && !c->dropped && c->ppid == pid && !(c->seen && w->orphans))
			return false;
	}
	return p->seen && !p->moved;
}

/*
 * One thing happens. In a world that is not busy nothing is used that could not be seen: who has
 * worked since the last reading, or was not seen yet, lives on, or is waited for by one that does.
 */
static void happen(struct world *w)
{
	int pid = FIRST + (int)below(w, PIDS), child;
	struct life *p = at(w, pid);

	if (!p->start) {
		if (!below(w, 8))
			begin(w, 1);
		return;
	}
	if (p->dropped) {
		p->start = 0;
		write_one(w, pid);
		write_children(w, pid);
	} else if (p->zombie) {
		if (pid != ROOT)
			reap(w, pid, true);
	} else if (below(w, 3) == 0) {
		begin(w, pid);
	} else if (below(w, 2)) {
		work(w, pid);
	} else if (pid != ROOT && (w->busy || !p->member || may_end(w, pid))) {
		end(w, pid);
	} else if (!p->ignores && (w->busy || !w->orphans) && (child = begin(w, pid)) != 0) {
		work(w, child); /* born and dead unseen */
		end(w, child);
		reap(w, child, true);
	}
}

static void on_birth(void *ctx, const struct tg_birth *birth)
{
	struct world *w = ctx;
	struct life *p = at(w, birth->pid);

	p->seen |= p->start * TICK_NS == birth->start_ns;
}

static void on_value(void *ctx, int64_t t_ns, uint32_t entity, uint32_t field, int64_t value)
{
	struct world *w = ctx;

	(void)t_ns;
	if (field != TG_FIELD_CPU_NS)
		return;
	if (entity < LIVES) {
		w->told_sum += value - w->told[entity];
		w->told[entity] = value;
	}
	for (unsigned n = w->busy ? below(w, 4) : 0; n > 0; n--)
		happen(w);
}

/* The sums never fall, and never have more than was used. */
static bool read_sums(struct world *w, struct tg_sampler *s)
{
	struct used before = w->sum;
	struct tg_reading r;

	tg_sampler_read(s, w->no_children_files ? TG_READ_REFRESH : 0, &r);
	w->sum.ticks = column(&r, "tree.cpu_ns", "") / TICK_NS;
	w->sum.bytes = column(&r, "tree.read_bytes", "");
	for (int i = 0; i < PIDS; i++)
		w->life[i].moved &= !w->life[i].seen;
	return w->sum.ticks >= before.ticks && w->sum.bytes >= before.bytes &&
	       w->sum.ticks <= w->all.ticks && w->sum.bytes <= w->all.bytes;
}

/*
 * When what was being dropped has gone, and nothing happens while they are read, the sums have what
 * was seen of each process, and all that was used where nothing was hidden.
 */
static bool read_settled(struct world *w, struct tg_sampler *s)
{
	bool busy = w->busy, ok;

	w->busy = false;
	for (int i = 0; i < PIDS; i++)
		if (w->life[i].start && w->life[i].dropped) {
			w->life[i].start = 0;
			write_one(w, FIRST + i);
		}
	ok = read_sums(w, s) && read_sums(w, s) && w->sum.ticks * TICK_NS >= w->told_sum;
	if (!busy)
		ok = ok && w->sum.ticks == w->all.ticks && w->sum.bytes == w->all.bytes;
	w->busy = busy;
	return ok;
}

static bool one_world(uint64_t seed, bool busy, bool no_children_files)
{
	static struct world w;
	struct tg_sampler_options options = { .root = ROOT,
		.no_args = true,
		.hooks = { .birth = on_birth, .value = on_value, .ctx = &w } };
	struct tg_sampler *s;
	bool ok = true;

	w = (struct world){ .folder = "/tmp/tg-model-XXXXXX",
		.seed = seed * 7919,
		.busy = busy,
		.no_children_files = no_children_files };
	if (!mkdtemp(w.folder))
		abort();
	place(&w, ROOT, 1);
	options.root_fd = open(w.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tg_sampler_new(&s, &options, NULL) < 0)
		abort();
	for (int step = 0; step < STEPS && ok; step++) {
		ok = read_sums(&w, s) && (step % 4 || read_settled(&w, s));
		if (!ok)
			fprintf(stderr,
				"# seed %llu, step %d%s%s: %lld ticks of %lld, seen %lld; %lld "
				"bytes of %lld\n",
				(unsigned long long)seed, step, busy ? ", busy" : "",
				no_children_files ? ", no children files" : "",
				(long long)w.sum.ticks, (long long)w.all.ticks,
				(long long)(w.told_sum / TICK_NS), (long long)w.sum.bytes,
				(long long)w.all.bytes);
		w.orphans = below(&w, 2);
		for (unsigned n = below(&w, 30); n > 0; n--)
			happen(&w);
	}
	tg_sampler_free(s);
	close(options.root_fd);
	remove_tree(w.folder);
	return ok;
}

/* pitfall 9, reports 6, 7, 8 and 11: whatever becomes of a process, what it used counts once */
static void test_model(uint64_t first, uint64_t n)
{
	for (uint64_t seed = first; seed < first + n; seed++)
		for (int kind = 0; kind < 4; kind++)
			T_OK(one_world(seed, kind & 1, kind & 2));
}

/* Seeds of one's own: test_tree_model FIRST N */
int main(int argc, char **argv)
{
	if (argc > 2) {
		test_model(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
	} else {
		test_model(1, SEEDS);
		/* a parent that nobody waits for is dropped just after a child of it */
		test_model(55, 1);
	}
	return t_done();
}
