/* SPDX-License-Identifier: BSD-3-Clause */
#include "jupyter/conn.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>

#include "base/file.h"
#include "base/json.h"

#include "base/mem.h"

static const char *const port_name[TG_N_CHANNELS] = {
	[TG_SHELL] = "shell_port",
	[TG_IOPUB] = "iopub_port",
	[TG_STDIN] = "stdin_port",
	[TG_CONTROL] = "control_port",
	[TG_HB] = "hb_port",
};

static bool is_ours(const char *name)
{
	static const char *const ours[] = { "transport", "ip", "key", "signature_scheme",
		"curve_publickey", "curve_secretkey" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(ours); i++)
		if (!strcmp(name, ours[i]))
			return true;
	for (size_t i = 0; i < TG_N_CHANNELS; i++)
		if (!strcmp(name, port_name[i]))
			return true;
	return false;
}

/* A string member, bounded. Returns 0 with *out NULL when it is absent and may be. */
static int take(
	const struct tg_json *root, const char *name, bool needed, char **out, struct tg_err *err)
{
	const struct tg_json *v = tg_json_get(root, name);
	const char *s = tg_json_str(v, NULL);

	if (!v || tg_json_is_null(v))
		return needed ? tg_err_set(err, -EBADMSG, "there is no \"%s\" in it", name) : 0;
	if (!s || strlen(s) > TG_CONN_TEXT_MAX)
		return tg_err_set(err, -EBADMSG, "\"%s\" is not a text of at most %d bytes", name,
			TG_CONN_TEXT_MAX);
	if (strlen(s) != tg_json_str_len(v)) /* cut there, a key would sign what nobody accepts */
		return tg_err_set(err, -EBADMSG, "\"%s\" has a NUL character in it", name);
	*out = tg_xstrdup(s);
	return 0;
}

static int take_ports(struct tg_conn *c, const struct tg_json *root, struct tg_err *err)
{
	for (int i = 0; i < TG_N_CHANNELS; i++) {
		int64_t port = tg_json_int(tg_json_get(root, port_name[i]), -1);

		/* over ipc they are mere suffixes of paths, but jupyter_client counts them so too
		 */
		if (port < 1 || port > 65535)
			return tg_err_set(err, -EBADMSG, "\"%s\" is not a port from 1 to 65535",
				port_name[i]);
		c->port[i] = (int)port;
	}
	return 0;
}

static int check(struct tg_conn *c, const char *transport, struct tg_err *err)
{
	c->ipc = !strcmp(transport, "ipc");
	if (!c->ipc && strcmp(transport, "tcp"))
		return tg_err_set(err, -EPROTONOSUPPORT,
			"transport \"%.40s\" is not known; tcp and ipc are", transport);
	if (*c->key && c->scheme && strcmp(c->scheme, "hmac-sha256"))
		return tg_err_set(err, -EPROTONOSUPPORT,
			"signature scheme \"%.40s\" is not known; hmac-sha256 is", c->scheme);
	/* the path of a socket ends in "-5"; the limit is that of sun_path */
	if (c->ipc && strlen(c->ip) > 100)
		return tg_err_set(err, -ENAMETOOLONG, "\"ip\" is too long for a path of sockets");
	return 0;
}

/* {"shell_port": 41303, …, "ip": "127.0.0.1", "key": "…", "transport": "tcp",
    "signature_scheme": "hmac-sha256", "kernel_name": "python3"} */
int tg_conn_parse(struct tg_conn *c, const char *data, size_t len, struct tg_err *err)
{
	struct tg_json *root = tg_json_parse(data, len, err);
	char *transport = NULL;
	int ret;

	*c = (struct tg_conn){ .others = TG_BUF_INIT };
	if (!root)
		return -EBADMSG;
	if (!tg_json_is_object(root)) {
		ret = tg_err_set(err, -EBADMSG, "not a JSON object");
		goto out;
	}
	if ((ret = take(root, "transport", false, &transport, err)) ||
		(ret = take(root, "ip", true, &c->ip, err)) ||
		(ret = take(root, "key", false, &c->key, err)) ||
		(ret = take(root, "signature_scheme", false, &c->scheme, err)) ||
		(ret = take(root, "curve_secretkey", false, &c->curve_secret, err)) ||
		(ret = take_ports(c, root, err)))
		goto out;
	if (!c->key)
		c->key = tg_xstrdup("");
	ret = check(c, transport ? transport : "tcp", err);
	if (ret)
		goto out;
	for (const char *name = NULL; (name = tg_json_next_key(root, name));) {
		if (is_ours(name))
			continue;
		tg_buf_addc(&c->others, ',');
		tg_json_quote(&c->others, name, strlen(name));
		tg_buf_addc(&c->others, ':');
		tg_json_dump(tg_json_get(root, name), &c->others);
	}
out:
	free(transport);
	tg_json_free(root);
	return ret;
}

int tg_conn_read(struct tg_conn *c, const char *path, struct tg_err *err)
{
	struct tg_buf text = TG_BUF_INIT;
	int ret = tg_file_read(AT_FDCWD, path, TG_CONN_FILE_MAX, &text, err);

	*c = (struct tg_conn){ .others = TG_BUF_INIT };
	if (!ret) {
		ret = tg_conn_parse(c, text.data, text.len, err);
		if (ret)
			tg_err_prefix(err, path);
	}
	sodium_memzero(text.data, text.len);
	tg_buf_release(&text);
	return ret;
}

static void forget(char *secret)
{
	if (secret)
		sodium_memzero(secret, strlen(secret));
	free(secret);
}

void tg_conn_release(struct tg_conn *c)
{
	free(c->ip);
	free(c->scheme);
	forget(c->key);
	forget(c->curve_secret);
	tg_buf_release(&c->others);
	*c = (struct tg_conn){ .others = TG_BUF_INIT };
}

void tg_conn_endpoint(const struct tg_conn *c, enum tg_channel channel, struct tg_buf *out)
{
	if (c->ipc)
		tg_buf_addf(out, "ipc://%s-%d", c->ip, c->port[channel]);
	else
		tg_buf_addf(out, "tcp://%s:%d", c->ip, c->port[channel]);
}

void tg_conn_format(const struct tg_conn *c, struct tg_buf *out)
{
	struct tg_jw w;

	tg_jw_init(&w, out);
	tg_jw_begin_object(&w);
	tg_jw_kstr(&w, "transport", c->ipc ? "ipc" : "tcp");
	tg_jw_kstr(&w, "ip", c->ip);
	for (int i = 0; i < TG_N_CHANNELS; i++)
		tg_jw_kint(&w, port_name[i], c->port[i]);
	tg_jw_kstr(&w, "key", c->key);
	tg_jw_kstr(&w, "signature_scheme", c->scheme ? c->scheme : "hmac-sha256");
	tg_buf_add(out, c->others.data, c->others.len);
	tg_jw_end_object(&w);
}
