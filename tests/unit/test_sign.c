/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 4231, test cases 1 to 4, 6 and 7 (5 is about cut digests, which Jupyter does not have). */
#include "tap.h"

#include "jupyter/sign.h"

#include "base/mem.h"

struct vector {
	const char *key_hex, *data_hex, *hmac;
};

static const struct vector vectors[] = {
	{ "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265",
		"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
	{ "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
		"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
		"dddddddddddddddddddddddddddddddd",
		"773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe" },
	{ "0102030405060708090a0b0c0d0e0f10111213141516171819",
		"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"
		"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd",
		"82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b" },
};

static void test_vectors(void)
{
	for (size_t i = 0; i < TG_ARRAY_SIZE(vectors); i++) {
		unsigned char key[64], data[128];
		size_t key_len, data_len;
		char hex[TG_SIGN_HEX + 1];
		struct tg_sign s;
		struct iovec part[3];

		sodium_hex2bin(key, sizeof(key), vectors[i].key_hex, strlen(vectors[i].key_hex),
			NULL, &key_len, NULL);
		sodium_hex2bin(data, sizeof(data), vectors[i].data_hex, strlen(vectors[i].data_hex),
			NULL, &data_len, NULL);
		tg_sign_init(&s, (const char *)key, key_len);
		/* in three parts, one of them empty: the frames are one text to the signature */
		part[0] = (struct iovec){ data, 5 };
		part[1] = (struct iovec){ data, 0 };
		part[2] = (struct iovec){ data + 5, data_len - 5 };
		T_EQ_I(tg_sign_hex(&s, part, 3, hex), TG_SIGN_HEX);
		T_EQ_S(hex, vectors[i].hmac);
		T_OK(tg_sign_check(&s, part, 3, hex, TG_SIGN_HEX));
		/* again: the keyed state is not used up */
		T_OK(tg_sign_check(&s, part, 3, vectors[i].hmac, TG_SIGN_HEX));
		for (int at = 0; at < TG_SIGN_HEX; at += 21) {
			hex[at] = hex[at] == 'f' ? '0' : 'f';
			T_OK(!tg_sign_check(&s, part, 3, hex, TG_SIGN_HEX));
			hex[at] = vectors[i].hmac[at];
		}
		T_OK(!tg_sign_check(&s, part, 3, hex, TG_SIGN_HEX - 1));
		T_OK(!tg_sign_check(&s, part, 3, "", 0));
	}
}

/* Cases 6 and 7: a key of 131 bytes, longer than a block. */
static void test_long_key(void)
{
	static const char six[] = "Test Using Larger Than Block-Size Key - Hash Key First";
	static const char seven[] =
		"This is a test using a larger than block-size key and a larger than block-size "
		"data. The key needs to be hashed before being used by the HMAC algorithm.";
	char key[131], hex[TG_SIGN_HEX + 1];
	struct iovec part = { (void *)(uintptr_t)six, sizeof(six) - 1 };
	struct tg_sign s;

	memset(key, 0xaa, sizeof(key));
	tg_sign_init(&s, key, sizeof(key));
	tg_sign_hex(&s, &part, 1, hex);
	T_EQ_S(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
	part = (struct iovec){ (void *)(uintptr_t)seven, sizeof(seven) - 1 };
	tg_sign_hex(&s, &part, 1, hex);
	T_EQ_S(hex, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

static void test_unsigned(void)
{
	char hex[TG_SIGN_HEX + 1] = "x";
	struct iovec part = { hex, 1 };
	struct tg_sign s;

	tg_sign_init(&s, "", 0);
	T_EQ_I(tg_sign_hex(&s, &part, 1, hex), 0);
	T_EQ_S(hex, "");
	T_OK(tg_sign_check(&s, &part, 1, "", 0));
	T_OK(tg_sign_check(&s, &part, 1, "whatever", 8));
}

int main(void)
{
	T_OK(sodium_init() >= 0);
	test_vectors();
	test_long_key();
	test_unsigned();
	return t_done();
}
