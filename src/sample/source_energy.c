/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Energy of the processors: RAPL's zones of powercap, of Intel and AMD alike, or where there are
 * none the sockets of AMD's driver amd_energy. The counters of a zone begin anew at a range of
 * some minutes, and many of them after a suspend; here they only grow.
 *
 * Only packages are added up: cores and uncore are inside them, memory beside them, and psys is
 * the whole machine with all of these in it.
 */
#include <errno.h>
#include <unistd.h>

#include "sample/energy.h"
#include "sample/procfs.h"
#include "sample/source.h"

#include "base/clock.h"
#include "base/mem.h"

#define POWERCAP  "sys/class/powercap"
#define HWMON     "sys/class/hwmon"
#define ZONES_MAX 256

#define MOST_UJ_PER_NS 10 /* 10 kW: no zone draws that much */
#define LATE_NS        (100 * TG_NS_PER_MS) /* counters move in steps */
#define SLEPT_NS       (100 * TG_NS_PER_MS) /* the two clocks are read one after the other */

enum { CPU, ZONE };

static const struct tg_metric metrics[] = {
	[CPU] = { "energy.cpu_j", "J", TG_COUNTER, TG_SCOPE_NODE, -6,
		"energy of all processor packages of the machine" },
	[ZONE] = { "energy.zone_j", "J", TG_COUNTER, TG_SCOPE_NODE, -6,
		"energy of one zone; zones may lie in one another, so no sum of them" },
};

struct zone {
	char name[TG_INSTANCE_MAX];
	int fd;
	bool package; /* to be added up */
	int64_t range; /* where it begins anew; 0: it does not */
	struct tg_energy_at last;
	int64_t total; /* uJ, as unfolded */
};

struct energy {
	struct zone *zone;
	size_t n, cap;
	struct tg_env *env; /* while it is opened, as the next two */
	const char *folder;
	bool denied;
};

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* The word that a file of a folder consists of. False when it has none, or a long one. */
static bool read_word(
	struct tg_env *env, const char *folder, const char *file, char *to, size_t size)
{
	const char *word;
	struct tg_cursor s;
	size_t n;

	if (tg_env_read(env, "%s/%s", folder, file) <= 0)
		return false;
	s = tg_cursor_of(env->text->data, env->text->len);
	if (!tg_cursor_word(&s, &word, &n) || n >= size)
		return false;
	snprintf(to, size, "%.*s", (int)n, word);
	return true;
}

static bool read_number(const struct tg_text *text, int64_t *value)
{
	return tg_procfs_number(text->data, text->len, value) && *value >= 0;
}

/* `file` has the counter. Returns the zone, or NULL when it cannot be read. */
static struct zone *add_zone(struct energy *e, const char *folder, const char *file)
{
	int fd = tg_env_open(e->env, "%s/%s", folder, file);
	struct zone *z;

	e->denied |= fd == -EACCES || fd == -EPERM;
	if (fd < 0 || e->n == ZONES_MAX) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	TG_GROW(e->zone, e->n + 1, e->cap);
	z = &e->zone[e->n++];
	*z = (struct zone){ .fd = fd, .last.uj = -1 };
	return z;
}

/* "intel-rapl:0" is a package or psys, "intel-rapl:0:1" a part of it */
static int one_powercap(void *ctx, const char *entry)
{
	struct energy *e = ctx;
	char folder[128], parent[128], outer[24], name[24];
	const char *colon;
	struct zone *z;

	/* the same again through registers in memory is intel-rapl-mmio */
	if (!begins(entry, "intel-rapl:") || strlen(entry) > 40)
		return 0;
	snprintf(folder, sizeof(folder), POWERCAP "/%s", entry);
	if (!read_word(e->env, folder, "name", name, sizeof(name)))
		return 0;
	z = add_zone(e, folder, "energy_uj");
	if (!z)
		return 0;
	colon = strrchr(entry, ':');
	if (colon == strchr(entry, ':')) {
		snprintf(z->name, sizeof(z->name), "%s", name);
		z->package = begins(name, "package-");
	} else {
		snprintf(parent, sizeof(parent), POWERCAP "/%.*s", (int)(colon - entry), entry);
		if (!read_word(e->env, parent, "name", outer, sizeof(outer)))
			snprintf(outer, sizeof(outer), "?");
		snprintf(z->name, sizeof(z->name), "%s %s", outer, name);
	}
	if (tg_env_read(e->env, "%s/max_energy_range_uj", folder) <= 0 ||
		!read_number(e->env->text, &z->range))
		z->range = 0;
	return 0;
}

/* energy9_label: Esocket0. Cores have one each, too, of which the sockets are the sums. */
static int one_label(void *ctx, const char *entry)
{
	static const char tail[] = "_label";
	struct energy *e = ctx;
	size_t len = strlen(entry), n = len - TG_MIN(len, sizeof(tail) - 1);
	char label[24], input[64];
	struct zone *z;

	if (n > 32 || !begins(entry, "energy") || strcmp(entry + n, tail) != 0 ||
		!read_word(e->env, e->folder, entry, label, sizeof(label)) ||
		!begins(label, "Esocket"))
		return 0;
	snprintf(input, sizeof(input), "%.*s_input", (int)n, entry);
	z = add_zone(e, e->folder, input);
	if (z) {
		snprintf(z->name, sizeof(z->name), "socket-%s", label + strlen("Esocket"));
		z->package = true;
	}
	return 0;
}

static int one_hwmon(void *ctx, const char *entry)
{
	struct energy *e = ctx;
	char folder[128], name[24];

	if (strlen(entry) > 40)
		return 0;
	snprintf(folder, sizeof(folder), HWMON "/%s", entry);
	if (!read_word(e->env, folder, "name", name, sizeof(name)) ||
		strcmp(name, "amd_energy") != 0)
		return 0;
	e->folder = folder;
	tg_env_each(e->env, one_label, e, "%s", folder);
	return 0;
}

static void close_energy(void *state)
{
	struct energy *e = state;

	for (size_t i = 0; i < e->n; i++)
		close(e->zone[i].fd);
	free(e->zone);
	free(e);
}

static int open_energy(struct tg_env *env, void **state, char *why, size_t why_size)
{
	struct energy *e = tg_xcalloc(1, sizeof(*e));
	bool denied;

	e->env = env;
	tg_env_each(env, one_powercap, e, POWERCAP);
	if (!e->n)
		tg_env_each(env, one_hwmon, e, HWMON);
	if (e->n) {
		*state = e;
		return 0;
	}
	denied = e->denied;
	close_energy(e);
	snprintf(why, why_size, "%s",
		denied ? "denied: energy_uj below /sys/class/powercap is root's to read"
		       : "no energy counter: neither RAPL (powercap) nor amd_energy");
	return denied ? -EACCES : -ENOENT;
}

int64_t tg_energy_gain(
	const struct tg_energy_at *last, const struct tg_energy_at *now, int64_t range)
{
	int64_t awake_ns = now->mono_ns - last->mono_ns;
	int64_t slept_ns = now->boot_ns - last->boot_ns - awake_ns;
	int64_t most = (awake_ns + LATE_NS) * MOST_UJ_PER_NS, wrapped = range - last->uj;

	if (last->uj < 0 || now->uj >= last->uj)
		return now->uj - TG_MAX(last->uj, 0);
	if (slept_ns < SLEPT_NS && wrapped >= 0 && now->uj <= most - wrapped)
		return wrapped + now->uj;
	return now->uj <= most ? now->uj : 0;
}

static void unfold(struct zone *z, const struct tg_env *env, int64_t uj)
{
	struct tg_energy_at now = { uj, env->t_ns, env->t_ns };

	if (env->live) {
		now.mono_ns = tg_mono_ns();
		now.boot_ns = tg_boot_ns();
	}
	if (__builtin_add_overflow(z->total, tg_energy_gain(&z->last, &now, z->range), &z->total))
		z->total = uj;
	z->last = now;
}

static void read_energy(void *state, struct tg_env *env, struct tg_out *out)
{
	struct energy *e = state;
	bool known = true, any = false;
	int64_t sum = 0;
	size_t i;

	for (size_t k = 0; k < e->n; k++) {
		struct zone *z = &e->zone[k];
		int64_t now;

		if (tg_text_pread(env->text, z->fd) <= 0 || !read_number(env->text, &now)) {
			known &= !z->package;
			continue;
		}
		unfold(z, env, now);
		i = tg_out_instance(out, z->name);
		if (i != SIZE_MAX)
			tg_out_put(out, i, ZONE, z->total);
		any |= z->package;
		known &= !z->package || !__builtin_add_overflow(sum, z->total, &sum);
	}
	i = tg_out_instance(out, "");
	if (known && any && i != SIZE_MAX)
		tg_out_put(out, i, CPU, sum);
}

const struct tg_source tg_source_energy = {
	.name = "energy",
	.help = "energy that the processors have used, whoever made them work",
	.metric = metrics,
	.n_metrics = TG_ARRAY_SIZE(metrics),
	.period_ns = 100 * TG_NS_PER_MS,
	.instances = true,
	.edge = true,
	.open = open_energy,
	.read = read_energy,
	.close = close_energy,
};
