/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/zone.h"

#include <errno.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

#include "base/mem.h"

#define FOLDER "/usr/share/zoneinfo/"

/* "CET-1CEST,M3.5.0,M10.5.0/3": rules of their own. The C library takes any word for UTC. */
static bool has_rules(const char *name)
{
	size_t letters = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

	return letters >= 3 && name[letters] && strspn(name + letters, "+-0123456789") > 0;
}

int tg_zone_set(const char *name, struct tg_err *err)
{
	struct tg_buf path = TG_BUF_INIT;
	bool known;

	tg_buf_addf(&path, FOLDER "%s", name);
	known = !strcmp(name, "UTC") || has_rules(name) ||
		(name[0] && name[0] != '/' && !strstr(name, "..") && access(path.data, R_OK) == 0);
	tg_buf_release(&path);
	if (!known)
		return tg_err_set(err, -EINVAL,
			"there is no time zone \"%.60s\": it is one of " FOLDER
			", as Europe/Berlin",
			name);
	setenv("TZ", !strcmp(name, "UTC") ? "UTC0" : name, 1);
	tzset();
	return 0;
}

int64_t tg_zone_offset_s(int64_t utc_s)
{
	time_t t = (time_t)utc_s;
	struct tm tm;

	return localtime_r(&t, &tm) ? tm.tm_gmtoff : 0;
}

int64_t tg_zone_utc(int64_t civil_ns, int64_t not_before_ns)
{
	int64_t s = civil_ns / TG_NS_PER_S, before = tg_zone_offset_s(s - 86400);
	int64_t after = tg_zone_offset_s(s + 86400);
	int64_t early = civil_ns - TG_MAX(before, after) * TG_NS_PER_S;
	int64_t late = civil_ns - TG_MIN(before, after) * TG_NS_PER_S;
	bool early_is, late_is;

	if (before == after)
		return early;
	early_is = tg_zone_offset_s(early / TG_NS_PER_S) == TG_MAX(before, after);
	late_is = tg_zone_offset_s(late / TG_NS_PER_S) == TG_MIN(before, after);
	if (early_is && late_is)
		return early >= not_before_ns ? early : late;
	if (early_is || late_is)
		return early_is ? early : late;
	return civil_ns - before * TG_NS_PER_S;
}
