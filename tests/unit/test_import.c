/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorded set of logs: its statistics and CSV are the right ones, to the printed precision. */
#include "tap.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "import/import.h"

#include "base/mem.h"

static struct tg_buf folder = TG_BUF_INIT; /* of the logs */

static struct tg_import *load(const char *path)
{
	struct tg_import_options o = { .zone = "UTC" };
	struct tg_buf full = TG_BUF_INIT;
	struct tg_err err = { 0 };
	struct tg_import *im = NULL;

	tg_buf_addf(&full, "%s/%s", folder.data, path);
	T_EQ_I(tg_import_new(&im, &o, &err), 0);
	T_EQ_I(tg_import_add(im, full.data, &err), 0);
	T_EQ_S(err.text, "");
	tg_import_settle(im);
	tg_buf_release(&full);
	return im;
}

static struct tg_buf slurp(const char *path)
{
	struct tg_buf b = TG_BUF_INIT;

	T_EQ_I(tg_file_read(AT_FDCWD, path, 1u << 20, &b, NULL), 0);
	return b;
}

/* Every member of `want` is in `got`: numbers to twelve digits, all else exactly. */
static void same(const struct tg_json *got, const struct tg_json *want, const char *where)
{
	const char *key = NULL;
	struct tg_buf path = TG_BUF_INIT, a = TG_BUF_INIT, b = TG_BUF_INIT;

	if (tg_json_is_object(want)) {
		while ((key = tg_json_next_key(want, key))) {
			tg_buf_clear(&path);
			tg_buf_addf(&path, "%s/%s", where, key);
			same(tg_json_get(got, key), tg_json_get(want, key), path.data);
		}
		for (key = NULL; (key = tg_json_next_key(got, key));)
			if (!tg_json_get(want, key))
				t_check(false, where, 0, key);
	} else if (!isnan(tg_json_num(want, NAN))) {
		double v = tg_json_num(want, NAN);

		t_near(tg_json_num(got, NAN), v, 1e-12 * fmax(1, fabs(v)), where, 0, "number");
	} else {
		if (got)
			tg_json_dump(got, &a);
		tg_json_dump(want, &b);
		t_eq_s(a.data, b.data, where, 0, "value");
	}
	tg_buf_release(&path);
	tg_buf_release(&a);
	tg_buf_release(&b);
}

static void test_statistics(const struct tg_import *im)
{
	struct tg_buf text = TG_BUF_INIT, path = TG_BUF_INIT, right;
	struct tg_json *got, *want;

	tg_import_report(im, &text);
	tg_buf_addf(&path, "%s/recorded-right/summary.json", folder.data);
	right = slurp(path.data);
	got = tg_json_parse(text.data, text.len, NULL);
	want = tg_json_parse(right.data, right.len, NULL);
	T_OK(got && want);
	same(got, want, "");
	tg_json_free(got);
	tg_json_free(want);
	tg_buf_release(&text);
	tg_buf_release(&path);
	tg_buf_release(&right);
}

static void test_csv(const struct tg_import *im)
{
	static const char *const name[] = { "top-total.csv", "top-proc.csv", "nfsiostat.csv" };
	char dir[] = "/tmp/tg-import-XXXXXX";
	struct tg_err err = { 0 };

	T_OK(mkdtemp(dir) != NULL);
	T_EQ_I(tg_import_csv(im, dir, &err), 0);
	for (size_t i = 0; i < TG_ARRAY_SIZE(name); i++) {
		struct tg_buf path = TG_BUF_INIT, got, want;

		tg_buf_addf(&path, "%s/%s", dir, name[i]);
		got = slurp(path.data);
		unlink(path.data);
		tg_buf_clear(&path);
		tg_buf_addf(&path, "%s/recorded-right/%s", folder.data, name[i]);
		want = slurp(path.data);
		T_OK(want.len > 1000);
		T_EQ_S(got.data, want.data);
		tg_buf_release(&path);
		tg_buf_release(&got);
		tg_buf_release(&want);
	}
	rmdir(dir);
}

int main(void)
{
	struct tg_import *im;

	tg_buf_addf(&folder, "%s/fixtures/pipeline-logs", t_dir());
	im = load("recorded");
	test_statistics(im);
	test_csv(im);
	tg_import_free(im);
	tg_buf_release(&folder);
	return t_done();
}
