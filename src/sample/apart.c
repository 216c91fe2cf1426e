/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/apart.h"

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sample/sampler.h"
#include "sample/tree.h"

#include "base/clock.h"
#include "base/mem.h"

#define SILENT_NS (5 * TG_NS_PER_S)
#define FIRST_NS  (30 * TG_NS_PER_S) /* a machine under load starts a process late */
#define RETRY_NS  (5 * TG_NS_PER_S)
#define STARTS    3
#define SHARE     5 /* a reading may take that part of the helper's time */

#define HEAD offsetof(struct tg_apart_question, pid)

struct tg_apart {
	size_t at; /* number of the source */
	const struct tg_source *source;
	int fd; /* -1: no helper */
	unsigned starts;
	bool answered; /* this helper, once */
	int64_t retry_ns, next_ns; /* when the next may be started, and asked */
	int64_t asked_ns; /* the question that is not answered yet; 0: none */
	int64_t cpu_ns; /* of this helper, as heard */
	size_t n; /* processes in the question */
	struct tg_apart_question question;
};

bool tg_apart_answer_valid(
	const struct tg_apart_answer *a, size_t len, const struct tg_source *source)
{
	if (len != sizeof(*a) || a->magic != TG_APART_MAGIC || a->n > TG_APART_VALUES)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->at[i].metric >= source->n_metrics || !a->at[i].instance[0] ||
			!memchr(a->at[i].instance, '\0', TG_INSTANCE_MAX))
			return false;
	return true;
}

struct tg_apart *tg_apart_new(size_t i)
{
	struct tg_apart *a = tg_xcalloc(1, sizeof(*a));

	a->at = i;
	a->source = tg_source_list[i];
	a->fd = -1;
	return a;
}

void tg_apart_free(struct tg_apart *a)
{
	if (a && a->fd >= 0)
		close(a->fd);
	free(a);
}

static void start(struct tg_apart *a, const struct tg_env *env)
{
	if (a->starts >= STARTS || tg_mono_ns() < a->retry_ns)
		return;
	a->starts++;
	a->retry_ns = tg_mono_ns() + RETRY_NS;
	a->answered = false;
	a->asked_ns = a->cpu_ns = 0;
	a->fd = env->hooks->start_apart(env->hooks->ctx);
	if (a->fd < 0)
		tg_env_note(env, "Values of %s are missing: the helper cannot be started: %s",
			a->source->name, strerror(-a->fd));
}

static void stop(struct tg_apart *a, const struct tg_env *env, const char *why)
{
	close(a->fd);
	a->fd = -1;
	a->retry_ns = tg_mono_ns() + RETRY_NS;
	tg_env_note(env, "Values of %s are missing: %s%s", a->source->name, why,
		a->starts < STARTS ? "; another try follows" : "");
}

static void take(struct tg_apart *a, struct tg_env *env, const struct tg_apart_answer *answer,
	struct tg_out *out)
{
	for (size_t i = 0; i < answer->n; i++) {
		size_t at = tg_out_instance(out, answer->at[i].instance);

		if (at != SIZE_MAX)
			tg_out_put(out, at, answer->at[i].metric, answer->at[i].value);
	}
	if (answer->n)
		return;
	a->answered = true;
	a->asked_ns = 0;
	tg_env_helper_cpu(env, &a->cpu_ns, answer->cpu_ns);
}

static void hear(struct tg_apart *a, struct tg_env *env, struct tg_out *out)
{
	struct tg_apart_answer answer;

	while (a->fd >= 0) {
		ssize_t n = recv(a->fd, &answer, sizeof(answer), MSG_DONTWAIT | MSG_TRUNC);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n <= 0)
			stop(a, env, "the process that asks the driver has died");
		else if (!tg_apart_answer_valid(&answer, (size_t)n, a->source))
			stop(a, env, "the process that asks the driver talks nonsense");
		else
			take(a, env, &answer, out);
	}
	if (a->fd >= 0 && a->asked_ns &&
		tg_mono_ns() - a->asked_ns > (a->answered ? SILENT_NS : FIRST_NS))
		stop(a, env, "the driver does not answer");
}

/* One in state D could make the helper wait for it. */
static void add_pid(void *ctx, const struct tg_process *p)
{
	struct tg_apart *a = ctx;

	if (p->state == 'D' || a->n == TG_APART_PIDS)
		a->question.unseen = 1;
	else
		a->question.pid[a->n++] = p->pid;
}

static void ask(struct tg_apart *a, const struct tg_env *env)
{
	int64_t now = tg_mono_ns();

	if (a->asked_ns || now < a->next_ns)
		return;
	a->n = 0;
	a->question.magic = TG_APART_MAGIC;
	a->question.source = (uint32_t)a->at;
	a->question.root = env->root;
	a->question.unseen = 0;
	if (a->source->of_tree)
		tg_tree_each(env->tree, add_pid, a);
	if (send(a->fd, &a->question, HEAD + a->n * sizeof(a->question.pid[0]),
		    MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			stop(a, env, "the process that asks the driver has died");
		return;
	}
	a->asked_ns = now;
	/* a tick that comes a little early is this one's */
	a->next_ns = now + a->source->period_ns - a->source->period_ns / 8;
}

void tg_apart_read(struct tg_apart *a, struct tg_env *env, struct tg_out *out)
{
	if (a->fd < 0)
		start(a, env);
	if (a->fd >= 0)
		hear(a, env, out);
	if (a->fd >= 0)
		ask(a, env);
}

/* ---- the helper's end ---- */

static int send_all(int fd, const struct tg_out *out)
{
	struct tg_apart_answer a = { .magic = TG_APART_MAGIC };
	size_t m = out->source->n_metrics;
	struct timespec t;

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
	while ((n = recv(fd, &q, sizeof(q), 0)) >= (ssize_t)HEAD) {
		struct tg_pids pids = { q.pid, ((size_t)n - HEAD) / sizeof(q.pid[0]), q.unseen };
		int64_t began = tg_mono_ns(), took;

		env->t_ns = began;
		env->root = q.root;
		env->pids = &pids;
		for (size_t k = 0; k < out.n_instances * source->n_metrics; k++)
			out.value[k] = TG_MISSING;
		out.next = 0;
		if (there)
			source->read(state, env, &out);
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
	free(out.is_column);
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
