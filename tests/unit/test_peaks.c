/* SPDX-License-Identifier: BSD-3-Clause */
/* Which peak of resident memory rose in a span, and who lived then, on lists made by hand. */
#include "tap.h"

#include "analyze/peaks.h"
#include "record/format.h"

#include "base/mem.h"

/* Processes 1, 2 and 3; `before` is the place of the process' one before, from 1. */
static struct tg_peak peak[] = {
	{ 10, 500, 1, 0 },
	{ 20, 900, 2, 0 },
	{ 30, 600, 1, 1 },
	{ 40, 700, 1, 3 },
	{ 50, 100, 3, 0 },
	{ 60, 300, 1, 4 }, /* another program in the same process */
	{ 70, 650, 1, 6 },
};

static int64_t risen(struct tg_recording *r, bool full, int64_t from_ns, int64_t to_ns)
{
	struct tg_peaks p = { .peak = peak, .n = TG_ARRAY_SIZE(peak), .full = full };
	struct tg_span span = { .session = 1, .begin_ns = from_ns, .end_ns = to_ns };
	int64_t best = tg_peaks_risen(r, &p, 1, &span, (int64_t[]){ from_ns, to_ns });

	free(p.scratch);
	return best;
}

static void test_risen(void)
{
	struct tg_recording r = { 0 };

	T_EQ_I(risen(&r, false, 0, 9), TG_MISSING);
	T_EQ_I(risen(&r, false, 0, 100), 900);
	T_EQ_I(risen(&r, false, 10, 19),
		TG_MISSING); /* what was told at the first row is not new */
	T_EQ_I(risen(&r, false, 20, 39), 600);
	T_EQ_I(risen(&r, false, 20, 55), 700);
	T_EQ_I(risen(&r, false, 40, 55), 100);
	T_EQ_I(risen(&r, false, 55, 65), TG_MISSING); /* it fell */
	T_EQ_I(risen(&r, false, 60, 70), 650); /* risen from 300 */
	T_EQ_I(risen(&r, false, 30, 70), 700);
	T_EQ_I(risen(&r, false, 45, 70), 100); /* 650 is less than the 700 it had */
	/* where the list is cut, nobody knows what came behind it */
	T_EQ_I(risen(&r, true, 20, 55), 700);
	T_EQ_I(risen(&r, true, 20, 70), TG_MISSING);
	T_EQ_I(risen(&r, true, 80, 90), TG_MISSING);
}

/* One that came after the end, though before the row that stands for it, is another span's. */
static void test_lived(void)
{
	struct tg_life life[] = { { .session = 1, .entity = 2, .birth_ns = 21, .death_ns = 90 },
		{ .session = 1, .entity = 3, .birth_ns = 42, .death_ns = 52 } };
	int64_t birth[] = { 5, 21, 42 }, death[] = { 52, 90, INT64_MAX };
	struct tg_peaks p = { .birth = birth, .death = death, .n_lives = 3 };
	struct tg_recording r = { .life = life, .n_lives = 2 };

	tg_map_put(&r.life_at, UINT64_C(1) << 32 | 2, 0);
	tg_map_put(&r.life_at, UINT64_C(1) << 32 | 3, 1);
	T_EQ_I(risen(&r, false, 0, 20), 500);
	T_EQ_I(risen(&r, false, 0, 21), 900);
	T_EQ_I(risen(&r, false, 45, 58), 100);
	T_EQ_I(tg_peaks_lived(&p, 0, 4), 0);
	T_EQ_I(tg_peaks_lived(&p, 0, 5), 1);
	T_EQ_I(tg_peaks_lived(&p, 30, 41), 2);
	T_EQ_I(tg_peaks_lived(&p, 30, 42), 3);
	T_EQ_I(tg_peaks_lived(&p, 52, 60), 3);
	T_EQ_I(tg_peaks_lived(&p, 53, 60), 2);
	T_EQ_I(tg_peaks_lived(&p, 91, 99), 1);
	tg_map_release(&r.life_at);
}

int main(void)
{
	test_risen();
	test_lived();
	return t_done();
}
