/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the whole machine, from /proc/meminfo: to read it the kernel adds up counters of all
 * cores, so that it is dearer than what its values, which move slowly, are worth at each tick.
 */
#include <unistd.h>

#include "sample/procfs.h"
#include "sample/source.h"

#include "base/clock.h"
#include "base/mem.h"

enum { TOTAL, USED, USED_NO_CACHE, CACHE, SHMEM, SWAP };

static const struct tg_metric metrics[] = {
	[TOTAL] = { "node.mem_total_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"memory of the machine" },
	[USED] = { "node.mem_used_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"memory that is not available to programs: total - available" },
	[USED_NO_CACHE] = { "node.mem_used_nocache_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"total - free - buffers - cached - reclaimable slab: what free(1) and psutil have "
		"long called used" },
	[CACHE] = { "node.mem_cache_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"file cache of the machine, which goes when programs need room: buffers + cached - "
		"shared memory" },
	[SHMEM] = { "node.mem_shmem_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"shared memory and what lies in tmpfs, as in /dev/shm: it stays" },
	[SWAP] = { "node.swap_used_bytes", "bytes", TG_GAUGE, TG_SCOPE_NODE, 0,
		"swap space that is in use" },
};

struct node_memory {
	int fd;
};

static int open_node_memory(struct tg_env *env, void **state, char *why, size_t why_size)
{
	int fd = tg_env_open(env, "proc/meminfo");
	struct node_memory *n;

	if (fd < 0) {
		snprintf(why, why_size, "/proc/meminfo cannot be read");
		return fd;
	}
	n = tg_xcalloc(1, sizeof(*n));
	n->fd = fd;
	*state = n;
	return 0;
}

static void read_node_memory(void *state, struct tg_env *env, struct tg_out *out)
{
	const struct node_memory *n = state;
	struct tg_meminfo m;

	if (tg_text_pread(env->text, n->fd) <= 0)
		return;
	tg_procfs_meminfo(env->text->data, env->text->len, &m);
	if (m.swap_total != TG_MISSING && m.swap_free != TG_MISSING)
		tg_out_put(out, 0, SWAP, m.swap_total - m.swap_free);
	tg_out_put(out, 0, SHMEM, m.shmem);
	if (m.buffers != TG_MISSING && m.cached != TG_MISSING && m.shmem != TG_MISSING)
		tg_out_put(out, 0, CACHE, m.buffers + m.cached - m.shmem);
	if (m.total == TG_MISSING)
		return;
	tg_out_put(out, 0, TOTAL, m.total);
	if (m.available != TG_MISSING)
		tg_out_put(out, 0, USED, m.total - m.available);
	if (m.free != TG_MISSING && m.buffers != TG_MISSING && m.cached != TG_MISSING &&
		m.sreclaimable != TG_MISSING)
		tg_out_put(out, 0, USED_NO_CACHE,
			m.total - m.free - m.buffers - m.cached - m.sreclaimable);
}

static void close_node_memory(void *state)
{
	struct node_memory *n = state;

	close(n->fd);
	free(n);
}

const struct tg_source tg_source_node_memory = {
	.name = "node_memory",
	.help = "memory of the whole machine",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 100 * TG_NS_PER_MS,
	.open = open_node_memory,
	.read = read_node_memory,
	.close = close_node_memory,
};
