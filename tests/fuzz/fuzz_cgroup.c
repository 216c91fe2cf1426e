/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any /proc/PID/cgroup and, behind a NUL, any mountinfo: a group is below its mount, climbs out of
 * it nowhere, and the way up ends.
 */
#include <stdint.h>

#include "sample/cgroup.h"

#include "base/mem.h"

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* A copy to the byte, so that a look beyond the end is seen. */
static char *copy(const uint8_t *data, size_t size)
{
	char *text = tg_xmalloc(size ? size : 1);

	if (size)
		memcpy(text, data, size);
	return text;
}

static void place(const char *groups, size_t n, const char *mounts, size_t m, const char *what)
{
	struct tg_cgroup g = { .whole = false };
	char path[TG_PATH_MAX];
	bool v2;
	size_t levels = 1;

	if (tg_cgroup_path(groups, n, what, path, &v2) < 0)
		return;
	require(path[0] == '/' && strlen(path) < TG_PATH_MAX);
	if (tg_cgroup_place(mounts, m, what, path, v2, &g) < 0)
		return;
	require(g.v2 == v2 && strlen(g.path) < TG_PATH_MAX && g.top_len <= strlen(g.path));
	require(!strstr(g.path + g.top_len, "/../"));
	require(!g.path[g.top_len] || g.path[g.top_len] == '/');
	require(!g.whole || !g.path[g.top_len]); /* a mount from above: nothing below is known */
	while (tg_cgroup_up(&g))
		require(strlen(g.path) >= g.top_len && ++levels <= TG_PATH_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const what[] = { "cpu", "cpuacct", "cpuset", "memory" };
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	size_t n = nul ? (size_t)(nul - data) : size, m = nul ? size - n - 1 : 0;
	char *groups = copy(data, n), *mounts = copy(data + size - m, m);

	for (size_t i = 0; i < TG_ARRAY_SIZE(what); i++)
		place(groups, n, mounts, m, what[i]);
	free(groups);
	free(mounts);
	return 0;
}
