/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Storage and networks of clusters, and energy, on captured trees. Numbers in comments are those
 * of the list of pitfalls that sampling tools have been found in.
 */
#include "tap.h"

#include "sample_tree.h"

#include "sample/energy.h"
#include "sample/mountstats.h"
#include "sample/names.h"

#include "base/mem.h"

/*
 * pitfall 25, reports 22 and 23: each superblock once, whatever it is mounted by and however often;
 * 8 numbers of an operation or 9, a name that has lines, udp and rdma
 */
static void test_nfs(void)
{
	struct tg_sampler *s = sampler_of("cluster", 600);
	struct tg_reading r;
	char names[512];

	T_EQ_S(said(s, "nfs"), "+");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	/* what programs have read, and what went over the wire; direct I/O is in both */
	VALUE("nfs.read_bytes", "/home", 2101248 + 8192);
	VALUE("nfs.write_bytes", "/home", 1048576 + 4096);
	VALUE("nfs.wire_read_bytes", "/home", 1069056);
	VALUE("nfs.wire_write_bytes", "/home", 1052672);
	VALUE("nfs.pages_read", "/home", 261);
	VALUE("nfs.pages_written", "/home", 257);
	VALUE("nfs.updatepage_calls", "/home", 512);
	VALUE("nfs.readpage_calls", "/home", 7);
	VALUE("nfs.readpages_calls", "/home", 20);
	VALUE("nfs.writepage_calls", "/home", 4);
	VALUE("nfs.writepages_calls", "/home", 8);
	VALUE("nfs.ops", "/home", 552);
	VALUE("nfs.retransmits", "/home", 4);
	VALUE("nfs.queue_ns", "/home", 23 * TG_NS_PER_MS);
	VALUE("nfs.rtt_ns", "/home", 1427 * TG_NS_PER_MS);
	VALUE("nfs.exec_ns", "/home", 1462 * TG_NS_PER_MS);
	/* nconnect=2: two lines of which neither is the whole */
	VALUE("nfs.connects", "/home", 1 + 3);
	VALUE("nfs.sends", "/home", 105 + 205);
	VALUE("nfs.receives", "/home", 104 + 204);
	VALUE("nfs.op_count", "/home READ", 130);
	VALUE("nfs.op_rtt_ns", "/home READ", 455 * TG_NS_PER_MS);
	VALUE("nfs.op_count", "/home GETATTR", 226);
	VALUE("nfs.op_count", "/home OPEN", 10);
	T_OK(!has_column(&r, "nfs.op_count", "/home CLOSE"));
	/* operations are no part of the sums over mounts */
	T_OK(!has_column(&r, "nfs.read_bytes", "/home READ"));
	T_OK(!has_column(&r, "nfs.op_count", "/home"));
	/* statvers 1.0 over UDP: 8 numbers an operation; one that failed before it was sent */
	VALUE("nfs.read_bytes", "/scratch", 1000);
	VALUE("nfs.ops", "/scratch", 13);
	VALUE("nfs.retransmits", "/scratch", 2);
	VALUE("nfs.sends", "/scratch", 37);
	T_OK(!has_column(&r, "nfs.connects", "/scratch"));
	VALUE("nfs.op_count", "/scratch READDIRPLUS", 4);
	T_OK(!has_column(&r, "nfs.op_count", "/scratch OPEN"));
	VALUE("nfs.connects", "/mnt/fast disk", 2);
	VALUE("nfs.sends", "/mnt/fast disk", 5808);
	/* a bind mount is not another one; the same export with other options is */
	T_EQ_I(sum(&r, "nfs.wire_read_bytes", names, sizeof(names)), 1069056 + 900 + 11 + 50);
	T_EQ_S(names, "/home /scratch /mnt/fast disk /home-ro ");
	/* once a second; in between they are missing, and no columns come or go */
	tg_sampler_read(s, 0, &r);
	MISSING("nfs.read_bytes", "/home");
	T_OK(has_column(&r, "nfs.read_bytes", "/home"));
	tg_sampler_free(s);
}

/* No mount, no column. One that comes later is found, one that goes is missing. */
static void test_nfs_comes_and_goes(void)
{
	struct copy c = copy_of("cluster");
	struct tg_buf whole = TG_BUF_INIT;
	struct tg_sampler *s;
	struct tg_reading r;
	char file[256];

	snprintf(file, sizeof(file), "%s/proc/600/mountstats", c.folder);
	T_EQ_I(tg_file_read(AT_FDCWD, file, 1 << 20, &whole, NULL), 0);
	put_file(&c, "proc/600/mountstats", "device proc mounted on /proc with fstype proc\n", 46);
	s = sampler_at(c.folder, 600);
	T_EQ_S(said(s, "nfs"), "+no NFS mount now");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(count(&r, "nfs."), 0);
	put_file(&c, "proc/600/mountstats", whole.data, whole.len);
	tg_sampler_read(s, 0, &r);
	T_EQ_I(count(&r, "nfs."), 0);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("nfs.read_bytes", "/scratch", 1000);
	T_OK(!has_column(&r, "nfs.read_bytes", "/srv/alice"));
	edit(&c, "proc/600/mountstats", "mounted on /scratch with", "mounted on /old with");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	MISSING("nfs.read_bytes", "/scratch");
	VALUE("nfs.read_bytes", "/old", 1000);
	tg_sampler_free(s);
	/* without mountinfo what is mounted tells them apart, as well as it can */
	snprintf(file, sizeof(file), "%s/proc/600/mountinfo", c.folder);
	T_EQ_I(unlink(file), 0);
	s = sampler_at(c.folder, 600);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("nfs.read_bytes", "/home", 2101248 + 8192);
	T_OK(!has_column(&r, "nfs.read_bytes", "/home-ro"));
	tg_sampler_free(s);
	tg_buf_release(&whole);
	copy_remove(&c);
	s = sampler_of("bare", 60);
	T_EQ_S(said(s, "nfs"), "/proc/PID/mountstats: No such file or directory");
	tg_sampler_free(s);
}

static void keep_disk(void *ctx, int64_t t_ns, const char *name, const char *mounts)
{
	T_OK(t_ns > 0);
	tg_buf_addf(ctx, "%s has", name);
	for (; *mounts; mounts += strlen(mounts) + 1)
		tg_buf_addf(ctx, " '%s'", mounts);
	tg_buf_adds(ctx, "\n");
}

/*
 * pitfall 23: which mount points are on which disk: dm on md on partitions, a partition, a whole
 * disk; a bind mount once, what has no device not, and a loop of devices ends
 */
static void test_mounts(void)
{
	static const char mountinfo[] = "20 1 252:0 / / rw - ext4 /dev/dm-0 rw\n"
					"21 20 252:0 /srv/x /x rw - ext4 /dev/dm-0 rw\n"
					"22 20 8:2 /boot /mnt/boot rw - ext4 /dev/sda2 rw\n"
					"23 20 8:2 / /boot rw - ext4 /dev/sda2 rw\n"
					"24 20 8:32 / /my\\040data rw - xfs /dev/sdc rw\n"
					"25 20 0:44 / /home rw - nfs4 server:/home rw\n"
					"26 20 252:7 / /odd rw - ext4 /dev/dm-7 rw\n"
					"27 20 7:0 / /gone rw - squashfs /dev/loop0 rw\n";
	struct copy c = copy_of("workstation");
	struct tg_buf notes = TG_BUF_INIT;
	struct tg_sampler_options options = { .root = 500,
		.hooks = { .disk = keep_disk, .ctx = &notes } };
	struct tg_sampler *s = NULL;
	struct tg_reading r;

	put_file(&c, "proc/500/mountinfo", mountinfo, strlen(mountinfo));
	run(&c, "mkdir -p sys/dev/block sys/devices && cd sys/devices && "
		"add() { mkdir -p $1/slaves && echo $2 >$1/dev && "
		"ln -s ../../devices/$1 ../dev/block/$2; } && "
		"add a/block/sda 8:0 && add a/block/sda/sda1 8:1 && add a/block/sda/sda2 8:2 && "
		"echo 1 >a/block/sda/sda1/partition && echo 2 >a/block/sda/sda2/partition && "
		"add b/block/sdb 8:16 && add c/block/sdc 8:32 && add v/block/md0 9:0 && "
		"add v/block/dm-0 252:0 && add v/block/dm-7 252:7 && cd v/block && "
		"ln -s ../../../../a/block/sda/sda1 md0/slaves/sda1 && "
		"ln -s ../../../../b/block/sdb md0/slaves/sdb && "
		"ln -s ../../md0 dm-0/slaves/md0 && ln -s ../../dm-7 dm-7/slaves/dm-7");
	options.root_fd = open(c.folder, O_RDONLY | O_DIRECTORY);
	T_EQ_I(tg_sampler_new(&s, &options, NULL), 0);
	close(options.root_fd);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	/* disks of an array come in any order */
	T_OK(strstr(notes.data, "sda has '/' '/boot'\n") != NULL);
	T_OK(strstr(notes.data, "sdb has '/'\n") != NULL);
	T_OK(strstr(notes.data, "sdc has '/my data'\n") != NULL);
	T_EQ_I(notes.len, strlen("sda has '/' '/boot'\nsdb has '/'\nsdc has '/my data'\n"));
	tg_buf_clear(&notes);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(notes.len, 0); /* once */
	tg_sampler_free(s);
	tg_buf_release(&notes);
	copy_remove(&c);
}

/* pitfall 26: wherever the version has them; a sum over two mounts of one file system */
static void test_lustre(const char *where)
{
	struct copy c = copy_of("cluster");
	struct tg_sampler *s;
	struct tg_reading r;
	char command[200];

	snprintf(command, sizeof(command),
		"mkdir -p %s && { [ %s = sys/kernel/debug ] || mv sys/kernel/debug/lustre %s; }",
		where, where, where);
	run(&c, command);
	s = sampler_at(c.folder, 600);
	T_EQ_S(said(s, "lustre"), "+");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("lustre.read_bytes", "scratch", 2101248 + 100);
	VALUE("lustre.read_ops", "scratch", 3 + 1);
	VALUE("lustre.write_bytes", "scratch", 66048);
	VALUE("lustre.write_ops", "scratch", 2);
	VALUE("lustre.open_ops", "scratch", 7);
	VALUE("lustre.close_ops", "scratch", 6);
	VALUE("lustre.getattr_ops", "scratch", 41);
	VALUE("lustre.readdir_ops", "scratch", 5);
	VALUE("lustre.unlink_ops", "scratch", 1);
	/* what is not listed has not happened, or a first write would have no base */
	VALUE("lustre.fsync_ops", "scratch", 0);
	/* before 2.13: no sums of squares, no times of calls */
	VALUE("lustre.read_bytes", "work-1", 70);
	VALUE("lustre.open_ops", "work-1", 5);
	VALUE("lustre.write_bytes", "work-1", 0);
	tg_sampler_read(s, 0, &r);
	MISSING("lustre.read_bytes", "scratch");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 24: cleared statistics are shown as they are; a mount that is gone is missing */
static void test_lustre_changes(void)
{
	struct copy c = copy_of("cluster");
	struct tg_sampler *s = sampler_at(c.folder, 600);
	static const char cleared[] = "snapshot_time 1650000001.5 secs.nsecs\n";
	struct tg_reading r;

	put_file(&c, "sys/kernel/debug/lustre/llite/work-1-ffff8881a2b3f000/stats", cleared,
		strlen(cleared));
	run(&c, "rm -r sys/kernel/debug/lustre/llite/scratch-ffff8881a2b3d800");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("lustre.read_bytes", "work-1", 0);
	VALUE("lustre.read_bytes", "scratch", 2101248);
	put_file(&c, "sys/kernel/debug/lustre/llite/work-1-ffff8881a2b3f000/stats", "", 0);
	run(&c, "rm -r sys/kernel/debug/lustre/llite/scratch-ffff8881a2b3c000");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	MISSING("lustre.read_bytes", "work-1");
	MISSING("lustre.read_bytes", "scratch");
	tg_sampler_free(s);
	s = sampler_at(c.folder, 600);
	T_EQ_S(said(s, "lustre"), "+no Lustre mount now");
	tg_sampler_free(s);
	run(&c, "mkdir -p sys/fs/lustre && rm -r sys/kernel");
	s = sampler_at(c.folder, 600);
	T_EQ_S(said(s, "lustre"), "+no Lustre mount now");
	tg_sampler_free(s);
	run(&c, "rm -r sys/fs");
	s = sampler_at(c.folder, 600);
	T_EQ_S(said(s, "lustre"), "Lustre is not loaded");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 28, report 24: words of four octets, whatever the lanes; only ports that are up */
static void test_infiniband(void)
{
	struct copy c = copy_of("cluster");
	struct tg_sampler *s = sampler_at(c.folder, 600);
	struct tg_reading r;
	char names[128];

	T_EQ_S(said(s, "infiniband"), "+");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	VALUE("infiniband.rx_bytes", "mlx5_0/1", INT64_C(100000000000000));
	VALUE("infiniband.tx_bytes", "mlx5_0/1", INT64_C(50000000000));
	VALUE("infiniband.rx_packets", "mlx5_0/1", 1000);
	VALUE("infiniband.tx_packets", "mlx5_0/1", 2000);
	VALUE("infiniband.tx_wait", "mlx5_0/1", 77);
	/* 32 bits that have stopped at their end, and the 64 beside them */
	VALUE("infiniband.rx_bytes", "mlx4_0/2", INT64_C(4294967300) * 4);
	T_OK(!has_column(&r, "infiniband.tx_wait", "mlx4_0/2"));
	T_EQ_I(sum(&r, "infiniband.tx_packets", names, sizeof(names)), 4000);
	edit(&c, "sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE", "2: INIT");
	edit(&c, "sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN", "4: ACTIVE");
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	MISSING("infiniband.rx_bytes", "mlx5_0/1");
	VALUE("infiniband.rx_bytes", "mlx5_1/1", 20);
	tg_sampler_free(s);
	run(&c, "rm -r sys/class/infiniband/mlx5_1 sys/class/infiniband/mlx4_0");
	s = sampler_at(c.folder, 600);
	T_EQ_S(said(s, "infiniband"), "+no port is active now");
	tg_sampler_free(s);
	run(&c, "rm -r sys/class/infiniband");
	s = sampler_at(c.folder, 600);
	T_EQ_S(said(s, "infiniband"), "no InfiniBand or RoCE adapter");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 29, report 25: packages and nothing else are added up; where a counter begins anew, the
 * sum goes on */
static void test_energy(void)
{
	struct copy c = copy_of("cluster");
	struct tg_sampler *s = sampler_at(c.folder, 600);
	const int64_t range = INT64_C(262143328850);
	struct tg_reading r;

	T_EQ_S(said(s, "energy"), "+");
	tg_sampler_read(s, 0, &r);
	VALUE("energy.cpu_j", "", 300000000);
	VALUE("energy.zone_j", "package-0", 100000000);
	VALUE("energy.zone_j", "package-0 core", 60000000);
	VALUE("energy.zone_j", "package-0 dram", 9000000);
	VALUE("energy.zone_j", "package-1 dram", 8000000);
	VALUE("energy.zone_j", "psys", 900000000);
	T_EQ_I(count(&r, "energy."), 7);
	put_file(&c, "sys/class/powercap/intel-rapl:0/energy_uj", "262143000000\n", 13);
	tg_sampler_read(s, TG_READ_EDGE, &r);
	VALUE("energy.cpu_j", "", INT64_C(262343000000));
	for (int i = 1; i <= 3; i++) { /* as often as it likes */
		put_file(&c, "sys/class/powercap/intel-rapl:0/energy_uj", "50\n", 3);
		tg_sampler_read(s, 0, &r);
		VALUE("energy.zone_j", "package-0", i * range + 50);
		put_file(&c, "sys/class/powercap/intel-rapl:0/energy_uj", "70\n", 3);
		tg_sampler_read(s, 0, &r);
		VALUE("energy.cpu_j", "", i * range + 70 + 200000000);
		put_file(&c, "sys/class/powercap/intel-rapl:0/energy_uj", "262143000000\n", 13);
		tg_sampler_read(s, 0, &r);
	}
	/* it can't have used 262 kJ in a moment */
	put_file(&c, "sys/class/powercap/intel-rapl:0/energy_uj", "262142000000\n", 13);
	tg_sampler_read(s, 0, &r);
	VALUE("energy.zone_j", "package-0", 3 * range + INT64_C(262143000000));
	put_file(&c, "sys/class/powercap/intel-rapl:0/energy_uj", "90\n", 3);
	tg_sampler_read(s, 0, &r);
	VALUE("energy.zone_j", "package-0", 4 * range + 1000000 + 90);
	put_file(&c, "sys/class/powercap/intel-rapl:0/energy_uj", "80\n", 3);
	tg_sampler_read(s, 0, &r);
	VALUE("energy.zone_j", "package-0", 4 * range + 1000000 + 170);
	/* a package that cannot be read is not nothing */
	put_file(&c, "sys/class/powercap/intel-rapl:1/energy_uj", "", 0);
	tg_sampler_read(s, 0, &r);
	MISSING("energy.cpu_j", "");
	MISSING("energy.zone_j", "package-1");
	VALUE("energy.zone_j", "package-0", 4 * range + 1000000 + 170);
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfall 29: in suspend many counters lose what they had, which is no round of their range */
static void test_energy_gain(void)
{
	const int64_t s = TG_NS_PER_S, range = INT64_C(65532610987);
	const struct tg_energy_at last = { INT64_C(65000000000), 10 * s, 10 * s };
	struct tg_energy_at now = { 5000000, 40 * s, 40 * s };

	T_EQ_I(tg_energy_gain(&last, &now, range), INT64_C(537610987));
	now.boot_ns += 3600 * s;
	T_EQ_I(tg_energy_gain(&last, &now, range), 5000000);
	now.uj = INT64_C(65000000007); /* it went on */
	T_EQ_I(tg_energy_gain(&last, &now, range), 7);
	/* 65 kJ in a second is too much, and so is what is left of it when it steps back a bit */
	now = (struct tg_energy_at){ 5000000, 11 * s, 11 * s };
	T_EQ_I(tg_energy_gain(&last, &now, INT64_C(262143328850)), 5000000);
	now.uj = INT64_C(64999999990);
	T_EQ_I(tg_energy_gain(&last, &now, range), 0);
	/* one without a range; one that is beyond what it should be */
	now.uj = 8;
	T_EQ_I(tg_energy_gain(&last, &now, 0), 8);
	T_EQ_I(tg_energy_gain(&last, &now, 1000), 8);
	now.uj = INT64_MAX;
	T_EQ_I(tg_energy_gain(&(struct tg_energy_at){ .uj = -1 }, &now, range), INT64_MAX);
}

static void test_energy_of_amd(void)
{
	struct copy c = copy_of("cluster");
	struct tg_sampler *s;
	struct tg_reading r;

	run(&c, "rm -r sys/class/powercap/*; cd sys/class; mkdir -p hwmon/hwmon0 hwmon/hwmon3; "
		"echo nvme >hwmon/hwmon0/name; echo 7 >hwmon/hwmon0/energy1_input; "
		"echo Esocket9 >hwmon/hwmon0/energy1_label; cd hwmon/hwmon3; "
		"echo amd_energy >name; echo Ecore000 >energy1_label; echo 5 >energy1_input; "
		"echo Esocket0 >energy65_label; echo 1000 >energy65_input; "
		"echo Esocket1 >energy66_label; echo 2000 >energy66_input");
	s = sampler_at(c.folder, 600);
	T_EQ_S(said(s, "energy"), "+");
	tg_sampler_read(s, 0, &r);
	VALUE("energy.cpu_j", "", 3000);
	VALUE("energy.zone_j", "socket-1", 2000);
	T_EQ_I(count(&r, "energy."), 3);
	tg_sampler_free(s);
	run(&c, "rm -r sys/class/hwmon");
	s = sampler_at(c.folder, 600);
	T_EQ_S(said(s, "energy"), "no energy counter: neither RAPL (powercap) nor amd_energy");
	tg_sampler_free(s);
	copy_remove(&c);
}

/* pitfalls 12 and 29: what only root may read is denied, and said so. */
static void test_denied(const char *shut, const char *source, const char *want)
{
	struct copy c = copy_of("cluster");
	struct tg_sampler *s;
	struct tg_reading r;
	char command[200];
	bool root = geteuid() == 0;

	snprintf(command, sizeof(command),
		"mkdir -p sys/fs/lustre && chmod -R a+rX . && chmod 0 %s", shut);
	run(&c, command);
	if (root)
		T_EQ_I(seteuid(65534), 0);
	s = sampler_at(c.folder, 600);
	T_EQ_S(said(s, source), want);
	tg_sampler_read(s, TG_READ_REFRESH, &r);
	T_EQ_I(count(&r, source), 0);
	tg_sampler_free(s);
	if (root)
		T_EQ_I(seteuid(0), 0);
	snprintf(command, sizeof(command), "chmod 755 %s", shut);
	run(&c, command);
	copy_remove(&c);
}

/* Names of mount points are bytes that somebody chose. */
static void test_names(void)
{
	static const char *const want[][2] = {
		{ "/home", "/home" },
		{ "/a\nb\377c\xc3\xa9", "/a?b?c\xc3\xa9" },
		{ "/0123456789abcd", "/0123456789abcd" },
		{ "/0123456789abcde", "\xe2\x80\xa6"
				      "3456789abcde" },
		{ "/0123\xc3\xa9 789abcdefg", "\xe2\x80\xa6"
					      " 789abcdefg" },
		{ "", "" },
	};
	char name[16];

	for (size_t i = 0; i < TG_ARRAY_SIZE(want); i++) {
		tg_name_of(name, sizeof(name), want[i][0]);
		T_EQ_S(name, want[i][1]);
	}
}

int main(void)
{
	test_nfs();
	test_mounts();
	test_nfs_comes_and_goes();
	test_lustre("sys/kernel/debug");
	test_lustre("proc/fs");
	test_lustre("sys/fs");
	test_lustre_changes();
	test_infiniband();
	test_energy();
	test_energy_gain();
	test_energy_of_amd();
	test_denied("sys/class/powercap/intel-rapl*/energy_uj", "energy",
		"denied: energy_uj below /sys/class/powercap is root's to read");
	test_denied("sys/kernel/debug", "lustre",
		"denied: its statistics are root's (/sys/kernel/debug)");
	test_denied("proc/600/mountstats", "nfs", "/proc/PID/mountstats: Permission denied");
	test_names();
	test_truncated("cluster", 600, "proc/600/mountstats");
	test_truncated("cluster", 600, "proc/600/mountinfo");
	test_truncated(
		"cluster", 600, "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data");
	test_truncated("cluster", 600, "sys/class/infiniband/mlx5_0/ports/1/state");
	test_truncated("cluster", 600, "sys/class/powercap/intel-rapl:1/energy_uj");
	return t_done();
}
