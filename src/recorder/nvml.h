/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of NVIDIA's management library that we use, in our own words: the library is found by
 * name at run time (gpu_helper.c) and never linked. Functions that a driver lacks are NULL. All
 * return 0 or one of enum tg_nvml_code. Called in the helper process only: each may block for long
 * or crash.
 */
#ifndef TG_RECORDER_NVML_H
#define TG_RECORDER_NVML_H

enum tg_nvml_code {
	TG_NVML_OK = 0,
	TG_NVML_NOT_SUPPORTED = 3,
	TG_NVML_NO_PERMISSION = 4,
	TG_NVML_NOT_FOUND = 6,
	TG_NVML_NO_DRIVER = 9,
	TG_NVML_MISMATCH = 18, /* library and kernel module are of different versions */
};

enum tg_nvml_number { TG_NVML_TEMPERATURE_GPU = 0, TG_NVML_CLOCK_SM = 1, TG_NVML_CLOCK_MEMORY = 2 };
enum tg_nvml_pcie { TG_NVML_PCIE_TX = 0, TG_NVML_PCIE_RX = 1 };

struct tg_nvml_pci {
	char bus_legacy[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};

struct tg_nvml_utilization {
	unsigned gpu, memory; /* per cent */
};

struct tg_nvml_memory {
	unsigned long long total, free, used; /* bytes; what the driver keeps is used, too */
};

#define TG_NVML_MEMORY_V2 ((unsigned)sizeof(struct tg_nvml_memory_v2) | 2u << 24)
struct tg_nvml_memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

#define TG_NVML_NOT_AVAILABLE (~0ull)
struct tg_nvml_process_v1 {
	unsigned pid;
	unsigned long long memory; /* bytes or TG_NVML_NOT_AVAILABLE */
};

struct tg_nvml_process { /* of _v2 and _v3 */
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
};

struct tg_nvml_process_sample {
	unsigned pid;
	unsigned long long stamp_us;
	unsigned sm, memory, encoder, decoder; /* per cent */
};

struct tg_nvml {
	int (*init)(void);
	int (*count)(unsigned *n);
	int (*handle)(unsigned i, void **device);
	int (*name)(void *device, char *text, unsigned size);
	int (*uuid)(void *device, char *text, unsigned size);
	int (*pci)(void *device, struct tg_nvml_pci *pci);
	int (*utilization)(void *device, struct tg_nvml_utilization *u);
	int (*memory)(void *device, struct tg_nvml_memory *m);
	int (*memory_v2)(void *device, struct tg_nvml_memory_v2 *m);
	int (*power)(void *device, unsigned *mw);
	int (*energy)(void *device, unsigned long long *mj);
	int (*temperature)(void *device, int sensor, unsigned *celsius);
	int (*clock)(void *device, int which, unsigned *mhz);
	int (*throttle)(void *device, unsigned long long *mask);
	int (*pcie)(void *device, int which, unsigned *kb_per_s); /* blocks for some 20 ms */
	int (*processes)(void *device, unsigned *n, struct tg_nvml_process *list);
	int (*processes_v1)(void *device, unsigned *n, struct tg_nvml_process_v1 *list);
	int (*process_samples)(void *device, struct tg_nvml_process_sample *list, unsigned *n,
		unsigned long long after_us);
	int (*mig_mode)(void *device, unsigned *now, unsigned *pending);
	int (*mig_count)(void *device, unsigned *n);
	int (*mig_handle)(void *device, unsigned i, void **part);
};

#endif
