/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/mask.h"

#include <ctype.h>
#include <stdbool.h>
#include <strings.h>

#include "base/mem.h"

/* Reading position and what has been written. `arg` is the start of the argument that p is in. */
struct mask {
	const char *p, *end, *arg;
	const char *program; /* base name of the first argument */
	char *out;
	size_t n, size;
};

enum secrecy { NOT_SECRET, MAYBE_SECRET, SECRET };

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static void put(struct mask *m, const char *from, size_t len)
{
	for (size_t i = 0; i < len && m->n + 1 < m->size; i++)
		m->out[m->n++] = iscntrl((unsigned char)from[i]) ? ' ' : from[i];
}

static void put_masked(struct mask *m, const char *value_end)
{
	if (value_end == m->p)
		return;
	put(m, "***", 3);
	m->p = value_end;
}

static bool ends_with(const char *word, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && !strncasecmp(word + len - n, with, n);
}

static bool is_word(const char *word, size_t len, const char *other)
{
	return strlen(other) == len && !strncasecmp(word, other, len);
}

/* One part of a name: "access", "token". "tokenizer" and "max_tokens" are no secrets. */
static enum secrecy part_secrecy(const char *part, size_t len)
{
	static const char *const ending[] = { "password", "passwd", "passphrase", "passcode",
		"secret", "token", "apikey", "credential", "credentials", "cookie" };
	static const char *const whole[] = { "pass", "pwd", "pw", "authorization", "jwt" };
	static const char *const maybe[] = { "key", "auth", "signature", "sig", "sas", "session",
		"bearer" };

	for (size_t i = 0; i < TG_ARRAY_SIZE(ending); i++)
		if (ends_with(part, len, ending[i]))
			return SECRET;
	for (size_t i = 0; i < TG_ARRAY_SIZE(whole); i++)
		if (is_word(part, len, whole[i]))
			return SECRET;
	for (size_t i = 0; i < TG_ARRAY_SIZE(maybe); i++)
		if (is_word(part, len, maybe[i]))
			return MAYBE_SECRET;
	return NOT_SECRET;
}

/* --token-file: where the secret is, not what it is */
static bool names_a_file(const char *name, size_t len)
{
	return ends_with(name, len, "file") || ends_with(name, len, "path");
}

/* Of a name such as --aws-secret, DB_PASS, accessToken, IdentityProvider.token */
static enum secrecy name_secrecy(const char *name, size_t len)
{
	enum secrecy most = NOT_SECRET, found;
	bool kind = false; /* the part before says what the key is for */
	size_t from = 0;

	if (names_a_file(name, len))
		return NOT_SECRET;
	for (size_t i = 0; i <= len; i++) {
		bool hump = i > from && i < len && isupper((unsigned char)name[i]) &&
			    islower((unsigned char)name[i - 1]);

		if (i < len && !hump && isalnum((unsigned char)name[i]))
			continue;
		found = part_secrecy(name + from, i - from);
		/* an API key, an access key, a private key: no question */
		if (found == MAYBE_SECRET && kind && is_word(name + from, i - from, "key"))
			found = SECRET;
		if (i > from)
			kind = is_word(name + from, i - from, "api") ||
			       is_word(name + from, i - from, "access") ||
			       is_word(name + from, i - from, "private");
		most = TG_MAX(most, found);
		from = hump ? i : i + 1;
	}
	return most;
}

/* Long, of letters and digits, no path: what a person would not type as a plain option. */
static bool looks_random(const char *value, size_t len)
{
	bool digit = false, letter = false;

	if (len < 16 || *value == '/' || *value == '.' || *value == '~')
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)value[i];

		if (!isalnum(c) && !strchr("+/=_.-:~%", c))
			return false;
		digit |= isdigit(c) != 0;
		letter |= isalpha(c) != 0;
	}
	return digit && letter;
}

static bool is_known_form(const char *word, size_t len)
{
	static const char *const prefix[] = { "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
		"glpat-", "hf_", "sk-", "sk_live_", "rk_live_", "xoxb-", "xoxp-", "xoxa-", "xapp-",
		"eyJ", "npm_", "pypi-", "dop_v1_", "AIza", "ya29." };

	if (len < 20)
		return false;
	for (size_t i = 0; i < TG_ARRAY_SIZE(prefix); i++)
		if (!strncmp(word, prefix[i], strlen(prefix[i])))
			return true;
	return false;
}

/* Is it a small number? "--max-token 512" counts; "--password 1234" is asked for by name. */
static bool is_count(const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)value[i]))
			return false;
	return len <= 6;
}

/* The end of a value at m->p. Within a shell's or URL's text it ends earlier than the argument. */
static const char *value_end(const struct mask *m, bool whole_arg, bool in_query)
{
	const char *p = m->p;

	for (; p < m->end && *p; p++) {
		if (whole_arg)
			continue;
		if (isspace((unsigned char)*p) || *p == '\'' || *p == '"' ||
			(in_query && *p == '&'))
			break;
	}
	return p;
}

/* A value follows at m->p, named by [name, name_end). Copies an opening quote, then masks. */
static void mask_value(
	struct mask *m, enum secrecy secrecy, bool whole_arg, bool in_query, bool token)
{
	const char *end, *close = NULL;

	if (m->p < m->end && (*m->p == '\'' || *m->p == '"')) {
		char quote = *m->p;

		put(m, m->p++, 1);
		close = memchr(m->p, quote, (size_t)(m->end - m->p));
		whole_arg = false;
	}
	end = close ? close : value_end(m, whole_arg, in_query);
	if (end == m->p)
		return;
	if (secrecy == MAYBE_SECRET && !looks_random(m->p, (size_t)(end - m->p)))
		return;
	if (token && is_count(m->p, (size_t)(end - m->p)))
		return;
	put_masked(m, end);
}

/* scheme://user:PASSWORD@host; m->p is behind the "://" */
static void mask_userinfo(struct mask *m)
{
	const char *at = NULL, *colon = NULL, *p;

	for (p = m->p; p < m->end && *p && !strchr("/?#'\" \t\n", *p); p++) {
		if (*p == '@')
			at = p;
		else if (*p == ':' && !colon)
			colon = p;
	}
	if (!at)
		return;
	if (colon && colon < at) {
		put(m, m->p, (size_t)(colon + 1 - m->p));
		m->p = colon + 1;
		put_masked(m, at);
	} else if (looks_random(m->p, (size_t)(at - m->p))) {
		put_masked(m, at);
	}
}

/* curl -u name:PASSWORD, but not docker run -u 1000:1000 */
static void mask_user(struct mask *m)
{
	const char *end = value_end(m, false, false);
	const char *colon = memchr(m->p, ':', (size_t)(end - m->p));

	if (!colon || (size_t)(end - colon - 1) == 0 ||
		is_count(colon + 1, (size_t)(end - colon - 1)))
		return;
	put(m, m->p, (size_t)(colon + 1 - m->p));
	m->p = colon + 1;
	put_masked(m, end);
}

/* sshpass -pX, sshpass -p X, mysql -pX: options that only their program gives that meaning. */
static bool mask_short_option(struct mask *m, const char *name, size_t len)
{
	bool sshpass = !strncmp(m->program, "sshpass", 7);
	bool mysql = !strncmp(m->program, "mysql", 5) || !strncmp(m->program, "mariadb", 7);

	if (name != m->arg || len < 2 || memcmp(name, "-p", 2) != 0 || !(sshpass || mysql))
		return false;
	if (len > 2) {
		put(m, "-p", 2);
		m->p = name + 2;
		put_masked(m, value_end(m, true, false));
		return true;
	}
	if (!sshpass || m->p >= m->end || *m->p)
		return false;
	put(m, "-p ", 3);
	m->arg = ++m->p;
	put_masked(m, value_end(m, true, false));
	return true;
}

static bool is_user_option(const char *name, size_t len)
{
	return is_word(name, len, "-u") || is_word(name, len, "--user") ||
	       is_word(name, len, "--proxy-user");
}

/* A name was copied; if what follows is its value, see to that. */
static void after_name(struct mask *m, const char *name, size_t len)
{
	bool option = *name == '-', at_start = name == m->arg;
	bool in_query = name > m->arg && (name[-1] == '?' || name[-1] == '&');
	bool scheme_word = is_word(name, len, "bearer") || is_word(name, len, "basic");
	enum secrecy secrecy = scheme_word ? NOT_SECRET : name_secrecy(name, len);
	bool token = ends_with(name, len, "token"), whole_arg = at_start;
	const char *p = m->p;

	if (p < m->end && (*p == '"' || *p == '\''))
		p++; /* "password": "x" */
	if (p < m->end && (*p == '=' || (*p == ':' && (p + 1 == m->end || p[1] != '/')))) {
		p++;
		if (is_user_option(name, len) && option) {
			put(m, m->p, (size_t)(p - m->p));
			m->p = p;
			mask_user(m);
			return;
		}
		/* "Authorization: Bearer X": all that follows, in its argument */
		while (p < m->end && *p == ' ') {
			whole_arg = at_start;
			p++;
		}
		if (secrecy == NOT_SECRET)
			return;
		put(m, m->p, (size_t)(p - m->p));
		m->p = p;
		mask_value(m, secrecy, whole_arg, in_query, token);
		return;
	}
	if (m->p >= m->end || (*m->p && !isspace((unsigned char)*m->p)))
		return;
	if (!scheme_word && !option)
		return;
	p = m->p + 1;
	if (p >= m->end || (option && p + 1 < m->end && p[0] == '-' && p[1] == '-'))
		return; /* the next is an option itself */
	whole_arg = !*m->p;
	if (scheme_word) {
		if (value_end(&(struct mask){ .p = p, .end = m->end }, false, false) - p < 8)
			return;
		secrecy = SECRET;
	} else if (is_user_option(name, len)) {
		put(m, " ", 1);
		m->p = p;
		if (whole_arg)
			m->arg = p;
		mask_user(m);
		return;
	} else if (secrecy == NOT_SECRET) {
		return;
	}
	put(m, " ", 1);
	m->p = p;
	if (whole_arg)
		m->arg = p;
	mask_value(m, secrecy, whole_arg, false, token);
}

size_t tg_mask_args(const char *args, size_t len, char *out, size_t size)
{
	struct mask m = { args, args + len, args, "", out, 0, size };
	const char *slash;
	char program[16];

	while (m.end > m.p && m.end[-1] == '\0')
		m.end--;
	snprintf(program, sizeof(program), "%.*s", (int)TG_MIN(strnlen(args, len), 4096), args);
	slash = memrchr(args, '/', strnlen(args, len));
	if (slash)
		snprintf(program, sizeof(program), "%.*s",
			(int)(strnlen(args, len) - (size_t)(slash + 1 - args)), slash + 1);
	m.program = program;
	while (m.p < m.end) {
		const char *name = m.p;
		size_t n;

		if (!*m.p) {
			put(&m, " ", 1);
			m.arg = ++m.p;
			continue;
		}
		if (m.end - m.p > 3 && !memcmp(m.p, "://", 3)) {
			put(&m, m.p, 3);
			m.p += 3;
			mask_userinfo(&m);
			continue;
		}
		if (!is_name_char(*m.p)) {
			put(&m, m.p++, 1);
			continue;
		}
		while (m.p < m.end && is_name_char(*m.p))
			m.p++;
		n = (size_t)(m.p - name);
		if (mask_short_option(&m, name, n))
			continue;
		if (is_known_form(name, n)) {
			put(&m, "***", 3);
			continue;
		}
		put(&m, name, n);
		after_name(&m, name, n);
	}
	out[m.n] = '\0';
	return m.n;
}
