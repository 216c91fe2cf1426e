/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/inner.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sodium.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/tidy.h"
#include "mark/address.h"

#include "base/mem.h"

#define CONNECT_NS      (60 * TG_NS_PER_S)
#define SOCKET_PATH_MAX 107 /* sun_path without its NUL */
#define IDENTITY        "tachograph" /* the same on shell, control and stdin: input() needs it */

static const enum tg_channel channels[] = { TG_IOPUB, TG_SHELL, TG_CONTROL, TG_STDIN };

/*
 * Make the folder and lock it. A process that tidies between the two takes it away: try again.
 * -EEXIST when the name is another's.
 */
static int make_locked(struct tg_inner *in)
{
	int ret = -ENOENT;

	for (int i = 0; i < 20 && ret == -ENOENT; i++) {
		if (mkdir(in->dir.data, 0700))
			return -errno;
		ret = tg_tidy_lock_folder(AT_FDCWD, in->dir.data);
	}
	if (ret == -EWOULDBLOCK)
		return -EEXIST; /* the one who tidies has it, and removes it */
	if (ret < 0)
		rmdir(in->dir.data);
	else
		in->lock_fd = ret;
	return TG_MIN(ret, 0);
}

/* Without a lock, beside the connection file. */
static int make_unlocked(struct tg_inner *in)
{
	int fd, ret;

	if (mkdir(in->dir.data, 0700))
		return -errno;
	fd = open(in->dir.data, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ret = fd < 0 ? -errno : 0;
	if (ret)
		rmdir(in->dir.data);
	else
		in->lock_fd = fd;
	return ret;
}

/* <runtime>/k-ID, or k-ID-PID while another proxy of the same connection file still ends. */
static int make_dir(struct tg_inner *in, const char *id, struct tg_err *err)
{
	int ret = tg_paths_runtime(&in->dir, err);

	if (ret)
		return ret;
	tg_tidy_runtime(in->dir.data);
	tg_buf_addf(&in->dir, "/k-%s", id);
	ret = make_locked(in);
	if (ret == -EEXIST) {
		tg_buf_addf(&in->dir, "-%d", (int)getpid());
		ret = make_locked(in);
	}
	return ret ? tg_err_set(err, ret, "%s: %s", in->dir.data, strerror(-ret)) : 0;
}

/*
 * Where there is no room for anything, a kernel that is not recorded is still wanted: then beside
 * the connection file, which could be written. That may be in a home on NFS, where sockets and
 * locks do not belong: tcp, and what a proxy that was killed leaves there is not swept.
 */
static int make_dir_beside(
	struct tg_inner *in, const struct tg_inner_start *start, struct tg_err *err)
{
	const char *slash = strrchr(start->outer_file, '/');
	int ret;

	in->beside = true;
	tg_buf_add(
		&in->dir, start->outer_file, slash ? (size_t)(slash - start->outer_file) + 1 : 0);
	tg_buf_addf(&in->dir, "k-%s-%d", start->id, (int)getpid());
	ret = make_unlocked(in);
	return ret ? tg_err_set(err, ret, "%s: %s", in->dir.data, strerror(-ret)) : 0;
}

int tg_inner_folder(struct tg_inner *in)
{
	struct tg_buf runtime = TG_BUF_INIT;
	int old = in->lock_fd, ret;

	if (!access(in->dir.data, F_OK))
		return 0;
	if (!in->beside)
		tg_paths_runtime(&runtime, NULL); /* removed too, maybe */
	tg_buf_release(&runtime);
	ret = in->beside ? make_unlocked(in) : make_locked(in);
	if (!ret && old >= 0)
		close(old);
	return ret;
}

int tg_inner_free_ports(int port[TG_N_CHANNELS])
{
	int fd[TG_N_CHANNELS], n = 0, ret = 0;

	/* all are held until the last is chosen */
	for (; n < TG_N_CHANNELS && !ret; n++) {
		struct sockaddr_in a = { .sin_family = AF_INET,
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		socklen_t len = sizeof(a);

		fd[n] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd[n] < 0 || bind(fd[n], (struct sockaddr *)&a, sizeof(a)) ||
			getsockname(fd[n], (struct sockaddr *)&a, &len))
			ret = -errno;
		port[n] = ntohs(a.sin_port);
	}
	while (n--)
		if (fd[n] >= 0)
			close(fd[n]);
	return ret;
}

static int make_conn(struct tg_inner *in, const struct tg_inner_start *start, struct tg_err *err)
{
	struct tg_buf ip = TG_BUF_INIT;
	int ret = 0;

	tg_buf_addf(&ip, "%s/s", in->dir.data);
	in->conn = (struct tg_conn){
		.ipc = !start->tcp && !in->beside && ip.len + strlen("-1") <= SOCKET_PATH_MAX,
		.key = tg_xstrdup(start->outer->key),
		.scheme = start->outer->scheme ? tg_xstrdup(start->outer->scheme) : NULL,
		.others = TG_BUF_INIT,
	};
	tg_buf_add(&in->conn.others, start->outer->others.data, start->outer->others.len);
	in->conn.ip = in->conn.ipc ? tg_buf_detach(&ip) : tg_xstrdup("127.0.0.1");
	for (int i = 0; i < TG_N_CHANNELS; i++)
		in->conn.port[i] = i + 1;
	tg_buf_release(&ip);
	if (!in->conn.ipc && start->outer->curve_secret)
		return tg_err_set(err, -EPROTONOSUPPORT,
			"the connection is to be encrypted, and the kernel behind can be reached "
			"over tcp only, where it would not be");
	if (!in->conn.ipc)
		ret = tg_inner_free_ports(in->conn.port);
	return ret ? tg_err_set(err, ret, "no free port: %s", strerror(-ret)) : 0;
}

static int write_file(struct tg_inner *in, const char *outer_file, struct tg_err *err)
{
	const char *base = strrchr(outer_file, '/');
	struct tg_buf text = TG_BUF_INIT;
	int fd, ret;

	tg_buf_addf(&in->file, "%s/%s", in->dir.data, base ? base + 1 : outer_file);
	tg_conn_format(&in->conn, &text);
	fd = open(in->file.data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ret = fd < 0 ? -errno : tg_file_write_all(fd, text.data, text.len);
	if (fd >= 0)
		close(fd);
	sodium_memzero(text.data, text.len);
	tg_buf_release(&text);
	return ret ? tg_err_set(err, ret, "%s: %s", in->file.data, strerror(-ret)) : 0;
}

/* The private folder, and the connection file in it. */
static int make_files(
	struct tg_inner *in, const struct tg_inner_start *start, bool beside, struct tg_err *err)
{
	int ret = beside ? make_dir_beside(in, start, err) : make_dir(in, start->id, err);

	if (!ret)
		ret = make_conn(in, start, err);
	return ret ? ret : write_file(in, start->outer_file, err);
}

static int open_sockets(struct tg_inner *in, void *context, struct tg_err *err)
{
	static const int none = 0, reconnect_ms = 10;

	for (size_t i = 0; i < TG_ARRAY_SIZE(channels); i++) {
		bool sub = channels[i] == TG_IOPUB;
		void *s = zmq_socket(context, sub ? ZMQ_SUB : ZMQ_DEALER);

		if (!s)
			return tg_err_set(err, -errno, "no socket: %s", zmq_strerror(errno));
		in->socket[channels[i]] = s;
		/* no bound towards the user's kernel: it must never drop or wait because of us */
		zmq_setsockopt(s, ZMQ_RCVHWM, &none, sizeof(none));
		zmq_setsockopt(s, ZMQ_SNDHWM, &none, sizeof(none));
		zmq_setsockopt(s, ZMQ_LINGER, &none, sizeof(none));
		zmq_setsockopt(s, ZMQ_RECONNECT_IVL, &reconnect_ms, sizeof(reconnect_ms));
		if (sub)
			zmq_setsockopt(s, ZMQ_SUBSCRIBE, "", 0);
		else
			zmq_setsockopt(s, ZMQ_ROUTING_ID, IDENTITY, strlen(IDENTITY));
	}
	return 0;
}

static int start_process(
	struct tg_inner *in, const struct tg_inner_start *start, struct tg_err *err)
{
	char **argv = tg_kernelspec_command(
		start->spec, in->file.data, start->prefix, start->python, start->more);
	char **env = tg_kernelspec_environ(start->spec, environ, 2);
	struct tg_spawn spawn = { .argv = argv, .env = env, .signals = start->signals, .fd3 = -1 };
	struct tg_buf address = TG_BUF_INIT;
	char pid[16];
	pid_t ret;

	/* kernels watch this process and end when it is gone; for the user's kernel it is us */
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	tg_environ_set(env, "JPY_PARENT_PID", pid);
	if (start->recorder)
		tg_mark_address_format(&address, start->recorder);
	tg_environ_set(env, TG_MARK_ENV, start->recorder ? address.data : NULL);
	ret = tg_spawn(&spawn, err);
	if (ret > 0)
		in->pid = ret;
	in->started_ns = tg_mono_ns();
	tg_strv_free(argv);
	tg_strv_free(env);
	tg_buf_release(&address);
	return ret > 0 ? 0 : ret;
}

int tg_inner_start(struct tg_inner *in, const struct tg_inner_start *start, struct tg_err *err)
{
	struct tg_err why = { 0 };
	int ret;

	*in = (struct tg_inner){ .dir = TG_BUF_INIT,
		.file = TG_BUF_INIT,
		.lock_fd = -1,
		.conn = { .others = TG_BUF_INIT } };
	ret = make_files(in, start, false, &why);
	if (ret) {
		tg_inner_close(in);
		if (make_files(in, start, true, NULL)) /* the first reason is the better one */
			return tg_err_set(err, ret, "%s", why.text);
	}
	if ((ret = open_sockets(in, start->context, err)))
		return ret;
	return start_process(in, start, err);
}

bool tg_inner_connect(struct tg_inner *in)
{
	struct tg_buf name = TG_BUF_INIT;

	if (in->connected)
		return true;
	for (size_t i = 0; in->conn.ipc && i < TG_ARRAY_SIZE(channels); i++) {
		int missing;

		tg_buf_clear(&name);
		tg_buf_addf(&name, "%s-%d", in->conn.ip, in->conn.port[channels[i]]);
		missing = access(name.data, F_OK);
		if (missing && tg_mono_ns() - in->started_ns < CONNECT_NS) {
			tg_buf_release(&name);
			return false;
		}
	}
	/* iopub first, as in `channels`: what it misses is lost */
	for (size_t i = 0; i < TG_ARRAY_SIZE(channels); i++) {
		tg_buf_clear(&name);
		tg_conn_endpoint(&in->conn, channels[i], &name);
		zmq_connect(in->socket[channels[i]], name.data);
	}
	tg_buf_release(&name);
	in->connected = true;
	return true;
}

bool tg_inner_ended(struct tg_inner *in, int *code, int *signal)
{
	siginfo_t info = { 0 };

	*code = *signal = 0;
	if (in->pid <= 0 || waitid(P_PID, (id_t)in->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
		!info.si_pid)
		return false;
	if (info.si_code == CLD_EXITED)
		*code = info.si_status;
	else
		*signal = info.si_status;
	return true;
}

void tg_inner_reap(struct tg_inner *in)
{
	if (in->pid > 0)
		waitpid(in->pid, NULL, 0);
	in->pid = 0;
}

void tg_inner_close(struct tg_inner *in)
{
	for (size_t i = 0; i < TG_N_CHANNELS; i++)
		if (in->socket[i])
			zmq_close(in->socket[i]);
	if (in->lock_fd >= 0) {
		/* who removed ours may have made another of that name */
		if (tg_tidy_is_there(AT_FDCWD, in->dir.data, in->lock_fd))
			tg_tidy_remove_folder(AT_FDCWD, in->dir.data);
		close(in->lock_fd);
		/* a recorder that was killed may have left its lock to nobody */
		if (!in->beside) {
			*strrchr(in->dir.data, '/') = '\0';
			tg_tidy_runtime(in->dir.data);
		}
	}
	tg_conn_release(&in->conn);
	tg_buf_release(&in->dir);
	tg_buf_release(&in->file);
	*in = (struct tg_inner){ .dir = TG_BUF_INIT,
		.file = TG_BUF_INIT,
		.lock_fd = -1,
		.conn = { .others = TG_BUF_INIT } };
}
