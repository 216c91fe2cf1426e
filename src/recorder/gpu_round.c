/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/gpu_round.h"

#include "base/clock.h"
#include "base/metric.h"

#include "base/mem.h"

#define SLOW_NS     TG_NS_PER_S
#define UTIL_OLD_NS (2 * TG_NS_PER_S) /* what a process did before that says nothing of now */
#define SAMPLES_MAX 512
#define PCIES       2

struct used { /* how much a process computes, as last heard */
	unsigned pid;
	int32_t util_pct;
	unsigned long long stamp_us;
	int64_t heard_ns;
};

struct gpu {
	void *handle;
	struct tg_gpu_record record;
	bool divided, part;
	int64_t slow_ns; /* when slow values are due */
	int64_t pcie_ns[PCIES];
	unsigned long long stamp_us; /* of the newest sample of a process */
	struct used *used;
	size_t n_used, cap_used;
};

struct tg_gpus {
	const struct tg_nvml *nvml;
	struct gpu gpu[TG_GPU_DEVICES];
	size_t n;
	struct tg_nvml_process list[TG_GPU_PROCESSES_MAX];
	struct tg_nvml_process_sample sample[SAMPLES_MAX];
};

/* ---- the devices ---- */

static struct gpu *add(struct tg_gpus *g, void *handle, int parent)
{
	const struct tg_nvml *nvml = g->nvml;
	struct tg_gpu_device *d;
	struct gpu *gpu;

	if (g->n == TG_GPU_DEVICES)
		return NULL;
	gpu = &g->gpu[g->n];
	d = &gpu->record.of;
	gpu->handle = handle;
	gpu->part = parent >= 0;
	gpu->record.magic = TG_GPU_MAGIC;
	gpu->record.kind = TG_GPU_DEVICE;
	gpu->record.device = (uint16_t)g->n++;
	d->parent = parent;
	for (size_t i = 0; i < TG_GPU_VALUES; i++)
		d->value[i] = TG_MISSING;
	if (!nvml->uuid || nvml->uuid(handle, d->uuid, sizeof(d->uuid)) != TG_NVML_OK)
		d->uuid[0] = '\0';
	if (!nvml->name || nvml->name(handle, d->model, sizeof(d->model)) != TG_NVML_OK)
		d->model[0] = '\0';
	d->uuid[sizeof(d->uuid) - 1] = d->model[sizeof(d->model) - 1] = '\0';
	return gpu;
}

static void add_parts(struct tg_gpus *g, unsigned index, struct gpu *whole)
{
	const struct tg_nvml *nvml = g->nvml;
	unsigned now = 0, pending = 0, n = 0;

	if (!nvml->mig_mode || nvml->mig_mode(whole->handle, &now, &pending) != TG_NVML_OK || !now)
		return;
	whole->divided = true;
	if (!nvml->mig_count || !nvml->mig_handle ||
		nvml->mig_count(whole->handle, &n) != TG_NVML_OK)
		return;
	for (unsigned i = 0; i < TG_MIN(n, (unsigned)TG_GPU_DEVICES); i++) {
		void *handle;
		struct gpu *part;

		if (nvml->mig_handle(whole->handle, i, &handle) != TG_NVML_OK)
			continue; /* none of that number now */
		part = add(g, handle, whole->record.device);
		if (!part)
			return;
		part->record.of.bus = whole->record.of.bus;
		snprintf(part->record.of.name, sizeof(part->record.of.name), "GPU%u-MIG%u",
			index % 1000, i);
	}
}

static void add_whole(struct tg_gpus *g, unsigned index, void *handle)
{
	struct tg_nvml_pci pci = { 0 };
	struct gpu *gpu = add(g, handle, -1);

	if (!gpu)
		return;
	snprintf(gpu->record.of.name, sizeof(gpu->record.of.name), "GPU%u", index % 1000);
	if (g->nvml->pci && g->nvml->pci(handle, &pci) == TG_NVML_OK)
		gpu->record.of.bus = (uint64_t)pci.domain << 32 |
				     (uint64_t)(pci.bus & 0xffff) << 16 | (pci.device & 0xffff);
	add_parts(g, index, gpu);
}

struct tg_gpus *tg_gpus_find(const struct tg_nvml *nvml, char *why, size_t size)
{
	struct tg_gpus *g = tg_xcalloc(1, sizeof(*g));
	unsigned n = 0, denied = 0;

	g->nvml = nvml;
	if (nvml->count(&n) != TG_NVML_OK)
		n = 0;
	for (unsigned i = 0; i < TG_MIN(n, (unsigned)TG_GPU_DEVICES); i++) {
		void *handle;
		int code = nvml->handle(i, &handle);

		if (code == TG_NVML_OK)
			add_whole(g, i, handle);
		denied += code == TG_NVML_NO_PERMISSION;
	}
	if (g->n)
		return g;
	if (denied)
		snprintf(why, size, "the driver denies access to its %u GPUs", denied);
	else
		snprintf(why, size, "the driver knows of no GPU here");
	tg_gpus_free(g);
	return NULL;
}

void tg_gpus_free(struct tg_gpus *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->gpu[i].used);
	free(g);
}

/* ---- values ---- */

static int64_t known(int code, unsigned long long value)
{
	return code == TG_NVML_OK && value <= INT64_MAX ? (int64_t)value : TG_MISSING;
}

/* The same of an answer that is written as `code` is made. */
static int64_t answer(int code, const unsigned *value)
{
	return known(code, *value);
}

static void ask_memory(const struct tg_nvml *nvml, struct gpu *gpu)
{
	struct tg_nvml_memory_v2 v2 = { .version = TG_NVML_MEMORY_V2 };
	struct tg_nvml_memory v1 = { 0 };
	int64_t *value = gpu->record.of.value;
	int code = TG_NVML_NOT_SUPPORTED;

	if (nvml->memory_v2 && nvml->memory_v2(gpu->handle, &v2) == TG_NVML_OK) {
		value[TG_GPU_MEMORY_USED] = known(TG_NVML_OK, v2.used);
		value[TG_GPU_MEMORY_TOTAL] = known(TG_NVML_OK, v2.total);
		return;
	}
	if (nvml->memory)
		code = nvml->memory(gpu->handle, &v1);
	value[TG_GPU_MEMORY_USED] = known(code, v1.used);
	value[TG_GPU_MEMORY_TOTAL] = known(code, v1.total);
}

static void ask_fast(const struct tg_nvml *nvml, struct gpu *gpu)
{
	struct tg_nvml_utilization u = { 0 };
	unsigned long long mj = 0;
	unsigned mw = 0;
	int64_t *value = gpu->record.of.value;
	int code = TG_NVML_NOT_SUPPORTED;

	ask_memory(nvml, gpu);
	/* of a divided device there is no such figure, whatever a driver answers; of a part neither
	 */
	if (nvml->utilization && !gpu->divided && !gpu->part)
		code = nvml->utilization(gpu->handle, &u);
	value[TG_GPU_UTIL_PCT] = known(code, u.gpu);
	value[TG_GPU_MEMORY_BUSY_PCT] = known(code, u.memory);
	if (gpu->part)
		return;
	if (nvml->power)
		value[TG_GPU_POWER_MW] = answer(nvml->power(gpu->handle, &mw), &mw);
	if (!nvml->energy)
		return;
	code = nvml->energy(gpu->handle, &mj);
	value[TG_GPU_ENERGY_MJ] = known(code, mj);
}

static void ask_slow(const struct tg_nvml *nvml, struct gpu *gpu)
{
	unsigned long long mask = 0;
	unsigned celsius = 0, sm = 0, memory = 0;
	int64_t *value = gpu->record.of.value;
	int code;

	if (nvml->temperature)
		value[TG_GPU_TEMPERATURE_C] =
			answer(nvml->temperature(gpu->handle, TG_NVML_TEMPERATURE_GPU, &celsius),
				&celsius);
	if (nvml->clock) {
		value[TG_GPU_SM_MHZ] = answer(nvml->clock(gpu->handle, TG_NVML_CLOCK_SM, &sm), &sm);
		value[TG_GPU_MEMORY_MHZ] =
			answer(nvml->clock(gpu->handle, TG_NVML_CLOCK_MEMORY, &memory), &memory);
	}
	if (!nvml->throttle)
		return;
	code = nvml->throttle(gpu->handle, &mask);
	value[TG_GPU_THROTTLE_MASK] = known(code, mask);
}

/* The device and direction that was not asked for longest, if that is a second. */
static struct gpu *next_pcie(struct tg_gpus *g, int64_t now, size_t *which)
{
	struct gpu *oldest = NULL;

	for (size_t i = 0; i < g->n * PCIES; i++) {
		struct gpu *gpu = &g->gpu[i / PCIES];
		int64_t asked = gpu->pcie_ns[i % PCIES];

		if (gpu->part || asked > now - SLOW_NS ||
			(oldest && asked >= oldest->pcie_ns[*which]))
			continue;
		oldest = gpu;
		*which = i % PCIES;
	}
	return oldest;
}

/* Each takes some 20 ms: one a round, but all at first, so that the columns begin together. */
static void ask_pcie(struct tg_gpus *g, int64_t now)
{
	static const int direction[PCIES] = { TG_NVML_PCIE_RX, TG_NVML_PCIE_TX };
	bool first = true;
	size_t k = 0;

	while (g->nvml->pcie && first) {
		struct gpu *gpu = next_pcie(g, now, &k);
		unsigned kb = 0;
		int code;

		if (!gpu)
			return;
		first = !gpu->pcie_ns[k];
		code = g->nvml->pcie(gpu->handle, direction[k], &kb);
		gpu->pcie_ns[k] = now;
		gpu->record.of.value[TG_GPU_PCIE_RX + k] = known(code, kb * 1000ull);
	}
}

/* ---- processes ---- */

/* The newest sample of each process. Nothing found means nothing new, and not zeros. */
static void ask_samples(struct tg_gpus *g, struct gpu *gpu, int64_t now)
{
	unsigned n = SAMPLES_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < gpu->n_used; i++)
		if (gpu->used[i].heard_ns > now - UTIL_OLD_NS)
			gpu->used[kept++] = gpu->used[i];
	gpu->n_used = kept;
	if (!g->nvml->process_samples || gpu->part || gpu->divided ||
		g->nvml->process_samples(gpu->handle, g->sample, &n, gpu->stamp_us) != TG_NVML_OK)
		return;
	for (unsigned i = 0; i < TG_MIN(n, SAMPLES_MAX); i++) {
		const struct tg_nvml_process_sample *s = &g->sample[i];
		size_t k = 0;

		while (k < gpu->n_used && gpu->used[k].pid != s->pid)
			k++;
		if (k == SAMPLES_MAX || (k < gpu->n_used && s->stamp_us < gpu->used[k].stamp_us))
			continue;
		TG_GROW(gpu->used, k + 1, gpu->cap_used);
		gpu->n_used = TG_MAX(gpu->n_used, k + 1);
		gpu->used[k] =
			(struct used){ s->pid, (int32_t)TG_MIN(s->sm, 100u), s->stamp_us, now };
		gpu->stamp_us = TG_MAX(gpu->stamp_us, s->stamp_us);
	}
}

/* A process that was not heard of lately: it does nothing where the whole device does nothing. */
static int32_t util_of(const struct gpu *gpu, unsigned pid)
{
	for (size_t i = 0; i < gpu->n_used; i++)
		if (gpu->used[i].pid == pid)
			return gpu->used[i].util_pct;
	return gpu->record.of.value[TG_GPU_UTIL_PCT] == 0 ? 0 : -1;
}

/* The processes into g->list: how many, or -1 when it is not known which they all are. */
static int ask_processes(struct tg_gpus *g, const struct gpu *gpu)
{
	struct tg_nvml_process_v1 *v1 = (void *)g->list, old;
	unsigned n = TG_GPU_PROCESSES_MAX;

	if (gpu->divided)
		return -1; /* they are told of its parts */
	if (g->nvml->processes)
		return g->nvml->processes(gpu->handle, &n, g->list) == TG_NVML_OK &&
				       n <= TG_GPU_PROCESSES_MAX
			       ? (int)n
			       : -1;
	if (!g->nvml->processes_v1 || g->nvml->processes_v1(gpu->handle, &n, v1) != TG_NVML_OK ||
		n > TG_GPU_PROCESSES_MAX)
		return -1;
	for (unsigned i = n; i-- > 0;) { /* from behind: the new ones are longer */
		memcpy(&old, (const char *)g->list + i * sizeof(old), sizeof(old));
		g->list[i] = (struct tg_nvml_process){ .pid = old.pid, .memory = old.memory };
	}
	return (int)n;
}

static int tell_processes(struct tg_gpus *g, const struct gpu *gpu, int n,
	int (*send)(void *ctx, const struct tg_gpu_record *record), void *ctx)
{
	struct tg_gpu_record r = {
		.magic = TG_GPU_MAGIC, .kind = TG_GPU_PROCESS, .device = gpu->record.device
	};
	int rc = 0;

	for (int i = 0; i < n && rc == 0; i++) {
		const struct tg_nvml_process *p = &g->list[i];

		r.process.at[r.process.n++] = (struct tg_gpu_process){
			.pid = (int32_t)TG_MIN(p->pid, (unsigned)INT32_MAX),
			.util_pct = gpu->part ? -1 : util_of(gpu, p->pid),
			.memory_bytes = known(TG_NVML_OK, p->memory),
		};
		if (i + 1 < n && r.process.n < TG_GPU_PROCESSES)
			continue;
		rc = send(ctx, &r);
		r.process.n = 0;
	}
	return rc;
}

int tg_gpus_round(struct tg_gpus *g, int64_t now_ns,
	int (*send)(void *ctx, const struct tg_gpu_record *record), void *ctx)
{
	int rc = 0;

	ask_pcie(g, now_ns);
	for (size_t i = 0; i < g->n && rc == 0; i++) {
		struct gpu *gpu = &g->gpu[i];
		bool slow = now_ns >= gpu->slow_ns;
		int n;

		ask_fast(g->nvml, gpu);
		if (slow && !gpu->part)
			ask_slow(g->nvml, gpu);
		if (slow) {
			ask_samples(g, gpu, now_ns);
			gpu->slow_ns = now_ns + SLOW_NS;
		}
		n = ask_processes(g, gpu);
		gpu->record.of.processes_known = n >= 0;
		rc = send(ctx, &gpu->record);
		if (rc == 0)
			rc = tell_processes(g, gpu, n, send, ctx);
	}
	return rc;
}
