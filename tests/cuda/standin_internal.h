/*
 * The inside of the stand-in for libcuda.so.1, shared by its files: standin.c (devices, modules,
 * memory) and standin_streams.c (streams, events, graphs). For this folder only.
 */
#ifndef SLIPWAY_TESTS_CUDA_STANDIN_INTERNAL_H
#define SLIPWAY_TESTS_CUDA_STANDIN_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/cuda/standin.h"
#include "trainer/cuda/calls.h"

enum {
	ALIGN = 256,
	PAGE = 512, /* what blocks are rounded up to in standin_state().most */
	BLOCKS = 1024,
	PARAMS_MAX = 512,
	STREAMS = 4,
	EVENTS = 32,
	GRAPHS = 16,
	FIRST_DEVICE = 7,
	MULTIPROCESSORS = 2
};
#define ARENA      ((size_t)1 << 30)
/* Where the kernel grants it: the lower halves of its addresses are no size below 2^31 and no number
 * that is not negative, so that a field and the padding beside it are not taken for an address. */
#define ARENA_HINT ((void *)(uintptr_t)0x5a5ac0000000)
enum { BAD_VALUE = 1, NOT_READY = 3, BAD_IMAGE = 200, BAD_HANDLE = 400, NOT_FOUND = 500 };
enum { CAPTURE_UNSUPPORTED = 900 };

struct standin_kernel {
	const char *module, *name;
	void (*run)(const void *params);
	unsigned threads; /* 0: a library's, which `run` computes as a whole */
	size_t shared, params;
};

struct block {
	size_t at, n;    /* of the arena; n 0: free */
	uint64_t serial; /* the how manieth allocation it is */
};

/* What waits in a stream. */
struct task {
	/* NULL: a copy; with from NULL setting to byte; with to NULL a wait for another stream */
	const struct standin_kernel *kernel;
	unsigned grid[3];
	_Alignas(16) char params[PARAMS_MAX];
	char *to;
	const char *from;
	size_t n;
	unsigned char byte;
	void *staged;      /* what `from` is, where the host may change what it was */
	uint64_t seen;     /* of pinned memory: what it held when the copy was asked for */
	bool pinned;       /* that is known */
	struct stream *of; /* a wait: for what this stream was given */
	uint64_t until;    /* before this */
	uint64_t asked;    /* the how manieth task of all streams */
	double us;         /* how long it is said to take, of a library's kernel */
};

struct graph {
	bool open;
	struct task *tasks;
	size_t n, cap;
	uint64_t serial; /* of the newest block when it was recorded */
};

struct stream {
	bool open;
	struct task *tasks; /* owned; those that wait begin at first */
	size_t first, n, cap;
	uint64_t done;           /* tasks ever run */
	double us;               /* what all it was asked for is said to take */
	struct graph *recording; /* NULL: tasks wait */
};

struct event {
	bool open, timed;
	struct stream *stream; /* NULL: never recorded */
	uint64_t until;
	double us; /* of what the stream was asked for before it */
};

extern struct standin {
	size_t calls, counted, fail_at;
	size_t order;                   /* of threads: a seed */
	const char *fail_call;          /* NULL: any is counted */
	int result, major, minor, dead; /* dead: what every call returns after a fatal error */
	unsigned devices;
	int device; /* in use, or 0 */
	size_t memory, held;
	size_t top; /* of the arena: beyond it nothing ever was */
	size_t allocations, recordings, replays, launches, most, late;
	bool updated; /* an optimizer's kernel was launched */
	const char *problem;
	char *arena;
	struct block blocks[BLOCKS], pinned[BLOCKS];
	uint64_t serial, asked;
	struct stream streams[STREAMS];
	struct event events[EVENTS];
	struct graph graphs[GRAPHS], execs[GRAPHS];
	bool initialised, retained, current;
	size_t modules;
} gpu;

/* Keeps the first misuse. */
int wrong(int result, const char *problem);

/* Every call counts itself, and one of them fails when that is asked for. */
int count_call(const char *name);
#define COUNTED                                                                                    \
	do {                                                                                       \
		int planted = count_call(__func__);                                                \
                                                                                                   \
		if (planted != 0)                                                                  \
			return planted;                                                            \
	} while (0)

/* The same for what a recording cannot have, and what would wait for one. */
#define COUNTED_APART                                                                              \
	do {                                                                                       \
		COUNTED;                                                                           \
		if (is_recording())                                                                \
			return wrong(CAPTURE_UNSUPPORTED, "asked for while a stream records");     \
	} while (0)

bool within(const void *at, size_t n);
/* The block of the device's memory, or of pinned memory, that `at` lies in; NULL: none. */
const struct block *block_at(const void *at);
struct block *pinned_at(const void *at);

/* standin_streams.c */
bool is_recording(void);
void run_all(void);
void drop_tasks(void);
int push(const struct task *t, const void *stream);

#endif
