/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/settings.h"

#include "jupyter/env_line.h"
#include "mark/address.h"

#include "base/mem.h"

#define SHOWN 40 /* bytes of a value in a sentence */

/* ---- what holds ---- */

/* JUmPER's variable that was set last in a place: it asks for JUmPER's report. NULL: none. */
static const struct tg_setting_value *asks_for_jumper(const struct tg_setting_value *place)
{
	const struct tg_setting_value *last = NULL;

	for (int i = 0; i < TG_SETTINGS; i++)
		if (tg_setting((enum tg_setting_name)i)->jumper && place[i].text[0] &&
			(!last || place[i].order > last->order))
			last = &place[i];
	return last;
}

/* The text that holds; *place is TG_PLACES and *value NULL for a default. */
static const char *find(const struct tg_settings *s, enum tg_setting_name name, int *place,
	const struct tg_setting_value **value)
{
	for (*place = TG_PLACES - 1; *place >= 0; --*place) {
		const struct tg_setting_value *v = &s->value[*place][name], *jumper = NULL;

		if (name == TG_SET_REPORT)
			jumper = asks_for_jumper(s->value[*place]);
		*value = v;
		if (v->text[0] && (!jumper || jumper->order < v->order))
			return v->text;
		*value = jumper;
		if (jumper)
			return "jumper";
	}
	*value = NULL;
	*place = TG_PLACES;
	return tg_setting(name)->otherwise;
}

const char *tg_settings_text(const struct tg_settings *s, enum tg_setting_name name)
{
	const struct tg_setting_value *value;
	int place;

	return find(s, name, &place, &value);
}

double tg_settings_num(const struct tg_settings *s, enum tg_setting_name name)
{
	return strtod(tg_settings_text(s, name), NULL);
}

bool tg_settings_is(const struct tg_settings *s, enum tg_setting_name name, const char *text)
{
	return !strcmp(tg_settings_text(s, name), text);
}

void tg_settings_format(const struct tg_settings *s, struct tg_buf *out)
{
	struct tg_buf json = TG_BUF_INIT;
	struct tg_jw w;

	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	for (int i = 0; i < TG_SETTINGS; i++) {
		enum tg_setting_name name = (enum tg_setting_name)i;

		tg_buf_clear(&json);
		tg_setting_json(name, tg_settings_text(s, name), &json);
		tg_jw_key(&w, tg_setting(name)->key);
		tg_jw_raw(&w, json.data, json.len);
	}
	tg_jw_end_object(&w);
	tg_buf_release(&json);
}

void tg_settings_format_from(const struct tg_settings *s, struct tg_buf *out)
{
	static const char *const name_of[TG_PLACES] = {
		[TG_FROM_SPEC] = "kernelspec",
		[TG_FROM_ENVIRONMENT] = "environment",
		[TG_FROM_ENV] = "%env",
		[TG_FROM_SET] = "%tacho set",
	};
	struct tg_jw w;

	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	for (int i = 0; i < TG_SETTINGS; i++) {
		const struct tg_setting_value *value;
		char from[64];
		int place;

		find(s, (enum tg_setting_name)i, &place, &value);
		if (!value)
			continue;
		if (value->count >= 0)
			snprintf(from, sizeof(from), "%s in cell [%lld]", name_of[place],
				(long long)value->count);
		else
			snprintf(from, sizeof(from), "%s", name_of[place]);
		tg_jw_kstr(&w, tg_setting((enum tg_setting_name)i)->key, from);
	}
	tg_jw_end_object(&w);
}

/* ---- changes ---- */

static void put(struct tg_settings *s, enum tg_setting_place place, enum tg_setting_name name,
	const char *text, int64_t count)
{
	struct tg_setting_value *v = &s->value[place][name];

	snprintf(v->text, sizeof(v->text), "%s", text);
	v->count = count;
	v->order = ++s->n_set;
}

static void take_back(struct tg_settings *s, enum tg_setting_place place, enum tg_setting_name name)
{
	s->value[place][name].text[0] = '\0';
}

/* A value as a person wrote it. */
static void read_value(struct tg_settings *s, enum tg_setting_place place,
	enum tg_setting_name name, const char *value, int64_t count, struct tg_buf *why)
{
	const struct tg_setting *t = tg_setting(name);
	const char *covered = s->value[TG_FROM_SET][name].text;
	char text[TG_SETTING_TEXT_MAX];

	if (!tg_setting_read(name, value, text)) {
		tg_buf_addf(why, "%s=%.*s is not ", t->variable, SHOWN, value);
		if (place == TG_FROM_ENV && strpbrk(value, "{$"))
			tg_buf_adds(why, "understood: tachograph reads the line as it is written, "
					 "not what Python puts into it");
		else
			tg_setting_range(name, why);
		tg_buf_addf(why, "; %s stays.\n", tg_settings_text(s, name));
		return;
	}
	put(s, place, name, text, count);
	if (place < TG_FROM_SET && covered[0])
		tg_buf_addf(why, "%s=%s waits until `%%tacho set %s=` takes %s back.\n",
			t->variable, text, t->name, covered);
}

void tg_settings_start(struct tg_settings *s, const char *report, struct tg_buf *why)
{
	const char *keep = getenv("TACHOGRAPH_KEEP"), *perf = getenv("TACHOGRAPH_PERF");

	*s = (struct tg_settings){ 0 };
	if (report)
		put(s, TG_FROM_SPEC, TG_SET_REPORT, report, -1);
	/* JUmPER's first: who asks for a report by name as well, gets that one */
	for (int i = TG_SETTINGS; i-- > 0;) {
		const char *variable = tg_setting((enum tg_setting_name)i)->variable;
		const char *value = variable ? getenv(variable) : NULL;

		if (value && *value)
			read_value(s, TG_FROM_ENVIRONMENT, (enum tg_setting_name)i, value, -1, why);
	}
	if (keep && (!*keep || keep[strspn(keep, "0123456789")]))
		tg_buf_addf(why, "TACHOGRAPH_KEEP=%.*s is not a number of recordings; 20 stays.\n",
			SHOWN, keep);
	if (perf && strcmp(perf, "yes") != 0 && strcmp(perf, "no") != 0)
		tg_buf_addf(
			why, "TACHOGRAPH_PERF=%.*s is not yes or no; yes stays.\n", SHOWN, perf);
}

void tg_settings_take(struct tg_settings *s, const struct tg_json *changed, int64_t count)
{
	for (int i = TG_SETTINGS; i-- > 0;) { /* JUmPER's first, as above */
		enum tg_setting_name name = (enum tg_setting_name)i;
		const struct tg_json *v = tg_json_get(changed, tg_setting(name)->key);
		struct tg_buf json = TG_BUF_INIT;
		char text[TG_SETTING_TEXT_MAX];

		if (v && tg_json_is_null(v))
			take_back(s, TG_FROM_SET, name);
		if (v && tg_setting(name)->words)
			tg_buf_adds(&json, tg_json_str(v, ""));
		else if (v)
			tg_json_dump(v, &json);
		if (json.len && tg_setting_read(name, json.data, text))
			put(s, TG_FROM_SET, name, text, count);
		tg_buf_release(&json);
	}
}

/* ---- %env ---- */

bool tg_settings_in_code(const char *code, size_t len)
{
	return memmem(code, len, "env", 3) &&
	       (memmem(code, len, "JUMPER_REPORT", 13) || memmem(code, len, "TACHOGRAPH_", 11));
}

/* A variable of ours that is no setting of a kernel which runs. */
static void tell_late(const char *name, struct tg_buf *why)
{
	for (const char *const *v = tg_setting_at_start(); *v; v++)
		if (!strcmp(*v, name)) {
			tg_buf_addf(why,
				"%s is read when a kernel starts: it changes nothing here; set it "
				"where Jupyter is started.\n",
				name);
			return;
		}
	/* the one that we set for whatever the kernel starts is the user's to change */
	if (!strncmp(name, "TACHOGRAPH_", 11) && strcmp(name, TG_MARK_ENV) != 0)
		tg_buf_addf(why, "%.*s is no setting; `%%tacho set` lists them.\n", SHOWN, name);
}

void tg_settings_code(
	struct tg_settings *s, const char *code, size_t len, int64_t count, struct tg_buf *why)
{
	struct tg_env_lines lines = { .code = code, .len = len };
	struct tg_buf name = TG_BUF_INIT, value = TG_BUF_INIT;
	struct tg_env_line line;

	while (tg_env_lines_next(&lines, &line)) {
		enum tg_setting_name setting =
			tg_setting_of_variable(code + line.name, line.name_len);

		tg_buf_clear(&name);
		tg_buf_clear(&value);
		tg_buf_add(&name, code + line.name, line.name_len);
		tg_buf_add(&value, code + line.value, line.value_len);
		if (setting == TG_SETTINGS)
			tell_late(name.data, why);
		else if (!value.len)
			take_back(s, TG_FROM_ENV, setting);
		else
			read_value(s, TG_FROM_ENV, setting, value.data, count, why);
	}
	tg_buf_release(&name);
	tg_buf_release(&value);
}
