/* SPDX-License-Identifier: BSD-3-Clause */
/* Parquet is written by pyarrow: a Python beside this program, else on PATH, reads `raw`. */
#ifndef TG_COMMAND_PARQUET_H
#define TG_COMMAND_PARQUET_H

#include "export/export.h"

/* Write `e` to the file `path`. 0, or -errno with a sentence, as where there is no pyarrow. */
int tg_parquet_write(struct tg_export *e, const char *path, struct tg_err *err);

#endif
