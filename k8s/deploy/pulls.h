/*
 * How fast the nodes fetched the fleet's images: what the kubelet says when a pull is over, in an
 * event. Reading is pure, over objects as kubectl gave them; nothing in them is trusted.
 */
#ifndef SLIPWAY_K8S_DEPLOY_PULLS_H
#define SLIPWAY_K8S_DEPLOY_PULLS_H

#include "base/arena.h"
#include "base/doc/json.h"

/* Below this a node with parallel pull is slowed down by something else: its volume, mostly. */
enum { PULL_SLOW_MB_S = 150, PULLS_SHOWN_MAX = 32 };

struct image_pull {
	const char *node, *pod, *image; /* cleaned; node NULL = unknown */
	int64_t bytes, ms;              /* both above 0; without waiting for other pulls */
};

struct image_pulls {
	struct image_pull *at;
	size_t n;
};

/*
 * "Successfully pulled image "X" in 59.8s (1m2s including waiting). Image size: 107 bytes.": false
 * for another message, one without a size (Kubernetes before 1.30), or an image that was there.
 */
bool pull_parse(const char *message, struct arena *a, struct image_pull *ret);

/* Of a list of events, the newest PULLS_SHOWN_MAX, in their order. Strings live in the arena. */
void pulls_read(const cJSON *events, struct arena *a, struct image_pulls *ret);

/* MB/s, rounded. */
int64_t pull_speed(const struct image_pull *p);

/* Appends a line per pull for people; an array for programs (docs/DEPLOY.md). */
void pulls_text(const struct image_pulls *pulls, struct strbuf *sb);
void pulls_json(const struct image_pulls *pulls, cJSON *array);

#endif
