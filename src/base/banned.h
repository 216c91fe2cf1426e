/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that this code base does not use, turned into errors. Included last by mem.h, so that
 * every file has it. Use buf.h for text, base/file.h for files, strtoll with checks for numbers.
 */
#ifndef TG_BASE_BANNED_H
#define TG_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat sprintf vsprintf gets strtok atoi atol atof
#pragma GCC poison gmtime localtime ctime asctime tmpnam mktemp

#endif
