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
	static const char sentence[] = "tachograph: out of memory\n";
	struct tg_buf text = TG_BUF_INIT;
	int out[2], status = 0;
	char piece[256];
	ssize_t n;
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
	while ((n = read(out[0], piece, sizeof(piece))) > 0)
		tg_buf_add(&text, piece, (size_t)n);
	/* a sanitizer may have put a warning of its own before it */
	if (T_OK(text.len >= sizeof(sentence) - 1))
		T_EQ_S(text.data + text.len - (sizeof(sentence) - 1), sentence);
	tg_buf_release(&text);
	close(out[0]);
}

int main(void)
{
	test_out_of_memory();
	return t_done();
}
