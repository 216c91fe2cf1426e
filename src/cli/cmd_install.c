/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `install` and `uninstall` become Python: only jupyter_client knows where kernelspecs are. The
 * interpreter is the one beside the executable, as in a virtual environment, else that of PATH.
 */
#include <errno.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/paths.h"
#include "cli/cli.h"

#include "base/mem.h"

int tg_cmd_install(int argc, char **argv)
{
	static const char *const names[] = { "python3", "python" };
	static char program[] =
		"import sys\n"
		"sys.path = list(filter(None, sys.path))\n" /* not what lies in this folder */
		"try: from tachograph.install import main\n"
		"except ImportError: sys.exit('tachograph: the Python package tachograph is not '\n"
		"    'installed for ' + sys.executable)\n"
		"sys.exit(main(sys.argv[1:]))\n";
	struct tg_buf folder = TG_BUF_INIT, python = TG_BUF_INIT;
	char **args = tg_xcalloc((size_t)argc + 4, sizeof(*args));
	const char *slash;
	int status;

	args[1] = "-c";
	args[2] = program;
	memcpy(args + 3, argv, (size_t)argc * sizeof(*args));
	if (tg_paths_self(&folder) == 0 && (slash = strrchr(folder.data, '/')))
		for (size_t i = 0; i < TG_ARRAY_SIZE(names); i++) {
			tg_buf_clear(&python);
			tg_buf_addf(&python, "%.*s/%s", (int)(slash - folder.data), folder.data,
				names[i]);
			args[0] = python.data;
			execv(args[0], args);
		}
	args[0] = "python3";
	execvp(args[0], args);
	status = tg_cli_fail(TG_EXIT_FAILED,
		"%s needs Python 3, and there is none beside %s nor on PATH", argv[0],
		folder.data ? folder.data : "this program");
	free(args);
	tg_buf_release(&python);
	tg_buf_release(&folder);
	return status;
}
