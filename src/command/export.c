/* SPDX-License-Identifier: BSD-3-Clause */
/* `export`: the samples and spans of a recording for other programs. */
#include <errno.h>

#include "command/run.h"
#include "export/export.h"

#include "base/mem.h"

struct output {
	struct tg_command *c;
	struct tg_target target;
};

static int sink(void *ctx, const char *data, size_t len)
{
	struct output *o = ctx;

	return tg_target_write(o->c, &o->target, data, len);
}

/* The format that a name or --format asks for: "csv", "json"; NULL for others. */
static const char *format_of(const char *output, const char *format)
{
	const char *dot = strrchr(output, '.');

	if (!format)
		format = dot ? dot + 1 : !strcmp(output, "-") ? "csv" : "";
	return !strcmp(format, "csv") ? "csv" : !strcmp(format, "json") ? "json" : NULL;
}

int tg_run_export(struct tg_command *c, int argc, char **argv)
{
	const char *selection = NULL, *output = NULL, *format = NULL, *asked;
	const struct tg_span **span = NULL;
	struct tg_recording *r = NULL;
	struct tg_export e = { 0 };
	struct output o = { .c = c };
	const struct tg_option option[] = {
		{ "span", 's', &selection, NULL },
		{ "output", 'o', &output, NULL },
		{ "format", 'f', &format, NULL },
		{ "no-code", 0, NULL, &e.no_code },
		{ "no-args", 0, NULL, &e.no_args },
	};
	int rc;

	if (tg_options(c, &argc, argv, option, TG_ARRAY_SIZE(option)) != TG_WORD_OK)
		return TG_WORD_USAGE;
	asked = format;
	if (argc > 2 || !output || !(format = format_of(output, format))) {
		tg_err_set(&c->err, -EINVAL, "%s",
			argc > 2          ? "One recording is exported at a time"
			: output && asked ? "--format is csv or json"
					  : "Where to? Say -o with a name that ends in .csv or "
					    ".json, or -o - for the screen");
		return TG_WORD_USAGE;
	}
	rc = tg_open(c, argc > 1 ? argv[1] : NULL, &r);
	if (rc != TG_WORD_OK)
		return rc;
	rc = tg_choose(c, r, selection, "kind=*", &span, &e.n_spans);
	if (rc == TG_WORD_FAILED && !selection)
		rc = TG_WORD_OK; /* samples are worth having without spans, too */
	e.recording = r;
	e.span = span;
	/* in a notebook the file may hold other runs, which are not this kernel's */
	e.whole = !selection && c->where == TG_IN_CLI;
	e.sink = (struct tg_sink){ sink, &o };
	if (rc == TG_WORD_OK)
		rc = tg_target_open(c, output, r->path, &o.target);
	if (rc == TG_WORD_OK) {
		int wrote = strcmp(format, "csv") ? tg_export_json(&e, &c->err)
						  : tg_export_csv(&e, &c->err);

		rc = tg_target_close(c, &o.target, wrote < 0 ? TG_WORD_FAILED : TG_WORD_OK);
	}
	if (rc == TG_WORD_OK)
		tg_tell_written(c, "Exported", output);
	tg_tell_damage(c, r);
	free(span);
	tg_recording_close(r);
	return rc;
}
