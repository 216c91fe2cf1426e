/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports of InfiniBand and RoCE adapters that are up, about once a second: some drivers ask the
 * adapter for each number. What goes this way passes by the network interfaces of source net.
 */
#include <errno.h>

#include "sample/procfs.h"
#include "sample/sampler.h"
#include "sample/source.h"

#include "base/clock.h"
#include "base/mem.h"

#define CLASS       "sys/class/infiniband"
#define OCTETS_WORD 4 /* data is counted in words of four octets, whatever the number of lanes */

enum { RX_BYTES, TX_BYTES, RX_PACKETS, TX_PACKETS, TX_WAIT };

static const struct tg_metric metrics[] = {
	[RX_BYTES] = { "infiniband.rx_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0,
		"bytes that the port has received" },
	[TX_BYTES] = { "infiniband.tx_bytes", "bytes", TG_COUNTER, TG_SCOPE_NODE, 0,
		"bytes that the port has sent" },
	[RX_PACKETS] = { "infiniband.rx_packets", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"packets that the port has received" },
	[TX_PACKETS] = { "infiniband.tx_packets", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"packets that the port has sent" },
	[TX_WAIT] = { "infiniband.tx_wait", "count", TG_COUNTER, TG_SCOPE_NODE, 0,
		"ticks of the port in which it had data to send and might not: congestion" },
};

static const struct {
	const char *file;
	int64_t factor;
} files[] = {
	[RX_BYTES] = { "port_rcv_data", OCTETS_WORD },
	[TX_BYTES] = { "port_xmit_data", OCTETS_WORD },
	[RX_PACKETS] = { "port_rcv_packets", 1 },
	[TX_PACKETS] = { "port_xmit_packets", 1 },
	[TX_WAIT] = { "port_xmit_wait", 1 },
};

struct reading {
	struct tg_env *env;
	struct tg_out *out;
	const char *device;
	int active;
};

/* Old kernels keep those of 64 bits apart; what says only "N/A" is none. */
static bool counter(
	struct tg_env *env, const char *device, const char *port, const char *file, int64_t *value)
{
	if (tg_env_read(env, CLASS "/%s/ports/%s/counters_ext/%s_64", device, port, file) <= 0 &&
		tg_env_read(env, CLASS "/%s/ports/%s/counters/%s", device, port, file) <= 0)
		return false;
	return tg_procfs_number(env->text->data, env->text->len, value) && *value >= 0;
}

/* 4: ACTIVE */
static bool is_active(struct tg_env *env, const char *device, const char *port)
{
	struct tg_cursor s;
	int64_t state;

	if (tg_env_read(env, CLASS "/%s/ports/%s/state", device, port) <= 0)
		return false;
	s = tg_cursor_of(env->text->data, env->text->len);
	return tg_cursor_i64(&s, &state) && tg_cursor_skip(&s, ": ACTIVE");
}

static int one_port(void *ctx, const char *port)
{
	struct reading *r = ctx;
	char instance[TG_INSTANCE_MAX];
	size_t i;
	int n;

	if (!is_active(r->env, r->device, port))
		return 0;
	r->active++;
	n = snprintf(instance, sizeof(instance), "%s/%s", r->device, port);
	if (!r->out || n < 0 || (size_t)n >= sizeof(instance) ||
		(i = tg_out_instance(r->out, instance)) == SIZE_MAX)
		return 0;
	for (size_t k = 0; k < TG_ARRAY_SIZE(files); k++) {
		int64_t v;

		if (counter(r->env, r->device, port, files[k].file, &v) &&
			!__builtin_mul_overflow(v, files[k].factor, &v))
			tg_out_put(r->out, i, k, v);
	}
	return 0;
}

static int one_device(void *ctx, const char *device)
{
	struct reading *r = ctx;

	r->device = device;
	tg_env_each(r->env, one_port, r, CLASS "/%s/ports", device);
	return 0;
}

/* Returns how many ports are active, or -errno. */
static int each_device(struct tg_env *env, struct tg_out *out)
{
	struct reading r = { .env = env, .out = out };
	int rc = tg_env_each(env, one_device, &r, CLASS);

	return rc < 0 ? rc : r.active;
}

static int open_infiniband(struct tg_env *env, void **state, char *why, size_t why_size)
{
	int active = each_device(env, NULL);

	*state = NULL;
	if (active < 0)
		snprintf(why, why_size, "no InfiniBand or RoCE adapter");
	else if (!active)
		snprintf(why, why_size, "no port is active now");
	return TG_MIN(active, 0);
}

static void read_infiniband(void *state, struct tg_env *env, struct tg_out *out)
{
	(void)state;
	if (env->flags & TG_READ_REFRESH)
		each_device(env, out);
}

static void close_infiniband(void *state)
{
	(void)state;
}

const struct tg_source tg_source_infiniband = {
	.name = "infiniband",
	.help = "each active port of InfiniBand and RoCE adapters, whoever uses it",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = TG_NS_PER_S,
	.instances = true,
	.open = open_infiniband,
	.read = read_infiniband,
	.close = close_infiniband,
};
