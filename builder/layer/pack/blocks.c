/* See blocks.h. Sections: tar_out, compressor, writer, producer, life. */
#include "builder/layer/pack/blocks.h"

#include <errno.h>

#include "base/mem.h"
#include "builder/layer/pack/compress.h"

enum {
	QUEUE_BLOCKS = 3,      /* one being filled, one being written, one waiting */
	MEMORY_MAX = 64 << 20, /* of blocks in all */
	HASH_BYTES = 1 << 20
};

enum block_state { BLOCK_FREE, BLOCK_FILLED, BLOCK_READY };

struct packed_block {
	unsigned char *bytes; /* raw, then compressed: codec_bound bytes, allocated at first use */
	unsigned char *raw_end; /* the last ZTOC_WINDOW raw bytes, when points are wanted */
	size_t len, raw_len;
	uint32_t crc;
	enum block_state state;
};

/* ---- tar_out ---- */

int tar_out_write(struct tar_out *o, const void *bytes, size_t len, struct err *err)
{
	const unsigned char *from = bytes;
	unsigned char *at;
	size_t n;

	while (len > 0) {
		if (o->room(o, &at, &n, err) != 0)
			return -1;
		n = n < len ? n : len;
		memcpy(at, from, n);
		if (o->advance(o, n, err) != 0)
			return -1;
		from += n;
		len -= n;
	}
	return 0;
}

static int hash_room(struct tar_out *o, unsigned char **ret_at, size_t *ret_n, struct err *err)
{
	struct hash_out *h = (struct hash_out *)o;

	(void)err;
	*ret_at = h->buf;
	*ret_n = HASH_BYTES;
	return 0;
}

static int hash_advance(struct tar_out *o, size_t n, struct err *err)
{
	struct hash_out *h = (struct hash_out *)o;

	(void)err;
	hasher_update(&h->hasher, h->buf, n);
	h->bytes += (int64_t)n;
	return 0;
}

void hash_out_init(struct hash_out *h)
{
	*h = (struct hash_out){.out = {.room = hash_room, .advance = hash_advance}};
	hasher_init(&h->hasher);
	h->buf = mem_calloc(1, HASH_BYTES);
}

struct digest hash_out_final(struct hash_out *h)
{
	return hasher_final(&h->hasher);
}

void hash_out_done(struct hash_out *h)
{
	hasher_done(&h->hasher);
	free(h->buf);
	h->buf = NULL;
}

/* ---- compressor ---- */

/* Called with the lock held: remembers the first failure and wakes everybody. */
static void stop_all(struct blocks *b, const struct err *err)
{
	if (!b->failed)
		b->err = *err;
	b->failed = true;
	pthread_cond_broadcast(&b->freed);
	pthread_cond_broadcast(&b->filled);
	pthread_cond_broadcast(&b->ready);
}

/* The next block to compress, NULL when there is no more. */
static struct packed_block *take_filled(struct blocks *b)
{
	struct packed_block *block = NULL;

	pthread_mutex_lock(&b->lock);
	while (!b->failed && !b->end && b->n_taken == b->n_filled)
		pthread_cond_wait(&b->filled, &b->lock);
	if (!b->failed && b->n_taken < b->n_filled)
		block = &b->ring[b->n_taken++ % b->n_blocks];
	pthread_mutex_unlock(&b->lock);
	return block;
}

static void give_ready(struct blocks *b, struct packed_block *block)
{
	pthread_mutex_lock(&b->lock);
	block->state = BLOCK_READY;
	pthread_cond_signal(&b->ready);
	pthread_mutex_unlock(&b->lock);
}

static void give_failure(struct blocks *b, const struct err *err)
{
	pthread_mutex_lock(&b->lock);
	stop_all(b, err);
	pthread_mutex_unlock(&b->lock);
}

/* The compressed bytes take the place of the raw ones, whose end a point may need. */
static void keep_raw_end(const struct blocks *b, struct packed_block *block)
{
	size_t n = block->raw_len < ZTOC_WINDOW ? block->raw_len : ZTOC_WINDOW;

	if (b->opts.spans == NULL)
		return;
	if (block->raw_end == NULL)
		block->raw_end = mem_calloc(1, ZTOC_WINDOW);
	memcpy(block->raw_end, block->bytes + block->raw_len - n, n);
}

static void *compressor_main(void *arg)
{
	struct blocks *b = arg;
	struct codec *codec = codec_new(b->opts.compression, b->opts.level);
	unsigned char *spare = mem_calloc(1, codec_bound(b->opts.compression));
	struct packed_block *block;
	struct err err = {0};

	while ((block = take_filled(b)) != NULL) {
		unsigned char *raw = block->bytes;

		keep_raw_end(b, block);
		if (codec_block(codec, raw, block->raw_len, spare, &block->len, &block->crc,
		                &err) != 0) {
			give_failure(b, &err);
			break;
		}
		block->bytes = spare; /* the raw bytes' memory takes the next result */
		spare = raw;
		give_ready(b, block);
	}
	free(spare);
	codec_free(codec);
	return NULL;
}

/* ---- writer ---- */

/* The next block in order, NULL at the end. */
static struct packed_block *take_ready(struct blocks *b)
{
	struct packed_block *block = NULL;

	pthread_mutex_lock(&b->lock);
	for (;;) {
		struct packed_block *next = &b->ring[b->n_written % b->n_blocks];

		if (b->failed || (b->end && b->n_written == b->n_filled))
			break;
		if (b->n_written < b->n_filled && next->state == BLOCK_READY) {
			block = next;
			break;
		}
		pthread_cond_wait(&b->ready, &b->lock);
	}
	pthread_mutex_unlock(&b->lock);
	return block;
}

static void give_free(struct blocks *b, struct packed_block *block)
{
	pthread_mutex_lock(&b->lock);
	block->state = BLOCK_FREE;
	b->n_written++;
	pthread_cond_signal(&b->freed);
	pthread_mutex_unlock(&b->lock);
}

static int find_points(const struct blocks *b, const struct packed_block *block, struct err *err)
{
	const struct spans_piece piece = {
		.bytes = block->bytes,
		.len = block->len,
		.raw_len = block->raw_len,
		.raw_end = block->raw_end,
		.raw_end_len = block->raw_len < ZTOC_WINDOW ? block->raw_len : ZTOC_WINDOW};

	return b->opts.spans != NULL ? spans_writer_piece(b->opts.spans, &piece, err) : 0;
}

/* The bytes around the blocks. */
static int write_around(struct blocks *b, const unsigned char *bytes, size_t len,
                        void (*tell)(struct spans_writer *, const void *, size_t), struct err *err)
{
	if (b->opts.spans != NULL)
		tell(b->opts.spans, bytes, len);
	return len > 0 ? sink_write(b->opts.out, bytes, len, err) : 0;
}

static int write_all(struct blocks *b, struct err *err)
{
	unsigned char head[CODEC_HEAD_MAX], tail[CODEC_TAIL_MAX];
	size_t n = codec_head(b->opts.compression, head);
	uint64_t raw_size = 0;
	uint32_t crc = 0;
	struct packed_block *block;

	if (write_around(b, head, n, spans_writer_head, err) != 0)
		return -1;
	while ((block = take_ready(b)) != NULL) {
		if (sink_write(b->opts.out, block->bytes, block->len, err) != 0 ||
		    find_points(b, block, err) != 0)
			return -1;
		crc = codec_crc_join(crc, block->crc, block->raw_len);
		raw_size += block->raw_len;
		give_free(b, block);
	}
	n = codec_tail(b->opts.compression, crc, raw_size, tail);
	return write_around(b, tail, n, spans_writer_tail, err);
}

static void *writer_main(void *arg)
{
	struct blocks *b = arg;
	struct err err = {0};

	if (write_all(b, &err) != 0)
		give_failure(b, &err);
	return NULL;
}

/* ---- producer ---- */

/* Waits until the block is free. What it holds belongs to this thread while `filling`. */
static int wait_free(struct blocks *b, struct packed_block *block, struct err *err)
{
	int rc = 0;

	pthread_mutex_lock(&b->lock);
	while (!b->failed && block->state != BLOCK_FREE)
		pthread_cond_wait(&b->freed, &b->lock);
	if (b->failed) {
		*err = b->err;
		rc = -1;
	}
	pthread_mutex_unlock(&b->lock);
	return rc;
}

static int blocks_room(struct tar_out *o, unsigned char **ret_at, size_t *ret_n, struct err *err)
{
	struct blocks *b = (struct blocks *)o;
	struct packed_block *block = &b->ring[b->n_filled % b->n_blocks];

	if (!b->filling) {
		if (wait_free(b, block, err) != 0)
			return -1;
		block->raw_len = 0;
		b->filling = true;
	}
	if (block->bytes == NULL)
		block->bytes = mem_calloc(1, codec_bound(b->opts.compression));
	*ret_at = block->bytes + block->raw_len;
	*ret_n = b->block_size - block->raw_len;
	return 0;
}

/* Hands the block being filled to the compressors. */
static void give_filled(struct blocks *b)
{
	struct packed_block *block = &b->ring[b->n_filled % b->n_blocks];

	b->filling = false;
	pthread_mutex_lock(&b->lock);
	block->state = BLOCK_FILLED;
	b->n_filled++;
	pthread_cond_signal(&b->filled);
	pthread_mutex_unlock(&b->lock);
}

static int blocks_advance(struct tar_out *o, size_t n, struct err *err)
{
	struct blocks *b = (struct blocks *)o;
	struct packed_block *block = &b->ring[b->n_filled % b->n_blocks];

	(void)err;
	if (b->opts.compression != COMPRESSION_NONE)
		hasher_update(&b->raw, block->bytes + block->raw_len, n);
	block->raw_len += n;
	b->raw_size += (int64_t)n;
	if (block->raw_len == b->block_size)
		give_filled(b);
	return 0;
}

/* ---- life ---- */

/* Sets `end`, so that threads stop when the queue is empty, and waits for them. */
static void join_all(struct blocks *b)
{
	pthread_mutex_lock(&b->lock);
	b->end = true;
	pthread_cond_broadcast(&b->filled);
	pthread_cond_broadcast(&b->ready);
	pthread_mutex_unlock(&b->lock);
	while (b->n_started > 0)
		pthread_join(b->compressor[--b->n_started], NULL);
	if (b->writing)
		pthread_join(b->writer, NULL);
	b->writing = false;
}

static int start_thread(pthread_t *thread, void *(*entry)(void *), void *arg, struct err *err)
{
	int rc = pthread_create(thread, NULL, entry, arg);

	if (rc == 0)
		return 0;
	errno = rc;
	return err_set(err, ERR_IO, "start a thread");
}

/* Every compressor holds one block besides those in the ring. */
static unsigned threads_within(size_t block_size, unsigned wanted)
{
	unsigned most = (unsigned)((MEMORY_MAX / block_size - QUEUE_BLOCKS) / 2);

	if (wanted < 1)
		return 1;
	return wanted < most ? wanted : most;
}

int blocks_start(struct blocks *b, const struct blocks_opts *opts, struct err *err)
{
	*b = (struct blocks){.out = {.room = blocks_room, .advance = blocks_advance},
	                     .opts = *opts};
	b->block_size = codec_block_size(opts->compression);
	b->n_threads = threads_within(b->block_size, opts->threads);
	b->n_blocks = b->n_threads + QUEUE_BLOCKS;
	b->ring = mem_calloc(b->n_blocks, sizeof(*b->ring));
	b->compressor = mem_calloc(b->n_threads, sizeof(*b->compressor));
	hasher_init(&b->raw);
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->freed, NULL);
	pthread_cond_init(&b->filled, NULL);
	pthread_cond_init(&b->ready, NULL);
	if (start_thread(&b->writer, writer_main, b, err) != 0)
		return -1;
	b->writing = true;
	for (; b->n_started < b->n_threads; b->n_started++)
		if (start_thread(&b->compressor[b->n_started], compressor_main, b, err) != 0)
			return -1;
	return 0;
}

int blocks_finish(struct blocks *b, struct err *err)
{
	unsigned char *at;
	size_t n;

	/* An empty stream is one empty block, so that every decoder sees a whole stream. */
	if (b->raw_size == 0 && blocks_room(&b->out, &at, &n, err) != 0)
		return -1;
	if (b->filling)
		give_filled(b);
	join_all(b);
	if (!b->failed)
		return 0;
	*err = b->err;
	return -1;
}

struct digest blocks_raw_digest(struct blocks *b)
{
	if (b->opts.compression == COMPRESSION_NONE)
		return (struct digest){0};
	return hasher_final(&b->raw);
}

void blocks_done(struct blocks *b)
{
	struct err stopped = {.code = ERR_INTERRUPTED, .msg = "stopped"};

	if (b->ring == NULL)
		return;
	give_failure(b, &stopped);
	join_all(b);
	for (size_t i = 0; i < b->n_blocks; i++)
		free(b->ring[i].bytes);
	for (size_t i = 0; i < b->n_blocks; i++)
		free(b->ring[i].raw_end);
	free(b->ring);
	free(b->compressor);
	hasher_done(&b->raw);
	pthread_cond_destroy(&b->freed);
	pthread_cond_destroy(&b->filled);
	pthread_cond_destroy(&b->ready);
	pthread_mutex_destroy(&b->lock);
	b->ring = NULL;
}
