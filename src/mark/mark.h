/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client of a recorder: find one or start one, tell it what is going on, ask it for a flush.
 * Messages are JSON datagrams on a SOCK_SEQPACKET socket (mark/protocol.h). Nothing here blocks
 * for longer than the named time-outs and nothing here fails the caller's own work. A mark that a
 * full queue does not take is dropped and counted, and the recording will say how many were; ends
 * of spans, without which the rest would make no sense, wait for room within a bound.
 */
#ifndef TG_MARK_MARK_H
#define TG_MARK_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

struct tg_mark;

struct tg_mark_start {
	const char *id; /* names socket and lock in the runtime folder: <id>.sock, .lock */
	const char *output; /* path of the recording; the recorder may append -2, -3, … */
	pid_t root; /* root of the tree to measure; 0: a root mark follows */
	int64_t interval_ns; /* period within spans; 0: the default, 100 ms */
	int64_t idle_interval_ns; /* period between spans; 0: the default, 1 s */
	const char *what; /* "kernel", "record": for the session chunk */
	int64_t linger_ns; /* how long it outlives root and clients; 0: the default, 10 s */
	bool no_args; /* command lines are not recorded */
	const char *exe; /* the executable to start; NULL: our own (tests name another) */
};

/*
 * Connect to the recorder of `id` where one answers (and hand over root and intervals), else start
 * one: our executable in the role `recorder`, in a session of its own, with one end of a socket
 * pair. Does not wait for it: what is sent before it is up is read when it is. It is no child of
 * ours. Signal mask, dispositions and descriptors of the caller do not reach it. 0 or -errno. `id`
 * is letters, digits, '.', '_' and '-', at most 64. A relative `output` is relative to our working
 * folder.
 */
int tg_mark_start(struct tg_mark **out, const struct tg_mark_start *start, struct tg_err *err);

/* Connect to a recorder by its socket's path. 0, -ENOENT or -ECONNREFUSED where none is, -errno. */
int tg_mark_connect(struct tg_mark **out, const char *socket_path, struct tg_err *err);

/*
 * Connect to the recorder that our environment names (TG_MARK_ENV): of a recording of this machine
 * that goes on, and that we are below. Returns the variable's value with *out, or NULL.
 */
const char *tg_mark_connect_told(struct tg_mark **out);

void tg_mark_close(struct tg_mark *m); /* NULL is fine; the recorder goes on */

int tg_mark_fd(const struct tg_mark *m); /* readable when an answer is there or it is gone */
uint64_t tg_mark_dropped(const struct tg_mark *m); /* marks that found the queue full */

/*
 * Whether something waits for room in the queue; then, when the descriptor is writable (or at any
 * time), tg_mark_resume sends it: 0 when all is sent, -EAGAIN, -EPIPE. Marks that are sent later
 * do that, too.
 */
bool tg_mark_waits(const struct tg_mark *m);
int tg_mark_resume(struct tg_mark *m);

/* Send all that waits, within `timeout_ms`. 0, -EAGAIN when the time is up, -EPIPE. */
int tg_mark_drain(struct tg_mark *m, int timeout_ms);

/* Marks that the recorder knows nothing of: those that wait, and those that are lost and not noted.
 */
uint64_t tg_mark_untold(const struct tg_mark *m);

/* A span. Members that are NULL, 0 or negative are unknown and left out. */
struct tg_mark_span {
	const char *id; /* the client's own name for it, unique on this connection, <= 128 bytes */
	const char *kind; /* "cell", "stage", "block", "task", "run" */
	const char *name;
	int64_t t_ns; /* CLOCK_MONOTONIC of the moment */
	bool edge; /* take an extra row now */
	bool of_parent; /* it ends with our parent process, not with us */
	int64_t count; /* execution count of the front end; < 0: unknown */
	const char *lane;
	const char *code; /* cut at 32 KiB */
	size_t code_len;
	const char *attrs_json; /* one JSON object */
};

/*
 * All return 0, -EAGAIN when the queue is full (dropped, counted), or -EPIPE: the recorder is gone.
 * The ends return 0 also when they wait for room.
 */
int tg_mark_begin(struct tg_mark *m, const struct tg_mark_span *span);
/* `id` may end in "/": the youngest that begins so. */
int tg_mark_end(struct tg_mark *m, const char *id, int64_t t_ns, bool edge, const char *status);
int tg_mark_moment(struct tg_mark *m, const char *name, int64_t t_ns, const char *attrs_json);
int tg_mark_note(struct tg_mark *m, const char *text);
int tg_mark_root(struct tg_mark *m, pid_t pid);

/* The root was asked to end: however it does, that is no accident. */
int tg_mark_root_asked(struct tg_mark *m, pid_t pid);

/* The root ended: exit code (signal 0), or signal number; both -1: unknown. */
int tg_mark_root_end(struct tg_mark *m, pid_t pid, int exit_code, int signal);

/* Change "interval_ns" or "idle_interval_ns" from now on. */
int tg_mark_set(struct tg_mark *m, const char *key, int64_t value);

/* Finish the file and end. The last message; it waits for room as ends do. */
int tg_mark_bye(struct tg_mark *m);

/*
 * Questions. Each sends a request with a number of the caller's; the answer comes as one message:
 *   hello  {"re":n,"file":path,"socket":path,"session":k,"warning":text or absent}; without a
 *          session the file could not be opened (yet), and the warning says why
 *   flush  {"re":n,"offset":bytes}; an error while the file lacks something that came before
 *   usage  {"re":n, and the keys of an ipykernel's usage_reply, what is unknown left out:
 *           "hostname":…,"pid":root,"kernel_cpu":per cent of a core (tree),"kernel_memory":bytes
 *           (tree),"cpu_count":n,"host_cpu_percent":x,"host_virtual_memory":{"total":…,
 *           "available":…,"percent":…,"used":…}, then ours:
 *           "limit_cores":x,"limit_cores_why":text,"limit_bytes":…,"limit_bytes_why":text}
 *   progress {"re":n,"cores":x,"memory":bytes,"read_per_s":bytes,"write_per_s":bytes,"stage":name}:
 *          what the tree does now; "stage" is the one that began last and goes on; what is unknown
 *          is left out
 *   oom    {"re":n,"oom":"yes" | "no" | "unknown","text":sentences}: whether the root, which ended
 * by SIGKILL and was not yet said to have ended, was killed for want of memory, and why so What the
 * recorder could not understand or do it answers with {"re":n,"error":sentence}.
 */
int tg_mark_ask_hello(struct tg_mark *m, int64_t n);
int tg_mark_ask_flush(struct tg_mark *m, int64_t n);
int tg_mark_ask_usage(struct tg_mark *m, int64_t n);
int tg_mark_ask_oom(struct tg_mark *m, int64_t n);
int tg_mark_ask_progress(struct tg_mark *m, int64_t n);

/*
 * Take one answer that is there. Returns 1 with *answer (caller frees with tg_json_free), 0 when
 * there is none yet, -EPIPE when the recorder is gone.
 */
int tg_mark_answer(struct tg_mark *m, struct tg_json **answer);

/*
 * Wait at most `timeout_ms` until all that was sent has been done. 0, -EBADMSG with the recorder's
 * sentence where it refused something, -ETIMEDOUT, -EPIPE.
 */
int tg_mark_settle(struct tg_mark *m, int64_t n, int timeout_ms, struct tg_err *err);

/*
 * Wait at most `timeout_ms` for the answer to `n`; others that come before it are thrown away.
 * Returns 1 with *answer, 0 when the time is up, -EPIPE.
 */
int tg_mark_wait(struct tg_mark *m, int64_t n, int timeout_ms, struct tg_json **answer);

#endif
