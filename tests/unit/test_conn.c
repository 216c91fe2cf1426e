/* SPDX-License-Identifier: BSD-3-Clause */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "jupyter/conn.h"
#include "jupyter/inner.h"

#include "base/mem.h"

#define SECRET "7b1c9e5a-4f0d-secret-key"
#define PORTS  "\"shell_port\":1,\"iopub_port\":2,\"stdin_port\":3,\"control_port\":4,\"hb_port\":5"

static const char good[] = "{" PORTS ",\"ip\":\"127.0.0.1\",\"key\":\"" SECRET
			   "\",\"transport\":\"tcp\",\"signature_scheme\":\"hmac-sha256\","
			   "\"kernel_name\":\"python3\",\"jupyter_session\":\"/n b.ipynb\"}";

static void test_good(void)
{
	struct tg_buf text = TG_BUF_INIT;
	struct tg_err err = { 0 };
	struct tg_conn c, again;

	T_EQ_I(tg_conn_parse(&c, good, sizeof(good) - 1, &err), 0);
	T_OK(!c.ipc);
	T_EQ_S(c.key, SECRET);
	T_EQ_I(c.port[TG_CONTROL], 4);
	tg_conn_endpoint(&c, TG_HB, &text);
	T_EQ_S(text.data, "tcp://127.0.0.1:5");
	/* what we do not know goes on to the user's kernel (P14) */
	T_EQ_S(c.others.data, ",\"kernel_name\":\"python3\",\"jupyter_session\":\"/n b.ipynb\"");
	tg_buf_clear(&text);
	tg_conn_format(&c, &text);
	T_EQ_I(tg_conn_parse(&again, text.data, text.len, &err), 0);
	T_EQ_S(again.key, c.key);
	T_EQ_S(again.others.data, c.others.data);
	T_EQ_I(again.port[TG_STDIN], 3);
	tg_conn_release(&again);
	tg_conn_release(&c);
	tg_buf_release(&text);
}

static void test_variants(void)
{
	static const char ipc[] =
		"{" PORTS ",\"ip\":\"/run/x\",\"transport\":\"ipc\",\"key\":\"k\","
		"\"curve_secretkey\":\"z85\",\"curve_publickey\":\"z85\"}";
	static const char odd[] =
		"{" PORTS ",\"ip\":\"::1\",\"jupyter_session\":\"/a/\\udcff.ipynb\"}";
	static const char plain[] =
		"{" PORTS ",\"ip\":\"::1\",\"key\":\"\",\"signature_scheme\":\"hmac-md5\"}";
	struct tg_buf text = TG_BUF_INIT;
	struct tg_err err = { 0 };
	struct tg_conn c;

	T_EQ_I(tg_conn_parse(&c, ipc, sizeof(ipc) - 1, &err), 0);
	tg_conn_endpoint(&c, TG_SHELL, &text);
	T_EQ_S(text.data, "ipc:///run/x-1");
	T_EQ_S(c.curve_secret, "z85");
	tg_buf_clear(&text);
	tg_conn_format(&c, &text);
	T_OK(!strstr(text.data, "curve")); /* the inner sockets are private already (P15) */
	tg_conn_release(&c);
	/* a notebook whose name is no UTF-8, as jupyter_client writes it (P14) */
	T_EQ_I(tg_conn_parse(&c, odd, sizeof(odd) - 1, &err), 0);
	T_EQ_S(c.others.data, ",\"jupyter_session\":\"/a/\\uFFFD.ipynb\"");
	tg_conn_release(&c);
	/* without a key nothing is signed, whatever the scheme is called */
	T_EQ_I(tg_conn_parse(&c, plain, sizeof(plain) - 1, &err), 0);
	T_EQ_S(c.key, "");
	tg_conn_release(&c);
	tg_buf_release(&text);
}

static void check_bad(const char *text, int code, const char *sentence)
{
	struct tg_err err = { 0 };
	struct tg_conn c;

	T_EQ_I(tg_conn_parse(&c, text, strlen(text), &err), code);
	if (!strstr(err.text, sentence))
		T_EQ_S(err.text, sentence);
	T_OK(!strstr(err.text, SECRET));
	tg_conn_release(&c);
}

static void test_bad(void)
{
	struct tg_buf text = TG_BUF_INIT;

	check_bad("", -EBADMSG, "not valid JSON");
	check_bad("{\"key\":\"" SECRET "\",", -EBADMSG, "not valid JSON");
	check_bad("[1]", -EBADMSG, "not a JSON object");
	check_bad("{" PORTS ",\"key\":\"" SECRET "\"}", -EBADMSG, "there is no \"ip\" in it");
	check_bad(
		"{\"ip\":\"x\",\"key\":\"" SECRET "\"}", -EBADMSG, "\"shell_port\" is not a port");
	check_bad("{\"shell_port\":70000,\"ip\":\"x\"}", -EBADMSG, "\"shell_port\" is not a port");
	check_bad("{\"shell_port\":\"1\",\"ip\":\"x\"}", -EBADMSG, "\"shell_port\" is not a port");
	check_bad("{" PORTS ",\"ip\":7,\"key\":\"" SECRET "\"}", -EBADMSG, "\"ip\" is not a text");
	check_bad("{" PORTS ",\"ip\":\"x\",\"key\":[\"" SECRET "\"]}", -EBADMSG,
		"\"key\" is not a text");
	check_bad("{" PORTS ",\"ip\":\"x\",\"transport\":\"inproc\",\"key\":\"" SECRET "\"}",
		-EPROTONOSUPPORT, "transport \"inproc\" is not known");
	check_bad("{" PORTS ",\"ip\":\"x\",\"signature_scheme\":\"hmac-md5\",\"key\":\"" SECRET
		  "\"}",
		-EPROTONOSUPPORT, "signature scheme \"hmac-md5\" is not known; hmac-sha256 is");
	check_bad("{" PORTS ",\"ip\":\"x\",\"key\":\"" SECRET "\\u0000x\"}", -EBADMSG,
		"\"key\" has a NUL character in it");
	tg_buf_adds(&text, "{" PORTS ",\"key\":\"" SECRET "\",\"ip\":\"");
	for (int i = 0; i < 5000; i++)
		tg_buf_addc(&text, 'x');
	tg_buf_adds(&text, "\"}");
	check_bad(text.data, -EBADMSG, "\"ip\" is not a text of at most");
	tg_buf_release(&text);
}

static void test_file(void)
{
	char path[] = "/tmp/tg-test-XXXXXX";
	struct tg_err err = { 0 };
	struct tg_conn c;
	int fd = mkstemp(path);

	T_OK(fd >= 0 && !tg_file_write_all(fd, good, 40));
	T_EQ_I(tg_conn_read(&c, path, &err), -EBADMSG);
	T_OK(!strncmp(err.text, path, strlen(path)));
	tg_conn_release(&c);
	T_OK(!ftruncate(fd, TG_CONN_FILE_MAX + 1));
	T_EQ_I(tg_conn_read(&c, path, &err), -EFBIG);
	tg_conn_release(&c);
	close(fd);
	unlink(path);
	T_EQ_I(tg_conn_read(&c, path, &err), -ENOENT);
	tg_conn_release(&c);
}

/* Chosen one by one, two of them are the same about once in 1500 times. */
static void test_ports(void)
{
	int port[TG_N_CHANNELS], same = 0;

	for (int i = 0; i < 20000; i++) {
		if (tg_inner_free_ports(port))
			same++;
		for (int a = 0; a < TG_N_CHANNELS; a++)
			for (int b = 0; b < a; b++)
				same += port[a] == port[b];
	}
	T_EQ_I(same, 0);
}

int main(void)
{
	test_good();
	test_variants();
	test_bad();
	test_file();
	test_ports();
	return t_done();
}
