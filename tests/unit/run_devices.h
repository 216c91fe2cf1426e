/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording of a machine with a bit of everything: one cell of eight seconds, ten rows a second,
 * of which one has what is read slowly. All numbers are whole, so that any machine draws the same.
 */
#ifndef TG_TESTS_RUN_DEVICES_H
#define TG_TESTS_RUN_DEVICES_H

#include "run.h"

#include "base/mem.h"

/* A column, and what its metric does in each second: so much more of a counter, or the value. */
struct device_column {
	struct tg_metric metric;
	const char *instance;
	bool slow; /* once a second */
	int64_t second[8];
};

#define DEVICE_COUNTER(name, scale)                                                                \
	{                                                                                          \
		name, "unit", TG_COUNTER, TG_SCOPE_NODE, scale, NULL                               \
	}
#define DEVICE_GAUGE(name, scale)                                                                  \
	{                                                                                          \
		name, "unit", TG_GAUGE, TG_SCOPE_NODE, scale, NULL                                 \
	}
#define MB INT64_C(1000000)

static const struct device_column device_columns[] = {
	{ DEVICE_COUNTER("tree.cpu_ns", 0), "", false,
		{ 900 * MB, 950 * MB, 2400 * MB, 2800 * MB, 2700 * MB, 1000 * MB, 900 * MB,
			400 * MB } },
	{ DEVICE_COUNTER("tree.cpu_unattributed_ns", 0), "", true,
		{ 0, 0, 600 * MB, 900 * MB, 700 * MB, 0, 0, 0 } },
	{ DEVICE_COUNTER("root.runqueue_ns", 0), "", false,
		{ 0, 10 * MB, 150 * MB, 300 * MB, 250 * MB, 20 * MB, 0, 0 } },
	{ DEVICE_COUNTER("tree.minor_faults", 0), "", false,
		{ 40000, 30000, 2000, 1000, 1000, 500, 0, 0 } },
	{ DEVICE_COUNTER("tree.major_faults", 0), "", false, { 20, 300, 10, 0, 0, 0, 0, 0 } },
	{ DEVICE_COUNTER("disk.read_bytes", 0), "nvme0n1", false,
		{ 300 * MB, 500 * MB, 100 * MB, 0, 0, 0, 0, 0 } },
	{ DEVICE_COUNTER("disk.write_bytes", 0), "nvme0n1", false,
		{ 0, 0, 0, 0, 0, 200 * MB, 700 * MB, 0 } },
	{ DEVICE_COUNTER("disk.read_bytes", 0), "sdc", false, { 0, 50 * MB, 0, 0, 0, 0, 0, 0 } },
	{ DEVICE_COUNTER("disk.read_bytes", 0), "vda", false, { 0, 0, 20 * MB, 0, 0, 0, 0, 0 } },
	{ DEVICE_COUNTER("disk.write_bytes", 0), "vda", false, { 0 } },
	{ DEVICE_COUNTER("nfs.wire_read_bytes", 0), "/home", true,
		{ 40 * MB, 80 * MB, 60 * MB, 0, 0, 0, 0, 0 } },
	{ DEVICE_COUNTER("nfs.wire_read_bytes", 0), "/scratch", true,
		{ 0, 0, 0, 20 * MB, 0, 0, 0, 0 } },
	{ DEVICE_COUNTER("nfs.wire_read_bytes", 0), "/idle", true, { 0 } },
	{ DEVICE_COUNTER("nfs.wire_write_bytes", 0), "/home", true,
		{ 0, 0, 0, 0, 0, 30 * MB, 45 * MB, 0 } },
	{ DEVICE_COUNTER("nfs.wire_write_bytes", 0), "/scratch", true, { 0 } },
	{ DEVICE_COUNTER("nfs.wire_write_bytes", 0), "/idle", true, { 0 } },
	{ DEVICE_COUNTER("nfs.ops", 0), "/home", true, { 40, 80, 60, 0, 0, 30, 45, 0 } },
	{ DEVICE_COUNTER("nfs.ops", 0), "/idle", true, { 0 } },
	{ DEVICE_COUNTER("nfs.rtt_ns", 0), "/home", true,
		{ 80 * MB, 240 * MB, 1200 * MB, 0, 0, 60 * MB, 90 * MB, 0 } },
	{ DEVICE_COUNTER("nfs.rtt_ns", 0), "/idle", true, { 0 } },
	{ DEVICE_COUNTER("lustre.read_bytes", 0), "work", true,
		{ 0, 0, 900 * MB, 1200 * MB, 1000 * MB, 0, 0, 0 } },
	{ DEVICE_COUNTER("lustre.write_bytes", 0), "work", true,
		{ 0, 0, 0, 0, 0, 200 * MB, 700 * MB, 0 } },
	{ DEVICE_COUNTER("infiniband.rx_bytes", 0), "mlx5_0/1", true,
		{ 41 * MB, 82 * MB, 970 * MB, 1240 * MB, 1010 * MB, 1 * MB, 2 * MB, 0 } },
	{ DEVICE_COUNTER("infiniband.tx_bytes", 0), "mlx5_0/1", true,
		{ 1 * MB, 2 * MB, 12 * MB, 15 * MB, 11 * MB, 230 * MB, 750 * MB, 0 } },
	{ DEVICE_COUNTER("energy.cpu_j", -6), "", false,
		{ 60 * MB, 62 * MB, 110 * MB, 128 * MB, 121 * MB, 70 * MB, 64 * MB, 48 * MB } },
	{ DEVICE_GAUGE("gpu.power_w", -3), "GPU0", false,
		{ 45000, 45000, 210000, 290000, 280000, 60000, 46000, 45000 } },
	{ DEVICE_GAUGE("gpu.util_pct", 0), "GPU0", false, { 0, 0, 70, 96, 90, 5, 0, 0 } },
};

#define DEVICE_COLUMNS TG_ARRAY_SIZE(device_columns)

static inline void devices_write(const char *path)
{
	struct tg_column column[DEVICE_COLUMNS] = { 0 };
	struct tg_block *b = tg_block_new(1, DEVICE_COLUMNS, 128);
	struct tg_err err = { 0 };
	struct tg_writer *w;

	unlink(path);
	if (tg_writer_open(&w, path, RUN_SESSION, &err) < 0) {
		fprintf(stderr, "# %s\n", err.text);
		exit(1);
	}
	run_event(w, "{\"ev\":\"limit\",\"t\":1000000000000,\"what\":\"cores\",\"value\":4,"
		     "\"why\":\"affinity\",\"cpus\":\"0-3\"}");
	/* one that was mounted elsewhere later; of sdc nothing is known, as of old */
	run_event(
		w, "{\"ev\":\"disk\",\"t\":1000000000000,\"name\":\"vda\",\"mounts\":[\"/old\"]}");
	run_event(w, "{\"ev\":\"disk\",\"t\":1000000000001,\"name\":\"vda\",\"mounts\":[\"/\"]}");
	run_event(w, "{\"ev\":\"disk\",\"t\":1000000000001,\"name\":\"nvme0n1\","
		     "\"mounts\":[\"/scratch\",\"/data\",\"/srv/a_folder_with_a_long_name\"]}");
	for (size_t i = 0; i < DEVICE_COLUMNS; i++) {
		column[i].metric = &device_columns[i].metric;
		snprintf(column[i].instance, sizeof(column[i].instance), "%s",
			device_columns[i].instance);
	}
	tg_writer_table(w, 1, "main", column, DEVICE_COLUMNS);
	run_begin(w, 1, 0, "\"count\":1,\"code\":\"train(load())\"");
	for (int tick = 0; tick <= 80; tick++) {
		int64_t row[DEVICE_COLUMNS];

		for (size_t i = 0; i < DEVICE_COLUMNS; i++) {
			const struct device_column *d = &device_columns[i];
			int s = TG_MIN(tick / 10, 7);

			row[i] = 1000 + d->second[s] * (tick - s * 10) / 10;
			for (int k = 0; k < s; k++)
				row[i] += d->second[k];
			if (d->metric.kind == TG_GAUGE)
				row[i] = d->second[s];
			if (d->slow && tick % 10)
				row[i] = TG_MISSING;
		}
		tg_block_add(b, RUN_T0 + tick * 100 * TG_NS_PER_MS, row);
	}
	tg_writer_block(w, b);
	tg_block_free(b);
	run_end(w, 1, 8, "ok");
	tg_writer_finish(w);
}

#endif
