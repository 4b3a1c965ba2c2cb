#include "builder/cli/progress_view.h"

#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "builder/cli/stage_table.h"

enum view_mode { VIEW_TTY, VIEW_PLAIN, VIEW_JSON, VIEW_NONE };

enum {
	VIEW_REDRAW_MS = 100, /* at most ten frames a second */
	VIEW_ROWS_MAX = 12,   /* of the live display */
	VIEW_BAR_WIDTH = 24,
	VIEW_LABEL_WIDTH = 38,
	VIEW_TICK_MS = 1000 /* how often a table of stages is redrawn by itself */
};

struct task {
	char *label;
	int64_t done, total;
	int64_t started_ms;
	bool running;
};

struct progress_view {
	struct progress progress;
	enum view_mode mode;
	FILE *to;
	pthread_mutex_t lock;
	VEC(struct task) tasks;
	unsigned rows_drawn;
	int64_t drawn_ms;
	struct stage_table stages;
	bool resting; /* others print: nothing is drawn until there is news */
	pthread_t ticker;
	bool ticking, stop;
	pthread_cond_t stopped;
};

static int64_t now_ms(void)
{
	return clock_monotonic_ns() / 1000000;
}

bool progress_colour(FILE *to)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (no_color != NULL && no_color[0] != '\0')
		return false;
	return isatty(fileno(to)) && (term == NULL || strcmp(term, "dumb") != 0);
}

static unsigned columns(FILE *to)
{
	struct winsize size = {0};

	if (ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	return 80;
}

/* "12.3 MB, 4.5 MB/s" */
static void add_rate(struct strbuf *sb, const struct task *t)
{
	char bytes[TEXT_BYTES_MAX], rate[TEXT_BYTES_MAX];
	int64_t ms = now_ms() - t->started_ms;

	strbuf_adds(sb, text_bytes(t->done, bytes));
	if (ms > 0 && t->done > 0)
		strbuf_addf(sb, ", %s/s", text_bytes(t->done * 1000 / ms, rate));
}

static void clear_rows(struct progress_view *v)
{
	for (; v->rows_drawn > 0; v->rows_drawn--)
		fputs("\033[1A\033[2K", v->to);
}

static void add_bar(struct strbuf *sb, const struct task *t, unsigned width)
{
	int64_t total = t->total > 0 ? t->total : 1;
	int64_t done = t->done < 0 ? 0 : t->done > total ? total : t->done;
	int full = (int)(done * VIEW_BAR_WIDTH / total);
	size_t start = sb->len;

	strbuf_addf(sb, "%-*.*s ", VIEW_LABEL_WIDTH, VIEW_LABEL_WIDTH, t->label);
	if (t->total > 0) {
		strbuf_addc(sb, '[');
		for (int i = 0; i < VIEW_BAR_WIDTH; i++)
			strbuf_addc(sb, i < full ? '=' : i == full ? '>' : ' ');
		strbuf_addf(sb, "] %3d%% ", (int)(done * 100 / total));
	}
	add_rate(sb, t);
	if (sb->len - start >= width)
		sb->len = start + width - 1;
	strbuf_addc(sb, '\n');
}

static void draw_frame(struct progress_view *v, bool force)
{
	AUTO(strbuf) struct strbuf frame = STRBUF_INIT(64 << 10);
	unsigned width = columns(v->to), rows = 0;

	if (v->mode != VIEW_TTY || v->resting ||
	    (!force && now_ms() - v->drawn_ms < VIEW_REDRAW_MS))
		return;
	rows = stage_table_text(&v->stages, now_ms(), width - 1, &frame);
	for (size_t i = 0; i < v->tasks.n && rows < VIEW_ROWS_MAX; i++)
		if (v->tasks.at[i].running) {
			add_bar(&frame, &v->tasks.at[i], width);
			rows++;
		}
	clear_rows(v);
	fputs(strbuf_str(&frame), v->to);
	fflush(v->to);
	v->rows_drawn = rows;
	v->drawn_ms = now_ms();
}

/* A line that stays, above the bars. */
static void say_line(struct progress_view *v, const char *text)
{
	if (v->mode == VIEW_TTY)
		clear_rows(v);
	v->resting = false;
	fprintf(v->to, "%s\n", text);
	draw_frame(v, true);
	fflush(v->to);
}

static void say_json(struct progress_view *v, const char *event, const struct task *t,
                     const char *text)
{
	AUTO(strbuf) struct strbuf line = STRBUF_INIT(64 << 10);
	struct jsonw w;

	jsonw_init(&w, &line, false);
	jsonw_begin_object(&w);
	jsonw_key(&w, "event");
	jsonw_string(&w, event);
	if (t != NULL) {
		jsonw_key(&w, "task");
		jsonw_string(&w, t->label);
		jsonw_key(&w, "bytes");
		jsonw_int(&w, t->done);
		if (t->total >= 0) {
			jsonw_key(&w, "total");
			jsonw_int(&w, t->total);
		}
	}
	if (text != NULL) {
		jsonw_key(&w, "text");
		jsonw_string(&w, text);
	}
	jsonw_end_object(&w);
	fprintf(v->to, "%s\n", strbuf_str(&line));
	fflush(v->to);
}

static unsigned view_start(struct progress *p, const char *label, int64_t total)
{
	struct progress_view *v = (struct progress_view *)p;

	pthread_mutex_lock(&v->lock);
	vec_push(&v->tasks, ((struct task){.label = mem_strdup(label),
	                                   .total = total,
	                                   .started_ms = now_ms(),
	                                   .running = true}));
	unsigned id = (unsigned)(v->tasks.n - 1);

	if (v->mode == VIEW_JSON)
		say_json(v, "start", &v->tasks.at[id], NULL);
	draw_frame(v, false);
	pthread_mutex_unlock(&v->lock);
	return id;
}

static void view_advance(struct progress *p, unsigned id, int64_t bytes)
{
	struct progress_view *v = (struct progress_view *)p;

	pthread_mutex_lock(&v->lock);
	v->tasks.at[id].done += bytes;
	draw_frame(v, false);
	pthread_mutex_unlock(&v->lock);
}

static void view_finish(struct progress *p, unsigned id, const char *result)
{
	struct progress_view *v = (struct progress_view *)p;

	pthread_mutex_lock(&v->lock);
	struct task *t = &v->tasks.at[id];

	t->running = false;
	if (v->mode == VIEW_JSON) {
		say_json(v, "finish", t, result);
	} else {
		AUTO(strbuf) struct strbuf line = STRBUF_INIT(4096);

		strbuf_addf(&line, "%s: %s", t->label, result);
		if (t->done > 0) {
			strbuf_adds(&line, " (");
			add_rate(&line, t);
			strbuf_addc(&line, ')');
		}
		say_line(v, strbuf_str(&line));
	}
	pthread_mutex_unlock(&v->lock);
}

static void say_text(struct progress *p, const char *event, const char *text)
{
	struct progress_view *v = (struct progress_view *)p;

	pthread_mutex_lock(&v->lock);
	if (v->mode == VIEW_JSON)
		say_json(v, event, NULL, text);
	else
		say_line(v, text);
	pthread_mutex_unlock(&v->lock);
}

static void view_note(struct progress *p, const char *text)
{
	say_text(p, "note", text);
}

static void view_detail(struct progress *p, const char *text)
{
	say_text(p, "detail", text);
}

/* ---- stages ---- */

/* Time passes in the table while kubectl is waited for. */
static void *redraw_every_second(void *arg)
{
	struct progress_view *v = arg;

	pthread_mutex_lock(&v->lock);
	while (!v->stop) {
		struct timespec next;

		clock_gettime(CLOCK_REALTIME, &next);
		next.tv_sec += VIEW_TICK_MS / 1000;
		pthread_cond_timedwait(&v->stopped, &v->lock, &next);
		if (!v->stop)
			draw_frame(v, true);
	}
	pthread_mutex_unlock(&v->lock);
	return NULL;
}

static void view_stage(struct progress *p, const char *name, const char *state, const char *detail)
{
	struct progress_view *v = (struct progress_view *)p;

	pthread_mutex_lock(&v->lock);
	stage_table_set(&v->stages, name, state, detail, now_ms());
	v->resting = false;
	if (!v->ticking)
		v->ticking = pthread_create(&v->ticker, NULL, redraw_every_second, v) == 0;
	draw_frame(v, true);
	pthread_mutex_unlock(&v->lock);
}

static void view_await(struct progress *p, const char *text)
{
	struct progress_view *v = (struct progress_view *)p;

	pthread_mutex_lock(&v->lock);
	stage_table_await(&v->stages, text);
	v->resting = false;
	draw_frame(v, true);
	pthread_mutex_unlock(&v->lock);
}

static void view_rest(struct progress *p)
{
	struct progress_view *v = (struct progress_view *)p;

	pthread_mutex_lock(&v->lock);
	if (!v->resting)
		draw_frame(v, true);
	v->rows_drawn = 0;
	v->resting = true;
	stage_table_forget(&v->stages);
	pthread_mutex_unlock(&v->lock);
}

static enum view_mode choose_mode(const char *mode, FILE *to)
{
	if (strcmp(mode, "none") == 0)
		return VIEW_NONE;
	if (strcmp(mode, "json") == 0)
		return VIEW_JSON;
	if (strcmp(mode, "plain") == 0)
		return VIEW_PLAIN;
	if (strcmp(mode, "tty") == 0)
		return VIEW_TTY;
	return isatty(fileno(to)) ? VIEW_TTY : VIEW_PLAIN;
}

struct progress_view *progress_view_new(const char *mode, bool verbose, FILE *to)
{
	struct progress_view *v = mem_zalloc(sizeof(*v));

	v->progress = (struct progress){.start = view_start,
	                                .advance = view_advance,
	                                .finish = view_finish,
	                                .note = view_note,
	                                .detail = verbose ? view_detail : NULL};
	v->mode = choose_mode(mode, to);
	if (v->mode == VIEW_TTY) {
		v->progress.stage = view_stage;
		v->progress.await = view_await;
		v->progress.rest = view_rest;
	}
	v->to = to;
	pthread_mutex_init(&v->lock, NULL);
	pthread_cond_init(&v->stopped, NULL);
	return v;
}

struct progress *progress_view_progress(struct progress_view *view)
{
	return view->mode == VIEW_NONE ? NULL : &view->progress;
}

bool progress_view_live(const struct progress_view *view)
{
	return view->mode == VIEW_TTY;
}

static void stop_ticking(struct progress_view *v)
{
	if (!v->ticking)
		return;
	pthread_mutex_lock(&v->lock);
	v->stop = true;
	pthread_cond_signal(&v->stopped);
	pthread_mutex_unlock(&v->lock);
	pthread_join(v->ticker, NULL);
}

void progress_view_free(struct progress_view *view)
{
	if (view == NULL)
		return;
	stop_ticking(view);
	/* Bars go, a table of stages stays. */
	for (size_t i = 0; i < view->tasks.n; i++)
		view->tasks.at[i].running = false;
	draw_frame(view, true);
	stage_table_done(&view->stages);
	pthread_cond_destroy(&view->stopped);
	for (size_t i = 0; i < view->tasks.n; i++)
		free(view->tasks.at[i].label);
	vec_done(&view->tasks);
	pthread_mutex_destroy(&view->lock);
	free(view);
}
