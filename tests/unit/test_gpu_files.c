/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs whose drivers speak through files: amdgpu in /sys, and clients of amdgpu, i915 and xe in
 * /proc/PID/fdinfo. The tree was written by hand after the kernel's documents. Numbers in comments
 * are those of the list of pitfalls that sampling tools have been found in.
 */
#include "tap.h"

#include "sample_tree.h"

#include "sample/drm.h"

#include "base/mem.h"

#define AMD    "0000:03:00.0"
#define INTEL  "0000:00:02.0"
#define INTEL2 "0000:04:00.0"

/* pitfall 34: what sleeps is not read, what cannot be read is missing, connectors are no cards */
static void test_amdgpu(void)
{
	struct copy c = copy_of("amd");
	struct tg_sampler *s = sampler_at(c.folder, 700);
	struct tg_reading r;

	T_EQ_S(said(s, "amdgpu"), "+");
	tg_sampler_read(s, 0, &r);
	VALUE("amdgpu.util_pct", AMD, 37);
	VALUE("amdgpu.memory_used_bytes", AMD, 1073741824);
	VALUE("amdgpu.memory_total_bytes", AMD, INT64_C(25753026560));
	VALUE("amdgpu.power_w", AMD, 45000000); /* the average, where there are both */
	T_OK(!has_column(&r, "amdgpu.util_pct", "0000:07:00.0"));
	T_OK(!has_column(&r, "amdgpu.util_pct", INTEL));
	VALUE("amdgpu.util_pct", "card3", 100);
	T_OK(!has_column(&r, "amdgpu.power_w", "card3"));
	put_file(&c, "sys/class/drm/card0/device/gpu_busy_percent", "", 0); /* as with EBUSY */
	put_file(&c, "sys/class/drm/card1/device/power/runtime_status", "active\n", 7);
	tg_sampler_read(s, 0, &r);
	MISSING("amdgpu.util_pct", AMD);
	VALUE("amdgpu.power_w", AMD, 45000000);
	VALUE("amdgpu.util_pct", "0000:07:00.0", 0);
	VALUE("amdgpu.power_w", "0000:07:00.0", 1500000);
	put_file(&c, "sys/class/drm/card0/device/gpu_busy_percent", "nan\n", 4);
	put_file(&c, "sys/class/drm/card1/device/power/runtime_status", "suspending\n", 11);
	tg_sampler_read(s, 0, &r);
	MISSING("amdgpu.util_pct", AMD);
	MISSING("amdgpu.util_pct", "0000:07:00.0");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 34, report 29: each client of each device once, however many descriptors it has */
static void test_clients(void)
{
	struct tg_sampler *s = sampler_of("amd", 700);
	struct tg_reading r;

	T_EQ_S(said(s, "drm"), "+");
	for (int i = 0; i < 2; i++) {
		tg_sampler_read(s, TG_READ_REFRESH, &r);
		VALUE("drm.engine_ns", AMD " gfx", INT64_C(3000000000) + 500);
		VALUE("drm.engine_ns", AMD " compute", 5000 + 5000);
		VALUE("drm.memory_bytes", AMD " vram",
			2 * 2048 * 1024); /* resident, or as of old */
		VALUE("drm.memory_bytes", AMD " gtt", 10 << 20);
		VALUE("drm.memory_bytes", AMD " cpu", 0);
		VALUE("drm.engine_ns", INTEL " render", INT64_C(25662044495));
		VALUE("drm.engine_ns", INTEL " video", 77);
		VALUE("drm.engine_ns", INTEL " video-enhance", 0);
		T_OK(!has_column(&r, "drm.engine_ns", INTEL " capacity-video"));
		VALUE("drm.memory_bytes", INTEL " system0", 31908);
		VALUE("drm.memory_bytes", INTEL2 " vram0", 2 << 20);
		T_OK(!has_column(&r, "drm.memory_bytes", INTEL2 " system")); /* no resident one */
		VALUE("drm.engine_ns", INTEL2 " rcs", 0); /* cycles say nothing at first */
	}
	tg_sampler_free(s);
}

/* pitfall 34, report 30: xe counts cycles; half of all that passed are half of the time */
static void test_cycles(void)
{
	struct copy c = copy_of("amd");
	struct tg_sampler *s = sampler_at(c.folder, 700);
	struct tg_reading r;
	int64_t before = tg_mono_ns(), between, ns;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	between = tg_mono_ns();
	usleep(2000);
	edit(&c, "proc/703/fdinfo/3", "cycles-rcs:\t28257900\n", "cycles-rcs:\t28258400\n");
	edit(&c, "proc/703/fdinfo/3", "cycles-rcs:\t7655183225\n", "cycles-rcs:\t7655184225\n");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	ns = column(&r, "drm.engine_ns", INTEL2 " rcs");
	T_OK(ns >= 2000000 / 2 && ns <= (tg_mono_ns() - before) / 2 && between > before);
	VALUE("drm.engine_ns", INTEL2 " bcs", 0);
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 34: a counter that falls for a moment is waited for; a client that is gone leaves its
 * time */
static void test_regress(void)
{
	struct copy c = copy_of("amd");
	struct tg_sampler *s = sampler_at(c.folder, 700);
	struct tg_reading r;
	char path[100];

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	edit(&c, "proc/702/fdinfo/4", "25662044495 ns", "25662044000 ns");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("drm.engine_ns", INTEL " render", INT64_C(25662044495));
	edit(&c, "proc/702/fdinfo/4", "25662044000 ns", "25662044500 ns");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("drm.engine_ns", INTEL " render", INT64_C(25662044500));
	snprintf(path, sizeof(path), "%s/proc/702/fd/4", c.folder);
	T_EQ_I(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/proc/702/fdinfo/4", c.folder);
	T_EQ_I(unlink(path), 0);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("drm.engine_ns", INTEL " render", INT64_C(25662044500));
	VALUE("drm.memory_bytes", INTEL " system0", 0);
	/* one whose descriptors we may not see could have some */
	snprintf(path, sizeof(path), "%s/proc/702/fd", c.folder);
	T_EQ_I(chmod(path, 0), 0);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	if (geteuid())
		MISSING("drm.memory_bytes", INTEL " system0");
	else
		printf("# as root all descriptors are seen\n");
	T_EQ_I(chmod(path, 0700), 0);
	/* what hangs is not read: it could make us wait */
	edit(&c, "proc/702/stat", ") S ", ") D ");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	MISSING("drm.memory_bytes", INTEL " system0");
	VALUE("drm.memory_bytes", AMD " gtt", 10 << 20);
	tg_sampler_free(s);
	copy_remove(&c);
}

static void test_root_changes(void)
{
	struct tg_sampler *s = sampler_of("amd", 700);
	struct tg_reading r;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	tg_sampler_set_root(s, 702);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	MISSING("drm.engine_ns", AMD " gfx");
	VALUE("drm.engine_ns", INTEL " render", INT64_C(25662044495));
	tg_sampler_free(s);
}

static void test_parser(void)
{
	struct tg_drm d;
	static const char *const bad[] = {
		"",
		"drm-driver:\tamdgpu\n", /* no client */
		"drm-client-id:\t5\n", /* of what? */
		"drm-driver:\tamdgpu\ndrm-client-id:\t-5\n",
		"drm-driver:\tamdgpu\ndrm-client-id:\t99999999999999999999\n",
		"drm-driver:\tamdgpu\ndrm-client-id:\t5", /* cut off */
		"drm-driver:\ta_name_that_is_longer_than_any\ndrm-client-id:\t5\n",
	};
	static const char odd[] = "drm-driver:\tpanfrost\ndrm-client-id:\t7\n"
				  "drm-engine-:\t1 ns\ndrm-engine-x y:\t1 ns\n"
				  "drm-engine-fragment:\t-3 ns\ndrm-engine-vertex:\tx ns\n"
				  "drm-memory-gtt:\t9007199254740993 MiB\n"
				  "drm-total-memory:\t5\ndrm-cycles-fragment:\t9\n";

	for (size_t i = 0; i < TG_ARRAY_SIZE(bad); i++)
		T_EQ_I(tg_drm_fdinfo(bad[i], strlen(bad[i]), &d), -ENOENT);
	T_EQ_I(tg_drm_fdinfo(odd, sizeof(odd) - 1, &d), 0);
	T_EQ_S(d.pdev, "panfrost"); /* on no PCI bus */
	T_EQ_I(d.client, 7);
	T_EQ_I(d.n_memories, 0);
	T_EQ_I(d.n_engines, 1);
	T_EQ_S(d.engine[0].name, "fragment");
	T_EQ_I(d.engine[0].ns, TG_MISSING);
	T_EQ_I(d.engine[0].cycles, 9);
}

int main(void)
{
	test_parser();
	test_amdgpu();
	test_clients();
	test_cycles();
	test_regress();
	test_root_changes();
	return t_done();
}
