/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/disks.h"

#include "base/mem.h"

#define TITLE_CHARS 20 /* of mount points; what is longer has no room beside a panel */
#define POINT_CHARS 100

/* {"ev":"disk","t":81234,"name":"vda","mounts":["/","/boot"]}; the last one holds. */
static struct tg_json *find(const struct tg_recording *r, const char *disk)
{
	for (size_t i = r->n_moments; i-- > 0;) {
		const struct tg_moment *m = &r->moment[i];
		struct tg_json *event;

		if (strcmp(m->what, "disk") != 0)
			continue;
		event = tg_json_parse(m->json, strlen(m->json), NULL);
		if (!strcmp(tg_json_str(tg_json_get(event, "name"), ""), disk))
			return event;
		tg_json_free(event);
	}
	return NULL;
}

void tg_instance_title(
	const struct tg_recording *r, const char *metric, const char *instance, struct tg_buf *out)
{
	struct tg_json *event = !strncmp(metric, "disk.", 5) ? find(r, instance) : NULL;
	const struct tg_json *mounts = tg_json_get(event, "mounts");
	size_t n = tg_json_len(mounts), shown = 0;
	struct tg_buf one = TG_BUF_INIT, all = TG_BUF_INIT;

	for (; shown < n; shown++) {
		tg_buf_clear(&one);
		tg_plain(&one, tg_json_str(tg_json_at(mounts, shown), "?"), TITLE_CHARS);
		if (shown && all.len + one.len > TITLE_CHARS)
			break;
		tg_buf_addf(&all, "%s%s", shown ? ", " : "", one.data);
	}
	if (n)
		tg_buf_addf(out, "%s%s (%s)", all.data, shown < n ? ", …" : "", instance);
	else
		tg_buf_adds(out, instance);
	tg_buf_release(&one);
	tg_buf_release(&all);
	tg_json_free(event);
}

void tg_disk_put_mounts(const struct tg_recording *r, const char *disk, struct tg_jw *w)
{
	struct tg_json *event = find(r, disk);
	const struct tg_json *mounts = tg_json_get(event, "mounts");
	struct tg_buf one = TG_BUF_INIT;

	if (tg_json_len(mounts)) {
		tg_jw_key(w, "mounts");
		tg_jw_begin_array(w);
		for (size_t i = 0; i < tg_json_len(mounts); i++) {
			tg_buf_clear(&one);
			tg_plain(&one, tg_json_str(tg_json_at(mounts, i), ""), POINT_CHARS);
			tg_jw_str(w, one.data);
		}
		tg_jw_end_array(w);
	}
	tg_buf_release(&one);
	tg_json_free(event);
}
