/*
 * The credential provider chain, in the AWS CLI's order and with its precedence: the first provider
 * that is configured decides; when it is configured and broken the chain stops and says so; when
 * none is configured, all say why not. Private to this folder: others use session.h.
 */
#ifndef SLIPWAY_BUILDER_AWS_CHAIN_H
#define SLIPWAY_BUILDER_AWS_CHAIN_H

#include "base/doc/json.h"
#include "builder/aws/client.h"
#include "builder/aws/session.h"

enum { CHAIN_DEPTH_MAX = 16 };

/* One walk along the chain for one profile. */
struct chain {
	struct aws_client *client;
	const struct aws_outside *outside;
	const struct aws_settings *settings;
	const char *region; /* for STS, NULL = the settings' */
	const char *profile;
	const struct aws_section *section; /* of that profile, NULL = none */
	/* environment variables count: not for source profiles, nor with --profile */
	bool use_env;
	bool inner; /* for a source profile: metadata services are not asked */
	const char *visited[CHAIN_DEPTH_MAX]; /* profiles on the way here */
	size_t n_visited;
	struct arena *arena;
};

/*
 * A provider: 0 with *ret filled; or 0 with ret->access_key_id NULL and *ret_why_not set when it is
 * not configured; or -1 when it is configured and broken.
 */
typedef int (*provide_fn)(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                          struct err *err);

int provide_environment(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                        struct err *err);
int provide_assume_role(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                        struct err *err);
int provide_web_identity(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                         struct err *err);
int provide_sso(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                struct err *err);
int provide_credentials_file(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                             struct err *err);
int provide_login(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                  struct err *err);
int provide_process(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                    struct err *err);
int provide_config_file(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                        struct err *err);
int provide_container(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                      struct err *err);
int provide_imds(struct chain *c, struct aws_credentials *ret, const char **ret_why_not,
                 struct err *err);

/*
 * Walks the chain. 0 with *ret filled; otherwise -1: a broken provider's error, or ERR_DENIED "no
 * AWS credentials" with what each provider said. *trace (may be NULL) gets an entry for each.
 */
int chain_walk(struct chain *c, struct aws_trace *trace, struct aws_credentials *ret,
               struct err *err) MUST_USE;

/* For providers: the profile's key, or a variable before it where the environment counts for
 * credentials. */
const char *chain_setting(const struct chain *c, const char *variable, const char *key);

/* The same for what is no credential (addresses, time-outs): the variable always counts. */
const char *chain_option(const struct chain *c, const char *variable, const char *key);

/* "~/.aws/..." of the profile's files with HOME expanded, in the arena. */
const char *chain_path(const struct chain *c, const char *path);

/* A JSON document that a provider gives out: which member is what. */
struct credentials_form {
	const char *id, *secret, *token, *expires, *account; /* member names */
	bool expires_in_ms;                                  /* a number; else ISO 8601 text */
};

/* `what` names the document. ERR_FORMAT when a key is missing or has control bytes; ERR_DENIED when
 * they have expired by `now_ms`. */
int credentials_read(const cJSON *doc, const struct credentials_form *form, const char *what,
                     int64_t now_ms, struct aws_credentials *ret, struct err *err) MUST_USE;

/* Two keys and a token as text: ERR_FORMAT when one has bytes that no header may have. `provider`
 * is a constant. */
int credentials_from_text(const char *id, const char *secret, const char *token,
                          const char *provider, struct aws_credentials *ret,
                          struct err *err) MUST_USE;

#endif
