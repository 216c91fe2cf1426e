/* SPDX-License-Identifier: BSD-3-Clause */
/* sar's recordings as sadf -j writes them. */
#include "import_kit.h"

#include "analyze/series.h"

#include "base/mem.h"

static const struct tg_import_options options = { .zone = BERLIN };

/* Its last value, in its unit; how many there are in *n. */
static double last(
	const struct tg_recording *r, const char *metric, const char *instance, size_t *n)
{
	struct tg_points p = { 0 };
	double v = NAN;

	*n = 0;
	if (tg_series_load(r, metric, instance, 0, INT64_MAX, 0, &p) == 0 && p.n) {
		*n = p.n;
		v = (double)p.point[p.n - 1].value * pow(10, p.scale);
	}
	tg_points_release(&p);
	return v;
}

static void expect(const struct tg_recording *r, const char *metric, const char *instance,
	double value, size_t points)
{
	size_t n;
	double v = last(r, metric, instance, &n);

	if (!T_OK(fabs(v - value) <= 1e-9 * fabs(value)) || !T_OK(n == points))
		fprintf(stderr, "# %s %s: %.12g of %zu, want %.12g\n", metric,
			instance ? instance : "", v, n, value);
}

/* Of a real one, by hand: three samples of a second, and where the first interval begins. */
static void test_real(void)
{
	struct tg_import *im = kit_load("awkward/sadf-12.6.1.json", &options);
	struct tg_recording *r;
	size_t n;

	T_EQ_S(im->log[0]->format->tool, "sadf");
	T_EQ_S(im->log[0]->host, "node1");
	T_EQ_I(im->log[0]->cpus, 2);
	T_EQ_I(im->log[0]->n_samples, 3);
	T_EQ_I(im->log[0]->n_skipped + im->log[0]->n_notes, 0);
	T_NEAR(kit_number(im, "sadf|cpu-user|max"), 46.7, 1e-9);
	T_NEAR(kit_number(im, "sadf|memused|min"), 478140, 0);
	r = kit_recording(im, "log", NULL);
	/* "utc": 1, whatever zone was asked for: 2026-12-03 17:43:56 */
	T_EQ_I(r->span[0].begin_utc_ns, INT64_C(1796319836) * TG_NS_PER_S);
	T_EQ_I(r->span[0].end_utc_ns, INT64_C(1796319839) * TG_NS_PER_S);
	expect(r, "node.cpu_user_ns", NULL, (0.465 + 0.467 + 0.4627) * 2e9, 4);
	expect(r, "core.busy_ns", "cpu0", 3e9, 4);
	expect(r, "disk.write_bytes", "vda", 73684 * 1024.0, 4);
	expect(r, "disk.busy_ns", "vda", 0.128e9, 4);
	expect(r, "sadf.disk_await_ms", "vda", 0, 3);
	expect(r, "psi.io_some_ns", NULL, 0.0177e9, 4);
	expect(r, "sadf.mem_used_bytes", NULL, 492896 * 1024.0, 3);
	expect(r, "sadf.load_1m", NULL, 1.27, 3);
	expect(r, "net.rx_bytes", "eth0", 0, 4);
	T_OK(isnan(last(r, "net.rx_bytes", "lo", &n)));
	tg_recording_close(r);
	tg_import_free(im);
}

#define STAT(time, rest)                                                                           \
	"{\"timestamp\": {\"date\": \"2026-07-01\", \"time\": \"" time "\", \"utc\": 0, "          \
	"\"interval\": 60}" rest "}"
#define HOST(name, samples)                                                                        \
	"{\"nodename\": \"" name "\", \"number-of-cpus\": 4, \"file-date\": \"2026-07-01\", "      \
	"\"statistics\": [" samples "], \"restarts\": [{\"boot\": {\"time\": \"x\"}}]}"

/* In the zone of the machine, with the names of -u and old sector counts, and of two hosts. */
static void test_old(void)
{
	static const char text[] = "{\"sysstat\": {\"hosts\": [" HOST(
		"a", STAT("12:00:00", ", \"cpu-load\": [{\"cpu\": \"all\", \"user\": 25.00, "
				      "\"nice\": 0.00, \"system\": 5.00, \"iowait\": 1.00, "
				      "\"steal\": 0.00, \"idle\": 69.00}], \"disk\": "
				      "[{\"disk-device\": \"sda\", \"tps\": 2.00, \"rd_sec\": "
				      "4.00, \"wr_sec\": 8.00}]") ", " STAT("12:01:00",
			     ", \"cpu-load\": [{\"cpu\": \"all\", \"user\": 50.00, "
			     "\"nice\": 0.00, \"system\": 0.00, \"iowait\": 0.00, "
			     "\"steal\": 0.00, \"idle\": 50.00}], \"disk\": []")) ", " HOST("b",
		STAT("13:00:00", "")) "]}}\n";
	struct tg_import *im = kit_text(text, &options);
	struct tg_recording *r;

	T_EQ_S(im->log[0]->host, "a");
	T_EQ_I(im->log[0]->n_samples, 2);
	T_EQ_I(im->log[0]->n_notes, 1);
	T_EQ_S(im->log[0]->note[0], "it has several hosts, of which the first was read");
	r = kit_recording(im, "log", NULL);
	/* 12:01 of summer time in Berlin */
	T_EQ_I(r->span[0].end_utc_ns, INT64_C(1782900060) * TG_NS_PER_S);
	expect(r, "node.cpu_busy_ns", NULL, (0.30 + 0.50) * 4 * 60e9, 3);
	expect(r, "disk.read_bytes", "sda", 4 * 512 * 60.0, 2);
	expect(r, "disk.write_bytes", "sda", 8 * 512 * 60.0, 2);
	tg_recording_close(r);
	tg_import_free(im);
}

/* One that was killed ends anywhere: whole samples are kept, and nothing of the last. */
static void test_cut(void)
{
	struct tg_buf path = TG_BUF_INIT, all;

	tg_buf_addf(&path, "%s/fixtures/pipeline-logs/awkward/sadf-12.6.1.json", t_dir());
	all = kit_slurp(path.data);
	for (size_t len = 400; len < all.len; len += 37) {
		struct tg_import *im = kit_new(&options);

		T_EQ_I(tg_import_add_bytes(im, "log", all.data, len, NULL), 0);
		tg_import_settle(im);
		T_OK(im->log[0]->n_samples <= 3);
		for (size_t i = 0; i < im->log[0]->n_parts; i++)
			T_OK(im->log[0]->part[i].grid.n_ticks == im->log[0]->n_samples);
		T_OK(len + 4 > all.len || im->log[0]->n_notes == 1);
		tg_import_free(im);
	}
	tg_buf_release(&path);
	tg_buf_release(&all);
}

int main(void)
{
	test_real();
	test_old();
	test_cut();
	return t_done();
}
