/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/moments.h"

#include <stdlib.h>

#include "base/json.h"

#include "base/mem.h"

/* A run's beginning, or a moment, in the order of the recording. */
static int compare(uint32_t session_a, int64_t a_ns, uint32_t session_b, int64_t b_ns)
{
	return session_a != session_b ? (session_a > session_b) - (session_a < session_b)
				      : (a_ns > b_ns) - (a_ns < b_ns);
}

static int by_beginning(const void *a, const void *b)
{
	const struct tg_span *p = *(const struct tg_span *const *)a;
	const struct tg_span *q = *(const struct tg_span *const *)b;
	int order = compare(p->session, p->begin_ns, q->session, q->begin_ns);

	return order ? order : (p > q) - (p < q); /* spans are in one list */
}

void tg_moments_find_runs(struct tg_recording *r)
{
	const struct tg_span **run = tg_xcalloc(r->n_spans, sizeof(*run));
	size_t n = 0;

	for (size_t i = 0; i < r->n_spans; i++)
		if (!strcmp(r->span[i].kind, "run"))
			run[n++] = &r->span[i];
	qsort(run, n, sizeof(*run), by_beginning);
	for (size_t i = 0; i < r->n_moments; i++) {
		struct tg_moment *m = &r->moment[i];
		size_t low = 0, high = n;

		while (low < high) { /* to the first that begins later */
			size_t middle = low + (high - low) / 2;

			if (compare(run[middle]->session, run[middle]->begin_ns, m->session,
				    m->t_ns) <= 0)
				low = middle + 1;
			else
				high = middle;
		}
		m->run = low ? run[low - 1]->number : 0;
	}
	free(run);
}

static int by_time(const void *a, const void *b)
{
	const struct tg_moment *p = *(const struct tg_moment *const *)a;
	const struct tg_moment *q = *(const struct tg_moment *const *)b;

	return p->utc_ns != q->utc_ns ? (p->utc_ns > q->utc_ns) - (p->utc_ns < q->utc_ns)
				      : (p > q) - (p < q);
}

size_t tg_moments_of(const struct tg_recording *r, const char *what,
	const struct tg_span *const *span, size_t n, const struct tg_moment ***out)
{
	struct tg_map runs = TG_MAP_INIT;
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		tg_map_put(&runs, span[i]->run, i);
	*out = tg_xcalloc(r->n_moments, sizeof(**out));
	for (size_t i = 0; i < r->n_moments; i++)
		if (!strcmp(r->moment[i].what, what) && tg_map_get(&runs, r->moment[i].run) >= 0)
			(*out)[found++] = &r->moment[i];
	qsort(*out, found, sizeof(**out), by_time);
	tg_map_release(&runs);
	return found;
}

size_t tg_marks_of(
	const struct tg_recording *r, int64_t from_ns, int64_t to_ns, const struct tg_moment ***out)
{
	size_t found = 0;

	*out = tg_xcalloc(r->n_moments, sizeof(**out));
	for (size_t i = 0; i < r->n_moments; i++) {
		const struct tg_moment *m = &r->moment[i];

		if (!strcmp(m->what, "mark") && m->utc_ns >= from_ns && m->utc_ns <= to_ns)
			(*out)[found++] = m;
	}
	qsort(*out, found, sizeof(**out), by_time);
	return found;
}

/* {"ev":"mark","t":81234,"name":"loaded","attrs":{"rows":"4000"}} */
void tg_moment_label(const struct tg_moment *m, struct tg_buf *out)
{
	struct tg_json *json = tg_json_parse(m->json, strlen(m->json), NULL);
	const struct tg_json *attrs = tg_json_get(json, "attrs");
	const char *key = tg_json_next_key(attrs, NULL);
	struct tg_buf text = TG_BUF_INIT;

	tg_buf_adds(&text, m->name ? m->name : "");
	/* a character has four bytes at most: what is beyond is not shown */
	for (; key && text.len <= (size_t)4 * TG_MOMENT_CHARS; key = tg_json_next_key(attrs, key)) {
		const struct tg_json *value = tg_json_get(attrs, key);
		const char *s = tg_json_str(value, NULL);

		tg_buf_addf(&text, " %s=", key);
		if (s)
			tg_buf_adds(&text, s);
		else
			tg_json_dump(value, &text);
	}
	tg_plain(out, text.data, TG_MOMENT_CHARS);
	tg_buf_release(&text);
	tg_json_free(json);
}
