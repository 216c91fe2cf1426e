/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver's library for tests: two GPUs, numbered against the order of their PCI addresses. It
 * is built three times, with STUB_PROCESSES 1, 2 and 3, for the three ages of the call that lists
 * processes. NVML_STUB has words that change what it does, NVML_STUB_FILE a file that it makes.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/nvml.h"

#define GIB (1ull << 30)

static struct stub_gpu {
	const char *uuid, *name;
	unsigned bus, util;
	unsigned long long used;
} gpus[] = {
	{ "GPU-bbbb0000-1111-2222-3333-444444444444", "Stub 80", 0x81, 73, 10 * GIB },
	{ "GPU-aaaa0000-1111-2222-3333-444444444444", "Stub 80", 0x03, 0, GIB },
	/* parts of the first */
	{ "MIG-cccc0000-1111-2222-3333-444444444444", "Stub 80 MIG 1g", 0, 0, 2 * GIB },
	{ "MIG-dddd0000-1111-2222-3333-444444444444", "Stub 80 MIG 2g", 0, 0, 3 * GIB },
};

static bool word(const char *w)
{
	const char *words = getenv("NVML_STUB");

	return words && strstr(words, w);
}

static bool make_file(void)
{
	int fd = open(getenv("NVML_STUB_FILE"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0) {
		dprintf(fd, "%d\n", (int)getpid());
		close(fd);
	}
	return fd >= 0;
}

int nvmlInit_v2(void);
int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device);
int nvmlDeviceGetName(void *device, char *text, unsigned size);
int nvmlDeviceGetUUID(void *device, char *text, unsigned size);
int nvmlDeviceGetPciInfo_v3(void *device, struct tg_nvml_pci *pci);
int nvmlDeviceGetUtilizationRates(void *device, struct tg_nvml_utilization *u);
int nvmlDeviceGetMemoryInfo(void *device, struct tg_nvml_memory *m);
int nvmlDeviceGetMemoryInfo_v2(void *device, struct tg_nvml_memory_v2 *m);
int nvmlDeviceGetPowerUsage(void *device, unsigned *mw);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *mask);
int nvmlDeviceGetPcieThroughput(void *device, int which, unsigned *kb);
int nvmlDeviceGetComputeRunningProcesses(void *d, unsigned *n, struct tg_nvml_process_v1 *p);
int nvmlDeviceGetComputeRunningProcesses_v2(void *d, unsigned *n, struct tg_nvml_process *p);
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, struct tg_nvml_process *p);
int nvmlDeviceGetProcessUtilization(
	void *device, struct tg_nvml_process_sample *s, unsigned *n, unsigned long long after_us);
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending);
int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *n);
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned i, void **part);

int nvmlInit_v2(void)
{
	if (word("file"))
		make_file();
	return word("no driver") ? TG_NVML_NO_DRIVER : TG_NVML_OK;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
	*n = 2;
	return TG_NVML_OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device)
{
	*device = &gpus[i];
	return word("denied") ? TG_NVML_NO_PERMISSION : TG_NVML_OK;
}

int nvmlDeviceGetName(void *device, char *text, unsigned size)
{
	const struct stub_gpu *g = device;

	snprintf(text, size, "%s%s", g->name, word("mixed") && g == &gpus[1] ? " Ti" : "");
	return TG_NVML_OK;
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned size)
{
	snprintf(text, size, "%s", ((const struct stub_gpu *)device)->uuid);
	return TG_NVML_OK;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct tg_nvml_pci *pci)
{
	pci->bus = ((const struct stub_gpu *)device)->bus;
	return TG_NVML_OK;
}

int nvmlDeviceGetUtilizationRates(void *device, struct tg_nvml_utilization *u)
{
	static int calls;
	const struct stub_gpu *g = device;

	if (++calls > 4 && word("hang") && make_file())
		for (;;)
			pause();
	if (calls > 4 && word("crash") && make_file())
		raise(SIGSEGV);
	if (word("mig") && g == &gpus[0])
		g = &gpus[1]; /* a driver that says 0 where there is nothing to say */
	*u = (struct tg_nvml_utilization){ .gpu = g->util, .memory = g->util / 2 };
	return TG_NVML_OK;
}

int nvmlDeviceGetMemoryInfo(void *device, struct tg_nvml_memory *m)
{
	const struct stub_gpu *g = device;

	*m = (struct tg_nvml_memory){ .total = 80 * GIB, .used = g->used };
	return TG_NVML_OK;
}

#if STUB_PROCESSES == 3
int nvmlDeviceGetMemoryInfo_v2(void *device, struct tg_nvml_memory_v2 *m)
{
	const struct stub_gpu *g = device;

	if (m->version != 0x02000028)
		return TG_NVML_NOT_SUPPORTED;
	m->total = 80 * GIB;
	m->used = g->used;
	return TG_NVML_OK;
}
#endif

int nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
	*mw = device == &gpus[0] ? 250500 : 40000;
	return TG_NVML_OK;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
	*mj = 5000000000ull;
	return device == &gpus[0] ? TG_NVML_OK : TG_NVML_NOT_SUPPORTED;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
	(void)device;
	*celsius = 61;
	return sensor ? TG_NVML_NOT_SUPPORTED : TG_NVML_OK;
}

int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz)
{
	(void)device;
	*mhz = which == TG_NVML_CLOCK_SM ? 1980 : 2619;
	return TG_NVML_OK;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *mask)
{
	(void)device;
	*mask = 4;
	return TG_NVML_OK;
}

int nvmlDeviceGetPcieThroughput(void *device, int which, unsigned *kb)
{
	(void)device;
	*kb = which == TG_NVML_PCIE_TX ? 2000 : 1000;
	return TG_NVML_OK;
}

/* On the first GPU: 500 is the tests' root; 12 another's, whatever its number is elsewhere. */
static const struct tg_nvml_process running[] = {
	{ .pid = 500, .memory = 3 * GIB },
	{ .pid = 12, .memory = 5 * GIB },
};

static bool busy(void *device)
{
	return device == (word("mig") ? &gpus[2] : &gpus[0]);
}

#if STUB_PROCESSES == 1
int nvmlDeviceGetComputeRunningProcesses(void *d, unsigned *n, struct tg_nvml_process_v1 *p)
{
	*n = busy(d) ? 2 : 0;
	for (unsigned i = 0; i < *n; i++)
		p[i] = (struct tg_nvml_process_v1){ running[i].pid, running[i].memory };
	return TG_NVML_OK;
}
#else
static int list(void *device, unsigned *n, struct tg_nvml_process *p)
{
	*n = busy(device) ? 2 : 0;
	memcpy(p, running, *n * sizeof(*p));
	if (word("no memory"))
		p[0].memory = TG_NVML_NOT_AVAILABLE;
	return TG_NVML_OK;
}
#endif

#if STUB_PROCESSES == 2
int nvmlDeviceGetComputeRunningProcesses_v2(void *d, unsigned *n, struct tg_nvml_process *p)
{
	return list(d, n, p);
}
#elif STUB_PROCESSES == 3
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, struct tg_nvml_process *p)
{
	return list(d, n, p);
}
#endif

int nvmlDeviceGetProcessUtilization(
	void *device, struct tg_nvml_process_sample *s, unsigned *n, unsigned long long after_us)
{
	if (device != &gpus[0] || after_us >= 2000)
		return TG_NVML_NOT_FOUND;
	*n = 3;
	s[0] = (struct tg_nvml_process_sample){ .pid = 500, .stamp_us = 2000, .sm = 60 };
	s[1] = (struct tg_nvml_process_sample){ .pid = 500, .stamp_us = 1000, .sm = 10 };
	s[2] = (struct tg_nvml_process_sample){ .pid = 12, .stamp_us = 1500, .sm = 13 };
	return TG_NVML_OK;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending)
{
	*now = *pending = word("mig") && device == &gpus[0];
	return device == &gpus[0] ? TG_NVML_OK : TG_NVML_NOT_SUPPORTED;
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *n)
{
	(void)device;
	*n = 7;
	return TG_NVML_OK;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned i, void **part)
{
	(void)device;
	if (i != 1 && i != 4)
		return TG_NVML_NOT_FOUND;
	*part = &gpus[i == 1 ? 2 : 3];
	return TG_NVML_OK;
}
