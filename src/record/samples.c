/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Behind the prefix, packed as the chunk's flags say:
 *   uvar columns; time stamps behind the first: svar differences of differences;
 *   2 bits a column, lowest first, whole bytes: its class; then each column by its class.
 */
#include "record/samples.h"

#include <errno.h>

#include "base/metric.h"
#include "record/varint.h"

#include "base/mem.h"

enum class {
	CLASS_CONSTANT, /* svar value */
	CLASS_DELTA, /* svar value of the first row, svar differences */
	CLASS_MISSING, /* nothing: no row has a value */
	CLASS_SPARSE, /* a bit a row, lowest first: has a value; then those as CLASS_DELTA */
};

uint32_t tg_samples_rows_max(size_t n_columns)
{
	size_t n = TG_SAMPLES_VALUES / (n_columns ? n_columns : 1);

	return (uint32_t)TG_MIN(n, (size_t)TG_BLOCK_ROWS_MAX);
}

static uint8_t *put_times(uint8_t *p, const int64_t *t, uint32_t n)
{
	int64_t step = 0;

	for (uint32_t i = 1; i < n; i++) {
		int64_t d = tg_wrap_sub(t[i], t[i - 1]);

		p = tg_put_svar(p, tg_wrap_sub(d, step));
		step = d;
	}
	return p;
}

static uint8_t *put_sparse(uint8_t *p, const int64_t *v, uint32_t n)
{
	uint8_t *bits = p;
	int64_t last = 0;

	memset(bits, 0, (n + 7) / 8);
	p += (n + 7) / 8;
	for (uint32_t i = 0; i < n; i++) {
		if (v[i] == TG_MISSING)
			continue;
		bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << i % 8);
		p = tg_put_svar(p, tg_wrap_sub(v[i], last));
		last = v[i];
	}
	return p;
}

static uint8_t *put_column(uint8_t *p, const int64_t *v, uint32_t n, enum class *class)
{
	uint64_t changed = 0, missing = v[0] == TG_MISSING;
	uint8_t *start = p;

	p = tg_put_svar(p, v[0]);
	for (uint32_t i = 1; i < n; i++) {
		uint64_t u = tg_zigzag(tg_wrap_sub(v[i], v[i - 1]));

		changed |= u;
		missing |= v[i] == TG_MISSING;
		p = tg_put_uvar(p, u);
	}
	if (!missing) {
		*class = changed ? CLASS_DELTA : CLASS_CONSTANT;
		return changed ? p : tg_put_svar(start, v[0]);
	}
	*class = changed ? CLASS_SPARSE : CLASS_MISSING;
	return changed ? put_sparse(start, v, n) : start;
}

uint16_t tg_samples_encode(
	struct tg_zip *z, const struct tg_block *b, uint32_t from, uint32_t n, struct tg_buf *out)
{
	size_t n_values = (size_t)n * (b->n_columns + 1);
	uint8_t prefix[TG_SAMPLES_PREFIX];
	uint8_t *p, *classes;

	tg_put32(prefix, b->table);
	tg_put32(prefix + 4, n);
	tg_put64(prefix + 8, (uint64_t)b->t_ns[from]);
	tg_put64(prefix + 16, (uint64_t)b->t_ns[from + n - 1]);
	tg_buf_add(out, prefix, sizeof(prefix));

	tg_buf_clear(&z->plain);
	tg_buf_reserve(&z->plain,
		TG_VARINT_MAX * (n_values + 1) + (n_values + b->n_columns) / 4 + b->n_columns + 16);
	p = tg_put_uvar((uint8_t *)z->plain.data, b->n_columns);
	p = put_times(p, b->t_ns + from, n);
	classes = p;
	memset(classes, 0, (b->n_columns + 3u) / 4);
	p += (b->n_columns + 3u) / 4;
	for (uint32_t c = 0; c < b->n_columns; c++) {
		enum class class;

		p = put_column(p, b->values + (size_t)c * b->cap + from, n, &class);
		classes[c / 4] = (uint8_t)(classes[c / 4] | (unsigned int)class << c % 4 * 2);
	}
	z->plain.len = (size_t)(p - (uint8_t *)z->plain.data);
	return tg_zip_pack(z, z->plain.data, z->plain.len, out);
}

int tg_samples_prefix_get(const uint8_t *payload, size_t len, struct tg_samples_prefix *prefix)
{
	if (len < TG_SAMPLES_PREFIX)
		return -EBADMSG;
	prefix->table = tg_get32(payload);
	prefix->rows = tg_get32(payload + 4);
	prefix->first_ns = (int64_t)tg_get64(payload + 8);
	prefix->last_ns = (int64_t)tg_get64(payload + 16);
	if (!prefix->rows || prefix->rows > TG_BLOCK_ROWS_MAX ||
		!tg_times_valid(prefix->first_ns, prefix->last_ns))
		return -EBADMSG;
	return 0;
}

/* Ascending times, the last of them as the prefix says; else NULL. */
static const uint8_t *get_times(
	const uint8_t *p, const uint8_t *end, int64_t *t, const struct tg_samples_prefix *prefix)
{
	int64_t step = 0, change;

	t[0] = prefix->first_ns;
	for (uint32_t i = 1; p && i < prefix->rows; i++) {
		p = tg_get_svar(p, end, &change);
		step = tg_wrap_add(step, change);
		t[i] = tg_wrap_add(t[i - 1], step);
		if (t[i] < t[i - 1])
			return NULL;
	}
	return p && t[prefix->rows - 1] == prefix->last_ns ? p : NULL;
}

/* `out` may be NULL: the column is not wanted. */
static const uint8_t *get_deltas(const uint8_t *p, const uint8_t *end, uint32_t n, int64_t *out)
{
	int64_t v = 0, d;

	if (!out) {
		for (; n && p < end; p++)
			n -= *p < 0x80;
		return n ? NULL : p;
	}
	for (uint32_t i = 0; p && i < n; i++) {
		p = tg_get_svar(p, end, &d);
		v = tg_wrap_add(v, d);
		out[i] = v;
	}
	return p;
}

static const uint8_t *get_sparse(const uint8_t *p, const uint8_t *end, uint32_t n, int64_t *out)
{
	const uint8_t *bits = p;
	uint32_t present = 0;
	int64_t v = 0, d;

	if ((size_t)(end - p) < (n + 7) / 8)
		return NULL;
	p += (n + 7) / 8;
	if (!out) {
		for (uint32_t i = 0; i < n; i++)
			present += bits[i / 8] >> i % 8 & 1u;
		return get_deltas(p, end, present, NULL);
	}
	for (uint32_t i = 0; p && i < n; i++) {
		out[i] = TG_MISSING;
		if (!(bits[i / 8] >> i % 8 & 1u))
			continue;
		p = tg_get_svar(p, end, &d);
		v = tg_wrap_add(v, d);
		out[i] = v;
	}
	return p;
}

static const uint8_t *get_column(
	const uint8_t *p, const uint8_t *end, enum class class, uint32_t n, int64_t *out)
{
	int64_t value = TG_MISSING;

	switch (class) {
	case CLASS_DELTA:
		return get_deltas(p, end, n, out);
	case CLASS_SPARSE:
		return get_sparse(p, end, n, out);
	case CLASS_CONSTANT:
		p = tg_get_svar(p, end, &value);
		break;
	case CLASS_MISSING:
		break;
	}
	for (uint32_t i = 0; out && i < n; i++)
		out[i] = value;
	return p;
}

static void prepare(struct tg_block **out, uint32_t table, uint32_t rows, size_t n_columns)
{
	struct tg_block *b = *out;

	if (!b || b->cap < rows || b->n_columns != n_columns) {
		uint32_t cap = b ? TG_MAX(b->cap, rows) : rows;

		tg_block_free(b);
		b = *out = tg_block_new(table, (uint32_t)n_columns, cap);
	}
	b->table = table;
	b->n_rows = rows;
}

int tg_samples_decode(struct tg_zip *z, uint16_t flags, const uint8_t *payload, size_t len,
	size_t n_all, const uint32_t *column, size_t n, struct tg_block **out)
{
	struct tg_samples_prefix prefix;
	const uint8_t *p, *end, *classes;
	uint32_t *slot;
	size_t plain_len;
	uint64_t stored;
	struct tg_block *b;
	int r;

	r = tg_samples_prefix_get(payload, len, &prefix);
	if (r < 0)
		return r;
	if (prefix.rows > tg_samples_rows_max(n_all))
		return -EBADMSG;
	r = tg_zip_unpack(
		z, flags, payload + TG_SAMPLES_PREFIX, len - TG_SAMPLES_PREFIX, &p, &plain_len);
	if (r < 0)
		return r;
	end = p + plain_len;
	p = tg_get_uvar(p, end, &stored);
	if (!p || stored != n_all)
		return -EBADMSG;

	prepare(out, prefix.table, prefix.rows, n);
	b = *out;
	p = get_times(p, end, b->t_ns, &prefix);
	if (!p || (size_t)(end - p) < (n_all + 3) / 4)
		return -EBADMSG;
	classes = p;
	p += (n_all + 3) / 4;

	/* slot[c]: 1 + place of column c in the list; 0: skip it */
	slot = tg_xcalloc(n_all + 1, sizeof(*slot));
	for (size_t i = 0; i < n; i++)
		slot[column[i]] = (uint32_t)i + 1;
	for (size_t c = 0; p && c < n_all; c++)
		p = get_column(p, end, (enum class)(classes[c / 4] >> c % 4 * 2 & 3), prefix.rows,
			slot[c] ? b->values + (size_t)(slot[c] - 1) * b->cap : NULL);
	for (size_t i = 0; p && i < n; i++) {
		uint32_t from = slot[column[i]] - 1;

		if (from != i) /* listed twice */
			memcpy(b->values + i * b->cap, b->values + (size_t)from * b->cap,
				prefix.rows * sizeof(int64_t));
	}
	free(slot);
	return p ? 0 : -EBADMSG;
}
