/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the volume of births and deaths bounded when a build or a shell script starts thousands of
 * processes. At most 200 births a second are written one by one. The others are counted by command
 * until they have lived for a second; then they get their birth after all. What is counted goes
 * into one event a command and flush:
 *
 *  crowd     comm, births, deaths, cpu_ns (of those that died): processes too many to list
 */
#ifndef TG_RECORDER_CROWD_H
#define TG_RECORDER_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/events.h"
#include "recorder/pace.h"
#include "sample/sampler.h"

#define TG_CROWD_BIRTHS_PER_S 200
#define TG_CROWD_COMMANDS     4096 /* told apart; what is beyond is "other" */
#define TG_CROWD_MEMBERS      32768

struct tg_crowd_member {
	uint32_t entity;
	uint32_t command; /* index into command */
	pid_t pid, ppid;
	int64_t t_ns, start_ns;
};

struct tg_crowd_command {
	char comm[32];
	int64_t births,
		deaths; /* since the last flush; one that got its birth after all is taken off */
	int64_t cpu_ns;
};

struct tg_crowd {
	struct tg_budget births;
	uint32_t
		next_entity; /* smaller ones were told before: a process told again after an exec */
	struct tg_crowd_member *member; /* ascending by entity */
	size_t n, cap;
	struct tg_crowd_command *command;
	size_t n_commands, cap_commands;
};

void tg_crowd_release(struct tg_crowd *c);

void tg_crowd_birth(struct tg_crowd *c, struct tg_events *e, const struct tg_birth *birth);
void tg_crowd_death(struct tg_crowd *c, struct tg_events *e, int64_t t_ns, uint32_t entity,
	pid_t pid, int64_t cpu_ns);

/* Whether values of `entity` are to be written: it has, or now gets, its birth event. */
bool tg_crowd_value(struct tg_crowd *c, struct tg_events *e, int64_t t_ns, uint32_t entity);

/* Write what was counted since the last time. */
void tg_crowd_flush(struct tg_crowd *c, struct tg_events *e, int64_t t_ns);

#endif
