#include "trainer/prepare/media.h"

#include <libavutil/avutil.h>

/* Packets in a row that may be broken before the file is given up. */
enum { BAD_PACKETS_MAX = 1000, PICTURE_PIXELS_MAX = 1 << 28 };

int media_fail(struct err *err, const char *what, int code)
{
	char text[AV_ERROR_MAX_STRING_SIZE] = "unknown error";

	av_strerror(code, text, sizeof(text));
	return err_set(err, ERR_FORMAT, "%s: %s", what, text);
}

/* Playlists and the like must not open other files or the network. */
static int open_file(const char *path, struct media *m, struct err *err)
{
	AVDictionary *options = NULL;
	int rc;

	av_dict_set(&options, "protocol_whitelist", "file", 0);
	av_dict_set(&options, "format_whitelist",
	            "avi,mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpeg,mpegts,mpegvideo,ogg,flv,asf,"
	            "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,wav",
	            0);
	rc = avformat_open_input(&m->file, path, NULL, &options);
	av_dict_free(&options);
	if (rc < 0)
		return media_fail(err, "open", rc);
	rc = avformat_find_stream_info(m->file, NULL);
	if (rc < 0)
		return media_fail(err, "read the streams", rc);
	return 0;
}

static int open_codec(struct media *m, const AVCodec *codec, uint64_t max_pixels, struct err *err)
{
	int rc;

	m->codec = avcodec_alloc_context3(codec);
	if (m->codec == NULL)
		return err_set(err, ERR_LIMIT, "no memory for the decoder");
	rc = avcodec_parameters_to_context(m->codec, m->file->streams[m->stream]->codecpar);
	if (rc < 0)
		return media_fail(err, "stream parameters", rc);
	m->codec->thread_count = 1;
	m->codec->max_pixels = (int64_t)max_pixels;
	m->codec->pkt_timebase = m->file->streams[m->stream]->time_base;
	rc = avcodec_open2(m->codec, codec, NULL);
	return rc < 0 ? media_fail(err, "open the decoder", rc) : 0;
}

static int open_decoder(struct media *m, const AVCodec *codec, uint64_t max_pixels, struct err *err)
{
	if (open_codec(m, codec, max_pixels, err) != 0)
		return -1;
	m->packet = av_packet_alloc();
	m->frame = av_frame_alloc();
	if (m->packet == NULL || m->frame == NULL)
		return err_set(err, ERR_LIMIT, "no memory for frames");
	return 0;
}

int media_open(const char *path, enum AVMediaType type, uint64_t max_pixels, struct media *ret,
               struct err *err)
{
	const AVCodec *codec = NULL;
	struct media *m = ret;

	*m = (struct media){0};
	if (open_file(path, m, err) != 0)
		return -1;
	m->stream = av_find_best_stream(m->file, type, -1, -1, &codec, 0);
	if (m->stream < 0 || codec == NULL)
		return err_set(err, ERR_NOT_FOUND, "no %s stream that can be decoded",
		               av_get_media_type_string(type));
	for (unsigned i = 0; i < m->file->nb_streams; i++)
		if ((int)i != m->stream)
			m->file->streams[i]->discard = AVDISCARD_ALL;
	return open_decoder(m, codec, max_pixels, err);
}

int media_open_pictures(const char *path, struct media *ret, struct err *err)
{
	const AVInputFormat *format = av_find_input_format("image2");
	struct media *m = ret;
	int rc;

	*m = (struct media){0};
	rc = avformat_open_input(&m->file, path, format, NULL);
	if (rc < 0)
		return media_fail(err, path, rc);
	if (m->file->nb_streams != 1 || m->file->streams[0]->codecpar->codec_id != AV_CODEC_ID_PNG)
		return err_set(err, ERR_FORMAT, "'%s' are not PNG pictures", path);
	return open_decoder(m, avcodec_find_decoder(AV_CODEC_ID_PNG), PICTURE_PIXELS_MAX, err);
}

void media_done(struct media *m)
{
	av_frame_free(&m->frame);
	av_packet_free(&m->packet);
	avcodec_free_context(&m->codec);
	avformat_close_input(&m->file);
}

/* Gives the decoder one more packet; a broken one is dropped. *bad counts them. */
static int feed(struct media *m, unsigned *bad, struct err *err)
{
	int rc = av_read_frame(m->file, m->packet);

	if (rc < 0) {
		m->draining = true;
		avcodec_send_packet(m->codec, NULL);
		return 0;
	}
	rc = m->packet->stream_index == m->stream ? avcodec_send_packet(m->codec, m->packet) : 0;
	av_packet_unref(m->packet);
	if (rc < 0 && rc != AVERROR(EAGAIN) && ++*bad > BAD_PACKETS_MAX)
		return err_set(err, ERR_FORMAT, "over %d broken packets in a row", BAD_PACKETS_MAX);
	return 0;
}

int media_next(struct media *m, bool *ret_end, struct err *err)
{
	unsigned bad = 0;

	for (;;) {
		int rc = avcodec_receive_frame(m->codec, m->frame);

		*ret_end = rc == AVERROR_EOF;
		if (rc >= 0 || rc == AVERROR_EOF)
			return 0;
		if (m->draining) {
			*ret_end = true;
			return 0;
		}
		if (feed(m, &bad, err) != 0)
			return -1;
	}
}

double media_time(const struct media *m, double otherwise)
{
	int64_t pts = m->frame->best_effort_timestamp;

	if (pts == AV_NOPTS_VALUE)
		return otherwise;
	return (double)pts * av_q2d(m->file->streams[m->stream]->time_base);
}
