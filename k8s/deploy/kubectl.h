/*
 * Talking to a cluster through the user's own kubectl: contexts, exec plugins and credentials stay
 * kubectl's. Programs are run without a shell. Tests put a struct of their own in kubectl_exec's
 * place.
 */
#ifndef SLIPWAY_K8S_DEPLOY_KUBECTL_H
#define SLIPWAY_K8S_DEPLOY_KUBECTL_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/doc/json.h"
#include "base/proc.h"
#include "base/progress.h"
#include "base/strbuf.h"

enum {
	KUBECTL_ARGS_MAX = 24,
	KUBECTL_OUTPUT_MAX = 64 << 20,
	KUBECTL_ERROR_MAX = 64 << 10,
	KUBECTL_CALL_MS = 180000 /* what one call may take */
};

struct kubectl_reply {
	int status; /* exit status */
	struct strbuf out, err_text;
};
void kubectl_reply_done(struct kubectl_reply *reply);

/*
 * How long a call that failed for a passing cause (ERR_NETWORK) is made again, since its first
 * failure: a cluster that never answered is given up soon, one that did is waited for. Shared by
 * all that call the same cluster.
 */
struct patience {
	int64_t window_ms; /* for a cluster that has answered */
	bool answered;
};

/* The window of a cluster that has not answered yet, and of commands that only look. */
enum { PATIENCE_SHORT_MS = 15000 };

/* One call: args without "kubectl", NULL-terminated; input may be NULL. An exit status that is not
 * 0 is not an error here. ERR_NOT_FOUND: there is no kubectl; ERR_NETWORK: it took too long. */
struct kubectl {
	int (*call)(struct kubectl *k, const char *const *args, const char *input,
	            struct kubectl_reply *reply, struct err *err);
	struct clock *clock;
	struct progress *progress; /* NULL = silent */
	struct patience *patience; /* NULL = every call is made once */
	/* Starts a call that lasts, to be read while it runs. NULL: there are none here. */
	int (*follow)(struct kubectl *k, const char *const *args, struct proc_child *ret,
	              struct err *err);
};

/* The program itself. */
struct kubectl_exec {
	struct kubectl base;
	struct patience patience;
	const char *program;              /* $KUBECTL or "kubectl" */
	const char *context, *kubeconfig; /* NULL = kubectl's own choice */
	int timeout_ms;                   /* of one call */
};
/* With the short patience. The struct stays where it is. */
void kubectl_exec_init(struct kubectl_exec *k, struct clock *clock, struct progress *progress);

/* The whole command line of a call, NULL-terminated: for what is read while it runs. */
enum { KUBECTL_ARGV_MAX = KUBECTL_ARGS_MAX + 6 };
void kubectl_exec_argv(const struct kubectl_exec *k, const char *const *args,
                       const char *argv[KUBECTL_ARGV_MAX]);

/* Sets *err: there is no such program. Returns -1. */
int kubectl_exec_missing(const struct kubectl_exec *k, struct err *err);

/*
 * One call, made again as long as patience lasts; any exit status but 0 becomes an error that says
 * what to do about it (kubectl_advice). The reply's output is the caller's; kubectl_reply_done.
 */
int kubectl_run(struct kubectl *k, const char *const *args, const char *input,
                struct kubectl_reply *reply, struct err *err) MUST_USE;

/* kubectl_run, and its output parsed; *ret_doc NULL when there was no output. */
int kubectl_json(struct kubectl *k, const char *const *args, const char *input, cJSON **ret_doc,
                 struct err *err) MUST_USE;

/* Like kubectl_json; a single object and no output become a list. Returns an array of objects. */
int kubectl_list(struct kubectl *k, const char *const *args, const char *input, cJSON **ret_items,
                 struct err *err) MUST_USE;

/* Prints objects as one List, for kubectl's standard input. */
void kubectl_print_list(cJSON *items, struct strbuf *sb);

/* An array of those of `items` that are in the cluster, as they are there. */
int kubectl_look(struct kubectl *k, cJSON *items, cJSON **ret_live, struct err *err) MUST_USE;

/* The oldest client that knows server-side apply with all that is asked of it: 1.MINOR. */
enum { KUBECTL_MINOR_MIN = 24 };

struct kubectl_versions {
	int client_minor, server_minor;
};

/* Is there a kubectl, is it new enough, does the cluster answer? */
int kubectl_versions(struct kubectl *k, struct kubectl_versions *ret, struct err *err) MUST_USE;

/*
 * Sets *err from what kubectl said: the code by the first known pattern, the message from its first
 * informative line, the next step as hint. ERR_NETWORK is worth a retry. Returns -1.
 */
int kubectl_advice(const char *stderr_text, struct err *err);

#endif
