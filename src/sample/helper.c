/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/helper.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sample/sampler.h"

#include "base/clock.h"
#include "base/mem.h"

#define FIRST_NS (30 * TG_NS_PER_S)
#define RETRY_NS (5 * TG_NS_PER_S)
#define STARTS   3

#define DIED "the process that asks the driver has died"

void tg_helper_init(struct tg_helper *h, const char *source)
{
	*h = (struct tg_helper){ .source = source, .fd = -1 };
}

void tg_helper_release(struct tg_helper *h)
{
	if (h->fd >= 0)
		close(h->fd);
	h->fd = -1;
}

bool tg_helper_runs(struct tg_helper *h, const struct tg_env *env, int (*start)(void *ctx))
{
	int64_t now = tg_mono_ns();

	if (h->fd >= 0 || !start || h->starts == STARTS || now < h->retry_ns)
		return h->fd >= 0;
	h->starts++;
	h->retry_ns = now + RETRY_NS;
	h->answered = false;
	h->waits_ns = h->cpu_ns = 0;
	h->left = 0;
	h->fd = start(env->hooks->ctx);
	if (h->fd < 0)
		tg_env_note(env, "Values of %s are missing: the helper cannot be started: %s",
			h->source, strerror(-h->fd));
	return h->fd >= 0;
}

void tg_helper_stop(struct tg_helper *h, const struct tg_env *env, const char *why)
{
	tg_helper_release(h);
	h->retry_ns = tg_mono_ns() + RETRY_NS;
	tg_env_note(env, "Values of %s are missing: %s%s", h->source, why,
		h->starts < STARTS ? "; another try follows" : "");
}

void tg_helper_stop_for_good(struct tg_helper *h, const struct tg_env *env, const char *why)
{
	h->starts = STARTS;
	tg_helper_stop(h, env, why);
}

size_t tg_helper_hear(struct tg_helper *h, const struct tg_env *env, void *packet, size_t size)
{
	int64_t now = tg_mono_ns();
	ssize_t n;

	if (h->fd < 0)
		return 0;
	n = recv(h->fd, packet, size, MSG_DONTWAIT | MSG_TRUNC);
	if (n > 0 && h->left) {
		h->left--;
		h->waits_ns = now;
		return (size_t)n;
	}
	if (n > 0)
		tg_helper_stop(h, env, TG_HELPER_NONSENSE);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		tg_helper_stop(h, env, DIED);
	else if (h->waits_ns && now - h->waits_ns > (h->answered ? TG_HELPER_SILENT_NS : FIRST_NS))
		tg_helper_stop(h, env, "the driver does not answer");
	return 0;
}

bool tg_helper_is_free(const struct tg_helper *h)
{
	return h->fd >= 0 && !h->waits_ns;
}

void tg_helper_ask(struct tg_helper *h, const struct tg_env *env, const void *question, size_t len,
	size_t packets)
{
	if (send(h->fd, question, len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
		h->waits_ns = tg_mono_ns();
		h->left = packets;
	} else if (errno != EAGAIN && errno != EINTR) {
		tg_helper_stop(h, env, DIED);
	}
}

void tg_helper_answered(struct tg_helper *h, struct tg_env *env, int64_t cpu_ns)
{
	h->answered = true;
	h->waits_ns = 0;
	h->left = 0;
	tg_env_helper_cpu(env, &h->cpu_ns, cpu_ns);
}
