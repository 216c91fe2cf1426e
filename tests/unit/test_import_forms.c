/* SPDX-License-Identifier: BSD-3-Clause */
/* Forms of logs that the folder of fixtures does not have: other options, versions and bad lines.
 */
#include "import_kit.h"

#include <errno.h>

#include "base/clock.h"
#include "import/walk.h"

static const struct tg_import_options utc = { .zone = "UTC", .match = "." };

/* The value of a metric of the first log's readings in tick `n`: what a recording would have. */
static double value(const struct tg_import *im, uint32_t n, const char *item, const char *metric)
{
	const struct tg_logfile *log = im->log[0];

	for (size_t p = 0; p < log->n_parts; p++)
		for (size_t k = 0; k < log->part[p].layout->n_outputs; k++) {
			const struct tg_derived *o = &log->part[p].layout->output[k];
			double found = NAN;
			struct tg_walk w;

			if (strcmp(o->metric.name, metric) != 0)
				continue;
			tg_walk_begin(&w, &log->part[p].grid);
			while (tg_walk_next(&w))
				for (size_t i = 0; w.tick == n && i < w.n; i++)
					if (!strcmp(w.grid->item[w.row[i].item].name, item))
						found = w.row[i].value[__builtin_ctzll(o->plus)] *
							o->factor;
			tg_walk_end(&w);
			return found;
		}
	return NAN;
}

static void line_is(const struct tg_import *im, const char *want)
{
	struct tg_buf line = TG_BUF_INIT;

	tg_import_line(im->log[0], &line);
	T_EQ_S(line.data, want);
	tg_buf_release(&line);
}

/* ---- top ---- */

#define ROWS                                                                                       \
	"  PID USER      PR  NI  VIRT  RES  SHR S %CPU %MEM    TIME+  COMMAND\n"                   \
	"    1 root      20   0  2100  680  580 S  0.0  0.0   0:00.57 init\n"                      \
	" 1234 a.b-c+   rt -11  1.5g 200m  10m R 99.7  5.1  1234:56 long one\n"

static void test_old_top(void)
{
	struct tg_import *im = kit_text(
		"datetime: 2026/12/01 10:00:00\n"
		"top - 10:00:00 up 3 days,  2:01,  3 users,  load average: 0.15, 0.10, 1.05\n"
		"Tasks: 106 total,   1 running, 105 sleeping,   0 stopped,   0 zombie\n"
		"Cpu(s):  0.7%us,  0.3%sy,  0.0%ni, 98.7%id,  0.3%wa,  0.0%hi,  0.0%si,  0.0%st\n"
		"Mem:   3785984k total,  3500000k used,   285984k free,   120000k buffers\n"
		"Swap:  2096472k total,    96472k used,  2000000k free,  1880000k cached\n\n" ROWS,
		&utc);

	T_NEAR(value(im, 0, "", "top.cpu_user_pct"), 0.7, 1e-12);
	T_NEAR(value(im, 0, "", "top.cpu_idle_pct"), 98.7, 1e-12);
	T_NEAR(value(im, 0, "", "node.mem_total_bytes"), 3785984 * 1024.0, 0);
	T_NEAR(value(im, 0, "", "top.mem_used_bytes"), 3500000 * 1024.0, 0);
	T_NEAR(value(im, 0, "", "top.mem_free_bytes"), 285984 * 1024.0, 0);
	T_NEAR(value(im, 0, "", "top.mem_cache_bytes"), 2000000 * 1024.0, 0);
	T_NEAR(value(im, 0, "", "node.swap_used_bytes"), 96472 * 1024.0, 0);
	T_NEAR(value(im, 0, "", "top.users_in"), 3, 0);
	T_NEAR(value(im, 0, "", "top.load_15m"), 1.05, 1e-12);
	T_NEAR(value(im, 0, "", "top.tasks_all"), 106, 0);
	T_NEAR(kit_number(im, "top|virt_mib|max"), 2100 / 1024.0 + 1536, 1e-9);
	T_NEAR(kit_number(im, "top|cpu_pct|max"), 99.7, 1e-9);
	tg_import_free(im);
}

static void test_cores_and_bars(void)
{
	struct tg_import *im = kit_text(
		"top - 10:00:00 up 1 min,  1 user,  load average: 0.15, 0.10, 1.05\n"
		"Threads: 106 total,   1 running, 105 sleeping,   0 stopped,   0 zombie\n"
		"%Cpu0  : 10.0 us,  2.0 sy,  0.0 ni, 88.0 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st\n"
		"%Cpu1  : 30.0 us,  4.0 sy,  0.0 ni, 66.0 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st\n"
		"GiB Mem :     23.5 total,     15.3 free,      3.2 used,      5.2 buff/cache\n"
		"GiB Swap:      0.0 total,      0.0 free,      0.0 used.     20.2 avail "
		"Mem\n\n" ROWS "top - 10:00:05 up 1 min,  1 user,  load average: 0.15, 0.10, 1.05\n"
		"Tasks: 106 total,   1 running, 105 sleeping,   0 stopped,   0 zombie\n"
		"%Cpu(s):  75.0/25.0  100[||||||||||||||||||||||||||||||||||||||||]\n"
		"MiB Mem : 35.0/24105.1   [||||||||||||                            ]\n"
		"MiB Swap:  0.0/0.0      [                                        ]\n\n" ROWS,
		&utc);

	T_NEAR(value(im, 0, "", "top.cpu_user_pct"), 20, 1e-12);
	T_NEAR(value(im, 0, "", "top.cpu_idle_pct"), 77, 1e-12);
	T_NEAR(value(im, 0, "", "node.mem_total_bytes"), 23.5 * 1073741824, 1);
	T_NEAR(value(im, 1, "", "top.cpu_user_pct"), 75, 0);
	T_NEAR(value(im, 1, "", "top.cpu_system_pct"), 25, 0);
	T_OK(isnan(value(im, 1, "", "top.cpu_idle_pct")));
	T_NEAR(value(im, 1, "", "node.mem_total_bytes"), 24105.1 * 1048576, 1);
	tg_import_free(im);
}

#define HEAD(time, tasks)                                                                          \
	"top - " time " up 1 min,  1 user,  load average: 0.15, 0.10, 1.05\n"                      \
	"Tasks: " tasks " total\n\n  PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND\n"
#define ROW(pid) pid " u 20 0 100 10 5 S 1.0 0.1 0:00.10 cmd\n"

static void test_cut_top(void)
{
	/* a last sample that lacks processes would make sums too small */
	struct tg_import *im =
		kit_text("datetime: 2026/12/01 10:00:00\n" HEAD("10:00:00", "2") ROW("1") ROW("2")
				 HEAD("10:00:05", "2") ROW("1") ROW("2") HEAD("10:00:10", "2")
					 ROW("1") "2 u 20 0 1",
			&utc);

	line_is(im, "log: top (procps before 3.3.17), 2 samples, 0 lines skipped; its last line is "
		    "cut and was left out; its last sample is not whole and was left out");
	T_NEAR(kit_number(im, "top|res_mib|min"), 20 / 1024.0, 1e-12);
	tg_import_free(im);
	/* bad lines are counted, and cost no other */
	im = kit_text("datetime: 2026/12/01 10:00:00\ntop: nonsense\n" HEAD("10:00:00", "2")
			      ROW("1") "x y z\n 7 u 20 0 1x 10 5 S 1.0 0.1 0:00.10 cmd\n" ROW("2")
				      HEAD("25:00:05", "2") ROW("9"),
		&utc);
	T_EQ_I(im->log[0]->n_skipped, 3 + 4);
	T_NEAR(kit_number(im, "top|samples"), 1, 0);
	T_NEAR(kit_number(im, "top|res_mib|max"), 20 / 1024.0, 1e-12);
	tg_import_free(im);
}

/* Rows that are the same again are not read again: they count nevertheless, in their order. */
static void test_same_rows(void)
{
	struct tg_import *im =
		kit_text("datetime: 2026/12/01 10:00:00\n" HEAD("10:00:00", "2") ROW("1") ROW("2")
				 HEAD("10:00:05", "2") ROW("2") ROW("1") HEAD("10:00:10", "1")
					 ROW("2") HEAD("10:00:15", "2") ROW("1") ROW("2")
						 HEAD("10:00:20", "2") ROW("1") ROW("1"),
			&utc);
	struct tg_buf text = kit_csv(im, "top-proc.csv");
	static const char *const pid[] = { "1", "2", "2", "1", "2", "1", "2", "1" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(pid); i++) {
		char *line = kit_line(text.data, (int)i + 1), *got = kit_field(line, 2);

		T_EQ_S(got, pid[i]);
		free(line);
		free(got);
	}
	T_NEAR(kit_number(im, "top|samples_with_match"), 5, 0);
	tg_buf_release(&text);
	tg_import_free(im);
}

/* ---- iostat ---- */

#define LINUX "Linux 6.1 (n-1.x) \t12/01/26 \t_x86_64_\t(64 CPU)\n\n"

static void test_iostat_units(void)
{
	static const struct {
		const char *heads, *row;
		double bytes;
	} form[] = {
		{ "Device r/s rMB/s wMB/s %util", "sda 1.00 2.50 0.00 3.00", 2.5 * 1048576 },
		{ "Device: rrqm/s r/s rsec/s wsec/s %util", "sda 0.0 1.00 100.00 0.00 3.00",
			51200 },
		{ "Device r/s rkB/s wkB/s %util", "sda 1.00 372.0k 1.2M 3.3%", 372 * 1024.0 },
		{ "  r/s rkB/s wkB/s %util Device", " 1,00 372,0k 1,2M 3,3% sda", 372 * 1024.0 },
		{ "Device tps Blk_read/s Blk_wrtn/s Blk_read Blk_wrtn", "sda 1.0 4.0 0.0 4 0",
			2048 },
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(form); i++) {
		struct tg_buf text = TG_BUF_INIT;
		struct tg_import *im;

		tg_buf_addf(&text,
			LINUX "01.12.2026 10:00:00\n%s\n%s\n\n01.12.2026 10:00:05\n%s\n%s\n",
			form[i].heads, form[i].row, form[i].heads, form[i].row);
		im = kit_text(text.data, &utc);
		T_EQ_I(im->log[0]->n_skipped, 0);
		t_near(value(im, 0, "sda", "disk.read_bytes"), form[i].bytes, 1e-6, form[i].heads,
			0, "bytes");
		tg_import_free(im);
		tg_buf_release(&text);
	}
}

/* Without stamps reports are numbered, or their times are those that the user tells. */
static void test_iostat_unstamped(void)
{
	static const char text[] =
		LINUX "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
		      "          48.87    0.11   15.08    0.21    0.50   35.24\n\n"
		      "Device tps kB_read/s kB_wrtn/s\nsda 1.0 2.0 3.0\nsdb 1.0 2.0 3.0\n\n"
		      "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
		      "          10,00    0,00    5,00    0,00    0,00   85,00\n\n"
		      "Device tps kB_read/s kB_wrtn/s\nsda 1.0 4.0 3.0\nsdb 1.0 5.0 3.0\n\n";
	struct tg_import_options o = { .zone = "UTC", .interval_ns = 10 * TG_NS_PER_S };
	struct tg_import *im = kit_text(text, &utc);

	T_EQ_I(im->log[0]->n_samples, 2);
	T_EQ_I(im->log[0]->cpus, 64);
	T_EQ_I(im->log[0]->part[0].grid.times, TG_NUMBERED);
	T_NEAR(value(im, 0, "sdb", "disk.read_bytes"), 5120, 0);
	T_NEAR(value(im, 0, "", "iostat.cpu_user_pct"), 10, 0);
	tg_import_free(im);
	im = kit_text(text, &o);
	T_EQ_I(im->log[0]->part[0].grid.times, TG_RELATIVE);
	T_EQ_I(im->log[0]->part[0].grid.tick[0].begin_ns, 0);
	T_EQ_I(im->log[0]->part[0].grid.tick[0].utc_ns, 10 * TG_NS_PER_S);
	tg_import_free(im);
}

/* One that was killed: what is whole is read. */
static void test_iostat_json_cut(void)
{
	struct tg_import *im = kit_text(
		"{\"sysstat\": {\"hosts\": [{\"nodename\": \"h\\u00e9\", \"number-of-cpus\": 2,\n"
		"\"statistics\": [{\"timestamp\": \"2026-12-01T10:00:00+0100\", \"disk\": [\n"
		"{\"disk_device\": \"sda\", \"tps\": 1, \"kB_read/s\": 2}]},\n"
		"{\"timestamp\": \"2026-12-01T10:00:05+0100\", \"disk\": [\n"
		"{\"disk_device\": \"sda\", \"tps\": 1, \"kB_read/s\": 7.5},\n"
		"{\"disk_device\": \"sdb\", \"tps\": 1, \"kB_re",
		&utc);

	T_EQ_S(im->log[0]->host, "h\xc3\xa9");
	T_EQ_I(im->log[0]->part[0].grid.n_ticks, 1);
	T_EQ_I(im->log[0]->part[0].grid.n_items, 1);
	T_EQ_I(im->log[0]->part[0].grid.tick[0].utc_ns / TG_NS_PER_S, 1796115605);
	T_NEAR(value(im, 0, "sda", "disk.read_bytes"), 7680, 0);
	T_EQ_I(im->log[0]->n_notes, 1);
	tg_import_free(im);
}

/* ---- vmstat ---- */

static void test_vmstat_forms(void)
{
	/* not wide, with active memory, and without steal */
	struct tg_import *im = kit_text(
		"procs -----------memory---------- ---swap-- -----io---- -system-- ----cpu----\n"
		" r  b   swpd   free  inact active   si   so    bi    bo   in   cs us sy id wa\n"
		" 1  0      0 100000  20000  30000    0    0     1     2    3    4  5  6 89  0\n"
		" 2  1     10 100000  20000  30000    7    8     1     2    3    4  5  6 88  1\n"
		" 2  1     10 100000  garbage\n",
		&utc);

	T_EQ_I(im->log[0]->n_skipped, 1);
	T_NEAR(value(im, 0, "", "vmstat.mem_active_bytes"), 30000 * 1024.0, 0);
	T_OK(isnan(value(im, 0, "", "vmstat.mem_cache_bytes")));
	T_OK(isnan(value(im, 0, "", "vmstat.cpu_steal_pct")));
	T_NEAR(value(im, 0, "", "vmstat.swap_out_bytes"), 8192, 0);
	tg_import_free(im);
}

/* ---- the others ---- */

static void test_gpu_forms(void)
{
	/* with units and in another order; a GPU that is lost and comes again; no stamps */
	struct tg_import *im = kit_text(
		"index, timestamp, power.draw [W], utilization.gpu [%], memory.used [MiB]\n"
		"0, 2026/12/01 10:00:00.000, 55.25 W, 10 %, 100 MiB\n"
		"1, 2026/12/01 10:00:00.400, 60.00 W, 20 %, 200 MiB\n"
		"1, 2026/12/01 10:00:01.400, 60.00 W, 30 %, 200 MiB\n"
		"0, 2026/12/01 10:00:02.000, [N/A], 40 %, 100 MiB\n"
		"1, 2026/12/01 10:00:02.400, 60.00 W, 50 %, 200 MiB\n"
		"Unable to determine the device handle for GPU 0000:0B:00.0: GPU is lost.  Reboot\n"
		"?!\n",
		&utc);

	T_EQ_I(im->log[0]->n_samples, 3);
	T_EQ_I(im->log[0]->n_skipped, 1);
	T_NEAR(value(im, 0, "0", "gpu.power_w"), 55.25, 0);
	T_OK(isnan(value(im, 1, "0", "gpu.util_pct")));
	T_NEAR(value(im, 1, "1", "gpu.util_pct"), 30, 0);
	T_OK(isnan(value(im, 2, "0", "gpu.power_w")));
	T_NEAR(kit_number(im, "gpu|util|max"), 90, 0);
	tg_import_free(im);
	im = kit_text("utilization.gpu [%], memory.used [MiB]\n1, 2\n3, 4\n", &utc);
	T_EQ_I(im->log[0]->part[0].grid.times, TG_NUMBERED);
	T_NEAR(kit_number(im, "gpu|util|count"), 2, 0);
	tg_import_free(im);
}

static void test_nfs_forms(void)
{
	/* a single block: only the user can know the interval */
#define MOUNT(ops)                                                                                 \
	"s:/x mounted on /mnt/a\\040b:\n\n   op/s  rpc bklog\n   " ops "  0.50\n\n"                \
	"read:   ops/s   kB/s   kB/op   retrans   avg RTT (ms)   avg exe (ms)\n"                   \
	"        1.000   2.000  3.000   4 (0.5%)  5.000          6.000\n\n"
	static const char text[] =
		"datetime: 2026/12/01 10:00:00\n" MOUNT("9") MOUNT("1") MOUNT("2");
	struct tg_import_options o = { .zone = "UTC", .interval_ns = 30 * TG_NS_PER_S };
	struct tg_import *im = kit_text(text, &utc);

	T_EQ_I(im->log[0]->part[0].grid.times, TG_NUMBERED);
	T_NEAR(kit_number(im, "nfsiostat|/mnt/a b|ops|mean"), 1.5, 0);
	T_NEAR(value(im, 1, "/mnt/a b", "nfsiostat.read_retransmits"), 4, 0);
	T_NEAR(value(im, 1, "/mnt/a b", "nfsiostat.backlog_mean"), 0.5, 0);
	T_NEAR(value(im, 1, "/mnt/a b", "nfsiostat.read_exe_ms"), 6, 0);
	tg_import_free(im);
	im = kit_text(text, &o);
	T_EQ_I(im->log[0]->part[0].grid.times, TG_DATED);
	T_EQ_I(im->log[0]->part[0].grid.tick[1].civil_ns / TG_NS_PER_S, 1796119260);
	tg_import_free(im);
}

static void test_lsblk(void)
{
	struct tg_import *im = kit_text("NAME          MAJ:MIN RM   SIZE RO TYPE  MOUNTPOINTS\n"
					"sda             8:0    0 953.9G  0 disk  \n"
					"├─sda1          8:1    0   512M  0 part  /boot/efi\n"
					"└─sda2          8:2    0 953.4G  0 part  \n"
					"  └─vg-root   254:0    0 953.4G  0 lvm   /\n"
					"                                         /home\n"
					"sdb             8:16   0   1.0T  0 disk  /mp/nas 1\n"
					"|-sdb1          8:17   0   1.0T  0 part  [SWAP]\n",
		&utc);
	const struct tg_logfile *log = im->log[0];

	T_EQ_I(log->n_disks, 2);
	T_EQ_S(log->disk[0].name, "sda");
	T_EQ_I(log->disk[0].n, 3);
	T_EQ_S(log->disk[0].mount[0], "/boot/efi");
	T_EQ_S(log->disk[0].mount[2], "/home");
	T_EQ_S(log->disk[1].mount[0], "/mp/nas 1");
	T_EQ_S(log->disk[1].mount[1], "[SWAP]");
	tg_import_free(im);
}

static void test_stages(void)
{
	struct tg_import *im = kit_text("1796158421.628\tbegin\ta b\n# said\n\n1796158422 end a b\n"
					"1796158423\tpause\tx\n12\tbegin\ty\n1796158424\tbegin\t\n",
		&utc);

	T_EQ_I(im->log[0]->n_stages, 2);
	T_EQ_I(im->log[0]->n_skipped, 3);
	T_EQ_S(im->log[0]->stage[0].name, "a b");
	T_EQ_I(im->log[0]->stage[0].utc_ns, 1796158421628000000);
	T_OK(!im->log[0]->stage[1].begin);
	tg_import_free(im);
}

/* What is no log, as far as its first bytes tell. */
static void test_unknown(void)
{
	static const char *const text[] = { "", "\n", "top - no time\n", "Linux is good (really)\n",
		"a,b,c\n1,2,3\n", "{\"sysstat\": 1}", "NAME\n", "procs", "12 begin x\n" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(text); i++) {
		struct tg_import *im = kit_new(&utc);
		struct tg_err err = { 0 };
		int r = tg_import_add_bytes(im, "x", text[i], strlen(text[i]), &err);

		/* "top - " alone is enough to be top, of which nothing can be made then */
		t_eq_i(r, i == 2 ? 0 : -EBADMSG, __FILE__, __LINE__, "refused");
		tg_import_free(im);
	}
}

/* Lines without end and with NULs are bounded, and the next ones are read. */
static void test_long_lines(void)
{
	struct tg_buf text = TG_BUF_INIT;
	struct tg_import *im;

	tg_buf_adds(&text, "datetime: 2026/12/01 10:00:00\n" HEAD("10:00:00", "3"));
	tg_buf_adds(&text, "1 u 20 0 100 10 5 S 1.0 0.1 0:00.10 ");
	for (int i = 0; i < 300000; i++)
		tg_buf_addc(&text, 'x');
	tg_buf_addc(&text, '\n');
	tg_buf_add(&text, "2 u\0 20\n", 8);
	tg_buf_adds(&text, ROW("3"));
	im = kit_new(&utc);
	T_EQ_I(tg_import_add_bytes(im, "x", text.data, text.len, NULL), 0);
	tg_import_settle(im);
	T_EQ_I(im->log[0]->n_skipped, 1);
	T_EQ_I(im->log[0]->processes.grid.n_items, 2);
	T_EQ_I(strlen(im->log[0]->processes.process[0].command), TG_COMMAND_MAX);
	tg_import_free(im);
	tg_buf_release(&text);
}

int main(void)
{
	test_old_top();
	test_cores_and_bars();
	test_cut_top();
	test_same_rows();
	test_iostat_units();
	test_iostat_unstamped();
	test_iostat_json_cut();
	test_vmstat_forms();
	test_gpu_forms();
	test_nfs_forms();
	test_lsblk();
	test_stages();
	test_unknown();
	test_long_lines();
	return t_done();
}
