#include "trainer/prepare/decode.h"

#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/prepare/media.h"

enum { COLOURS = 3, AUDIO_SECONDS_MAX = 3600, GAP_FRAMES_MAX = 25 * 60 };

/* The file's whole audio on the file's clock, from time `start`. */
struct sound {
	int16_t *at;
	size_t n, cap, max;
	double start;
	bool begun;
	unsigned rate;
};

struct picture {
	struct SwsContext *scaler;
	uint8_t *rgb; /* [H][W][3]: the frame on screen */
	bool shown;   /* rgb holds one */
};

struct cutter {
	struct shard_writer *out;
	const struct decode_limits *limits;
	const struct sound *sound;
	uint8_t *video;  /* [T][H][W][3] */
	int16_t *audio;  /* [S] */
	uint32_t frames; /* of the clip begun */
	uint64_t ticks;  /* frames at 25 per second given so far */
	double start;    /* time of the first frame */
};

void decode_quiet(void)
{
	av_log_set_level(AV_LOG_QUIET);
}

/* ---- audio ---- */

static void sound_reserve(struct sound *s, size_t more)
{
	if (s->n + more <= s->cap)
		return;
	s->cap = (s->n + more) * 2;
	s->at = mem_realloc(s->at, s->cap, sizeof(*s->at));
}

static void sound_silence(struct sound *s, size_t n)
{
	if (n > s->max - s->n)
		n = s->max - s->n;
	sound_reserve(s, n);
	memset(s->at + s->n, 0, n * sizeof(*s->at));
	s->n += n;
}

/* Fills a hole in the time stamps, so that sound stays with the picture. */
static void sound_align(struct sound *s, double time)
{
	double missing;

	if (!s->begun) {
		s->begun = true;
		s->start = time;
	}
	missing = (time - s->start) * s->rate - (double)s->n;
	if (missing > s->rate / 10.0 && missing < (double)s->max)
		sound_silence(s, (size_t)missing);
}

static int sound_add(struct sound *s, SwrContext *swr, const AVFrame *frame, struct err *err)
{
	int room = swr_get_out_samples(swr, frame != NULL ? frame->nb_samples : 0);
	uint8_t *out;
	int got;

	if (room <= 0)
		return 0;
	if ((size_t)room > s->max - s->n)
		return 0;
	sound_reserve(s, (size_t)room);
	out = (uint8_t *)(s->at + s->n);
	got = swr_convert(swr, &out, room,
	                  frame != NULL ? (const uint8_t **)frame->extended_data : NULL,
	                  frame != NULL ? frame->nb_samples : 0);
	if (got < 0)
		return media_fail(err, "resample", got);
	s->n += (size_t)got;
	return 0;
}

static SwrContext *make_resampler(const AVFrame *frame, unsigned rate)
{
	AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO, in = {0};
	SwrContext *swr = NULL;

	if (frame->ch_layout.nb_channels < 1 || frame->sample_rate < 1)
		return NULL;
	if (frame->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
		av_channel_layout_default(&in, frame->ch_layout.nb_channels);
	else if (av_channel_layout_copy(&in, &frame->ch_layout) < 0)
		return NULL;
	if (swr_alloc_set_opts2(&swr, &mono, AV_SAMPLE_FMT_S16, (int)rate, &in,
	                        (enum AVSampleFormat)frame->format, frame->sample_rate, 0,
	                        NULL) < 0 ||
	    swr_init(swr) < 0)
		swr_free(&swr);
	av_channel_layout_uninit(&in);
	return swr;
}

/* Whether the stream changed its format, for which the resampler was not made. */
static bool same_format(const AVFrame *f, int rate, int format, int channels)
{
	return f->sample_rate == rate && f->format == format &&
	       f->ch_layout.nb_channels == channels;
}

static int listen_all(struct media *m, struct sound *s, struct err *err)
{
	SwrContext *swr = NULL;
	int rate = 0, format = -1, channels = 0, rc = 0;
	bool end = false;

	while (rc == 0 && (rc = media_next(m, &end, err)) == 0 && !end && s->n < s->max) {
		const AVFrame *f = m->frame;

		if (swr == NULL || !same_format(f, rate, format, channels)) {
			swr_free(&swr);
			swr = make_resampler(f, s->rate);
			rate = f->sample_rate;
			format = f->format;
			channels = f->ch_layout.nb_channels;
		}
		if (swr == NULL)
			continue;
		sound_align(s, media_time(m, s->start + (double)s->n / s->rate));
		rc = sound_add(s, swr, f, err);
	}
	if (rc == 0 && swr != NULL)
		rc = sound_add(s, swr, NULL, err);
	swr_free(&swr);
	return rc;
}

/* A file without sound, or with broken sound, is a silent one. */
static void read_sound(const char *path, struct sound *s)
{
	struct media m;
	struct err ignored = {0};

	if (media_open(path, AVMEDIA_TYPE_AUDIO, 0, &m, &ignored) == 0 &&
	    listen_all(&m, s, &ignored) != 0)
		s->n = s->n < s->max ? s->n : s->max;
	media_done(&m);
}

/* ---- video ---- */

static int show(struct picture *p, const struct clip_shape *shape, const AVFrame *f,
                struct err *err)
{
	uint8_t *rows[4] = {p->rgb};
	int strides[4] = {(int)shape->width * COLOURS};

	if (f->width < 1 || f->height < 1)
		return err_set(err, ERR_FORMAT, "a frame without size");
	p->scaler = sws_getCachedContext(
		p->scaler, f->width, f->height, (enum AVPixelFormat)f->format, (int)shape->width,
		(int)shape->height, AV_PIX_FMT_RGB24,
		SWS_BILINEAR | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INT, NULL, NULL,
		NULL);
	if (p->scaler == NULL)
		return err_set(err, ERR_UNSUPPORTED, "pixels of a format that cannot be scaled");
	if (sws_scale(p->scaler, (const uint8_t *const *)f->data, f->linesize, 0, f->height, rows,
	              strides) < 0)
		return err_set(err, ERR_FORMAT, "a frame cannot be scaled");
	p->shown = true;
	return 0;
}

static void cut_audio(struct cutter *c, double time)
{
	const struct sound *s = c->sound;
	double from = s->begun ? (time - s->start) * s->rate : 0;
	int64_t first = (int64_t)llround(from);

	memset(c->audio, 0, c->out->shape.samples * sizeof(*c->audio));
	for (uint32_t i = 0; i < c->out->shape.samples; i++) {
		int64_t at = first + i;

		if (at >= 0 && (uint64_t)at < s->n)
			c->audio[i] = s->at[at];
	}
}

static int end_clip(struct cutter *c, struct err *err)
{
	uint64_t first = c->ticks - c->frames;
	double at = (double)first / (double)SHARD_FPS;

	cut_audio(c, c->start + at);
	c->frames = 0;
	return shard_writer_add(c->out, c->video, c->audio, (uint64_t)llround(at * 1e6), err);
}

/* The frame on screen, once more. */
static int tick(struct cutter *c, const struct picture *p, struct err *err)
{
	size_t bytes = clip_video_bytes(&c->out->shape) / c->out->shape.frames;

	memcpy(c->video + c->frames * bytes, p->rgb, bytes);
	c->frames++;
	c->ticks++;
	return c->frames == c->out->shape.frames ? end_clip(c, err) : 0;
}

static bool full(const struct cutter *c)
{
	return c->out->n_clips >= c->limits->max_clips;
}

/* A new frame at `time`: until then the old one was on screen. */
static int advance(struct cutter *c, const struct picture *p, double time, struct err *err)
{
	uint64_t from = c->ticks;

	if (!p->shown) {
		c->start = time;
		return 0;
	}
	/* A hole of minutes is a lie of the time stamps. */
	while (c->start + (double)c->ticks / (double)SHARD_FPS < time - 1e-6 && !full(c) &&
	       c->ticks - from < GAP_FRAMES_MAX)
		if (tick(c, p, err) != 0)
			return -1;
	return 0;
}

/* What remains at the end: a clip only when there is none at all, its last frame held. */
static int finish(struct cutter *c, const struct picture *p, struct err *err)
{
	if (!p->shown)
		return err_set(err, ERR_FORMAT, "no frame could be decoded");
	if (!full(c) && tick(c, p, err) != 0)
		return -1;
	while (c->out->n_clips == 0 && !full(c))
		if (tick(c, p, err) != 0)
			return -1;
	return 0;
}

static int watch(struct media *m, struct picture *p, struct cutter *c, struct err *err)
{
	double frame_time = 1.0 / (double)SHARD_FPS, time = 0;
	AVRational rate = av_guess_frame_rate(m->file, m->file->streams[m->stream], NULL);
	bool end = false;

	if (rate.num > 0 && rate.den > 0)
		frame_time = av_q2d(av_inv_q(rate));
	while (!full(c)) {
		if (media_next(m, &end, err) != 0)
			return -1;
		if (end)
			break;
		time = media_time(m, p->shown ? time + frame_time : 0);
		if (advance(c, p, time, err) != 0 || show(p, &c->out->shape, m->frame, err) != 0)
			return -1;
	}
	return finish(c, p, err);
}

int decode_video(const char *path, const struct decode_limits *limits, struct shard_writer *w,
                 struct err *err)
{
	size_t frame = clip_video_bytes(&w->shape) / w->shape.frames;
	struct sound sound = {.rate = clip_sample_rate(&w->shape)};
	struct picture picture = {.rgb = mem_zalloc(frame)};
	struct cutter cutter = {.out = w, .limits = limits, .sound = &sound};
	struct media m;
	int rc;

	sound.max = (size_t)sound.rate * AUDIO_SECONDS_MAX;
	cutter.video = mem_zalloc(clip_video_bytes(&w->shape));
	cutter.audio = mem_calloc(w->shape.samples, sizeof(*cutter.audio));
	if (w->shape.samples > 0)
		read_sound(path, &sound);
	rc = media_open(path, AVMEDIA_TYPE_VIDEO, limits->max_pixels, &m, err);
	if (rc == 0)
		rc = watch(&m, &picture, &cutter, err);
	media_done(&m);
	sws_freeContext(picture.scaler);
	free(picture.rgb);
	free(cutter.video);
	free(cutter.audio);
	free(sound.at);
	return rc;
}
