/* SPDX-License-Identifier: BSD-3-Clause */
/* Text within XML and HTML. */
#ifndef TG_BASE_XML_H
#define TG_BASE_XML_H

#include "base/buf.h"

/* Append `s` so that it is text there, and within double quotes the value of an attribute. */
void tg_xml_text(struct tg_buf *out, const char *s);

#endif
