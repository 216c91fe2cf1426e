/* SPDX-License-Identifier: BSD-3-Clause */
/* The role `tachograph recorder`: started by mark/mark.c, never by hand, so its errors are short.
 */
#include <getopt.h>

#include "base/paths.h"
#include "cli/cli.h"
#include "recorder/recorder.h"

#include "base/mem.h"

int tg_cmd_recorder(int argc, char **argv)
{
	static const struct option options[] = {
		{ "fd", required_argument, NULL, 'f' },
		{ "id", required_argument, NULL, 'd' },
		{ "output", required_argument, NULL, 'o' },
		{ "root", required_argument, NULL, 'r' },
		{ "interval-ns", required_argument, NULL, 'i' },
		{ "idle-interval-ns", required_argument, NULL, 'j' },
		{ "linger-ns", required_argument, NULL, 'l' },
		{ "queue-bytes", required_argument, NULL, 'q' },
		{ "what", required_argument, NULL, 'w' },
		{ "runtime", required_argument, NULL, 't' },
		{ "no-args", no_argument, NULL, 'n' },
		{ 0 },
	};
	struct tg_recorder_options o = {
		.fd = -1, .what = "record", .gpu_helper = "/proc/self/exe"
	};
	struct tg_err err = { 0 };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (c) {
		case 'f':
			o.fd = (int)strtol(optarg, NULL, 10);
			break;
		case 'd':
			o.id = optarg;
			break;
		case 'o':
			o.output = optarg;
			break;
		case 'r':
			o.root = (pid_t)strtol(optarg, NULL, 10);
			break;
		case 'i':
			o.interval_ns = strtoll(optarg, NULL, 10);
			break;
		case 'j':
			o.idle_interval_ns = strtoll(optarg, NULL, 10);
			break;
		case 'l':
			o.linger_ns = strtoll(optarg, NULL, 10);
			break;
		case 'q':
			o.queue_bytes = (size_t)strtoull(optarg, NULL, 10);
			break;
		case 'w':
			o.what = optarg;
			break;
		case 't':
			setenv(TG_PATHS_RUNTIME_TOLD, optarg, 1);
			break;
		case 'n':
			o.no_args = true;
			break;
		default:
			return TG_EXIT_USAGE;
		}
	}
	if (!o.id || !o.output || o.output[0] != '/')
		return tg_cli_fail(
			TG_EXIT_USAGE, "recorder is started by other words, not by hand");
	if (tg_recorder_run(&o, &err) < 0)
		return tg_cli_fail(TG_EXIT_FAILED, "%s", err.text);
	return TG_EXIT_OK;
}
