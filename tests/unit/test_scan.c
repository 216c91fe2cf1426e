/* SPDX-License-Identifier: BSD-3-Clause */
#include "tap.h"

#include <errno.h>

#include "base/json.h"
#include "jupyter/scan.h"

#include "base/mem.h"

/* The member's bytes as text, "(none)" when it was not found. */
static const char *member(const char *json, const char *name)
{
	static struct tg_buf text = TG_BUF_INIT;
	struct tg_bytes v = tg_jscan_member(json, strlen(json), name);

	tg_buf_clear(&text);
	if (!v.at)
		return "(none)";
	tg_buf_add(&text, v.at, v.len);
	return text.data;
}

static void test_member(void)
{
	static const char json[] =
		" {\n\"a\" : 1e400 ,\"b\":[1,{\"c\":\"}]\"}], \"code\":\"x\\\"y\\\\\",\"t\":true,"
		"\"n\":123456789012345678901234567890,\"o\":{\"code\":\"inner\"},\"e\":\"\"}";

	T_EQ_S(member(json, "a"), "1e400");
	T_EQ_S(member(json, "b"), "[1,{\"c\":\"}]\"}]");
	T_EQ_S(member(json, "code"), "\"x\\\"y\\\\\"");
	T_EQ_S(member(json, "t"), "true");
	T_EQ_S(member(json, "n"), "123456789012345678901234567890");
	T_EQ_S(member(json, "o"), "{\"code\":\"inner\"}");
	T_EQ_S(member(json, "e"), "\"\"");
	T_EQ_S(member(json, "c"), "(none)");
	/* the last one counts, as in Python; a name may be written in escapes */
	T_EQ_S(member("{\"a\":1,\"a\":2}", "a"), "2");
	T_EQ_S(member("{\"\\u0061\":3}", "a"), "3");
	T_EQ_S(member("{\"a\\u0000\":3}", "a"), "(none)");
	T_EQ_S(member("{\"x\":NaN,\"y\":-Infinity,\"z\":null}", "y"), "-Infinity");
	T_EQ_S(member("{}", "a"), "(none)");
	T_EQ_S(member("[]", "a"), "(none)");
	T_EQ_S(member("", "a"), "(none)");
	for (size_t i = 0; i < sizeof(json) - 1; i++) { /* cut anywhere: nothing wrong is found */
		struct tg_bytes v = tg_jscan_member(json, i, "e");

		if (v.at)
			T_EQ_I(i, -1);
	}
	T_EQ_S(member("{\"a\":}", "a"), "(none)");
	T_EQ_S(member("{\"a\" 1}", "a"), "(none)");
	T_EQ_S(member("{\"a\":1 \"b\":2}", "b"), "(none)");
	T_EQ_S(member("{\"a\":\"\\", "a"), "(none)");
}

static void test_array(void)
{
	static const char json[] = "[ 1, \"a,b\" ,{\"x\":[]},[]]";
	static const char *const want[] = { "1", "\"a,b\"", "{\"x\":[]}", "[]" };
	struct tg_bytes array = { json, sizeof(json) - 1 }, one = { 0 }, empty = { "[ ]", 3 };
	size_t n = 0;

	while ((one = tg_jscan_next(array, one)).at && n < TG_ARRAY_SIZE(want)) {
		T_OK(one.len == strlen(want[n]) && !memcmp(one.at, want[n], one.len));
		n++;
	}
	T_EQ_I(n, TG_ARRAY_SIZE(want));
	T_OK(!tg_jscan_next(empty, (struct tg_bytes){ 0 }).at);
	T_OK(!tg_jscan_next((struct tg_bytes){ 0 }, (struct tg_bytes){ 0 }).at);
}

/* Decode, and write again. */
static void check_string(const char *json, const char *text, size_t len, const char *again)
{
	struct tg_bytes v = { json, strlen(json) };
	struct tg_buf out = TG_BUF_INIT, quoted = TG_BUF_INIT;

	T_EQ_I(tg_jscan_string(v, &out), 0);
	T_OK(out.len == len && !memcmp(out.data, text, len));
	tg_json_quote_lax(&quoted, out.data, out.len);
	T_EQ_S(quoted.data, again);
	tg_buf_release(&out);
	tg_buf_release(&quoted);
}

static void test_string(void)
{
	static const char *const bad[] = { "\"", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"",
		"1", "\"a", "a\"" };
	struct tg_buf out = TG_BUF_INIT;

	check_string("\"\"", "", 0, "\"\"");
	check_string("\"a\\n\\\"\\\\\\/\\b\\t\\u00e4\\u20AC\"", "a\n\"\\/\b\t\xc3\xa4\xe2\x82\xac",
		12, "\"a\\n\\\"\\\\/\\b\\t\\u00e4\\u20ac\"");
	check_string("\"\xc3\xa4\"", "\xc3\xa4", 2, "\"\\u00e4\"");
	check_string("\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80", 4, "\"\\ud83d\\ude00\"");
	/* lone surrogates and NULs come through */
	check_string("\"\\ud800\"", "\xed\xa0\x80", 3, "\"\\ud800\"");
	check_string("\"\\udc00x\"", "\xed\xb0\x80x", 4, "\"\\udc00x\"");
	check_string("\"\\ud800\\ud83d\\ude00\"", "\xed\xa0\x80\xf0\x9f\x98\x80", 7,
		"\"\\ud800\\ud83d\\ude00\"");
	check_string("\"a\\u0000b\"", "a\0b", 3, "\"a\\u0000b\"");
	check_string("\"\xff\"", "\xff", 1, "\"\\ufffd\"");
	tg_buf_adds(&out, "kept");
	for (size_t i = 0; i < TG_ARRAY_SIZE(bad); i++) {
		struct tg_bytes v = { bad[i], strlen(bad[i]) };

		T_EQ_I(tg_jscan_string(v, &out), -EBADMSG);
		T_EQ_S(out.data, "kept");
	}
	tg_buf_release(&out);
}

static void test_values(void)
{
	struct tg_bytes v = { "\"idl\\u0065\"", 11 }, n = { "-42", 3 },
			big = { "1234567890123456789", 19 };
	struct tg_bytes t = { "true", 4 }, real = { "1.5", 3 };

	T_OK(tg_jscan_is(v, "idle") && !tg_jscan_is(v, "idl") && !tg_jscan_is(t, "true"));
	T_OK(tg_jscan_literal(t, "true") && !tg_jscan_literal(t, "tru"));
	T_EQ_I(tg_jscan_int(n, 0), -42);
	T_EQ_I(tg_jscan_int(big, 7), 7);
	T_EQ_I(tg_jscan_int(real, 7), 7);
	T_EQ_I(tg_jscan_int((struct tg_bytes){ 0 }, 7), 7);
}

static void test_splice(void)
{
	static const char json[] = "{\"silent\":false,\"code\":\"old\",\"x\":0.1}";
	struct tg_bytes v = tg_jscan_member(json, sizeof(json) - 1, "code");
	struct tg_buf out = TG_BUF_INIT;

	tg_jscan_splice(json, sizeof(json) - 1, v, "\"# new\"", 7, &out);
	T_EQ_S(out.data, "{\"silent\":false,\"code\":\"# new\",\"x\":0.1}");
	tg_buf_release(&out);
}

int main(void)
{
	test_member();
	test_array();
	test_string();
	test_values();
	test_splice();
	return t_done();
}
