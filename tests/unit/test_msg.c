/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of Jupyter when memory runs out: the process ends with the one sentence, as everywhere,
 * and never with an abort and its core file.
 */
#include "tap.h"

#include <sys/wait.h>
#include <unistd.h>

#include "jupyter/msg.h"

#include "base/mem.h"

const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void test_out_of_memory(void)
{
	char text[64] = "";
	int out[2], status = 0;
	pid_t pid;

	T_EQ_I(pipe(out), 0);
	fflush(stdout); /* else the child has it, too */
	pid = fork();
	if (!pid) {
		struct tg_msg m = TG_MSG_INIT;

		dup2(out[1], STDERR_FILENO);
		tg_msg_add(&m, "", SIZE_MAX / 4); /* more than there is anywhere */
		_exit(0);
	}
	close(out[1]);
	T_EQ_I(waitpid(pid, &status, 0), pid);
	T_OK(WIFEXITED(status));
	T_EQ_I(WEXITSTATUS(status), 125);
	while (read(out[0], text, sizeof(text) - 1) > 0 && strncmp(text, "tachograph", 10))
		memset(text, 0, sizeof(text)); /* a warning of a sanitizer */
	T_EQ_S(text, "tachograph: out of memory\n");
	close(out[0]);
}

int main(void)
{
	test_out_of_memory();
	return t_done();
}
