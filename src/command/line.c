/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/line.h"

#include "base/lines.h"

#include "base/mem.h"

int tg_line_split(char *line, char **word, int cap)
{
	char *to = line;
	int n = 0;

	for (;;) {
		char quote = '\0';

		while (tg_text_blank(*line))
			line++;
		if (!*line)
			return n;
		if (n == cap)
			return -1;
		word[n++] = to;
		while (*line && (quote || !tg_text_blank(*line))) {
			if (quote && *line == quote) {
				quote = '\0';
				line++;
			} else if (!quote && (*line == '"' || *line == '\'')) {
				quote = *line++;
			} else if (*line == '\\' && quote != '\'' && line[1]) {
				*to++ = line[1];
				line += 2;
			} else {
				*to++ = *line++;
			}
		}
		if (quote)
			return -1;
		/* `to` has never passed `line`: the words only get shorter */
		line += *line != '\0';
		*to++ = '\0';
	}
}
