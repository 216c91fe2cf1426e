/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/output.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/paths.h"
#include "record/writer.h"
#include "recorder/lock.h"
#include "recorder/prune.h"

#include "base/mem.h"

#define UNWRITTEN_MAX (1u << 20) /* bytes of events kept until the file takes them */
#define FLUSHES_MAX   64 /* answers that nobody took yet */
#define RETRY_MS      1000
#define LOOK_NS       TG_NS_PER_S

struct flushed {
	uint64_t client;
	int64_t number, offset;
};

struct tg_output {
	pthread_t thread;
	struct tg_queue *queue;
	int event;
	char *path, *session_json;
	bool ours; /* the folder: it is made, and old recordings in it are removed */

	pthread_mutex_t lock; /* guards what follows */
	struct tg_output_state state;
	struct flushed flushed[FLUSHES_MAX];
	size_t n_flushed;
};

/* What only the thread knows. */
struct work {
	struct tg_output *o;
	struct tg_writer *writer;
	int lock; /* makes us the file's only writer */
	struct tg_buf lock_path;
	uint32_t table; /* the table that starts, or started */
	struct tg_column *column;
	size_t n_columns;
	bool table_due; /* it is not in the file yet */
	struct tg_buf events; /* not in the file yet */
	uint64_t events_lost;
	int64_t lost_from, lost_to; /* time stamps of rows that are lost; 0: none */
	bool failing;
	bool has_name; /* when that was looked at last */
	int64_t looked_ns;
};

void tg_output_name(struct tg_buf *out, const char *path, int i)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash ? slash : path, '.');
	size_t stem = dot && dot > (slash ? slash + 1 : path) ? (size_t)(dot - path) : strlen(path);

	tg_buf_add(out, path, stem);
	if (i > 1)
		tg_buf_addf(out, "-%d", i);
	tg_buf_adds(out, path + stem);
}

static void wake(struct tg_output *o)
{
	uint64_t one = 1;

	if (write(o->event, &one, sizeof(one)) < 0)
		return; /* it counts to 2^64: readable already */
}

static void warn(struct tg_output *o, const char *what, const char *why)
{
	pthread_mutex_lock(&o->lock);
	snprintf(o->state.warning, sizeof(o->state.warning), "%s: %.200s", what, why);
	pthread_mutex_unlock(&o->lock);
	wake(o);
}

/* A write went wrong or right: the sentence changes only when that is new. */
static void judge(struct work *w, int r)
{
	if (r < 0 && !w->failing)
		warn(w->o, "the recording cannot be written, what happens now is lost",
			strerror(-r));
	else if (r >= 0 && w->failing)
		warn(w->o, "the recording has a gap", "it could not be written for a while");
	w->failing = r < 0;
}

static void lose(struct work *w, int64_t from, int64_t to)
{
	if (!w->lost_from || from < w->lost_from)
		w->lost_from = from;
	w->lost_to = TG_MAX(w->lost_to, to);
}

static void add_loss_events(struct work *w)
{
	char text[80];
	struct tg_jw jw;

	if (w->lost_from) {
		tg_jw_init(&jw, &w->events);
		tg_jw_begin_object(&jw);
		tg_jw_kstr(&jw, "ev", "gap");
		tg_jw_kint(&jw, "t", tg_mono_ns());
		tg_jw_kint(&jw, "from", w->lost_from);
		tg_jw_kint(&jw, "to", w->lost_to);
		tg_jw_kstr(&jw, "why", "the file could not be written");
		tg_jw_end_object(&jw);
		tg_buf_addc(&w->events, '\n');
		w->lost_from = w->lost_to = 0;
	}
	if (w->events_lost) {
		tg_jw_init(&jw, &w->events);
		tg_jw_begin_object(&jw);
		tg_jw_kstr(&jw, "ev", "note");
		tg_jw_kint(&jw, "t", tg_mono_ns());
		snprintf(text, sizeof(text), "%" PRIu64 " events are lost: no room to write them",
			w->events_lost);
		tg_jw_kstr(&jw, "text", text);
		tg_jw_end_object(&jw);
		tg_buf_addc(&w->events, '\n');
		w->events_lost = 0;
	}
}

static int write_events(struct work *w)
{
	int r = 0;

	if (w->events.len)
		r = tg_writer_events(w->writer, w->events.data, w->events.len);
	if (w->events.len)
		judge(w, r);
	if (r >= 0)
		tg_buf_clear(&w->events);
	return r;
}

static void take_events(struct work *w, const char *lines, size_t len)
{
	if (w->events.len + len > UNWRITTEN_MAX)
		for (size_t i = 0; i < len; i++)
			w->events_lost += lines[i] == '\n';
	else
		tg_buf_add(&w->events, lines, len);
	write_events(w);
}

/* What is due before rows: the table that they belong to. */
static int write_table(struct work *w)
{
	int r = 0;

	if (w->table_due)
		r = tg_writer_table(w->writer, w->table, "main", w->column, w->n_columns);
	if (r >= 0)
		w->table_due = false;
	return r;
}

static void take_rows(struct work *w, const struct tg_item *item)
{
	const struct tg_process_block *p = item->processes;
	int r = write_table(w);

	if (r >= 0)
		r = item->block ? tg_writer_block(w->writer, item->block)
				: tg_writer_processes(w->writer, p);
	judge(w, r);
	if (r < 0 && item->block && item->block->n_rows)
		lose(w, item->block->t_ns[0], item->block->t_ns[item->block->n_rows - 1]);
	else if (r < 0 && p && p->n)
		lose(w, p->cell[0].t_ns, p->cell[p->n - 1].t_ns);
	else if (r >= 0 && (w->lost_from || w->events_lost))
		add_loss_events(w);
	if (r >= 0)
		write_events(w);
}

/* Says -1 when something that was pushed before is not in the file, nor that it is lost. */
static void take_flush(struct work *w, const struct tg_item *item)
{
	struct tg_output *o = w->o;
	bool whole = write_events(w) >= 0 && !w->lost_from && !w->events_lost;

	pthread_mutex_lock(&o->lock);
	if (o->n_flushed < FLUSHES_MAX)
		o->flushed[o->n_flushed++] = (struct flushed){ item->client, item->number,
			whole ? tg_writer_offset(w->writer) : -1 };
	pthread_mutex_unlock(&o->lock);
	wake(o);
}

static void take(struct work *w, struct tg_item *item)
{
	switch (item->kind) {
	case TG_ITEM_TABLE:
		free(w->column);
		w->column = item->column;
		item->column = NULL;
		w->table = item->table;
		w->n_columns = item->n;
		w->table_due = true;
		break;
	case TG_ITEM_BLOCK:
	case TG_ITEM_PROCESSES:
		take_rows(w, item);
		break;
	case TG_ITEM_EVENTS:
		take_events(w, item->data, item->n);
		break;
	case TG_ITEM_FLUSH:
		take_flush(w, item);
		break;
	case TG_ITEM_FINISH:
		break;
	}
}

/* Open `name` with its lock. -EEXIST when it is another's, or is being written by another. */
static int open_locked(struct work *w, const char *name, struct tg_err *err)
{
	int r;

	tg_buf_clear(&w->lock_path);
	r = tg_lock_name(&w->lock_path, name, err);
	if (r < 0)
		return r;
	w->lock = tg_lock_take(w->lock_path.data, err);
	if (w->lock < 0)
		return w->lock == -EWOULDBLOCK ? -EEXIST : w->lock;
	r = tg_writer_open(&w->writer, name, w->o->session_json, err);
	if (r < 0)
		tg_lock_drop(w->lock_path.data, w->lock);
	return r;
}

/* The folder for kernels' recordings may have been deleted with what was in it. */
static int make_folder(const struct tg_output *o, struct tg_err *err)
{
	const char *slash = strrchr(o->path, '/');
	char *folder;
	int r;

	if (!o->ours || !slash || slash == o->path)
		return 0;
	folder = tg_xmemdup0(o->path, (size_t)(slash - o->path));
	r = tg_paths_mkdirs(folder, 0700, err);
	free(folder);
	return r;
}

/* Open the first name that can be had. Returns 0 or -errno with a sentence. */
static int open_file(struct work *w, struct tg_buf *name, struct tg_err *err)
{
	int r = make_folder(w->o, err);

	if (r < 0)
		return r;
	r = -EEXIST;
	for (int i = 1; i <= TG_OUTPUT_NAMES && r == -EEXIST; i++) {
		tg_buf_clear(name);
		tg_output_name(name, w->o->path, i);
		r = open_locked(w, name->data, err);
	}
	return r;
}

static void open_output(struct work *w)
{
	struct tg_buf name = TG_BUF_INIT;
	struct tg_output *o = w->o;
	struct tg_err err = { 0 };
	int r = open_file(w, &name, &err);

	if (r < 0 && o->state.failed) {
		tg_buf_release(&name);
		return; /* only this thread writes `failed` */
	}
	pthread_mutex_lock(&o->lock);
	if (r < 0)
		snprintf(o->state.warning, sizeof(o->state.warning), "nothing is recorded: %s",
			err.text);
	else if (o->state.failed)
		snprintf(o->state.warning, sizeof(o->state.warning),
			"the recording began late: its file could not be opened at first");
	o->state.open = r >= 0;
	o->state.failed = r < 0;
	snprintf(o->state.file, sizeof(o->state.file), "%s", name.data);
	if (r >= 0) {
		o->state.session = tg_writer_session(w->writer);
		o->state.next_table = tg_writer_next_table(w->writer);
		o->state.next_entity = tg_writer_next_entity(w->writer);
		o->state.next_span = tg_writer_next_span(w->writer);
	}
	pthread_mutex_unlock(&o->lock);
	tg_buf_release(&name);
	wake(o);
}

/* Old recordings of kernels make room for the new one. Not being able to is nobody's trouble. */
static void prune(struct tg_output *o)
{
	char *folder = tg_xstrdup(o->state.file); /* only this thread writes it */
	char *slash = strrchr(folder, '/');
	size_t keep = tg_prune_keep();

	if (o->ours && keep < SIZE_MAX && slash && slash > folder) {
		*slash = '\0';
		tg_prune(folder, slash + 1, keep, TG_PRUNE_BYTES, tg_real_ns() / TG_NS_PER_S);
	}
	free(folder);
}

/*
 * The lock goes with the runtime folder, as at the end of a login: then take it again, where that
 * folder is now. False when another has it: the file is the other's from then on.
 */
static bool keep_lock(struct work *w)
{
	struct tg_buf path = TG_BUF_INIT;
	int lock = -ENOENT;

	if (tg_lock_is_there(w->lock_path.data, w->lock))
		return true;
	if (tg_lock_name(&path, w->o->state.file, NULL) == 0) /* only this thread writes it */
		lock = tg_lock_take(path.data, NULL);
	if (lock >= 0) {
		struct tg_buf old = w->lock_path;

		close(w->lock);
		w->lock = lock;
		w->lock_path = path;
		path = old;
	}
	tg_buf_release(&path);
	return lock != -EWOULDBLOCK;
}

/* Whether somebody has deleted the file, or writes it in our place. */
static void look_at_name(struct work *w)
{
	int64_t now = tg_mono_ns();

	if (!w->has_name || now - w->looked_ns < LOOK_NS)
		return;
	w->looked_ns = now;
	w->has_name = !tg_writer_is_deleted(w->writer) && keep_lock(w);
	if (w->has_name)
		return;
	pthread_mutex_lock(&w->o->lock);
	w->o->state.deleted = true;
	pthread_mutex_unlock(&w->o->lock);
	wake(w->o);
}

static void *run(void *arg)
{
	struct work w = { .o = arg, .lock_path = TG_BUF_INIT, .events = TG_BUF_INIT };
	bool finish = false;

	while (!finish) {
		struct tg_item *item;

		if (!w.writer) {
			open_output(&w);
			if (w.writer) {
				prune(w.o);
				/* some file systems know no number of names: no news from there */
				w.has_name = !tg_writer_is_deleted(w.writer);
			}
		}
		/* a file may be deleted while there is nothing to write */
		item = tg_queue_pop(w.o->queue, RETRY_MS);
		finish = item && item->kind == TG_ITEM_FINISH;
		if (item && w.writer)
			take(&w, item);
		if (w.writer)
			look_at_name(&w);
		tg_item_free(item);
	}
	if (w.writer) {
		if (w.lost_from || w.events_lost)
			add_loss_events(&w);
		write_events(&w);
		tg_writer_finish(w.writer);
		tg_lock_drop(w.lock_path.data, w.lock);
	}
	tg_buf_release(&w.lock_path);
	tg_buf_release(&w.events);
	free(w.column);
	return NULL;
}

int tg_output_start(struct tg_output **out, const char *path, const char *session_json,
	size_t queue_bytes, bool ours)
{
	struct tg_output *o = tg_xcalloc(1, sizeof(*o));
	sigset_t all, before;
	int r;

	o->queue = tg_queue_new(queue_bytes);
	o->path = tg_xstrdup(path);
	o->session_json = tg_xstrdup(session_json);
	o->ours = ours;
	pthread_mutex_init(&o->lock, NULL);
	o->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* signals are the other thread's business */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = o->event < 0 ? errno : pthread_create(&o->thread, NULL, run, o);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r == 0) {
		*out = o;
		return 0;
	}
	if (o->event >= 0)
		close(o->event);
	tg_queue_free(o->queue);
	free(o->path);
	free(o->session_json);
	free(o);
	return -r;
}

int tg_output_fd(const struct tg_output *o)
{
	return o->event;
}

void tg_output_state(struct tg_output *o, struct tg_output_state *state)
{
	uint64_t count;

	if (read(o->event, &count, sizeof(count)) < 0)
		count = 0; /* nothing new, which is fine */
	pthread_mutex_lock(&o->lock);
	*state = o->state;
	pthread_mutex_unlock(&o->lock);
}

int tg_output_push(struct tg_output *o, const struct tg_item *item)
{
	return tg_queue_push(o->queue, item);
}

bool tg_output_flushed(struct tg_output *o, uint64_t *client, int64_t *number, int64_t *offset)
{
	bool some;

	pthread_mutex_lock(&o->lock);
	some = o->n_flushed > 0;
	if (some) {
		*client = o->flushed[0].client;
		*number = o->flushed[0].number;
		*offset = o->flushed[0].offset;
		o->n_flushed--;
		memmove(o->flushed, o->flushed + 1, o->n_flushed * sizeof(o->flushed[0]));
	}
	pthread_mutex_unlock(&o->lock);
	return some;
}

int tg_output_finish(struct tg_output *o, int timeout_ms)
{
	struct tg_item finish = { .kind = TG_ITEM_FINISH };
	int64_t until = tg_real_ns() + timeout_ms * TG_NS_PER_MS;
	struct timespec deadline = { .tv_sec = until / TG_NS_PER_S,
		.tv_nsec = until % TG_NS_PER_S };

	tg_queue_push(o->queue, &finish);
	if (pthread_timedjoin_np(o->thread, NULL, &deadline))
		return -ETIMEDOUT;
	close(o->event);
	tg_queue_free(o->queue);
	pthread_mutex_destroy(&o->lock);
	free(o->path);
	free(o->session_json);
	free(o);
	return 0;
}
