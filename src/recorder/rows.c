/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/rows.h"

#include "base/clock.h"
#include "record/format.h"

#include "base/mem.h"

void tg_rows_init(struct tg_rows *r, struct tg_output *output, uint32_t next_table)
{
	*r = (struct tg_rows){ .output = output, .next_table = next_table, .cap = 32 };
	r->processes = tg_process_block_new();
}

void tg_rows_release(struct tg_rows *r)
{
	tg_block_free(r->block);
	tg_process_block_free(r->processes);
	*r = (struct tg_rows){ 0 };
}

static void lose(struct tg_rows *r, int64_t from, int64_t to)
{
	if (!r->gap_from || from < r->gap_from)
		r->gap_from = from;
	r->gap_to = TG_MAX(r->gap_to, to);
}

static void push_block(struct tg_rows *r)
{
	struct tg_item item = { .kind = TG_ITEM_BLOCK, .block = r->block };

	if (!r->block)
		return;
	/* the next block will have about as many rows */
	r->cap = TG_MIN(TG_MAX(32, (size_t)r->block->n_rows * 2), TG_BLOCK_ROWS_MAX);
	if (!r->have_table || tg_output_push(r->output, &item) < 0) {
		lose(r, r->block->t_ns[0], r->block->t_ns[r->block->n_rows - 1]);
		tg_block_free(r->block);
	}
	r->block = NULL;
}

static void push_processes(struct tg_rows *r)
{
	struct tg_item item = { .kind = TG_ITEM_PROCESSES, .processes = r->processes };

	if (!r->processes->n)
		return;
	if (tg_output_push(r->output, &item) < 0) {
		lose(r, r->processes->cell[0].t_ns, r->processes->cell[r->processes->n - 1].t_ns);
		r->processes->n = 0;
		return;
	}
	r->processes = tg_process_block_new();
}

/* Start a table for the columns of `reading`. Refused by a full queue: tried at the next row. */
static void start_table(struct tg_rows *r, const struct tg_reading *reading)
{
	struct tg_item item = { .kind = TG_ITEM_TABLE, .table = r->next_table, .n = reading->n };

	item.column = tg_xmalloc(reading->n * sizeof(*item.column));
	memcpy(item.column, reading->column, reading->n * sizeof(*item.column));
	r->have_table = tg_output_push(r->output, &item) == 0;
	if (!r->have_table) {
		free(item.column);
		return;
	}
	r->table = r->next_table++;
	r->generation = reading->generation;
}

/* At a high rate there are ticks at which nothing was to be read. */
static bool is_empty(const struct tg_reading *reading)
{
	for (size_t i = 0; i < reading->n; i++)
		if (reading->value[i] != TG_MISSING)
			return false;
	return true;
}

void tg_rows_add(struct tg_rows *r, const struct tg_reading *reading)
{
	/* time stamps of a table ascend; a reading that is not later than the last says nothing */
	if (is_empty(reading) || reading->t_ns <= r->last_ns)
		return;
	r->last_ns = reading->t_ns;
	if (!r->have_table || r->generation != reading->generation) {
		push_block(r);
		start_table(r, reading);
	}
	if (!r->have_table) {
		lose(r, reading->t_ns, reading->t_ns);
		return;
	}
	if (r->block && r->block->n_rows == r->block->cap)
		push_block(r);
	if (!r->block)
		r->block = tg_block_new(r->table, (uint32_t)reading->n, (uint32_t)r->cap);
	tg_block_add(r->block, reading->t_ns, reading->value);
}

void tg_rows_value(struct tg_rows *r, int64_t t_ns, uint32_t entity, uint32_t field, int64_t value)
{
	struct tg_process_cell cell = {
		.t_ns = t_ns, .entity = entity, .field = field, .value = value
	};

	if (r->processes->n >= TG_ROWS_PROCESS_CELLS)
		push_processes(r);
	tg_process_block_add(r->processes, &cell);
}

static void gap_event(struct tg_rows *r, struct tg_events *e)
{
	struct tg_jw *w = tg_events_open(e, "gap", tg_mono_ns());

	tg_jw_kint(w, "from", r->gap_from);
	tg_jw_kint(w, "to", r->gap_to);
	tg_jw_kstr(w, "why", "the file could not take more");
	tg_events_close(e);
}

void tg_rows_flush_events(struct tg_rows *r, struct tg_events *e)
{
	struct tg_item item = { .kind = TG_ITEM_EVENTS };
	size_t before = e->lines.len;
	uint64_t lost = e->lost;
	bool said;

	if (r->gap_from)
		gap_event(r, e);
	said = e->lines.len > before;
	tg_events_say_lost(e, tg_mono_ns());
	if (!e->lines.len)
		return;
	item.data = e->lines.data;
	item.n = e->lines.len;
	if (tg_output_push(r->output, &item) == 0) {
		tg_buf_init(&e->lines); /* the storage went along */
		if (said)
			r->gap_from = r->gap_to = 0;
	} else {
		/* a gap goes on growing until it can be said, once */
		tg_buf_splice(&e->lines, before, e->lines.len - before, NULL, 0);
		e->lost = lost;
	}
}

void tg_rows_flush(struct tg_rows *r, struct tg_events *e)
{
	tg_rows_flush_events(r, e);
	push_block(r);
	push_processes(r);
}
