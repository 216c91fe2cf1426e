/* SPDX-License-Identifier: BSD-3-Clause */
/* Every awkward log, with what its README says is right. */
#include "import_kit.h"

#include <dirent.h>

#include "base/clock.h"

static const struct tg_import_options utc = { .zone = "UTC" };

/* What each file is, in one line; the rest of what is right for it is in the functions below. */
static const struct {
	const char *name, *line;
} file[] = {
#define SAYS                                                                                       \
	"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure "
#define GPU0    "GPU 0 is a Tesla V100-SXM2-16GB"
#define GPU1    "GPU 1 is a Tesla V100-SXM2-16GB"
#define BOOT    "; 1 of them, of the time since boot, is not used"
#define IO(v)   "iostat (sysstat " v "), 14 samples, 0 lines skipped" BOOT
#define NEW_IO  "iostat (sysstat 12.5.2 or later), "
#define NEW_TOP "top (procps 3.3.17 or later), "
	{ "gpu-driver-fail.log", "nvidia-smi, 0 samples, 0 lines skipped; it says: " SAYS
				 "that the latest NVIDIA driver is installed and running." },
	{ "gpu-header-repeated.log", "nvidia-smi, 10 samples, 0 lines skipped; " GPU0 "; " GPU1 },
	{ "gpu-na-util.log", "nvidia-smi, 10 samples, 0 lines skipped; " GPU0 },
	{ "gpu-not-supported.log",
		"nvidia-smi, 10 samples, 0 lines skipped; GPU 0 is a GeForce GT 730" },
	{ "gpu-truncated.log", "nvidia-smi, 47 samples, 0 lines skipped; its last line is cut and "
			       "was left out; " GPU0 "; " GPU1 },
	{ "gpu-unknown-error.log", "nvidia-smi, 10 samples, 0 lines skipped; " GPU0 },
	{ "iostat-11.2.0-C.log", IO("11.5 or before") },
	{ "iostat-11.6.1-C.log", IO("11.6 to 12.0") },
	{ "iostat-12.0.3-C.log", IO("11.6 to 12.0") },
	{ "iostat-12.2.0-C.log", IO("12.1 to 12.5") },
	{ "iostat-12.6.1-C-avgcpu.log", IO("12.5.2 or later") },
	{ "iostat-12.6.1-C-basic.log", IO("12.1 or later") },
	{ "iostat-12.6.1-C-short.log", IO("11.6 or later") },
	{ "iostat-12.6.1-C.log", IO("12.5.2 or later") },
	{ "iostat-12.6.1-ISO.log", NEW_IO "50 samples, 0 lines skipped" BOOT },
	{ "iostat-12.6.1-en_US.log", IO("12.5.2 or later") },
	{ "iostat-12.6.1.json", NEW_IO "50 samples, 0 lines skipped" BOOT },
	{ "iostat-many-devices.log", NEW_IO "8 samples, 0 lines skipped" BOOT },
	{ "iostat-truncated.log", NEW_IO "49 samples, 0 lines skipped" BOOT
					 "; its last line is cut and was left out" },
	{ "nfsiostat-1.3.4.log", "nfsiostat (without queue, as nfs-utils 1.3), 36 samples, 0 lines "
				 "skipped; 3 of them, of the time since the mount, are not used" },
	{ "nfsiostat-2.6.2.log", "nfsiostat (with queue and errors, as nfs-utils 2.6), 36 samples, "
				 "0 lines skipped; 3 of them, of the time since the mount, are not "
				 "used" },
	{ "nfsiostat-nomounts.log",
		"nfsiostat, 0 samples, 0 lines skipped; no NFS was mounted, it says" },
	{ "sadf-12.6.1.json", "sadf, 3 samples, 0 lines skipped" },
	{ "top-4.0.4.log", NEW_TOP "12 samples, 0 lines skipped" },
	{ "top-comm-only.log", NEW_TOP "12 samples, 0 lines skipped" },
	{ "top-de_DE.log", NEW_TOP "3 samples, 0 lines skipped; no command in it is one that "
				   "counts, which --match chooses" },
	{ "top-instant.log", "top (procps before 3.3.17), 2 samples, 0 lines skipped" },
	{ "top-midnight.log", NEW_TOP "12 samples, 0 lines skipped" },
	{ "top-nodatetime.log", NEW_TOP "5 samples, 0 lines skipped; the date is not in it: only "
					"relative times are known" },
	{ "vmstat-3.3.12.log", "vmstat (procps before 3.3.17), 50 samples, 0 lines skipped" BOOT },
	{ "vmstat-3.3.17.log",
		"vmstat (procps 3.3.17 or later), 50 samples, 0 lines skipped" BOOT },
	{ "vmstat-de_DE.log", "vmstat (procps 4.0.0 or later), 14 samples, 0 lines skipped" BOOT },
	{ "vmstat-header-repeated.log",
		"vmstat (procps 4.0.0 or later), 20 samples, 0 lines skipped" BOOT },
	{ "vmstat-no-timestamp.log",
		"vmstat (procps 4.0.0 or later), 10 samples, 0 lines skipped" BOOT
		"; it has no times, which --interval could tell: samples are numbered" },
};

static struct tg_import *load(const char *name)
{
	struct tg_buf path = TG_BUF_INIT;
	struct tg_import *im;

	tg_buf_addf(&path, "awkward/%s", name);
	im = kit_load(path.data, &utc);
	tg_buf_release(&path);
	return im;
}

static void test_lines(void)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(file); i++) {
		struct tg_import *im = load(file[i].name);
		struct tg_buf line = TG_BUF_INIT, want = TG_BUF_INIT;

		tg_buf_addf(&want, "%s: %s", file[i].name, file[i].line);
		T_EQ_I(im->n, 1);
		if (im->n == 1)
			tg_import_line(im->log[0], &line);
		T_EQ_S(line.data, want.data);
		tg_buf_release(&line);
		tg_buf_release(&want);
		tg_import_free(im);
	}
}

/* No log of the folder is forgotten here. */
static void test_all_are_here(void)
{
	struct tg_buf path = TG_BUF_INIT;
	struct dirent *entry;
	DIR *dir;

	tg_buf_addf(&path, "%s/fixtures/pipeline-logs/awkward", t_dir());
	dir = opendir(path.data);
	T_OK(dir != NULL);
	while (dir && (entry = readdir(dir))) {
		bool known = entry->d_name[0] == '.' || !strcmp(entry->d_name, "README.md") ||
			     !strncmp(entry->d_name, "truth-", 6);

		for (size_t i = 0; i < TG_ARRAY_SIZE(file); i++)
			known |= !strcmp(entry->d_name, file[i].name);
		t_check(known, __FILE__, __LINE__, entry->d_name);
	}
	if (dir)
		closedir(dir);
	tg_buf_release(&path);
}

/* ---- numbers ---- */

/* Of many files: what the report has, by member. */
static const struct {
	const char *name, *member;
	double value;
} number[] = {
	{ "gpu-driver-fail.log", "gpu|util|count", 0 },
	{ "gpu-header-repeated.log", "gpu|memused_mib|count", 10 },
	{ "gpu-header-repeated.log", "gpu|memused_mib|mean", 900 },
	{ "gpu-na-util.log", "gpu|util|count", 0 },
	{ "gpu-na-util.log", "gpu|memused_mib|mean", 450 },
	{ "gpu-not-supported.log", "gpu|util|count", 0 },
	{ "gpu-not-supported.log", "gpu|memused_mib|count", 10 },
	{ "gpu-truncated.log", "gpu|util|max", 170 },
	{ "gpu-truncated.log", "gpu|util|mean", 65.106382978723403 },
	{ "gpu-unknown-error.log", "gpu|util|count", 10 },
	{ "iostat-12.6.1-C-basic.log", "iostat|vda|%util|count", 0 },
	{ "iostat-12.6.1-C-basic.log", "iostat|vda|rkB/s|count", 13 },
	{ "iostat-12.6.1-C-short.log", "iostat|vda|rkB/s|count", 0 },
	{ "iostat-12.6.1-C-short.log", "iostat|vda|%util|count", 13 },
	{ "iostat-12.6.1-ISO.log", "iostat|vda|rkB/s|count", 49 },
	{ "iostat-12.6.1.json", "iostat|vda|%util|count", 49 },
	{ "iostat-truncated.log", "iostat|vda|wkB/s|count", 48 },
	{ "iostat-truncated.log", "iostat|vda|wkB/s|max", 49836 },
	{ "iostat-many-devices.log", "iostat|mapper/vg_long-name|r/s|count", 7 },
	{ "iostat-many-devices.log", "iostat|nvme10n1|rkB/s|max", 6096 },
	{ "iostat-many-devices.log", "iostat|loop0|wkB/s|max", 0 },
	{ "nfsiostat-1.3.4.log", "nfsiostat|/mp/nas2|ops|50%", 5 },
	{ "nfsiostat-1.3.4.log", "nfsiostat|/mp/nas1|read_kbs|mean", 524.51603030303 },
	{ "nfsiostat-1.3.4.log", "nfsiostat|/mp/nas1|write_kbs|mean", 7729.1245151515 },
	{ "nfsiostat-2.6.2.log", "nfsiostat|/mp/nas1|write_ops|max", 21 },
	{ "nfsiostat-2.6.2.log", "nfsiostat|/mp/nas1|read_ops|max", 57 },
	{ "nfsiostat-2.6.2.log", "nfsiostat|/mp/nas2|write_kbs|max", 0 },
	{ "top-instant.log", "top|samples", 2 },
	{ "top-instant.log", "top|samples_with_match", 1 },
	{ "top-instant.log", "top|res_mib|max", 4009.3625 },
	{ "top-instant.log", "top|cpu_pct|max", 4142.8 },
	{ "top-instant.log", "top|cpu_pct_all_samples|min", 0 },
	{ "top-comm-only.log", "top|samples_with_match", 9 },
	{ "top-comm-only.log", "top|cpu_pct|max", 30.1 },
	{ "top-4.0.4.log", "top|res_mib|max", 16.72265625 },
	{ "top-4.0.4.log", "top|cpu_pct|max", 29.8 },
	{ "vmstat-3.3.12.log", "vmstat|bi|count", 49 },
	{ "vmstat-3.3.12.log", "vmstat|bi|mean", 388.9795918367347 },
	{ "vmstat-3.3.17.log", "vmstat|bo|mean", 6147.918367346939 },
	{ "vmstat-3.3.12.log", "vmstat|st|mean", 0.08163265306122448 },
	{ "vmstat-de_DE.log", "vmstat|id|max", 68 },
	{ "vmstat-de_DE.log", "vmstat|st|count", 13 },
	{ "vmstat-header-repeated.log", "vmstat|bi|count", 19 },
	{ "vmstat-no-timestamp.log", "vmstat|us|max", 85 },
};

static void test_numbers(void)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(number); i++) {
		struct tg_import *im = load(number[i].name);

		t_near(kit_number(im, number[i].member), number[i].value, 1e-9, number[i].name,
			(int)i, number[i].member);
		tg_import_free(im);
	}
}

/* Lines of CSV files: of which, its number (-1: the last), its text. */
static const struct {
	const char *name, *csv;
	int line;
	const char *text;
} line[] = {
	{ "gpu-na-util.log", "gpu.csv", 1,
		"2026-12-01 20:53:39.312,0:00:00.000,Tesla V100-SXM2-16GB,0,P8,,,16160,450,33," },
	{ "gpu-header-repeated.log", "gpu.csv", -1,
		"2026-12-01 20:53:48.324,0:00:09.012,Tesla V100-SXM2-16GB,1,P8,0,0,16160,450,33," },
	{ "gpu-not-supported.log", "gpu.csv", 1,
		"2026-12-01 20:53:39.312,0:00:00.000,GeForce GT 730,0,P8,,,16160,450,33,37" },
	{ "iostat-12.6.1-ISO.log", "iostat.csv", 1,
		"2026-12-01 "
		"20:53:39,0:00:00,vda,3.00,0.00,65.00,10.00,460.00,80.00,,0.02,,0.26,0.20,"
		",0.80,4.41,0.00,7.08,8.00,8.00,32.00,0.00,0.00,0.25,4.00,1.00,0.00,,,," },
	{ "iostat-11.2.0-C.log", "iostat.csv", 1,
		"2026-12-01 "
		"20:42:35,0:00:00,vda,1.00,0.00,25.00,37.00,2836.00,144.00,96.13,0.02,0.26,"
		"0.52,0.08,0.00,0.00,,,,,,,,,,,,,,,," },
	{ "iostat-12.6.1-C-short.log", "iostat.csv", 1,
		"2026-12-01 20:42:35,0:00:00,vda,,,,,,,,0.01,0.12,,,,0.00,,,,,,,,,,,,,49.00,224.00,"
		"0.00,4.57" },
	{ "top-midnight.log", "top-total.csv", 6, "2027-01-01 00:00:00,5,2,16.723,27.254,8.7,0.0" },
	{ "top-midnight.log", "top-total.csv", -1,
		"2027-01-01 00:00:06,11,2,16.723,27.254,5.5,0.0" },
	{ "top-nodatetime.log", "top-total.csv", -1, "12:00:04,4,2,16.598,27.254,0.0,0.0" },
	{ "top-instant.log", "top-total.csv", 2, "2026-12-01 12:00:05,5,0,0.000,0.000,0.0,0.0" },
	{ "top-instant.log", "top-proc.csv", 1,
		"2026-12-01 12:00:00,0,500,main,12897484.800,1228.800,812.400,3987.0,0.5" },
	{ "top-instant.log", "top-proc.csv", 4,
		"2026-12-01 12:00:00,0,78,unknown,0.000,0.000,0.000,0.0,0.0" },
	{ "top-comm-only.log", "top-proc.csv", 1,
		"2026-12-01 20:53:42,3,8842,unknown,13.629,8.293,5.422,0.0,0.0" },
	{ "vmstat-de_DE.log", "vmstat.csv", 1,
		"2026-12-01 "
		"20:42:35,0:00:00,1,0,0,17899508,179932,5319996,0,0,292,144,1558,3348,42,"
		"11,47,0,0" },
	{ "vmstat-header-repeated.log", "vmstat.csv", -1,
		"2026-12-01 "
		"20:53:57,0:00:18,15,1,0,16034672,110784,5445324,0,0,28,88,3331,9444,75,25,"
		"0,0,0" },
	{ "vmstat-no-timestamp.log", "vmstat.csv", -1,
		"9,,24,0,0,16034672,110784,5445324,0,0,0,92,3057,29321,85,16,0,0,0" },
};

static void test_csv(void)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(line); i++) {
		struct tg_import *im = load(line[i].name);
		struct tg_buf text = kit_csv(im, line[i].csv);
		char *got = kit_line(text.data, line[i].line);

		t_eq_s(got, line[i].text, line[i].name, (int)i, line[i].csv);
		free(got);
		tg_buf_release(&text);
		tg_import_free(im);
	}
}

/* ---- iostat against /proc/diskstats ---- */

/* "1796157754.180  254       0 vda 141513 30674 6530514 49531 76569 301714 19978600 155023 0 31324"
 */
static void truth(double *write_kb, double *busy_ms)
{
	struct tg_buf path = TG_BUF_INIT, text;
	double sectors[2], busy[2];
	char *at[2];

	tg_buf_addf(&path, "%s/fixtures/pipeline-logs/awkward/truth-vda-diskstats.txt", t_dir());
	text = kit_slurp(path.data);
	at[0] = kit_line(text.data, 0);
	at[1] = kit_line(text.data, -1);
	for (int i = 0; i < 2; i++) {
		char *p = strstr(at[i], "vda");

		for (int field = 1; p && field <= 10; field++) {
			double v = strtod(p + strcspn(p, " "), &p);

			if (field == 7)
				sectors[i] = v;
			if (field == 10)
				busy[i] = v;
		}
		free(at[i]);
	}
	*write_kb = (sectors[1] - sectors[0]) / 2;
	*busy_ms = busy[1] - busy[0];
	tg_buf_release(&path);
	tg_buf_release(&text);
}

/* All of them saw the same 14 s; they stand for 13, and little was written in the rest. */
static void test_truth(void)
{
	double write_kb, busy_ms;
	int n = 0;

	truth(&write_kb, &busy_ms);
	T_NEAR(write_kb, 171392, 0.1);
	T_NEAR(busy_ms, 572, 0.1);
	for (size_t i = 0; i < TG_ARRAY_SIZE(file); i++) {
		struct tg_import *im;
		double kb, util;

		if (strncmp(file[i].name, "iostat-", 7) != 0 || !strstr(file[i].line, "14 samples"))
			continue;
		im = load(file[i].name);
		kb = kit_number(im, "iostat|vda|wkB/s|mean") * 13;
		util = kit_number(im, "iostat|vda|%util|mean") * 13;
		if (!isnan(kb))
			t_near(kb, write_kb, 0.006 * write_kb, file[i].name, 0, "kB written");
		if (!isnan(util))
			t_near(util * 10, busy_ms, 20, file[i].name, 0, "ms busy");
		n += !isnan(kb) + !isnan(util);
		tg_import_free(im);
	}
	T_EQ_I(n, 16); /* 9 files, of which two lack one of these */
}

/* ---- what lies behind ---- */

/* German numbers are the same as with a point; lines above the processes go by their place. */
static void test_german(void)
{
	struct tg_import_options o = { .zone = "UTC", .match = "other" };
	struct tg_import *im = kit_load("awkward/top-de_DE.log", &o);
	struct tg_buf text = kit_csv(im, "top-proc.csv");
	char *got = kit_line(text.data, 1), *third = kit_line(text.data, 3);

	T_EQ_S(got, "2026-12-01 20:42:34,0,4994,unknown,1482752.000,324.477,142.004,86.7,1.3");
	T_EQ_S(third, "2026-12-01 20:42:34,0,4976,unknown,53760.000,99.113,67.410,13.3,0.4");
	free(got);
	free(third);
	tg_buf_release(&text);
	tg_import_free(im);
}

/* With an interval that the user tells, times are known but for the date. */
static void test_interval(void)
{
	struct tg_import_options o = { .zone = "UTC", .interval_ns = 5 * TG_NS_PER_S };
	struct tg_import *im = kit_load("awkward/vmstat-no-timestamp.log", &o);
	struct tg_buf text = kit_csv(im, "vmstat.csv");
	char *got = kit_line(text.data, -1);

	T_EQ_S(got,
		"00:00:45,0:00:40,24,0,0,16034672,110784,5445324,0,0,0,92,3057,29321,85,16,0,0,0");
	free(got);
	tg_buf_release(&text);
	tg_import_free(im);
}

static void test_host(void)
{
	struct tg_import *im = load("iostat-many-devices.log");

	T_EQ_S(im->log[0]->host, "node-01.cluster.example.org");
	T_EQ_I(im->log[0]->cpus, 2);
	T_EQ_I(im->log[0]->part[0].grid.n_items, 7);
	tg_import_free(im);
}

int main(void)
{
	test_all_are_here();
	test_lines();
	test_numbers();
	test_csv();
	test_truth();
	test_german();
	test_interval();
	test_host();
	return t_done();
}
