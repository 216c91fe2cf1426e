/* SPDX-License-Identifier: BSD-3-Clause */
/* A request to the worker: whatever it is, the answer is a JSON object with a list of messages. */
#include "base/json.h"
#include "command/worker.h"

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tg_buf out = TG_BUF_INIT;
	struct tg_json *answer;

	/* a path would open, and a fifo wait: those are for the unit test */
	if (memmem(data, size, "fifo", 4) || memmem(data, size, "file", 4) ||
		memmem(data, size, "\\u", 2))
		return 0;
	tg_worker_answer(NULL, (const char *)data, size, &out);
	answer = tg_json_parse(out.data, out.len, NULL);
	if (!tg_json_get(answer, "messages"))
		abort();
	tg_json_free(answer);
	tg_buf_release(&out);
	return 0;
}
