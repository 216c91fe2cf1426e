/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a recorder costs and how soon it looks: recorder_bench EXE [CELLS]. Starts one for this
 * process in a folder of its own, and prints its CPU time at 1 Hz and at 10 Hz, its memory, what a
 * mark costs the one who sends it, and how late the row of an edge is.
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "mark/address.h"
#include "mark/mark.h"
#include "record/reader.h"

#include "base/mem.h"

#define SECONDS 10

struct moments {
	int64_t *ns;
	size_t n, cap;
};

static void add_moment(struct moments *m, int64_t ns)
{
	TG_GROW(m->ns, m->n + 1, m->cap);
	m->ns[m->n++] = ns;
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void print_spread(const char *what, struct moments *m)
{
	qsort(m->ns, m->n, sizeof(*m->ns), ascending);
	printf("%-28s median %6.1f us   90 %% %6.1f us   99 %% %7.1f us\n", what,
		(double)m->ns[m->n / 2] / 1e3, (double)m->ns[m->n * 9 / 10] / 1e3,
		(double)m->ns[m->n * 99 / 100] / 1e3);
}

/* ns of CPU of the process so far, all its threads. */
static int64_t cpu_ns(pid_t pid)
{
	struct timespec t = { 0 };

	clock_gettime((clockid_t)(~(unsigned)pid << 3 | 2), &t); /* its CPU clock */
	return t.tv_sec * TG_NS_PER_S + t.tv_nsec;
}

static void print_cpu(const char *what, pid_t pid)
{
	int64_t before = cpu_ns(pid), start = tg_mono_ns();

	sleep(SECONDS);
	printf("%-28s %.2f ms of CPU a second\n", what,
		(double)(cpu_ns(pid) - before) / 1e6 /
			((double)(tg_mono_ns() - start) / TG_NS_PER_S));
}

static void print_memory(pid_t pid)
{
	struct tg_buf path = TG_BUF_INIT, text = TG_BUF_INIT;
	char *rest, *line;

	tg_buf_addf(&path, "/proc/%d/status", (int)pid);
	tg_file_read(AT_FDCWD, path.data, 1u << 16, &text, NULL);
	rest = text.data;
	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, "VmRSS", 5) || !strncmp(line, "RssAnon", 7))
			puts(line);
	tg_buf_release(&path);
	tg_buf_release(&text);
}

static int take_edge(void *ctx, uint32_t session, const char *json, size_t len)
{
	const char *t = strstr(json, "\"t\":");

	(void)session;
	(void)len;
	if (t && strstr(json, "\"kind\":\"cell\""))
		add_moment(ctx, strtoll(t + 4, NULL, 10));
	return 0;
}

static int take_rows(void *ctx, const struct tg_block *b)
{
	for (uint32_t i = 0; i < b->n_rows; i++)
		add_moment(ctx, b->t_ns[i]);
	return 0;
}

/* From the stamp of a cell's beginning to the first row after it. */
static void print_latency(const char *file)
{
	struct moments edge = { 0 }, row = { 0 }, late = { 0 };
	const struct tg_table *table;
	struct tg_err err = { 0 };
	struct tg_reader *r;
	uint32_t column = 0;
	size_t n, k = 0;

	if (tg_reader_open(&r, file, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	tg_reader_events(r, take_edge, &edge);
	table = tg_reader_tables(r, &n);
	for (size_t i = 0; i < n; i++)
		tg_reader_blocks(r, &table[i], &column, 1, INT64_MIN, INT64_MAX, take_rows, &row);
	for (size_t i = 0; i < edge.n; i++) {
		while (k < row.n && row.ns[k] < edge.ns[i])
			k++;
		if (k < row.n)
			add_moment(&late, row.ns[k] - edge.ns[i]);
	}
	if (late.n)
		print_spread("from edge to row", &late);
	tg_reader_close(r);
	free(edge.ns);
	free(row.ns);
	free(late.ns);
}

static void run_cells(struct tg_mark *m, int cells)
{
	struct moments call = { 0 };

	for (int i = 0; i < cells; i++) {
		char id[16];
		struct tg_mark_span span = { .id = id, .kind = "cell", .edge = true, .count = i };

		snprintf(id, sizeof(id), "c%d", i);
		span.t_ns = tg_mono_ns();
		tg_mark_begin(m, &span);
		add_moment(&call, tg_mono_ns() - span.t_ns);
		usleep(20000);
		tg_mark_end(m, id, tg_mono_ns(), true, "ok");
		usleep(20000);
	}
	print_spread("a mark, for its sender", &call);
	free(call.ns);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/tg-bench-XXXXXX";
	struct tg_buf file = TG_BUF_INIT, socket = TG_BUF_INIT, clean = TG_BUF_INIT;
	struct tg_mark_start s = { .id = "bench", .root = getpid(), .what = "kernel" };
	struct tg_mark_span span = { .id = "long", .kind = "stage", .count = -1 };
	int64_t start = tg_mono_ns();
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	struct tg_json *answer;
	struct tg_err err = { 0 };
	struct tg_mark *m;
	int fd;

	if (argc < 2 || !mkdtemp(dir)) {
		fprintf(stderr, "usage: %s EXE [CELLS]\n", argv[0]);
		return 2;
	}
	setenv("XDG_RUNTIME_DIR", dir, 1);
	tg_buf_addf(&file, "%s/bench.tacho", dir);
	tg_buf_addf(&socket, "%s/tachograph/bench.sock", dir);
	s.output = file.data;
	s.exe = argv[1];
	if (tg_mark_start(&m, &s, &err) < 0 || tg_mark_ask_hello(m, 1) < 0 ||
		tg_mark_wait(m, 1, 10000, &answer) != 1) {
		fprintf(stderr, "no recorder: %s\n", err.text);
		return 1;
	}
	tg_json_free(answer);
	printf("%-28s %.1f ms\n", "start until it answers", (double)(tg_mono_ns() - start) / 1e6);
	fd = tg_mark_socket_connect(socket.data);
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return 1;
	print_cpu("between spans, 1 Hz", peer.pid);
	tg_mark_begin(m, &span);
	print_cpu("within a span, 10 Hz", peer.pid);
	tg_mark_end(m, span.id, tg_mono_ns(), false, "ok");
	run_cells(m, argc > 2 ? (int)strtol(argv[2], NULL, 10) : 500);
	print_memory(peer.pid);
	tg_mark_bye(m);
	tg_mark_wait(m, 2, 10000, &answer);
	print_latency(file.data);
	tg_mark_close(m);
	close(fd);
	tg_buf_addf(&clean, "rm -r %s", dir);
	return system(clean.data) ? 1 : 0;
}
