/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/gpu_helper.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "mark/start.h"
#include "recorder/gpu_round.h"
#include "sample/apart.h"

#include "base/mem.h"

#define PERIOD_NS (100 * TG_NS_PER_MS) /* the driver's own figures are not newer than that */
#define SHARE     5 /* a round may take that part of the time */

/* Where each function goes. The first name that a library has is taken. */
static const struct {
	size_t at;
	const char *name[3];
} functions[] = {
#define AT(member) offsetof(struct tg_nvml, member)
	{ AT(init), { "nvmlInit_v2" } },
	{ AT(count), { "nvmlDeviceGetCount_v2" } },
	{ AT(handle), { "nvmlDeviceGetHandleByIndex_v2" } },
	{ AT(name), { "nvmlDeviceGetName" } },
	{ AT(uuid), { "nvmlDeviceGetUUID" } },
	{ AT(pci), { "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2" } },
	{ AT(utilization), { "nvmlDeviceGetUtilizationRates" } },
	{ AT(memory), { "nvmlDeviceGetMemoryInfo" } },
	{ AT(memory_v2), { "nvmlDeviceGetMemoryInfo_v2" } },
	{ AT(power), { "nvmlDeviceGetPowerUsage" } },
	{ AT(energy), { "nvmlDeviceGetTotalEnergyConsumption" } },
	{ AT(temperature), { "nvmlDeviceGetTemperature" } },
	{ AT(clock), { "nvmlDeviceGetClockInfo" } },
	{ AT(throttle), { "nvmlDeviceGetCurrentClocksEventReasons",
				"nvmlDeviceGetCurrentClocksThrottleReasons" } },
	{ AT(pcie), { "nvmlDeviceGetPcieThroughput" } },
	{ AT(processes), { "nvmlDeviceGetComputeRunningProcesses_v3",
				 "nvmlDeviceGetComputeRunningProcesses_v2" } },
	{ AT(processes_v1), { "nvmlDeviceGetComputeRunningProcesses" } },
	{ AT(process_samples), { "nvmlDeviceGetProcessUtilization" } },
	{ AT(mig_mode), { "nvmlDeviceGetMigMode" } },
	{ AT(mig_count), { "nvmlDeviceGetMaxMigDeviceCount" } },
	{ AT(mig_handle), { "nvmlDeviceGetMigDeviceHandleByIndex" } },
#undef AT
};

int tg_gpu_helper_start(const char *exe, bool files)
{
	const char *const argv[] = { "tachograph", "gpu-helper", files ? "files" : NULL, NULL };
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	rc = tg_mark_spawn(exe, (char *const *)(uintptr_t)argv, pair[1]);
	close(pair[1]);
	if (rc == 0 && fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0)
		rc = -errno;
	if (rc < 0)
		close(pair[0]);
	return rc < 0 ? rc : pair[0];
}

static int load(struct tg_nvml *nvml, char *why, size_t size)
{
	const char *told = getenv("TACHOGRAPH_NVML");
	void *library = dlopen(told ? told : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		snprintf(why, size, "the driver's library cannot be loaded: %.100s", dlerror());
		return -ENOENT;
	}
	for (size_t i = 0; i < TG_ARRAY_SIZE(functions); i++)
		for (size_t k = 0; k < 3 && functions[i].name[k]; k++) {
			void *f = dlsym(library, functions[i].name[k]);

			if (!f)
				continue;
			memcpy((char *)nvml + functions[i].at, &f, sizeof(f));
			break;
		}
	if (nvml->init && nvml->count && nvml->handle)
		return 0;
	snprintf(why, size, "the driver's library lacks what is needed");
	return -ENOSYS;
}

static int begin(const struct tg_nvml *nvml, char *why, size_t size)
{
	int code = nvml->init();

	if (code == TG_NVML_NO_DRIVER)
		snprintf(why, size, "the NVIDIA driver is not loaded");
	else if (code == TG_NVML_NO_PERMISSION)
		snprintf(why, size, "the NVIDIA driver denies access");
	else if (code == TG_NVML_MISMATCH)
		snprintf(why, size, "the NVIDIA driver and its library are of different versions");
	else if (code != TG_NVML_OK)
		snprintf(why, size, "the NVIDIA driver cannot be asked (NVML says %d)", code);
	return code == TG_NVML_OK ? 0 : -EIO;
}

static int send_record(void *ctx, const struct tg_gpu_record *record)
{
	const int *fd = ctx;

	return send(*fd, record, sizeof(*record), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int send_done(int fd)
{
	struct tg_gpu_record done = { .magic = TG_GPU_MAGIC, .kind = TG_GPU_DONE };
	struct timespec t;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0)
		done.cpu_ns = t.tv_sec * TG_NS_PER_S + t.tv_nsec;
	return send_record(&fd, &done);
}

static void wait_until(int64_t moment)
{
	struct timespec t = { .tv_sec = moment / TG_NS_PER_S, .tv_nsec = moment % TG_NS_PER_S };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* The thread that calls the driver. It ends the process: exit handlers of a library could hang. */
static void *serve(void *ctx)
{
	const int fd = *(const int *)ctx;
	struct tg_gpu_record end = { .magic = TG_GPU_MAGIC, .kind = TG_GPU_END };
	struct tg_nvml nvml = { 0 };
	struct tg_gpus *gpus = NULL;
	int64_t next = 0;
	char question;

	if (load(&nvml, end.text, sizeof(end.text)) == 0 &&
		begin(&nvml, end.text, sizeof(end.text)) == 0)
		gpus = tg_gpus_find(&nvml, end.text, sizeof(end.text));
	/* as the answer to a question: one left unread would break the connection before it */
	if (!gpus && recv(fd, &question, 1, 0) > 0)
		send_record((void *)(uintptr_t)&fd, &end);
	while (gpus && recv(fd, &question, 1, 0) > 0) {
		int64_t began;

		wait_until(next);
		began = tg_mono_ns();
		if (tg_gpus_round(gpus, began, send_record, (void *)(uintptr_t)&fd) < 0 ||
			send_done(fd) < 0)
			break;
		next = began + TG_MAX(PERIOD_NS, SHARE * (tg_mono_ns() - began));
	}
	_exit(0);
}

static void *serve_files(void *ctx)
{
	int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root_fd >= 0)
		tg_apart_serve(*(const int *)ctx, root_fd);
	_exit(0);
}

int tg_gpu_helper_run(int fd, bool files)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };
	pthread_t thread;
	int rc;

	prctl(PR_SET_NAME, "tacho-gpu");
	rc = pthread_create(&thread, NULL, files ? serve_files : serve, &fd);
	if (rc)
		return -rc;
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	_exit(0); /* the recorder is gone, or has no more use for us */
}
