/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source gpu with the true helper and a driver's library of our own (nvml_stub.c), and with a
 * helper of ours that misbehaves. Numbers in comments are those of the list of pitfalls that
 * sampling tools have been found in. Nothing here has seen a GPU.
 */
#include "tap.h"

#include <signal.h>
#include <sys/socket.h>

#include "sample_tree.h"

#include "recorder/gpu_helper.h"
#include "sample/gpu_wire.h"
#include "sample/visible.h"

#include "base/mem.h"

#define GIB (INT64_C(1) << 30)
#define WAIT_NS                                                                                    \
	(20 * TG_NS_PER_S) /* for what takes milliseconds unless the machine is overloaded */

/* A job on a machine with that library. */
struct gpus {
	struct copy c;
	struct tg_sampler *s;
	struct tg_reading r;
	char notes[2000];
	int starts, fd; /* what start_gpu returns; 0: the true helper's */
};

static void on_note(void *ctx, int64_t t_ns, const char *text)
{
	struct gpus *g = ctx;
	size_t at = strlen(g->notes);

	(void)t_ns;
	snprintf(g->notes + at, sizeof(g->notes) - at, "%s\n", text);
}

static int on_start(void *ctx)
{
	struct gpus *g = ctx;

	g->starts++;
	return g->fd ? g->fd : tg_gpu_helper_start(getenv("TG_EXE"), false);
}

static void link_namespace(const struct copy *c, const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/proc/self/ns", c->folder);
	T_OK(mkdir(path, 0700) == 0 || errno == EEXIST);
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", c->folder);
	unlink(path);
	T_EQ_I(symlink(name, path), 0);
}

/* The library of that age, the words that it obeys, and the root's CUDA_VISIBLE_DEVICES. */
static void begin(struct gpus *g, int age, const char *words, const char *environ_of_root, int fd)
{
	struct tg_sampler_options options = { .root = 500,
		.hooks = { .note = on_note, .start_gpu = on_start, .ctx = g } };
	char path[400];
	size_t len = strlen(environ_of_root);

	*g = (struct gpus){ .c = copy_of("workstation"), .fd = fd };
	link_namespace(&g->c, "pid:[4026531836]");
	snprintf(path, sizeof(path), "SECRET=x|%s", environ_of_root);
	for (char *p = path; *p; p++)
		*p = *p == '|' ? '\0' : *p;
	put_file(&g->c, "proc/500/environ", path, 9 + len + 1);
	snprintf(path, sizeof(path), "%s/nvml_stub%d.so", getenv("TG_BUILD_DIR"), age);
	setenv("TACHOGRAPH_NVML", path, 1);
	setenv("NVML_STUB", words, 1);
	snprintf(path, sizeof(path), "%s/stub-file", g->c.folder);
	setenv("NVML_STUB_FILE", path, 1);
	options.root_fd = open(g->c.folder, O_RDONLY | O_DIRECTORY);
	T_EQ_I(tg_sampler_new(&g->s, &options, NULL), 0);
	close(options.root_fd);
}

static void end(struct gpus *g)
{
	tg_sampler_free(g->s);
	copy_remove(&g->c);
}

static int64_t gpu(const struct gpus *g, const char *metric, const char *instance)
{
	char name[80];

	snprintf(name, sizeof(name), "gpu.%s", metric);
	return column(&g->r, name, instance);
}

/* Read until that value is there, or a note says that. False: it never was. */
static bool wait_for(struct gpus *g, const char *metric, const char *said)
{
	int64_t until = tg_mono_ns() + WAIT_NS;

	while (tg_mono_ns() < until) {
		tg_sampler_read(g->s, 0, &g->r);
		if (said ? strstr(g->notes, said) != NULL : gpu(g, metric, "GPU0") != TG_MISSING)
			return true;
		usleep(5000);
	}
	fprintf(stderr, "#   %s: %s\n", metric, g->notes);
	return false;
}

#define IS(metric, instance, want) T_EQ_I(gpu(&g, metric, instance), want)

/*
 * pitfalls 30, 31 and 33, reports 26 and 27: values, energy from its counter, the newest sample of
 * a process, two GPUs in their own order, and never another job's processes
 */
static void test_values(void)
{
	for (int age = 1; age <= 3; age++) {
		struct gpus g;

		begin(&g, age, "", "CUDA_VISIBLE_DEVICES=0", 0);
		T_OK(wait_for(&g, "pcie_tx_bytes_per_s", NULL));
		IS("util_pct", "GPU0", 73);
		IS("memory_busy_pct", "GPU0", 36);
		IS("memory_used_bytes", "GPU0", 10 * GIB);
		IS("memory_total_bytes", "GPU0", 80 * GIB);
		IS("power_w", "GPU0", 250500);
		IS("energy_j", "GPU0", INT64_C(5000000000));
		IS("temperature_c", "GPU0", 61);
		IS("sm_clock_mhz", "GPU0", 1980);
		IS("memory_clock_mhz", "GPU0", 2619);
		IS("throttle_mask", "GPU0", 4);
		IS("pcie_rx_bytes_per_s", "GPU0", 1000000);
		IS("pcie_tx_bytes_per_s", "GPU0", 2000000);
		/* process 12 is another's, and 60 % is newer than 10 % */
		IS("job_memory_bytes", "GPU0", 3 * GIB);
		IS("job_util_pct", "GPU0", 60);
		/* CUDA's 0 is the lower PCI address; the job is seen on the other, too */
		IS("in_job", "GPU1", 1);
		IS("in_job", "GPU0", 1);
		IS("util_pct", "GPU1", 0);
		IS("energy_j", "GPU1", TG_MISSING);
		IS("job_memory_bytes", "GPU1", 0);
		IS("job_util_pct", "GPU1", 0);
		T_OK(strstr(g.notes, "GPU0 is Stub 80, GPU-bbbb0000-1111-2222-3333-444444444444"));
		T_OK(column(&g.r, "self.helper_cpu_ns", "") > 0);
		T_OK(!strstr(g.notes, "missing"));
		T_EQ_I(g.starts, 1);
		end(&g);
	}
}

/* pitfall 12: what one process uses is not known: then the sum is not, either */
static void test_unknown_memory(void)
{
	struct gpus g;

	begin(&g, 3, "no memory", "CUDA_VISIBLE_DEVICES=NoDevFiles", 0);
	T_OK(wait_for(&g, "job_util_pct", NULL));
	IS("job_memory_bytes", "GPU0", TG_MISSING);
	IS("job_util_pct", "GPU0", 60);
	IS("in_job", "GPU0", 1); /* it is there all the same */
	IS("in_job", "GPU1", 0);
	end(&g);
}

/* pitfalls 13 and 31, report 26: numbers of another PID namespace could be anybody's */
static void test_namespace(void)
{
	struct gpus g;
	struct tg_sampler *s;
	struct tg_sampler_options options = { .root = 500 };

	begin(&g, 3, "", "OTHER=1", 0);
	tg_sampler_free(g.s);
	link_namespace(&g.c, "pid:[4026532999]");
	options.hooks =
		(struct tg_sampler_hooks){ .note = on_note, .start_gpu = on_start, .ctx = &g };
	options.root_fd = open(g.c.folder, O_RDONLY | O_DIRECTORY);
	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	close(options.root_fd);
	g.s = s;
	T_OK(wait_for(&g, "util_pct", NULL));
	IS("util_pct", "GPU0", 73);
	IS("job_memory_bytes", "GPU0", TG_MISSING);
	IS("job_memory_bytes", "GPU1", TG_MISSING);
	IS("in_job", "GPU0", 1); /* no variable: all of them */
	end(&g);
}

/* pitfall 32, report 28: of a divided device the use is not available, which is not 0 */
static void test_mig(void)
{
	struct gpus g;

	begin(&g, 3, "mig", "CUDA_VISIBLE_DEVICES=MIG-dddd", 0);
	T_OK(wait_for(&g, "power_w", NULL));
	IS("util_pct", "GPU0", TG_MISSING);
	IS("memory_busy_pct", "GPU0", TG_MISSING);
	IS("job_memory_bytes", "GPU0", TG_MISSING);
	IS("memory_used_bytes", "GPU0-MIG1", 2 * GIB);
	IS("memory_used_bytes", "GPU0-MIG4", 3 * GIB);
	IS("util_pct", "GPU0-MIG1", TG_MISSING);
	IS("power_w", "GPU0-MIG1", TG_MISSING);
	IS("job_memory_bytes", "GPU0-MIG1", 3 * GIB);
	IS("job_util_pct", "GPU0-MIG1", TG_MISSING);
	IS("in_job", "GPU0-MIG1", 1);
	IS("in_job", "GPU0-MIG4", 1);
	IS("in_job", "GPU0", 0);
	IS("in_job", "GPU1", 0);
	IS("util_pct", "GPU1", 0);
	end(&g);
}

static void test_refused(void)
{
	struct gpus g;

	begin(&g, 3, "no driver", "", 0);
	T_OK(wait_for(&g, "", "Values of gpu are missing: the NVIDIA driver is not loaded\n"));
	tg_sampler_read(g.s, 0, &g.r);
	T_EQ_I(g.starts, 1);
	end(&g);
	begin(&g, 3, "denied", "", 0);
	T_OK(wait_for(&g, "", "the driver denies access to its 2 GPUs\n"));
	T_OK(!has_column(&g.r, "gpu.util_pct", "GPU0"));
	end(&g);
	begin(&g, 9, "", "", 0);
	T_OK(wait_for(&g, "", "the driver's library cannot be loaded: "));
	end(&g);
}

static pid_t pid_in_file(const struct gpus *g)
{
	struct tg_buf b = TG_BUF_INIT;
	char path[100];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/stub-file", g->c.folder);
	T_EQ_I(tg_file_read(AT_FDCWD, path, 100, &b, NULL), 0);
	pid = (pid_t)strtol(b.data, NULL, 10);
	tg_buf_release(&b);
	return pid;
}

static bool runs(pid_t pid)
{
	char path[40], exe[400];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return readlink(path, exe, sizeof(exe)) > 0; /* not of a zombie */
}

/* pitfall 30: a call that hangs stops GPU values only; the helper ends when it is not wanted any
 * more */
static void test_hang(void)
{
	struct gpus g;
	int64_t until;
	pid_t pid;

	begin(&g, 3, "hang", "", 0);
	T_OK(wait_for(&g, "util_pct", NULL));
	T_OK(wait_for(
		&g, "", "Values of gpu are missing: the driver does not answer; another try"));
	IS("util_pct", "GPU0", TG_MISSING);
	T_OK(column(&g.r, "tree.processes", "") == 1);
	pid = pid_in_file(&g);
	until = tg_mono_ns() + WAIT_NS;
	while (runs(pid) && tg_mono_ns() < until)
		usleep(1000);
	T_OK(!runs(pid));
	end(&g);
}

/* A crash of the library: missing, then there again; the device is not introduced twice. */
static void test_crash(void)
{
	const char *again;
	struct gpus g;

	begin(&g, 3, "crash", "", 0);
	T_OK(wait_for(&g, "util_pct", NULL));
	T_OK(wait_for(&g, "",
		"Values of gpu are missing: the process that asks the driver has died; another "
		"try"));
	IS("util_pct", "GPU0", TG_MISSING);
	T_OK(wait_for(&g, "util_pct", NULL));
	T_EQ_I(g.starts, 2);
	again = strstr(strstr(g.notes, "GPU1 is"), "GPU0 is");
	T_OK(!again);
	end(&g);
}

/* pitfall 30: one that dies between two questions is missed, and another takes over. */
static void test_killed(void)
{
	struct gpus g;

	begin(&g, 3, "file", "", 0);
	T_OK(wait_for(&g, "util_pct", NULL));
	T_EQ_I(kill(pid_in_file(&g), SIGKILL), 0);
	T_OK(wait_for(&g, "",
		"Values of gpu are missing: the process that asks the driver has died; another "
		"try"));
	IS("util_pct", "GPU0", TG_MISSING);
	T_OK(wait_for(&g, "util_pct", NULL));
	T_EQ_I(g.starts, 2);
	end(&g);
}

/* What a helper that lost its mind may send: it is closed, and nothing of it is believed. */
static void test_nonsense(void)
{
	struct tg_gpu_record ok = { .magic = TG_GPU_MAGIC, .kind = TG_GPU_DEVICE }, bad;
	static const size_t sizes[] = { 1, sizeof(bad) - 1, sizeof(bad) };

	strncpy(ok.of.name, "GPU0", sizeof(ok.of.name) - 1);
	ok.of.parent = -1;
	for (int i = 0; i < 9; i++) {
		struct gpus g;
		int pair[2];

		T_EQ_I(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
		begin(&g, 3, "", "", pair[0]);
		tg_sampler_read(g.s, 0, &g.r);
		bad = ok;
		if (i == 2)
			bad.magic++;
		else if (i == 3)
			bad.device = TG_GPU_DEVICES;
		else if (i == 4)
			bad.device = 1; /* before the first */
		else if (i == 5)
			bad.kind = 77;
		else if (i == 6)
			memset(bad.of.name, 'x', sizeof(bad.of.name));
		else if (i == 7)
			bad.of.parent = 0; /* a part of itself */
		else if (i == 8)
			bad.kind = TG_GPU_PROCESS; /* of a device that was not told of */
		T_OK(send(pair[1], &bad, sizes[TG_MIN(i, 2)], 0) > 0);
		tg_sampler_read(g.s, 0, &g.r);
		T_OK(strstr(g.notes, "talks nonsense"));
		T_OK(!has_column(&g.r, "gpu.util_pct", "GPU0"));
		end(&g);
		close(pair[1]);
	}
}

static void say(int fd, struct tg_gpu_record *r, enum tg_gpu_kind kind, int64_t mj)
{
	r->magic = TG_GPU_MAGIC;
	r->kind = (uint16_t)kind;
	if (kind == TG_GPU_DEVICE) {
		strncpy(r->of.name, "GPU0", sizeof(r->of.name) - 1);
		r->of.parent = -1;
		r->of.value[TG_GPU_ENERGY_MJ] = mj;
	}
	T_EQ_I(send(fd, r, sizeof(*r), MSG_NOSIGNAL), (ssize_t)sizeof(*r));
}

/* report 28: parts that were made anew are not those that the job was shown, of whatever number */
static void test_other_parts(void)
{
	static const char *const parts[] = { "MIG-a", "MIG-b", "MIG-a" };
	struct gpus g;
	int pair[2];

	T_EQ_I(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	begin(&g, 3, "", "CUDA_VISIBLE_DEVICES=MIG-a", pair[0]);
	for (size_t i = 0; i < TG_ARRAY_SIZE(parts); i++) {
		struct tg_gpu_record r = { 0 };

		tg_sampler_read(g.s, 0, &g.r);
		strncpy(r.of.uuid, parts[i], sizeof(r.of.uuid) - 1);
		say(pair[1], &r, TG_GPU_DEVICE, 0);
		say(pair[1], &r, TG_GPU_DONE, 0);
		tg_sampler_read(g.s, 0, &g.r);
		IS("in_job", "GPU0", !strcmp(parts[i], "MIG-a"));
	}
	end(&g);
	close(pair[1]);
}

/* pitfall 30: of a slow driver a round is put once, when all of it has come */
static void test_once(void)
{
	static const unsigned flags[] = { 0, TG_READ_EDGE, TG_READ_REFRESH };
	struct tg_gpu_record r = { 0 };
	struct gpus g;
	int pair[2];

	T_EQ_I(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	begin(&g, 3, "", "", pair[0]);
	tg_sampler_read(g.s, 0, &g.r);
	for (int round = 1; round <= 3; round++) {
		say(pair[1], &r, TG_GPU_DEVICE, round);
		for (size_t i = 0; i < TG_ARRAY_SIZE(flags); i++) {
			tg_sampler_read(g.s, flags[i], &g.r);
			IS("energy_j", "GPU0", TG_MISSING);
		}
		say(pair[1], &r, TG_GPU_DONE, 0);
		tg_sampler_read(g.s, flags[round - 1], &g.r);
		IS("energy_j", "GPU0", round);
		for (size_t i = 0; i < TG_ARRAY_SIZE(flags); i++) {
			tg_sampler_read(g.s, flags[i], &g.r);
			IS("energy_j", "GPU0", TG_MISSING);
		}
	}
	T_OK(!strstr(g.notes, "missing"));
	for (size_t i = 0; i < g.r.n; i++) /* late is no gap */
		if (!strncmp(g.r.column[i].metric->name, "gpu.", 4))
			T_OK(g.r.column[i].period_ns * 3 > 4 * TG_NS_PER_S);
	end(&g);
	close(pair[1]);
}

static const struct tg_gpu_device cuda[] = {
	{ .name = "GPU0", .uuid = "GPU-bbbb", .model = "A", .bus = 9, .parent = -1 },
	{ .name = "GPU1", .uuid = "GPU-bbcc", .model = "A", .bus = 7, .parent = -1 },
	{ .name = "GPU1-MIG0", .uuid = "MIG-GPU-bbcc/1/0", .model = "A 1g", .bus = 7, .parent = 1 },
	{ .name = "GPU2", .uuid = "GPU-dddd", .model = "A", .bus = 3, .parent = -1 },
};

static const char *visible(const char *list, const char *order, bool mixed)
{
	static char shown[8];
	struct tg_gpu_device device[TG_ARRAY_SIZE(cuda)];
	enum tg_visible out[TG_ARRAY_SIZE(cuda)];

	memcpy(device, cuda, sizeof(cuda));
	if (mixed)
		device[3].model[0] = 'B';
	tg_visible_devices(list, order, device, TG_ARRAY_SIZE(cuda), out);
	for (size_t i = 0; i < TG_ARRAY_SIZE(cuda); i++)
		shown[i] = "-+?"[out[i]];
	return shown;
}

/* pitfall 33, report 27: CUDA's numbers are by PCI address, or unknown; UUIDs are exact */
static void test_visible(void)
{
	static const struct {
		const char *list, *want;
	} lists[] = {
		{ NULL, "++++" },
		{ "", "----" },
		{ "-1", "----" },
		{ "NoDevFiles", "----" },
		{ "0", "---+" },
		{ "2", "+---" },
		{ "2,0", "+--+" },
		{ " 2 , 0 ", "+--+" },
		{ "2,-1,0", "+---" }, /* ends at what does not exist */
		{ "2,3,0", "+---" },
		{ "2,,0", "+---" },
		{ "1", "-+?-" }, /* one part of it */
		{ "99999999999999999999999", "----" },
		{ "1x", "----" },
		{ "GPU-bbbb", "+---" },
		{ "GPU-BBBB", "+---" },
		{ "GPU-d", "---+" },
		{ "GPU-b", "----" }, /* of two */
		{ "GPU-", "----" },
		{ "GPU-bbbbb", "----" },
		{ "MIG-GPU-bbcc/1/0", "--+-" },
		{ "MIG-x,0", "----" },
		{ "GPU-dddd,2", "+--+" },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(lists); i++)
		T_EQ_S(visible(lists[i].list, NULL, false), lists[i].want);
	/* of different models the fastest is first, unless told otherwise */
	T_EQ_S(visible("0", NULL, true), "????");
	T_EQ_S(visible("0,GPU-bbbb", NULL, true), "+???");
	T_EQ_S(visible("0", "FASTEST_FIRST", true), "????");
	T_EQ_S(visible("7", NULL, true), "----");
	T_EQ_S(visible("0", "PCI_BUS_ID", true), "---+");
	T_EQ_S(visible(NULL, NULL, true), "++++");
}

static void test_variable(void)
{
	static const char text[] = "A=1\0XB=2\0B=\0BC=5\0CUDA=0,1\0\0LAST=x";
	const size_t len = sizeof(text) - 1;

	T_EQ_S(tg_visible_variable(text, len, "A"), "1");
	T_EQ_S(tg_visible_variable(text, len, "B"), "");
	T_EQ_S(tg_visible_variable(text, len, "CUDA"), "0,1");
	T_EQ_S(tg_visible_variable(text, len, "LAST"), "x");
	T_OK(!tg_visible_variable(text, len, "CUD"));
	T_OK(!tg_visible_variable(text, len, "XB=2"));
	T_OK(!tg_visible_variable("", 0, "A"));
	T_OK(!tg_visible_variable("A", 1, "A"));
}

int main(void)
{
	test_visible();
	test_variable();
	test_values();
	test_unknown_memory();
	test_namespace();
	test_mig();
	test_refused();
	test_nonsense();
	test_once();
	test_other_parts();
	test_crash();
	test_killed();
	test_hang();
	return t_done();
}
