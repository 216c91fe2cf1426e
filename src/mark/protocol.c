/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parser of mark/protocol.h. One real datagram:
 *
 * {"op":"begin","id":"c7","kind":"cell","name":"[7]","t":81234567890123,"edge":true,"count":7,
 *  "code":"x = f(3)\n"}
 */
#include "mark/protocol.h"

#include <errno.h>
#include <limits.h>

#include "base/mem.h"

static const char *const op_names[TG_MARK_OPS] = {
	[TG_MARK_BEGIN] = "begin",
	[TG_MARK_END] = "end",
	[TG_MARK_MOMENT] = "moment",
	[TG_MARK_NOTE] = "note",
	[TG_MARK_ROOT] = "root",
	[TG_MARK_ROOT_ASKED] = "root_asked",
	[TG_MARK_ROOT_END] = "root_end",
	[TG_MARK_SET] = "set",
	[TG_MARK_HELLO] = "hello",
	[TG_MARK_FLUSH] = "flush",
	[TG_MARK_USAGE] = "usage",
	[TG_MARK_OOM] = "oom",
	[TG_MARK_PROGRESS] = "progress",
	[TG_MARK_BYE] = "bye",
	[TG_MARK_ADOPT] = "adopt",
};

const char *tg_mark_op_name(enum tg_mark_op op)
{
	return op_names[op];
}

size_t tg_mark_cut(const char *s, size_t len, size_t max)
{
	if (len <= max)
		return len;
	/* step back over continuation bytes; bytes that are no UTF-8 are cut anywhere */
	for (size_t back = 0; back < 4 && back <= max; back++)
		if (((unsigned char)s[max - back] & 0xc0) != 0x80)
			return max - back;
	return max;
}

/* A member that is a string of at most `max` bytes. Empty counts as absent. */
static int get_string(const struct tg_mark_message *m, const char *key, size_t max,
	const char **out, struct tg_err *err)
{
	const struct tg_json *v = tg_json_get(m->json, key);
	const char *s = tg_json_str(v, NULL);

	if (!v || tg_json_is_null(v))
		return 0;
	if (!s)
		return tg_err_set(err, -EBADMSG, "\"%s\" is no string", key);
	if (strlen(s) > max)
		return tg_err_set(err, -EBADMSG, "\"%s\" is longer than %zu bytes", key, max);
	if (*s)
		*out = s;
	return 0;
}

/* A member that is an integer within [min, max]; `otherwise` when it is absent. */
static int get_int(const struct tg_mark_message *m, const char *key, int64_t min, int64_t max,
	int64_t otherwise, int64_t *out, struct tg_err *err)
{
	const struct tg_json *v = tg_json_get(m->json, key);

	*out = otherwise;
	if (!v || tg_json_is_null(v))
		return 0;
	/* a value that is no integer reads as one out of bounds */
	*out = tg_json_int(v, INT64_MIN);
	if (*out < min || *out > max) {
		*out = otherwise;
		return tg_err_set(err, -EBADMSG, "\"%s\" is out of bounds", key);
	}
	return 0;
}

static int get_attrs(struct tg_mark_message *m, struct tg_err *err)
{
	const struct tg_json *v = tg_json_get(m->json, "attrs");

	if (!v || tg_json_is_null(v))
		return 0;
	if (!tg_json_is_object(v))
		return tg_err_set(err, -EBADMSG, "\"attrs\" is no object");
	tg_json_dump(v, &m->attrs);
	if (m->attrs.len == 0)
		return tg_err_set(err, -EBADMSG, "\"attrs\" is nested too deeply");
	if (m->attrs.len > TG_MARK_ATTRS_MAX) {
		tg_buf_clear(&m->attrs);
		return tg_err_set(
			err, -EBADMSG, "\"attrs\" is longer than %u bytes", TG_MARK_ATTRS_MAX);
	}
	return 0;
}

static int get_members(struct tg_mark_message *m, struct tg_err *err)
{
	int64_t exit_code, sig;
	int r;

	if ((r = get_int(m, "t", 1, INT64_MAX, 0, &m->t_ns, err)) < 0 ||
		(r = get_int(m, "count", 0, INT64_MAX, -1, &m->count, err)) < 0 ||
		(r = get_int(m, "pid", 0, INT_MAX, 0, &m->pid, err)) < 0 ||
		(r = get_int(m, "exit", 0, 255, -1, &exit_code, err)) < 0 ||
		(r = get_int(m, "signal", 1, 64, -1, &sig, err)) < 0 ||
		(r = get_string(m, "id", TG_MARK_ID_MAX, &m->id, err)) < 0 ||
		(r = get_string(m, "kind", TG_MARK_WORD_MAX, &m->kind, err)) < 0 ||
		(r = get_string(m, "status", TG_MARK_WORD_MAX, &m->status, err)) < 0 ||
		(r = get_string(m, "key", TG_MARK_WORD_MAX, &m->key, err)) < 0 ||
		(r = get_string(m, "name", TG_MARK_NAME_MAX, &m->name, err)) < 0 ||
		(r = get_string(m, "lane", TG_MARK_NAME_MAX, &m->lane, err)) < 0 ||
		(r = get_string(m, "text", TG_MARK_TEXT_MAX, &m->text, err)) < 0 ||
		(r = get_string(m, "code", TG_MARK_CODE_MAX, &m->code, err)) < 0 ||
		(r = get_attrs(m, err)) < 0)
		return r;
	m->edge = tg_json_bool(tg_json_get(m->json, "edge"), false);
	m->of_parent = tg_json_bool(tg_json_get(m->json, "of_parent"), false);
	m->exit_code = (int)exit_code;
	m->signal = (int)sig;
	return 0;
}

/* What an operation cannot do without. */
static int check_needs(struct tg_mark_message *m, struct tg_err *err)
{
	const char *lacks = NULL;

	switch (m->op) {
	case TG_MARK_BEGIN:
		lacks = !m->id ? "id" : !m->kind ? "kind" : NULL;
		break;
	case TG_MARK_END:
		lacks = m->id ? NULL : "id";
		break;
	case TG_MARK_MOMENT:
		lacks = m->name ? NULL : "name";
		break;
	case TG_MARK_NOTE:
		lacks = m->text ? NULL : "text";
		break;
	case TG_MARK_ROOT:
	case TG_MARK_ROOT_ASKED:
	case TG_MARK_ROOT_END:
		lacks = m->pid ? NULL : "pid";
		break;
	case TG_MARK_SET:
		if (!m->key ||
			(strcmp(m->key, "interval_ns") && strcmp(m->key, "idle_interval_ns")))
			return tg_err_set(
				err, -EBADMSG, "only interval_ns and idle_interval_ns can be set");
		if (!tg_json_get(m->json, "value"))
			lacks = "value";
		else
			return get_int(m, "value", TG_MARK_INTERVAL_MIN, TG_MARK_INTERVAL_MAX, 0,
				&m->value, err);
		break;
	case TG_MARK_HELLO:
	case TG_MARK_FLUSH:
	case TG_MARK_USAGE:
	case TG_MARK_OOM:
	case TG_MARK_PROGRESS:
	case TG_MARK_ADOPT:
		lacks = m->n >= 0 ? NULL : "n";
		break;
	case TG_MARK_BYE:
	case TG_MARK_OPS:
		break;
	}
	if (lacks)
		return tg_err_set(err, -EBADMSG, "%s without \"%s\"", op_names[m->op], lacks);
	return 0;
}

int tg_mark_message_parse(
	struct tg_mark_message *m, const char *data, size_t len, struct tg_err *err)
{
	const char *op;
	int r;

	*m = (struct tg_mark_message){ .op = TG_MARK_OPS,
		.n = -1,
		.count = -1,
		.exit_code = -1,
		.signal = -1,
		.attrs = TG_BUF_INIT };
	if (len > TG_MARK_DATAGRAM_MAX)
		return tg_err_set(
			err, -EBADMSG, "a message of more than %u bytes", TG_MARK_DATAGRAM_MAX);
	m->json = tg_json_parse(data, len, err);
	if (!m->json)
		return -EBADMSG;
	r = get_int(m, "n", 0, INT64_MAX, -1, &m->n, err);
	if (r < 0)
		return r;
	op = tg_json_str(tg_json_get(m->json, "op"), "");
	for (int i = 0; i < TG_MARK_OPS; i++)
		if (!strcmp(op, op_names[i]))
			m->op = (enum tg_mark_op)i;
	if (m->op == TG_MARK_OPS)
		return tg_err_set(err, -EBADMSG, "no known \"op\"");
	r = get_members(m, err);
	return r < 0 ? r : check_needs(m, err);
}

void tg_mark_message_release(struct tg_mark_message *m)
{
	tg_json_free(m->json);
	tg_buf_release(&m->attrs);
	m->json = NULL;
}
