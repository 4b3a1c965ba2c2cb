#include "trainer/prepare/movie.h"

#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswscale/swscale.h>
#include <limits.h>
#include <string.h>

#include "base/fs.h"
#include "base/strbuf.h"
#include "trainer/data/le.h"
#include "trainer/prepare/media.h"

enum {
	FPS = 25,
	HEIGHT_MIN = 256,
	SCALE_MAX = 8,
	WAV_HEADER = 44,
	WAV_BYTES_MAX = 1 << 28,
	SIDES = 2
};

struct movie {
	AVFormatContext *file;
	AVCodecContext *video, *audio;
	AVPacket *packet;
	struct SwsContext *scaler;
	struct strbuf sound[SIDES]; /* input, reconstruction */
	unsigned rate;
	size_t samples;
};

/* ---- the files that there are ---- */

static int read_sound(const char *folder, const char *name, struct strbuf *ret, unsigned *ret_rate,
                      struct err *err)
{
	const unsigned char *wav;
	char path[PATH_MAX];

	if (fs_join(path, folder, name, err) != 0 ||
	    fs_read_file(path, WAV_BYTES_MAX, ret, err) != 0)
		return -1;
	wav = (const unsigned char *)ret->ptr;
	if (ret->len < WAV_HEADER || memcmp(wav, "RIFF", 4) != 0 || le16_get(wav + 22) != 1 ||
	    le16_get(wav + 34) != 16)
		return err_set(err, ERR_FORMAT, "'%s' is not a sound file that sample wrote", path);
	*ret_rate = le32_get(wav + 24);
	return 0;
}

static int read_sounds(const char *folder, struct movie *m, struct err *err)
{
	unsigned other = 0;

	if (read_sound(folder, "input.wav", &m->sound[0], &m->rate, err) != 0 ||
	    read_sound(folder, "reconstruction.wav", &m->sound[1], &other, err) != 0)
		return -1;
	if (m->rate != other || m->sound[0].len != m->sound[1].len)
		return err_set(err, ERR_FORMAT, "the sounds in '%s' are not from one clip", folder);
	m->samples = (m->sound[0].len - WAV_HEADER) / 2;
	return 0;
}

/* ---- encoding ---- */

/* Everything the encoder has ready goes into the file. frame NULL: the end. */
static int encode(struct movie *m, AVCodecContext *codec, const AVFrame *frame, struct err *err)
{
	const AVStream *stream = m->file->streams[codec == m->video ? 0 : 1];
	int rc = avcodec_send_frame(codec, frame);

	while (rc >= 0) {
		rc = avcodec_receive_packet(codec, m->packet);
		if (rc == AVERROR(EAGAIN) || rc == AVERROR_EOF)
			return 0;
		if (rc < 0)
			break;
		av_packet_rescale_ts(m->packet, codec->time_base, stream->time_base);
		m->packet->stream_index = stream->index;
		rc = av_interleaved_write_frame(m->file, m->packet);
	}
	return media_fail(err, "write the movie", rc);
}

static AVCodecContext *encoder(enum AVCodecID id, enum AVCodecID otherwise)
{
	const AVCodec *codec = avcodec_find_encoder(id);

	if (codec == NULL)
		codec = avcodec_find_encoder(otherwise);
	return codec != NULL ? avcodec_alloc_context3(codec) : NULL;
}

static int add_stream(struct movie *m, AVCodecContext *codec, struct err *err)
{
	AVStream *stream = avformat_new_stream(m->file, NULL);
	int rc;

	if (stream == NULL)
		return err_set(err, ERR_LIMIT, "no memory for a stream");
	codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
	rc = avcodec_open2(codec, NULL, NULL);
	if (rc < 0)
		return media_fail(err, "open the encoder", rc);
	stream->time_base = codec->time_base;
	rc = avcodec_parameters_from_context(stream->codecpar, codec);
	return rc < 0 ? media_fail(err, "describe the stream", rc) : 0;
}

/* As many times larger as makes it well visible; sides are even, as the encoders want them. */
static int open_video(struct movie *m, const AVFrame *first, struct err *err)
{
	int times = 1;

	m->video = encoder(AV_CODEC_ID_H264, AV_CODEC_ID_MPEG4);
	if (m->video == NULL)
		return err_set(err, ERR_UNSUPPORTED, "FFmpeg has no encoder for video here");
	while (times < SCALE_MAX && times * first->height < HEIGHT_MIN)
		times++;
	m->video->width = first->width * times / 2 * 2;
	m->video->height = first->height * times / 2 * 2;
	m->video->pix_fmt = AV_PIX_FMT_YUV420P;
	m->video->time_base = (AVRational){1, FPS};
	m->video->framerate = (AVRational){FPS, 1};
	m->video->bit_rate = (int64_t)m->video->width * m->video->height * FPS / 2;
	m->video->thread_count = 1;
	m->scaler =
		sws_getContext(first->width, first->height, first->format, m->video->width,
	                       m->video->height, m->video->pix_fmt, SWS_POINT, NULL, NULL, NULL);
	if (m->scaler == NULL)
		return err_set(err, ERR_UNSUPPORTED, "pictures of this kind cannot be scaled");
	return add_stream(m, m->video, err);
}

static int open_audio(struct movie *m, struct err *err)
{
	m->audio = encoder(AV_CODEC_ID_AAC, AV_CODEC_ID_AAC);
	if (m->audio == NULL)
		return err_set(err, ERR_UNSUPPORTED, "FFmpeg has no encoder for AAC here");
	m->audio->sample_rate = (int)m->rate;
	m->audio->sample_fmt = AV_SAMPLE_FMT_FLTP;
	m->audio->time_base = (AVRational){1, (int)m->rate};
	av_channel_layout_default(&m->audio->ch_layout, SIDES);
	return add_stream(m, m->audio, err);
}

static int begin(struct movie *m, const char *path, const AVFrame *first, struct err *err)
{
	int rc = avformat_alloc_output_context2(&m->file, NULL, "mp4", path);

	if (rc < 0)
		return media_fail(err, path, rc);
	if (open_video(m, first, err) != 0 || open_audio(m, err) != 0)
		return -1;
	rc = avio_open(&m->file->pb, path, AVIO_FLAG_WRITE);
	if (rc >= 0)
		rc = avformat_write_header(m->file, NULL);
	return rc < 0 ? media_fail(err, path, rc) : 0;
}

static int add_picture(struct movie *m, const AVFrame *picture, int64_t number, struct err *err)
{
	AVFrame *frame = av_frame_alloc();
	int rc = -1;

	if (frame != NULL) {
		frame->width = m->video->width;
		frame->height = m->video->height;
		frame->format = m->video->pix_fmt;
		rc = av_frame_get_buffer(frame, 0);
	}
	if (rc < 0) {
		av_frame_free(&frame);
		return err_set(err, ERR_LIMIT, "no memory for a picture");
	}
	sws_scale(m->scaler, (const uint8_t *const *)picture->data, picture->linesize, 0,
	          picture->height, frame->data, frame->linesize);
	frame->pts = number;
	rc = encode(m, m->video, frame, err);
	av_frame_free(&frame);
	return rc;
}

/* The samples from `at` on, as many as the encoder takes at a time. */
static int add_sound(struct movie *m, size_t at, struct err *err)
{
	AVFrame *frame = av_frame_alloc();
	size_t n = (size_t)m->audio->frame_size;
	int rc = -1;

	if (frame != NULL) {
		frame->nb_samples = m->audio->frame_size;
		frame->format = m->audio->sample_fmt;
		frame->pts = (int64_t)at;
		rc = av_channel_layout_copy(&frame->ch_layout, &m->audio->ch_layout);
	}
	if (rc < 0 || av_frame_get_buffer(frame, 0) < 0) {
		av_frame_free(&frame);
		return err_set(err, ERR_LIMIT, "no memory for sound");
	}
	for (int side = 0; side < SIDES; side++) {
		const unsigned char *wav = (const unsigned char *)m->sound[side].ptr + WAV_HEADER;
		float *out = (float *)(void *)frame->data[side];

		for (size_t i = 0; i < n; i++)
			out[i] = at + i < m->samples
			                 ? (float)(int16_t)le16_get(wav + 2 * (at + i)) / 32768.0f
			                 : 0;
	}
	rc = encode(m, m->audio, frame, err);
	av_frame_free(&frame);
	return rc;
}

static int add_all(struct movie *m, const char *path, struct media *pictures, struct err *err)
{
	bool end = false;
	int64_t n = 0;

	if (media_next(pictures, &end, err) != 0)
		return -1;
	if (end)
		return err_set(err, ERR_NOT_FOUND, "there is no frame-000.png beside '%s'", path);
	if (begin(m, path, pictures->frame, err) != 0)
		return -1;
	while (!end) {
		if (add_picture(m, pictures->frame, n++, err) != 0 ||
		    media_next(pictures, &end, err) != 0)
			return -1;
	}
	for (size_t at = 0; at < m->samples; at += (size_t)m->audio->frame_size)
		if (add_sound(m, at, err) != 0)
			return -1;
	if (encode(m, m->video, NULL, err) != 0 || encode(m, m->audio, NULL, err) != 0)
		return -1;
	n = av_write_trailer(m->file);
	return n < 0 ? media_fail(err, path, (int)n) : 0;
}

static void movie_done(struct movie *m)
{
	if (m->file != NULL)
		avio_closep(&m->file->pb);
	avformat_free_context(m->file);
	avcodec_free_context(&m->video);
	avcodec_free_context(&m->audio);
	av_packet_free(&m->packet);
	sws_freeContext(m->scaler);
	for (int i = 0; i < SIDES; i++)
		strbuf_done(&m->sound[i]);
}

int movie_write(const char *folder, struct err *err)
{
	struct movie m = {.sound = {STRBUF_INIT(WAV_BYTES_MAX), STRBUF_INIT(WAV_BYTES_MAX)}};
	struct media pictures = {0};
	char path[PATH_MAX], frames[PATH_MAX];
	int rc = -1;

	m.packet = av_packet_alloc();
	if (m.packet == NULL)
		return err_set(err, ERR_LIMIT, "no memory for packets");
	if (fs_join(frames, folder, "frame-%03d.png", err) == 0 &&
	    fs_join(path, folder, "movie.mp4", err) == 0 && read_sounds(folder, &m, err) == 0 &&
	    media_open_pictures(frames, &pictures, err) == 0)
		rc = add_all(&m, path, &pictures, err);
	media_done(&pictures);
	movie_done(&m);
	return rc;
}
