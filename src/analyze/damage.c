/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/recording.h"

#include "base/mem.h"

bool tg_recording_damage(const struct tg_recording *r, struct tg_damage *out)
{
	struct tg_damage all;

	*out = *tg_reader_damage(r->reader);
	if (!out->holes && !out->lost_chunks)
		return false;
	/* a chunk that cannot be decoded was counted at each reading, and its bytes not at all */
	if (tg_reader_verify(r->reader, &all) == 0 && (all.holes || all.lost_chunks))
		*out = all;
	return true;
}
