/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every parser of /proc and /sys text on the same bytes: none may read beyond the end, and what
 * they give must be within bounds.
 */
#include <stdint.h>

#include "base/mem.h"
#include "base/metric.h"
#include "sample/mountstats.h"
#include "sample/names.h"
#include "sample/procfs.h"

static void require(bool ok)
{
	if (!ok)
		abort();
}

static bool not_below_0(int64_t v)
{
	return v >= 0 || v == TG_MISSING;
}

static void processes(const char *text, size_t len)
{
	struct tg_pid_stat stat;
	struct tg_status_memory memory;
	struct tg_rollup rollup;
	struct tg_statm statm;
	struct tg_cursor rest;
	int64_t io[TG_IOS], v;

	if (tg_procfs_pid_stat(text, len, &stat) == 0)
		require(strlen(stat.comm) < TG_COMM_MAX && stat.ppid >= 0);
	if (tg_procfs_statm(text, len, &statm) == 0)
		require(statm.resident >= 0);
	tg_procfs_io(text, len, io);
	tg_procfs_status_memory(text, len, &memory);
	require(not_below_0(memory.hwm) && not_below_0(memory.file) && not_below_0(memory.shmem));
	require(not_below_0(memory.swap) && not_below_0(memory.hugetlb));
	tg_procfs_key(text, len, "usage_usec ", &v);
	if (tg_procfs_rollup(text, len, &rollup) == 0)
		require(rollup.rss >= 0 && rollup.pss >= 0 && rollup.swap_pss >= 0);
	if (tg_procfs_key_text(text, len, "Cpus_allowed_list:", &rest) == 0) {
		require(rest.p >= text && rest.p <= rest.end && rest.end <= text + len);
		require(tg_procfs_cpulist(rest.p, (size_t)(rest.end - rest.p)) >= 0);
	}
	require(tg_procfs_cpulist(text, len) >= 0);
}

static void machine(const char *text, size_t len)
{
	struct tg_cursor s = tg_cursor_of(text, len);
	struct tg_meminfo memory;
	struct tg_cpu_line cpu;
	struct tg_disk_line disk;
	struct tg_net_line net;

	tg_procfs_meminfo(text, len, &memory);
	while (tg_procfs_cpu_next(&s, &cpu))
		require(cpu.cpu >= -1 && cpu.cpu <= 65535);
	s = tg_cursor_of(text, len);
	while (tg_procfs_disk_next(&s, &disk))
		require(disk.name[0] && strlen(disk.name) < sizeof(disk.name));
	s = tg_cursor_of(text, len);
	while (tg_procfs_net_next(&s, &net))
		require(net.name[0] && strlen(net.name) < sizeof(net.name));
	tg_procfs_last_pid(text, len);
	require(tg_procfs_pressure(text, len, "some") >= -1);
	require(tg_procfs_pressure(text, len, "full") >= -1);
}

static void groups(const char *text, size_t len)
{
	struct tg_cursor s = tg_cursor_of(text, len);
	struct tg_cgroup_line group;
	struct tg_mount_line mount;
	int64_t quota, period;

	tg_procfs_number(text, len, &quota);
	tg_procfs_cpu_max(text, len, &quota, &period);
	tg_procfs_key(text, len, "oom_kill ", &quota);
	tg_procfs_key(text, len, "throttled_usec ", &quota);
	while (tg_procfs_cgroup_next(&s, &group)) {
		require(group.path.p < group.path.end && *group.path.p == '/');
		tg_cursor_has(group.controllers, "memory");
	}
	s = tg_cursor_of(text, len);
	while (tg_procfs_mount_next(&s, &mount))
		require(strlen(mount.point) < TG_PATH_MAX && mount.fstype[0]);
}

static void mounts(const char *text, size_t len)
{
	struct tg_cursor s = tg_cursor_of(text, len);
	struct tg_nfs_mount mount;
	struct tg_lustre_line lustre;
	char name[52];

	while (tg_mountstats_next(&s, &mount)) {
		require(s.p <= s.end && mount.device[0] && mount.point[0]);
		require(mount.xprts == 0 || mount.sends != INT64_MIN);
		for (size_t i = 0; i <= TG_NFS_OPS; i++)
			require(mount.op[i].retransmits >= 0 || mount.op[i].ops == INT64_MIN);
		tg_name_of(name, sizeof(name), mount.point);
		require(name[0] && strlen(name) < sizeof(name));
	}
	s = tg_cursor_of(text, len);
	while (tg_procfs_lustre_next(&s, &lustre))
		require(lustre.name[0] && strlen(lustre.name) < sizeof(lustre.name));
	tg_procfs_lustre_is_whole(text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* to the byte, so that a look beyond the end is seen */
	char *text = malloc(size ? size : 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	processes(text, size);
	machine(text, size);
	groups(text, size);
	mounts(text, size);
	free(text);
	return 0;
}
