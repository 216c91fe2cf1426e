/* SPDX-License-Identifier: BSD-3-Clause */
/* pidstat's logs in the forms of its versions and options, and what becomes of them. */
#include "import_kit.h"

#include "analyze/lives.h"
#include "analyze/series.h"
#include "analyze/totals.h"

#include "base/mem.h"

#define HEAD "Linux 6.1.0 (node-7.x) \t12/01/26 \t_x86_64_\t(8 CPU)\n\n"
#define DAY  INT64_C(1796083200) /* 2026-12-01 00:00:00 UTC */

static const struct tg_import_options options = { .match = "work", .zone = "UTC" };

static struct tg_import *log_of(const char *text, uint64_t samples, uint64_t skipped)
{
	struct tg_import *im = kit_text(text, &options);

	T_EQ_I(im->n, 1);
	T_EQ_S(im->log[0]->format->tool, "pidstat");
	T_EQ_I(im->log[0]->n_samples, samples);
	T_EQ_I(im->log[0]->n_skipped, skipped);
	return im;
}

static const struct tg_life_use *use_of(
	const struct tg_recording *r, const struct tg_life_use *use, int64_t pid)
{
	size_t i = 0;

	while (i < r->n_lives && r->life[i].pid != pid)
		i++;
	T_OK(i < r->n_lives);
	return &use[i < r->n_lives ? i : 0];
}

/*
 * Two sections a second. work 10 has a core, then nothing for a second, then half a core; it reads
 * 2048 kB and writes nothing. work 11 has 50 MiB, of which the second tick does not tell, and 25 %.
 */
static const char sections[] =
	HEAD "10:00:00      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
	     "10:00:01        0        10   99.00    1.00    0.00    0.00  100.00     1  work\n"
	     "10:00:01        0        11   20.00    5.00    0.00    0.00   25.00     1  work\n"
	     "10:00:01        0        12   50.00    0.00    0.00    0.00   50.00     1  other\n"
	     "\n"
	     "10:00:00      UID       PID  minflt/s  majflt/s     VSZ     RSS   %MEM  Command\n"
	     "10:00:01        0        10    100.00      0.00  204800  102400   1.00  work\n"
	     "10:00:01        0        11     10.00      0.00  102400   51200   0.50  work\n"
	     "\n"
	     "10:00:00      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n"
	     "10:00:01        0        10   2048.00      0.00      0.00       0  work\n"
	     "\n"
	     "10:00:01      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
	     "10:00:02        0        11   25.00    0.00    0.00    0.00   25.00     1  work\n"
	     "\n"
	     "10:00:02      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
	     "10:00:03        0        10   50.00    0.00    0.00    0.00   50.00     1  work\n"
	     "10:00:03        0        11   25.00    0.00    0.00    0.00   25.00     1  work\n"
	     "\n"
	     "Average:      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
	     "Average:        0        10   75.00    0.00    0.00    0.00   75.00     -  work\n";

static void test_sections(void)
{
	struct tg_import *im = log_of(sections, 3, 0);
	struct tg_recording *r;
	struct tg_life_use *use;
	struct tg_totals t;

	T_EQ_S(im->log[0]->host, "node-7.x");
	T_EQ_I(im->log[0]->cpus, 8);
	T_NEAR(kit_number(im, "pidstat|cpu_pct|max"), 125, 1e-9);
	T_NEAR(kit_number(im, "pidstat|cpu_pct|min"), 25, 1e-9);
	T_NEAR(kit_number(im, "pidstat|res_mib|min"), 150, 1e-9);
	r = kit_recording(im, "log", NULL);
	T_EQ_I(r->span[0].begin_utc_ns, (DAY + 36000) * TG_NS_PER_S); /* the heads' own time */
	T_EQ_I(r->span[0].end_utc_ns, (DAY + 36003) * TG_NS_PER_S);
	T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
	T_NEAR(t.cpu_s, 1 + 0.25 + 0.25 + 0.5 + 0.25, 1e-6);
	T_NEAR(t.rss_peak_bytes, 150 * 1048576.0, 0);
	T_NEAR(t.vms_peak_bytes, 300 * 1048576.0, 0);
	T_NEAR(t.read_bytes, 2048 * 1024.0, 0);
	T_NEAR(t.write_bytes, 0, 0);
	T_EQ_I(tg_lives_use(r, &use), 0);
	T_EQ_I(use_of(r, use, 10)->cpu_ns, 1500000000);
	T_EQ_I(use_of(r, use, 10)->read_bytes, 2097152);
	T_EQ_I(use_of(r, use, 12)->cpu_ns, 500000000);
	T_EQ_I(use_of(r, use, 11)->rss_peak_bytes, 50 * 1048576);
	free(use);
	tg_recording_close(r);
	tg_import_free(im);
}

/* The same second in the forms of versions and options: 1.5 cores by two processes. */
static void test_forms(void)
{
	static const char *const text[] = {
		/* all on a line, seconds since 1970 */
		HEAD "# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU  "
		     "minflt/s  majflt/s     VSZ     RSS   %MEM  Command\n"
		     "1796119200        0        10   98.00    2.00    0.00    0.00  100.00     0"
		     "      0.00      0.00  204800  102400   1.00  work --long -x\n"
		     "1796119200        0        11   50.00    0.00    0.00    0.00   50.00     0"
		     "      0.00      0.00  102400   51200   0.50  work\n"
		     "1796119201        0        10   98.00    2.00    0.00    0.00  100.00     0"
		     "      0.00      0.00  204800  102400   1.00  work --long -x\n"
		     "1796119201        0        11   50.00    0.00    0.00    0.00   50.00     0"
		     "      0.00      0.00  102400   51200   0.50  work\n",
		/* the same of old versions, with user names and no %wait */
		HEAD "#      Time      USER       PID    %usr %system  %guest    %CPU   CPU  "
		     "minflt/s  majflt/s     VSZ    RSS   %MEM  Command\n"
		     " 1796119200      root        10   98.00    2.00    0.00  100.00     0"
		     "      0.00      0.00  204800 102400   1.00  work\n"
		     " 1796119200      root        11   50.00    0.00    0.00   50.00     0"
		     "      0.00      0.00  102400  51200   0.50  work\n"
		     "\n"
		     "#      Time      USER       PID    %usr %system  %guest    %CPU   CPU  "
		     "minflt/s  majflt/s     VSZ    RSS   %MEM  Command\n"
		     " 1796119201      root        10   98.00    2.00    0.00  100.00     0"
		     "      0.00      0.00  204800 102400   1.00  work\n"
		     " 1796119201      root        11   50.00    0.00    0.00   50.00     0"
		     "      0.00      0.00  102400  51200   0.50  work\n",
		/* a clock of twelve hours, and across midnight */
		"Linux 6.1.0 (host) \t11/30/2026 \t_x86_64_\t(8 CPU)\n\n"
		"11:59:58 PM      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  "
		"Command\n"
		"11:59:59 PM        0        10   99.00    1.00    0.00    0.00  100.00     1  "
		"work\n"
		"11:59:59 PM        0        11   50.00    0.00    0.00    0.00   50.00     1  "
		"work\n"
		"\n"
		"11:59:59 PM      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  "
		"Command\n"
		"12:00:00 AM        0        10   99.00    1.00    0.00    0.00  100.00     1  "
		"work\n"
		"12:00:00 AM        0        11   50.00    0.00    0.00    0.00   50.00     1  "
		"work\n",
		/* decimal commas, another order of the date, translated averages, -I: of all cores
		 */
		"Linux 6.1.0 (host) \t01.12.2026 \t_x86_64_\t(8 CPU)\n\n"
		"10:00:00      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  "
		"Command\n"
		"10:00:01        0        10   99,00    1,00    0,00    0,00   12,50     1  work\n"
		"10:00:01        0        11   50,00    0,00    0,00    0,00    6,25     1  work\n"
		"\n"
		"10:00:01      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  "
		"Command\n"
		"10:00:02        0        10   99,00    1,00    0,00    0,00   12,50     1  work\n"
		"10:00:02        0        11   50,00    0,00    0,00    0,00    6,25     1  work\n"
		"\n"
		"Durchschn.:   UID       PID    %usr %system  %guest   %wait    %CPU   CPU  "
		"Command\n"
		"Durchschn.:     0        10   99,00    1,00    0,00    0,00   12,50     -  work\n",
		/* threads, whose lines do not count */
		HEAD "10:00:00      UID      TGID       TID    %usr %system  %guest   %wait    %CPU"
		     "   CPU  Command\n"
		     "10:00:01        0        10         -   99.00    1.00    0.00    0.00  100.00"
		     "     1  work\n"
		     "10:00:01        0         -        10   49.00    1.00    0.00    0.00   50.00"
		     "     1  |__work\n"
		     "10:00:01        0         -        13   50.00    0.00    0.00    0.00   50.00"
		     "     1  |__work\n"
		     "10:00:01        0        11         -   50.00    0.00    0.00    0.00   50.00"
		     "     1  work\n"
		     "\n"
		     "10:00:01      UID      TGID       TID    %usr %system  %guest   %wait    %CPU"
		     "   CPU  Command\n"
		     "10:00:02        0        10         -   99.00    1.00    0.00    0.00  100.00"
		     "     1  work\n"
		     "10:00:02        0        11         -   50.00    0.00    0.00    0.00   50.00"
		     "     1  work\n",
	};

	for (size_t i = 0; i < TG_ARRAY_SIZE(text); i++) {
		struct tg_import *im = log_of(text[i], 2, 0);
		struct tg_recording *r = kit_recording(im, "log", NULL);
		bool head_tells = strstr(text[i], "#") == NULL;
		struct tg_totals t;

		T_NEAR(kit_number(im, "pidstat|cpu_pct|min"), 150, 1e-9);
		T_NEAR(kit_number(im, "pidstat|cpu_pct|max"), 150, 1e-9);
		T_EQ_I(tg_totals_of(r, &r->span[0], &t), 0);
		T_NEAR(t.wall_s, head_tells ? 2 : 1, 1e-9);
		T_NEAR(t.cpu_s, 1.5 * t.wall_s, 1e-6);
		T_EQ_I(r->n_lives, 2);
		tg_recording_close(r);
		tg_import_free(im);
	}
}

/* What is cut, in the way, or none of it. */
static void test_damage(void)
{
	static const char *const odd[] = {
		"10:00:01        0        10   99.00\n", /* too few */
		"10:00:01        0        xx   99.00    1.00    0.00    0.00  100.00     1  work\n",
		"10:00:01        0       -10   99.00    1.00    0.00    0.00  100.00     1  work\n",
		"10:00:01        0 99999999999 99.00    1.00    0.00    0.00  100.00     1  work\n",
		"25:00:01        0        10   99.00    1.00    0.00    0.00  100.00     1  work\n",
		"Linux\n",
		"pidstat: something went wrong\n",
	};
	struct tg_buf text = TG_BUF_INIT;
	struct tg_import *im;

	for (size_t i = 0; i < TG_ARRAY_SIZE(odd); i++) {
		tg_buf_clear(&text);
		tg_buf_adds(&text, sections);
		tg_buf_adds(&text,
			"10:00:03  UID  PID  %usr %system  %guest  %wait  %CPU  CPU  Command\n");
		tg_buf_adds(&text, odd[i]);
		im = log_of(text.data, 3, 1);
		tg_import_free(im);
	}
	for (size_t len = 60; len < strlen(sections); len += 7) { /* any part of it */
		im = kit_new(&options);
		tg_import_add_bytes(im, "log", sections, len, NULL); /* it may be too short */
		tg_import_settle(im);
		for (size_t i = 0; i < im->n; i++)
			T_OK(im->log[i]->n_samples <= 3 && im->log[i]->n_skipped == 0);
		tg_import_free(im);
	}
	tg_buf_release(&text);
}

int main(void)
{
	test_sections();
	test_forms();
	test_damage();
	return t_done();
}
