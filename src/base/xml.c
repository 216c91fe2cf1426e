/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/xml.h"

#include "base/mem.h"

void tg_xml_text(struct tg_buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '&')
			tg_buf_adds(out, "&amp;");
		else if (*s == '<')
			tg_buf_adds(out, "&lt;");
		else if (*s == '>')
			tg_buf_adds(out, "&gt;");
		else if (*s == '"')
			tg_buf_adds(out, "&quot;");
		else
			tg_buf_addc(out, *s);
	}
}
