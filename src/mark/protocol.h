/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes over a recorder's socket: JSON objects, one a SOCK_SEQPACKET datagram, at most 64 KiB
 * each. This is the one description of it; clients build messages, the recorder parses them here.
 * Invariant: every string that a parsed message holds is within its bound below.
 *
 *  {"op":"begin","id":ID,"kind":K,"name":N,"t":ns,"edge":true,"count":n,"lane":L,"code":C,"attrs":{…},
 *          "of_parent":true}
 *          a span begins; id and kind are needed, the rest may be absent; of_parent: it outlives
 * the connection, and ends with the parent of the process that connected
 *  {"op":"end","id":ID,"t":ns,"edge":true,"status":S,"attrs":{…}}
 *          it ended; without an id of this connection, one that a closed connection left open; an
 *          id that ends in "/" is the youngest that begins so
 *  {"op":"moment","name":N,"t":ns,"attrs":{…}}
 *  {"op":"note","text":T}
 *  {"op":"root","pid":p}                         the root of the measured tree from now on
 *  {"op":"root_asked","pid":p}    it was asked to end: however it ends now, that is no accident
 *  {"op":"root_end","pid":p,"exit":code | "signal":number}
 *  {"op":"set","key":"interval_ns" | "idle_interval_ns","value":n}
 *  {"op":"hello","n":n}    -> {"re":n,"file":path,"socket":path,"session":k,"warning":text}
 *  {"op":"flush","n":n}    -> {"re":n,"offset":bytes}
 *  {"op":"usage","n":n}    -> {"re":n,"hostname":…, …}
 *  {"op":"oom","n":n}      -> {"re":n,"oom":"yes" | "no" | "unknown","text":sentences}
 *  {"op":"progress","n":n} ->
 * {"re":n,"cores":x,"memory":bytes,"read_per_s":x,"write_per_s":x,"stage":N}
 *  {"op":"bye"}                                  finish the file and end
 *  {"op":"adopt","n":n,"pid":p}, a socket as SCM_RIGHTS -> {"re":n}
 *          from a second recorder of the same id that was started at the same moment: the socket
 *          is its starter's, p its root (0: none)
 *
 * "t" is CLOCK_MONOTONIC; absent means the moment of reading. What is not understood is answered
 * with {"error":sentence} (and "re" where there was an "n") and changes nothing. A recorder that
 * cannot begin, or cannot go on (its file was deleted), says why with {"end":sentence} before it
 * closes the socket; who still has something to record then starts another.
 */
#ifndef TG_MARK_PROTOCOL_H
#define TG_MARK_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

#define TG_MARK_DATAGRAM_MAX (64u << 10)
#define TG_MARK_ID_MAX       128u /* bytes, as all below */
#define TG_MARK_WORD_MAX     64u /* kind, status, key */
#define TG_MARK_NAME_MAX     1024u /* name, lane */
#define TG_MARK_TEXT_MAX     4096u
#define TG_MARK_CODE_MAX     (32u << 10)
#define TG_MARK_ATTRS_MAX    (16u << 10) /* as compact JSON */
#define TG_MARK_INTERVAL_MIN INT64_C(1000000) /* 1 ms */
#define TG_MARK_INTERVAL_MAX INT64_C(3600000000000) /* 1 h */

enum tg_mark_op {
	TG_MARK_BEGIN,
	TG_MARK_END,
	TG_MARK_MOMENT,
	TG_MARK_NOTE,
	TG_MARK_ROOT,
	TG_MARK_ROOT_ASKED,
	TG_MARK_ROOT_END,
	TG_MARK_SET,
	TG_MARK_HELLO,
	TG_MARK_FLUSH,
	TG_MARK_USAGE,
	TG_MARK_OOM,
	TG_MARK_PROGRESS,
	TG_MARK_BYE,
	TG_MARK_ADOPT,
	TG_MARK_OPS
};

const char *tg_mark_op_name(enum tg_mark_op op);

/* A parsed message. Strings that are absent are NULL; they live until the release. */
struct tg_mark_message {
	enum tg_mark_op op;
	int64_t n; /* number of the question; -1: none */
	int64_t t_ns; /* 0: absent */
	int64_t count; /* -1: absent */
	int64_t value; /* of set: within TG_MARK_INTERVAL_MIN and _MAX */
	int64_t pid; /* 0: none; within int; the recorder puts the owner of a span here */
	int exit_code, signal; /* -1: absent */
	bool edge, of_parent;
	const char *id, *kind, *name, *lane, *code, *status, *text, *key;
	struct tg_buf attrs; /* a JSON object, or empty */
	struct tg_json *json; /* owns the strings */
};

/*
 * Parse one datagram. Returns 0, or -EBADMSG with a sentence; `m` is then good for its `n` (-1 when
 * not known) and, like after success, must be released.
 */
int tg_mark_message_parse(
	struct tg_mark_message *m, const char *data, size_t len, struct tg_err *err);
void tg_mark_message_release(struct tg_mark_message *m);

/* Longest prefix of at most `max` bytes that does not cut a UTF-8 character in two. */
size_t tg_mark_cut(const char *s, size_t len, size_t max);

#endif
