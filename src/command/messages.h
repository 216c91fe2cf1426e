/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results as messages of Jupyter: streams and displays, in the order in which they came. The proxy
 * puts each content into a message of its own.
 */
#ifndef TG_COMMAND_MESSAGES_H
#define TG_COMMAND_MESSAGES_H

#include "base/json.h"
#include "command/command.h"

struct tg_messages {
	struct tg_buf json; /* an array that is still open */
	struct tg_jw w;
	struct tg_buf text; /* of the stream that is being put together */
	bool is_error; /* which stream it is */
	struct tg_buf settings; /* an object that is still open */
	struct tg_jw sw;
	bool some_settings;
};

void tg_messages_init(struct tg_messages *m);
void tg_messages_release(struct tg_messages *m);

/* The output interface that fills `m`. */
struct tg_output tg_messages_output(struct tg_messages *m);

/* A sentence on stderr. */
void tg_messages_error(struct tg_messages *m, const char *sentence);

/* Append `,"messages":[…]` and, where some changed, `,"settings":{…}`. Once. */
void tg_messages_finish(struct tg_messages *m, struct tg_buf *out);

#endif
