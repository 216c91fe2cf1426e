/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/mountstats.h"

#include "base/metric.h"

#include "base/mem.h"

const char *const tg_nfs_op_name[TG_NFS_OPS] = { "READ", "WRITE", "COMMIT", "OPEN", "LOOKUP",
	"ACCESS", "GETATTR", "READDIR", "READDIRPLUS", "CREATE", "REMOVE" };

/* device nas:/export/home mounted on /home with fstype nfs4 statvers=1.1 */
static bool first_line(struct tg_cursor line, struct tg_nfs_mount *out)
{
	return tg_cursor_skip(&line, "device ") &&
	       tg_cursor_path(&line, out->device, sizeof(out->device)) &&
	       tg_cursor_skip(&line, "mounted on ") &&
	       tg_cursor_path(&line, out->point, sizeof(out->point)) &&
	       (tg_cursor_skip(&line, "with fstype nfs statvers=1.") ||
		       tg_cursor_skip(&line, "with fstype nfs4 statvers=1."));
}

/* bytes:	2101248 1048576 0 0 1069056 1048576 261 256 */
static bool bytes_line(struct tg_cursor line, struct tg_nfs_bytes *b)
{
	int64_t *const field[] = { &b->normal_read, &b->normal_write, &b->direct_read,
		&b->direct_write, &b->server_read, &b->server_write, &b->pages_read,
		&b->pages_write };

	return tg_cursor_numbers(&line, field, TG_ARRAY_SIZE(field));
}

/* events:	52 226 0 5 10 21 80 512 0 20 0 8 3 9 14 6 0 12 0 0 256 0 0 0 0 0 0 */
static bool events_line(struct tg_cursor line, struct tg_nfs_pages *p)
{
	int64_t *const field[] = { NULL, NULL, NULL, NULL, NULL, NULL, NULL, &p->update,
		&p->read_one, &p->read_many, &p->write_one, &p->write_many };

	return tg_cursor_numbers(&line, field, TG_ARRAY_SIZE(field));
}

static void add(int64_t *sum, int64_t v)
{
	if (*sum == TG_MISSING)
		*sum = v;
	else if (__builtin_add_overflow(*sum, v, sum))
		*sum = INT64_MAX;
}

/* xprt:	tcp 875 1 1 0 37 105 105 0 109 0 2 4 12          xprt:	udp 875 1 37 36 1 40 0 */
static void xprt_line(struct tg_cursor line, struct tg_nfs_mount *out)
{
	int64_t connects = TG_MISSING, sends, receives;
	int64_t *const udp[] = { NULL, NULL, &sends, &receives };
	/* tcp, and as far as here rdma, too */
	int64_t *const tcp[] = { NULL, NULL, &connects, NULL, NULL, &sends, &receives };

	if (tg_cursor_skip(&line, "udp ")
			? !tg_cursor_numbers(&line, udp, TG_ARRAY_SIZE(udp))
			: !(tg_cursor_skip(&line, "tcp ") || tg_cursor_skip(&line, "rdma ")) ||
				  !tg_cursor_numbers(&line, tcp, TG_ARRAY_SIZE(tcp)))
		return;
	out->xprts++;
	if (connects != TG_MISSING)
		add(&out->connects, connects);
	add(&out->sends, sends);
	add(&out->receives, receives);
}

/*
 * READ: 130 131 0 20280 1085696 12 455 470 0
 * Behind the name: operations, transmissions, timeouts, bytes sent and received, and the three
 * times; those that have failed only since Linux 5.3.
 */
static void op_line(struct tg_cursor line, struct tg_nfs_mount *out)
{
	struct tg_nfs_op op;
	int64_t sent;
	int64_t *const field[] = { &op.ops, &sent, NULL, NULL, NULL, &op.queue_ms, &op.rtt_ms,
		&op.exec_ms };
	const char *name;
	size_t n;

	if (!tg_cursor_word(&line, &name, &n) || name[--n] != ':' ||
		!tg_cursor_numbers(&line, field, TG_ARRAY_SIZE(field)) ||
		__builtin_sub_overflow(sent, op.ops, &op.retransmits))
		return;
	op.retransmits = TG_MAX(op.retransmits, 0); /* one that failed before it was sent */
	for (size_t i = 0; i <= TG_NFS_OPS; i++) {
		struct tg_nfs_op *to = &out->op[i];

		if (i < TG_NFS_OPS &&
			(strlen(tg_nfs_op_name[i]) != n || memcmp(tg_nfs_op_name[i], name, n) != 0))
			continue;
		add(&to->ops, op.ops);
		add(&to->retransmits, op.retransmits);
		add(&to->queue_ms, op.queue_ms);
		add(&to->rtt_ms, op.rtt_ms);
		add(&to->exec_ms, op.exec_ms);
	}
}

static void no_ops(struct tg_nfs_mount *out)
{
	for (size_t i = 0; i <= TG_NFS_OPS; i++)
		out->op[i] = (struct tg_nfs_op){ TG_MISSING, TG_MISSING, TG_MISSING, TG_MISSING,
			TG_MISSING };
}

/*
 * The lines of one mount, up to the next "device". Those that are not known are passed over, such
 * as the second half of an impl_id, in which a server may have put a line end. False when the text
 * was cut off in between: sums of half of them would step back.
 */
static bool mount_lines(struct tg_cursor *s, struct tg_nfs_mount *out)
{
	struct tg_cursor rest = *s, line;
	bool in_ops = false, whole = false;

	while (tg_cursor_line(&rest, &line)) {
		struct tg_cursor at = line;

		if (tg_cursor_skip(&at, "device ") || tg_cursor_skip(&at, "no device ")) {
			whole |= in_ops;
			break;
		}
		*s = rest;
		if (in_ops && line.end - line.p == 1)
			whole = true; /* an empty line ends the list */
		else if (in_ops && !whole)
			op_line(at, out);
		else if (tg_cursor_skip(&at, "bytes:"))
			out->has_bytes = bytes_line(at, &out->bytes);
		else if (tg_cursor_skip(&at, "events:"))
			out->has_pages = events_line(at, &out->pages);
		else if (tg_cursor_skip(&at, "xprt:"))
			xprt_line(at, out);
		else
			in_ops |= tg_cursor_skip(&at, "per-op statistics");
	}
	return whole;
}

bool tg_mountstats_next(struct tg_cursor *s, struct tg_nfs_mount *out)
{
	struct tg_cursor line;

	while (tg_cursor_line(s, &line)) {
		if (!first_line(line, out))
			continue;
		out->has_bytes = out->has_pages = false;
		out->xprts = 0;
		out->connects = out->sends = out->receives = TG_MISSING;
		no_ops(out);
		if (mount_lines(s, out))
			return true;
	}
	return false;
}
