/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/environ.h"

#include "base/buf.h"

#include "base/mem.h"

char **tg_environ_copy(char *const *base, size_t spare)
{
	size_t n = 0;
	char **env;

	while (base[n])
		n++;
	env = tg_xcalloc(n + spare + 1, sizeof(*env));
	for (size_t i = 0; i < n; i++)
		env[i] = tg_xstrdup(base[i]);
	return env;
}

void tg_environ_set(char **env, const char *name, const char *value)
{
	size_t len = strlen(name), i = 0;
	struct tg_buf entry = TG_BUF_INIT;

	while (env[i] && (strncmp(env[i], name, len) || env[i][len] != '='))
		i++;
	if (env[i]) {
		free(env[i]);
		if (!value)
			do
				env[i] = env[i + 1];
			while (env[i++]);
	}
	if (!value)
		return;
	tg_buf_addf(&entry, "%s=%s", name, value);
	env[i] = tg_buf_detach(&entry);
}

void tg_strv_free(char **v)
{
	for (size_t i = 0; v && v[i]; i++)
		free(v[i]);
	free(v);
}
