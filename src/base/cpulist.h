/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of CPUs as Linux writes them: "0-3,8,10-11". Numbers up to 65535. */
#ifndef TG_BASE_CPULIST_H
#define TG_BASE_CPULIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many CPUs are in it; 0 for what is no such list. It ends at a newline or at `len`. */
int64_t tg_cpulist_count(const char *text, size_t len);

/* Whether `cpu` is in it. What is no such list holds none. */
bool tg_cpulist_has(const char *text, size_t len, int64_t cpu);

#endif
