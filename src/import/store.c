/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/store.h"

#include <math.h>

#include "base/hash.h"
#include "base/utf8.h"

#include "base/mem.h"

#define EVENTS_FLUSH 65536
#define CELLS_FLUSH  16384

void tg_store_init(struct tg_store *s, struct tg_writer *writer, int64_t base_ns)
{
	*s = (struct tg_store){ .writer = writer, .base_ns = base_ns, .events = TG_BUF_INIT };
}

void tg_store_release(struct tg_store *s)
{
	tg_buf_release(&s->events);
	tg_map_release(&s->by_name);
	free(s->counter);
}

static void note_error(struct tg_store *s, int r)
{
	if (r < 0 && !s->error)
		s->error = r;
}

int64_t tg_store_stamp(const struct tg_store *s, int64_t utc_ns)
{
	return utc_ns - s->base_ns;
}

struct tg_jw *tg_store_event(struct tg_store *s, const char *ev, int64_t utc_ns)
{
	tg_jw_init(&s->jw, &s->events);
	tg_jw_begin_object(&s->jw);
	tg_jw_kstr(&s->jw, "ev", ev);
	tg_jw_kint(&s->jw, "t", tg_store_stamp(s, utc_ns));
	return &s->jw;
}

void tg_store_event_close(struct tg_store *s)
{
	tg_jw_end_object(&s->jw);
	tg_buf_addc(&s->events, '\n');
	if (s->events.len >= EVENTS_FLUSH)
		tg_store_flush(s);
}

void tg_store_flush(struct tg_store *s)
{
	if (s->events.len && !s->error)
		note_error(s, tg_writer_events(s->writer, s->events.data, s->events.len));
	tg_buf_clear(&s->events);
}

size_t tg_store_counter(struct tg_store *s, const char *metric, const char *instance)
{
	uint64_t key = tg_hash(TG_HASH_INIT, metric, strlen(metric) + 1);
	ptrdiff_t at;

	key = tg_hash(key, instance, strlen(instance));
	at = tg_map_get(&s->by_name, key);
	if (at >= 0)
		return (size_t)at;
	TG_GROW(s->counter, s->n_counters + 1, s->cap_counters);
	s->counter[s->n_counters] = 0;
	tg_map_put(&s->by_name, key, s->n_counters);
	return s->n_counters++;
}

uint32_t tg_store_table(
	struct tg_store *s, const char *name, const struct tg_column *column, size_t n)
{
	uint32_t table = tg_writer_next_table(s->writer);

	if (!s->error)
		note_error(s, tg_writer_table(s->writer, table, name, column, n));
	return table;
}

void tg_store_row(struct tg_store *s, struct tg_block *b, int64_t utc_ns, const int64_t *row)
{
	if (row)
		tg_block_add(b, tg_store_stamp(s, utc_ns), row);
	if (b->n_rows && (!row || b->n_rows == b->cap)) {
		if (!s->error)
			note_error(s, tg_writer_block(s->writer, b));
		b->n_rows = 0;
	}
}

void tg_store_processes(struct tg_store *s, struct tg_process_block *b)
{
	if (b->n && !s->error)
		note_error(s, tg_writer_processes(s->writer, b));
	b->n = 0;
}

int64_t tg_store_value(double v, int scale)
{
	for (; scale < 0; scale++)
		v *= 10;
	for (; scale > 0; scale--)
		v /= 10;
	return fabs(v) < 9e18 ? (int64_t)llround(v) : TG_MISSING; /* NaN is not less */
}

void tg_store_instance(char *out, size_t size, const char *name)
{
	size_t len = strlen(name), room = size - 1, n = 0;
	const char *p = name;

	if (len > room) {
		n = (size_t)snprintf(out, size, "%06x\xe2\x80\xa6",
			(unsigned)(tg_hash(TG_HASH_INIT, name, len) & 0xffffff));
		p = name + len - (room - n);
		while ((*p & 0xc0) == 0x80) /* not in the middle of a character */
			p++;
	}
	while (*p && n < room) {
		uint32_t cp;
		size_t k = tg_utf8_decode(p, strlen(p), &cp);

		if (k == 0 || cp < 0x20 || cp == 0x7f) {
			out[n++] = '?';
			p += k ? k : 1;
			continue;
		}
		if (n + k > room)
			break;
		memcpy(out + n, p, k);
		n += k;
		p += k;
	}
	out[n] = '\0';
}
