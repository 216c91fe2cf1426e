/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NFS mounts that the tree can see, from its root's mountstats, about once a second: the text is
 * long. The figures are those of the machine, whoever has caused them. Mounts that share one
 * superblock, as bind mounts do, show the same figures; the first of them is the instance.
 */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "sample/mountstats.h"
#include "sample/names.h"
#include "sample/sampler.h"
#include "sample/source.h"

#include "base/mem.h"

#define MOUNTS_MAX 1024

enum {
	READ,
	WRITE,
	WIRE_READ,
	WIRE_WRITE,
	PAGES_READ,
	PAGES_WRITE,
	READ_ONE,
	READ_MANY,
	WRITE_ONE,
	WRITE_MANY,
	UPDATE,
	OPS,
	RETRANSMITS,
	QUEUE,
	RTT,
	EXEC,
	CONNECTS,
	SENDS,
	RECEIVES,
	/* of an operation: instances such as "/home READ" */
	OP_OPS,
	OP_RTT
};

static const struct tg_metric metrics[] = {
	[READ] = { "nfs.read_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0,
		"bytes that programs have read below the mount, also from its cache" },
	[WRITE] = { "nfs.write_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0,
		"bytes that programs have written below the mount" },
	[WIRE_READ] = { "nfs.wire_read_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0,
		"bytes fetched from the server" },
	[WIRE_WRITE] = { "nfs.wire_write_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0,
		"bytes sent to the server" },
	[PAGES_READ] = { "nfs.pages_read", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"pages of memory that were filled from the server" },
	[PAGES_WRITE] = { "nfs.pages_written", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"pages of memory that were sent to the server" },
	[READ_ONE] = { "nfs.readpage_calls", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"times that one page was asked for" },
	[READ_MANY] = { "nfs.readpages_calls", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"times that several pages were asked for at once" },
	[WRITE_ONE] = { "nfs.writepage_calls", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"times that one page was to be written" },
	[WRITE_MANY] = { "nfs.writepages_calls", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"times that several pages were to be written at once" },
	[UPDATE] = { "nfs.updatepage_calls", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"times that a page was changed" },
	[OPS] = { "nfs.ops", "ops", TG_COUNTER, TG_SCOPE_NODE, 0,
		"requests to the server that are completed, of all operations" },
	[RETRANSMITS] = { "nfs.retransmits", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"requests that were sent again" },
	[QUEUE] = { "nfs.queue_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"time that requests have waited to be sent, added up" },
	[RTT] = { "nfs.rtt_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"time from sending to the reply, added up over requests" },
	[EXEC] = { "nfs.exec_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"time from making a request to its end, added up over requests" },
	[CONNECTS] = { "nfs.connects", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"times that a connection was made, lost ones made again included" },
	[SENDS] = { "nfs.sends", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"messages sent over the connections of the mount" },
	[RECEIVES] = { "nfs.receives", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"messages received over the connections of the mount" },
	[OP_OPS] = { "nfs.op_count", "ops", TG_COUNTER, TG_SCOPE_NODE, 0,
		"requests of one operation that are completed" },
	[OP_RTT] = { "nfs.op_rtt_ns", "ns", TG_COUNTER, TG_SCOPE_NODE, 0,
		"time from sending to the reply, added up over requests of one operation" },
};

/* An NFS mount of mountinfo. Paths and devices are told apart by hashes. */
struct mount {
	uint64_t point, dev;
	bool seen; /* in this reading of mountstats */
};

struct nfs {
	struct mount *mount;
	size_t n, cap;
	bool any; /* NFS mounts in the reading before */
};

static ssize_t read_file(struct tg_env *env, const char *file)
{
	return env->root > 0 ? tg_env_read(env, "proc/%d/%s", env->root, file)
			     : tg_env_read(env, "proc/self/%s", file);
}

static uint64_t hash_of(const char *text)
{
	return tg_hash(TG_HASH_INIT, text, strlen(text));
}

static struct mount *add_mount(struct nfs *n, uint64_t point, uint64_t dev)
{
	if (n->n == MOUNTS_MAX)
		return NULL;
	TG_GROW(n->mount, n->n + 1, n->cap);
	n->mount[n->n] = (struct mount){ point, dev, false };
	return &n->mount[n->n++];
}

/* Which superblock stands behind which mount point. Nothing here touches the mounts themselves. */
static void learn(struct nfs *n, struct tg_env *env)
{
	struct tg_mount_line line;
	struct tg_cursor s;

	n->n = 0;
	if (read_file(env, "mountinfo") <= 0)
		return;
	s = tg_cursor_of(env->text->data, env->text->len);
	while (tg_procfs_mount_next(&s, &line))
		if (!strcmp(line.fstype, "nfs") || !strcmp(line.fstype, "nfs4"))
			add_mount(n, hash_of(line.point), hash_of(line.dev));
}

/* Is this another superblock than those before it? Both files list mounts in the same order. */
static bool is_new(struct nfs *n, const struct tg_nfs_mount *m)
{
	uint64_t point = hash_of(m->point);
	struct mount *at = NULL;
	size_t i;

	for (i = 0; i < n->n && !at; i++)
		if (n->mount[i].point == point && !n->mount[i].seen)
			at = &n->mount[i];
	if (!at) /* no mountinfo, or it came just now */
		at = add_mount(n, point, hash_of(m->device));
	if (!at)
		return false;
	for (i = 0; i < n->n; i++)
		if (n->mount[i].seen && n->mount[i].dev == at->dev)
			break;
	at->seen = true;
	return i == n->n;
}

static void put_ops(struct tg_out *out, size_t i, const struct tg_nfs_op *op)
{
	if (op->ops == TG_MISSING)
		return;
	tg_out_add(out, i, OPS, op->ops);
	tg_out_add(out, i, RETRANSMITS, op->retransmits);
	tg_out_add(out, i, QUEUE, tg_scaled(op->queue_ms, TG_NS_PER_MS));
	tg_out_add(out, i, RTT, tg_scaled(op->rtt_ms, TG_NS_PER_MS));
	tg_out_add(out, i, EXEC, tg_scaled(op->exec_ms, TG_NS_PER_MS));
}

static void put_each_op(struct tg_out *out, const char *name, const struct tg_nfs_mount *m)
{
	for (size_t k = 0; k < TG_NFS_OPS; k++) {
		char instance[TG_INSTANCE_MAX];
		size_t i;

		if (m->op[k].ops == TG_MISSING)
			continue;
		snprintf(instance, sizeof(instance), "%s %s", name, tg_nfs_op_name[k]);
		i = tg_out_instance(out, instance);
		if (i == SIZE_MAX)
			return;
		tg_out_add(out, i, OP_OPS, m->op[k].ops);
		tg_out_add(out, i, OP_RTT, tg_scaled(m->op[k].rtt_ms, TG_NS_PER_MS));
	}
}

/* Mounts of one name, as when one hides the other, are added up. */
static void put(struct tg_out *out, const struct tg_nfs_mount *m)
{
	char name[TG_INSTANCE_MAX - sizeof(" READDIRPLUS")];
	size_t i;

	tg_name_of(name, sizeof(name), m->point);
	i = tg_out_instance(out, name);
	if (i == SIZE_MAX)
		return;
	if (m->has_bytes) {
		tg_out_add(out, i, READ, m->bytes.normal_read + m->bytes.direct_read);
		tg_out_add(out, i, WRITE, m->bytes.normal_write + m->bytes.direct_write);
		tg_out_add(out, i, WIRE_READ, m->bytes.server_read);
		tg_out_add(out, i, WIRE_WRITE, m->bytes.server_write);
		tg_out_add(out, i, PAGES_READ, m->bytes.pages_read);
		tg_out_add(out, i, PAGES_WRITE, m->bytes.pages_write);
	}
	if (m->has_pages) {
		tg_out_add(out, i, READ_ONE, m->pages.read_one);
		tg_out_add(out, i, READ_MANY, m->pages.read_many);
		tg_out_add(out, i, WRITE_ONE, m->pages.write_one);
		tg_out_add(out, i, WRITE_MANY, m->pages.write_many);
		tg_out_add(out, i, UPDATE, m->pages.update);
	}
	if (m->connects != TG_MISSING)
		tg_out_add(out, i, CONNECTS, m->connects);
	if (m->xprts) {
		tg_out_add(out, i, SENDS, m->sends);
		tg_out_add(out, i, RECEIVES, m->receives);
	}
	put_ops(out, i, &m->op[TG_NFS_ALL]);
	put_each_op(out, name, m);
}

static int open_nfs(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct tg_nfs_mount mount;
	struct tg_cursor s;
	ssize_t r = read_file(env, "mountstats");

	if (r < 0) {
		snprintf(why, why_size, "/proc/PID/mountstats: %s", strerror((int)-r));
		return (int)r;
	}
	s = tg_cursor_of(env->text->data, env->text->len);
	if (!tg_mountstats_next(&s, &mount))
		snprintf(why, why_size, "no NFS mount now");
	*state = tg_xcalloc(1, sizeof(struct nfs));
	return 0;
}

static void read_nfs(void *state, struct tg_env *env, struct tg_out *out)
{
	struct nfs *n = state;
	struct tg_nfs_mount mount;
	struct tg_cursor s;

	if (!(env->flags & TG_READ_REFRESH))
		return;
	if (n->any)
		learn(n, env);
	if (read_file(env, "mountstats") <= 0)
		return; /* the root is gone, and perhaps its namespace */
	s = tg_cursor_of(env->text->data, env->text->len);
	if (!n->any && tg_mountstats_next(&s, &mount)) {
		n->any = true;
		learn(n, env);
		if (read_file(env, "mountstats") <= 0)
			return;
		s = tg_cursor_of(env->text->data, env->text->len);
	}
	n->any = false;
	while (tg_mountstats_next(&s, &mount)) {
		n->any = true;
		if (is_new(n, &mount))
			put(out, &mount);
	}
}

static void close_nfs(void *state)
{
	struct nfs *n = state;

	free(n->mount);
	free(n);
}

const struct tg_source tg_source_nfs = {
	.name = "nfs",
	.help = "each NFS mount that the tree can see, whoever uses it",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = TG_NS_PER_S,
	.instances = true,
	.open = open_nfs,
	.read = read_nfs,
	.close = close_nfs,
};
