/* SPDX-License-Identifier: BSD-3-Clause */
/* Secrets in command lines: what must be masked, and what must be left as it is. */
#include "tap.h"

#include "base/buf.h"
#include "base/mask.h"
#include "base/mem.h"

/* Arguments are written with '|' between them. */
static void check(const char *args, const char *want)
{
	char in[512], out[600];
	size_t n = strlen(args);

	memcpy(in, args, n + 1);
	for (size_t i = 0; i < n; i++)
		if (in[i] == '|')
			in[i] = '\0';
	T_EQ_I(tg_mask_args(in, n + 1, out, sizeof(out)), strlen(want));
	T_EQ_S(out, want);
}

static void test_masked(void)
{
	/* a value behind the name, in the same argument or the next */
	check("jupyter|lab|--token=hunter2", "jupyter lab --token=***");
	check("jupyter|lab|--IdentityProvider.token=abc",
		"jupyter lab --IdentityProvider.token=***");
	check("prog|--password|two words|x", "prog --password *** x");
	check("prog|--password|-dash|x", "prog --password *** x");
	check("prog|--db-pass=a|b", "prog --db-pass=*** b");
	check("prog|-token|abc", "prog -token ***");
	check("env|DB_PASSWORD=x y|PGPASSWORD=z|cmd", "env DB_PASSWORD=*** PGPASSWORD=*** cmd");
	check("env|AWS_SECRET_ACCESS_KEY=abc|AWS_SESSION_TOKEN=d|cmd",
		"env AWS_SECRET_ACCESS_KEY=*** AWS_SESSION_TOKEN=*** cmd");
	check("docker|run|-e|API_KEY=abc|img", "docker run -e API_KEY=*** img");
	check("prog|--apiKey|abc|--accessToken=x", "prog --apiKey *** --accessToken=***");
	check("prog|--api-key=abc", "prog --api-key=***");
	check("prog|--client_secret:abc", "prog --client_secret:***");
	check("prog|--credentials=u:p", "prog --credentials=***");
	check("prog|--passphrase|correct horse", "prog --passphrase ***");
	check("prog|--pw=1234", "prog --pw=***");
	/* "key" alone may be a column to sort by; a long random value says otherwise */
	check("prog|--key=8f14e45fceea167a5a36dedd4bea2543", "prog --key=***");
	check("prog|--Session.key|a0b1c2d3-e4f5-6789-abcd-ef0123456789", "prog --Session.key ***");
	check("prog|KEY=dGhpcyBpcyBhIGtleQ0123==", "prog KEY=***");
	/* headers and JSON */
	check("curl|-H|Authorization: Bearer abc.def-ghi|http://h/",
		"curl -H Authorization: *** http://h/");
	check("curl|-H|X-Api-Key: abc|h", "curl -H X-Api-Key: *** h");
	check("curl|-H|Cookie: session=abc; b=c|h", "curl -H Cookie: *** h");
	check("prog|bearer abcdefghijkl", "prog bearer ***");
	check("prog|Bearer|abcdefghijkl", "prog Bearer ***");
	check("curl|-d|{\"user\": \"me\", \"password\": \"a b\"}|h",
		"curl -d {\"user\": \"me\", \"password\": \"***\"} h");
	/* URLs */
	check("git|clone|https://me:hunter2@host/x.git", "git clone https://me:***@host/x.git");
	check("psql|postgresql://u:p:w@h:5432/db", "psql postgresql://u:***@h:5432/db");
	check("git|clone|https://0123456789abcdef0123@host/x", "git clone https://***@host/x");
	check("curl|https://h/x?a=1&token=abc&b=2", "curl https://h/x?a=1&token=***&b=2");
	/* within the text of a shell */
	check("sh|-c|PROG=1 prog --password 'a b' --x", "sh -c PROG=1 prog --password '***' --x");
	check("sh|-c|curl -u me:pw http://h && TOKEN=abc ./x",
		"sh -c curl -u me:*** http://h && TOKEN=*** ./x");
	check("sh|-c|echo \"secret=abc\"", "sh -c echo \"secret=***\"");
	/* options that mean a password only to their program */
	check("curl|-u|me:pw|h", "curl -u me:*** h");
	check("curl|--user=me:pw|h", "curl --user=me:*** h");
	check("/usr/bin/sshpass|-p|pw|ssh|h", "/usr/bin/sshpass -p *** ssh h");
	check("sshpass|-ppw|ssh|h", "sshpass -p*** ssh h");
	check("mysql|-u|me|-ppw|db", "mysql -u me -p*** db");
	/* forms that speak for themselves */
	check("prog|ghp_0123456789abcdefABCDEF0123456789abcd", "prog ***");
	check("prog|eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF_-1", "prog ***");
	check("prog|hf_abcdefghijklmnopqrstuv", "prog ***");
}

static void test_left(void)
{
	check("python3|-m|ipykernel_launcher|-f|/run/user/1000/kernel-8f14e45f-ceea.json",
		"python3 -m ipykernel_launcher -f /run/user/1000/kernel-8f14e45f-ceea.json");
	check("sort|--key=2|-k|3", "sort --key=2 -k 3");
	check("prog|--key=/etc/ssl/private/host2024.pem",
		"prog --key=/etc/ssl/private/host2024.pem");
	check("train|--tokenizer|gpt2|--max_tokens|512|--num-tokens=4096",
		"train --tokenizer gpt2 --max_tokens 512 --num-tokens=4096");
	check("train|--max_token=512", "train --max_token=512");
	check("prog|--author|me|--monkey=abc|--keyboard=us|--bypass=x",
		"prog --author me --monkey=abc --keyboard=us --bypass=x");
	check("prog|--password|--next", "prog --password --next");
	check("docker|run|-u|1000:1000|img", "docker run -u 1000:1000 img");
	check("cp|-p|a|b", "cp -p a b");
	check("git|clone|git@github.com:a/b.git", "git clone git@github.com:a/b.git");
	check("git|clone|https://host/a:b@c", "git clone https://host/a:b@c");
	check("git|show|8f14e45fceea167a5a36dedd4bea25438f14e45f",
		"git show 8f14e45fceea167a5a36dedd4bea25438f14e45f");
	check("prog|--token-file|/run/t|--privateKeyPath=/a",
		"prog --token-file /run/t --privateKeyPath=/a");
	check("rsync|a|h:b|--password-file=/etc/x", "rsync a h:b --password-file=/etc/x");
	check("prog|a||b", "prog a  b");
	check("", "");
}

static void test_bounds(void)
{
	static const char args[] = "prog\0--password\0a\nb\0c\0\0\0";
	char out[64];

	for (size_t size = 1; size <= sizeof(out); size++) {
		size_t n = tg_mask_args(args, sizeof(args), out, size);

		if (n >= size || strlen(out) != n || strstr(out, "a b"))
			T_EQ_S(out, "what fits, is ended, and tells nothing");
	}
	tg_mask_args(args, sizeof(args), out, sizeof(out));
	T_EQ_S(out, "prog --password *** c");
	/* cut in the middle of a secret, as a long command line is */
	tg_mask_args("x --token=abc", 13, out, sizeof(out));
	T_EQ_S(out, "x --token=***");
	tg_mask_args("x\0--token", 9, out, sizeof(out));
	T_EQ_S(out, "x --token");
	tg_mask_args("a\tb\001c\177", 7, out, sizeof(out));
	T_EQ_S(out, "a b c ");
}

int main(void)
{
	test_masked();
	test_left();
	test_bounds();
	return t_done();
}
