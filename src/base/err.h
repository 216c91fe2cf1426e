/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A status and one sentence. Functions return 0 (or a count) on success and -errno on failure;
 * where a thing that the user named can fail (a file, a pid, a port) they also take a `struct
 * tg_err *`, last and possibly NULL, which is filled once, at the lowest level that knows the
 * name. Foreign failures map to errno: bad bytes -EBADMSG, a newer format -EPROTONOSUPPORT.
 */
#ifndef TG_BASE_ERR_H
#define TG_BASE_ERR_H

struct tg_err {
	int code; /* 0 or -errno */
	char text[240]; /* one sentence without a full stop; "" when code is 0 */
};

/* Fill `err` (when not NULL) with `code` and the formatted sentence, cut to fit. Returns `code`. */
int tg_err_set(struct tg_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "what: " in front of the sentence that is there. Does nothing on NULL. */
void tg_err_prefix(struct tg_err *err, const char *what);

#endif
