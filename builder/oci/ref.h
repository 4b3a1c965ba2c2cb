/*
 * Image references as users write them (distribution-spec, "Pulling manifests"; Docker's defaults):
 *
 *   [HOST[:PORT]/]NAME[:TAG][@sha256:...]   a registry; no host = docker.io, one segment =
 * library/NAME oci:PATH[:TAG][@sha256:...]             an OCI layout folder oci-archive:PATH[:TAG]
 * the same as one tar file docker-archive:PATH[:NAME:TAG]          what `docker load` reads
 *
 * Pure parsing; strings live in the arena.
 */
#ifndef SLIPWAY_BUILDER_OCI_REF_H
#define SLIPWAY_BUILDER_OCI_REF_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/crypto/digest.h"
#include "base/err.h"

enum ref_kind { REF_REGISTRY, REF_LAYOUT, REF_OCI_ARCHIVE, REF_DOCKER_ARCHIVE };

struct ref {
	enum ref_kind kind;
	bool host_implied;      /* registry only: no host was written, so it is Docker Hub */
	const char *host;       /* registry only: "docker.io", "localhost:5000", "[::1]:5000" */
	const char *repository; /* registry only: "library/debian" */
	const char *path;       /* layout and archives only */
	const char *tag;        /* NULL if none was written */
	bool has_digest;
	struct digest digest;
};

/* ERR_FORMAT with what is wrong ("repository name must be lower case", ...) and a hint. */
int ref_parse(const char *text, struct arena *a, struct ref *ret_ref, struct err *err) MUST_USE;

/* The canonical text: host/name[:tag][@digest], oci:path[:tag]... In the arena. */
char *ref_text(const struct ref *r, struct arena *a);

/* True for [a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}. */
bool ref_tag_valid(const char *tag);

/* True for the distribution-spec name grammar, at most 255 bytes. */
bool ref_repository_valid(const char *repository);

/* The host that speaks the API for a reference host: docker.io -> registry-1.docker.io, others as
 * is. */
const char *ref_api_host(const char *host);

#endif
