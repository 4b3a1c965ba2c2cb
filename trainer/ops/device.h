/*
 * Where ops compute: memory, order, errors. An instance of ops has one device; the arrays that ops
 * are given lie in its memory. All that a device is asked for happens in the order of asking; a
 * device of its own (an accelerator) may be behind, a CPU is not.
 *
 * Errors stick: the first one stays in the instance (ops_fail), from then on ops and transfers do
 * nothing, and ops_sync returns it. So nothing in between has to be looked at.
 *
 * Thread rule: that of the ops; pinned memory may be read and written by any thread.
 */
#ifndef SLIPWAY_TRAINER_OPS_DEVICE_H
#define SLIPWAY_TRAINER_OPS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

struct ops;
struct op_collective;
struct meters;

/* Memory, 64-byte aligned, its content undefined at first. */
struct buffer {
	void *at; /* the device's address; NULL: none, or it could not be had (the error sticks) */
	size_t bytes;
	bool pinned; /* the host's own, from which transfers are quick */
};

/* What a device implements. Sizes in bytes. */
struct op_device {
	/*
	 * The device computes on the host's memory: what a buffer holds may be read and written by
	 * the host between two ops, and ops may be given any memory of the host.
	 */
	bool shared;
	/* b->bytes and b->pinned are set; sets b->at. `what` is for the message when there is no
	 * memory: "weights", "activations". */
	void (*allocate)(struct ops *ops, struct buffer *b, const char *what);
	void (*release)(struct ops *ops, struct buffer *b);
	void (*zero)(struct ops *ops, void *to, size_t n);
	void (*copy)(struct ops *ops, void *to, const void *from, size_t n); /* within the device */
	/* from: the host's. It may be changed when this returns; pinned memory only after the next
	 * sync. */
	void (*upload)(struct ops *ops, void *to, const void *from, size_t n);
	/* to: the host's. It is there after the next sync. */
	void (*download)(struct ops *ops, void *to, const void *from, size_t n);
	/* Returns when all that was asked for is done, or has failed (ops_fail). */
	void (*sync)(struct ops *ops);
	/* Sums over the ranks' devices (trainer/ops/collective.h). NULL: it has none. */
	const struct op_collective *collective;
	/*
	 * What the host sends ahead (trainer/ops/feed.h) on one of FEED_LANES lanes, beside what
	 * computes: `send` begins once the lane's last `take` has read `to`; `sent` returns when
	 * the lane's last send is there, so that pinned `from` may be changed; `take` copies within
	 * the device, in the order of ops, what the lane's last send has brought. NULL, all three:
	 * the device knows only one order.
	 */
	void (*send)(struct ops *ops, unsigned lane, void *to, const void *from, size_t n);
	void (*sent)(struct ops *ops, unsigned lane);
	void (*take)(struct ops *ops, unsigned lane, void *to, const void *from, size_t n);
	/* As trainer/ops/recording.h; NULL, all four: nothing is recorded. */
	bool (*record)(struct ops *ops);
	void *(*record_end)(struct ops *ops);
	bool (*replay)(struct ops *ops, void *recording);
	void (*forget)(struct ops *ops, void *recording);
	/* Appends what computes, for the log: "2 threads, avx512, f32". */
	void (*describe)(const struct ops *ops, struct strbuf *sb);
	/* Appends who computes matrix products: "own kernels"; more is known after a first step.
	 * NULL: there is no choice. */
	void (*products)(const struct ops *ops, struct strbuf *sb);
	/* Starts `rounds` turns of multiply-adds in registers alone, by what computes products, on
	 * all of the device; returns how many floating operations they are. NULL: nobody has
	 * written it. */
	double (*peak)(struct ops *ops, uint32_t rounds);
	/* Bytes that the implementation holds for itself: scratch. */
	size_t (*held)(const struct ops *ops);
	/* Sets what it can tell (trainer/ops/meters.h); NULL: nothing. */
	void (*meters)(struct ops *ops, struct meters *ret);
	void (*close)(struct ops *ops);
};

/* n may be 0: an empty buffer. buffer_free leaves *b empty; an empty one is fine. */
struct buffer buffer_new(struct ops *ops, size_t n, const char *what);
struct buffer buffer_new_pinned(struct ops *ops, size_t n, const char *what);
void buffer_free(struct ops *ops, struct buffer *b);

/* At least n bytes, the content lost when it has to grow. */
void buffer_reserve(struct ops *ops, struct buffer *b, size_t n, const char *what);

/* As the functions of the device; n may be 0. */
void ops_zero(struct ops *ops, void *to, size_t n);
void ops_copy(struct ops *ops, void *to, const void *from, size_t n);
void ops_upload(struct ops *ops, void *to, const void *from, size_t n);
void ops_download(struct ops *ops, void *to, const void *from, size_t n);

/*
 * The host's n bytes where ops can read them: there already on a shared device, else uploaded to
 * `room`, which grows. They must stay as they are until the next sync. NULL stays NULL.
 */
const void *ops_stage(struct ops *ops, struct buffer *room, const void *from, size_t n,
                      const char *what);

/* The device's n bytes where the host can read them after the next sync: there already on a shared
 * device, else downloaded to `room`, which is pinned and grows. */
const void *ops_fetch(struct ops *ops, struct buffer *room, const void *from, size_t n,
                      const char *what);

/*
 * Room for OPS_FIGURES doubles that ops write and the host reads: losses, norms. ops_read_figures
 * waits; figures of a device that has failed are NaN.
 */
enum { OPS_FIGURES = 16 };
double *ops_figures(struct ops *ops);
void ops_read_figures(struct ops *ops, double *ret, size_t n);

/* The first error sticks. */
void ops_fail(struct ops *ops, const struct err *err);
bool ops_failed(const struct ops *ops);

/* Waits until all is done; the error that sticks. */
int ops_sync(struct ops *ops, struct err *err) MUST_USE;

#endif
