/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of a word, with getopt_long's rules but no state of its own and sentences of ours. */
#include <errno.h>

#include "command/run.h"
#include "report/panels.h"

#include "base/mem.h"

#define OPTIONS_MAX 16

const char *tg_option_near(const char *arg, const struct tg_option *option, size_t n)
{
	const char *names[OPTIONS_MAX], *near;
	struct tg_buf name = TG_BUF_INIT;

	if (strncmp(arg, "--", 2))
		return NULL;
	for (size_t i = 0; i < n && i < OPTIONS_MAX; i++)
		names[i] = option[i].name;
	tg_buf_add(&name, arg + 2, strcspn(arg + 2, "="));
	near = name.len ? tg_nearest(name.data, names, TG_MIN(n, (size_t)OPTIONS_MAX)) : NULL;
	tg_buf_release(&name);
	return near;
}

static int unknown_option(
	struct tg_command *c, const char *arg, const struct tg_option *option, size_t n)
{
	const char *near = tg_option_near(arg, option, n);
	struct tg_buf shown = TG_BUF_INIT;

	tg_plain(&shown, arg, 40);
	if (near)
		tg_err_set(&c->err, -EINVAL, "There is no option %s; did you mean --%s?",
			shown.data, near);
	else
		tg_err_set(&c->err, -EINVAL, "There is no option %s", shown.data);
	tg_buf_release(&shown);
	return TG_WORD_USAGE;
}

static const struct tg_option *find(
	const char *arg, const struct tg_option *option, size_t n, char **attached)
{
	*attached = NULL;
	if (arg[0] != '-')
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(option[i].name);

		if (arg[1] == '-' && !strncmp(arg + 2, option[i].name, len) &&
			(arg[2 + len] == '\0' || arg[2 + len] == '=')) {
			*attached = arg[2 + len] ? (char *)arg + 3 + len : NULL;
			return &option[i];
		}
		if (arg[1] != '-' && option[i].letter && arg[1] == option[i].letter) {
			*attached = arg[2] ? (char *)arg + 2 : NULL;
			return &option[i];
		}
	}
	return NULL;
}

static int take_one_of_many(struct tg_command *c, const struct tg_option *o, const char *value)
{
	if (o->many->n == TG_OPTION_VALUES_MAX) {
		tg_err_set(&c->err, -EINVAL, "--%s can be given %d times", o->name,
			TG_OPTION_VALUES_MAX);
		return TG_WORD_USAGE;
	}
	o->many->value[o->many->n++] = value;
	return TG_WORD_OK;
}

/* Take the option o, argv[*at] with `value` attached or NULL, and what it needs behind it. */
static int take(struct tg_command *c, int argc, char **argv, const struct tg_option *o, char *value,
	int *at)
{
	if (o->given)
		*o->given = true;
	if (!o->value && !o->many && value) {
		tg_err_set(&c->err, -EINVAL, "--%s takes no value", o->name);
		return TG_WORD_USAGE;
	}
	if (!o->value && !o->many)
		return TG_WORD_OK;
	if (!value && *at + 1 < argc)
		value = argv[++*at];
	if (!value) {
		tg_err_set(&c->err, -EINVAL, "%.40s needs a value", argv[*at]);
		return TG_WORD_USAGE;
	}
	if (o->value)
		*o->value = value;
	return o->many ? take_one_of_many(c, o, value) : TG_WORD_OK;
}

int tg_options_first(struct tg_command *c, int argc, char **argv, const struct tg_option *option,
	size_t n, int *rest)
{
	const struct tg_option *o;
	char *value;

	for (*rest = 1; *rest < argc && (o = find(argv[*rest], option, n, &value)); ++*rest)
		if (take(c, argc, argv, o, value, rest))
			return TG_WORD_USAGE;
	return TG_WORD_OK;
}

int tg_options(
	struct tg_command *c, int *argc, char **argv, const struct tg_option *option, size_t n)
{
	int kept = 1, i;

	for (i = 1; i < *argc; i++) {
		const struct tg_option *o;
		char *value;

		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		/* "-" is a file; "-1" could only be a selection that lacks its --span */
		if (argv[i][0] != '-' || !argv[i][1]) {
			argv[kept++] = argv[i];
			continue;
		}
		o = find(argv[i], option, n, &value);
		if (!o)
			return unknown_option(c, argv[i], option, n);
		if (take(c, *argc, argv, o, value, &i))
			return TG_WORD_USAGE;
	}
	while (i < *argc)
		argv[kept++] = argv[i++];
	*argc = kept;
	return TG_WORD_OK;
}

int tg_take_smooth(struct tg_command *c, const char *text, double *s)
{
	char *end;

	*s = TG_SMOOTH_USUAL;
	if (!text)
		return TG_WORD_OK;
	*s = strtod(text, &end);
	if (end != text && !*end && *s >= 0 && *s <= 86400)
		return TG_WORD_OK;
	tg_err_set(&c->err, -EINVAL,
		"--smooth is a number of seconds from 0 (none) to 86400, not \"%.40s\"", text);
	return TG_WORD_USAGE;
}
