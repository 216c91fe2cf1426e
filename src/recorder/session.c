/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/session.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "sample/cgroup.h"

#include "base/mem.h"

/* The first line of a small file without its newline, or "". */
static void first_line(const char *path, char *line, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : tg_file_pread0(fd, line, size);

	if (fd >= 0)
		close(fd);
	line[n > 0 ? strcspn(line, "\n") : 0] = '\0';
}

static void add_text(struct tg_jw *w, const char *key, const char *s)
{
	if (*s)
		tg_jw_kstr(w, key, s);
}

/* model name	: AMD EPYC 7763 64-Core Processor */
static void add_cpu_model(struct tg_jw *w)
{
	int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	char text[8192], *p;
	ssize_t n = fd < 0 ? -1 : tg_file_pread0(fd, text, sizeof(text));

	if (fd >= 0)
		close(fd);
	p = n > 0 ? strstr(text, "model name") : NULL;
	p = p ? strchr(p, ':') : NULL;
	if (!p)
		return; /* aarch64 has none */
	p += strspn(p, ": \t");
	p[strcspn(p, "\n")] = '\0';
	add_text(w, "cpu_model", p);
}

/* MemTotal:       16302584 kB */
static void add_memory(struct tg_jw *w)
{
	char line[128];

	first_line("/proc/meminfo", line, sizeof(line));
	if (!strncmp(line, "MemTotal:", 9) && strtoll(line + 9, NULL, 10) > 0)
		tg_jw_kint(w, "memory_bytes", strtoll(line + 9, NULL, 10) * 1024);
}

/* On version 1 that of the memory controller. */
static void add_cgroup(struct tg_jw *w, pid_t root)
{
	struct tg_buf text = TG_BUF_INIT;
	char path[40], group[TG_PATH_MAX];
	bool v2;

	snprintf(path, sizeof(path), root > 0 ? "/proc/%d/cgroup" : "/proc/self/cgroup", (int)root);
	if (tg_file_read(AT_FDCWD, path, 64u << 10, &text, NULL) == 0 &&
		tg_cgroup_path(text.data, text.len, "memory", group, &v2) == 0)
		add_text(w, "cgroup", group);
	tg_buf_release(&text);
}

static void add_zone(struct tg_jw *w)
{
	const char *tz = getenv("TZ"), *name = NULL;
	time_t now = (time_t)(tg_real_ns() / TG_NS_PER_S);
	char link[PATH_MAX] = "";
	struct tm local;

	if (tz && *tz) {
		name = tz[0] == ':' ? tz + 1 : tz;
	} else if (readlink("/etc/localtime", link, sizeof(link) - 1) > 0) {
		name = strstr(link, "zoneinfo/");
		name = name ? name + strlen("zoneinfo/") : NULL;
	}
	if (name)
		add_text(w, "tz", name);
	if (localtime_r(&now, &local))
		tg_jw_kint(w, "tz_offset_s", local.tm_gmtoff);
}

void tg_session_json(
	struct tg_buf *out, const struct tg_recorder_options *o, const struct tg_clocks *clocks)
{
	char host[256] = "", boot_id[64];
	struct utsname name;
	struct tg_jw w;

	gethostname(host, sizeof(host) - 1);
	first_line("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	tg_jw_kstr(&w, "tool", "tachograph " TG_VERSION);
	add_text(&w, "host", host);
	add_text(&w, "boot_id", boot_id);
	if (uname(&name) == 0) {
		add_text(&w, "machine", name.machine);
		add_text(&w, "kernel", name.release);
	}
	add_cpu_model(&w);
	tg_jw_kint(&w, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	add_memory(&w);
	add_cgroup(&w, o->root);
	add_zone(&w);
	tg_jw_key(&w, "clock");
	tg_jw_begin_object(&w);
	tg_jw_kint(&w, "mono_ns", clocks->mono_ns);
	tg_jw_kint(&w, "real_ns", clocks->real_ns);
	tg_jw_kint(&w, "boot_ns", clocks->boot_ns);
	tg_jw_end_object(&w);
	tg_jw_kstr(&w, "what", o->what);
	if (o->root > 0)
		tg_jw_kint(&w, "root", o->root);
	tg_jw_kint(&w, "interval_ns", o->interval_ns);
	tg_jw_kint(&w, "idle_interval_ns", o->idle_interval_ns);
	tg_jw_end_object(&w);
}
