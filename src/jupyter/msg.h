/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One multipart message of Jupyter: identities (or a topic), `<IDS|MSG>`, signature, header, parent
 * header, metadata, content, buffers. Frames are handed on as they came, without a copy; only the
 * first delimiter counts, since a buffer may hold the same bytes. A struct is used again and again:
 * its array of frames grows to the largest message and stays.
 */
#ifndef TG_JUPYTER_MSG_H
#define TG_JUPYTER_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <zmq.h>

#include "jupyter/scan.h"
#include "jupyter/sign.h"

#define TG_MSG_FRAMES_MAX 65536

/* Frames counted from the delimiter. */
enum tg_part { TG_SIGNATURE = 1, TG_HEADER, TG_PARENT, TG_METADATA, TG_CONTENT, TG_N_PARTS };

struct tg_msg {
	zmq_msg_t *frame;
	size_t n, cap;
	size_t n_ids; /* frames before the delimiter */
	bool whole; /* has a delimiter and the five frames behind it */
};

#define TG_MSG_INIT                                                                                \
	{                                                                                          \
		0                                                                                  \
	}

void tg_msg_release(struct tg_msg *m);
void tg_msg_clear(struct tg_msg *m); /* drops the frames */

/*
 * Take one message that is there, in place of what `m` holds. Returns 1, 0 when there is none,
 * -E2BIG for one of more than TG_MSG_FRAMES_MAX frames (thrown away), or -errno.
 */
int tg_msg_recv(struct tg_msg *m, void *socket);

/* Send it and leave `m` empty. What cannot be sent (the peer is gone) is dropped: -errno. */
int tg_msg_send(struct tg_msg *m, void *socket);

size_t tg_msg_size(const struct tg_msg *m); /* bytes of all frames */

/* A part's bytes; only of a whole message. Borrowed until the next change of `m`. */
struct tg_bytes tg_msg_part(const struct tg_msg *m, enum tg_part part);

/* A top-level member of a part. */
struct tg_bytes tg_msg_member(const struct tg_msg *m, enum tg_part part, const char *name);

bool tg_msg_verify(const struct tg_msg *m, const struct tg_sign *sign);

/* Put other bytes (copied) into a part and sign again. */
void tg_msg_replace(struct tg_msg *m, enum tg_part part, const char *data, size_t len,
	const struct tg_sign *sign);

/* Build a message frame by frame: identities first, then tg_msg_body. Bytes are copied. */
void tg_msg_add(struct tg_msg *m, const void *data, size_t len);
void tg_msg_body(struct tg_msg *m, const struct tg_sign *sign, struct tg_bytes header,
	struct tg_bytes parent, struct tg_bytes content);

/* Exchange what two hold. */
void tg_msg_swap(struct tg_msg *a, struct tg_msg *b);

/* Index the frames again after they were put in by hand (tests, fuzzing). */
void tg_msg_index(struct tg_msg *m);

#endif
