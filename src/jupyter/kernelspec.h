/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernelspecs: the kernel.json of the user's own kernel, found by name where Jupyter looks for it.
 * We read it ourselves because placeholders in our own argv would be filled in by our starter.
 */
#ifndef TG_JUPYTER_KERNELSPEC_H
#define TG_JUPYTER_KERNELSPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/environ.h"
#include "base/err.h"

#define TG_KERNELSPEC_FILE_MAX  (1u << 20)
#define TG_KERNELSPEC_ARGS_MAX  4096
#define TG_KERNELSPEC_DEPTH_MAX 4 /* specs of ours behind one another */

struct tg_kernelspec {
	char *name; /* of the kernel, or of its folder; of the folder above one called inner */
	char *dir; /* "" for the built-in python3 */
	char **argv; /* NULL-terminated, placeholders as in the file */
	size_t n_argv;
	char **env; /* name, value, name, value, …; `${VAR}` as in the file */
	size_t n_env;
	bool interrupt_by_message;
};

/*
 * Read the spec called `name` from JUPYTER_PATH, the environment of `prefix` (NULL: none), the
 * user's data folder, /usr/local/share and /usr/share, in Jupyter's order. "python3" where no such
 * spec exists is `python3 -m ipykernel_launcher`, as in jupyter_client. Returns 0 or -errno with a
 * sentence: -ENOENT when there is none. Release in any case.
 */
int tg_kernelspec_find(
	struct tg_kernelspec *s, const char *name, const char *prefix, struct tg_err *err);

/*
 * Read the spec in the folder `dir`. One that starts `tachograph kernel --spec DIR` stands for the
 * spec in DIR, so that no kernel is recorded twice: -ELOOP where there is none to be had behind it.
 */
int tg_kernelspec_read(struct tg_kernelspec *s, const char *dir, struct tg_err *err);

/* The same from the text of a kernel.json; `dir` is for {resource_dir}. */
int tg_kernelspec_parse(
	struct tg_kernelspec *s, const char *dir, const char *data, size_t len, struct tg_err *err);

void tg_kernelspec_release(struct tg_kernelspec *s);

/*
 * The command to run: argv with {connection_file}, {resource_dir} and {prefix} filled in; an
 * argv[0] of python, python3 or python3.N becomes `python`. Behind it `more` (NULL: none) as it is,
 * which whoever started us has filled in already. Caller frees with tg_strv_free.
 */
char **tg_kernelspec_command(const struct tg_kernelspec *s, const char *connection_file,
	const char *prefix, const char *python, char *const *more);

/*
 * The environment: `base` with the spec's variables on top, `${VAR}` and `$VAR` in these taken
 * from `base`. Room is left for `spare` more. Caller frees with tg_strv_free.
 */
char **tg_kernelspec_environ(const struct tg_kernelspec *s, char *const *base, size_t spare);

#endif
