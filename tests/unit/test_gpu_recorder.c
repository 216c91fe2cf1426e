/* SPDX-License-Identifier: BSD-3-Clause */
/* A recorder and its GPU helper: values and their explanations in the file, and who outlives whom.
 */
#include "recorder_kit.h"

static void set_library(const char *words)
{
	struct tg_buf library = TG_BUF_INIT;
	char *file = path_of("stub-file");

	tg_buf_addf(&library, "%s/nvml_stub3.so", getenv("TG_BUILD_DIR"));
	setenv("TACHOGRAPH_NVML", library.data, 1);
	setenv("NVML_STUB", words, 1);
	setenv("NVML_STUB_FILE", file, 1);
	unlink(file);
	free(file);
	tg_buf_release(&library);
}

/* Flush until the file has an event with `text`; its contents. */
static struct contents wait_said(struct tg_mark *m, const char *file, const char *text)
{
	struct contents c = { .events = TG_BUF_INIT };

	for (int i = 0; i < WAIT_MS / 100 && !strstr(c.events.data, text); i++) {
		usleep(100000);
		tg_buf_release(&c.events);
		flush(m);
		read_back(file, &c);
	}
	T_OK(strstr(c.events.data, text) != NULL);
	return c;
}

static bool has_column(const char *file, const char *metric, const char *instance)
{
	const struct tg_table *table;
	struct tg_reader *r;
	bool found = false;
	size_t n;

	T_EQ_I(tg_reader_open(&r, file, NULL), 0);
	table = tg_reader_tables(r, &n);
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < table[i].n_columns; k++)
			found |= !strcmp(table[i].column[k].metric->name, metric) &&
				 !strcmp(table[i].column[k].instance, instance);
	tg_reader_close(r);
	return found;
}

static pid_t helper_pid(void)
{
	struct tg_buf b = TG_BUF_INIT;
	char *file = path_of("stub-file");
	pid_t pid;

	T_EQ_I(tg_file_read(AT_FDCWD, file, 100, &b, NULL), 0);
	pid = (pid_t)strtol(b.data, NULL, 10);
	free(file);
	tg_buf_release(&b);
	return pid;
}

/* Until it is gone, or waits for nothing but its parent. */
static void wait_gone(pid_t pid)
{
	char path[40], exe[400];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	for (int i = 0; i < WAIT_MS / 10 && readlink(path, exe, sizeof(exe)) > 0; i++)
		usleep(10000);
	T_OK(readlink(path, exe, sizeof(exe)) < 0);
}

/* The helper ends with its recorder, even one that is killed; it is no process of the tree. */
static void test_recorded(void)
{
	struct tg_mark *m;
	struct contents c;
	char *file, *socket;
	pid_t helper;

	set_library("file");
	m = start("gpus", getpid());
	file = hello(m, "file");
	socket = hello(m, "socket");
	begin(m, "cell", "cell");
	c = wait_said(m, file, "GPU0 is Stub 80, GPU-bbbb0000-1111-2222-3333-444444444444");
	T_OK(!strstr(c.events.data, "gpu-helper"));
	T_OK(!strstr(c.events.data, "tacho-gpu"));
	tg_buf_release(&c.events);
	end(m, "cell");
	flush(m);
	T_OK(has_column(file, "gpu.util_pct", "GPU0"));
	T_OK(has_column(file, "gpu.memory_used_bytes", "GPU1"));
	T_OK(has_column(file, "self.helper_cpu_ns", ""));
	helper = helper_pid();
	kill(recorder_of(socket), SIGKILL);
	wait_end(m);
	wait_gone(helper);
	tg_mark_close(m);
	free(file);
	free(socket);
}

/* pitfall 30: a driver that hangs stops nothing else */
static void test_hung(void)
{
	struct tg_mark *m;
	struct contents c;
	char *file;
	int64_t said_ns;

	set_library("hang");
	m = start("hung", getpid());
	file = hello(m, "file");
	begin(m, "cell", "cell");
	c = wait_said(m, file, "the driver does not answer");
	said_ns = c.last_row_ns;
	tg_buf_release(&c.events);
	for (int i = 0; i < WAIT_MS / 100 && c.last_row_ns == said_ns; i++) {
		usleep(100000);
		flush(m);
		read_back(file, &c);
		tg_buf_release(&c.events);
	}
	T_OK(c.last_row_ns > said_ns);
	end(m, "cell");
	tg_mark_bye(m);
	wait_end(m);
	read_back(file, &c);
	T_OK(c.damage.ended);
	T_EQ_I(count(c.events.data, "\"ev\":\"gap\""), 0);
	tg_buf_release(&c.events);
	wait_gone(helper_pid());
	tg_mark_close(m);
	free(file);
}

int main(void)
{
	if (set_up())
		return 99;
	test_recorded();
	test_hung();
	return tear_down();
}
