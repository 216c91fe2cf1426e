/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What drivers of GPUs tell of one open file in /proc/PID/fdinfo: amdgpu, i915, xe and others that
 * follow the kernel's drm-usage-stats. Pure functions on bytes, as in procfs.h.
 */
#ifndef TG_SAMPLE_DRM_H
#define TG_SAMPLE_DRM_H

#include "sample/procfs.h"

#define TG_DRM_NAME_MAX 24
#define TG_DRM_PARTS    24 /* engines, or kinds of memory, of one client */

struct tg_drm_engine {
	char name[TG_DRM_NAME_MAX]; /* "gfx", "render" */
	int64_t ns; /* busy; TG_MISSING: it counts cycles */
	int64_t cycles, total_cycles; /* busy ones, and all; TG_MISSING: it counts time */
};

struct tg_drm_memory {
	char name[TG_DRM_NAME_MAX]; /* "vram", "system0" */
	int64_t resident_bytes; /* TG_MISSING: the next one only */
	int64_t memory_bytes; /* as older drivers call it */
};

struct tg_drm {
	char pdev[TG_DRM_NAME_MAX]; /* PCI address; that of a device without one is its driver */
	int64_t client; /* the same client of the same device may have many descriptors */
	struct tg_drm_engine engine[TG_DRM_PARTS];
	struct tg_drm_memory memory[TG_DRM_PARTS];
	size_t n_engines, n_memories;
};

/* 0, or -ENOENT: not a file of such a driver, or it does not say which client that is. */
int tg_drm_fdinfo(const char *text, size_t len, struct tg_drm *out);

#endif
