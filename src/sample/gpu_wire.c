/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/gpu_wire.h"

#include "base/mem.h"

static bool ends(const char *s, size_t size)
{
	return memchr(s, '\0', size) != NULL;
}

static bool device_valid(const struct tg_gpu_record *r)
{
	const struct tg_gpu_device *d = &r->of;

	return d->name[0] && ends(d->name, sizeof(d->name)) && ends(d->uuid, sizeof(d->uuid)) &&
	       ends(d->model, sizeof(d->model)) && d->parent >= -1 && d->parent < r->device;
}

bool tg_gpu_record_valid(const struct tg_gpu_record *r, size_t len)
{
	if (len != sizeof(*r) || r->magic != TG_GPU_MAGIC || r->device >= TG_GPU_DEVICES)
		return false;
	switch (r->kind) {
	case TG_GPU_DEVICE:
		return device_valid(r);
	case TG_GPU_PROCESS:
		return r->process.n <= TG_GPU_PROCESSES;
	case TG_GPU_DONE:
		return true;
	case TG_GPU_END:
		return ends(r->text, sizeof(r->text));
	}
	return false;
}
