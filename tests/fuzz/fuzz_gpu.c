/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is read of GPUs, on the same bytes: fdinfo, an environment with CUDA's variables in it, a
 * record of the helper, an answer of one that reads drivers' files. None may read beyond the end,
 * and what they give is within bounds.
 */
#include <stdint.h>

#include "base/mem.h"
#include "sample/apart.h"
#include "sample/drm.h"
#include "sample/gpu_wire.h"
#include "sample/visible.h"

static void require(bool ok)
{
	if (!ok)
		abort();
}

static void fdinfo(const char *text, size_t len)
{
	struct tg_drm d;

	if (tg_drm_fdinfo(text, len, &d) < 0)
		return;
	require(d.client >= 0 && d.pdev[0] && strlen(d.pdev) < sizeof(d.pdev));
	require(d.n_engines <= TG_DRM_PARTS && d.n_memories <= TG_DRM_PARTS);
	for (size_t i = 0; i < d.n_engines; i++)
		require(d.engine[i].name[0] && strlen(d.engine[i].name) < TG_DRM_NAME_MAX);
	for (size_t i = 0; i < d.n_memories; i++)
		require(d.memory[i].name[0] && strlen(d.memory[i].name) < TG_DRM_NAME_MAX);
}

static void environment(const char *text, size_t len)
{
	static const struct tg_gpu_device device[] = {
		{ .uuid = "GPU-aabb", .model = "A", .bus = 2, .parent = -1 },
		{ .uuid = "GPU-aacc", .model = "A", .bus = 1, .parent = -1 },
		{ .uuid = "MIG-dd", .model = "A 1g", .bus = 1, .parent = 1 },
	};
	enum tg_visible out[3];
	const char *list = tg_visible_variable(text, len, "CUDA_VISIBLE_DEVICES");
	const char *order = tg_visible_variable(text, len, "CUDA_DEVICE_ORDER");

	require(!list || (list > text && list <= text + len));
	tg_visible_devices(list, order, device, 3, out);
	for (size_t i = 0; i < 3; i++)
		require(list ? out[i] <= TG_VISIBLE_UNKNOWN : out[i] == TG_VISIBLE_YES);
}

static void record(const char *text, size_t len)
{
	struct tg_gpu_record r = { 0 };

	memcpy(&r, text, TG_MIN(len, sizeof(r)));
	if (!tg_gpu_record_valid(&r, len))
		return;
	require(r.device < TG_GPU_DEVICES);
	if (r.kind == TG_GPU_DEVICE)
		require(strlen(r.of.name) < sizeof(r.of.name) && r.of.parent < r.device);
	if (r.kind == TG_GPU_PROCESS)
		require(r.process.n <= TG_GPU_PROCESSES);
}

static void answer(const char *text, size_t len)
{
	static const struct tg_source source = { .n_metrics = 3 };
	struct tg_apart_answer a = { 0 };

	memcpy(&a, text, TG_MIN(len, sizeof(a)));
	if (!tg_apart_answer_valid(&a, len, &source))
		return;
	require(a.n <= TG_APART_VALUES);
	for (size_t i = 0; i < a.n; i++)
		require(a.at[i].metric < 3 && strlen(a.at[i].instance) < TG_INSTANCE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* to the byte but for the NUL that is behind every text, so that a look beyond is seen */
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	fdinfo(text, size);
	environment(text, size);
	record(text, size);
	answer(text, size);
	free(text);
	return 0;
}
