/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/stream.h"

#include <math.h>

#include "import/disk_names.h"
#include "import/resolve.h"
#include "record/format.h"

#include "base/mem.h"

#define DISKS_MAX 8192 /* of more it is not asked which are whole: that takes the square of it */

/* Columns that have a value in some tick. */
static uint64_t ever_of(const struct tg_readings *g)
{
	uint64_t ever = 0;

	for (uint32_t i = 0; i < g->n_items; i++)
		for (uint32_t k = 0; k < g->item[i].n; k++)
			if (g->item[i].change[k].column < g->n_columns &&
				!isnan(g->item[i].change[k].value))
				ever |= UINT64_C(1) << g->item[i].change[k].column;
	return ever;
}

uint64_t tg_stream_outputs(const struct tg_log_part *part, int64_t cpus)
{
	uint64_t ever = ever_of(&part->grid), outputs = 0;

	for (size_t i = 0; i < part->layout->n_outputs; i++) {
		const struct tg_derived *o = &part->layout->output[i];

		if (o->meaning == TG_PERCENT_OF_CORES && cpus <= 0)
			continue;
		if ((o->plus & ever) && (o->minus & ~ever) == 0)
			outputs |= UINT64_C(1) << i;
	}
	return outputs;
}

void tg_stream_begin(struct tg_stream *s, struct tg_store *store, const struct tg_logfile *log,
	const struct tg_log_part *part, int64_t cpus, uint64_t wanted)
{
	*s = (struct tg_stream){ .store = store,
		.log = log,
		.layout = part->layout,
		.grid = &part->grid,
		.cpus = cpus,
		.period_ns = tg_resolve_period_ns(&part->grid),
		.before_ns = TG_UNKNOWN,
		.ever = ever_of(&part->grid),
		.wanted = wanted };
	s->counts = tg_xcalloc(part->grid.n_items + 1, sizeof(*s->counts));
	for (uint32_t i = 0; i < part->grid.n_items && part->grid.n_items <= DISKS_MAX; i++)
		s->counts[i] = tg_disk_is_whole(&part->grid, i);
	s->of_item = tg_xcalloc(part->grid.n_items + 1, sizeof(*s->of_item));
	tg_walk_begin(&s->walk, s->grid);
}

static void end_table(struct tg_stream *s)
{
	if (s->block)
		tg_store_row(s->store, s->block, 0, NULL);
	tg_block_free(s->block);
	free(s->row);
	free(s->counter);
	s->block = NULL;
	s->row = NULL;
	s->counter = NULL;
}

void tg_stream_end(struct tg_stream *s)
{
	end_table(s);
	tg_walk_end(&s->walk);
	free(s->counts);
	free(s->of_item);
	free(s->item);
}

int64_t tg_stream_next_ns(const struct tg_stream *s)
{
	uint32_t next = s->walk.tick + 1; /* UINT32_MAX + 1 is 0 */

	return next < s->grid->n_ticks ? s->grid->tick[next].utc_ns : INT64_MAX;
}

/* ---- which columns ---- */

/* The output and the item of the next column, in the order of the table's columns. */
struct column_at {
	size_t output, item; /* item: place in s->item */
};

static bool next_column(const struct tg_stream *s, struct column_at *at, bool first)
{
	if (first)
		*at = (struct column_at){ 0, SIZE_MAX };
	for (at->item++; at->output < s->layout->n_outputs; at->output++, at->item = 0) {
		if (!(s->wanted >> at->output & 1))
			continue;
		for (; at->item < s->n_items; at->item++)
			if (!s->layout->output[at->output].whole_disks ||
				s->counts[s->item[at->item]])
				return true;
	}
	return false;
}

/* Once a log. */
static void say_too_many(struct tg_stream *s, int64_t utc_ns)
{
	struct tg_buf text = TG_BUF_INIT;
	struct tg_jw *w;

	if (s->said)
		return;
	s->said = true;
	tg_buf_addf(&text, "%s: it has more than %d columns, of which the first are here",
		s->log->name, TG_COLUMNS_MAX);
	w = tg_store_event(s->store, "note", utc_ns);
	tg_jw_kstr(w, "text", text.data);
	tg_store_event_close(s->store);
	tg_buf_release(&text);
}

static void start_table(struct tg_stream *s, int64_t utc_ns)
{
	size_t most = s->n_items * s->layout->n_outputs, n = 0;
	struct tg_column *column;
	struct column_at at;
	bool more;

	end_table(s);
	column = tg_xcalloc(most + 1, sizeof(*column));
	s->counter = tg_xcalloc(most + 1, sizeof(*s->counter));
	for (more = next_column(s, &at, true); more && n < TG_COLUMNS_MAX;
		more = next_column(s, &at, false)) {
		struct tg_column *c = &column[n];

		c->metric = &s->layout->output[at.output].metric;
		c->period_ns = s->period_ns;
		tg_store_instance(
			c->instance, sizeof(c->instance), s->grid->item[s->item[at.item]].name);
		s->counter[n++] = tg_store_counter(s->store, c->metric->name, c->instance);
	}
	if (more)
		say_too_many(s, utc_ns);
	s->row = tg_xcalloc(n + 1, sizeof(*s->row));
	if (n)
		s->block = tg_block_new(tg_store_table(s->store, s->log->format->tool, column, n),
			(uint32_t)n, TG_STORE_ROWS);
	s->n_tables++;
	free(column);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The items of the tick become those of the table; all that there are, when that changes often. */
static void choose_items(struct tg_stream *s, int64_t utc_ns)
{
	size_t n = 0;
	bool same;

	if (s->n_tables > TG_STREAM_TABLES_MAX)
		return;
	TG_GROW(s->item, s->grid->n_items + s->walk.n + 1, s->cap_items);
	for (size_t i = 0; i < s->walk.n; i++)
		s->item[s->n_items + n++] = s->walk.row[i].item;
	if (s->n_tables == TG_STREAM_TABLES_MAX)
		for (n = 0; n < s->grid->n_items; n++)
			s->item[s->n_items + n] = (uint32_t)n;
	qsort(s->item + s->n_items, n, sizeof(*s->item), by_number);
	same = n == s->n_items && !memcmp(s->item, s->item + s->n_items, n * sizeof(*s->item));
	if (same && s->n_tables)
		return;
	memmove(s->item, s->item + s->n_items, n * sizeof(*s->item));
	s->n_items = n;
	start_table(s, utc_ns);
}

/* ---- values ---- */

static double sum_of(const struct tg_stream *s, uint64_t columns, const double *value)
{
	double sum = 0;

	for (uint64_t left = columns & s->ever; left; left &= left - 1)
		sum += value[__builtin_ctzll(left)];
	return sum;
}

/* What a value adds to a counter over so much time. */
static double increase(
	const struct tg_stream *s, const struct tg_derived *o, double v, int64_t length_ns)
{
	switch (o->meaning) {
	case TG_PER_SECOND:
		return v * o->factor * (double)length_ns / 1e9;
	case TG_PERCENT_OF_TIME:
		return v * o->factor * (double)length_ns / 100;
	case TG_PERCENT_OF_CORES:
		return v * o->factor * (double)length_ns / 100 * (double)s->cpus;
	case TG_PER_INTERVAL:
	case TG_LEVEL:
		break;
	}
	return v * o->factor;
}

/* One value; `length_ns` < 0: the interval is not known, so that counters stay what they are. */
static int64_t value_of(const struct tg_stream *s, const struct tg_derived *o, const double *value,
	size_t counter, int64_t length_ns)
{
	double v = value ? sum_of(s, o->plus, value) - sum_of(s, o->minus, value) : NAN;
	double *total = &s->store->counter[counter];

	if (o->meaning == TG_LEVEL)
		return tg_store_value(v * o->factor, o->metric.scale);
	if (isnan(v))
		return TG_MISSING;
	if (length_ns >= 0)
		*total += increase(s, o, v, length_ns);
	return tg_store_value(*total, o->metric.scale);
}

/* A row with counters as they are, and nothing else: where an interval begins. */
static void write_begin(struct tg_stream *s, int64_t utc_ns)
{
	struct column_at at;
	size_t n = 0;

	for (bool more = next_column(s, &at, true); more && n < s->block->n_columns;
		more = next_column(s, &at, false), n++) {
		const struct tg_derived *o = &s->layout->output[at.output];

		s->row[n] =
			o->meaning == TG_LEVEL
				? TG_MISSING
				: tg_store_value(s->store->counter[s->counter[n]], o->metric.scale);
	}
	tg_store_row(s->store, s->block, utc_ns, s->row);
}

static void write_row(struct tg_stream *s, int64_t utc_ns, int64_t length_ns)
{
	struct column_at at;
	size_t n = 0;

	for (size_t i = 0; i < s->walk.n; i++)
		s->of_item[s->walk.row[i].item] = s->walk.row[i].value;
	for (bool more = next_column(s, &at, true); more && n < s->block->n_columns;
		more = next_column(s, &at, false), n++)
		s->row[n] = value_of(s, &s->layout->output[at.output], s->of_item[s->item[at.item]],
			s->counter[n], length_ns);
	tg_store_row(s->store, s->block, utc_ns, s->row);
	for (size_t i = 0; i < s->walk.n; i++)
		s->of_item[s->walk.row[i].item] = NULL;
}

void tg_stream_tick(struct tg_stream *s, int64_t from_ns)
{
	const struct tg_log_tick *tick;
	int64_t length = -1, begin;

	tg_walk_next(&s->walk);
	tick = &s->grid->tick[s->walk.tick];
	if (tick->utc_ns <= from_ns) {
		s->before_ns = from_ns; /* of the next interval, what lies behind counts */
		return;
	}
	choose_items(s, tick->utc_ns);
	if (!s->block)
		return;
	begin = tick->begin_ns == TG_UNKNOWN ? s->before_ns : TG_MAX(tick->begin_ns, from_ns);
	/* what is missing for a moment has the value of the next; for longer nothing is known */
	if (s->before_ns != TG_UNKNOWN && begin - s->before_ns <= 3 * s->period_ns)
		begin = s->before_ns;
	if (begin != TG_UNKNOWN)
		length = tick->utc_ns - begin;
	if (begin != s->before_ns && begin < tick->utc_ns)
		write_begin(s, begin);
	write_row(s, tick->utc_ns, length);
	s->before_ns = tick->utc_ns;
}
