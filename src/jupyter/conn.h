/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection file that Jupyter hands to a kernel: where its five sockets are and the key that
 * signs messages. Everything in it comes from outside: bounded, checked, refused in one sentence.
 * The key appears in no sentence and no log.
 */
#ifndef TG_JUPYTER_CONN_H
#define TG_JUPYTER_CONN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum tg_channel { TG_SHELL, TG_IOPUB, TG_STDIN, TG_CONTROL, TG_HB, TG_N_CHANNELS };

#define TG_CONN_FILE_MAX (64u << 10)
#define TG_CONN_TEXT_MAX 4096 /* bytes of one string in the file */

struct tg_conn {
	bool ipc; /* else tcp */
	char *ip; /* tcp: address to bind; ipc: what sockets' paths begin with */
	int port[TG_N_CHANNELS];
	char *key;
	char *scheme; /* as in the file, for the inner kernel's file; NULL: not given */
	char *curve_secret; /* Z85; NULL: no CURVE */
	struct tg_buf others; /* members we do not know, `,"name":value` each */
};

/*
 * Read and check the file at `path`. Returns 0, or -errno with a sentence: -EBADMSG for what is no
 * connection file, -EPROTONOSUPPORT for a transport or signature scheme that we do not have.
 * `c` needs no init; release it in any case.
 */
int tg_conn_read(struct tg_conn *c, const char *path, struct tg_err *err);

/* The same for its text. */
int tg_conn_parse(struct tg_conn *c, const char *data, size_t len, struct tg_err *err);

void tg_conn_release(struct tg_conn *c);

/* Append the zmq endpoint of a channel. */
void tg_conn_endpoint(const struct tg_conn *c, enum tg_channel channel, struct tg_buf *out);

/* Append the text of the connection file (with the key: for a private file only). */
void tg_conn_format(const struct tg_conn *c, struct tg_buf *out);

#endif
