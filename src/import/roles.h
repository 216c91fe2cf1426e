/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processes count, and in what role, by their commands: those that --match matches; the first
 * of the roles whose expression matches. A command is looked at once, however many rows have it.
 */
#ifndef TG_IMPORT_ROLES_H
#define TG_IMPORT_ROLES_H

#include <regex.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/map.h"

#define TG_ROLES_MAX    32
#define TG_COMMANDS_MAX (1u << 20) /* different ones */
#define TG_COMMAND_MAX  4096 /* bytes that are kept of one */

enum { TG_ROLE_UNKNOWN, TG_ROLE_OTHERS }; /* the first of the list */

struct tg_role {
	char *name;
	regex_t pattern;
	bool has_pattern;
};

struct tg_known_command {
	char *text;
	int role; /* -1: does not count */
};

struct tg_roles {
	regex_t match;
	struct tg_role role[TG_ROLES_MAX];
	size_t n;
	struct tg_known_command *command;
	size_t n_commands, cap;
	struct tg_map by_text;
};

/* `match` NULL: MATLAB. `given` are NAME=REGEX, tried before those that are always there. */
int tg_roles_init(struct tg_roles *r, const char *match, const char *const *given, size_t n_given,
	struct tg_err *err);
void tg_roles_release(struct tg_roles *r);

/* The command as it is kept, borrowed, and its role. */
const struct tg_known_command *tg_roles_command(struct tg_roles *r, const char *text, size_t len);

#endif
