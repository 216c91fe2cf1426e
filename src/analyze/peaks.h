/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peaks of resident memory that the kernel kept (VmHWM) for the processes of a session, and
 * how many processes lived when. Loaded once for all spans; what a span asks takes time by what
 * happened in it, not by the length of the recording. At most TG_PEAKS_MAX are kept, 24 bytes each.
 */
#ifndef TG_ANALYZE_PEAKS_H
#define TG_ANALYZE_PEAKS_H

#include "analyze/recording.h"

#define TG_PEAKS_MAX ((size_t)1 << 20)

struct tg_peak {
	int64_t t_ns;
	int64_t value;
	uint32_t entity;
	uint32_t before; /* place of the process' one before, from 1; 0: none */
};

struct tg_peaks {
	struct tg_peak *peak; /* in order of time */
	size_t n, cap;
	bool full; /* there are more behind the last one */
	int64_t *birth, *death; /* of the processes, each in order of time */
	size_t n_lives;
	int64_t *scratch;
	size_t cap_scratch;
};

/* Those of a session of `r`, read at the first call. Borrowed. 0 or -errno. */
int tg_peaks_of(struct tg_recording *r, uint32_t session, struct tg_peaks **peaks);
void tg_peaks_free(struct tg_peaks *p); /* NULL is fine */

/* How many processes lived at some time of [begin_ns, end_ns]. */
size_t tg_peaks_lived(const struct tg_peaks *p, int64_t begin_ns, int64_t end_ns);

/*
 * The largest peak of a session that rose between the rows at rows_ns[0] and [1], of a process that
 * lived in `span`'s time. TG_MISSING: none rose, or they are not all known.
 */
int64_t tg_peaks_risen(const struct tg_recording *r, struct tg_peaks *p, uint32_t session,
	const struct tg_span *span, const int64_t rows_ns[2]);

#endif
