/* SPDX-License-Identifier: BSD-3-Clause */
/* What is taken away from a recorder while it runs: its file, its socket, the folder of both. */
#include "recorder_kit.h"

/* A recorder whose file goes ends, and says why. Returns the name of the file. */
static char *lose(int (*go)(const char *path))
{
	struct tg_mark *m = start("deleted", getpid());
	struct tg_json *answer = NULL;
	char *file = hello(m, "file");
	const char *why = "";
	int r = 0;

	begin(m, "before", "cell");
	flush(m);
	T_EQ_I(go(file), 0);
	for (int i = 0; i < WAIT_MS / 10 && r == 0; i++) {
		usleep(10000);
		r = tg_mark_answer(m, &answer);
	}
	T_EQ_I(r, 1);
	why = tg_json_str(tg_json_get(answer, "end"), "");
	T_EQ_S(why, "the recording was deleted");
	tg_json_free(answer);
	wait_end(m);
	tg_mark_close(m);
	return file;
}

static int empty(const char *path)
{
	return truncate(path, 0);
}

/* A recording that is deleted ends, with a reason, and the next one is whole from its beginning. */
static void test_deleted(void)
{
	struct tg_mark *m;
	char *file = lose(empty);
	struct contents c;

	T_EQ_I(access(file, F_OK), 0);
	T_EQ_I(unlink(file), 0);
	free(file);
	file = lose(unlink);
	T_EQ_I(access(file, F_OK), -1);

	/* a name that is left is enough: a renamed file is written to, and so is a linked one */
	m = start("deleted", getpid());
	begin(m, "after", "cell");
	flush(m);
	{
		char *other = path_of("renamed.tacho");

		T_EQ_I(rename(file, other), 0);
		usleep(1500000); /* longer than it takes to be seen */
		flush(m);
		end(m, "after");
		tg_mark_bye(m);
		wait_end(m);
		read_back(other, &c);
		T_OK(c.damage.ended);
		T_EQ_I(c.n_sessions, 1);
		T_EQ_I(count(c.events.data, "\"ev\":\"begin\""), 1);
		tg_buf_release(&c.events);
		free(other);
	}
	tg_mark_close(m);
	free(file);
}

/* The runtime folder goes, or the socket in it: it is there again soon, with the same recorder. */
static void test_removed_runtime(void)
{
	struct tg_mark *m = start("homeless", getpid()), *other = NULL;
	char *file = hello(m, "file"), *socket = hello(m, "socket"), *again;
	pid_t pid = recorder_of(socket);
	struct tg_buf remove[2] = { TG_BUF_INIT, TG_BUF_INIT };
	struct contents c;

	tg_buf_addf(&remove[0], "rm %s", socket);
	tg_buf_addf(&remove[1], "rm -r %.*s", (int)(strrchr(socket, '/') - socket), socket);
	for (int i = 0; i < 2; i++) {
		int r = -1;

		T_EQ_I(system(remove[i].data), 0);
		for (int k = 0; k < WAIT_MS / 10 && r < 0; k++) {
			usleep(10000);
			r = tg_mark_connect(&other, socket, NULL);
		}
		T_EQ_I(r, 0);
		if (r < 0)
			break;
		T_EQ_I(recorder_of(socket), pid);
		again = hello(other, "socket");
		T_EQ_S(again, socket);
		free(again);
		T_EQ_I(tg_mark_note(other, "here"), 0);
		tg_mark_close(other);
		/* and nobody else can be the recorder of that name */
		other = start("homeless", 0);
		T_EQ_I(recorder_of(socket), pid);
		again = hello(other, "file");
		T_EQ_S(again, file);
		free(again);
		tg_mark_close(other);
	}
	tg_mark_bye(m);
	wait_end(m);
	tg_mark_close(m);
	T_EQ_I(access(socket, F_OK), -1);
	read_back(file, &c);
	T_OK(c.damage.ended);
	T_EQ_I(count(c.events.data, "\"here\""), 2);
	tg_buf_release(&c.events);
	tg_buf_release(&remove[0]);
	tg_buf_release(&remove[1]);
	free(file);
	free(socket);
}

int main(void)
{
	int r = set_up();

	if (r)
		return r;
	test_deleted();
	test_removed_runtime();
	return tear_down();
}
