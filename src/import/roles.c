/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/roles.h"

#include <errno.h>

#include "base/hash.h"

#include "base/mem.h"

/* MATLAB's, as a pipeline's processes were told apart before; "skip" does not count. */
static const struct {
	const char *name, *pattern;
} usual[] = {
	{ "skip", "psname\\.sh" },
	{ "helper", "matlab_helper" },
	{ "worker", "-dmlworker" },
	{ "main", "-nosplash" },
	{ "softgl", "-prefer" },
	{ "smpd", "smpd" },
	{ "mpiexec", "mpiexec" },
};

static int compile(regex_t *re, const char *pattern, const char *option, struct tg_err *err)
{
	int r = pattern[0] ? regcomp(re, pattern, REG_EXTENDED | REG_NOSUB) : REG_BADPAT;
	char why[80] = "it is empty";

	if (r == 0)
		return 0;
	if (pattern[0])
		regerror(r, re, why, sizeof(why));
	return tg_err_set(
		err, -EINVAL, "%s: \"%.60s\" is no regular expression: %s", option, pattern, why);
}

static int add(
	struct tg_roles *r, const char *name, size_t len, const char *pattern, struct tg_err *err)
{
	struct tg_role *role = &r->role[r->n];
	int rc;

	if (r->n == TG_ROLES_MAX)
		return tg_err_set(err, -E2BIG, "there are more than %d roles", TG_ROLES_MAX);
	*role = (struct tg_role){ .has_pattern = pattern != NULL };
	rc = pattern ? compile(&role->pattern, pattern, "--role", err) : 0;
	if (rc < 0)
		return rc;
	role->name = tg_xmemdup0(name, len);
	r->n++;
	return 0;
}

static int add_given(struct tg_roles *r, const char *given, struct tg_err *err)
{
	const char *equals = strchr(given, '=');
	size_t len = equals ? (size_t)(equals - given) : 0;

	if (!len || strspn(given, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "_-") < len)
		return tg_err_set(err, -EINVAL,
			"--role is NAME=REGEX with letters, digits, - and _ in NAME, not \"%.60s\"",
			given);
	return add(r, given, len, equals + 1, err);
}

int tg_roles_init(struct tg_roles *r, const char *match, const char *const *given, size_t n_given,
	struct tg_err *err)
{
	int rc;

	*r = (struct tg_roles){ 0 };
	rc = compile(&r->match, match ? match : "MATLAB", "--match", err);
	if (rc < 0)
		return rc;
	add(r, "unknown", 7, NULL, NULL);
	add(r, "others", 6, NULL, NULL);
	for (size_t i = 0; i < n_given && rc == 0; i++)
		rc = add_given(r, given[i], err);
	for (size_t i = 0; i < TG_ARRAY_SIZE(usual) && rc == 0; i++)
		rc = add(r, usual[i].name, strlen(usual[i].name), usual[i].pattern, err);
	if (rc < 0)
		tg_roles_release(r);
	return rc;
}

void tg_roles_release(struct tg_roles *r)
{
	regfree(&r->match);
	for (size_t i = 0; i < r->n; i++) {
		if (r->role[i].has_pattern)
			regfree(&r->role[i].pattern);
		free(r->role[i].name);
	}
	for (size_t i = 0; i < r->n_commands; i++)
		free(r->command[i].text);
	free(r->command);
	tg_map_release(&r->by_text);
	*r = (struct tg_roles){ 0 };
}

static int role_of(const struct tg_roles *r, const char *command)
{
	if (strstr(command, "<defunct>") || regexec(&r->match, command, 0, NULL, 0) != 0)
		return -1;
	for (size_t i = 0; i < r->n; i++)
		if (r->role[i].has_pattern &&
			regexec(&r->role[i].pattern, command, 0, NULL, 0) == 0)
			return strcmp(r->role[i].name, "skip") != 0 ? (int)i : -1;
	/* the bare name of a program says nothing of what it was told to do */
	return command[0] == '/' || strchr(command, ' ') ? TG_ROLE_OTHERS : TG_ROLE_UNKNOWN;
}

const struct tg_known_command *tg_roles_command(struct tg_roles *r, const char *text, size_t len)
{
	static const struct tg_known_command none = { (char *)"", -1 };
	uint64_t key;
	ptrdiff_t at;

	len = TG_MIN(len, (size_t)TG_COMMAND_MAX);
	key = tg_hash(TG_HASH_INIT, text, len);
	at = tg_map_get(&r->by_text, key);
	if (at >= 0)
		return &r->command[at];
	if (r->n_commands == TG_COMMANDS_MAX)
		return &none;
	TG_GROW(r->command, r->n_commands + 1, r->cap);
	r->command[r->n_commands].text = tg_xmemdup0(text, len);
	r->command[r->n_commands].role = role_of(r, r->command[r->n_commands].text);
	tg_map_put(&r->by_text, key, r->n_commands);
	return &r->command[r->n_commands++];
}
