/* SPDX-License-Identifier: BSD-3-Clause */
/* The other end of apart.c: what runs in the helper's process. */
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>

#include "sample/apart.h"

#include "base/clock.h"
#include "base/mem.h"

#define SHARE 5 /* a reading may take that part of the helper's time */

static int send_all(int fd, const struct tg_out *out)
{
	struct tg_apart_answer a;
	size_t m = out->source->n_metrics;
	struct timespec t;

	memset(&a, 0, sizeof(a)); /* all of it goes over, what is between its members, too */
	a.magic = TG_APART_MAGIC;
	for (size_t i = 0; i < out->n_instances * m; i++) {
		if (out->value[i] == TG_MISSING)
			continue;
		a.at[a.n].metric = (uint32_t)(i % m);
		a.at[a.n].value = out->value[i];
		memcpy(a.at[a.n++].instance, out->instance[i / m], TG_INSTANCE_MAX);
		if (a.n < TG_APART_VALUES)
			continue;
		if (send(fd, &a, sizeof(a), MSG_NOSIGNAL) < 0)
			return -errno;
		a.n = 0;
	}
	if (a.n && send(fd, &a, sizeof(a), MSG_NOSIGNAL) < 0)
		return -errno;
	a.n = 0;
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0)
		a.cpu_ns = t.tv_sec * TG_NS_PER_S + t.tv_nsec;
	return send(fd, &a, sizeof(a), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void answer(int fd, struct tg_env *env, const struct tg_source *source)
{
	struct tg_out out = { .source = source };
	struct tg_apart_question q;
	char why[160];
	void *state = NULL;
	bool there = source->open(env, &state, why, sizeof(why)) == 0;
	ssize_t n;

	/* the first question is still there: it was looked at to learn whose it is */
	while ((n = recv(fd, &q, sizeof(q), 0)) >= (ssize_t)TG_APART_HEAD) {
		struct tg_pids pids = { q.pid, ((size_t)n - TG_APART_HEAD) / sizeof(q.pid[0]),
			q.unseen };
		int64_t began = tg_mono_ns(), took;

		env->t_ns = began;
		env->root = q.root;
		env->pids = &pids;
		for (size_t k = 0; k < out.n_instances * source->n_metrics; k++)
			out.value[k] = TG_MISSING;
		out.next = 0;
		if (there)
			source->read(state, env, &out);
		env->pids = NULL;
		took = tg_mono_ns() - began;
		if (send_all(fd, &out) < 0)
			break;
		clock_nanosleep(CLOCK_MONOTONIC, 0,
			&(struct timespec){ .tv_sec = took * (SHARE - 1) / TG_NS_PER_S,
				.tv_nsec = took * (SHARE - 1) % TG_NS_PER_S },
			NULL);
	}
	if (there)
		source->close(state);
	free(out.instance);
	free(out.value);
	free(out.was_put);
}

void tg_apart_serve(int fd, int root_fd)
{
	struct tg_text text;
	struct tg_env env = { .root_fd = root_fd, .text = &text, .stat_fd = -1 };
	uint32_t head[2];

	tg_text_init(&text);
	if (recv(fd, head, sizeof(head), MSG_PEEK) == sizeof(head) && head[0] == TG_APART_MAGIC &&
		head[1] < tg_source_count && tg_source_list[head[1]]->apart)
		answer(fd, &env, tg_source_list[head[1]]);
	tg_text_release(&text);
}
