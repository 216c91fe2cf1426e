/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of TACHOGRAPH_SOCKET: what it takes is within its bounds, and the text itself. */
#include <errno.h>
#include <stdint.h>

#include "base/mem.h"
#include "mark/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = tg_xmemdup0((const char *)data, size);
	struct tg_buf again = TG_BUF_INIT;
	struct tg_mark_address a;
	int r = tg_mark_address_parse(&a, text);

	check(r == 0 || r == -EBADMSG);
	if (r == 0) {
		check(a.host[0] && strlen(a.host) <= TG_MARK_HOST_MAX);
		check(!a.boot_id[0] || strlen(a.boot_id) == TG_MARK_BOOT_ID_LEN);
		check(a.path[0] == '/');
		tg_buf_addf(&again, "%s:%s:%s", a.host, a.boot_id, a.path);
		check(!strcmp(again.data, text));
	}
	tg_buf_release(&again);
	free(text);
	return 0;
}
