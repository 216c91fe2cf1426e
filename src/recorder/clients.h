/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder's connections: a listening socket and at most 64 clients of our own user. More wait
 * in the listening queue with what they have sent. A client that sends nonsense is told so; no
 * client can make us wait. A client is gone when its socket is closed, or its process has died and
 * all it sent is read (a child of its may hold the socket open).
 */
#ifndef TG_RECORDER_CLIENTS_H
#define TG_RECORDER_CLIENTS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "mark/protocol.h"

#define TG_CLIENTS_MAX 64
#define TG_CLIENTS_FDS (1 + 2 * TG_CLIENTS_MAX)

struct tg_clients;

struct tg_clients_hooks {
	/* A message. `fd` came with it (-1: none) and is the hook's to close or to keep. */
	void (*message)(void *ctx, uint64_t client, struct tg_mark_message *m, int fd);
	void (*gone)(void *ctx, uint64_t client);
	void *ctx;
};

/* `listening` is taken, -1: none yet. */
struct tg_clients *tg_clients_new(int listening, const struct tg_clients_hooks *hooks);
void tg_clients_free(struct tg_clients *c);

/* Take a connected socket in. Returns the client's serial number, from 1; 0 when there is no room.
 */
uint64_t tg_clients_add(struct tg_clients *c, int fd);

size_t tg_clients_count(const struct tg_clients *c);

/* Listen at another socket, which is taken (negative: none). */
void tg_clients_listen(struct tg_clients *c, int listening);

/* Stop listening. Returns how many were let in at the last moment. */
size_t tg_clients_stop_listening(struct tg_clients *c);

/* Add what to wait for to `p` (room for TG_CLIENTS_FDS). Returns how many were added. */
size_t tg_clients_poll(struct tg_clients *c, struct pollfd *p);

/*
 * Read what poll(2) found, at most a few messages a client, so that the caller gets back to its
 * clock. `p` and `n` as from tg_clients_poll.
 */
void tg_clients_serve(struct tg_clients *c, const struct pollfd *p, size_t n);

/* The process that connected, while it lives; 0: it has ended, or is in another PID namespace. */
pid_t tg_clients_process(const struct tg_clients *c, uint64_t client);

/* Send an answer. Dropped when the client is gone or does not read. */
void tg_clients_answer(struct tg_clients *c, uint64_t client, const struct tg_buf *answer);

/* Send to all that are there. */
void tg_clients_tell(struct tg_clients *c, const struct tg_buf *message);

/* {"re":n,"error":sentence}; without "re" when n < 0. */
void tg_clients_refuse(struct tg_clients *c, uint64_t client, int64_t n, const char *sentence);

#endif
