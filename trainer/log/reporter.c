#include "trainer/log/reporter.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/slurp.h"
#include "trainer/log/events.h"

/* The PyTorch program averages its throughput over the last ten steps. */
enum { WINDOW = 10 };

struct reporter {
	struct reporter_options o;
	int json, events; /* -1: none */
	struct exporter *exporter;
	double window[WINDOW];        /* seconds of the last steps */
	uint64_t steps;               /* seen */
	uint64_t epoch;               /* begun, from 1; 0: none */
	double seconds, wait, reduce; /* since the last report */
	double epoch_sum, epoch_max;  /* of throughputs */
	uint64_t epoch_steps;
	double total_seconds;                     /* without the first step */
	struct strbuf step_metrics, eval_metrics; /* for the exporter, as last published */
};

int64_t reporter_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static uint64_t resident_bytes(void)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct err ignored = {0};
	const char *second;

	if (slurp_file("/proc/self/statm", 4096, &text, &ignored) != 0)
		return 0;
	/* In pages: the whole size, then the resident part. */
	second = strchr(strbuf_str(&text), ' ');
	return second != NULL ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static int open_json(const char *path, int *ret_fd, struct err *err)
{
	*ret_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	return *ret_fd < 0 ? err_set(err, ERR_IO, "open '%s'", path) : 0;
}

int reporter_open(const struct reporter_options *o, struct reporter **ret, struct err *err)
{
	struct reporter *r = mem_zalloc(sizeof(*r));
	int rc = 0;

	r->o = *o;
	r->json = r->events = -1;
	if (o->json_path != NULL)
		rc = open_json(o->json_path, &r->json, err);
	if (rc == 0 && o->events_dir != NULL)
		rc = events_create(o->events_dir, (double)reporter_now_us() / 1e6, &r->events, err);
	if (rc == 0 && o->metrics_port != 0)
		rc = exporter_start((uint16_t)o->metrics_port, &r->exporter, err);
	if (rc != 0) {
		reporter_free(r);
		return -1;
	}
	*ret = r;
	return 0;
}

void reporter_free(struct reporter *r)
{
	if (r == NULL)
		return;
	exporter_stop(r->exporter);
	attr_close_fd(&r->json);
	attr_close_fd(&r->events);
	strbuf_done(&r->step_metrics);
	strbuf_done(&r->eval_metrics);
	free(r);
}

static void print(struct reporter *r, const struct strbuf *text)
{
	fwrite(strbuf_str(text), 1, text->len, r->o.out);
	fflush(r->o.out);
}

static void end_epoch(struct reporter *r)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	char time[LOG_TIME_MAX];

	if (r->epoch == 0)
		return;
	log_time(reporter_now_us(), time);
	log_epoch(&text, r->epoch, "train end", time);
	if (r->epoch_steps > 0)
		log_throughputs(&text, "train", r->epoch_sum / (double)r->epoch_steps,
		                r->epoch_max);
	print(r, &text);
	r->epoch_sum = r->epoch_max = 0;
	r->epoch_steps = 0;
}

static void begin_epoch(struct reporter *r, uint64_t epoch)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	char time[LOG_TIME_MAX];

	end_epoch(r);
	r->epoch = epoch;
	log_time(reporter_now_us(), time);
	log_epoch(&text, epoch, "train begin", time);
	print(r, &text);
}

void reporter_begin(struct reporter *r, uint64_t done)
{
	begin_epoch(r, done / r->o.epoch_clips + 1);
}

/* Clips per second over the last steps. */
static double throughput(const struct reporter *r)
{
	uint64_t n = r->steps < WINDOW ? r->steps : WINDOW;
	double sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += r->window[i];
	return sum > 0 ? (double)(n * r->o.step_clips) / sum : 0;
}

static void account(struct reporter *r, const struct step_stats *s)
{
	double rate;

	r->window[r->steps % WINDOW] = s->seconds;
	if (r->steps > 0)
		r->total_seconds += s->seconds;
	r->steps++;
	r->seconds += s->seconds;
	r->wait += s->wait_seconds;
	r->reduce += s->reduce_seconds;
	rate = throughput(r);
	r->epoch_sum += rate;
	r->epoch_max = rate > r->epoch_max ? rate : r->epoch_max;
	r->epoch_steps++;
}

double reporter_average(const struct reporter *r)
{
	if (r->steps < 2 || r->total_seconds <= 0)
		return 0;
	return (double)((r->steps - 1) * r->o.step_clips) / r->total_seconds;
}

static int append_events(struct reporter *r, uint64_t step, int64_t us,
                         const struct events_scalar *scalars, size_t n, struct err *err)
{
	AUTO(strbuf) struct strbuf record = STRBUF_INIT(0);

	if (r->events < 0)
		return 0;
	events_scalars(&record, (double)us / 1e6, (int64_t)step, scalars, n);
	if (fs_write_all(r->events, record.ptr, record.len, err) != 0)
		return err_wrap(err, "write the event file in '%s'", r->o.events_dir);
	return 0;
}

static int append_json(struct reporter *r, const struct strbuf *line, struct err *err)
{
	if (r->json >= 0 && fs_write_all(r->json, line->ptr, line->len, err) != 0)
		return err_wrap(err, "write '%s'", r->o.json_path);
	return 0;
}

static void publish(struct reporter *r)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	if (r->exporter == NULL)
		return;
	strbuf_addf(&text, "%s%s", strbuf_str(&r->step_metrics), strbuf_str(&r->eval_metrics));
	exporter_publish(r->exporter, strbuf_str(&text));
}

static int write_events(struct reporter *r, const struct log_step *d, struct err *err)
{
	const struct events_scalar scalars[] = {{"Loss", (float)d->loss},
	                                        {"Loss/image", (float)d->loss_image},
	                                        {"Loss/audio", (float)d->loss_audio},
	                                        {"Loss/label", (float)d->loss_label},
	                                        {"Learning_Rate", (float)d->lr},
	                                        {"Gradient_Norm", (float)d->grad_norm},
	                                        {"Throughput", (float)d->clips_per_second},
	                                        {"Tokens_Per_Second", (float)d->tokens_per_second},
	                                        {"Data_Wait_Share", (float)d->wait_share}};

	struct events_scalar all[ARRAY_LEN(scalars) + METERS];
	size_t n = ARRAY_LEN(scalars);

	memcpy(all, scalars, sizeof(scalars));
	for (size_t i = 0; i < METERS; i++)
		if (d->meters.has[i])
			all[n++] = (struct events_scalar){meter_row((enum meter)i)->tag,
			                                  (float)d->meters.value[i]};
	return append_events(r, d->step, d->us, all, n, err);
}

static int write_json(struct reporter *r, const struct log_step *d, struct err *err)
{
	AUTO(strbuf) struct strbuf line = STRBUF_INIT(0);

	log_json(&line, d);
	return append_json(r, &line, err);
}

static void print_step(struct reporter *r, const struct log_step *d, uint64_t step_in_epoch)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	char time[LOG_TIME_MAX];
	struct log_training line = {.device = r->o.device,
	                            .epoch = d->epoch,
	                            .step = step_in_epoch,
	                            .lr = d->lr,
	                            .loss = d->loss,
	                            .throughput = d->clips_per_second,
	                            .time = time};

	log_time(d->us, time);
	log_training(&text, &line);
	log_details(&text, d);
	print(r, &text);
	strbuf_reset(&r->step_metrics);
	exporter_format(&r->step_metrics, d, 0);
	publish(r);
}

static int report(struct reporter *r, const struct step_stats *s, uint64_t step_in_epoch,
                  struct err *err)
{
	double seconds = r->seconds > 0 ? r->seconds : 1;
	struct log_step d = {.step = s->step,
	                     .epoch = r->epoch,
	                     .lr = s->lr,
	                     .loss = s->losses.total,
	                     .loss_image = s->losses.image,
	                     .loss_audio = s->losses.audio,
	                     .loss_label = s->losses.label,
	                     .grad_norm = s->grad_norm,
	                     .loss_scale = s->loss_scale,
	                     .clips_per_second = throughput(r),
	                     .tokens_per_second = throughput(r) * (double)r->o.clip_tokens,
	                     .wait_share = r->wait / seconds,
	                     .reduce_share = r->reduce / seconds,
	                     .rss_bytes = resident_bytes(),
	                     .skipped = s->skipped,
	                     .us = reporter_now_us()};

	if (r->o.ops != NULL)
		ops_read_meters(r->o.ops, &d.meters);
	r->seconds = r->wait = r->reduce = 0;
	print_step(r, &d, step_in_epoch);
	if (write_events(r, &d, err) != 0)
		return -1;
	return write_json(r, &d, err);
}

int reporter_step(struct reporter *r, const struct step_stats *s, struct err *err)
{
	uint64_t first = s->first_clip;
	uint64_t epoch = first / r->o.epoch_clips + 1;
	uint64_t in_epoch = first % r->o.epoch_clips / r->o.step_clips;

	if (epoch != r->epoch)
		begin_epoch(r, epoch);
	account(r, s);
	if (in_epoch % r->o.log_steps != 0 && !s->skipped)
		return 0;
	return report(r, s, in_epoch, err);
}

static int write_eval_events(struct reporter *r, const struct log_eval *e, struct err *err)
{
	struct events_scalar scalars[METRICS];
	char tags[METRICS][64];

	for (size_t i = 0; i < METRICS; i++) {
		snprintf(tags[i], sizeof(tags[i]), "Validation/%s",
		         metric_row((enum metric)i)->name);
		scalars[i] = (struct events_scalar){tags[i], (float)e->values[i]};
	}
	return append_events(r, e->step, e->us, scalars, METRICS, err);
}

int reporter_eval(struct reporter *r, struct log_eval *e, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	e->us = reporter_now_us();
	log_eval(&text, e);
	print(r, &text);
	strbuf_reset(&r->eval_metrics);
	exporter_format_eval(&r->eval_metrics, e, 0);
	publish(r);
	strbuf_reset(&text);
	log_eval_json(&text, e);
	if (append_json(r, &text, err) != 0)
		return -1;
	return write_eval_events(r, e, err);
}

int reporter_append_eval(const char *json_path, const struct log_eval *e, struct err *err)
{
	AUTO(strbuf) struct strbuf line = STRBUF_INIT(0);
	AUTO_CLOSE int fd = -1;

	if (json_path == NULL)
		return 0;
	log_eval_json(&line, e);
	if (open_json(json_path, &fd, err) != 0)
		return -1;
	if (fs_write_all(fd, line.ptr, line.len, err) != 0)
		return err_wrap(err, "write '%s'", json_path);
	return 0;
}

void reporter_end(struct reporter *r)
{
	end_epoch(r);
}
