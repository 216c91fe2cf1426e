/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a recorder's socket and lock are, and connecting and binding there although a socket's
 * address holds 107 bytes only: a longer path is reached through a descriptor of its folder.
 */
#ifndef TG_MARK_ADDRESS_H
#define TG_MARK_ADDRESS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

#define TG_MARK_RECORDER_ID_MAX 64u
#define TG_MARK_HOST_MAX        64u
#define TG_MARK_BOOT_ID_LEN     36u

/* Whether `id` may be part of a file's name: letters, digits, '.', '_', '-', not a dot first. */
bool tg_mark_id_ok(const char *id);

/* Append <runtime folder>/<id><suffix>. Returns 0, or -errno with a sentence. */
int tg_mark_path(struct tg_buf *out, const char *id, const char *suffix, struct tg_err *err);

/*
 * A connected SOCK_SEQPACKET socket, close-on-exec. Returns it; -ENOENT or -ECONNREFUSED where
 * nobody listens; -EAGAIN when too many wait to be let in; -EPERM when the one who listens is
 * another user. Never waits.
 */
int tg_mark_socket_connect(const char *path);

/* A listening one in place of whatever is at `path`, 0600. Returns it or -errno. Never waits. */
int tg_mark_socket_listen(const char *path, int backlog);

#define TG_MARK_ENV "TACHOGRAPH_SOCKET"

/*
 * What that holds in the environment: HOST:BOOT-ID:PATH, so that a process to which the variable
 * was passed on another machine, or after a restart, knows that it is not meant. BOOT-ID is that of
 * /proc/sys/kernel/random/boot_id, "" where there is none; PATH is absolute. In HOST a colon or a
 * character that is not printable ASCII is an underscore.
 */
struct tg_mark_address {
	char host[TG_MARK_HOST_MAX + 1], boot_id[TG_MARK_BOOT_ID_LEN + 1];
	const char *path; /* within the text that was parsed */
};

/* 0, or -EBADMSG for anything that is not of this form; `a` is then not to be used. */
int tg_mark_address_parse(struct tg_mark_address *a, const char *text);

/* Whether it is of this host in this boot; not where either boot is unknown. */
bool tg_mark_address_is_here(const struct tg_mark_address *a);

/* Append that of a socket of this host. */
void tg_mark_address_format(struct tg_buf *out, const char *path);

#endif
