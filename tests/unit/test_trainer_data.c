/* Shards, datasets, the order of clips, reading ahead. */
#include <fcntl.h>

#include "base/fs.h"
#include "base/mem.h"
#include "tests/harness.h"
#include "trainer/data/dataset.h"
#include "trainer/data/le.h"
#include "trainer/data/loader.h"
#include "trainer/data/order.h"

static const struct clip_shape shape = {2, 4, 6, 64};

enum { CLIPS = 3 };

/* A shard of CLIPS clips whose bytes are told by clip and place; its bytes into sb. */
static void make_shard(struct strbuf *sb)
{
	uint8_t video[2 * 4 * 6 * 3];
	int16_t audio[64];
	char dir[4096], path[8192];
	struct shard_writer w;
	struct err err = {0};
	int fd;

	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/a.clips", dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK_OK(shard_writer_begin(&w, fd, &shape, &err), &err);
	for (int c = 0; c < CLIPS; c++) {
		for (size_t i = 0; i < sizeof(video); i++)
			video[i] = (uint8_t)(i + 10 * (size_t)c);
		for (int i = 0; i < 64; i++)
			audio[i] = (int16_t)(-100 * i - c);
		CHECK_OK(shard_writer_add(&w, video, audio, 640000u * (unsigned)c, &err), &err);
	}
	CHECK_OK(shard_writer_end(&w, &err), &err);
	shard_writer_done(&w);
	close(fd);
	CHECK_OK(fs_read_file(path, 1 << 20, sb, &err), &err);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

static void shard_round_trip(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	unsigned char *room = NULL;
	struct clip_view clip;
	struct shard s;
	struct err err = {0};

	make_shard(&sb);
	CHECK_OK(shard_parse("a", sb.ptr, sb.len, &s, &err), &err);
	CHECK_INT(s.n_clips, CLIPS);
	CHECK(memcmp(&s.shape, &shape, sizeof(shape)) == 0);
	CHECK_OK(shard_clip(&s, 2, &room, &clip, &err), &err);
	CHECK_INT(clip.video[5], 25);
	CHECK_INT((int16_t)le16_get(clip.audio + 2 * 3), -302);
	CHECK_INT(clip.start_us, 1280000);
	CHECK(shard_clip(&s, CLIPS, &room, &clip, &err) != 0);
}

static void damaged_clip(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	unsigned char *room = NULL;
	struct clip_view clip;
	struct shard s;
	struct err err = {0};

	make_shard(&sb);
	sb.ptr[SHARD_HEADER_BYTES + 7] ^= 1;
	CHECK_OK(shard_parse("bad.clips", sb.ptr, sb.len, &s, &err), &err);
	CHECK(shard_clip(&s, 0, &room, &clip, &err) != 0);
	CHECK_INT(err.code, ERR_DIGEST);
	CHECK(strstr(err.msg, "bad.clips") != NULL);
	CHECK_OK(shard_clip(&s, 1, &room, &clip, &err), &err);
}

/* Cut off after it was opened: by prepare's user, or by a file system that lost its server. */
static void cut_off(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	AUTO_FREE unsigned char *room = NULL;
	struct clip_view clip;
	struct shard s;
	char dir[4096], path[8192];
	struct err err = {0};

	make_shard(&sb);
	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/a.clips", dir);
	CHECK_OK(fs_write_file(path, sb.ptr, sb.len, 0644, &err), &err);
	CHECK_OK(shard_open(path, &s, &err), &err);
	CHECK_OK(shard_clip(&s, CLIPS - 1, &room, &clip, &err), &err);
	CHECK(truncate(path, SHARD_HEADER_BYTES + 10) == 0);
	CHECK(shard_clip(&s, 0, &room, &clip, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
	CHECK(strstr(err.msg, "cut off") != NULL && err.hint[0] != '\0');
	CHECK(shard_open(path, &s, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

/* Every single bit of the header, and every length. */
static void damaged_header(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	struct shard s;
	struct err err = {0};

	make_shard(&sb);
	for (size_t bit = 0; bit < (size_t)SHARD_HEADER_BYTES * 8; bit++) {
		sb.ptr[bit / 8] ^= (char)(1 << bit % 8);
		CHECK(shard_parse("a", sb.ptr, sb.len, &s, &err) != 0);
		sb.ptr[bit / 8] ^= (char)(1 << bit % 8);
	}
	for (size_t len = 0; len < sb.len; len++)
		CHECK(shard_parse("a", sb.ptr, len, &s, &err) != 0);
}

static int parse_list(const char *text, struct dataset_list *list, struct err *err)
{
	return dataset_list_parse("dataset.json", text, strlen(text), list, err);
}

#define HEAD                                                                                       \
	"{\"format\":\"slipway-dataset/v1\",\"clip\":{\"frames\":2,\"height\":4,\"width\":6,"      \
	"\"samples\":64},\"classes\":[\"a\",\"b\",\"c\",\"d\",\"e\"],\"shards\":["

static void list_is_read(void)
{
	struct dataset_list list;
	struct err err = {0};

	CHECK_OK(parse_list(HEAD "{\"file\":\"shards/x\",\"clips\":3,\"label\":0},"
	                         "{\"file\":\"shards/y\",\"clips\":0,\"label\":0},"
	                         "{\"file\":\"shards/z\",\"clips\":2,\"label\":4}]}",
	                    &list, &err),
	         &err);
	CHECK_INT(list.n, 2);
	CHECK_INT(list.n_clips, 5);
	CHECK_INT(list.at[1].first, 3);
	CHECK_STR(list.at[1].file, "shards/z");
	dataset_list_done(&list);
}

static void hostile_lists(void)
{
	static const char *const bad[] = {
		"[]",
		"{}",
		HEAD "{\"file\":\"/etc/passwd\",\"clips\":3,\"label\":0}]}",
		HEAD "{\"file\":\"../x\",\"clips\":3,\"label\":0}]}",
		HEAD "{\"file\":\"a/../../x\",\"clips\":3,\"label\":0}]}",
		HEAD "{\"file\":\"a/..\",\"clips\":3,\"label\":0}]}",
		HEAD "{\"file\":\"a\",\"clips\":-1,\"label\":0}]}",
		HEAD "{\"file\":\"a\",\"clips\":99999999999,\"label\":0}]}",
		HEAD "{\"file\":\"a\",\"clips\":1}]}",
		HEAD "3]}",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct dataset_list list;
		struct err err = {0};

		CHECK(parse_list(bad[i], &list, &err) != 0);
		CHECK(err.msg[0] != '\0');
	}
}

static void order_is_a_permutation(void)
{
	static const uint64_t sizes[] = {1, 2, 3, 5, 16, 17, 100, 1000};

	for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
		uint64_t n = sizes[k];
		AUTO_FREE bool *seen = mem_calloc((size_t)n, sizeof(bool));

		for (uint64_t i = 0; i < n; i++) {
			uint64_t clip = order_clip(7, n, 3 * n + i, true);

			CHECK(clip < n && !seen[clip]);
			seen[clip] = true;
		}
	}
}

static void epochs_differ(void)
{
	unsigned same = 0, straight = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		same += order_clip(7, 1000, i, true) == order_clip(7, 1000, 1000 + i, true);
		straight += order_clip(7, 1000, i, true) == i;
		CHECK_INT(order_clip(7, 1000, 2000 + i, false), i);
	}
	CHECK(same < 20);
	CHECK(straight < 20);
}

static void synthetic_is_repeatable(void)
{
	struct dataset *a = dataset_synthetic(5, &shape, 10, 100);
	struct dataset *b = dataset_synthetic(5, &shape, 10, 100);
	float image[2][2 * 3 * 4 * 6], audio[2][64];
	int32_t label[2];
	struct clip_room ra = {.image = image[0], .audio = audio[0], .label = &label[0]};
	struct clip_room rb = {.image = image[1], .audio = audio[1], .label = &label[1]};
	struct err err = {0};

	CHECK_OK(dataset_clip(a, 42, &ra, &err), &err);
	CHECK_OK(dataset_clip(b, 42, &rb, &err), &err);
	CHECK(memcmp(image[0], image[1], sizeof(image[0])) == 0 && label[0] == label[1]);
	for (size_t i = 0; i < ARRAY_LEN(image[0]); i++)
		CHECK(image[0][i] >= 0 && image[0][i] <= 1);
	CHECK_OK(dataset_clip(b, 43, &rb, &err), &err);
	CHECK(memcmp(image[0], image[1], sizeof(image[0])) != 0);
	CHECK(dataset_clip(a, 100, &ra, &err) != 0);
	dataset_free(a);
	dataset_free(b);
}

static void reads_ahead_in_order(void)
{
	struct dataset *d = dataset_synthetic(5, &shape, 10, 50);
	struct loader_options o = {.samples = {.seed = 9, .shape = shape, .shuffle = true},
	                           .batch = 2,
	                           .stride = 4,
	                           .threads = 3,
	                           .ahead = 3};
	struct clip_loader *l = loader_new(d, &o);
	float image[2 * 3 * 4 * 6], audio[64];
	int32_t label;
	struct clip_room room = {.image = image, .audio = audio, .label = &label};
	struct err err = {0};
	struct clips clips;
	uint64_t wait = 0;

	/* In order, then again from an earlier place, as after a resume. */
	for (uint64_t k = 0; k < 60; k++) {
		uint64_t first = k < 40 ? 4 * k : 4 * (k - 40) + 2;

		CHECK_OK(loader_next(l, first, 2, &clips, &wait, &err), &err);
		for (size_t i = 0; i < 2; i++) {
			CHECK_OK(dataset_clip(d, order_clip(9, 50, first + i, true), &room, &err),
			         &err);
			CHECK(memcmp(clips.image + i * ARRAY_LEN(image), image, sizeof(image)) ==
			      0);
			CHECK_INT(clips.label[i], label);
		}
	}
	loader_free(l);
	dataset_free(d);
}

static void folder_errors(void)
{
	struct dataset *d;
	struct err err = {0};
	char dir[4096], path[8192];

	test_tmpdir(dir);
	CHECK(dataset_open(dir, &shape, 5, &d, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(strstr(err.hint, "prepare") != NULL);
	snprintf(path, sizeof(path), "%s/dataset.json", dir);
	CHECK_OK(fs_write_file(path, HEAD "]}", strlen(HEAD "]}"), 0600, &err), &err);
	CHECK(dataset_open(dir, &shape, 5, &d, &err) != 0);
	CHECK(strstr(err.msg, "lists no clip") != NULL);
	CHECK_OK(fs_write_file(path, HEAD "{\"file\":\"gone\",\"clips\":1,\"label\":4}]}",
	                       strlen(HEAD "{\"file\":\"gone\",\"clips\":1,\"label\":4}]}"), 0600,
	                       &err),
	         &err);
	CHECK(dataset_open(dir, &shape, 4, &d, &err) != 0);
	CHECK(strstr(err.msg, "5 classes") != NULL && strstr(err.msg, "num_labels 4") != NULL);
	if (dataset_open(dir, &shape, 5, &d, &err) == 0) {
		float image[2 * 3 * 4 * 6], audio[64];
		int32_t label;
		struct clip_room room = {.image = image, .audio = audio, .label = &label};

		CHECK(dataset_clip(d, 0, &room, &err) != 0);
		CHECK(strstr(err.msg, "gone") != NULL);
		dataset_free(d);
	}
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

int main(void)
{
	TEST("shard: one that is cut off after it was opened is an error, not a signal", cut_off);
	TEST("shard: what was written is read", shard_round_trip);
	TEST("shard: a damaged clip is refused by name, the others are not", damaged_clip);
	TEST("shard: any damaged header bit and any cut is refused", damaged_header);
	TEST("dataset.json: shards and their clips are counted", list_is_read);
	TEST("dataset.json: hostile ones are refused", hostile_lists);
	TEST("order: an epoch sees every clip once", order_is_a_permutation);
	TEST("order: epochs differ; unshuffled is straight", epochs_differ);
	TEST("synthetic: the same seed and number give the same clip, in range",
	     synthetic_is_repeatable);
	TEST("loader: clips come as asked for, in order and after a jump", reads_ahead_in_order);
	TEST("dataset: missing, empty and misfitting folders are named", folder_errors);
	return test_done();
}
