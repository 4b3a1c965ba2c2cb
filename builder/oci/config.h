/*
 * The image configuration (image-spec, config.md). Built from nothing or on top of a base image's
 * configuration, whose unknown members (Healthcheck, Shell, StopTimeout, ...) are kept as they are.
 */
#ifndef SLIPWAY_BUILDER_OCI_CONFIG_H
#define SLIPWAY_BUILDER_OCI_CONFIG_H

#include "base/doc/json.h"
#include "base/srcpos.h"
#include "base/strlist.h"
#include "base/strmap.h"
#include "builder/oci/descriptor.h"

enum { CONFIG_BYTES_MAX = 8 << 20 };

struct history {
	const char *created;    /* RFC 3339, NULL if none */
	const char *created_by; /* NULL if none */
	const char *comment;    /* NULL if none */
	bool empty_layer;
};

/* Docker's extension `config.Healthcheck` (Docker Engine API, "HealthConfig"); OCI has no such
 * member, and Kubernetes does not read it. */
struct healthcheck {
	bool set; /* else the base's stays; it is replaced as a whole */
	struct srcpos at;
	struct strlist test; /* NONE; CMD and a program; CMD-SHELL and a line for its shell */
	int64_t interval, timeout, start_period, start_interval; /* ns; 0 = Docker's default */
	int64_t retries;                                         /* 0 = Docker's default */
};

/* What a build sets; a NULL string, has_ false or an empty map leaves the base's value. */
struct config_settings {
	struct platform platform;
	const char *created; /* RFC 3339 */
	const char *author;
	bool has_entrypoint, has_cmd;
	struct strlist entrypoint,
		cmd;       /* an entrypoint that is set clears the base's cmd, as Docker does */
	struct strmap env; /* merged over the base's, by name */
	const char *user, *workdir, *stop_signal;
	struct strlist ports;   /* "8080/tcp" */
	struct strlist volumes; /* "/data" */
	struct healthcheck healthcheck;
	struct strmap labels; /* merged over the base's */
};

/* One layer that a build adds on top. */
struct config_layer {
	struct digest diff_id;
	struct history history;
};

/* What readers need from a configuration. */
struct image_config {
	struct platform platform;
	struct digest *diff_ids; /* bottom first */
	size_t n_diff_ids;
	struct history *history;
	size_t n_history;
	bool has_history;
	struct strlist entrypoint, cmd;
	const char *user;
	size_t n_nonempty_history; /* entries without empty_layer */
};

/*
 * Makes configuration bytes: base (NULL = scratch) + settings + layers. ERR_FORMAT when the base is
 * malformed or its platform contradicts the settings'.
 */
int config_make(const cJSON *base, const struct config_settings *s,
                const struct config_layer *layers, size_t n_layers, struct strbuf *sb,
                struct err *err) MUST_USE;

/* Parses a configuration. ERR_FORMAT names the member; strings live in the arena. */
int config_parse(const char *bytes, size_t len, struct arena *a, struct image_config *ret_config,
                 struct err *err) MUST_USE;

#endif
