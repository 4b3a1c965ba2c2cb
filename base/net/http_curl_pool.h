/*
 * libcurl's handles, kept between requests: a handle holds its connections, so a thread that takes
 * one gets a warm connection. Large bodies (HTTP/1.1) do not meet HTTP/2 connections, and bodies
 * that are pulled need a multi handle, which has connections of its own: each kind has its pool.
 * DNS answers and TLS sessions are shared by all handles. Private to this folder.
 */
#ifndef SLIPWAY_BASE_NET_HTTP_CURL_POOL_H
#define SLIPWAY_BASE_NET_HTTP_CURL_POOL_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdbool.h>

#include "base/mem.h"

struct curl_handle {
	CURL *easy;
	CURLM *multi; /* of one that is pulled from; else NULL */
};

struct curl_pool {
	pthread_mutex_t lock;
	VEC(struct curl_handle) idle[2][2]; /* [pulled][large] */
	CURLSH *share;
	pthread_mutex_t share_locks[CURL_LOCK_DATA_LAST];
};

/* In place: libcurl keeps the pool's address. */
void curl_pool_init(struct curl_pool *p);
void curl_pool_done(struct curl_pool *p); /* all handles are back by then */

/* A handle without options but those of sharing; thread-safe, as its return. */
struct curl_handle curl_pool_take(struct curl_pool *p, bool pulled, bool large);
void curl_pool_return(struct curl_pool *p, struct curl_handle handle, bool large);

#endif
