/* SPDX-License-Identifier: BSD-3-Clause */
#include "sample/visible.h"

#include "base/mem.h"

const char *tg_visible_variable(const char *text, size_t len, const char *name)
{
	size_t n = strlen(name);
	const char *end = text + len;

	while (text < end) {
		if ((size_t)(end - text) > n && !memcmp(text, name, n) && text[n] == '=')
			return text + n + 1;
		text += strnlen(text, (size_t)(end - text)) + 1;
	}
	return NULL;
}

struct view {
	const struct tg_gpu_device *device;
	size_t n;
	enum tg_visible *out;
	bool by_bus; /* CUDA counts the devices in the order of their PCI addresses */
};

static bool whole(const struct view *v, size_t i)
{
	return v->device[i].parent < 0;
}

/* All of one model are counted by PCI address; else the fastest is first, and we do not know. */
static bool counted_by_bus(const struct view *v, const char *order)
{
	if (order && !strcmp(order, "PCI_BUS_ID"))
		return true;
	for (size_t i = 0; i < v->n; i++)
		if (whole(v, i) && strcmp(v->device[i].model, v->device[0].model) != 0)
			return false;
	return true;
}

static size_t rank(const struct view *v, size_t at)
{
	size_t before = 0;

	for (size_t i = 0; i < v->n; i++)
		before += whole(v, i) && (v->device[i].bus < v->device[at].bus ||
						 (v->device[i].bus == v->device[at].bus && i < at));
	return before;
}

/* A divided device stands for one of its parts: which, only CUDA knows. */
static void show(const struct view *v, size_t at)
{
	v->out[at] = TG_VISIBLE_YES;
	for (size_t i = 0; i < v->n; i++)
		if (v->device[i].parent == (int32_t)at && v->out[i] == TG_VISIBLE_NO)
			v->out[i] = TG_VISIBLE_UNKNOWN;
}

static bool show_number(const struct view *v, size_t number)
{
	size_t wholes = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (!whole(v, i))
			continue;
		wholes++;
		if (v->by_bus && rank(v, i) == number)
			show(v, i);
	}
	if (number >= wholes)
		return false;
	for (size_t i = 0; i < v->n && !v->by_bus; i++)
		if (v->out[i] == TG_VISIBLE_NO)
			v->out[i] = TG_VISIBLE_UNKNOWN;
	return true;
}

/* A UUID or the beginning of one, if it is one device's only. */
static bool show_uuid(const struct view *v, const char *text, size_t len)
{
	size_t found = v->n, matches = 0;

	for (size_t i = 0; i < v->n; i++)
		if (!strncasecmp(v->device[i].uuid, text, len)) {
			found = i;
			matches++;
		}
	if (matches == 1)
		show(v, found);
	return matches == 1;
}

static bool show_one(const struct view *v, const char *text, size_t len)
{
	size_t number = 0;

	if (len > 4 && (!strncmp(text, "GPU-", 4) || !strncmp(text, "MIG-", 4)))
		return show_uuid(v, text, len);
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || number > TG_GPU_DEVICES)
			return false;
		number = number * 10 + (size_t)(text[i] - '0');
	}
	return len > 0 && show_number(v, number);
}

void tg_visible_devices(const char *list, const char *order, const struct tg_gpu_device *device,
	size_t n, enum tg_visible *out)
{
	struct view v = { .device = device, .n = n, .out = out };

	for (size_t i = 0; i < n; i++)
		out[i] = list ? TG_VISIBLE_NO : TG_VISIBLE_YES;
	if (!list || !n)
		return;
	v.by_bus = counted_by_bus(&v, order);
	for (;;) { /* what follows one that does not exist ("-1", "NoDevFiles") is not visible */
		size_t len;

		list += strspn(list, " \t");
		len = strcspn(list, ", \t");
		if (!show_one(&v, list, len))
			return;
		list += len;
		list += strspn(list, " \t");
		if (*list != ',')
			return;
		list++;
	}
}
