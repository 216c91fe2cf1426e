/* SPDX-License-Identifier: BSD-3-Clause */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/cpulist.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/lines.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"

static void test_buf(void)
{
	struct tg_buf b = TG_BUF_INIT;

	T_EQ_S(b.data, "");
	tg_buf_addf(&b, "%s-%d", "abc", 42);
	T_EQ_S(b.data, "abc-42");
	tg_buf_splice(&b, 3, 1, "++", 2);
	T_EQ_S(b.data, "abc++42");
	tg_buf_splice(&b, 0, 5, NULL, 0);
	T_EQ_S(b.data, "42");
	for (int i = 0; i < 1000; i++)
		tg_buf_addf(&b, "%04d", i);
	T_EQ_I(b.len, 4002);
	T_OK(!memcmp(b.data + 2 + 4 * 999, "0999", 5));
	tg_buf_clear(&b);
	T_EQ_S(b.data, "");
	tg_buf_release(&b);
	T_EQ_S(b.data, "");
}

static void test_json_writer(void)
{
	struct tg_buf b = TG_BUF_INIT;
	struct tg_jw w;

	tg_jw_init(&w, &b);
	tg_jw_begin_object(&w);
	tg_jw_kstr(&w, "a", "x\"\\\n\x01\xc3\xa4\xf0\x9f\x98\x80\xff\xed\xa0\x80");
	tg_jw_kint(&w, "b", INT64_MIN);
	tg_jw_knum(&w, "c", 0.1);
	tg_jw_key(&w, "d");
	tg_jw_begin_array(&w);
	tg_jw_fixed(&w, 1.50, 3);
	tg_jw_fixed(&w, -0.0001, 2);
	tg_jw_fixed(&w, 100, 0);
	tg_jw_num(&w, NAN);
	tg_jw_bool(&w, true);
	tg_jw_end_array(&w);
	tg_jw_kstr(&w, "e", NULL);
	tg_jw_end_object(&w);
	T_EQ_S(b.data,
		"{\"a\":\"x\\\"\\\\\\n\\u0001\\u00e4\\ud83d\\ude00\\ufffd\\ufffd\\ufffd\\ufffd\","
		"\"b\":-9223372036854775808,\"c\":0.1,\"d\":[1.5,0,100,null,true],\"e\":null}");
	tg_buf_release(&b);
}

static void test_json_reader(void)
{
	static const char text[] =
		"{\"n\":9007199254740993,\"s\":\"a\\u0000b\",\"l\":[1,2.5,null]}";
	/* as Python writes names that are no UTF-8; pairs and escaped backslashes stay */
	static const char halves[] = "[\"/a/\\udcff.x\",\"\\uDc80\\ud83da\",\"\\ud83d\\ude00\","
				     "\"\\\\udcff\",\"\\ud7ff\"]";
	struct tg_err err = { 0 };
	struct tg_json *v = tg_json_parse(text, sizeof(text) - 1, &err);
	struct tg_buf b = TG_BUF_INIT;

	T_OK(v != NULL);
	T_EQ_I(tg_json_int(tg_json_get(v, "n"), 0), INT64_C(9007199254740993));
	T_EQ_I(tg_json_len(tg_json_get(v, "l")), 3);
	T_NEAR(tg_json_num(tg_json_at(tg_json_get(v, "l"), 1), 0), 2.5, 0);
	T_OK(tg_json_is_null(tg_json_at(tg_json_get(v, "l"), 2)));
	T_EQ_I(tg_json_int(tg_json_get(v, "s"), -1), -1);
	T_OK(tg_json_get(NULL, "x") == NULL);
	T_EQ_S(tg_json_next_key(v, NULL), "n");
	T_EQ_S(tg_json_next_key(v, "n"), "s");
	T_OK(tg_json_next_key(v, "l") == NULL);
	tg_json_dump(tg_json_get(v, "l"), &b);
	T_EQ_S(b.data, "[1,2.5,null]");
	tg_json_free(v);
	tg_buf_clear(&b);
	v = tg_json_parse(halves, sizeof(halves) - 1, &err);
	tg_json_dump(v, &b);
	T_EQ_S(b.data,
		"[\"/a/"
		"\\uFFFD.x\",\"\\uFFFD\\uFFFDa\",\"\\uD83D\\uDE00\",\"\\\\udcff\",\"\\uD7FF\"]");
	tg_json_free(v);
	T_OK(tg_json_parse("[\"\\udczz\"]", 10, &err) == NULL);
	T_OK(tg_json_parse("[\"\\udc", 6, &err) == NULL);
	T_OK(tg_json_parse("{\"a\":", 5, &err) == NULL);
	T_EQ_I(err.code, -EBADMSG);
	T_OK(strlen(err.text) > 0);
	tg_buf_release(&b);
}

static void test_file(void)
{
	struct tg_buf b = TG_BUF_INIT;
	char dir[] = "/tmp/tg-test-XXXXXX";
	struct tg_err err;
	char text[8];
	int fd;

	T_EQ_I(tg_file_read(AT_FDCWD, "/nonexistent/file", 10, &b, &err), -ENOENT);
	T_EQ_S(err.text, "/nonexistent/file: No such file or directory");
	T_EQ_I(tg_file_read(AT_FDCWD, "/proc/self/status", 100, &b, &err), -EFBIG);
	T_EQ_I(b.len, 0);
	T_EQ_I(tg_file_read(AT_FDCWD, "/proc/self/status", 100000, &b, &err), 0);
	T_OK(!strncmp(b.data, "Name:", 5));
	fd = open("/proc/self/status", O_RDONLY);
	T_EQ_I(tg_file_pread0(fd, text, sizeof(text)), 7);
	T_OK(!strncmp(text, "Name:", 5) && text[7] == '\0');
	close(fd);

	/* a FIFO that nobody writes into, and a folder: refused at once */
	T_OK(mkdtemp(dir) != NULL);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	T_EQ_I(mkfifoat(fd, "kernel.json", 0600), 0);
	tg_buf_clear(&b);
	T_EQ_I(tg_file_read(fd, "kernel.json", 100, &b, &err), -EINVAL);
	T_EQ_S(err.text, "kernel.json is not a regular file");
	T_EQ_I(tg_file_read(AT_FDCWD, dir, 100, &b, &err), -EINVAL);
	T_EQ_I(b.len, 0);
	T_EQ_I(unlinkat(fd, "kernel.json", 0), 0);
	close(fd);
	rmdir(dir);
	tg_buf_release(&b);
}

/* In a world of its own, where the folder is full, then read-only: the next one serves. */
static void test_no_room(const char *runtime)
{
	static const char *const options[] = { "size=4k,nr_inodes=1,mode=700", "mode=700" };
	static const unsigned long flags[] = { 0, MS_RDONLY };
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) || mount("none", "/", "", MS_REC | MS_PRIVATE, ""))
			_exit(2);
		for (int i = 0; i < 2; i++) {
			struct tg_buf b = TG_BUF_INIT;

			if (mount("tmpfs", runtime, "tmpfs", flags[i], options[i]))
				_exit(2);
			if (tg_paths_runtime(&b, NULL) || !strstr(b.data, "/tachograph-"))
				_exit(1);
			if (i)
				rmdir(b.data);
			tg_buf_release(&b);
		}
		_exit(0);
	}
	T_EQ_I(waitpid(pid, &status, 0), pid);
	T_OK(WIFEXITED(status));
	if (WEXITSTATUS(status) == 2)
		T_SKIP("a full folder", "no mount namespace for us");
	else
		T_EQ_I(WEXITSTATUS(status), 0);
}

/* A limit of the process says nothing of the folder, and what goes there is small. */
static void test_small_files_only(const char *runtime)
{
	struct rlimit before, limit;
	struct tg_buf b = TG_BUF_INIT;

	T_EQ_I(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){ 1024, before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	T_EQ_I(setrlimit(RLIMIT_FSIZE, &limit), 0);
	T_EQ_I(tg_paths_runtime(&b, NULL), 0);
	T_EQ_I(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	T_EQ_S(b.data, runtime);
	tg_buf_release(&b);
}

static void test_paths(void)
{
	char dir[] = "/tmp/tg-test-XXXXXX";
	struct tg_buf b = TG_BUF_INIT;
	struct tg_err err = { 0 };
	struct stat st;

	T_OK(mkdtemp(dir) != NULL);
	setenv("XDG_RUNTIME_DIR", dir, 1);
	T_EQ_I(tg_paths_runtime(&b, &err), 0);
	T_OK(!strncmp(b.data, dir, strlen(dir)) && !strcmp(b.data + strlen(dir), "/tachograph"));
	T_OK(stat(b.data, &st) == 0 && (st.st_mode & 0777) == 0700);

	/* a symbolic link in its place is not followed; the fallback under TMPDIR serves */
	rmdir(b.data);
	T_OK(symlink("/tmp", b.data) == 0);
	unsetenv("TMPDIR");
	setenv("TMPDIR", dir, 1);
	tg_buf_clear(&b);
	T_EQ_I(tg_paths_runtime(&b, &err), 0);
	T_OK(strstr(b.data, "/tachograph-") != NULL);
	rmdir(b.data);
	tg_buf_clear(&b);
	tg_buf_addf(&b, "%s/tachograph", dir);
	unlink(b.data);

	/* what a starter found is not looked at again, other than whether it is there */
	tg_buf_clear(&b);
	tg_buf_addf(&b, "%s/told", dir);
	setenv(TG_PATHS_RUNTIME_TOLD, b.data, 1);
	tg_buf_clear(&b);
	T_EQ_I(tg_paths_runtime(&b, &err), 0);
	T_OK(!strcmp(b.data + strlen(dir), "/told"));
	rmdir(b.data);
	unsetenv(TG_PATHS_RUNTIME_TOLD);

	/* one of the user's is left as it is, with a folder of ours in it, which is private */
	T_OK(chmod(dir, 0755) == 0);
	setenv("TACHOGRAPH_RUNTIME_DIR", dir, 1);
	tg_buf_clear(&b);
	T_EQ_I(tg_paths_runtime(&b, &err), 0);
	T_OK(!strcmp(b.data + strlen(dir), "/tachograph"));
	T_OK(stat(dir, &st) == 0 && (st.st_mode & 0777) == 0755);
	T_OK(chmod(b.data, 0755) == 0);
	unsetenv("XDG_RUNTIME_DIR");
	tg_buf_clear(&b);
	T_EQ_I(tg_paths_runtime(&b, &err), 0);
	T_OK(strstr(b.data, "/tachograph-") != NULL);
	rmdir(b.data);
	setenv("XDG_RUNTIME_DIR", dir, 1);
	tg_buf_clear(&b);
	tg_buf_addf(&b, "%s/tachograph", dir);
	rmdir(b.data);
	T_OK(chmod(dir, 0700) == 0);
	setenv("TACHOGRAPH_RUNTIME_DIR", "/proc/nope", 1);
	tg_buf_clear(&b);
	T_EQ_I(tg_paths_runtime(&b, &err), 0);
	T_OK(!strcmp(b.data + strlen(dir), "/tachograph"));
	unsetenv("TACHOGRAPH_RUNTIME_DIR");
	test_no_room(b.data);
	test_small_files_only(b.data);
	rmdir(b.data);

	setenv("TACHOGRAPH_DIR", "/proc/nope", 1);
	tg_buf_clear(&b);
	T_EQ_I(tg_paths_recordings_name(&b, &err), 0); /* a name, whatever is there */
	T_EQ_S(b.data, "/proc/nope");
	tg_buf_clear(&b);
	T_OK(tg_paths_recordings(&b, &err) < 0);
	T_EQ_I(b.len, 0);
	T_OK(strstr(err.text, "/proc/nope") != NULL);
	setenv("TACHOGRAPH_DIR", "/tmp/\xff", 1);
	T_EQ_I(tg_paths_recordings(&b, &err), -EILSEQ);
	T_EQ_I(b.len, 0);
	unsetenv("TACHOGRAPH_DIR");
	setenv("HOME", "/h", 1);
	setenv("XDG_STATE_HOME", "relative", 1); /* the XDG specification: to be ignored */
	T_EQ_I(tg_paths_recordings_name(&b, &err), 0);
	T_EQ_S(b.data, "/h/.local/state/tachograph");
	tg_buf_clear(&b);
	setenv("XDG_STATE_HOME", dir, 1);
	T_EQ_I(tg_paths_recordings_name(&b, &err), 0);
	T_OK(!strncmp(b.data, dir, strlen(dir)) && !strcmp(b.data + strlen(dir), "/tachograph"));
	T_OK(access(b.data, F_OK) < 0); /* nothing was made */
	tg_buf_clear(&b);
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	T_EQ_I(tg_paths_recordings_name(&b, &err), -ENOENT);
	T_EQ_I(b.len, 0);
	rmdir(dir);
	tg_buf_release(&b);
}

static void first_code(const char *text, const char *want)
{
	struct tg_text_line line = tg_text_first_code(text, strlen(text));
	char *got = tg_xmemdup0(text + line.at, line.end - line.at);

	T_EQ_S(got, want);
	T_OK(line.next <= strlen(text) && line.end <= line.next);
	free(got);
}

static void test_lines(void)
{
	first_code("", "");
	first_code(" \t\n", "");
	first_code("# a\r\n  # b\v\t\f", "");
	first_code("# a\r\n\n  b = 1 \t\r\nc", "b = 1");
	first_code("# a\xe2\x80\xa8"
		   "b",
		"b");
	first_code("a\xc2\x85"
		   "b",
		"a");
	first_code("\xe2\x80", "\xe2\x80");
}

static void test_cpulist(void)
{
	static const char *const bad[] = { "", "x", "-1", "3-1", "0-", "0,", ",1", "0-70000", "0 1",
		"99999999999999999999", "1-2-3" };
	const char *list = "0-3,8,10-11";

	T_EQ_I(tg_cpulist_count(list, strlen(list)), 7);
	T_EQ_I(tg_cpulist_count("0-3\n", 4), 4);
	T_EQ_I(tg_cpulist_count(list, 4), 0); /* cut behind a comma */
	for (int cpu = -1; cpu < 13; cpu++)
		T_EQ_I(tg_cpulist_has(list, strlen(list), cpu),
			(cpu >= 0 && cpu <= 3) || cpu == 8 || cpu == 10 || cpu == 11);
	for (size_t i = 0; i < TG_ARRAY_SIZE(bad); i++) {
		T_EQ_I(tg_cpulist_count(bad[i], strlen(bad[i])), 0);
		T_OK(!tg_cpulist_has(bad[i], strlen(bad[i]), 0));
	}
}

/* The published values of FNV-1a: names of locks must stay the same. */
static void test_hash(void)
{
	T_OK(tg_hash(TG_HASH_INIT, "", 0) == UINT64_C(0xcbf29ce484222325));
	T_OK(tg_hash(TG_HASH_INIT, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	T_OK(tg_hash(TG_HASH_INIT, "foobar", 6) == UINT64_C(0x85944171f73967e8));
	T_OK(tg_hash(tg_hash(TG_HASH_INIT, "foo", 3), "bar", 3) == UINT64_C(0x85944171f73967e8));
}

/* Of a sentence with a long path both ends are kept, in whole characters. */
static void test_long_sentences(void)
{
	char path[2000];
	struct tg_err err = { 0 };

	for (size_t i = 0; i + 2 < sizeof(path); i += 2)
		memcpy(path + i, "\xc3\xa9", 3); /* é */
	for (int shift = 0; shift < 2; shift++) {
		T_EQ_I(tg_err_set(&err, -ENOENT, "%s%s: no such file", shift ? "a" : "", path),
			-ENOENT);
		T_OK(strlen(err.text) < sizeof(err.text) && strlen(err.text) > 200);
		T_OK(strstr(err.text, "\xe2\x80\xa6") != NULL);
		T_EQ_S(err.text + strlen(err.text) - 14, ": no such file");
		for (const char *p = err.text; *p;) {
			uint32_t cp;
			size_t n = tg_utf8_decode(p, strlen(p), &cp);

			T_OK(n > 0);
			p += n ? n : 1;
		}
		tg_err_prefix(&err, path);
		T_EQ_S(err.text + strlen(err.text) - 14, ": no such file");
	}
	tg_err_set(&err, -ENOENT, "%s", "short");
	T_EQ_S(err.text, "short");
}

int main(void)
{
	test_long_sentences();
	test_hash();
	test_lines();
	test_cpulist();
	struct tg_clocks c = tg_clocks_now();

	T_OK(c.mono_ns > 0 && c.boot_ns >= c.mono_ns - TG_NS_PER_S && c.real_ns > c.boot_ns);
	test_buf();
	test_json_writer();
	test_json_reader();
	test_file();
	test_paths();
	return t_done();
}
