/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/messages.h"

#include <sys/random.h>

#include "base/base64.h"

#include "base/mem.h"

void tg_messages_init(struct tg_messages *m)
{
	*m = (struct tg_messages){
		.json = TG_BUF_INIT,
		.text = TG_BUF_INIT,
		.settings = TG_BUF_INIT,
	};
	tg_jw_init(&m->w, &m->json);
	tg_jw_begin_array(&m->w);
	tg_jw_init(&m->sw, &m->settings);
	tg_jw_begin_object(&m->sw);
}

void tg_messages_release(struct tg_messages *m)
{
	tg_buf_release(&m->json);
	tg_buf_release(&m->text);
	tg_buf_release(&m->settings);
}

static void flush_text(struct tg_messages *m)
{
	if (!m->text.len)
		return;
	tg_jw_begin_object(&m->w);
	tg_jw_kstr(&m->w, "msg_type", "stream");
	tg_jw_key(&m->w, "content");
	tg_jw_begin_object(&m->w);
	tg_jw_kstr(&m->w, "name", m->is_error ? "stderr" : "stdout");
	tg_jw_key(&m->w, "text");
	tg_jw_strn(&m->w, m->text.data, m->text.len);
	tg_jw_end_object(&m->w);
	tg_jw_end_object(&m->w);
	tg_buf_clear(&m->text);
}

static void add_text(struct tg_messages *m, bool is_error, const char *text, size_t len)
{
	if (m->is_error != is_error)
		flush_text(m);
	m->is_error = is_error;
	tg_buf_add(&m->text, text, len);
}

static void on_text(void *ctx, const char *text, size_t len)
{
	add_text(ctx, false, text, len);
}

void tg_messages_error(struct tg_messages *m, const char *sentence)
{
	add_text(m, true, sentence, strlen(sentence));
	add_text(m, true, "\n", 1);
}

static void on_note(void *ctx, const char *sentence)
{
	tg_messages_error(ctx, sentence);
}

/* A display has an id of its own, so that it could be updated; it is not saved with the notebook.
 */
static void add_display_id(struct tg_jw *w)
{
	unsigned char random[8] = { 0 };
	struct tg_buf id = TG_BUF_INIT;

	if (getrandom(random, sizeof(random), 0) < 0)
		memset(random, 0, sizeof(random));
	tg_buf_adds(&id, "tachograph-");
	for (size_t i = 0; i < sizeof(random); i++)
		tg_buf_addf(&id, "%02x", random[i]);
	tg_jw_kstr(w, "display_id", id.data);
	tg_buf_release(&id);
}

static void on_show(void *ctx, const struct tg_display *d)
{
	struct tg_messages *m = ctx;
	struct tg_jw *w = &m->w;

	flush_text(m);
	tg_jw_begin_object(w);
	tg_jw_kstr(w, "msg_type", "display_data");
	tg_jw_key(w, "content");
	tg_jw_begin_object(w);
	tg_jw_key(w, "data");
	tg_jw_begin_object(w);
	if (d->vega) {
		tg_jw_key(w, "application/vnd.vegalite.v5+json");
		tg_jw_raw(w, d->vega, strlen(d->vega));
	}
	if (d->png) {
		struct tg_buf base64 = TG_BUF_INIT;

		tg_base64(&base64, d->png, d->png_len);
		tg_jw_kstr(w, "image/png", base64.data);
		tg_buf_release(&base64);
	}
	if (d->html)
		tg_jw_kstr(w, "text/html", d->html);
	if (d->text)
		tg_jw_kstr(w, "text/plain", d->text);
	tg_jw_end_object(w);
	tg_jw_key(w, "metadata");
	tg_jw_begin_object(w);
	tg_jw_end_object(w);
	tg_jw_key(w, "transient");
	tg_jw_begin_object(w);
	add_display_id(w);
	tg_jw_end_object(w);
	tg_jw_end_object(w);
	tg_jw_end_object(w);
}

static void on_set(void *ctx, const char *key, const char *json)
{
	struct tg_messages *m = ctx;

	tg_jw_key(&m->sw, key);
	tg_jw_raw(&m->sw, json, strlen(json));
	m->some_settings = true;
}

struct tg_output tg_messages_output(struct tg_messages *m)
{
	return (struct tg_output){
		.ctx = m, .text = on_text, .note = on_note, .show = on_show, .set = on_set
	};
}

void tg_messages_finish(struct tg_messages *m, struct tg_buf *out)
{
	flush_text(m);
	tg_jw_end_array(&m->w);
	tg_jw_end_object(&m->sw);
	tg_buf_addf(out, ",\"messages\":%s", m->json.data);
	if (m->some_settings)
		tg_buf_addf(out, ",\"settings\":%s", m->settings.data);
}
