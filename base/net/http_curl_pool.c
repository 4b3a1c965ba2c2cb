/* See http_curl_pool.h. */
#include "base/net/http_curl_pool.h"

static void share_lock(CURL *curl, curl_lock_data data, curl_lock_access access, void *ctx)
{
	(void)curl;
	(void)access;
	pthread_mutex_lock(&((struct curl_pool *)ctx)->share_locks[data]);
}

static void share_unlock(CURL *curl, curl_lock_data data, void *ctx)
{
	(void)curl;
	pthread_mutex_unlock(&((struct curl_pool *)ctx)->share_locks[data]);
}

void curl_pool_init(struct curl_pool *p)
{
	pthread_mutex_init(&p->lock, NULL);
	p->share = curl_share_init();
	if (p->share == NULL)
		mem_exhausted("libcurl");
	for (size_t i = 0; i < ARRAY_LEN(p->share_locks); i++)
		pthread_mutex_init(&p->share_locks[i], NULL);
	curl_share_setopt(p->share, CURLSHOPT_LOCKFUNC, share_lock);
	curl_share_setopt(p->share, CURLSHOPT_UNLOCKFUNC, share_unlock);
	curl_share_setopt(p->share, CURLSHOPT_USERDATA, p);
	curl_share_setopt(p->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
	curl_share_setopt(p->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
}

static void free_handle(struct curl_handle *handle)
{
	curl_easy_cleanup(handle->easy);
	curl_multi_cleanup(handle->multi);
}

void curl_pool_done(struct curl_pool *p)
{
	for (size_t i = 0; i < 4; i++) {
		for (size_t k = 0; k < p->idle[i / 2][i % 2].n; k++)
			free_handle(&p->idle[i / 2][i % 2].at[k]);
		vec_done(&p->idle[i / 2][i % 2]);
	}
	curl_share_cleanup(p->share);
	for (size_t i = 0; i < ARRAY_LEN(p->share_locks); i++)
		pthread_mutex_destroy(&p->share_locks[i]);
	pthread_mutex_destroy(&p->lock);
}

struct curl_handle curl_pool_take(struct curl_pool *p, bool pulled, bool large)
{
	struct curl_handle handle = {NULL, NULL};

	pthread_mutex_lock(&p->lock);
	if (p->idle[pulled][large].n > 0)
		handle = p->idle[pulled][large].at[--p->idle[pulled][large].n];
	pthread_mutex_unlock(&p->lock);
	if (handle.easy != NULL)
		curl_easy_reset(handle.easy); /* options go, connections stay */
	else
		handle.easy = curl_easy_init();
	if (pulled && handle.multi == NULL)
		handle.multi = curl_multi_init();
	if (handle.easy == NULL || (pulled && handle.multi == NULL))
		mem_exhausted("libcurl");
	curl_easy_setopt(handle.easy, CURLOPT_SHARE, p->share);
	return handle;
}

void curl_pool_return(struct curl_pool *p, struct curl_handle handle, bool large)
{
	pthread_mutex_lock(&p->lock);
	vec_push(&p->idle[handle.multi != NULL][large], handle);
	pthread_mutex_unlock(&p->lock);
}
