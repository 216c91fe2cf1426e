/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker's requests: what each magic answers, rightly and wrongly used. Every request gets an
 * answer that is JSON and says one sentence at least; none hangs.
 */
#include "run.h"

#include <errno.h>

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/file.h"
#include "base/json.h"
#include "command/worker.h"
#include "mark/setting.h"

#include "base/mem.h"

#define FILE_HERE "\"recorder\":{\"file\":\"%s\",\"socket\":null,\"run\":1}"

/* One answer, taken apart. */
struct got {
	struct tg_json *json;
	struct tg_buf out, err; /* the two streams */
	const struct tg_json *data; /* of the last display */
	size_t displays;
};

static void got_release(struct got *g)
{
	tg_json_free(g->json);
	tg_buf_release(&g->out);
	tg_buf_release(&g->err);
}

static struct got ask(const char *request)
{
	struct got g = { .out = TG_BUF_INIT, .err = TG_BUF_INIT };
	struct tg_buf answer = TG_BUF_INIT;
	const struct tg_json *messages;

	tg_worker_answer(NULL, request, strlen(request), &answer);
	g.json = tg_json_parse(answer.data, answer.len, NULL);
	if (!T_OK(g.json != NULL))
		fprintf(stderr, "# %s -> %s\n", request, answer.data);
	messages = tg_json_get(g.json, "messages");
	T_OK(messages != NULL);
	for (size_t i = 0; i < tg_json_len(messages); i++) {
		const struct tg_json *content = tg_json_get(tg_json_at(messages, i), "content");
		const char *type =
			tg_json_str(tg_json_get(tg_json_at(messages, i), "msg_type"), "");
		const char *name = tg_json_str(tg_json_get(content, "name"), "");

		if (!strcmp(type, "stream"))
			tg_buf_adds(!strcmp(name, "stderr") ? &g.err : &g.out,
				tg_json_str(tg_json_get(content, "text"), ""));
		if (!strcmp(type, "display_data")) {
			g.data = tg_json_get(content, "data");
			g.displays++;
			T_OK(tg_json_is_object(tg_json_get(content, "metadata")));
			T_OK(tg_json_str(
				     tg_json_get(tg_json_get(content, "transient"), "display_id"),
				     NULL) != NULL);
		}
	}
	tg_buf_release(&answer);
	return g;
}

/* A magic asked of the known run. `more` are further members, with a comma in front. */
static struct got magic_of(const char *file, const char *code, const char *more)
{
	struct tg_buf request = TG_BUF_INIT;
	struct got g;

	tg_buf_adds(&request, "{\"n\":7,\"do\":\"magic\",\"code\":");
	tg_json_quote(&request, code, strlen(code));
	tg_buf_addf(&request, ",\"kernel\":{\"pid\":1,\"cwd\":\"%s\",\"language\":\"python\"},",
		run_dir());
	tg_buf_addf(&request, FILE_HERE "%s}", run_path(file), more);
	g = ask(request.data);
	T_EQ_I(tg_json_int(tg_json_get(g.json, "n"), 0), 7);
	tg_buf_release(&request);
	return g;
}

static struct got magic(const char *code)
{
	return magic_of("run.tacho", code, "");
}

static void prints(const char *code, const char *want)
{
	struct got g = magic(code);

	T_EQ_S(g.out.data, want);
	T_EQ_S(g.err.data, "");
	got_release(&g);
}

static void complains(const char *code, const char *want)
{
	struct got g = magic(code);

	T_EQ_S(g.err.data, want);
	T_EQ_S(g.out.data, "");
	T_EQ_I(g.displays, 0);
	got_release(&g);
}

static void draws(const char *code, const char *headline)
{
	struct got g = magic(code);
	const char *text = tg_json_str(tg_json_get(g.data, "text/plain"), "");
	const char *png = tg_json_str(tg_json_get(g.data, "image/png"), "");

	T_EQ_S(g.err.data, "");
	T_EQ_I(g.displays, 1);
	if (!T_OK(!strncmp(text, headline, strlen(headline))))
		fprintf(stderr, "#   got %s\n", text);
	T_OK(!strncmp(png, "iVBORw0KGgo", 11));
	T_OK(strlen(png) % 4 == 0);
	T_OK(tg_json_is_object(tg_json_get(g.data, "application/vnd.vegalite.v5+json")));
	T_OK(!tg_json_get(g.data, "text/html"));
	got_release(&g);
}

static void test_code(void)
{
	struct got g;
	const char *html, *text;

	prints("%%display_code_for_index 1",
		"Cell timestamp: 2026-01-01 00:00:05.000000\n--\npass\n");
	prints("\n# a comment\n%display_code_for_index -2",
		"Cell timestamp: 2026-01-01 00:00:05.000000\n--\npass\n");
	complains("%%display_code_for_index",
		"No index specified. Use: %%display_code_for_index index\n");
	complains("%%display_code_for_index x",
		"\"x\" is no index. Use: %%display_code_for_index index\n");
	complains("%%display_code_for_index 3",
		"Tracked only 3 cells. This index is not available.\n");
	complains("%%display_code_for_index -4",
		"Tracked only 3 cells. This index is not available.\n");
	complains("%%display_code_for_index 99999999999999999999",
		"\"99999999999999999999\" is no index. Use: %%display_code_for_index index\n");
	g = magic("%%display_code_history\nwhat follows is ignored");
	html = tg_json_str(tg_json_get(g.data, "text/html"), "");
	T_OK(strstr(html, "# &lt;b&gt;bold&lt;/b&gt; &amp; [31mred[0m") != NULL);
	T_OK(!strstr(html, "<b>"));
	T_OK(!strchr(html, '\033'));
	T_OK(strstr(html, "import numpy as np\nx = np.ones(9)") != NULL);
	text = tg_json_str(tg_json_get(g.data, "text/plain"), "\033");
	T_OK(!strchr(text, '\033'));
	/* the same columns in the same order */
	T_OK(strstr(text, "index  timestamp                        wall  code\n") == text);
	T_OK(strstr(text, "\n    1  2026-01-01 00:00:05.000000       3 ms  pass\n") != NULL);
	T_OK(strstr(html, "<th>index</th><th>timestamp</th><th>wall</th><th style") != NULL);
	T_OK(strstr(html, "<td>1</td><td>2026-01-01 00:00:05.000000</td><td>3 ms</td><td style"
			  "=\"text-align:left\"><pre>pass</pre></td></tr>") != NULL);
	got_release(&g);
}

static void test_graphs(void)
{
	draws("%%display_graph_for_last", "Cell #2 · 3 s · 3.2 of 4 cores · peak 7.6 GB RSS of 8");
	draws("%%display_graph_for_index 0",
		"Cell #0 · 2 s · 1 of 4 cores · peak 300 MB RSS of 8 GB");
	draws("%display_graph_for_index 1", "Cell #1 · 3 ms · 0.97 of 4 cores");
	draws("%%display_graph_for_all", "Cells #0 – #2 · 5 s");
	draws("%tacho chart --span 0:1 --panel cpu", "Cells #0, #1 · 2 s");
	complains("%%display_graph_for_index",
		"No index specified. Use: %%display_graph_for_index index\n");
	complains("%%display_graph_for_index 7",
		"Tracked only 3 cells. This index is not available.\n");
	complains("%tacho chart --panel foo",
		"There is no panel \"foo\"; \"help chart\" lists them\n");
}

/* A dozen cells of ten seconds, ten rows a second: steps, ramps and bursts that all wobble. */
static void write_dozen(const char *path)
{
	struct tg_column column[RUN_COLUMNS] = { 0 };
	struct tg_block *b = tg_block_new(1, RUN_COLUMNS, 2048);
	int64_t row[RUN_COLUMNS] = { 0 };
	struct tg_err err = { 0 };
	uint64_t seed = 7;
	struct tg_writer *w;

	unlink(path);
	if (tg_writer_open(&w, path, RUN_SESSION, &err) < 0)
		exit(1);
	run_columns(column);
	tg_writer_table(w, 1, "main", column, RUN_COLUMNS);
	run_event(w, "{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":\"run\"}");
	for (int i = 0; i < 12; i++) {
		run_begin(w, i + 2, i * 10 + 0.1, "\"code\":\"x = fit(data, steps=100)\"");
		run_end(w, i + 2, i * 10 + 9.9, i % 5 ? "ok" : "error");
	}
	for (int t = 0; t <= 1200; t++) {
		int64_t wobble = (int64_t)(t_random(&seed) % 1000), cell = t / 100;
		bool burst = t_random(&seed) % 10 == 0;

		row[0] += (1 + cell % 4) * 90000000 + wobble * 20000;
		row[1] = 500000000 + cell * 200000000 + t % 100 * 2000000 + wobble * 30000;
		row[3] += burst ? wobble * 40000 : 0;
		row[4] += t % 30 < 5 ? 9000000 + wobble * 3000 : 0;
		row[5] += burst ? wobble : 2;
		row[6] += t % 30 < 5 ? 90 + wobble / 20 : 0;
		row[11] += 2000 + wobble * (burst ? 900 : 1);
		row[12] += 1000 + wobble;
		tg_block_add(b, RUN_T0 + t * 100 * TG_NS_PER_MS, row);
	}
	tg_writer_block(w, b);
	tg_writer_finish(w);
	tg_block_free(b);
}

/* What a notebook stores of its longest picture: all of the bundle, the PNG in base64. */
static void test_size(void)
{
	static const char *const said[] = { "#11", "CPU", "Memory", "Disk", "write calls",
		"Network" };
	struct tg_buf bundle = TG_BUF_INIT;
	struct got g;

	write_dozen(run_path("dozen.tacho"));
	g = magic_of("dozen.tacho", "%%display_graph_for_all", "");
	T_EQ_S(g.err.data, "");
	T_EQ_I(g.displays, 1);
	tg_json_dump(g.data, &bundle);
	T_OK(strlen(tg_json_str(tg_json_get(g.data, "image/png"), "")) > 10000);
	printf("# %zu bytes, %zu of them the PNG\n", bundle.len,
		strlen(tg_json_str(tg_json_get(g.data, "image/png"), "")));
	for (size_t i = 0; i < TG_ARRAY_SIZE(said); i++)
		T_OK(strstr(bundle.data, said[i]) != NULL);
	T_OK(bundle.len > 20000 && bundle.len < 150000);
	tg_buf_release(&bundle);
	got_release(&g);
	unlink(run_path("dozen.tacho"));
}

/* [2][1]: how long the lists of the parts of a cell are */
static const struct tg_json *at(const struct tg_json *v, size_t i, size_t k)
{
	return tg_json_at(tg_json_at(v, i), k);
}

static void check_history(const struct tg_json *history)
{
	const struct tg_json *cell = tg_json_at(history, 2), *node = tg_json_at(cell, 0);
	const struct tg_json *cpu = tg_json_at(node, 0);

	T_EQ_I(tg_json_len(history), 3);
	T_EQ_I(tg_json_len(cell), 9); /* one node, eight means */
	T_EQ_I(tg_json_len(node), 8);
	T_EQ_I(tg_json_len(cpu), 4 + 3);
	for (size_t i = 0; i < 7; i++)
		T_EQ_I(tg_json_len(tg_json_at(cpu, i)), 2); /* 3 s in periods of 2 s */
	for (size_t i = 1; i < 6; i++)
		T_EQ_I(tg_json_len(tg_json_at(node, i)), 2);
	T_EQ_I(tg_json_len(tg_json_at(node, 6)), 3); /* no GPU */
	T_EQ_I(tg_json_len(at(node, 6, 0)), 0);
	T_NEAR(tg_json_num(at(cpu, 0, 1), -1), 80, 1.5);
	T_NEAR(tg_json_num(at(cpu, 4, 1), -1), 80, 1.5); /* mean */
	T_NEAR(tg_json_num(at(node, 1, 1), -1), 9e9 / 1024 / 1024 / 1024, 0.01);
	T_EQ_I(tg_json_int(at(node, 2, 1), -1), 210); /* reads since the kernel's start */
	T_NEAR(tg_json_num(at(node, 5, 1), -1), 602e6 / 1024 / 1024, 0.1);
	T_NEAR(tg_json_num(at(cell, 1, 1), -1), 80, 1.5); /* mean over nodes */
	T_EQ_I(tg_json_len(tg_json_at(cell, 7)), 0);
	/* in the first cell one core of four was busy */
	cpu = at(tg_json_at(history, 0), 0, 0);
	T_NEAR(tg_json_num(at(cpu, 0, 0), -1), 100, 2.1);
	T_NEAR(tg_json_num(at(cpu, 1, 0), -1), 0, 0);
	T_NEAR(tg_json_num(at(cpu, 4, 0), -1), 25, 1);
	T_NEAR(tg_json_num(at(cpu, 5, 0), -1), 100, 2.1);
	/* one that is shorter than a period has one value */
	T_EQ_I(tg_json_len(at(at(tg_json_at(history, 1), 0, 0), 0, 0)), 0);
	T_EQ_I(tg_json_len(at(tg_json_at(history, 1), 0, 1)), 1);
}

static struct tg_json *file_json(const char *name)
{
	struct tg_buf text = TG_BUF_INIT;
	struct tg_json *v = NULL;

	if (T_OK(tg_file_read(AT_FDCWD, run_path(name), 1 << 20, &text, NULL) == 0))
		v = tg_json_parse(text.data, text.len, NULL);
	tg_buf_release(&text);
	unlink(run_path(name));
	return v;
}

/* JUmPER's lists are of the CPUs that the job may run on */
static void test_allowed_cpus(void)
{
	struct got g;
	struct tg_json *v;
	const struct tg_json *cpu;

	run_write(run_path("two.tacho"), RUN_TWO_CPUS);
	g = magic_of("two.tacho", "%%perfdata_to_json two", "");
	T_EQ_S(g.err.data, "");
	got_release(&g);
	v = file_json("two_perfdata.json");
	cpu = at(tg_json_at(v, 0), 0, 0); /* cpu0 is the one that was busy in this cell */
	T_EQ_I(tg_json_len(cpu), 2 + 3);
	T_NEAR(tg_json_num(at(cpu, 0, 0), -1), 0, 0);
	T_NEAR(tg_json_num(at(cpu, 3, 0), -1), 0, 0); /* max */
	cpu = at(tg_json_at(v, 2), 0, 0);
	T_NEAR(tg_json_num(at(cpu, 2, 1), -1), 80, 1.5); /* mean */
	tg_json_free(v);
	tg_json_free(file_json("two_code.json"));
	unlink(run_path("two.tacho"));
}

static void test_to_json(void)
{
	struct tg_json *v;

	prints("%%perfdata_to_json my",
		"Exported performance data to my_perfdata.json and my_code.json\n");
	v = file_json("my_perfdata.json");
	check_history(v);
	tg_json_free(v);
	v = file_json("my_code.json");
	T_EQ_I(tg_json_len(v), 3);
	T_EQ_S(tg_json_str(at(v, 1, 0), ""), "2026-01-01 00:00:05.000000");
	T_EQ_S(tg_json_str(at(v, 1, 1), ""), "pass");
	tg_json_free(v);
	complains("%%perfdata_to_json",
		"No filename to export specified. Use: %%perfdata_to_json myfile\n");
	complains("%%perfdata_to_json no/such/folder/x",
		"Cannot write no/such/folder/x_perfdata.json: No such file or directory\n");
	complains("%%perfdata_to_json a b",
		"One filename is needed, in quotes if it has blanks. Use: %%perfdata_to_json "
		"myfile\n");
}

static void *read_fifo(void *path)
{
	struct tg_buf *text = tg_xcalloc(1, sizeof(*text));
	int fd = open(path, O_RDONLY | O_CLOEXEC); /* waits for its writer, as the kernel's does */
	char part[4096];
	ssize_t n;

	tg_buf_init(text);
	while ((n = read(fd, part, sizeof(part))) > 0)
		tg_buf_add(text, part, (size_t)n);
	close(fd);
	return text;
}

/* Ask with a fifo; returns what its reader got. */
static struct tg_buf *with_fifo(const char *code, struct got *g)
{
	char path[200], more[240];
	pthread_t thread;
	void *text;

	snprintf(path, sizeof(path), "%s/fifo", run_dir());
	snprintf(more, sizeof(more), ",\"fifo\":\"%s\"", path);
	unlink(path);
	T_EQ_I(mkfifo(path, 0600), 0);
	pthread_create(&thread, NULL, read_fifo, path);
	*g = magic_of("run.tacho", code, more);
	pthread_join(thread, &text);
	unlink(path);
	return text;
}

static void test_to_variable(void)
{
	struct tg_buf *text;
	struct tg_json *v;
	struct got g;

	text = with_fifo("%%perfdata_to_variable data", &g);
	T_EQ_S(g.out.data, "Exported performance data to data variable\n");
	T_EQ_S(g.err.data, "");
	v = tg_json_parse(text->data, text->len, NULL);
	check_history(v);
	tg_json_free(v);
	tg_buf_release(text);
	free(text);
	got_release(&g);
	/* whatever goes wrong, who reads the fifo gets a value */
	text = with_fifo("%%perfdata_to_variable", &g);
	T_EQ_S(g.err.data, "No variable to export specified. Use: %%perfdata_to_variable myvar\n");
	T_EQ_S(text->data, "[]");
	tg_buf_release(text);
	free(text);
	got_release(&g);
	text = with_fifo("%%perfdata_to_variable a.b", &g);
	T_EQ_S(g.err.data, "\"a.b\" is no name of a variable. Use: %%perfdata_to_variable myvar\n");
	T_EQ_S(text->data, "[]");
	tg_buf_release(text);
	free(text);
	got_release(&g);
	complains("%%perfdata_to_variable data", "Data can be handed to a variable in Python "
						 "kernels only; use %%perfdata_to_json or "
						 "%tacho export\n");
}

/* A file in the place of the fifo is not written to. */
static void test_fifo_is_file(void)
{
	char more[240];
	struct tg_buf text = TG_BUF_INIT;
	struct got g;
	int fd = open(run_path("file"), O_CREAT | O_WRONLY, 0600);

	T_EQ_I(write(fd, "mine", 4), 4);
	close(fd);
	snprintf(more, sizeof(more), ",\"fifo\":\"%s\"", run_path("file"));
	g = magic_of("run.tacho", "%%perfdata_to_variable x", more);
	T_EQ_S(g.err.data, "The kernel did not take the data: Invalid argument\n");
	T_EQ_I(tg_file_read(AT_FDCWD, run_path("file"), 100, &text, NULL), 0);
	T_EQ_S(text.data, "mine");
	unlink(run_path("file"));
	tg_buf_release(&text);
	got_release(&g);
}

#define NOT_HERE(word) "There is no \"" word "\" here; \"help\" lists the words\n"

static void test_tacho(void)
{
	static const char *const help[] = { "%tacho", "%tacho help", "%tacho --help", "%tacho -h",
		"%tacho?" };
	struct got g;

	g = magic("%tacho show --span 1");
	T_EQ_S(g.out.data,
		"#  cores over time  wall  cores  of allowed        peak  read  written\n"
		"1                   3 ms   0.97        24 %  300 MB RSS   0 B      0 B  pass\n");
	got_release(&g);
	for (size_t i = 0; i < TG_ARRAY_SIZE(help); i++) {
		g = magic(help[i]);
		T_OK(!strncmp(g.out.data, "tachograph records what ", 24));
		T_OK(strstr(g.out.data, "`%tacho help WORD` says more.") != NULL);
		T_OK(strstr(g.out.data, "`%%tacho` on top of a cell ") != NULL);
		T_OK(strstr(g.out.data, "JUmPER's names work, too") != NULL);
		T_OK(!strstr(g.out.data, "stage") && !strstr(g.out.data, "task"));
		T_EQ_S(g.err.data, "");
		got_release(&g);
	}
	g = magic("%tacho -h show");
	T_OK(!strncmp(g.out.data, "%tacho show [F", 14) && !strstr(g.out.data, "stage") &&
		!strstr(g.out.data, "task"));
	got_release(&g);
	g = magic("%tacho show --help");
	T_OK(strstr(g.out.data, "%tacho show [F") != NULL);
	got_release(&g);
	g = magic("%tacho help show");
	T_OK(strstr(g.out.data, "%tacho show [F") != NULL);
	got_release(&g);
	g = magic("%display_graph_for_index?");
	T_EQ_S(g.out.data, "%%display_graph_for_index INDEX\n\nA chart of one recorded cell.\n\n"
			   "Example: %%display_graph_for_index 3\n");
	got_release(&g);
	complains("%tacho shwo", "There is no \"shwo\" here; did you mean \"show\"?\n");
	complains("%tacho live", "There is no \"live\" here; \"help\" lists the words\n");
	complains("%tacho xyzzy", "There is no \"xyzzy\" here; \"help\" lists the words\n");
	complains("%tacho show --josn", "There is no option --josn; did you mean --json?\n");
	complains("%tacho show --span", "--span needs a value\n");
	complains("%tacho show 'x", "A quote is open, or there are too many words\n");
	complains("%tacho mark", "A mark needs a name: mark loaded\n");
	complains("%tacho mark x y", "Behind the name of a mark come KEY=VALUE pairs\n");
	complains("%tacho mark x", "Nothing is recorded now\n");
	complains("%tacho export",
		"Where to? Say -o with a name that ends in .csv, .json, .sqlite, .parquet, "
		".prom or /, or -o - for the screen\n");
	/* below our lines is the user's code, and what its kernel makes of it */
	prints("%tacho set report=line\n%matplotlib inline\n%tacho nix",
		"report line, as before\n");
	/* a second magic is done, whichever line break is before it and however many signs it has
	 */
	complains("%%tacho a\r%%tacho b\xe2\x80\xa8%tacho c\f# c\x1c%%tacho d\nx = 1",
		NOT_HERE("a") NOT_HERE("b") NOT_HERE("c") NOT_HERE("d"));
	complains("%display_grph_for_last", "There is no magic in this cell\n");
	g = magic("%tacho show nix.tacho");
	T_OK(strstr(g.err.data, "/nix.tacho: No such file or directory\n") != NULL);
	got_release(&g);
	prints("%tacho export -o x.csv", "Exported to x.csv\n");
	T_EQ_I(unlink(run_path("x.csv")), 0);
	prints("%tacho chart --span last -o y.svg", "Drawn to y.svg\n");
	T_EQ_I(unlink(run_path("y.svg")), 0);
	g = magic("%tacho export -o -");
	T_OK(g.out.len > 100 && !strstr(g.out.data, "Exported"));
	got_release(&g);
}

/* What an answer sets, as the worker wrote it; NULL: nothing. */
/* No shell has seen the names of files in a magic: `~` is the home, `~user` a name as others. */
static void test_home(void)
{
	char *before = getenv("HOME") ? tg_xstrdup(getenv("HOME")) : NULL;
	struct got g;

	T_EQ_I(mkdir(run_path("home"), 0700), 0);
	setenv("HOME", run_path("home"), 1);
	prints("%tacho export -o ~/x.csv", "Exported to ~/x.csv\n");
	T_EQ_I(unlink(run_path("home/x.csv")), 0);
	T_EQ_I(rename(run_path("run.tacho"), run_path("home/run.tacho")), 0);
	g = magic("%tacho show ~/run.tacho --span 1");
	T_EQ_S(g.err.data, "");
	T_OK(strstr(g.out.data, "300 MB") != NULL);
	got_release(&g);
	T_EQ_I(rename(run_path("home/run.tacho"), run_path("run.tacho")), 0);
	prints("%tacho export -o ~x.csv", "Exported to ~x.csv\n");
	T_EQ_I(unlink(run_path("~x.csv")), 0);
	setenv("HOME", "", 1);
	complains("%tacho export -o ~/x.csv", "Cannot write ~/x.csv: No such file or directory\n");
	T_EQ_I(rmdir(run_path("home")), 0);
	unsetenv("HOME");
	if (before)
		setenv("HOME", before, 1);
	free(before);
}

static void check_set(const char *code, const char *want, const char *said)
{
	struct got g = magic(code);
	struct tg_buf json = TG_BUF_INIT;
	const struct tg_json *settings = tg_json_get(g.json, "settings");

	if (settings)
		tg_json_dump(settings, &json);
	T_EQ_S(json.len ? json.data : "", want ? want : "");
	T_EQ_S(want ? g.out.data : g.err.data, said);
	T_EQ_I(want ? g.err.len : g.out.len, 0);
	tg_buf_release(&json);
	got_release(&g);
}

static void test_set(void)
{
	check_set("%tacho set interval=0.05 report=jumper",
		"{\"interval_s\":0.05,\"report\":\"jumper\"}",
		"interval 0.05 (was 0.1), from the next cell on\n"
		"report jumper (was line), from the next cell on\n");
	check_set("%tacho set TACHOGRAPH_CODE=0 JUMPER_REPORTS_MIN=3",
		"{\"code\":0,\"jumper_reports_min\":3}",
		"code 0 (was 1), from the next cell on\n"
		"JUMPER_REPORTS_MIN 3 (was 2), from the next cell on\n");
	check_set("%tacho set interval= report-min=", "{\"interval_s\":null,\"report_min_s\":null}",
		"interval 0.1, as before\nreport-min 2, as before\n");
	check_set("%tacho set interval=1 interval=2", "{\"interval_s\":2}",
		"interval 2 (was 0.1), from the next cell on\n");
	check_set("%tacho set interval=0.05 report=loud", NULL,
		"report is one of line, jumper, none; line stays\n");
	check_set("%tacho set interval=fast", NULL,
		"interval is a number of seconds from 0.001 to 3600; 0.1 stays\n");
	check_set("%tacho set code=2", NULL, "code is 0 or 1; 1 stays\n");
	check_set("%tacho set interval 0.5", NULL,
		"Say interval=VALUE, without blanks around the sign\n");
	check_set("%tacho set interval = 0.5", NULL,
		"Say interval=VALUE, without blanks around the sign\n");
	check_set("%tacho set =1", NULL, "Say NAME=VALUE, without blanks around the sign\n");
	check_set("%tacho set intervall=1", NULL,
		"There is no setting \"intervall\"; did you mean \"interval\"?\n");
	check_set("%tacho set colour=1", NULL,
		"There is no setting \"colour\"; `%tacho set` lists them\n");
	check_set("%tacho set TACHOGRAPH_KEEP=1", NULL,
		"TACHOGRAPH_KEEP is read when a kernel starts: set it where Jupyter is started\n");
	check_set("%tacho set TACHOGRAPH_DIR", NULL,
		"TACHOGRAPH_DIR is read when a kernel starts: set it where Jupyter is started\n");
}

static void test_set_list(void)
{
	struct got g = ask("{\"n\":1,\"do\":\"magic\",\"code\":\"%tacho set\",\"settings\":{"
			   "\"interval_s\":0.05,\"report\":\"none\"},\"from\":{"
			   "\"interval_s\":\"%env in cell [3]\",\"report\":\"kernelspec\"}}");
	size_t lines = 0;

	T_EQ_S(g.err.data, "");
	T_OK(strstr(g.out.data,
		     "interval                 0.05  %env in cell [3]  seconds between samples "
		     "while a cell runs\n"
		     "report                   none  kernelspec        what a cell prints when it "
		     "ends: line, jumper, none\n"
		     "report-min               2     default           ") == g.out.data);
	for (int i = 0; i < TG_SETTINGS; i++)
		T_OK(strstr(g.out.data, tg_setting((enum tg_setting_name)i)->help) != NULL);
	for (const char *p = g.out.data; *p; p++)
		lines += *p == '\n';
	T_EQ_I(lines, TG_SETTINGS + 4);
	got_release(&g);
	g = magic("%tacho set --help");
	for (int i = 0; i < TG_SETTINGS; i++)
		T_OK(strstr(g.out.data, tg_setting((enum tg_setting_name)i)->name) != NULL);
	got_release(&g);
	g = ask("{\"n\":1,\"do\":\"magic\",\"code\":\"%tacho set report=\",\"settings\":{"
		"\"report\":\"none\"},\"from\":{\"report\":\"%tacho set in cell [3]\"}}");
	T_EQ_S(g.out.data, "report none is taken back, from the next cell on\n");
	got_release(&g);
	g = magic("%tacho set JUMPER_REPORTS_MIN");
	T_EQ_S(g.out.data, "JUMPER_REPORTS_MIN  2  default  values that a cell must exceed for "
			   "JUmPER's report\n");
	got_release(&g);
}

static struct got cell_end(const char *id, const char *settings)
{
	struct tg_buf request = TG_BUF_INIT;
	struct got g;

	tg_buf_addf(&request,
		"{\"n\":9,\"do\":\"cell_end\",\"code\":\"\",\"cell\":{\"id\":\"%s\",\"count\":3},"
		"\"settings\":{%s}," FILE_HERE "}",
		id, settings, run_path("run.tacho"));
	g = ask(request.data);
	tg_buf_release(&request);
	return g;
}

static void test_cell_end(void)
{
	struct got g = cell_end("k-4", "");

	T_EQ_S(g.out.data, "3 s · 3.2 of 4 cores · peak 7.6 GB RSS of 8 · +6.7 GB kept\n");
	got_release(&g);
	g = cell_end("k-2", ""); /* which has another cell's count, too */
	T_EQ_S(g.out.data, "2 s · 1 of 4 cores · peak 300 MB RSS of 8 GB · +200 MB kept\n");
	got_release(&g);
	g = cell_end("k-9", ""); /* lost: nothing is better than another cell's line */
	T_EQ_S(g.out.data, "");
	got_release(&g);
	g = cell_end("k-3", ""); /* shorter than 2 s */
	T_EQ_S(g.out.data, "");
	got_release(&g);
	g = cell_end("k-3", "\"report\":\"line\",\"report_min_s\":0");
	T_EQ_S(g.out.data, "3 ms · 0.97 of 4 cores · peak 300 MB RSS of 8 GB\n");
	got_release(&g);
	g = cell_end("k-4", "\"report\":\"none\"");
	T_EQ_S(g.out.data, "");
	got_release(&g);
	g = cell_end("k-4", "\"report\":\"jumper\"");
	T_EQ_S(g.out.data, ""); /* 3 s / 2 s is not more than 2 */
	got_release(&g);
	g = cell_end("k-4",
		"\"report\":\"jumper\",\"jumper_report_frequency_s\":1,\"jumper_reports_min\":2");
	T_EQ_S(g.out.data, "\n----Performance Data----\nDuration: 3.00\n"
			   "\nCPU Util (Across CPUs)       \tAVG: 79.05\t MIN: 78.43\t MAX: 80.00\n"
			   "Mem Util in GB (Across nodes)\tAVG: 7.69\t MIN: 6.30\t MAX: 8.38\n"
			   "IO Ops (excl.) Read          \tTotal: 210\n"
			   "               Write         \tTotal: 3020\n"
			   "IO Bytes (excl.) Read        \tTotal: 20.03\n"
			   "                 Write       \tTotal: 574.09\n");
	got_release(&g);
	T_EQ_S(g.err.data, "");
}

/* Answers of a recorder to hello and flush; NULL: none. */
struct recorder {
	int listener;
	const char *hello, *flush;
};

static void *play_recorder(void *arg)
{
	struct recorder *r = arg;
	int fd = accept(r->listener, NULL, NULL);
	char text[4096];
	ssize_t n;

	while ((n = recv(fd, text, sizeof(text) - 1, 0)) > 0) {
		const char *answer;

		text[n] = '\0';
		answer = strstr(text, "\"hello\"") ? r->hello : r->flush;
		if (answer)
			T_OK(send(fd, answer, strlen(answer), MSG_NOSIGNAL) > 0);
	}
	close(fd);
	return NULL;
}

/* A magic about `file`, whose recorder answers so, or does not run at all (NULL). */
static struct got magic_with(struct recorder *r, const char *file, const char *code)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct tg_buf request = TG_BUF_INIT;
	pthread_t thread;
	struct got g;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", run_path("sock"));
	if (r) {
		r->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		T_EQ_I(bind(r->listener, (struct sockaddr *)&a, sizeof(a)), 0);
		T_EQ_I(listen(r->listener, 1), 0);
		pthread_create(&thread, NULL, play_recorder, r);
	}
	tg_buf_addf(&request,
		"{\"n\":7,\"do\":\"magic\",\"code\":\"%s\",\"recorder\":{\"file\":\"%s\","
		"\"socket\":\"%s\",\"run\":1}}",
		code, run_path(file), a.sun_path);
	g = ask(request.data);
	tg_buf_release(&request);
	if (r) {
		pthread_join(thread, NULL);
		close(r->listener);
		unlink(a.sun_path);
	}
	return g;
}

/* Where nothing could be recorded the recorder's reason is told, not that a file is missing. */
static void test_recorder_reasons(void)
{
	struct recorder full = { .hello = "{\"re\":1,\"file\":\"/x\",\"warning\":\"nothing is "
					  "recorded: cannot write /x: No space left on device\"}",
		.flush = "{\"re\":2,\"error\":\"nothing is recorded\"}" };
	struct recorder well = { .hello = "{\"re\":1,\"file\":\"/x\",\"session\":1}",
		.flush = "{\"re\":2,\"offset\":99}" };
	struct recorder hung = { .hello = "{\"re\":1,\"file\":\"/x\",\"session\":1}" };
	struct recorder stopped = { 0 };
	static const char *const code[] = { "%tacho show", "%tacho verify", "%tacho mark x",
		"%tacho export -o x.csv", "%tacho chart", "%%display_graph_for_last" };
	struct got g;

	for (size_t i = 0; i < TG_ARRAY_SIZE(code); i++) {
		g = magic_with(&full, "nix.tacho", code[i]);
		T_EQ_S(g.err.data,
			"Nothing is recorded: cannot write /x: No space left on device\n");
		got_release(&g);
	}
	g = magic_with(&well, "nix.tacho", "%tacho show");
	T_EQ_S(g.err.data, "The recording is gone: its file was removed or renamed\n");
	got_release(&g);
	g = magic_with(&well, "run.tacho", "%tacho show");
	T_EQ_S(g.err.data, "");
	T_OK(strstr(g.out.data, "\n2  ") != NULL);
	got_release(&g);
	g = magic_with(&hung, "run.tacho", "%tacho show");
	T_EQ_S(g.err.data,
		"What happened last may be missing: the recorder could not write it yet\n");
	T_OK(strstr(g.out.data, "\n2  ") != NULL);
	got_release(&g);
	g = magic_with(&stopped, "run.tacho", "%tacho show");
	T_EQ_S(g.err.data, "The recorder does not answer: what happened last may be missing\n");
	T_OK(strstr(g.out.data, "\n2  ") != NULL);
	got_release(&g);
	g = magic_with(NULL, "run.tacho", "%tacho show");
	T_EQ_S(g.err.data, "The recorder does not answer: what happened last may be missing\n");
	T_OK(strstr(g.out.data, "\n2  ") != NULL);
	got_release(&g);
	g = magic_with(&stopped, "run.tacho", "%tacho help"); /* reads nothing */
	T_EQ_S(g.err.data, "");
	got_release(&g);
}

/* Whatever is missing or damaged: a sentence, at once. */
static void test_no_recording(void)
{
	struct got g;

	g = ask("{\"n\":1,\"do\":\"magic\",\"code\":\"%tacho show\",\"recorder\":null,"
		"\"why\":\"Nothing is recorded: the disk is full\"}");
	T_EQ_S(g.err.data, "Nothing is recorded: the disk is full\n");
	got_release(&g);
	g = ask("{\"n\":1,\"do\":\"magic\",\"code\":\"%%display_graph_for_last\"}");
	T_EQ_S(g.err.data, "Nothing is recorded here\n");
	got_release(&g);
	g = ask("{\"n\":1,\"do\":\"cell_end\"}");
	T_EQ_S(g.err.data, "");
	T_EQ_S(g.out.data, "");
	got_release(&g);
	g = magic_of("nix.tacho", "%%display_graph_for_last", "");
	T_EQ_S(g.err.data, "The recording is gone: its file was removed or renamed\n");
	got_release(&g);
	run_write(run_path("none.tacho"), RUN_NO_CELLS);
	g = magic_of("none.tacho", "%%display_graph_for_last", "");
	T_EQ_S(g.err.data, "No cell was recorded yet\n");
	got_release(&g);
	g = magic_of("none.tacho", "%%display_graph_for_index 0", "");
	T_EQ_S(g.err.data, "Tracked only 0 cells. This index is not available.\n");
	got_release(&g);
	g = magic_of("none.tacho", "%%display_code_history", "");
	T_EQ_I(g.displays, 1);
	got_release(&g);
	unlink(run_path("none.tacho"));
	run_write(run_path("rows.tacho"), RUN_NO_ROWS);
	g = magic_of("rows.tacho", "%%display_graph_for_last", "");
	T_EQ_S(g.err.data, "There is nothing to draw: no samples were taken in that time\n");
	got_release(&g);
	g = magic_of("rows.tacho", "%tacho chart --panel gpu,net", "");
	T_EQ_S(g.err.data, "There is nothing to draw: no samples for gpu, net in that time\n");
	got_release(&g);
	g = magic_of("rows.tacho", "%%perfdata_to_json r", "");
	T_EQ_S(g.err.data, "");
	got_release(&g);
	unlink(run_path("r_perfdata.json"));
	unlink(run_path("r_code.json"));
	unlink(run_path("rows.tacho"));
}

static void test_bad_requests(void)
{
	static const char *const bad[] = { "", "{", "[]", "null", "\"x\"", "{}", "{\"n\":1}",
		"{\"n\":\"x\",\"do\":7}", "{\"n\":1,\"do\":\"magic\"}",
		"{\"n\":1,\"do\":\"magic\",\"code\":\"print(1)\"}",
		"{\"n\":1,\"do\":\"magic\",\"code\":\"%\"}",
		"{\"n\":1,\"do\":\"magic\",\"code\":\"%%\"}",
		"{\"n\":1,\"do\":\"magic\",\"code\":\"?\"}" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(bad); i++) {
		struct got g = ask(bad[i]);

		T_OK(g.err.len > 0);
		got_release(&g);
	}
}

/* Half a surrogate pair is no Unicode, but front ends send it. */
static void test_surrogate(void)
{
	struct got g = ask("{\"n\":5,\"do\":\"magic\",\"code\":\"%tacho \\ud800x\\ud83d\\ude00\"}");

	T_EQ_I(tg_json_int(tg_json_get(g.json, "n"), 0), 5);
	T_EQ_S(g.err.data,
		"There is no \"\xef\xbf\xbdx\xf0\x9f\x98\x80\" here; \"help\" lists the words\n");
	got_release(&g);
}

/* ---- the socket ---- */

struct server {
	int fd, idle_ms, result;
};

static void *serve(void *arg)
{
	struct server *s = arg;

	s->result = tg_worker_serve(NULL, s->fd, s->idle_ms);
	close(s->fd);
	return NULL;
}

static void test_serve(void)
{
	static const char request[] = "\x08\0\0\0{\"n\":3 }\x08\0\0\0{\"n\":4 }";
	struct server s = { .idle_ms = 20000 };
	unsigned char head[4];
	char text[4096];
	pthread_t thread;
	int fd[2];

	T_EQ_I(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	s.fd = fd[1];
	pthread_create(&thread, NULL, serve, &s);
	/* in pieces: a stream keeps no boundaries */
	T_EQ_I(tg_file_write_all(fd[0], request, 3), 0);
	T_EQ_I(tg_file_write_all(fd[0], request + 3, 24 - 3), 0);
	for (int n = 3; n <= 4; n++) {
		size_t len, done = 0;
		struct tg_json *v;

		T_EQ_I(recv(fd[0], head, 4, MSG_WAITALL), 4);
		len = head[0] | (size_t)head[1] << 8;
		if (!T_OK(len < sizeof(text) && !head[2] && !head[3]))
			break;
		while (done < len) {
			ssize_t got = read(fd[0], text + done, len - done);

			if (got <= 0)
				break;
			done += (size_t)got;
		}
		v = tg_json_parse(text, done, NULL);
		T_EQ_I(tg_json_int(tg_json_get(v, "n"), 0), n);
		tg_json_free(v);
	}
	shutdown(fd[0], SHUT_WR);
	pthread_join(thread, NULL);
	T_EQ_I(s.result, 0);
	close(fd[0]);
	/* a size that is not believed */
	T_EQ_I(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	s.fd = fd[1];
	pthread_create(&thread, NULL, serve, &s);
	T_EQ_I(tg_file_write_all(fd[0], "\xff\xff\xff\x7f", 4), 0);
	pthread_join(thread, NULL);
	T_EQ_I(s.result, -EMSGSIZE);
	close(fd[0]);
	/* idle */
	T_EQ_I(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	s = (struct server){ .fd = fd[1], .idle_ms = 20 };
	serve(&s);
	T_EQ_I(s.result, 0);
	close(fd[0]);
}

int main(void)
{
	run_write(run_path("run.tacho"), 0);
	test_code();
	test_graphs();
	test_size();
	test_to_json();
	test_allowed_cpus();
	test_to_variable();
	test_fifo_is_file();
	test_tacho();
	test_home();
	test_set();
	test_set_list();
	test_cell_end();
	test_no_recording();
	test_recorder_reasons();
	test_bad_requests();
	test_surrogate();
	test_serve();
	unlink(run_path("run.tacho"));
	T_EQ_I(rmdir(run_dir()), 0);
	return t_done();
}
