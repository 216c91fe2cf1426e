/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AMD's GPUs, from the files of their driver in /sys. A card that sleeps is left alone: to read
 * would wake it, or be refused. A driver that hangs would hold who reads them: see apart.h.
 */
#include <errno.h>
#include <unistd.h>

#include "sample/helper.h"
#include "sample/procfs.h"
#include "sample/source.h"

#include "base/clock.h"
#include "base/mem.h"

#define CARDS     "sys/class/drm"
#define CARDS_MAX 64

enum { UTIL, MEMORY_USED, MEMORY_TOTAL, POWER, N_METRICS };

static const struct tg_metric metrics[] = {
	[UTIL] = { "amdgpu.util_pct", "pct", TG_GAUGE, TG_SCOPE_NODE, 0,
		"how busy the driver says it is at that moment" },
	[MEMORY_USED] = { "amdgpu.memory_used_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"memory of the card that is in use, whoever uses it" },
	[MEMORY_TOTAL] = { "amdgpu.memory_total_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"memory of the card" },
	[POWER] = { "amdgpu.power_w", "W", TG_GAUGE, TG_SCOPE_NODE, -6, "what it draws" },
};

static const char *const files[N_METRICS] = {
	[UTIL] = "gpu_busy_percent",
	[MEMORY_USED] = "mem_info_vram_used",
	[MEMORY_TOTAL] = "mem_info_vram_total",
};

struct card {
	char name[TG_INSTANCE_MAX]; /* PCI address, or "card0" where there is none */
	int fd[N_METRICS]; /* -1: it has no such file */
	int status_fd; /* whether it sleeps */
};

struct amdgpu {
	struct card *card;
	size_t n, cap;
	struct tg_env *env; /* while it is opened, as the next */
	const char *folder;
};

static void name_card(struct card *c, struct tg_env *env, const char *entry)
{
	struct tg_cursor slot;

	snprintf(c->name, sizeof(c->name), "%.20s", entry);
	if (tg_env_read(env, CARDS "/%.20s/device/uevent", entry) <= 0 ||
		tg_procfs_key_text(env->text->data, env->text->len, "PCI_SLOT_NAME=", &slot) < 0)
		return;
	if (slot.end - slot.p > 1 && slot.end - slot.p < 32) /* the line has its end */
		snprintf(c->name, sizeof(c->name), "%.*s", (int)(slot.end - slot.p - 1), slot.p);
}

/* Older drivers have an average, newer ones of some chips a momentary value instead. */
static int one_hwmon(void *ctx, const char *entry)
{
	static const char *const power[] = { "power1_average", "power1_input" };
	struct amdgpu *a = ctx;
	struct card *c = &a->card[a->n - 1];

	for (size_t i = 0; i < TG_ARRAY_SIZE(power) && c->fd[POWER] < 0; i++)
		c->fd[POWER] = tg_env_open(a->env, "%s/hwmon/%.20s/%s", a->folder, entry, power[i]);
	return c->fd[POWER] >= 0;
}

static int one_card(void *ctx, const char *entry)
{
	struct amdgpu *a = ctx;
	char folder[80];
	struct card c = { .status_fd = -1 };
	int some = 0;

	/* "card0", and not "card0-HDMI-A-1" */
	if (strncmp(entry, "card", 4) != 0 || strspn(entry + 4, "0123456789") != strlen(entry + 4))
		return 0;
	snprintf(folder, sizeof(folder), CARDS "/%.20s/device", entry);
	for (size_t i = 0; i < N_METRICS; i++) {
		c.fd[i] = files[i] ? tg_env_open(a->env, "%s/%s", folder, files[i]) : -1;
		some += c.fd[i] >= 0;
	}
	if (!some || a->n == CARDS_MAX)
		return 0;
	name_card(&c, a->env, entry);
	c.status_fd = tg_env_open(a->env, "%s/power/runtime_status", folder);
	TG_GROW(a->card, a->n + 1, a->cap);
	a->card[a->n++] = c;
	a->folder = folder;
	tg_env_each(a->env, one_hwmon, a, "%s/hwmon", folder);
	return 0;
}

static void close_amdgpu(void *state)
{
	struct amdgpu *a = state;

	for (size_t i = 0; i < a->n; i++) {
		for (size_t m = 0; m < N_METRICS; m++)
			if (a->card[i].fd[m] >= 0)
				close(a->card[i].fd[m]);
		if (a->card[i].status_fd >= 0)
			close(a->card[i].status_fd);
	}
	free(a->card);
	free(a);
}

static int open_amdgpu(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct amdgpu *a = tg_xcalloc(1, sizeof(*a));

	a->env = env;
	tg_env_each(env, one_card, a, CARDS);
	if (!a->n) {
		close_amdgpu(a);
		snprintf(why, why_size, "there is no GPU with AMD's driver amdgpu");
		return -ENODEV;
	}
	*state = a;
	return 0;
}

static bool sleeps(const struct card *c, struct tg_text *text)
{
	return c->status_fd >= 0 && tg_text_pread(text, c->status_fd) > 0 &&
	       !strncmp(text->data, "suspend", 7); /* …ed, …ing */
}

static void read_amdgpu(void *state, struct tg_env *env, struct tg_out *out)
{
	struct amdgpu *a = state;

	for (size_t k = 0; k < a->n; k++) {
		const struct card *c = &a->card[k];
		size_t i;

		if (sleeps(c, env->text) || (i = tg_out_instance(out, c->name)) == SIZE_MAX)
			continue;
		for (size_t m = 0; m < N_METRICS; m++) {
			int64_t value;

			if (c->fd[m] < 0 || tg_text_pread(env->text, c->fd[m]) <= 0)
				continue; /* EBUSY, EPERM: not now */
			if (tg_procfs_number(env->text->data, env->text->len, &value) && value >= 0)
				tg_out_put(out, i, m, value);
		}
	}
}

const struct tg_source tg_source_amdgpu = {
	.name = "amdgpu",
	.help = "each AMD GPU, whoever uses it",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.instances = true,
	.period_ns = TG_NS_PER_S / 10, /* more seldom where to ask costs much */
	.late_ns = TG_HELPER_LATE_NS,
	.apart = true,
	.open = open_amdgpu,
	.read = read_amdgpu,
	.close = close_amdgpu,
};
