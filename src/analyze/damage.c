/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/recording.h"

#include "base/mem.h"

bool tg_recording_damage(struct tg_recording *r, struct tg_damage *out)
{
	*out = *tg_reader_damage(r->reader);
	if (!out->holes && !out->lost_chunks)
		return false;
	/* a chunk that cannot be decoded was counted at each reading, and its bytes not at all */
	if (!r->damage_known) {
		r->damage_known = true;
		if (tg_reader_verify(r->reader, &r->damage) < 0)
			r->damage = (struct tg_damage){ 0 };
	}
	if (r->damage.holes || r->damage.lost_chunks)
		*out = r->damage;
	return true;
}
