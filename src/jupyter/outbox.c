/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/outbox.h"

#include "base/mem.h"

void tg_outbox_release(struct tg_outbox *o)
{
	for (size_t i = 0; i < o->cap; i++)
		tg_msg_release(&o->entry[i].msg);
	free(o->entry);
	*o = (struct tg_outbox){ 0 };
}

/* Entries behind o->n keep empty messages, whose storage is used again. */
static void insert_at(struct tg_outbox *o, size_t at, struct tg_msg *m, struct tg_request *of)
{
	struct tg_outbox_entry spare;
	size_t was = o->cap;

	TG_GROW(o->entry, o->n + 1, o->cap);
	for (size_t i = was; i < o->cap; i++)
		o->entry[i] = (struct tg_outbox_entry){ .msg = TG_MSG_INIT };
	spare = o->entry[o->n];
	memmove(&o->entry[at + 1], &o->entry[at], (o->n - at) * sizeof(*o->entry));
	o->entry[at] = spare;
	o->entry[at].of = of;
	tg_msg_swap(&o->entry[at].msg, m);
	o->n++;
	if (of)
		of->pinned++;
}

void tg_outbox_add(struct tg_outbox *o, struct tg_msg *m, struct tg_request *of)
{
	insert_at(o, o->n, m, of);
}

void tg_outbox_insert(struct tg_outbox *o, struct tg_msg *m, const struct tg_request *r)
{
	size_t at = 0;

	while (at < o->n && o->entry[at].of != r)
		at++;
	insert_at(o, at, m, NULL);
}

void tg_outbox_let(struct tg_outbox *o, struct tg_request *r)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->entry[i].of == r) {
			o->entry[i].of = NULL;
			r->pinned--;
		}
}

void tg_outbox_flush(struct tg_outbox *o, void *socket)
{
	size_t sent = 0;

	while (sent < o->n && !o->entry[sent].of)
		tg_msg_send(&o->entry[sent++].msg, socket);
	/* the emptied ones go behind the others, for the next time */
	for (size_t i = 0; sent && i + sent < o->n; i++) {
		struct tg_outbox_entry e = o->entry[i];

		o->entry[i] = o->entry[i + sent];
		o->entry[i + sent] = e;
	}
	o->n -= sent;
}
