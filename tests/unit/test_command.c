/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words, as the command line and as `%tacho` run them, on the known run: against golden files
 * (TG_GOLDEN_UPDATE=1 writes them anew), with hostile names, with damage.
 */
#include "run_devices.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "analyze/moments.h"
#include "base/file.h"
#include "base/json.h"
#include "command/command.h"
#include "command/run.h"
#include "report/format.h"

#include "base/mem.h"

struct capture {
	struct tg_buf text, note;
	int result;
	struct tg_err err;
};

static void on_text(void *ctx, const char *text, size_t len)
{
	tg_buf_add(&((struct capture *)ctx)->text, text, len);
}

static void on_note(void *ctx, const char *sentence)
{
	tg_buf_addf(&((struct capture *)ctx)->note, "%s\n", sentence);
}

static void on_show(void *ctx, const struct tg_display *display)
{
	tg_buf_adds(&((struct capture *)ctx)->text, display->text);
}

static void on_set(void *ctx, const char *key, const char *json)
{
	(void)ctx;
	(void)key;
	(void)json;
}

/* Run a line of words, cut at blanks, as the command line would with such a folder. */
static struct capture run_at(int64_t now_ns, const char *folder, const char *line)
{
	struct capture c = { .text = TG_BUF_INIT, .note = TG_BUF_INIT };
	struct tg_command command = { .where = TG_IN_CLI,
		.cwd = run_dir(),
		.folder = folder,
		.now_ns = now_ns,
		.run = -1,
		.out = { &c, on_text, on_note, on_show, on_set } };
	char *copy = tg_xstrdup(line), *argv[16], *at = copy;
	int argc = 0;

	while (*at && argc < 16) {
		argv[argc++] = at;
		at += strcspn(at, " ");
		if (*at)
			*at++ = '\0';
	}
	c.result = tg_word_run(tg_word_find(argv[0], TG_IN_CLI), &command, argc, argv);
	c.err = command.err;
	free(copy);
	return c;
}

static struct capture run_in(const char *folder, const char *line)
{
	return run_at(0, folder, line);
}

static struct capture run(const char *line)
{
	return run_in(NULL, line);
}

static void release(struct capture *c)
{
	tg_buf_release(&c->text);
	tg_buf_release(&c->note);
}

/* Compare with tests/golden/<name>; the folder of this run is written DIR there. */
static void golden(const char *name, struct tg_buf *got)
{
	struct tg_buf path = TG_BUF_INIT, want = TG_BUF_INIT;
	char *at;

	while ((at = strstr(got->data, run_dir())))
		tg_buf_splice(got, (size_t)(at - got->data), strlen(run_dir()), "DIR", 3);
	tg_buf_addf(&path, "%s/golden/%s", t_dir(), name);
	if (getenv("TG_GOLDEN_UPDATE")) {
		int fd = open(path.data, O_WRONLY | O_CREAT | O_TRUNC, 0644);

		T_OK(fd >= 0 && tg_file_write_all(fd, got->data, got->len) == 0);
		close(fd);
	} else if (T_OK(tg_file_read(AT_FDCWD, path.data, 1 << 20, &want, NULL) == 0)) {
		if (!T_OK(want.len == got->len && !memcmp(want.data, got->data, want.len)))
			fprintf(stderr, "# %s differs:\n%s\n", name, got->data);
	}
	tg_buf_release(&path);
	tg_buf_release(&want);
}

static void test_golden(void)
{
	static const char *const call[][2] = {
		{ "show run.tacho", "show.txt" },
		{ "show run.tacho --json", "show.json" },
		{ "export run.tacho -o -", "export.csv" },
		{ "export run.tacho -o - --format json", "export.json" },
		{ "export run.tacho -o - --format openmetrics --metric "
		  "core.busy_ns,tree.rss_bytes",
			"export.prom" },
		{ "export run.tacho -o - --format snakemake --extended", "export.benchmark.tsv" },
		{ "export run.tacho -o - --format nextflow", "export.trace.txt" },
		{ "export run.tacho -o - --format nextflow --raw-numbers --span kind=*",
			"export.trace-raw.txt" },
		{ "verify run.tacho", "verify.txt" },
		{ "help", "help.txt" },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(call); i++) {
		struct capture c = run(call[i][0]);

		T_EQ_I(c.result, TG_WORD_OK);
		T_EQ_S(c.err.text, "");
		T_EQ_S(c.note.data, "");
		golden(call[i][1], &c.text);
		release(&c);
	}
}

/* pitfall 23: a disk has its name in JSON, and beside it where it is mounted, if that is known. */
static void test_json_disks(void)
{
	static const char *const want[][2] = {
		{ "show devices.tacho --json",
			"\"disks\":[{\"name\":\"nvme0n1\",\"mounts\":[\"/scratch\",\"/data\","
			"\"/srv/a_folder_with_a_long_name\"]},{\"name\":\"sdc\"},"
			"{\"name\":\"vda\",\"mounts\":[\"/\"]}]" },
		{ "export devices.tacho -o - --format json",
			"\"instance\":\"vda\",\"mounts\":[\"/\"],\"unit\"" },
		{ "export devices.tacho -o - --format json",
			"\"name\":\"disk.read_bytes\",\"instance\":\"sdc\",\"unit\"" },
		{ "export devices.tacho -o -", ",disk.read_bytes:nvme0n1[unit]," },
	};

	devices_write(run_path("devices.tacho"));
	for (size_t i = 0; i < TG_ARRAY_SIZE(want); i++) {
		struct capture c = run(want[i][0]);

		T_EQ_I(c.result, TG_WORD_OK);
		T_OK(strstr(c.text.data, want[i][1]) != NULL);
		release(&c);
	}
	T_EQ_I(unlink(run_path("devices.tacho")), 0);
}

/* What design.md promises of a span, name by name; unknown is null and not left out. */
static void test_json_members(void)
{
	static const char *const member[] = { "index", "kind", "name", "lane", "status", "attrs",
		"start", "wall_s", "cpu_s", "cores_mean", "cores_max", "cores_allowed",
		"cpu_pct_of_allowed", "cpu_pct_of_node", "memory_limit_bytes", "mem_peak_bytes",
		"mem_peak_is", "rss_peak_bytes", "pss_peak_bytes", "pss_age_s", "vms_peak_bytes",
		"mem_retained_bytes", "file_retained_bytes", "read_bytes", "write_bytes",
		"rchar_bytes", "wchar_bytes", "read_ops", "write_ops", "net_rx_bytes",
		"net_tx_bytes", "nfs_read_bytes", "nfs_write_bytes", "gpus", "gpu_util_mean_pct",
		"gpu_mem_peak_bytes", "energy_j", "throttled_s", "oom_kills", "unattributed_cpu_s",
		"samples", "missed", "exact", "peak_exact", "verdicts" };
	struct capture c = run("show run.tacho --json");
	struct tg_json *v = tg_json_parse(c.text.data, c.text.len, NULL);
	const struct tg_json *spans = tg_json_get(v, "spans"), *series;
	const char *key = NULL;
	size_t n = 0;

	T_EQ_I(tg_json_len(spans), 4);
	for (size_t i = 0; i < TG_ARRAY_SIZE(member); i++)
		if (!T_OK(tg_json_get(tg_json_at(spans, 1), member[i])))
			fprintf(stderr, "# no %s\n", member[i]);
	while ((key = tg_json_next_key(tg_json_at(spans, 1), key)))
		n++;
	T_EQ_I(n, TG_ARRAY_SIZE(member));
	T_OK(tg_json_is_null(tg_json_get(tg_json_at(spans, 1), "energy_j")));
	T_OK(tg_json_get(v, "file") && tg_json_get(v, "machine") && tg_json_get(v, "tasks") &&
		tg_json_get(v, "events"));
	T_OK(tg_json_is_null(tg_json_get(v, "damage"))); /* it is whole */
	series = tg_json_get(tg_json_get(v, "series"), "tree.cpu_ns");
	T_EQ_S(tg_json_str(tg_json_get(series, "unit"), ""), "s/s");
	T_EQ_I(tg_json_len(tg_json_get(series, "max")), 150);
	tg_json_free(v);
	release(&c);
}

/* The sum of what the CSV says is what the span says. */
static void test_csv_agrees(void)
{
	struct capture c = run("export run.tacho -o - --span 2");
	char *line = c.text.data, *end;
	double first = NAN, last = NAN;
	int rows = 0;

	while ((end = strchr(line, '\n'))) {
		char *field = line;

		*end = '\0';
		for (int i = 0; i < 3 && field; i++) {
			field = strchr(field, ',');
			field = field ? field + 1 : NULL;
		}
		if (rows++ && field) {
			last = strtod(field, NULL);
			first = isnan(first) ? last : first;
		}
		line = end + 1;
	}
	T_EQ_I(rows, 1 + 30 + 2);
	T_NEAR((last - first) / 1e9, 9.6, 1e-3);
	release(&c);
	c = run("export run.tacho -o - --format json --no-code --no-args");
	T_OK(!strstr(c.text.data, "import numpy") && !strstr(c.text.data, "ipykernel"));
	T_OK(strstr(c.text.data, "\"comm\":\"python3\"") != NULL);
	release(&c);
}

/* The name of a cell may be its first line of code; a stage's is what its user called it. */
static void test_no_code(void)
{
	struct tg_writer *w;
	struct capture c;

	T_EQ_I(tg_writer_open(&w, run_path("named.tacho"), RUN_SESSION, NULL), 0);
	run_begin(w, 2, 2, "\"name\":\"key = 123\",\"code\":\"key = 123\"");
	run_end(w, 2, 4, "ok");
	run_event(w, "{\"ev\":\"begin\",\"t\":1005000000000,\"span\":3,\"kind\":\"stage\","
		     "\"name\":\"align\"}");
	tg_writer_finish(w);
	c = run("export named.tacho -o - --format json --no-code");
	T_EQ_I(c.result, TG_WORD_OK);
	T_OK(!strstr(c.text.data, "123"));
	T_OK(strstr(c.text.data, "\"kind\":\"cell\",\"name\":null") != NULL);
	T_OK(strstr(c.text.data, "\"name\":\"align\"") != NULL);
	release(&c);
	c = run("export named.tacho -o - --format json");
	T_OK(strstr(c.text.data, "\"name\":\"key = 123\"") != NULL);
	release(&c);
	unlink(run_path("named.tacho"));
}

/* The text of a file in the test's folder; caller releases. */
static struct tg_buf content(const char *name)
{
	struct tg_buf b = TG_BUF_INIT;

	T_OK(tg_file_read(AT_FDCWD, run_path(name), 64 << 20, &b, NULL) >= 0);
	return b;
}

static bool contains(const struct tg_buf *b, const char *text)
{
	return memmem(b->data, b->len, text, strlen(text)) != NULL;
}

/* What is left out is in no format, and is there when nothing is said. */
static void test_secrets(void)
{
	static const char *const call[][3] = {
		{ "csv", "x.csv", "" }, { "json", "x.json", "ca" }, { "raw", "x.raw", "ca" },
		{ "openmetrics", "x.prom", "" }, { "snakemake", "x.tsv", "" },
		{ "nextflow", "x.txt", "" },
		{ "sqlite", "x.sqlite", "ca" }, /* where it was built in */
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(call); i++) {
		for (int hidden = 0; hidden < 2; hidden++) {
			struct tg_buf line = TG_BUF_INIT, got;
			struct capture c;

			tg_buf_addf(&line, "export run.tacho -o %s --format %s %s", call[i][1],
				call[i][0], hidden ? "--no-code --no-args" : "");
			c = run(line.data);
			tg_buf_release(&line);
			if (strstr(c.err.text, "without SQLite")) {
				T_SKIP("sqlite", c.err.text);
				release(&c);
				continue;
			}
			T_EQ_I(c.result, TG_WORD_OK);
			got = content(call[i][1]);
			T_OK(got.len > 100);
			T_EQ_I(contains(&got, "import numpy"),
				!hidden && strchr(call[i][2], 'c') != NULL);
			T_EQ_I(contains(&got, "-m ipykernel"),
				!hidden && strchr(call[i][2], 'a') != NULL);
			tg_buf_release(&got);
			release(&c);
			unlink(run_path(call[i][1]));
		}
	}
}

/* A CSV file a table. */
static void test_folder(void)
{
	static const char *const want[][2] = {
		{ "tables/samples.csv", "time[UTC],t[s],cell,tree.cpu_ns[ns]," },
		{ "tables/spans.csv", "\n1,cell,,,ok,,1767225605,0.003," },
		{ "tables/processes.csv", "\n4711,python3,python3 -m ipykernel,1767225600.02,,,"
					  "7600000000,,,,\n" },
		{ "tables/events.csv", "\n1767225608,mark,\"{\"\"ev\"\":\"\"mark\"\"," },
		{ "tables/metrics.csv",
			"\ncore.busy_ns,cpu3,ns,counter,node,0,busy time of a CPU\n" },
	};

	for (int again = 0; again < 2; again++) { /* it is made, and may be there */
		struct capture c =
			run(again ? "export run.tacho -o tables" : "export run.tacho -o tables/");

		T_EQ_I(c.result, TG_WORD_OK);
		for (size_t i = 0; i < TG_ARRAY_SIZE(want); i++) {
			struct tg_buf got = content(want[i][0]);

			if (!T_OK(contains(&got, want[i][1])))
				fprintf(stderr, "# %s: %s\n", want[i][0], got.data);
			if (again)
				T_EQ_I(unlink(run_path(want[i][0])), 0);
			tg_buf_release(&got);
		}
		release(&c);
	}
	T_EQ_I(rmdir(run_path("tables")), 0);
}

/* Numbers of the machine: the header's line, one block, its missing bits, the end. */
static void test_raw(void)
{
	struct capture c = run("export run.tacho -o raw.bin --format raw --metric node.cpu_busy_ns,"
			       "tree.cpu_ns --table none");
	struct tg_buf got = content("raw.bin");
	const char *at = memchr(got.data, '\n', got.len);
	int64_t n = 0, first = 0, missing = 0, end = -1;

	T_EQ_I(c.result, TG_WORD_OK);
	T_OK(at && contains(&got, "\"columns\":[{\"metric\":\"time_ns\","));
	memcpy(&n, ++at, 8);
	T_OK(n > 60 && n < 80);
	memcpy(&first, at + 8, 8);
	T_EQ_I(first, RUN_REAL + 20 * TG_NS_PER_MS);
	at += 8 + 4 * (8 * n + (n + 7) / 8) + 8 * n; /* rows at edges have none of the machine */
	for (int64_t i = 0; i < n; i++)
		missing += at[i / 8] >> i % 8 & 1;
	T_EQ_I(missing, 6);
	at += (n + 7) / 8;
	memcpy(&end, at, 8);
	T_EQ_I(end, 0);
	T_OK(at + 8 == got.data + got.len);
	tg_buf_release(&got);
	release(&c);
	unlink(run_path("raw.bin"));
}

static void fails(const char *line, int result, const char *sentence)
{
	struct capture c = run(line);

	T_EQ_I(c.result, result);
	T_EQ_S(c.err.text, sentence);
	T_EQ_S(c.text.data, "");
	release(&c);
}

static void test_bad_use(void)
{
	struct capture c;

	fails("show", TG_WORD_USAGE, "Which recording? Name a .tacho file");
	fails("verify", TG_WORD_USAGE, "Which recording? Name a .tacho file");
	fails("show run.tacho --span x", TG_WORD_USAGE,
		"\"x\" selects no spans; say for example 3, 2:5, -1, last or all");
	fails("show run.tacho --span 7", TG_WORD_FAILED,
		"This selects none of the 3 cells; they count from 0");
	fails("show run.tacho --span", TG_WORD_USAGE, "--span needs a value");
	fails("chart run.tacho -o", TG_WORD_USAGE, "-o needs a value");
	fails("export run.tacho -o x.csv --format xml", TG_WORD_USAGE,
		"--format is csv, json, raw, openmetrics, snakemake, nextflow, sqlite, parquet or "
		"folder");
	fails("export run.tacho -o x.csv --metric tree.cpu_ns,tree.x", TG_WORD_FAILED,
		"There is no metric \"tree.x\" in this recording");
	fails("export run.tacho -o - --format sqlite", TG_WORD_USAGE,
		"sqlite is written to a file of a name: say -o NAME");
	fails("export run.tacho --format csv", TG_WORD_USAGE,
		"Where to? Say -o with a name that ends in .csv, .json, .sqlite, .parquet, .prom "
		"or /, "
		"or -o - for the screen");
	fails("show last", TG_WORD_USAGE, "There is no file last; spans are chosen by --span last");
	fails("chart 2:5 -o x.svg", TG_WORD_USAGE,
		"There is no file 2:5; spans are chosen by --span 2:5");
	c = run("verify last"); /* which takes no spans */
	T_EQ_I(c.result, TG_WORD_FAILED);
	T_OK(strstr(c.err.text, "/last: No such file or directory") && !strstr(c.err.text, "--"));
	release(&c);
	/* two blanks: an empty argument between them */
	fails("show  --", TG_WORD_USAGE, "An empty name is no recording");
	fails("verify  --", TG_WORD_USAGE, "An empty name is no recording");
	c = run("show  run.tacho");
	T_EQ_I(c.result, TG_WORD_FAILED);
	T_EQ_S(c.note.data, "An empty name is no recording\n");
	release(&c);
	fails("help show chart", TG_WORD_USAGE, "help explains one word at a time");
	fails("show run.tacho --json=1", TG_WORD_USAGE, "--json takes no value");
	fails("show run.tacho run.tacho --json", TG_WORD_USAGE,
		"--span and --json want one recording");
	fails("chart run.tacho", TG_WORD_USAGE,
		"Where to? Say -o with a name that ends in .svg, .png or .vl.json");
	fails("chart run.tacho -o x.gif", TG_WORD_USAGE,
		"Where to? Say -o with a name that ends in .svg, .png or .vl.json");
	fails("chart run.tacho -o x.svg --panel cpu,gpus,net", TG_WORD_USAGE,
		"There is no panel \"gpus\"; did you mean \"gpu\"?");
	fails("chart run.tacho -o no/x.svg", TG_WORD_FAILED,
		"Cannot write no/x.svg: No such file or directory");
	c = run("export run.tacho -o /dev/full --format csv");
	T_EQ_I(c.result, TG_WORD_FAILED);
	T_OK(strstr(c.err.text, "run.tacho: No space left on device") != NULL);
	release(&c);
	c = run("show nix.tacho");
	T_EQ_I(c.result, TG_WORD_FAILED);
	T_OK(strstr(c.err.text, "nix.tacho: No such file or directory") != NULL);
	release(&c);
}

static struct tg_buf slurp(const char *name)
{
	struct tg_buf b = TG_BUF_INIT;

	T_EQ_I(tg_file_read(AT_FDCWD, run_path(name), 1 << 20, &b, NULL), 0);
	return b;
}

static void spew(const char *name, const void *data, size_t len)
{
	int fd = open(run_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	T_OK(fd >= 0 && tg_file_write_all(fd, data, len) == 0);
	close(fd);
}

/* Figures of separate cells are of these cells, and the same in each kind of picture. */
static void test_separate(void)
{
	static const char *const call[][2] = {
		{ "chart run.tacho --span 0,2 -o apart.svg", "apart.svg" },
		{ "chart run.tacho --span 0,2 -o apart.vl.json", "apart.vl.json" },
	};
	/* 2 + 9.6 core·s in 2 + 3 s; 100 MB to 300 MB, and 300 MB to 7 GB in the half of 3 s */
	static const char *const has[] = { "2.32 of 4 cores", "11.6 core", "3.27 GB",
		/* 1, report 14: of what is allowed, not of the machine */
		"58 % of 4 cores", "95 % of 8 GB",
		"figures are of the cells alone, without 2 s between them" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(call); i++) {
		struct capture c = run(call[i][0]);
		struct tg_buf b = slurp(call[i][1]);

		T_EQ_I(c.result, TG_WORD_OK);
		for (size_t k = 0; k < TG_ARRAY_SIZE(has); k++)
			if (!T_OK(strstr(b.data, has[k]) != NULL))
				fprintf(stderr, "# no \"%s\" in %s\n", has[k], call[i][1]);
		T_EQ_I(unlink(run_path(call[i][1])), 0);
		tg_buf_release(&b);
		release(&c);
	}
}

/* A hole in the middle: what is left is shown, and the loss is said. */
static void test_damage(void)
{
	static const char *const word[] = { "show hole.tacho", "show hole.tacho --json",
		"chart hole.tacho -o hole.svg", "export hole.tacho -o -" };
	struct tg_buf b = slurp("run.tacho"), whole = slurp("run.tacho");
	size_t first = TG_CHUNK_HEADER + (uint8_t)b.data[12] + 256u * (uint8_t)b.data[13];
	struct tg_json *v;
	struct capture c;

	memset(b.data + b.len / 2, 0xAA, 64);
	spew("hole.tacho", b.data, b.len - 20); /* without its end, so that it is scanned */
	for (size_t i = 0; i < TG_ARRAY_SIZE(word); i++) {
		c = run(word[i]);
		T_EQ_I(c.result, TG_WORD_OK);
		T_OK(!strncmp(c.note.data, "The recording is damaged: ", 26));
		T_OK(strstr(c.note.data, " skipped in 1 hole, 1 chunk lost; `verify` says more\n"));
		if (!T_OK(strchr(c.note.data, '\n') == c.note.data + c.note.len - 1))
			fprintf(stderr, "# %s: %s\n", word[i], c.note.data);
		release(&c);
	}
	tg_buf_release(&b);
	b = slurp("hole.svg");
	T_OK(strstr(b.data, "the file is damaged: samples are missing") != NULL);
	tg_buf_release(&b);
	b = slurp("run.tacho");
	memset(b.data + b.len / 2, 0xAA, 64);
	unlink(run_path("hole.svg"));
	c = run("show hole.tacho --json");
	v = tg_json_parse(c.text.data, c.text.len, NULL);
	T_EQ_I(tg_json_int(tg_json_get(tg_json_get(v, "damage"), "holes"), -1), 1);
	T_EQ_I(tg_json_int(tg_json_get(tg_json_get(v, "damage"), "lost_chunks"), -1), 1);
	T_OK(tg_json_int(tg_json_get(tg_json_get(v, "damage"), "bytes_skipped"), -1) > 63);
	tg_json_free(v);
	release(&c);
	c = run("verify hole.tacho");
	T_EQ_I(c.result, TG_WORD_FAILED);
	T_OK(!strncmp(c.text.data, "hole.tacho is damaged: ", 23));
	T_OK(strstr(c.text.data, " skipped in 1 hole, 1 chunk lost; ") != NULL);
	T_OK(strstr(c.text.data, " chunks are good\nThe last chunk is incomplete (") != NULL);
	release(&c);
	/* cut off by one byte: nothing says both that it is whole and that it is not */
	spew("hole.tacho", whole.data, whole.len - 1);
	c = run("verify hole.tacho");
	T_EQ_I(c.result, TG_WORD_OK);
	T_OK(!strncmp(c.text.data, "hole.tacho is whole up to its last chunk: 29 chunks, ", 53));
	T_OK(strstr(c.text.data, " bytes): at most one second of a cell, or ten between cells, is "
				 "missing\nThere is no end chunk") != NULL);
	release(&c);
	spew("hole.tacho", whole.data, first + 1);
	c = run("verify hole.tacho");
	T_OK(!strncmp(c.text.data,
		"hole.tacho is whole up to its last chunk: 1 chunk with its checksum\n"
		"The last chunk is incomplete (1 byte): ",
		105));
	release(&c);
	/* with its end, the index hides the hole until that chunk is read */
	spew("hole.tacho", b.data, b.len);
	c = run("export hole.tacho -o -");
	T_EQ_I(c.result, TG_WORD_OK);
	T_OK(strstr(c.note.data, " skipped in 1 hole, 1 chunk lost; `verify` says more\n"));
	release(&c);
	/* cut off anywhere: a sentence or a table, never a crash */
	for (size_t len = 0; len < b.len; len += 97) {
		spew("cut.tacho", b.data, len);
		c = run("show cut.tacho");
		T_OK(c.result == TG_WORD_OK || (c.result == TG_WORD_FAILED && c.err.text[0]));
		release(&c);
	}
	spew("empty.tacho", "", 0);
	c = run("show empty.tacho");
	T_EQ_I(c.result, TG_WORD_FAILED);
	T_OK(c.err.text[0]);
	release(&c);
	unlink(run_path("hole.tacho"));
	unlink(run_path("cut.tacho"));
	unlink(run_path("empty.tacho"));
	tg_buf_release(&whole);
	tg_buf_release(&b);
}

/* A cell whose beginning was lost with a chunk is no cell; one whose end was lost ends at the next.
 */
static void test_lost_marks(void)
{
	struct tg_writer *w;
	struct capture c;

	unlink(run_path("lost.tacho"));
	T_EQ_I(tg_writer_open(&w, run_path("lost.tacho"), RUN_SESSION, NULL), 0);
	run_event(w, "{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":\"run\"}");
	run_end(w, 2, 1, "ok");
	run_begin(w, 3, 2, "\"code\":\"a\"");
	run_begin(w, 4, 5, "\"code\":\"b\"");
	run_end(w, 4, 6, "ok");
	tg_writer_abandon(w);
	c = run("show lost.tacho");
	T_EQ_S(c.text.data,
		"#  cores over time  wall  cores  of allowed  peak  read  written\n"
		"0                    3 s      –           –     –     –        –  a · end "
		"unknown\n"
		"1                    1 s      –           –     –     –        –  b\n");
	release(&c);
	unlink(run_path("lost.tacho"));
}

/* Marks are told in the time of the first span; where spans are chosen, those among them. */
static void test_marks(void)
{
	struct tg_buf e = TG_BUF_INIT;
	struct tg_writer *w;
	struct capture c;

	unlink(run_path("marks.tacho"));
	T_EQ_I(tg_writer_open(&w, run_path("marks.tacho"), RUN_SESSION, NULL), 0);
	run_event(w, "{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":\"run\"}");
	run_begin(w, 2, 2, "\"code\":\"a\"");
	run_end(w, 2, 4, "ok");
	run_begin(w, 3, 5, "\"code\":\"b\"");
	run_end(w, 3, 6, "ok");
	run_event(w, "{\"ev\":\"mark\",\"t\":1005500000000,\"name\":\"x\\u001b[31m\\ny\","
		     "\"attrs\":{\"rows\":\"4000\",\"n\":[1,2.5],\"t\\u001b\":\"a b\"}}");
	run_event(w, "{\"ev\":\"mark\",\"t\":1005600000000}"); /* without a name it is none */
	for (int s = 7; s > 0; s -= 6) {
		tg_buf_clear(&e);
		tg_buf_addf(&e, "{\"ev\":\"mark\",\"t\":100%d000000000,\"name\":\"m%d\"}", s, s);
		run_event(w, e.data);
	}
	tg_writer_finish(w);
	c = run("show marks.tacho");
	T_OK(strstr(c.text.data,
		"b\nMark at −1 s: m1\nMark at 3.5 s: x [31m y rows=4000 n=[1,2.5] t =a b\n"
		"Mark at 5 s: m7\n"));
	release(&c);
	c = run("show marks.tacho --span 1");
	T_OK(strstr(c.text.data, "b\nMark at 500 ms: x [31m y rows=4000 "));
	T_OK(!strstr(c.text.data, "m1") && !strstr(c.text.data, "m7"));
	release(&c);
	c = run("show marks.tacho --span 0");
	T_OK(!strstr(c.text.data, "Mark"));
	release(&c);

	unlink(run_path("marks.tacho"));
	T_EQ_I(tg_writer_open(&w, run_path("marks.tacho"), RUN_SESSION, NULL), 0);
	run_event(w, "{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":\"run\"}");
	for (int i = 10; i < 10 + TG_MARKS_TOLD + 2; i++) {
		tg_buf_clear(&e);
		tg_buf_addf(&e,
			"{\"ev\":\"mark\",\"t\":10%d000000000,\"name\":\"m%d\","
			"\"attrs\":{\"%0500d\":7,\"last\":8}}",
			i, i, 0);
		run_event(w, e.data);
	}
	tg_writer_finish(w);
	c = run("show marks.tacho");
	T_OK(strstr(c.text.data, "Mark at 49 s: m49 0000") != NULL);
	T_OK(strstr(c.text.data, "0000…\n2 more marks\n") != NULL);
	T_OK(!strstr(c.text.data, "last"));
	release(&c);
	unlink(run_path("marks.tacho"));
	tg_buf_release(&e);
}

/* Cells of subshells run beside those of the main shell: each is closed by the next of its own. */
static void test_lanes(void)
{
	struct tg_writer *w;
	struct capture c;

	unlink(run_path("lanes.tacho"));
	T_EQ_I(tg_writer_open(&w, run_path("lanes.tacho"), RUN_SESSION, NULL), 0);
	run_event(w, "{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":\"run\"}");
	run_begin(w, 2, 1, "\"code\":\"main\"");
	run_begin(w, 3, 2, "\"code\":\"lost\",\"lane\":\"s1\"");
	run_begin(w, 4, 5, "\"code\":\"busy\",\"lane\":\"s1\"");
	run_begin(w, 5, 7, "\"code\":\"ended\",\"lane\":\"s2\"");
	run_end(w, 5, 8, "ok");
	tg_writer_abandon(w);
	c = run_at(RUN_REAL + 9 * TG_NS_PER_S, NULL, "show lanes.tacho");
	T_EQ_S(c.text.data,
		"#  cores over time  wall  cores  of allowed  peak  read  written\n"
		"0                    7 s      –           –     –     –        –  main · running\n"
		"1                    3 s      –           –     –     –        –  lost · end "
		"unknown\n"
		"2                    3 s      –           –     –     –        –  busy · running\n"
		"3                    1 s      –           –     –     –        –  ended\n");
	release(&c);
	/* the next kernel's beginning ends all of them */
	T_EQ_I(tg_writer_open(&w, run_path("lanes.tacho"), RUN_SESSION, NULL), 0);
	run_begin(w, 6, 11, "\"code\":\"main\"");
	run_begin(w, 7, 12, "\"code\":\"sub\",\"lane\":\"s1\"");
	run_event(w, "{\"ev\":\"begin\",\"t\":1014000000000,\"span\":8,\"kind\":\"run\"}");
	run_begin(w, 9, 16, "\"code\":\"new\"");
	tg_writer_abandon(w);
	c = run_at(RUN_REAL + 17 * TG_NS_PER_S, NULL, "show lanes.tacho");
	T_OK(strstr(c.text.data,
		     "  3 s      –           –     –     –        –  main · end unknown") != NULL);
	T_OK(strstr(c.text.data,
		     "  2 s      –           –     –     –        –  sub · end unknown") != NULL);
	T_OK(strstr(c.text.data, "new · running") != NULL);
	release(&c);
	unlink(run_path("lanes.tacho"));
}

/* The status of the last cell as all words say it, `s` seconds after the beginning. */
static void running(const char *file, double s, const char *line, const char *json)
{
	struct tg_buf call = TG_BUF_INIT, want = TG_BUF_INIT;
	int64_t now_ns = RUN_REAL + (int64_t)(s * 1e9);
	struct capture c;

	tg_buf_addf(&call, "show %s", file);
	c = run_at(now_ns, NULL, call.data);
	if (!T_OK(strstr(c.text.data, line)))
		fprintf(stderr, "# %s at %g: %s", file, s, c.text.data);
	release(&c);
	tg_buf_adds(&call, " --json --span -1");
	tg_buf_addf(&want, "\"status\":\"%s\"", json);
	c = run_at(now_ns, NULL, call.data);
	if (!T_OK(strstr(c.text.data, want.data)))
		fprintf(stderr, "# %s at %g: %s", file, s, c.text.data);
	release(&c);
	tg_buf_release(&call);
	tg_buf_release(&want);
}

/* A cell without an end: running while the recorder is at work, unknown when that cannot be. */
static void test_running(void)
{
	struct tg_writer *w;
	struct capture c;

	run_write(run_path("now.tacho"), RUN_NO_END); /* the last sample is of 10.02 s */
	running("now.tacho", 10.1, "fit(x) · running", "running");
	running("now.tacho", 25, "fit(x) · running", "running");
	running("now.tacho", 25.1, "fit(x) · end unknown", "unknown");
	running("now.tacho", -4.9, "fit(x) · running", "running"); /* another clock */
	running("now.tacho", -5.1, "fit(x) · end unknown", "unknown");
	running("run.tacho", 10.1, "fit(x) · error", "error");
	c = run_at(RUN_REAL + 11 * TG_NS_PER_S, NULL, "chart now.tacho -o now.svg");
	T_EQ_I(c.result, TG_WORD_OK);
	release(&c);
	{
		struct tg_buf svg = slurp("now.svg");

		T_OK(strstr(svg.data, "#2 is running") != NULL);
		tg_buf_release(&svg);
	}
	c = run_at(RUN_REAL + 11 * TG_NS_PER_S, NULL, "show now.tacho now.tacho");
	T_OK(strstr(c.text.data, "kernel · running") != NULL);
	release(&c);
	/* a sampler that is slow by request */
	T_EQ_I(tg_writer_open(&w, run_path("now.tacho"), RUN_SESSION, NULL), 0);
	run_event(w, "{\"ev\":\"interval\",\"t\":1011000000000,\"ns\":60000000000}");
	run_begin(w, 9, 12, "\"code\":\"slow\"");
	tg_writer_abandon(w);
	running("now.tacho", 191, "slow · running", "running");
	running("now.tacho", 193, "slow · end unknown", "unknown");
	/* of what began before: no cell runs beside another, nor in an older session */
	c = run_at(RUN_REAL + 13 * TG_NS_PER_S, NULL, "show now.tacho");
	T_OK(strstr(c.text.data, "fit(x) · end unknown") != NULL);
	release(&c);
	/* an end chunk: its session is over, whatever the time is */
	T_EQ_I(tg_writer_open(&w, run_path("now.tacho"), RUN_SESSION, NULL), 0);
	run_begin(w, 10, 13, "\"code\":\"over\"");
	run_begin(w, 11, 14, "\"code\":\"last\"");
	tg_writer_finish(w);
	running("now.tacho", 14, "last · end unknown", "unknown");
	unlink(run_path("now.tacho"));
	unlink(run_path("now.svg"));
	T_EQ_I(tg_writer_open(&w, run_path("now.tacho"), RUN_SESSION, NULL), 0);
	run_begin(w, 2, 3, "\"code\":\"lost\"");
	run_begin(w, 3, 4, "\"code\":\"busy\"");
	tg_writer_abandon(w);
	running("now.tacho", 4, "lost · end unknown", "running");
	running("now.tacho", 4, "busy · running", "running");
	unlink(run_path("now.tacho"));
}

static void test_hostile_names(void)
{
	struct tg_writer *w;
	struct capture c;

	unlink(run_path("bad.tacho"));
	T_EQ_I(tg_writer_open(&w, run_path("bad.tacho"), RUN_SESSION, NULL), 0);
	run_event(w, "{\"ev\":\"begin\",\"t\":1000000000000,\"span\":1,\"kind\":\"stage\","
		     "\"name\":\"\\u001b]0;owned\\u0007\\u009b31m\\r\\nx<script>\"}");
	run_event(w, "{\"ev\":\"end\",\"t\":1001000000000,\"span\":1,\"status\":\"\\u001b[1m\"}");
	tg_writer_finish(w);
	for (int i = 0; i < 2; i++) {
		c = run(i ? "export bad.tacho -o - --format json" : "show bad.tacho");
		T_EQ_I(c.result, TG_WORD_OK);
		T_OK(!strpbrk(c.text.data, "\033\007\r"));
		T_OK(!strstr(c.text.data, "\xc2\x9b"));
		release(&c);
	}
	unlink(run_path("bad.tacho"));
	/* sentences that name what was asked for */
	fails("help \xe2\x80\xae\033[31mred", TG_WORD_USAGE,
		"There is no \"  [31mred\" here; \"help\" lists the words");
	fails("export run.tacho -o no/\xe2\x80\xae\033[31m.csv", TG_WORD_FAILED,
		"Cannot write no/  [31m.csv: No such file or directory");
	c = run("show \033x.tacho \xe2\x81\xa6y.tacho");
	T_OK(c.note.data && !strpbrk(c.note.data, "\033\xe2"));
	release(&c);
	c = run("show \033x.tacho");
	T_EQ_I(c.result, TG_WORD_FAILED);
	T_OK(strstr(c.err.text, "/ x.tacho: No such file") != NULL);
	release(&c);
	T_EQ_I(mkdir(run_path("latin"), 0700), 0);
	/* names of files are bytes; what is said of them is UTF-8 */
	spew("latin/\xe9.tacho", "junk", 4);
	run_write(run_path("latin/a\xff.tacho"), 0);
	c = run("show latin");
	T_OK(strstr(c.note.data, "/\xef\xbf\xbd.tacho is not a recording") != NULL);
	T_OK(strstr(c.text.data, "\na\xef\xbf\xbd.tacho  ") != NULL);
	release(&c);
	unlink(run_path("latin/\xe9.tacho"));
	unlink(run_path("latin/a\xff.tacho"));
	rmdir(run_path("latin"));
}

static void test_files(void)
{
	struct tg_buf b;
	struct tg_writer *w;
	struct capture c;

	T_EQ_I(mkdir(run_path("sub"), 0700), 0);
	run_write(run_path("sub/a.tacho"), 0);
	run_write(run_path("sub/b.tacho"), RUN_NO_CELLS);
	c = run("show sub");
	T_EQ_I(c.result, TG_WORD_OK);
	T_OK(strstr(c.text.data, "\na.tacho  ") && strstr(c.text.data, "\nb.tacho  "));
	release(&c);
	spew("sub/c.tacho", "junk", 4);
	c = run("show sub/c.tacho sub/a.tacho");
	T_EQ_I(c.result, TG_WORD_FAILED); /* one failed, the other is shown */
	T_OK(strstr(c.text.data, "\na.tacho  ") != NULL);
	T_OK(strstr(c.note.data, "c.tacho is not a recording") != NULL);
	T_EQ_S(c.err.text, "");
	release(&c);
	/* one is damaged, one holds nothing, one is no recording, one cannot be read at all */
	b = slurp("sub/a.tacho");
	memset(b.data + b.len / 2, 0xAA, 64);
	spew("sub/d.tacho", b.data, b.len);
	tg_buf_release(&b);
	T_EQ_I(tg_writer_open(&w, run_path("sub/e.tacho"), RUN_SESSION, NULL), 0);
	tg_writer_finish(w);
	T_EQ_I(symlink("nix", run_path("sub/f.tacho")), 0);
	c = run("show sub");
	T_EQ_I(c.result, TG_WORD_FAILED);
	T_EQ_S(c.err.text, "");
	T_OK(strstr(c.text.data, "limit\nb.tacho") && strstr(c.text.data, "limit\nd.tacho") &&
		strstr(c.text.data, "limit · damaged\ne.tacho"));
	T_OK(strstr(c.text.data, "nothing was recorded\n"));
	T_OK(strstr(c.note.data, "c.tacho is not a recording") &&
		strstr(c.note.data, "f.tacho: No such file or directory\n"));
	release(&c);
	c = run("show nix sub/a.tacho sub/g");
	T_EQ_I(c.result, TG_WORD_FAILED);
	T_OK(strstr(c.text.data, "\na.tacho  ") && strstr(c.note.data, "nix: No such file"));
	release(&c);
	for (char *name = (char[]){ "sub/d.tacho" }; name[4] <= 'f'; name[4]++)
		unlink(run_path(name));
	T_EQ_I(mkdir(run_path("empty"), 0700), 0);
	c = run("show empty sub/a.tacho");
	T_EQ_I(c.result, TG_WORD_FAILED);
	T_EQ_S(c.note.data, "There are no recordings in empty\n");
	T_OK(strstr(c.text.data, "\na.tacho  "));
	release(&c);
	rmdir(run_path("empty"));
	unlink(run_path("sub/a.tacho"));
	unlink(run_path("sub/b.tacho"));
	unlink(run_path("sub/c.tacho"));
	c = run("show sub");
	T_EQ_I(c.result, TG_WORD_FAILED);
	T_EQ_S(c.err.text, "There are no recordings in sub");
	release(&c);
	rmdir(run_path("sub"));
}

/* A folder with more recordings than are shown says so, and is shown as far as that. */
static void test_many_files(void)
{
	char *name = tg_xstrdup(run_path("many/0000.tacho"));
	char *digits = strstr(name, "/many/") + 6;
	struct capture c;
	int failed = 0;

	T_EQ_I(mkdir(run_path("many"), 0700), 0);
	for (int i = 0; i < 4099; i++) {
		snprintf(digits, 11, "%04d.tacho", i);
		failed += symlink("nix", name) < 0;
	}
	T_EQ_I(failed, 0);
	/* those without a time are the oldest, the largest names first, whatever the folder's order
	 */
	c = run("show many");
	T_OK(!strstr(c.note.data, "many/0000.tacho") && !strstr(c.note.data, "many/0002.tacho"));
	T_OK(strstr(c.note.data, "many/0003.tacho") && strstr(c.note.data, "many/4098.tacho"));
	release(&c);
	/* one that has a time is newer, whatever its name */
	snprintf(digits, 11, "%04d.tacho", 0);
	unlink(name);
	T_EQ_I(link(run_path("run.tacho"), name), 0);
	c = run("show many");
	T_OK(strstr(c.text.data, "0000.tacho") != NULL);
	T_OK(!strstr(c.note.data, "many/0003.tacho") && strstr(c.note.data, "many/0004.tacho"));
	release(&c);
	c = run("show many");
	T_EQ_I(c.result, TG_WORD_FAILED);
	T_OK(!strncmp(c.note.data,
		"Only the newest 4096 of the 4099 recordings in many are shown\n", 62));
	release(&c);
	snprintf(digits, 11, "%04d.tacho", 4098);
	unlink(name);
	for (int i = 4097; i >= 4096; i--) {
		snprintf(digits, 11, "%04d.tacho", i);
		unlink(name);
	}
	c = run("show many");
	T_OK(!strstr(c.note.data, " are shown"));
	release(&c);
	for (int i = 0; i < 4096; i++) {
		snprintf(digits, 11, "%04d.tacho", i);
		unlink(name);
	}
	T_EQ_I(rmdir(run_path("many")), 0);
	free(name);
}

/* The line of a file in which spans have no run around them is of all of them. */
static void test_file_without_run(void)
{
	struct tg_writer *w;
	struct capture c;

	for (int two = 0; two < 2; two++) {
		unlink(run_path("loose.tacho"));
		T_EQ_I(tg_writer_open(&w, run_path("loose.tacho"), RUN_SESSION, NULL), 0);
		run_begin(w, 2, 2, "\"name\":\"a\"");
		run_end(w, 2, 4, two ? "error" : "ok");
		if (two) {
			run_begin(w, 3, 6, "\"name\":\"b\"");
			run_end(w, 3, 9, "ok");
		}
		tg_writer_finish(w);
		c = run("show loose.tacho loose.tacho");
		T_EQ_I(c.result, TG_WORD_OK);
		if (!T_OK(strstr(c.text.data, two ? " 7 s " : " 2 s ") &&
			    strstr(c.text.data, two ? "  2 cells · error\n" : "  a\n")))
			fprintf(stderr, "# %s", c.text.data);
		release(&c);
	}
	unlink(run_path("loose.tacho"));
}

static void set_mtime(const char *name, time_t s, long ns)
{
	const struct timespec t[2] = { { s, ns }, { s, ns } };

	T_EQ_I(utimensat(AT_FDCWD, run_path(name), t, 0), 0);
}

/* Without a name the recording that was written to last is meant, and named in a note. */
static void test_newest(void)
{
	static const char *const word[] = { "show", "show --json", "verify", "export -o -",
		"chart -o newest.svg" };
	char *folder = tg_xstrdup(run_path("state"));
	struct capture c = run_in(folder, "show");

	T_EQ_I(c.result, TG_WORD_FAILED);
	T_OK(strstr(c.err.text, "There are no recordings yet: ") &&
		strstr(c.err.text, "/state does not exist"));
	T_OK(access(folder, F_OK) < 0); /* who reads makes no folder */
	release(&c);
	T_EQ_I(mkdir(folder, 0700), 0);
	spew("state/late.txt", "", 0);
	T_EQ_I(mkdir(run_path("state/folder.tacho"), 0700), 0);
	for (size_t i = 0; i < TG_ARRAY_SIZE(word); i++) {
		c = run_in(folder, word[i]);
		T_EQ_I(c.result, TG_WORD_FAILED);
		T_OK(!strncmp(c.err.text, "There are no recordings in /", 28));
		T_EQ_S(c.text.data, "");
		release(&c);
	}
	run_write(run_path("state/a.tacho"), 0);
	run_write(run_path("state/b.tacho"), RUN_NO_CELLS);
	run_write(run_path("state/c.tacho"), RUN_NO_CELLS);
	set_mtime("state/a.tacho", 2000, 5);
	set_mtime("state/b.tacho", 2000, 4);
	set_mtime("state/c.tacho", 1000, 999999999);
	for (size_t i = 0; i < TG_ARRAY_SIZE(word); i++) {
		c = run_in(folder, word[i]);
		T_EQ_I(c.result, TG_WORD_OK);
		T_OK(!strncmp(c.note.data, "The newest recording: /", 23));
		if (!T_OK(strstr(c.note.data, "/state/a.tacho\n")))
			fprintf(stderr, "# %s: %s", word[i], c.note.data);
		release(&c);
	}
	unlink(run_path("newest.svg"));
	c = run_in(folder, "show --span 2"); /* the one with cells */
	T_OK(strstr(c.text.data, "\n2  ") != NULL);
	release(&c);
	c = run_in(folder, "show run.tacho"); /* a name is a name */
	T_EQ_S(c.note.data, "");
	release(&c);
	unlink(run_path("state/a.tacho"));
	unlink(run_path("state/b.tacho"));
	unlink(run_path("state/c.tacho"));
	unlink(run_path("state/late.txt"));
	rmdir(run_path("state/folder.tacho"));
	rmdir(folder);
	spew("state", "", 0);
	c = run_in(folder, "show");
	T_EQ_I(c.result, TG_WORD_FAILED);
	T_OK(strstr(c.err.text, "/state: Not a directory") != NULL);
	release(&c);
	unlink(folder);
	free(folder);
}

/* ---- the executable ---- */

/* Run the executable with these words; its exit status, what it printed in `out`. */
static int execute(const char *words, struct tg_buf *out)
{
	struct tg_buf line = TG_BUF_INIT;
	char part[4096];
	size_t n;
	FILE *f;
	int status;

	tg_buf_clear(out);
	tg_buf_addf(&line, "cd %s && { %s %s; } 2>&1", run_dir(), getenv("TG_EXE"), words);
	f = popen(line.data, "r");
	while (f && (n = fread(part, 1, sizeof(part), f)) > 0)
		tg_buf_add(out, part, n);
	status = f ? pclose(f) : -1;
	tg_buf_release(&line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What completion offers for a placeholder is what the words take. */
static void test_values(void)
{
	struct tg_buf want = TG_BUF_INIT, got = TG_BUF_INIT;
	size_t n;
	const struct tg_word *word = tg_words(&n);

	for (size_t i = 0; i < n; i++)
		tg_buf_addf(&want, "%s%s", i ? "|" : "", word[i].name);
	T_EQ_S(tg_word_values("WORD", 4), want.data);
	T_OK(!tg_word_values("WOR", 3) && !tg_word_values("WORDS", 5));
	tg_words_help(TG_IN_NOTEBOOK, &got);
	for (size_t i = 0; i < n; i++) { /* each has an example, and what it does */
		tg_buf_clear(&want);
		tg_buf_addf(&want, "%%tacho %s%s%s\n", word[i].name, *word[i].example ? " " : "",
			word[i].example);
		T_OK(strstr(got.data, word[i].help) && strstr(got.data, want.data));
	}
	tg_buf_release(&want);
	tg_buf_release(&got);
}

/* Every word that says it is in both places is, with the same help but for the name. */
static void test_same_words(void)
{
	struct tg_buf cli = TG_BUF_INIT, notebook = TG_BUF_INIT, call = TG_BUF_INIT;
	size_t n, both = 0;
	const struct tg_word *word = tg_words(&n);

	if (!getenv("TG_EXE")) {
		T_SKIP("the executable", "TG_EXE is not set");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		T_OK(word[i].help[0] >= 'a' && word[i].help[0] <= 'z');
		tg_buf_clear(&call);
		tg_buf_addf(&call, "%s --help", word[i].name);
		if (!strcmp(word[i].name, "mark")) /* a moment there, a stage here */
			continue;
		if (!(word[i].where & TG_IN_CLI)) {
			T_EQ_I(execute(call.data, &cli), 2);
			continue;
		}
		T_EQ_I(execute(call.data, &cli), 0);
		if (word[i].where != TG_IN_BOTH)
			continue;
		both++;
		T_OK(tg_word_find(word[i].name, TG_IN_NOTEBOOK) == &word[i]);
		tg_buf_clear(&notebook);
		tg_word_help(&word[i], TG_IN_CLI, &notebook);
		T_EQ_S(cli.data, notebook.data);
		tg_buf_clear(&call);
		tg_buf_addf(&call, "%s/../man/tachograph-%s.1", t_dir(), word[i].name);
		if (strcmp(word[i].name, "help") != 0 && !T_OK(access(call.data, R_OK) == 0))
			fprintf(stderr, "# no %s\n", call.data);
	}
	T_OK(both >= 6);
	tg_buf_release(&cli);
	tg_buf_release(&notebook);
	tg_buf_release(&call);
}

/* What help shows as an example works, where there is a recording. */
static void test_examples(void)
{
	struct tg_buf out = TG_BUF_INIT, call = TG_BUF_INIT;
	size_t n;
	const struct tg_word *word = tg_words(&n);

	if (!getenv("TG_EXE"))
		return;
	setenv("TACHOGRAPH_DIR", run_dir(), 1);
	run_write(run_path("before.tacho"), 0);
	run_write(run_path("after.tacho"), 0);
	for (size_t i = 0; i < n; i++) {
		if (!(word[i].where & TG_IN_CLI))
			continue;
		tg_buf_clear(&call);
		tg_buf_addf(&call, "%s %s", word[i].name, word[i].example);
		if (!T_EQ_I(execute(call.data, &out), 0))
			fprintf(stderr, "# %s: %s", call.data, out.data);
	}
	T_EQ_I(unlink(run_path("before.tacho")) + unlink(run_path("after.tacho")), 0);
	T_EQ_I(unlink(run_path("last.svg")), 0);
	T_EQ_I(unlink(run_path("report.html")), 0);
	T_EQ_I(unlink(run_path("samples.csv")), 0);
	tg_buf_release(&out);
	tg_buf_release(&call);
}

static void test_exit_codes(void)
{
	struct tg_buf out = TG_BUF_INIT;

	if (!getenv("TG_EXE"))
		return;
	T_EQ_I(execute("show run.tacho > /dev/null", &out), 0);
	T_EQ_S(out.data, "");
	T_EQ_I(execute("show nix.tacho > /dev/null", &out), 1);
	T_EQ_S(out.data, "tachograph: nix.tacho: No such file or directory\n");
	setenv("TACHOGRAPH_DIR", run_dir(), 1);
	T_EQ_I(execute("verify 2>&1 > /dev/null", &out), 0);
	T_OK(strstr(out.data, "tachograph: The newest recording: /") &&
		strstr(out.data, "/run.tacho\n"));
	setenv("TACHOGRAPH_DIR", "/nix", 1);
	T_EQ_I(execute("show", &out), 1);
	T_EQ_S(out.data, "tachograph: There are no recordings yet: /nix does not exist\n");
	T_EQ_I(execute("help kernel", &out), 0);
	T_OK(strstr(out.data, "usage: tachograph kernel -f CONNECTION_FILE") != NULL);
	T_EQ_I(execute("help recorder", &out), 2);
	T_EQ_I(execute("set x", &out), 2);
	T_EQ_S(out.data, "tachograph: \"set\" is a word of notebooks: %tacho set\n");
	T_EQ_I(execute("help set", &out), 2);
	T_EQ_S(out.data, "tachograph: \"set\" is a word of notebooks: %tacho set\n");
	T_EQ_I(execute("help shwo", &out), 2);
	T_EQ_S(out.data, "tachograph: there is no \"shwo\"; did you mean \"show\"?\n");
	T_EQ_I(execute("help show", &out), 0);
	T_EQ_I(execute("--version x", &out), 2);
	T_EQ_I(execute("shwo", &out), 2);
	T_EQ_S(out.data, "tachograph: there is no \"shwo\"; did you mean \"show\"?\n");
	T_EQ_I(execute("", &out), 2);
	T_EQ_I(execute("--help", &out), 0);
	T_EQ_I(execute("--version", &out), 0);
	T_EQ_S(out.data, "tachograph " TG_VERSION "\n");
	T_EQ_I(execute("show run.tacho > /dev/full", &out), 1);
	T_EQ_I(execute("worker", &out), 2);
	T_EQ_I(execute("chart run.tacho -o x.svg", &out), 0);
	T_EQ_S(out.data, "");
	T_EQ_I(unlink(run_path("x.svg")), 0);
	tg_buf_release(&out);
}

/* ---- numbers ---- */

static void number(double v, const char *want)
{
	struct tg_buf b = TG_BUF_INIT;

	tg_fmt_number(&b, v);
	T_EQ_S(b.data, want);
	tg_buf_release(&b);
}

static void bytes(double v, const char *want)
{
	struct tg_buf b = TG_BUF_INIT;

	tg_fmt_bytes(&b, v);
	T_EQ_S(b.data, want);
	tg_buf_release(&b);
}

static void duration(double v, const char *want)
{
	struct tg_buf b = TG_BUF_INIT;

	tg_fmt_seconds(&b, v);
	T_EQ_S(b.data, want);
	tg_buf_release(&b);
}

static void test_format(void)
{
	number(28.1, "28.1");
	number(0, "0");
	number(1, "1");
	number(0.05, "0.05");
	number(0.0004, "0");
	number(9.999, "10");
	number(99.96, "100");
	number(1234.4, "1234");
	number(-0.0001, "0");
	number(NAN, "–");
	bytes(55.1e9, "55.1 GB");
	bytes(999, "999 B");
	bytes(999.6e3, "1 MB");
	bytes(0, "0 B");
	bytes(NAN, "–");
	duration(0.0032, "3.2 ms");
	duration(0.32, "320 ms");
	duration(0.9999, "1 s");
	duration(21.5, "21.5 s");
	duration(725, "12 min 5 s");
	duration(3 * 3600 + 720, "3 h 12 min");
	duration(NAN, "–");
}

static void test_plurals(void)
{
	static const struct {
		double cores;
		const char *want;
	} known[] = { { 1, "1 core" }, { 1.004, "1 core" }, { 0.5, "0.5 cores" },
		{ 11, "11 cores" }, { NAN, "– cores" } };
	struct tg_buf b = TG_BUF_INIT;

	for (size_t i = 0; i < TG_ARRAY_SIZE(known); i++) {
		tg_buf_clear(&b);
		tg_fmt_cores(&b, known[i].cores);
		T_EQ_S(b.data, known[i].want);
	}
	tg_buf_clear(&b);
	tg_fmt_count(&b, 1, "hole");
	tg_fmt_count(&b, 0, "hole");
	T_EQ_S(b.data, "1 hole0 holes");
	tg_buf_release(&b);
}

/*
 * pitfall 15: a file that was mapped is cache, and nothing that is kept
 * pitfall 14: of which kind the peak is, is said
 */
static void test_headline(void)
{
	struct tg_buf b = TG_BUF_INIT;
	struct tg_totals t = { .exact = true,
		.wall_s = 21.5,
		.cores_mean = 28.1,
		.cores_allowed = 32,
		.mem_peak_bytes = 55.1e9,
		.mem_peak_is = "RSS",
		.memory_limit_bytes = 72e9,
		.mem_retained_bytes = 43e9 };

	tg_fmt_headline(&b, &t);
	T_EQ_S(b.data, "21.5 s · 28.1 of 32 cores · peak 55.1 GB RSS of 72 · +43 GB kept");
	tg_buf_clear(&b);
	t.mem_peak_is = "PSS";
	t.file_retained_bytes = 41e9;
	tg_fmt_headline(&b, &t);
	T_EQ_S(b.data, "21.5 s · 28.1 of 32 cores · peak 55.1 GB PSS of 72 · +2 GB kept");
	tg_buf_clear(&b);
	t.file_retained_bytes = NAN;
	t.mem_retained_bytes = -2.1e9;
	t.cores_allowed = t.memory_limit_bytes = NAN;
	tg_fmt_headline(&b, &t);
	T_EQ_S(b.data, "21.5 s · 28.1 cores · peak 55.1 GB PSS · −2.1 GB freed");
	tg_buf_clear(&b);
	t.exact = false;
	tg_fmt_headline(&b, &t);
	T_EQ_S(b.data, "21.5 s · ~28.1 cores · peak 55.1 GB PSS · ~−2.1 GB freed");
	tg_buf_clear(&b);
	t.mem_retained_bytes = t.mem_peak_bytes = t.cores_mean = NAN;
	tg_fmt_headline(&b, &t);
	T_EQ_S(b.data, "21.5 s");
	tg_buf_release(&b);
}

/* Figures of a cell at whose edges no rows were taken are between those of its neighbours. */
static void test_about(void)
{
	static const struct {
		const char *span, *want;
	} title[] = { { "0", "2 s · 0.99 of 4 cores" }, { "1", "3 ms · ~" }, { "0,1", "2 s · ~" },
		{ "0,1", ">~19.8 MB<" }, { "0", ">19.8 MB<" } };
	struct capture c;

	run_write(run_path("around.tacho"), RUN_NO_EDGES);
	c = run("show around.tacho");
	T_OK(strstr(c.text.data,
		"       2 s    0.99        25 %  300 MB RSS  19.8 MB      0 B  import"));
	T_OK(strstr(c.text.data, "    3 ms  ~"));
	T_OK(strstr(c.text.data, "  ~0 B     ~0 B  pass"));
	release(&c);
	for (size_t i = 0; i < TG_ARRAY_SIZE(title); i++) {
		struct tg_buf svg, line = TG_BUF_INIT;

		tg_buf_addf(&line, "chart around.tacho --span %s -o about.svg", title[i].span);
		c = run(line.data);
		svg = slurp("about.svg");
		T_OK(strstr(svg.data, title[i].want));
		tg_buf_release(&svg);
		tg_buf_release(&line);
		release(&c);
	}
	unlink(run_path("about.svg"));
	unlink(run_path("around.tacho"));
}

int main(void)
{
	run_write(run_path("run.tacho"), 0);
	test_golden();
	test_about();
	test_json_disks();
	test_json_members();
	test_csv_agrees();
	test_no_code();
	test_secrets();
	test_folder();
	test_raw();
	test_bad_use();
	test_separate();
	test_damage();
	test_lost_marks();
	test_marks();
	test_running();
	test_lanes();
	test_hostile_names();
	test_files();
	test_file_without_run();
	test_many_files();
	test_newest();
	test_values();
	test_same_words();
	test_examples();
	test_exit_codes();
	test_format();
	test_plurals();
	test_headline();
	unlink(run_path("run.tacho"));
	T_EQ_I(rmdir(run_dir()), 0);
	return t_done();
}
