/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fuzz target over the files of a folder, so that what once failed is tried in every run. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	struct tg_buf input = TG_BUF_INIT;
	struct dirent *entry;
	int n = 0;
	DIR *dir;

	if (argc != 2 || !(dir = opendir(argv[1]))) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		tg_buf_clear(&input);
		if (tg_file_read(dirfd(dir), entry->d_name, 64u << 20, &input, NULL) < 0) {
			fprintf(stderr, "cannot read %s\n", entry->d_name);
			return 1;
		}
		LLVMFuzzerTestOneInput((const uint8_t *)input.data, input.len);
		n++;
	}
	closedir(dir);
	tg_buf_release(&input);
	printf("%d inputs\n", n);
	return n ? 0 : 1; /* an empty corpus tests nothing */
}
