#include "k8s/deploy/ahead.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/interrupt.h"

enum { POLL_MS = 100 };

/* The words as one text; the caller frees. */
static char *words_of(const char *const *args)
{
	struct strbuf sb = STRBUF_INIT(0);

	for (size_t i = 0; args[i] != NULL; i++)
		strbuf_addf(&sb, "%s\n", args[i]);
	return strbuf_take(&sb);
}

void kubectl_ahead_begin(struct kubectl_ahead *a, const char *const *args)
{
	struct ahead_call *call = &a->at[a->n];
	struct err ignored = {0};

	if (a->n == AHEAD_MAX || a->inner->follow == NULL ||
	    a->inner->follow(a->inner, args, &call->child, &ignored) != 0)
		return;
	call->words = words_of(args);
	a->n++;
}

static struct ahead_call *find_begun(struct kubectl_ahead *a, const char *const *args)
{
	AUTO_FREE char *words = words_of(args);

	for (size_t i = 0; i < a->n; i++)
		if (a->at[i].words != NULL && strcmp(a->at[i].words, words) == 0)
			return &a->at[i];
	return NULL;
}

/* Reads once; closes the stream at its end. */
static void drain(int *fd, struct strbuf *sb)
{
	char buf[16384];
	ssize_t n = read(*fd, buf, sizeof(buf));

	if (n > 0)
		strbuf_add(sb, buf, (size_t)n);
	else if (n == 0 || (errno != EINTR && errno != EAGAIN))
		attr_close_fd(fd);
}

static int listen_to(struct proc_child *child, struct kubectl_reply *reply, struct err *err)
{
	int64_t end = clock_monotonic_ns() / 1000000 + KUBECTL_CALL_MS;

	while (child->out >= 0 || child->err_text >= 0) {
		struct pollfd fds[] = {{child->out, POLLIN, 0}, {child->err_text, POLLIN, 0}};

		if (poll(fds, ARRAY_LEN(fds), POLL_MS) < 0 && errno != EINTR)
			return err_set(err, ERR_IO, "wait for kubectl");
		if (fds[0].revents != 0)
			drain(&child->out, &reply->out);
		if (fds[1].revents != 0)
			drain(&child->err_text, &reply->err_text);
		if (interrupt_check(err) != 0)
			return -1;
		if (reply->out.overflow)
			return err_set(err, ERR_LIMIT, "kubectl printed more than %zu bytes",
			               reply->out.max);
		if (clock_monotonic_ns() / 1000000 > end)
			return err_set(err, ERR_NETWORK, "kubectl did not finish in %d s",
			               KUBECTL_CALL_MS / 1000);
	}
	return 0;
}

static int call_begun(struct kubectl *base, const char *const *args, const char *input,
                      struct kubectl_reply *ret, struct err *err)
{
	struct kubectl_ahead *a = (struct kubectl_ahead *)base;
	struct ahead_call *call = input == NULL ? find_begun(a, args) : NULL;
	struct kubectl_reply reply = {.out = STRBUF_INIT(KUBECTL_OUTPUT_MAX),
	                              .err_text = STRBUF_INIT(KUBECTL_ERROR_MAX)};
	int rc;

	if (call == NULL)
		return a->inner->call(a->inner, args, input, ret, err);
	free(call->words);
	call->words = NULL;
	rc = listen_to(&call->child, &reply, err);
	reply.status = proc_end(&call->child, rc != 0);
	if (rc != 0)
		kubectl_reply_done(&reply);
	else
		*ret = reply;
	return rc;
}

static int follow_inner(struct kubectl *base, const char *const *args, struct proc_child *ret,
                        struct err *err)
{
	struct kubectl *inner = ((struct kubectl_ahead *)base)->inner;

	return inner->follow(inner, args, ret, err);
}

void kubectl_ahead_init(struct kubectl_ahead *a, struct kubectl *inner)
{
	*a = (struct kubectl_ahead){.base = {.call = call_begun,
	                                     .clock = inner->clock,
	                                     .progress = inner->progress,
	                                     .patience = inner->patience,
	                                     .follow = inner->follow != NULL ? follow_inner : NULL},
	                            .inner = inner};
}

void kubectl_ahead_done(struct kubectl_ahead *a)
{
	for (size_t i = 0; i < a->n; i++) {
		if (a->at[i].words == NULL)
			continue;
		proc_end(&a->at[i].child, true);
		free(a->at[i].words);
	}
	a->n = 0;
}
