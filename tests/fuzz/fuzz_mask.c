/* SPDX-License-Identifier: BSD-3-Clause */
/* The masking of command lines: within its bounds, and no control characters come out. */
#include <ctype.h>
#include <stdint.h>

#include "base/mask.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t room[] = { 1, 2, 16, 5000 };
	char *args = malloc(size ? size : 1);

	if (!args)
		return 0;
	if (size)
		memcpy(args, data, size);
	for (size_t i = 0; i < TG_ARRAY_SIZE(room); i++) {
		char *out = malloc(room[i]);
		size_t n = tg_mask_args(args, size, out, room[i]);

		if (n >= room[i] || out[n])
			abort();
		for (size_t k = 0; k < n; k++)
			if (iscntrl((unsigned char)out[k]))
				abort();
		free(out);
	}
	free(args);
	return 0;
}
