/*
 * The block pipeline: one producer fills fixed-size blocks in place, N threads compress them, one
 * thread writes them in order. Memory is bounded by the number of blocks, whatever the length of
 * the stream; the bytes do not depend on the number of threads. Knows nothing of tar or trees.
 *
 *   AUTO(blocks) struct blocks b;
 *   blocks_start(&b, &(struct blocks_opts){.compression = c, .level = l, .threads = 4, .out =
 * sink}); blocks_room(&b.out, &ptr, &n, err), blocks_advance(&b.out, n, err) ... blocks_finish(&b,
 * err)
 *
 * Thread rule: one thread calls these functions; `out` is written by another one until finish or
 * done.
 */
#ifndef SLIPWAY_BUILDER_LAYER_PACK_BLOCKS_H
#define SLIPWAY_BUILDER_LAYER_PACK_BLOCKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/crypto/digest.h"
#include "base/stream.h"
#include "builder/layer/ztoc/spans.h"
#include "builder/oci/mediatype.h"

/*
 * Where a tar is written: `room` lends memory (at least 1 byte), `advance` says how much of it was
 * filled. So file contents are read straight into the block that will be compressed.
 */
struct tar_out {
	int (*room)(struct tar_out *o, unsigned char **ret_at, size_t *ret_n, struct err *err);
	int (*advance)(struct tar_out *o, size_t n, struct err *err);
};

/* Copies bytes through room and advance. */
int tar_out_write(struct tar_out *o, const void *bytes, size_t len, struct err *err) MUST_USE;

/* A tar_out that hashes and keeps nothing: what the diff ID alone needs. */
struct hash_out {
	struct tar_out out;
	struct hasher hasher;
	int64_t bytes;
	unsigned char *buf;
};
void hash_out_init(struct hash_out *h);
struct digest hash_out_final(struct hash_out *h); /* once */
void hash_out_done(struct hash_out *h);

struct blocks_opts {
	enum compression compression;
	int level;        /* as codec_level gives it */
	unsigned threads; /* at least 1; lowered so that blocks take about 64 MiB at most */
	struct sink *out;
	struct spans_writer *spans; /* gzip only: finds the points of a zTOC; NULL = none wanted */
};

struct packed_block;

struct blocks {
	struct tar_out out; /* the producer's side */
	struct blocks_opts opts;
	size_t block_size, n_blocks;
	unsigned n_threads, n_started; /* compressors wanted and running */
	bool writing;                  /* the writer runs */
	struct packed_block *ring;     /* block number i is in ring[i % n_blocks] */
	struct hasher raw;             /* of what the producer wrote; unused without compression */
	int64_t raw_size;
	bool filling; /* block number n_filled is being filled */
	pthread_t *compressor, writer;
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t freed, filled, ready;
	uint64_t n_filled, n_taken, n_written;
	bool end, failed;
	struct err err; /* the first failure */
};

/* Starts the threads. Always followed by blocks_done, even when it fails (ERR_IO: no thread). */
int blocks_start(struct blocks *b, const struct blocks_opts *opts, struct err *err) MUST_USE;

/* Passes the last block on and waits until everything is written; the first error of any thread. */
int blocks_finish(struct blocks *b, struct err *err) MUST_USE;

/* Digest of the uncompressed bytes, after finish, once. Zero with COMPRESSION_NONE: it is the
 * blob's. */
struct digest blocks_raw_digest(struct blocks *b);

/* Stops threads that still run, and frees. For AUTO(blocks). */
void blocks_done(struct blocks *b);

#endif
