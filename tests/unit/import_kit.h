/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of imported logs share: loading them, and asking for what they say. */
#ifndef TG_TESTS_IMPORT_KIT_H
#define TG_TESTS_IMPORT_KIT_H

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "analyze/recording.h"
#include "base/file.h"
#include "import/import.h"
#include "import/write.h"

#include "base/mem.h"

/* The zone's rules are written out, so that no zone data need be there. */
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"

static inline struct tg_buf kit_slurp(const char *path)
{
	struct tg_buf b = TG_BUF_INIT;

	T_EQ_I(tg_file_read(AT_FDCWD, path, 4u << 20, &b, NULL), 0);
	return b;
}

static inline struct tg_import *kit_new(const struct tg_import_options *o)
{
	struct tg_import *im = NULL;
	struct tg_err err = { 0 };

	T_EQ_I(tg_import_new(&im, o, &err), 0);
	return im;
}

/* A file or folder of tests/fixtures/pipeline-logs. */
static inline struct tg_import *kit_load(const char *path, const struct tg_import_options *o)
{
	struct tg_buf full = TG_BUF_INIT;
	struct tg_import *im = kit_new(o);
	struct tg_err err = { 0 };

	tg_buf_addf(&full, "%s/fixtures/pipeline-logs/%s", t_dir(), path);
	T_EQ_I(tg_import_add(im, full.data, &err), 0);
	T_EQ_S(err.text, "");
	tg_import_settle(im);
	tg_buf_release(&full);
	return im;
}

static inline struct tg_import *kit_text(const char *text, const struct tg_import_options *o)
{
	struct tg_import *im = kit_new(o);

	T_EQ_I(tg_import_add_bytes(im, "log", text, strlen(text), NULL), 0);
	tg_import_settle(im);
	return im;
}

/*
 * What becomes of the logs in a recording, which is whole and is read back; the run has that name.
 * What was left out of it is appended; NULL: nothing may be. Caller closes.
 */
static inline struct tg_recording *kit_recording(
	const struct tg_import *im, const char *name, struct tg_buf *left_out)
{
	struct tg_buf none = TG_BUF_INIT;
	struct tg_recording *r = NULL;
	struct tg_err err = { 0 };
	struct tg_reader *reader;
	struct tg_damage damage;
	char file[64];

	snprintf(file, sizeof(file), "/tmp/tg-import-%d.tacho", (int)getpid());
	unlink(file);
	T_EQ_I(tg_import_write(im, file, name, left_out ? left_out : &none, &err), 0);
	T_EQ_S(err.text, "");
	T_EQ_I(none.len, 0);
	T_EQ_I(tg_reader_open(&reader, file, NULL), 0);
	T_EQ_I(tg_reader_verify(reader, &damage), 0);
	T_EQ_I(damage.bytes_skipped + damage.lost_chunks + damage.tail_bytes, 0);
	tg_reader_close(reader);
	T_EQ_I(tg_recording_open(&r, file, &err), 0);
	T_EQ_I(r->n_bad, 0);
	T_EQ_I(tg_import_write(im, file, name, &none, &err), -EEXIST);
	unlink(file);
	tg_buf_release(&none);
	return r;
}

/* A number of the JSON report, by members with a '|' between: "iostat|vda|wkB/s|max". */
static inline double kit_number(const struct tg_import *im, const char *path)
{
	struct tg_buf text = TG_BUF_INIT, key = TG_BUF_INIT;
	struct tg_json *root;
	const struct tg_json *v;
	double number;

	tg_import_report(im, &text);
	root = tg_json_parse(text.data, text.len, NULL);
	v = root;
	while (*path) {
		size_t n = strcspn(path, "|");

		tg_buf_clear(&key);
		tg_buf_add(&key, path, n);
		v = tg_json_get(v, key.data);
		path += n + (path[n] != '\0');
	}
	number = tg_json_num(v, NAN);
	tg_json_free(root);
	tg_buf_release(&text);
	tg_buf_release(&key);
	return number;
}

/* The text of one of the CSV files; caller releases. */
static inline struct tg_buf kit_csv(const struct tg_import *im, const char *name)
{
	static const char *const all[] = { "top-total.csv", "top-proc.csv", "vmstat.csv",
		"iostat.csv", "nfsiostat.csv", "gpu.csv" };
	char dir[] = "/tmp/tg-import-XXXXXX";
	struct tg_buf text = TG_BUF_INIT;
	struct tg_err err = { 0 };

	T_OK(mkdtemp(dir) != NULL);
	T_EQ_I(tg_import_csv(im, dir, &err), 0);
	for (size_t i = 0; i < TG_ARRAY_SIZE(all); i++) {
		struct tg_buf path = TG_BUF_INIT;

		tg_buf_addf(&path, "%s/%s", dir, all[i]);
		if (!strcmp(all[i], name))
			text = kit_slurp(path.data);
		unlink(path.data);
		tg_buf_release(&path);
	}
	rmdir(dir);
	return text;
}

/* The n-th line of a text, from 0, -1: the last; caller frees. */
static inline char *kit_line(const char *text, int n)
{
	const char *p = text, *end = text + strlen(text);

	if (n < 0) {
		end -= end > text && end[-1] == '\n';
		for (p = end; p > text && p[-1] != '\n';)
			p--;
	}
	for (; n > 0; n--) {
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	return tg_xmemdup0(p, strcspn(p, "\n"));
}

/* Field `c` of a CSV line without quotes; caller frees. */
static inline char *kit_field(const char *line, int c)
{
	for (; c > 0 && *line; c--) {
		line += strcspn(line, ",");
		line += *line == ',';
	}
	return tg_xmemdup0(line, strcspn(line, ",\n"));
}

#endif
