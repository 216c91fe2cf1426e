/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What NVIDIA's GPU helper and source_gpu.c say to each other over a socketpair of sequenced
 * packets. The source sends one byte: a question. The helper answers each with a round: of every
 * device a record with its values, then the processes on it, and at last TG_GPU_DONE; or it says in
 * a sentence why it ends. Records have one size and the machine's byte order, since both ends are
 * one executable; what the driver's library does to the helper's memory is beyond us, so the
 * source checks all of them.
 */
#ifndef TG_SAMPLE_GPU_WIRE_H
#define TG_SAMPLE_GPU_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TG_GPU_MAGIC         0x31475447u
#define TG_GPU_DEVICES       64 /* parts of devices (MIG) count as devices */
#define TG_GPU_PROCESSES     20 /* in one record */
#define TG_GPU_PROCESSES_MAX 512 /* on one device: where there are more, none is told */

/* The most in one answer: each device, the processes on it, and the end. */
#define TG_GPU_RECORDS (TG_GPU_DEVICES * (2 + TG_GPU_PROCESSES_MAX / TG_GPU_PROCESSES) + 1)

enum tg_gpu_kind { TG_GPU_DEVICE = 1, TG_GPU_PROCESS, TG_GPU_DONE, TG_GPU_END };

/* Values of a device, TG_MISSING where the driver does not say. */
enum tg_gpu_value {
	TG_GPU_UTIL_PCT,
	TG_GPU_MEMORY_BUSY_PCT,
	TG_GPU_MEMORY_USED, /* bytes */
	TG_GPU_MEMORY_TOTAL,
	TG_GPU_POWER_MW,
	TG_GPU_ENERGY_MJ, /* counter */
	TG_GPU_TEMPERATURE_C,
	TG_GPU_SM_MHZ,
	TG_GPU_MEMORY_MHZ,
	TG_GPU_THROTTLE_MASK,
	TG_GPU_PCIE_RX, /* bytes per second */
	TG_GPU_PCIE_TX,
	TG_GPU_VALUES
};

struct tg_gpu_device {
	char name[16]; /* "GPU0", as NVML numbers them; "GPU0-MIG1": a part of it */
	char uuid[96]; /* "GPU-…", "MIG-…"; "" when it does not say */
	char model[96];
	uint64_t bus; /* ascends in the order of PCI addresses */
	int32_t parent; /* the record's number of the device that this is a part of; -1: none */
	uint32_t processes_known; /* those that follow are all there are */
	int64_t value[TG_GPU_VALUES];
};

struct tg_gpu_process {
	int32_t pid; /* as the driver numbers it */
	int32_t util_pct; /* -1: unknown */
	int64_t memory_bytes; /* TG_MISSING: unknown */
};

struct tg_gpu_record {
	uint32_t magic;
	uint16_t kind;
	uint16_t device; /* its number in this helper */
	union {
		struct tg_gpu_device of;
		struct {
			uint64_t n;
			struct tg_gpu_process at[TG_GPU_PROCESSES];
		} process;
		int64_t cpu_ns; /* of TG_GPU_DONE: CPU time of the helper so far */
		char text[160]; /* of TG_GPU_END: a sentence without its stop */
	};
};

/* Whether `len` bytes are a record whose numbers are in range and whose strings end. */
bool tg_gpu_record_valid(const struct tg_gpu_record *r, size_t len);

#endif
