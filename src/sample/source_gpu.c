/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVIDIA's GPUs, as the GPU helper tells of them (gpu_wire.h): its driver may hang or crash, so it
 * is never called here. Each reading takes the answer to the one before and asks anew: values are
 * as old as one interval. A helper that is silent for some seconds or dies is replaced twice.
 *
 * What is the job's is known by the process ids that the driver gives, which are those of the
 * machine: in a PID namespace of its own nothing is matched, or it could be another's.
 */
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample/gpu_wire.h"
#include "sample/sampler.h"
#include "sample/source.h"
#include "sample/tree.h"
#include "sample/visible.h"

#include "base/clock.h"
#include "base/mem.h"

#define SILENT_NS   (5 * TG_NS_PER_S)
#define FIRST_NS    (30 * TG_NS_PER_S) /* a driver that was not in use takes long to wake up */
#define RETRY_NS    (5 * TG_NS_PER_S)
#define STARTS      3
#define RECORDS_MAX 1024 /* taken in one reading */
#define LIST_MAX    4096 /* of CUDA_VISIBLE_DEVICES */

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

struct gpu {
	int fd; /* the helper's socket; -1: none */
	unsigned starts;
	int64_t retry_ns; /* when the next may be started */
	int64_t asked_ns; /* the question that is not answered yet; 0: none */
	bool answered; /* this helper, once */
	int64_t cpu_ns; /* of this helper, as heard */
	bool host_pids; /* we are in the machine's own PID namespace */
	size_t n; /* devices; 0: nothing is known */
	size_t n_new; /* in the round that comes in */
	struct tg_gpu_device device[TG_GPU_DEVICES];
	struct own own[TG_GPU_DEVICES], own_new[TG_GPU_DEVICES];
	enum tg_visible visible[TG_GPU_DEVICES];
	pid_t visible_to; /* the root that they are; -1: look anew */
	char told[TG_GPU_DEVICES][96]; /* UUIDs that were noted */
};

/* ---- the helper ---- */

static void start(struct gpu *g, const struct tg_env *env)
{
	if (!env->hooks->start_gpu || g->starts >= STARTS || tg_mono_ns() < g->retry_ns)
		return;
	g->starts++;
	g->retry_ns = tg_mono_ns() + RETRY_NS;
	g->answered = false;
	g->asked_ns = g->cpu_ns = 0;
	g->n_new = 0;
	g->fd = env->hooks->start_gpu(env->hooks->ctx);
	if (g->fd < 0)
		tg_env_note(env, "GPU values are missing: the helper cannot be started: %s",
			strerror(-g->fd));
}

/* Closing the socket ends the helper; values are missing from now on. */
static void stop(struct gpu *g, const struct tg_env *env, const char *why)
{
	close(g->fd);
	g->fd = -1;
	g->n = 0;
	g->visible_to = -1;
	tg_env_note(env, "GPU values are missing: %s%s", why,
		g->starts < STARTS ? "; another try follows" : "");
}

static void ask(struct gpu *g, const struct tg_env *env)
{
	int64_t now = tg_mono_ns();

	if (g->asked_ns && now - g->asked_ns > (g->answered ? SILENT_NS : FIRST_NS)) {
		g->retry_ns = now + RETRY_NS;
		stop(g, env, "the driver does not answer");
	} else if (!g->asked_ns && send(g->fd, "?", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) {
		g->asked_ns = now;
	}
}

/* ---- what it says ---- */

static void take_device(struct gpu *g, const struct tg_gpu_record *r)
{
	g->device[r->device] = r->of;
	g->own_new[r->device] = (struct own){ .known = r->of.processes_known && g->host_pids };
	g->n_new++;
}

static void add(int64_t *sum, int64_t value)
{
	if (value == TG_MISSING || *sum == TG_MISSING || __builtin_add_overflow(*sum, value, sum))
		*sum = TG_MISSING;
}

static void take_processes(struct gpu *g, const struct tg_env *env, const struct tg_gpu_record *r)
{
	struct own *own = &g->own_new[r->device];

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
	for (size_t i = 0; i < g->n; i++) {
		const struct tg_gpu_device *d = &g->device[i];

		if (!strcmp(g->told[i], d->uuid))
			continue;
		memcpy(g->told[i], d->uuid, sizeof(g->told[i]));
		tg_env_note(env, "%s is %s, %s", d->name, d->model, d->uuid);
	}
}

static void take_round(struct gpu *g, struct tg_env *env, const struct tg_gpu_record *r)
{
	if (g->n != g->n_new)
		g->visible_to = -1;
	g->n = g->n_new;
	g->n_new = 0;
	memcpy(g->own, g->own_new, sizeof(g->own));
	g->asked_ns = 0;
	g->answered = true;
	tg_env_helper_cpu(env, &g->cpu_ns, r->cpu_ns);
	tell_devices(g, env);
}

/* Devices come in their order, and processes of those that have come. */
static bool in_turn(const struct gpu *g, const struct tg_gpu_record *r)
{
	return r->kind == TG_GPU_DEVICE    ? r->device == g->n_new
	       : r->kind == TG_GPU_PROCESS ? r->device < g->n_new
					   : true;
}

static void hear(struct gpu *g, struct tg_env *env)
{
	struct tg_gpu_record r;

	for (size_t i = 0; i < RECORDS_MAX && g->fd >= 0; i++) {
		ssize_t n = recv(g->fd, &r, sizeof(r), MSG_DONTWAIT | MSG_TRUNC);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			stop(g, env, "the process that asks the driver has died");
		else if (!tg_gpu_record_valid(&r, (size_t)n) || !in_turn(g, &r))
			stop(g, env, "the process that asks the driver talks nonsense");
		else if (r.kind == TG_GPU_DEVICE)
			take_device(g, &r);
		else if (r.kind == TG_GPU_PROCESS)
			take_processes(g, env, &r);
		else if (r.kind == TG_GPU_DONE)
			take_round(g, env, &r);
		else {
			g->starts = STARTS; /* there is nothing to be had */
			stop(g, env, r.text);
		}
	}
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

	if (!g->n || g->visible_to == env->root || (root && root->state == 'D'))
		return;
	g->visible_to = env->root;
	for (size_t i = 0; i < g->n; i++)
		g->visible[i] = TG_VISIBLE_UNKNOWN;
	if (!root)
		return;
	len = tg_env_read(env, "proc/%d/environ", env->root);
	if (len < 0)
		return;
	list = tg_visible_variable(env->text->data, (size_t)len, "CUDA_VISIBLE_DEVICES");
	order = tg_visible_variable(env->text->data, (size_t)len, "CUDA_DEVICE_ORDER");
	if (!list || strnlen(list, LIST_MAX) < LIST_MAX)
		tg_visible_devices(list, order, g->device, g->n, g->visible);
	if (len > 0)
		explicit_bzero(env->text->data, (size_t)len);
}

static void put_device(const struct gpu *g, size_t k, struct tg_out *out)
{
	const struct own *own = &g->own[k];
	size_t i = tg_out_instance(out, g->device[k].name);

	if (i == SIZE_MAX)
		return;
	for (size_t m = 0; m < TG_GPU_VALUES; m++)
		tg_out_put(out, i, m, g->device[k].value[m]);
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
	g->fd = -1;
	g->visible_to = -1;
	*state = g;
	return 0;
}

static void read_gpu(void *state, struct tg_env *env, struct tg_out *out)
{
	struct gpu *g = state;

	if (g->fd < 0)
		start(g, env);
	if (g->fd >= 0)
		hear(g, env);
	if (g->fd >= 0)
		ask(g, env);
	look_at_root(g, env);
	for (size_t k = 0; k < g->n; k++)
		put_device(g, k, out);
}

static void close_gpu(void *state)
{
	struct gpu *g = state;

	if (g->fd >= 0)
		close(g->fd);
	free(g);
}

const struct tg_source tg_source_gpu = {
	.name = "gpu",
	.help = "each NVIDIA GPU, and what the job uses of it",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 100 * TG_NS_PER_MS,
	.instances = true,
	.edge = true,
	.open = open_gpu,
	.read = read_gpu,
	.close = close_gpu,
};
