/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/parquet.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/spawn.h"

#include "base/mem.h"

/* As python/tachograph/parquet.py ends, and the line that starts it. */
enum { NO_PYARROW = 3, NO_ROOM = 4, NO_MODULE = 5, NO_FILE = 6 };

/* No module of the current folder, whosever that is, takes the place of ours. */
#define START                                                                                      \
	"import sys\n"                                                                             \
	"sys.path[:] = [p for p in sys.path if p]\n"                                               \
	"try:\n"                                                                                   \
	"    from tachograph.parquet import main\n"                                                \
	"except ImportError:\n"                                                                    \
	"    sys.exit(5)\n"                                                                        \
	"sys.exit(main())\n"

extern char **environ;

/* That of the environment we are installed in, whose packages its user means. */
static void find_python(struct tg_buf *out)
{
	char *slash;

	if (tg_paths_self(out) == 0 && (slash = strrchr(out->data, '/'))) {
		tg_buf_splice(out, (size_t)(slash - out->data), strlen(slash), "/python3",
			strlen("/python3"));
		if (access(out->data, X_OK) == 0)
			return;
	}
	tg_buf_clear(out);
	tg_buf_adds(out, "python3");
}

static int send_all(void *ctx, const char *data, size_t len)
{
	int fd = *(int *)ctx;

	while (len) {
		/* no signal when the other end is gone */
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int ended(int status, struct tg_err *err)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	if (code == 0)
		return 0;
	return tg_err_set(err,
		code == NO_ROOM   ? -ENOSPC
		: code == NO_FILE ? -EIO
				  : -ENOTSUP,
		"%s",
		code == NO_PYARROW  ? "Parquet is written by pyarrow, which this Python lacks: "
				      "pip install pyarrow"
		: code == NO_ROOM   ? "There is no room for what pyarrow writes"
		: code == NO_FILE   ? "pyarrow could not write the file"
		: code == NO_MODULE ? "Parquet is written by a Python that has tachograph and "
				      "pyarrow: install both into one environment"
				    : "The Python that writes Parquet died");
}

int tg_parquet_write(struct tg_export *e, const char *path, struct tg_err *err)
{
	struct tg_buf python = TG_BUF_INIT;
	char *argv[] = { NULL, (char *)"-c", (char *)START, (char *)path, NULL };
	struct tg_spawn spawn = { .argv = argv, .env = environ, .fd3 = -1 };
	int pair[2], rc, status = -1;
	struct tg_sink before = e->sink;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return tg_err_set(err, -errno, "Cannot start Python: %s", strerror(errno));
	find_python(&python);
	argv[0] = python.data;
	spawn.fd3 = pair[1];
	pid = tg_spawn(&spawn, err);
	tg_buf_release(&python);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return (int)pid;
	}
	e->sink = (struct tg_sink){ send_all, &pair[0] };
	rc = tg_export_raw(e, err);
	e->sink = before;
	close(pair[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	/* who ended early says why; else we do */
	return rc == 0 || status != 0 ? ended(status, err) : rc;
}
