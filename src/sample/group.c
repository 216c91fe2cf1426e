/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/group.h"

#include <unistd.h>

#include "sample/sampler.h"

#include "base/mem.h"

enum tg_group_look tg_group_look(struct tg_group_place *p, struct tg_env *env)
{
	struct tg_group_place before = *p;

	if (p->root == env->root && !(env->flags & TG_READ_REFRESH))
		return TG_GROUP_SAME;
	if (tg_env_read(env, "proc/%d/cgroup", env->root) <= 0)
		return TG_GROUP_SAME;
	*p = (struct tg_group_place){ env->root, tg_text_digest(env->text) };
	return p->root == before.root && p->digest == before.digest ? TG_GROUP_REFRESH
								    : TG_GROUP_MOVED;
}

void tg_group_file_close(struct tg_group_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

void tg_group_file_open(struct tg_group_file *f, struct tg_env *env, const struct tg_cgroup *g,
	const char *name_v2, const char *name_v1)
{
	if (f->fd >= 0 && f->v2 == g->v2 && !strcmp(f->path, g->path))
		return;
	f->opened += f->v2 != g->v2 || strcmp(f->path, g->path) != 0;
	tg_group_file_close(f);
	f->v2 = g->v2;
	memcpy(f->path, g->path, sizeof(f->path));
	f->fd = tg_cgroup_open(env, g, g->v2 ? name_v2 : name_v1);
}

bool tg_group_file_read(const struct tg_group_file *f, struct tg_env *env)
{
	return f->fd >= 0 && tg_text_pread(env->text, f->fd) > 0;
}

int64_t tg_group_key(const struct tg_env *env, const char *name)
{
	int64_t v;

	return tg_procfs_key(env->text->data, env->text->len, name, &v) ? v : TG_MISSING;
}

void tg_group_sum_put(struct tg_group_sum *sum, const struct tg_group_file *f, struct tg_out *out,
	size_t metric, int64_t v)
{
	if (v == TG_MISSING)
		return;
	if (sum->opened != f->opened && sum->last != TG_MISSING)
		sum->shift = (int64_t)((uint64_t)sum->last - (uint64_t)v);
	sum->opened = f->opened;
	sum->last = (int64_t)((uint64_t)v + (uint64_t)sum->shift);
	tg_out_put(out, 0, metric, sum->last);
}
