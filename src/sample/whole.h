/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU time of the whole tree, by the best means that there is, and what of it no process explains.
 *
 * Adding up processes misses those that are born and dead between two readings and that nobody
 * waits for. Better is perf (sample/perf.h): complete for a root that is found when it is young;
 * of one that is not, its threads and children are counted from the first reading on. What executes
 * a set-user-ID program leaves the count, with all that it starts; the processes tell. Next best is
 * the job's own control group, where it has one with nobody else in it. The sum of the processes is
 * the least that it can be, whatever the means.
 */
#ifndef TG_SAMPLE_WHOLE_H
#define TG_SAMPLE_WHOLE_H

#include "sample/cgroup.h"
#include "sample/perf.h"
#include "sample/sampler.h"
#include "sample/source.h"

struct tg_whole {
	uint32_t root; /* entity of the process that began this count */
	bool begun;
	bool no_perf; /* it is not wanted */
	int64_t cores; /* of the machine */
	enum tg_means means;
	bool sure; /* nothing of the tree runs without now_ns having it */
	bool denied; /* perf is */
	bool foreign; /* … and so are other things of a process, as of another user's */
	char why[160]; /* not a better one; or what is uncertain; or "" */
	struct tg_perf perf;
	int cgroup_fd; /* of its cpu.stat or cpuacct.usage; -1: none */
	struct tg_cgroup cgroup; /* whose that is */
	int64_t base_ns; /* to be added to what perf or the group says */
	unsigned tries; /* left, to begin with perf at a moment when nothing is started */
	int64_t last_pid, asked_ns; /* as it was before the reading of the tree, and when */
	int64_t read_ns, cost_ns; /* when perf was read last, and what that took */
	int64_t now_ns; /* by perf or the group, at this reading; TG_MISSING: by neither */
	int64_t total_ns, unexplained_ns;
};

void tg_whole_init(struct tg_whole *w, bool no_perf);
void tg_whole_release(struct tg_whole *w);

/* Another root: what was counted is the old one's. */
void tg_whole_forget(struct tg_whole *w);

/*
 * At each reading, first: now_ns. With perf it costs a read for each thread that there was when the
 * count began. False when that would be too dear for so soon a reading: then nothing is known.
 */
bool tg_whole_before(struct tg_whole *w, struct tg_env *env);

/* When the tree is not read then: now_ns, which is not missing, goes to total_ns. */
void tg_whole_alone(struct tg_whole *w);

/*
 * When the tree was read then: all. Then total_ns and unexplained_ns hold, and never fall; where
 * the sum of the processes is all that there is, what they do not explain is not known.
 */
void tg_whole_after(struct tg_whole *w, struct tg_env *env);

/* kernel.perf_event_paranoid; -1: unknown. */
int64_t tg_whole_paranoid(struct tg_env *env);

#endif
