/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/line.h"

#include "base/mem.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static char *trim(char *s)
{
	size_t n;

	while (is_blank(*s))
		s++;
	n = strlen(s);
	while (n && is_blank(s[n - 1]))
		s[--n] = '\0';
	return s;
}

/* "%%display_graph_for_index 3", "%tacho show --json", "?%tacho", "%tacho?" */
static int parse_line(char *line, struct tg_line *m)
{
	size_t n = strlen(line), len = 0;

	*m = (struct tg_line){ .name = line, .rest = line + n };
	if (line[0] == '?' || (n && line[n - 1] == '?')) {
		m->question = true;
		if (line[n - 1] == '?')
			line[--n] = '\0';
		line += line[0] == '?';
	}
	if (line[0] != '%') {
		m->question = false;
		return 0;
	}
	m->cell = line[1] == '%';
	line += m->cell ? 2 : 1;
	while (is_name(line[len]))
		len++;
	if (!len || (line[len] && !is_blank(line[len])))
		return 0;
	m->name = line;
	m->rest = line[len] ? trim(line + len + 1) : line + len;
	line[len] = '\0';
	return 1;
}

int tg_line_next(char **code, struct tg_line *out)
{
	while (**code) {
		char *line = *code;
		size_t len = strcspn(line, "\n");

		*code = line + len + (line[len] == '\n');
		line[len] = '\0';
		line = trim(line);
		if (*line && *line != '#')
			return parse_line(line, out);
	}
	return -1;
}

int tg_line_split(char *line, char **word, int cap)
{
	char *to = line;
	int n = 0;

	for (;;) {
		char quote = '\0';

		while (is_blank(*line))
			line++;
		if (!*line)
			return n;
		if (n == cap)
			return -1;
		word[n++] = to;
		while (*line && (quote || !is_blank(*line))) {
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
