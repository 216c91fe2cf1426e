/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Network interfaces, from /proc/ROOT/net/dev: those of the network namespace that the tree lives
 * in. These are the devices' figures, not the processes'. What passes through several interfaces
 * counts once: where there are real devices only those are columns; in a container, which has
 * none, all but bridges, their ports, and what stands on others, such as a VLAN or a bond.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample/names.h"
#include "sample/procfs.h"
#include "sample/source.h"

#include "base/clock.h"
#include "base/mem.h"

enum { RX_BYTES, TX_BYTES, RX_PACKETS, TX_PACKETS };

static const struct tg_metric metrics[] = {
	[RX_BYTES] = { "net.rx_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0,
		"bytes that the interface has received; loopback, which never leaves the machine, "
		"is left out of all net metrics" },
	[TX_BYTES] = { "net.tx_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0,
		"bytes that the interface has sent" },
	[RX_PACKETS] = { "net.rx_packets", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"packets that the interface has received" },
	[TX_PACKETS] = { "net.tx_packets", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"packets that the interface has sent" },
};

enum { IS_DEVICE = 1 << 0, IS_PART = 1 << 1 };

struct net {
	int fd;
	pid_t root; /* whose file that is; 0: our own */
	bool foreign; /* another namespace than ours, whose interfaces /sys does not show */
	struct tg_names known;
};

static bool exists(const struct tg_env *env, const char *name, const char *what)
{
	char path[160];
	struct stat st;

	snprintf(path, sizeof(path), "sys/class/net/%s/%s", name, what);
	return fstatat(env->root_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int is_lower(void *ctx, const char *entry)
{
	(void)ctx;
	return !strncmp(entry, "lower_", 6);
}

/* Does it stand on others of this namespace? They have counted what it counts. */
static bool has_lower(const struct tg_env *env, const char *name)
{
	int dir = tg_env_open(env, "sys/class/net/%s", name);
	bool found;

	if (dir < 0)
		return false;
	found = tg_entries_each(dir, is_lower, NULL) == 1;
	close(dir);
	return found;
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static unsigned facts_of(const struct net *n, const struct tg_env *env, const char *name)
{
	unsigned facts = 0;

	if (!strcmp(name, "lo"))
		return IS_PART;
	if (n->foreign)
		return begins(name, "veth") || begins(name, "docker") || begins(name, "br-") ||
				       begins(name, "virbr") || begins(name, "cni")
			       ? IS_PART
			       : 0;
	if (exists(env, name, "device"))
		facts |= IS_DEVICE;
	if (exists(env, name, "bridge") || exists(env, name, "brport") || has_lower(env, name))
		facts |= IS_PART;
	return facts;
}

static void decide(struct net *n)
{
	bool devices = false;

	for (size_t i = 0; i < n->known.n; i++)
		devices |= (n->known.name[i].facts & IS_DEVICE) != 0;
	for (size_t i = 0; i < n->known.n; i++) {
		unsigned facts = n->known.name[i].facts;

		n->known.name[i].counted = devices ? (facts & IS_DEVICE) != 0 : !(facts & IS_PART);
	}
}

static bool same_namespace(const struct tg_env *env, pid_t root)
{
	char path[48], ours[64], theirs[64];
	ssize_t n, m;

	snprintf(path, sizeof(path), "proc/%d/ns/net", root);
	n = readlinkat(env->root_fd, "proc/self/ns/net", ours, sizeof(ours));
	m = readlinkat(env->root_fd, path, theirs, sizeof(theirs));
	return n < 0 || m < 0 || (n == m && !memcmp(ours, theirs, (size_t)n));
}

/* Follow the tree: a new root may live in another namespace. */
static void follow(struct net *n, const struct tg_env *env)
{
	int fd;

	if (n->fd >= 0 && n->root == env->root)
		return;
	fd = env->root > 0 ? tg_env_open(env, "proc/%d/net/dev", env->root)
			   : tg_env_open(env, "proc/self/net/dev");
	if (fd < 0)
		return; /* the root is gone: the namespace that we have stays */
	if (n->fd >= 0)
		close(n->fd);
	n->fd = fd;
	n->root = env->root;
	n->foreign = env->root > 0 && !same_namespace(env, env->root);
	n->known.n = 0;
}

static void learn(struct net *n, const struct tg_env *env, const struct tg_text *text)
{
	struct tg_cursor s = tg_cursor_of(text->data, text->len);
	struct tg_net_line line;
	bool new = false;

	tg_names_rewind(&n->known);
	while (tg_procfs_net_next(&s, &line)) {
		struct tg_name *known = tg_names_find(&n->known, line.name);

		if (!known && (known = tg_names_add(&n->known, line.name))) {
			known->facts = facts_of(n, env, line.name);
			new = true;
		}
	}
	if (new)
		decide(n);
}

static int open_net(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct net *n = tg_xcalloc(1, sizeof(*n));

	n->fd = -1;
	follow(n, env);
	if (n->fd < 0) {
		free(n);
		snprintf(why, why_size, "/proc/PID/net/dev cannot be opened");
		return -ENOENT;
	}
	*state = n;
	return 0;
}

static void read_net(void *state, struct tg_env *env, struct tg_out *out)
{
	struct net *n = state;
	struct tg_net_line line;
	struct tg_cursor s;

	follow(n, env);
	if (tg_text_pread(env->text, n->fd) <= 0)
		return;
	learn(n, env, env->text);
	s = tg_cursor_of(env->text->data, env->text->len);
	tg_names_rewind(&n->known);
	while (tg_procfs_net_next(&s, &line)) {
		struct tg_name *known = tg_names_find(&n->known, line.name);
		size_t i;

		if (!known || !known->counted || (i = tg_out_instance(out, line.name)) == SIZE_MAX)
			continue;
		tg_out_put(out, i, RX_BYTES, line.rx_bytes);
		tg_out_put(out, i, TX_BYTES, line.tx_bytes);
		tg_out_put(out, i, RX_PACKETS, line.rx_packets);
		tg_out_put(out, i, TX_PACKETS, line.tx_packets);
	}
}

static void close_net(void *state)
{
	struct net *n = state;

	if (n->fd >= 0)
		close(n->fd);
	tg_names_release(&n->known);
	free(n);
}

const struct tg_source tg_source_net = {
	.name = "net",
	.help = "each network interface that the tree can use, whoever uses it",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 100 * TG_NS_PER_MS,
	.instances = true,
	.edge = true,
	.open = open_net,
	.read = read_net,
	.close = close_net,
};
