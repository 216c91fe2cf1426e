/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs whose drivers speak through files: amdgpu in /sys, and clients of amdgpu, i915 and xe in
 * /proc/PID/fdinfo. The tree was written by hand after the kernel's documents. Numbers in comments
 * are those of the list of pitfalls that sampling tools have been found in.
 */
#include "tap.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "sample_tree.h"

#include "sample/apart.h"
#include "sample/drm.h"

#include "base/mem.h"

extern const struct tg_source tg_source_drm;

#define AMD    "0000:03:00.0"
#define INTEL  "0000:00:02.0"
#define INTEL2 "0000:04:00.0"

/* pitfall 34: what sleeps is not read, what cannot be read is missing, connectors are no cards */
static void test_amdgpu(void)
{
	struct copy c = copy_of("amd");
	struct tg_sampler *s = sampler_at(c.folder, 700);
	struct tg_reading r;

	T_EQ_S(said(s, "amdgpu"), "+");
	tg_sampler_read(s, 0, &r);
	VALUE("amdgpu.util_pct", AMD, 37);
	VALUE("amdgpu.memory_used_bytes", AMD, 1073741824);
	VALUE("amdgpu.memory_total_bytes", AMD, INT64_C(25753026560));
	VALUE("amdgpu.power_w", AMD, 45000000); /* the average, where there are both */
	T_OK(!has_column(&r, "amdgpu.util_pct", "0000:07:00.0"));
	T_OK(!has_column(&r, "amdgpu.util_pct", INTEL));
	VALUE("amdgpu.util_pct", "card3", 100);
	T_OK(!has_column(&r, "amdgpu.power_w", "card3"));
	put_file(&c, "sys/class/drm/card0/device/gpu_busy_percent", "", 0); /* as with EBUSY */
	put_file(&c, "sys/class/drm/card1/device/power/runtime_status", "active\n", 7);
	tg_sampler_read(s, 0, &r);
	MISSING("amdgpu.util_pct", AMD);
	VALUE("amdgpu.power_w", AMD, 45000000);
	VALUE("amdgpu.util_pct", "0000:07:00.0", 0);
	VALUE("amdgpu.power_w", "0000:07:00.0", 1500000);
	put_file(&c, "sys/class/drm/card0/device/gpu_busy_percent", "nan\n", 4);
	put_file(&c, "sys/class/drm/card1/device/power/runtime_status", "suspending\n", 11);
	tg_sampler_read(s, 0, &r);
	MISSING("amdgpu.util_pct", AMD);
	MISSING("amdgpu.util_pct", "0000:07:00.0");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 34, report 29: each client of each device once, however many descriptors it has */
static void test_clients(void)
{
	struct tg_sampler *s = sampler_of("amd", 700);
	struct tg_reading r;

	T_EQ_S(said(s, "drm"), "+");
	for (int i = 0; i < 2; i++) {
		tg_sampler_read(s, TG_READ_REFRESH, &r);
		VALUE("drm.engine_ns", AMD " gfx", INT64_C(3000000000) + 500);
		VALUE("drm.engine_ns", AMD " compute", 5000 + 5000);
		VALUE("drm.memory_bytes", AMD " vram",
			2 * 2048 * 1024); /* resident, or as of old */
		VALUE("drm.memory_bytes", AMD " gtt", 10 << 20);
		VALUE("drm.memory_bytes", AMD " cpu", 0);
		VALUE("drm.engine_ns", INTEL " render", INT64_C(25662044495));
		VALUE("drm.engine_ns", INTEL " video", 77);
		VALUE("drm.engine_ns", INTEL " video-enhance", 0);
		T_OK(!has_column(&r, "drm.engine_ns", INTEL " capacity-video"));
		VALUE("drm.memory_bytes", INTEL " system0", 31908);
		VALUE("drm.memory_bytes", INTEL2 " vram0", 2 << 20);
		T_OK(!has_column(&r, "drm.memory_bytes", INTEL2 " system")); /* no resident one */
		VALUE("drm.engine_ns", INTEL2 " rcs", 0); /* cycles say nothing at first */
	}
	tg_sampler_free(s);
}

/* pitfall 34, report 30: xe counts cycles; half of all that passed are half of the time */
static void test_cycles(void)
{
	struct copy c = copy_of("amd");
	struct tg_sampler *s = sampler_at(c.folder, 700);
	struct tg_reading r;
	int64_t before = tg_mono_ns(), between, ns;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	between = tg_mono_ns();
	usleep(2000);
	edit(&c, "proc/703/fdinfo/3", "cycles-rcs:\t28257900\n", "cycles-rcs:\t28258400\n");
	edit(&c, "proc/703/fdinfo/3", "cycles-rcs:\t7655183225\n", "cycles-rcs:\t7655184225\n");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	ns = column(&r, "drm.engine_ns", INTEL2 " rcs");
	T_OK(ns >= 2000000 / 2 && ns <= (tg_mono_ns() - before) / 2 && between > before);
	VALUE("drm.engine_ns", INTEL2 " bcs", 0);
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 34: a counter that falls for a moment is waited for; a client that is gone leaves its
 * time */
static void test_regress(void)
{
	struct copy c = copy_of("amd");
	struct tg_sampler *s = sampler_at(c.folder, 700);
	struct tg_reading r;
	char path[100];

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	edit(&c, "proc/702/fdinfo/4", "25662044495 ns", "25662044000 ns");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("drm.engine_ns", INTEL " render", INT64_C(25662044495));
	edit(&c, "proc/702/fdinfo/4", "25662044000 ns", "25662044500 ns");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("drm.engine_ns", INTEL " render", INT64_C(25662044500));
	snprintf(path, sizeof(path), "%s/proc/702/fd/4", c.folder);
	T_EQ_I(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/proc/702/fdinfo/4", c.folder);
	T_EQ_I(unlink(path), 0);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("drm.engine_ns", INTEL " render", INT64_C(25662044500));
	VALUE("drm.memory_bytes", INTEL " system0", 0);
	/* one whose descriptors we may not see could have some */
	snprintf(path, sizeof(path), "%s/proc/702/fd", c.folder);
	T_EQ_I(chmod(path, 0), 0);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	if (geteuid())
		MISSING("drm.memory_bytes", INTEL " system0");
	else
		printf("# as root all descriptors are seen\n");
	T_EQ_I(chmod(path, 0700), 0);
	/* what hangs is not read: it could make us wait */
	edit(&c, "proc/702/stat", ") S ", ") D ");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	MISSING("drm.memory_bytes", INTEL " system0");
	VALUE("drm.memory_bytes", AMD " gtt", 10 << 20);
	tg_sampler_free(s);
	copy_remove(&c);
}

static int64_t read_at(
	void *drm, struct tg_env *env, struct tg_out *out, int64_t t_ns, const char *name)
{
	env->t_ns = t_ns;
	for (size_t k = 0; k < out->n_instances * out->source->n_metrics; k++)
		out->value[k] = TG_MISSING;
	tg_source_drm.read(drm, env, out);
	return out->value[tg_out_instance(out, name) * out->source->n_metrics];
}

/* pitfall 34: what a client had does not count twice when it is found again after a long time, and
 * of too many clients the old ones make room */
static void test_found_again(void)
{
	static const int32_t pid = 702;
	const struct tg_pids all = { &pid, 1, false }, none = { NULL, 0, true };
	struct copy c = copy_of("amd");
	struct tg_text text;
	struct tg_env env = { .root = 702, .text = &text, .stat_fd = -1 };
	struct tg_out out = { .source = &tg_source_drm };
	int64_t ns = INT64_C(25662044495), t_ns = 1000 * TG_NS_PER_S;
	char why[160], file[200];
	void *drm;

	tg_text_init(&text);
	env.root_fd = open(c.folder, O_RDONLY | O_DIRECTORY);
	T_EQ_I(tg_source_drm.open(&env, &drm, why, sizeof(why)), 0);
	for (int i = 0; i < 5; i++) { /* it hangs now and then */
		env.pids = i % 2 ? &none : &all;
		t_ns += 100 * TG_NS_PER_S;
		T_EQ_I(read_at(drm, &env, &out, t_ns, INTEL " render"), ns);
	}
	edit(&c, "proc/702/fdinfo/4", "25662044495 ns", "25662044500 ns");
	T_EQ_I(read_at(drm, &env, &out, ++t_ns, INTEL " render"), ns += 5);
	for (int i = 0; i < 5000; i++) { /* more than are remembered */
		int len = snprintf(file, sizeof(file),
			"drm-driver:\ti915\ndrm-pdev:\t" INTEL "\ndrm-client-id:\t%d\n"
			"drm-engine-render:\t1 ns\n",
			1000 + i);

		put_file(&c, "proc/702/fdinfo/4", file, (size_t)len);
		t_ns += 100 * TG_NS_PER_S;
		if (read_at(drm, &env, &out, t_ns, INTEL " render") != ++ns)
			break;
	}
	T_EQ_I(read_at(drm, &env, &out, ++t_ns, INTEL " render"), INT64_C(25662044500) + 5000);
	tg_source_drm.close(drm);
	free(out.instance);
	free(out.value);
	free(out.was_put);
	close(env.root_fd);
	tg_text_release(&text);
	copy_remove(&c);
}

static void test_root_changes(void)
{
	struct tg_sampler *s = sampler_of("amd", 700);
	struct tg_reading r;

	tg_sampler_read(s, TG_READ_REFRESH, &r);
	tg_sampler_set_root(s, 702);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	MISSING("drm.engine_ns", AMD " gfx");
	VALUE("drm.engine_ns", INTEL " render", INT64_C(25662044495));
	tg_sampler_free(s);
}

static void test_parser(void)
{
	struct tg_drm d;
	static const char *const bad[] = {
		"",
		"drm-driver:\tamdgpu\n", /* no client */
		"drm-client-id:\t5\n", /* of what? */
		"drm-driver:\tamdgpu\ndrm-client-id:\t-5\n",
		"drm-driver:\tamdgpu\ndrm-client-id:\t99999999999999999999\n",
		"drm-driver:\tamdgpu\ndrm-client-id:\t5", /* cut off */
		"drm-driver:\ta_name_that_is_longer_than_any\ndrm-client-id:\t5\n",
	};
	static const char odd[] = "drm-driver:\tpanfrost\ndrm-client-id:\t7\n"
				  "drm-engine-:\t1 ns\ndrm-engine-x y:\t1 ns\n"
				  "drm-engine-fragment:\t-3 ns\ndrm-engine-vertex:\tx ns\n"
				  "drm-memory-gtt:\t9007199254740993 MiB\n"
				  "drm-total-memory:\t5\ndrm-cycles-fragment:\t9\n";

	for (size_t i = 0; i < TG_ARRAY_SIZE(bad); i++)
		T_EQ_I(tg_drm_fdinfo(bad[i], strlen(bad[i]), &d), -ENOENT);
	T_EQ_I(tg_drm_fdinfo(odd, sizeof(odd) - 1, &d), 0);
	T_EQ_S(d.pdev, "panfrost"); /* on no PCI bus */
	T_EQ_I(d.client, 7);
	T_EQ_I(d.n_memories, 0);
	T_EQ_I(d.n_engines, 1);
	T_EQ_S(d.engine[0].name, "fragment");
	T_EQ_I(d.engine[0].ns, TG_MISSING);
	T_EQ_I(d.engine[0].cycles, 9);
}

/* ---- drivers are asked by a process of its own ---- */

#define APART_MAX 8

struct apart {
	struct copy c;
	int root_fd;
	struct tg_sampler *s;
	struct tg_reading r;
	pid_t helper[APART_MAX];
	int fd; /* the other end of a helper that is us; 0: true ones */
	int starts;
	struct tg_buf notes;
};

static void on_note(void *ctx, int64_t t_ns, const char *text)
{
	(void)t_ns;
	tg_buf_addf(&((struct apart *)ctx)->notes, "%s\n", text);
}

static int on_start_apart(void *ctx)
{
	struct apart *a = ctx;
	int pair[2];

	if (a->starts == APART_MAX || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
		return -EMFILE;
	if (a->fd) {
		a->starts++;
		close(a->fd);
		a->fd = pair[1];
		return pair[0];
	}
	fflush(stdout);
	a->helper[a->starts] = fork();
	if (!a->helper[a->starts]) {
		close(pair[0]);
		tg_apart_serve(pair[1], a->root_fd);
		_exit(0);
	}
	a->starts++;
	close(pair[1]);
	return pair[0];
}

static void apart_begin(struct apart *a, int fd)
{
	struct tg_sampler_options options = { .root = 700,
		.hooks = { .note = on_note, .start_apart = on_start_apart, .ctx = a } };

	*a = (struct apart){ .c = copy_of("amd"), .notes = TG_BUF_INIT, .fd = fd };
	options.root_fd = a->root_fd = open(a->c.folder, O_RDONLY | O_DIRECTORY);
	T_EQ_I(tg_sampler_new(&a->s, &options, NULL), 0);
}

/* Those that are ours end with their socket, but for one that hangs. */
static void apart_end(struct apart *a, bool hung)
{
	tg_sampler_free(a->s);
	for (int i = 0; i < a->starts && a->helper[i] > 0; i++) {
		if (hung)
			kill(a->helper[i], SIGKILL);
		T_EQ_I(waitpid(a->helper[i], NULL, 0), a->helper[i]);
	}
	close(a->root_fd);
	tg_buf_release(&a->notes);
	copy_remove(&a->c);
}

/* Until that value has come, or that has been said. */
static int64_t await(struct apart *a, const char *metric, const char *instance, const char *said)
{
	int64_t until = tg_mono_ns() + 20 * TG_NS_PER_S, value = TG_MISSING;

	while (tg_mono_ns() < until && !(said && a->notes.data && strstr(a->notes.data, said)) &&
		(said || value == TG_MISSING)) {
		usleep(5000);
		tg_sampler_read(a->s, 0, &a->r);
		value = column(&a->r, metric, instance);
	}
	return value;
}

/* pitfall 34: the same values as those that are read here, of a whole tree of processes */
static void test_apart(void)
{
	struct apart a;

	apart_begin(&a, 0);
	tg_sampler_read(a.s, 0, &a.r);
	T_OK(!has_column(&a.r, "amdgpu.util_pct", AMD)); /* nothing has come yet */
	T_EQ_I(await(&a, "amdgpu.util_pct", AMD, NULL), 37);
	T_EQ_I(await(&a, "amdgpu.power_w", AMD, NULL), 45000000);
	T_EQ_I(await(&a, "drm.engine_ns", AMD " gfx", NULL), INT64_C(3000000000) + 500);
	T_EQ_I(await(&a, "drm.memory_bytes", AMD " vram", NULL), 2 * 2048 * 1024);
	T_EQ_I(await(&a, "drm.engine_ns", INTEL " render", NULL), INT64_C(25662044495));
	T_OK(column(&a.r, "self.helper_cpu_ns", "") > 0);
	T_EQ_I(a.starts, 2);
	T_EQ_S(a.notes.data ? a.notes.data : "", "");
	apart_end(&a, false);
}

/* pitfalls 30 and 34: a driver that hangs in a file of it holds its helper, and nothing else */
static void test_apart_hung(void)
{
	struct apart a;
	char path[100];

	apart_begin(&a, 0);
	T_EQ_I(await(&a, "drm.engine_ns", INTEL " render", NULL), INT64_C(25662044495));
	snprintf(path, sizeof(path), "%s/proc/702/fdinfo/4", a.c.folder);
	T_EQ_I(unlink(path), 0);
	T_EQ_I(mkfifo(path, 0600), 0); /* to open it waits for ever */
	await(&a, "drm.engine_ns", INTEL " render",
		"Values of drm are missing: the driver does not answer; another try follows\n");
	T_OK(strstr(a.notes.data, "Values of drm are missing") != NULL);
	T_EQ_I(column(&a.r, "drm.engine_ns", INTEL " render"), TG_MISSING);
	T_EQ_I(column(&a.r, "tree.processes", ""), 4);
	T_EQ_I(await(&a, "amdgpu.util_pct", AMD, NULL), 37);
	apart_end(&a, true);
}

/* pitfall 30: what there is is seen without a driver that hangs, of which that is said */
static void test_apart_offered(void)
{
	struct tg_source_info info[32];
	struct tg_metric_info of;
	struct apart a;
	char path[100];
	size_t n;

	apart_begin(&a, 0);
	snprintf(path, sizeof(path), "%s/proc/702/fdinfo/4", a.c.folder);
	T_EQ_I(unlink(path), 0);
	T_EQ_I(mkfifo(path, 0600), 0);
	tg_sampler_look(a.s, TG_NS_PER_S);
	T_EQ_I(await(&a, "amdgpu.util_pct", AMD, NULL), 37);
	n = TG_MIN(tg_sampler_sources(a.s, info, TG_ARRAY_SIZE(info)), TG_ARRAY_SIZE(info));
	for (size_t i = 0; i < n; i++) {
		bool hangs = !strcmp(info[i].name, "drm");

		if (!hangs && strcmp(info[i].name, "amdgpu") != 0)
			continue;
		tg_sampler_metric(a.s, i, 0, &of);
		T_EQ_I(of.available, !hangs);
		T_EQ_S(of.why, hangs ? "the driver does not answer" : "");
		T_EQ_S(info[i].why, hangs ? "the driver does not answer" : "");
	}
	apart_end(&a, true);
	apart_begin(&a, 0);
	tg_sampler_look(a.s, 20 * TG_NS_PER_S); /* until it has answered */
	tg_sampler_read(a.s, 0, &a.r);
	T_OK(has_column(&a.r, "drm.engine_ns", INTEL " render"));
	apart_end(&a, false);
}

/* pitfall 30: a helper that dies between two questions is missed, and another takes over */
static void test_apart_killed(void)
{
	struct apart a;

	apart_begin(&a, 0);
	T_EQ_I(await(&a, "drm.memory_bytes", AMD " gtt", NULL), 10 << 20);
	T_EQ_I(a.starts, 2);
	T_EQ_I(kill(a.helper[1], SIGKILL), 0); /* it is asked once a second: not now */
	await(&a, "drm.memory_bytes", AMD " gtt",
		"Values of drm are missing: the process that asks the driver has died; another try "
		"follows\n");
	T_OK(strstr(a.notes.data ? a.notes.data : "", "has died; another try") != NULL);
	T_EQ_I(await(&a, "drm.memory_bytes", AMD " gtt", NULL), 10 << 20);
	T_EQ_I(a.starts, 3);
	apart_end(&a, false);
}

/* What a helper that lost its mind may send: it is closed, and nothing of it is believed. */
static void test_apart_nonsense(void)
{
	struct tg_apart_answer ok = { .magic = TG_APART_MAGIC, .n = 1 };

	ok.at[0].value = 7;
	memcpy(ok.at[0].instance, "x", 2);
	for (int i = 0; i < 6; i++) {
		struct tg_apart_answer bad = ok;
		struct apart a;

		apart_begin(&a, open("/dev/null", O_RDONLY));
		tg_sampler_read(a.s, 0, &a.r); /* a.fd is now the end of the last, which is drm's */
		bad.magic += i == 1;
		bad.n = i == 2 ? TG_APART_VALUES + 1 : 1;
		bad.at[0].metric = i == 3 ? 99 : 0;
		if (i == 4)
			memset(bad.at[0].instance, 'x', sizeof(bad.at[0].instance));
		T_OK(send(a.fd, &bad, sizeof(bad) - (i == 5), 0) > 0);
		tg_sampler_read(a.s, 0, &a.r);
		T_EQ_I(strstr(a.notes.data ? a.notes.data : "",
			       "drm are missing: the process that "
			       "asks the driver talks nonsense; another try follows") != NULL,
			i > 0);
		T_EQ_I(column(&a.r, "drm.engine_ns", "x"), i ? TG_MISSING : 7);
		close(a.fd);
		apart_end(&a, false);
	}
}

/* Nor is there an end of listening to an answer that never ends, or that nobody asked for. */
static void test_apart_endless(void)
{
	struct tg_apart_answer more = { .magic = TG_APART_MAGIC, .n = 1 };
	const struct tg_apart_answer last = { .magic = TG_APART_MAGIC };

	memcpy(more.at[0].instance, "x", 2);
	for (int unasked = 0; unasked < 2; unasked++) {
		const size_t most = unasked ? 1 : TG_APART_PACKETS(2);
		struct apart a;

		apart_begin(&a, open("/dev/null", O_RDONLY));
		tg_sampler_read(a.s, 0, &a.r);
		for (size_t sent = 0; sent <= most; sent++) {
			T_EQ_I(send(a.fd, unasked && !sent ? &last : &more, sizeof(more),
				       MSG_NOSIGNAL),
				(ssize_t)sizeof(more));
			if (unasked && !sent)
				continue;
			tg_sampler_read(a.s, TG_READ_REFRESH, &a.r);
			T_EQ_I(a.notes.data && strstr(a.notes.data,
						       "drm are missing: the process that asks the "
						       "driver talks nonsense"),
				sent == most);
		}
		close(a.fd);
		apart_end(&a, false);
	}
}

int main(void)
{
	test_parser();
	test_amdgpu();
	test_clients();
	test_cycles();
	test_regress();
	test_found_again();
	test_root_changes();
	test_apart();
	test_apart_hung();
	test_apart_offered();
	test_apart_killed();
	test_apart_nonsense();
	test_apart_endless();
	return t_done();
}
