/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorded set of logs: its statistics and CSV are the right ones, to the printed precision. */
#include "import_kit.h"

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
	tg_buf_addf(&path, "%s/fixtures/pipeline-logs/recorded-right/summary.json", t_dir());
	right = kit_slurp(path.data);
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

static void test_csv(const struct tg_import *im, const char *name)
{
	struct tg_buf path = TG_BUF_INIT, got = kit_csv(im, name), want;

	tg_buf_addf(&path, "%s/fixtures/pipeline-logs/recorded-right/%s", t_dir(), name);
	want = kit_slurp(path.data);
	T_OK(want.len > 1000);
	T_EQ_S(got.data, want.data);
	tg_buf_release(&path);
	tg_buf_release(&got);
	tg_buf_release(&want);
}

/* What is not compared with a file: the heads, with units, and a line. */
static void test_other_csv(const struct tg_import *im)
{
	static const struct {
		const char *name, *head, *line;
	} file[] = {
		{ "vmstat.csv",
			"datetime,time,procs-r,procs-b,mem-swpd [KiB],mem-free [KiB],mem-buff "
			"[KiB],"
			"mem-cache [KiB],swap-si [KiB/s],swap-so [KiB/s],io-bi [KiB/s],"
			"io-bo [KiB/s],sys-in [1/s],sys-cs [1/s],cpu-us [%],cpu-sy [%],cpu-id [%],"
			"cpu-wa [%],cpu-st [%]",
			"2026-12-01 "
			"20:53:39,0:00:00,26,0,0,16034672,110784,5445324,0,0,464,80,1122,"
			"2871,71,29,0,0,0" },
		{ "iostat.csv",
			"datetime,time,device,rrqm/s,wrqm/s,r/s,w/s,rkB/s,wkB/s,avgrq-sz [sectors],"
			"avgqu-sz,await [ms],r_await [ms],w_await [ms],svctm [ms],%util,%rrqm,"
			"%wrqm,rareq-sz [kB],wareq-sz [kB],d/s,dkB/s,drqm/s,%drqm,d_await [ms],"
			"dareq-sz [kB],f/s,f_await [ms],tps,kB/s,rqm/s,areq-sz [kB]",
			"2026-12-01 20:53:39,0:00:00,vda,3.00,0.00,48.00,10.00,372.00,80.00,,0.01,,"
			"0.21,0.20,,0.80,5.88,0.00,7.75,8.00,7.00,28.00,0.00,0.00,0.29,4.00,1.00,"
			"0.00,,,," },
		{ "gpu.csv",
			"timestamp,time,name,index,pstate,utilization.gpu [%],utilization.memory "
			"[%],"
			"memory.total [MiB],memory.used [MiB],temperature.gpu,fan.speed [%]",
			"2026-12-01 20:53:39.312,0:00:00.000,Tesla "
			"V100-SXM2-16GB,0,P8,0,0,16160,450,"
			"33," },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(file); i++) {
		struct tg_buf text = kit_csv(im, file[i].name);
		char *head = kit_line(text.data, 0), *line = kit_line(text.data, 1);

		T_EQ_S(head, file[i].head);
		T_EQ_S(line, file[i].line);
		free(head);
		free(line);
		tg_buf_release(&text);
	}
}

static void test_lines(const struct tg_import *im)
{
	static const char *const want[] = {
		"top-20261201.log: top (procps 3.3.17 or later), 47 samples, 0 lines skipped",
		"vmstat-20261201.log: vmstat (procps 4.0.0 or later), 50 samples, 0 lines skipped; "
		"1 of them, of the time since boot, is not used",
		"iostat-20261201.log: iostat (sysstat 12.5.2 or later), 50 samples, 0 lines "
		"skipped; "
		"1 of them, of the time since boot, is not used",
		"nfsiostat-20261201.log: nfsiostat (with queue and errors, as nfs-utils 2.6), 36 "
		"samples, 0 lines skipped; 3 of them, of the time since the mount, are not used",
		"gpu-20261201.log: nvidia-smi, 47 samples, 0 lines skipped; GPU 0 is a Tesla "
		"V100-SXM2-16GB",
		"lsblk.txt: lsblk, 2 disks, 0 lines skipped",
		"stages.tsv: stages, 8 stage marks, 0 lines skipped",
	};
	static const char *const unknown[] = { "truth-proc.csv", "truth-sys.csv", "workload.log" };

	T_EQ_I(im->n, TG_ARRAY_SIZE(want));
	for (size_t i = 0; i < im->n && i < TG_ARRAY_SIZE(want); i++) {
		struct tg_buf line = TG_BUF_INIT;

		tg_import_line(im->log[i], &line);
		T_EQ_S(line.data, want[i]);
		tg_buf_release(&line);
	}
	T_EQ_I(im->n_unknown, TG_ARRAY_SIZE(unknown));
	for (size_t i = 0; i < im->n_unknown && i < TG_ARRAY_SIZE(unknown); i++)
		T_EQ_S(im->unknown[i], unknown[i]);
}

int main(void)
{
	struct tg_import *im = kit_load("recorded", &(struct tg_import_options){ .zone = "UTC" });

	test_lines(im);
	test_statistics(im);
	test_csv(im, "top-total.csv");
	test_csv(im, "top-proc.csv");
	test_csv(im, "nfsiostat.csv");
	test_other_csv(im);
	tg_import_free(im);
	return t_done();
}
