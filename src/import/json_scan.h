/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON of a log, token by token: it may be as long as the log is, and end anywhere, as where its
 * tool was killed. Lenient: commas and colons are passed over.
 */
#ifndef TG_IMPORT_JSON_SCAN_H
#define TG_IMPORT_JSON_SCAN_H

#include "import/bytes.h"

#define TG_JSON_SCAN_TEXT  256 /* bytes that are kept of a string or a number */
#define TG_JSON_SCAN_DEPTH 64

enum tg_json_token {
	TG_JSON_END, /* of the log, or of what can be understood */
	TG_JSON_OPEN, /* { */
	TG_JSON_CLOSE,
	TG_JSON_OPEN_LIST, /* [ */
	TG_JSON_CLOSE_LIST,
	TG_JSON_KEY, /* in `text` */
	TG_JSON_STRING,
	TG_JSON_NUMBER, /* in `number` */
	TG_JSON_WORD, /* true, false, null */
};

struct tg_json_scan {
	struct tg_log_bytes *bytes;
	char text[TG_JSON_SCAN_TEXT];
	double number;
	int depth; /* of what is open after the token */
	bool bad; /* it ended before its end, or is no JSON */
};

/* The next token. */
enum tg_json_token tg_json_scan_next(struct tg_json_scan *s);

/* Pass over the rest of what was opened to come to `depth`: until it is closed. */
void tg_json_scan_leave(struct tg_json_scan *s, int depth);

#endif
