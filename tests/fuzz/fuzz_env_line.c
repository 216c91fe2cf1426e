/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a cell: each variable is within it, behind the one before, and the walk ends. */
#include <stdint.h>

#include "jupyter/settings.h"

#include "jupyter/env_line.h"

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *code = tg_xcalloc(size + 1, 1); /* exact, for the sanitizer */
	struct tg_env_lines lines = { .code = code, .len = size };
	struct tg_settings settings = { .n_set = 0 };
	struct tg_buf why = TG_BUF_INIT;
	struct tg_env_line line;
	size_t last = 0;

	memcpy(code, data, size);
	while (tg_env_lines_next(&lines, &line)) {
		if (line.name < last || !line.name_len || line.name + line.name_len > size ||
			line.value < line.name + line.name_len ||
			line.value + line.value_len > size)
			abort();
		last = line.value + line.value_len;
	}
	if (lines.at != size)
		abort();
	tg_settings_code(&settings, code, size, 1, &why);
	for (int i = 0; i < TG_SETTINGS; i++)
		if (!*tg_settings_text(&settings, (enum tg_setting_name)i))
			abort();
	tg_buf_release(&why);
	free(code);
	return 0;
}
