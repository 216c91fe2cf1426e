/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/procfs.h"

#include <errno.h>

#include "base/cpulist.h"
#include "base/metric.h"

#include "base/mem.h"

struct tg_cursor tg_cursor_of(const char *text, size_t len)
{
	return (struct tg_cursor){ text, text + len };
}

bool tg_cursor_line(struct tg_cursor *s, struct tg_cursor *line)
{
	const char *nl = s->p < s->end ? memchr(s->p, '\n', (size_t)(s->end - s->p)) : NULL;

	if (!nl)
		return false;
	*line = (struct tg_cursor){ s->p, nl + 1 };
	s->p = nl + 1;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(struct tg_cursor *s)
{
	while (s->p < s->end && is_blank(*s->p))
		s->p++;
}

bool tg_cursor_i64(struct tg_cursor *s, int64_t *value)
{
	struct tg_cursor at = *s;
	bool negative = false;
	const char *first;
	int64_t v = 0;

	skip_blanks(&at);
	if (at.p < at.end && *at.p == '-') {
		negative = true;
		at.p++;
	}
	for (first = at.p; at.p < at.end && *at.p >= '0' && *at.p <= '9'; at.p++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *at.p - '0', &v))
			return false;
	if (at.p == first || at.p == at.end)
		return false; /* none, or perhaps more digits were to come */
	*value = negative ? -v : v;
	*s = at;
	return true;
}

bool tg_cursor_word(struct tg_cursor *s, const char **word, size_t *len)
{
	skip_blanks(s);
	*word = s->p;
	while (s->p < s->end && !is_blank(*s->p) && *s->p != '\n')
		s->p++;
	*len = (size_t)(s->p - *word);
	return *len > 0;
}

static bool is_figure(int64_t v)
{
	return v >= 0 && v < INT64_C(1) << 60;
}

bool tg_cursor_numbers(struct tg_cursor *s, int64_t *const to[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t v;

		if (!tg_cursor_i64(s, &v) || (to[i] && !is_figure(v)))
			return false;
		if (to[i])
			*to[i] = v;
	}
	return true;
}

static bool starts(const struct tg_cursor *s, const char *with, size_t len)
{
	return (size_t)(s->end - s->p) >= len && !memcmp(s->p, with, len);
}

/* Copy with a NUL behind it; false when it does not fit or has one inside. */
static bool copy_word(char *to, size_t size, const char *from, size_t len)
{
	if (len >= size || memchr(from, '\0', len))
		return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Copy a word of mountinfo: a blank in a path is "\040". False as for copy_word. */
static bool copy_escaped(char *to, size_t size, const char *from, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; n++) {
		if (n + 1 >= size)
			return false;
		if (from[i] == '\\' && len - i >= 4 && is_octal(from[i + 1]) &&
			is_octal(from[i + 2]) && is_octal(from[i + 3])) {
			to[n] = (char)((from[i + 1] - '0') * 64 + (from[i + 2] - '0') * 8 +
				       (from[i + 3] - '0'));
			i += 4;
		} else {
			to[n] = from[i++];
		}
		if (!to[n])
			return false;
	}
	to[n] = '\0';
	return true;
}

bool tg_cursor_path(struct tg_cursor *s, char *to, size_t size)
{
	const char *word;
	size_t n;

	return tg_cursor_word(s, &word, &n) && copy_escaped(to, size, word, n);
}

bool tg_cursor_skip(struct tg_cursor *s, const char *text)
{
	struct tg_cursor at = *s;
	size_t n = strlen(text);

	skip_blanks(&at);
	if (!starts(&at, text, n))
		return false;
	s->p = at.p + n;
	return true;
}

/* 1610612736 */
bool tg_procfs_number(const char *text, size_t len, int64_t *value)
{
	struct tg_cursor s = tg_cursor_of(text, len);

	return tg_cursor_i64(&s, value);
}

/*
 * 4242 (a) b (c) S 1 4242 4242 0 -1 4194304 1503 20441 0 3 12 7 31 9 20 0 3 0 81234 230703104 …
 * Fields are numbered from 1 in proc(5): comm is 2, ends at the last ')', may hold anything.
 */
int tg_procfs_pid_stat(const char *text, size_t len, struct tg_pid_stat *out)
{
	const char *open = memchr(text, '(', len), *close = memrchr(text, ')', len);
	struct tg_cursor s = { NULL, text + len };
	int64_t ppid;
	/* from field 4, ppid, to field 22, starttime */
	int64_t *const field[] = { &ppid, NULL, NULL, NULL, NULL, &out->flags, &out->minflt,
		&out->cminflt, &out->majflt, &out->cmajflt, &out->utime, &out->stime, &out->cutime,
		&out->cstime, NULL, NULL, &out->threads, NULL, &out->starttime };
	size_t n;

	if (!open || !close || close < open || text + len - close < 3 || close[1] != ' ')
		return -EBADMSG;
	n = TG_MIN((size_t)(close - open - 1), sizeof(out->comm) - 1);
	memcpy(out->comm, open + 1, n);
	out->comm[n] = '\0';
	out->state = close[2];
	s.p = close + 3;
	if (!tg_cursor_numbers(&s, field, TG_ARRAY_SIZE(field)) || ppid > INT32_MAX)
		return -EBADMSG;
	out->ppid = (pid_t)ppid;
	return 0;
}

/* 56325 4096 1720 563 0 2911 0 */
int tg_procfs_statm(const char *text, size_t len, struct tg_statm *out)
{
	struct tg_cursor s = tg_cursor_of(text, len);
	int64_t *const field[] = { &out->size, &out->resident, &out->shared };

	if (!tg_cursor_numbers(&s, field, 3))
		return -EBADMSG;
	/* in bytes, too: that a page has 64 KiB at the most */
	return TG_MAX(out->size, out->resident) >> 44 ? -EBADMSG : 0;
}

/* rchar: 323934931 */
int tg_procfs_io(const char *text, size_t len, int64_t out[TG_IOS])
{
	static const char *const key[TG_IOS] = { "rchar:", "wchar:", "syscr:", "syscw:",
		"read_bytes:", "write_bytes:", "cancelled_write_bytes:" };
	struct tg_cursor s = tg_cursor_of(text, len), line;

	for (size_t i = 0; i < TG_IOS; i++) {
		if (!tg_cursor_line(&s, &line) || !starts(&line, key[i], strlen(key[i])))
			return -EBADMSG;
		line.p += strlen(key[i]);
		if (!tg_cursor_i64(&line, &out[i]) || !is_figure(out[i]))
			return -EBADMSG;
	}
	return 0;
}

/* VmHWM:	    1640 kB */
int tg_procfs_key_text(const char *text, size_t len, const char *key, struct tg_cursor *out)
{
	struct tg_cursor s = tg_cursor_of(text, len);
	size_t n = strlen(key);

	while (tg_cursor_line(&s, out)) {
		if (!starts(out, key, n))
			continue;
		out->p += n;
		skip_blanks(out);
		return 0;
	}
	return -ENOENT;
}

bool tg_procfs_key(const char *text, size_t len, const char *key, int64_t *value)
{
	struct tg_cursor rest;
	const char *unit;
	size_t n;

	if (tg_procfs_key_text(text, len, key, &rest) < 0 || !tg_cursor_i64(&rest, value))
		return false;
	if (tg_cursor_word(&rest, &unit, &n) && n == 2 && !memcmp(unit, "kB", 2))
		return !__builtin_mul_overflow(*value, 1024, value);
	return true;
}

struct wanted {
	const char *key;
	int64_t *value;
};

/* Several keys in one pass; what is absent is TG_MISSING. */
static void take_keys(const char *text, size_t len, const struct wanted *want, size_t n_want)
{
	struct tg_cursor s = tg_cursor_of(text, len), line;

	for (size_t i = 0; i < n_want; i++)
		*want[i].value = TG_MISSING;
	while (tg_cursor_line(&s, &line))
		for (size_t i = 0; i < n_want; i++) {
			size_t n = (size_t)(line.end - line.p);

			if (starts(&line, want[i].key, strlen(want[i].key)) &&
				!tg_procfs_key(line.p, n, want[i].key, want[i].value))
				*want[i].value = TG_MISSING;
		}
}

/* MemTotal:       24675712 kB */
void tg_procfs_meminfo(const char *text, size_t len, struct tg_meminfo *out)
{
	const struct wanted want[] = {
		{ "MemTotal:", &out->total },
		{ "MemFree:", &out->free },
		{ "MemAvailable:", &out->available },
		{ "Buffers:", &out->buffers },
		{ "Cached:", &out->cached },
		{ "Shmem:", &out->shmem },
		{ "SReclaimable:", &out->sreclaimable },
		{ "SwapTotal:", &out->swap_total },
		{ "SwapFree:", &out->swap_free },
	};

	take_keys(text, len, want, TG_ARRAY_SIZE(want));
}

/* RssShmem:	      33792 kB */
void tg_procfs_status_memory(const char *text, size_t len, struct tg_status_memory *out)
{
	const struct wanted want[] = {
		{ "VmHWM:", &out->hwm },
		{ "RssFile:", &out->file },
		{ "RssShmem:", &out->shmem },
		{ "VmSwap:", &out->swap },
		{ "HugetlbPages:", &out->hugetlb },
	};

	take_keys(text, len, want, TG_ARRAY_SIZE(want));
	for (size_t i = 0; i < TG_ARRAY_SIZE(want); i++)
		if (*want[i].value < 0)
			*want[i].value = TG_MISSING;
}

static bool is_size(int64_t bytes)
{
	return bytes >= 0 && bytes < INT64_C(1) << 48; /* so that any number of them can be added */
}

/* Pss:                 222 kB */
int tg_procfs_rollup(const char *text, size_t len, struct tg_rollup *out)
{
	const struct wanted want[] = {
		{ "Rss:", &out->rss },
		{ "Pss:", &out->pss },
		{ "SwapPss:", &out->swap_pss },
	};

	take_keys(text, len, want, TG_ARRAY_SIZE(want));
	if (out->swap_pss == TG_MISSING)
		out->swap_pss = 0;
	return is_size(out->rss) && is_size(out->pss) && is_size(out->swap_pss) ? 0 : -EBADMSG;
}

/* cpu3 4705 150 1120 16250 520 10 45 99 0 0 */
bool tg_procfs_cpu_next(struct tg_cursor *s, struct tg_cpu_line *out)
{
	int64_t *const field[] = { &out->user, &out->nice, &out->system, &out->idle, &out->iowait,
		&out->irq, &out->softirq, &out->steal };
	struct tg_cursor line;

	while (tg_cursor_line(s, &line)) {
		int64_t cpu = -1;

		if (!starts(&line, "cpu", 3))
			continue;
		line.p += 3;
		if (!is_blank(*line.p) && (!tg_cursor_i64(&line, &cpu) || cpu < 0 || cpu > 65535))
			continue;
		out->cpu = (int)cpu;
		if (tg_cursor_numbers(&line, field, TG_ARRAY_SIZE(field)))
			return true;
	}
	return false;
}

/* 259       0 nvme0n1 52483 9906 3230962 13774 17667 10518 2322280 11763 0 10188 26354 … */
bool tg_procfs_disk_next(struct tg_cursor *s, struct tg_disk_line *out)
{
	int64_t *const number[] = { NULL, NULL };
	int64_t *const field[] = { &out->reads, NULL, &out->sectors_read, NULL, &out->writes, NULL,
		&out->sectors_written, NULL, NULL, &out->busy_ms };
	struct tg_cursor line;
	const char *name;
	size_t n;

	while (tg_cursor_line(s, &line))
		if (tg_cursor_numbers(&line, number, 2) && tg_cursor_word(&line, &name, &n) &&
			copy_word(out->name, sizeof(out->name), name, n) &&
			tg_cursor_numbers(&line, field, TG_ARRAY_SIZE(field)))
			return true;
	return false;
}

/*  eth0: 200513349    6474    0    0    0     0          0         0   259390    3346    0 … */
bool tg_procfs_net_next(struct tg_cursor *s, struct tg_net_line *out)
{
	int64_t *const field[] = { &out->rx_bytes, &out->rx_packets, NULL, NULL, NULL, NULL, NULL,
		NULL, &out->tx_bytes, &out->tx_packets };
	struct tg_cursor line;

	while (tg_cursor_line(s, &line)) {
		const char *colon;

		skip_blanks(&line);
		/* a name may hold a colon (an alias); no number does */
		colon = memrchr(line.p, ':', (size_t)(line.end - line.p));
		if (!colon || colon == line.p ||
			!copy_word(out->name, sizeof(out->name), line.p, (size_t)(colon - line.p)))
			continue;
		line.p = colon + 1;
		if (tg_cursor_numbers(&line, field, TG_ARRAY_SIZE(field)))
			return true;
	}
	return false;
}

/* 4:memory:/user.slice        0::/user.slice/user-1000.slice */
bool tg_procfs_cgroup_next(struct tg_cursor *s, struct tg_cgroup_line *out)
{
	struct tg_cursor line;

	while (tg_cursor_line(s, &line)) {
		const char *nl = line.end - 1, *first, *second;

		first = memchr(line.p, ':', (size_t)(nl - line.p));
		second = first ? memchr(first + 1, ':', (size_t)(nl - first - 1)) : NULL;
		if (!second || second + 1 >= nl || second[1] != '/')
			continue;
		out->controllers = (struct tg_cursor){ first + 1, second };
		out->path = (struct tg_cursor){ second + 1, nl };
		return true;
	}
	return false;
}

/* 50000 100000        max 100000 */
bool tg_procfs_cpu_max(const char *text, size_t len, int64_t *quota, int64_t *period)
{
	struct tg_cursor s = tg_cursor_of(text, len);

	return tg_cursor_i64(&s, quota) && tg_cursor_i64(&s, period);
}

/* 35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory */
static bool mount_line(struct tg_cursor *line, struct tg_mount_line *out)
{
	const char *word;
	size_t n;

	for (int i = 0; i < 2; i++)
		if (!tg_cursor_word(line, &word, &n))
			return false;
	if (!tg_cursor_word(line, &word, &n) || !copy_word(out->dev, sizeof(out->dev), word, n))
		return false;
	if (!tg_cursor_path(line, out->root, sizeof(out->root)) ||
		!tg_cursor_path(line, out->point, sizeof(out->point)))
		return false;
	do { /* any number of optional fields, ended by a dash */
		if (!tg_cursor_word(line, &word, &n))
			return false;
	} while (n != 1 || *word != '-');
	if (!tg_cursor_word(line, &word, &n) ||
		!copy_word(out->fstype, sizeof(out->fstype), word, n))
		return false;
	if (!tg_cursor_word(line, &word, &n)) /* what is mounted */
		return false;
	if (!tg_cursor_word(line, &word, &n))
		return false;
	out->options = tg_cursor_of(word, n);
	return true;
}

bool tg_procfs_mount_next(struct tg_cursor *s, struct tg_mount_line *out)
{
	struct tg_cursor line;

	while (tg_cursor_line(s, &line))
		if (mount_line(&line, out))
			return true;
	return false;
}

bool tg_cursor_has(struct tg_cursor list, const char *word)
{
	size_t n = strlen(word);

	while (list.p < list.end) {
		const char *comma = memchr(list.p, ',', (size_t)(list.end - list.p));
		const char *end = comma ? comma : list.end;

		if ((size_t)(end - list.p) == n && !memcmp(list.p, word, n))
			return true;
		list.p = comma ? comma + 1 : list.end;
	}
	return false;
}

/* 0-3,8,10-11 */
int64_t tg_procfs_cpulist(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len);

	/* one that was cut off would name other CPUs */
	return end ? tg_cpulist_count(text, (size_t)(end - text)) : 0;
}

/* 0.62 0.77 0.64 1/1264 118320 */
int64_t tg_procfs_last_pid(const char *text, size_t len)
{
	struct tg_cursor s = tg_cursor_of(text, len);
	const char *word;
	int64_t pid;
	size_t n;

	for (int i = 0; i < 4; i++)
		if (!tg_cursor_word(&s, &word, &n))
			return -1;
	return tg_cursor_i64(&s, &pid) ? pid : -1;
}

/* some avg10=0.00 avg60=0.12 avg300=0.35 total=10923781 */
int64_t tg_procfs_pressure(const char *text, size_t len, const char *kind)
{
	struct tg_cursor line;
	const char *word;
	int64_t total;
	size_t n;

	if (tg_procfs_key_text(text, len, kind, &line) < 0)
		return -1;
	while (tg_cursor_word(&line, &word, &n)) {
		struct tg_cursor number = { word + 6, line.end };

		if (n > 6 && !memcmp(word, "total=", 6))
			return tg_cursor_i64(&number, &total) && total >= 0 ? total : -1;
	}
	return -1;
}

/* read_bytes                3 samples [bytes] 4096 1048576 2101248          open  5 samples [regs]
 */
bool tg_procfs_lustre_next(struct tg_cursor *s, struct tg_lustre_line *out)
{
	int64_t *const field[] = { NULL, NULL, &out->sum };
	struct tg_cursor line;
	const char *name, *unit;
	size_t n, m;

	while (tg_cursor_line(s, &line)) {
		if (!tg_cursor_word(&line, &name, &n) ||
			!copy_word(out->name, sizeof(out->name), name, n) ||
			!tg_cursor_i64(&line, &out->samples) ||
			!tg_cursor_skip(&line, "samples ") || !tg_cursor_word(&line, &unit, &m))
			continue;
		if (!tg_cursor_numbers(&line, field, TG_ARRAY_SIZE(field)))
			out->sum = TG_MISSING;
		return true;
	}
	return false;
}

bool tg_procfs_lustre_is_whole(const char *text, size_t len)
{
	struct tg_cursor s = tg_cursor_of(text, len);

	return tg_cursor_skip(&s, "snapshot_time ") && text[len - 1] == '\n';
}
