/* SPDX-License-Identifier: BSD-3-Clause */
/* What a session chunk says: which machine, when, what for. Never an environment, never a key. */
#ifndef TG_RECORDER_SESSION_H
#define TG_RECORDER_SESSION_H

#include "base/buf.h"
#include "base/clock.h"
#include "recorder/recorder.h"

/*
 * Append the object: tool, host, boot_id, machine, kernel, cpu_model, cpus, memory_bytes, cgroup,
 * tz, tz_offset_s, clock {mono_ns, real_ns, boot_ns}, what, root, interval_ns, idle_interval_ns.
 * What is not to be had is absent.
 */
void tg_session_json(
	struct tg_buf *out, const struct tg_recorder_options *o, const struct tg_clocks *clocks);

#endif
