/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVIDIA's GPUs, as the GPU helper tells of them (gpu_wire.h): its driver may hang or crash, so it
 * is never called here. A reading takes what was answered since the one before, and asks anew when
 * that was all. What a round says is put once, by the reading that finds it whole: it is as old as
 * one interval, and a driver that takes its time leaves the readings in between without values.
 *
 * What is the job's is known by the process ids that the driver gives, which are those of the
 * machine: in a PID namespace of its own nothing is matched, or it could be another's.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample/gpu_wire.h"
#include "sample/helper.h"
#include "sample/sampler.h"
#include "sample/source.h"
#include "sample/tree.h"
#include "sample/visible.h"

#include "base/clock.h"
#include "base/mem.h"

#define LIST_MAX 4096 /* of CUDA_VISIBLE_DEVICES */

enum {

	JOB_MEMORY = TG_GPU_VALUES,
	JOB_UTIL,
	IN_JOB,
};

#define OF_DEVICE(kind) kind, TG_SCOPE_NODE

static const struct tg_metric metrics[] = {
	[TG_GPU_UTIL_PCT] = { "gpu.util_pct", "pct", OF_DEVICE(TG_GAUGE), 0,
		"time in which something ran on it, averaged by the driver over its last 1/6 to 1 "
		"s",
		TG_TICK_DRIVER },
	[TG_GPU_MEMORY_BUSY_PCT] = { "gpu.memory_busy_pct", "pct", OF_DEVICE(TG_GAUGE), 0,
		"time in which its memory was read or written, averaged likewise", TG_TICK_DRIVER },
	[TG_GPU_MEMORY_USED] = { "gpu.memory_used_bytes", "bytes", OF_DEVICE(TG_GAUGE), 0,
		"memory of the device that is in use, whoever uses it" },
	[TG_GPU_MEMORY_TOTAL] = { "gpu.memory_total_bytes", "bytes", OF_DEVICE(TG_GAUGE), 0,
		"memory of the device" },
	[TG_GPU_POWER_MW] = { "gpu.power_w", "W", OF_DEVICE(TG_GAUGE), -3,
		"what it draws; the rate of gpu.energy_j is better where there is one" },
	[TG_GPU_ENERGY_MJ] = { "gpu.energy_j", "J", OF_DEVICE(TG_COUNTER), -3,
		"energy that it has drawn since the driver was loaded" },
	[TG_GPU_TEMPERATURE_C] = { "gpu.temperature_c", "C", OF_DEVICE(TG_GAUGE), 0,
		"temperature of the chip" },
	[TG_GPU_SM_MHZ] = { "gpu.sm_clock_mhz", "MHz", OF_DEVICE(TG_GAUGE), 0,
		"clock of the processors" },
	[TG_GPU_MEMORY_MHZ] = { "gpu.memory_clock_mhz", "MHz", OF_DEVICE(TG_GAUGE), 0,
		"clock of the memory" },
	[TG_GPU_THROTTLE_MASK] = { "gpu.throttle_mask", "bits", OF_DEVICE(TG_GAUGE), 0,
		"why the clocks are not higher: NVML's bits (1: idle, 4: power, 32 and 64: heat)" },
	[TG_GPU_PCIE_RX] = { "gpu.pcie_rx_bytes_per_s", "bytes/s", OF_DEVICE(TG_GAUGE), 0,
		"received over PCIe, measured for 20 ms once a second", TG_TICK_DRIVER },
	[TG_GPU_PCIE_TX] = { "gpu.pcie_tx_bytes_per_s", "bytes/s", OF_DEVICE(TG_GAUGE), 0,
		"sent over PCIe, measured likewise", TG_TICK_DRIVER },
	[JOB_MEMORY] = { "gpu.job_memory_bytes", "bytes", TG_GAUGE, TG_SCOPE_JOB, 0,
		"memory of the device that the job's processes use" },
	[JOB_UTIL] = { "gpu.job_util_pct", "pct", TG_GAUGE, TG_SCOPE_JOB, 0,
		"time in which something of the job ran on it, about once a second",
		TG_TICK_DRIVER },
	[IN_JOB] = { "gpu.in_job", "count", TG_GAUGE, TG_SCOPE_JOB, 0,
		"1: CUDA_VISIBLE_DEVICES of the root shows it to the job, or the job uses it; 0: "
		"not" },
};

struct own { /* what the job uses of one device */
	int64_t memory_bytes, util_pct; /* TG_MISSING when one of its processes is not known */
	size_t n;
	bool known;
};

struct round {
	size_t n; /* devices */
	struct tg_gpu_device device[TG_GPU_DEVICES];
	struct own own[TG_GPU_DEVICES];
};

struct gpu {
	struct tg_helper helper;
	bool host_pids; /* we are in the machine's own PID namespace */
	struct round now, next; /* the last one that was whole, and the one that comes in */
	bool fresh; /* the former was not put yet */
	enum tg_visible visible[TG_GPU_DEVICES];
	pid_t visible_to; /* the root that they are; -1: look anew */
	char told[TG_GPU_DEVICES][96]; /* UUIDs that were noted */
};

/* ---- what it says ---- */

static void take_device(struct gpu *g, const struct tg_gpu_record *r)
{
	g->next.device[r->device] = r->of;
	g->next.own[r->device] = (struct own){ .known = r->of.processes_known && g->host_pids };
	g->next.n++;
}

static void add(int64_t *sum, int64_t value)
{
	if (value == TG_MISSING || *sum == TG_MISSING || __builtin_add_overflow(*sum, value, sum))
		*sum = TG_MISSING;
}

static void take_processes(struct gpu *g, const struct tg_env *env, const struct tg_gpu_record *r)
{
	struct own *own = &g->next.own[r->device];

	for (size_t i = 0; i < r->process.n; i++) {
		const struct tg_gpu_process *p = &r->process.at[i];

		if (p->pid <= 0 || !own->known || !tg_tree_has(env->tree, p->pid))
			continue;
		own->n++;
		add(&own->memory_bytes, p->memory_bytes);
		add(&own->util_pct, p->util_pct < 0 ? TG_MISSING : p->util_pct);
	}
}

static void tell_devices(struct gpu *g, const struct tg_env *env)
{
	for (size_t i = 0; i < g->now.n; i++) {
		const struct tg_gpu_device *d = &g->now.device[i];

		if (!strcmp(g->told[i], d->uuid))
			continue;
		memcpy(g->told[i], d->uuid, sizeof(g->told[i]));
		tg_env_note(env, "%s is %s, %s", d->name, d->model, d->uuid);
	}
}

/* Parts of a device may be made anew: others then, and yet as many, of the same numbers. */
static bool are_same(const struct round *a, const struct round *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = !strcmp(a->device[i].uuid, b->device[i].uuid);
	return same;
}

static void take_round(struct gpu *g, struct tg_env *env, const struct tg_gpu_record *r)
{
	if (!are_same(&g->now, &g->next))
		g->visible_to = -1;
	g->now = g->next;
	g->next.n = 0;
	g->fresh = true;
	tg_helper_answered(&g->helper, env, r->cpu_ns);
	tell_devices(g, env);
}

/* Devices come in their order, and processes of those that have come. */
static bool in_turn(const struct gpu *g, const struct tg_gpu_record *r)
{
	return r->kind == TG_GPU_DEVICE    ? r->device == g->next.n
	       : r->kind == TG_GPU_PROCESS ? r->device < g->next.n
					   : true;
}

static void take(struct gpu *g, struct tg_env *env, const struct tg_gpu_record *r)
{
	if (r->kind == TG_GPU_DEVICE)
		take_device(g, r);
	else if (r->kind == TG_GPU_PROCESS)
		take_processes(g, env, r);
	else if (r->kind == TG_GPU_DONE)
		take_round(g, env, r);
	else /* there is nothing to be had */
		tg_helper_stop_for_good(&g->helper, env, r->text);
}

static void hear(struct gpu *g, struct tg_env *env)
{
	struct tg_gpu_record r;
	size_t n;

	while ((n = tg_helper_hear(&g->helper, env, &r, sizeof(r))) > 0)
		if (tg_gpu_record_valid(&r, n) && in_turn(g, &r))
			take(g, env, &r);
		else
			tg_helper_stop(&g->helper, env, TG_HELPER_NONSENSE);
}

/* ---- the job's devices ---- */

/*
 * Of the root's environment nothing is kept but what two variables make of the devices. It is that
 * with which the root was started. One in state D is not read: that could make us wait for it.
 */
static void look_at_root(struct gpu *g, struct tg_env *env)
{
	const struct tg_process *root = tg_tree_root(env->tree);
	const char *list, *order;
	ssize_t len;

	if (g->visible_to == env->root || (root && root->state == 'D'))
		return;
	g->visible_to = env->root;
	for (size_t i = 0; i < g->now.n; i++)
		g->visible[i] = TG_VISIBLE_UNKNOWN;
	if (!root)
		return;
	len = tg_env_read(env, "proc/%d/environ", env->root);
	if (len < 0)
		return;
	list = tg_visible_variable(env->text->data, (size_t)len, "CUDA_VISIBLE_DEVICES");
	order = tg_visible_variable(env->text->data, (size_t)len, "CUDA_DEVICE_ORDER");
	if (!list || strnlen(list, LIST_MAX) < LIST_MAX)
		tg_visible_devices(list, order, g->now.device, g->now.n, g->visible);
	if (len > 0)
		explicit_bzero(env->text->data, (size_t)len);
}

static void put_device(const struct gpu *g, size_t k, struct tg_out *out)
{
	const struct own *own = &g->now.own[k];
	size_t i = tg_out_instance(out, g->now.device[k].name);

	if (i == SIZE_MAX)
		return;
	for (size_t m = 0; m < TG_GPU_VALUES; m++)
		tg_out_put(out, i, m, g->now.device[k].value[m]);
	if (own->known) {
		tg_out_put(out, i, JOB_MEMORY, own->memory_bytes);
		tg_out_put(out, i, JOB_UTIL, own->util_pct);
	}
	if (own->n > 0 || g->visible[k] != TG_VISIBLE_UNKNOWN)
		tg_out_put(out, i, IN_JOB, own->n > 0 || g->visible[k] == TG_VISIBLE_YES);
}

/* ---- the source ---- */

static bool there(const struct tg_env *env, const char *path)
{
	struct stat st;

	return fstatat(env->root_fd, path, &st, 0) == 0;
}

static int open_gpu(struct tg_env *env, void **state, char *why, size_t why_size)
{
	static const char host_namespace[] = "pid:[4026531836]"; /* the same on every machine */
	struct gpu *g;
	char link[64];
	ssize_t n;

	if (!there(env, "dev/nvidiactl") && !there(env, "proc/driver/nvidia/version") &&
		!getenv("TACHOGRAPH_NVML")) {
		snprintf(why, why_size, "there is no NVIDIA driver");
		return -ENODEV;
	}
	g = tg_xcalloc(1, sizeof(*g));
	n = readlinkat(env->root_fd, "proc/self/ns/pid", link, sizeof(link));
	g->host_pids =
		n == (ssize_t)strlen(host_namespace) && !memcmp(link, host_namespace, (size_t)n);
	tg_helper_init(&g->helper, "gpu");
	g->visible_to = -1;
	*state = g;
	return 0;
}

static void read_gpu(void *state, struct tg_env *env, struct tg_out *out)
{
	struct gpu *g = state;

	if (tg_helper_runs(&g->helper, env, env->hooks->start_gpu))
		hear(g, env);
	if (tg_helper_is_free(&g->helper))
		tg_helper_ask(&g->helper, env, "?", 1, TG_GPU_RECORDS);
	if (g->helper.fd < 0) {
		g->now.n = g->next.n = 0;
		g->fresh = false;
		g->visible_to = -1;
	}
	if (!g->fresh)
		return;
	g->fresh = false;
	look_at_root(g, env);
	for (size_t k = 0; k < g->now.n; k++)
		put_device(g, k, out);
}

static void close_gpu(void *state)
{
	struct gpu *g = state;

	tg_helper_release(&g->helper);
	free(g);
}

const struct tg_source tg_source_gpu = {
	.name = "gpu",
	.by_hook = true,
	.help = "each NVIDIA GPU, and what the job uses of it",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 100 * TG_NS_PER_MS,
	.late_ns = TG_HELPER_LATE_NS,
	.instances = true,
	.edge = true,
	.open = open_gpu,
	.read = read_gpu,
	.close = close_gpu,
};
