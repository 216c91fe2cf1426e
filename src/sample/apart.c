/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/apart.h"

#include "sample/helper.h"
#include "sample/sampler.h"
#include "sample/tree.h"

#include "base/clock.h"
#include "base/mem.h"

struct tg_apart {
	size_t at; /* number of the source */
	const struct tg_source *source;
	struct tg_helper helper;
	int64_t next_ns; /* when it is asked next */
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
	tg_helper_init(&a->helper, a->source->name);
	return a;
}

void tg_apart_free(struct tg_apart *a)
{
	if (a)
		tg_helper_release(&a->helper);
	free(a);
}

static void take(struct tg_apart *a, struct tg_env *env, const struct tg_apart_answer *answer,
	struct tg_out *out)
{
	for (size_t i = 0; i < answer->n; i++) {
		size_t at = tg_out_instance(out, answer->at[i].instance);

		if (at != SIZE_MAX)
			tg_out_put(out, at, answer->at[i].metric, answer->at[i].value);
	}
	if (!answer->n)
		tg_helper_answered(&a->helper, env, answer->cpu_ns);
}

static void hear(struct tg_apart *a, struct tg_env *env, struct tg_out *out)
{
	struct tg_apart_answer answer;
	size_t n;

	while ((n = tg_helper_hear(&a->helper, env, &answer, sizeof(answer))) > 0)
		if (tg_apart_answer_valid(&answer, n, a->source))
			take(a, env, &answer, out);
		else
			tg_helper_stop(&a->helper, env, TG_HELPER_NONSENSE);
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

	if (!tg_helper_is_free(&a->helper) || now < a->next_ns)
		return;
	a->n = 0;
	a->question.magic = TG_APART_MAGIC;
	a->question.source = (uint32_t)a->at;
	a->question.root = env->root;
	a->question.unseen = 0;
	if (a->source->of_tree)
		tg_tree_each(env->tree, add_pid, a);
	tg_helper_ask(&a->helper, env, &a->question,
		TG_APART_HEAD + a->n * sizeof(a->question.pid[0]),
		TG_APART_PACKETS(a->source->n_metrics));
	/* a tick that comes a little early is this one's */
	a->next_ns = now + a->source->period_ns - a->source->period_ns / 8;
}

void tg_apart_read(struct tg_apart *a, struct tg_env *env, struct tg_out *out)
{
	if (!tg_helper_runs(&a->helper, env, env->hooks->start_apart))
		return;
	hear(a, env, out);
	ask(a, env);
}

bool tg_apart_is_waiting(const struct tg_apart *a)
{
	return a->helper.fd >= 0 && !a->helper.answered;
}
