/*
 * Where AWS services live: partitions, the endpoint rules of the six services that slipway speaks
 * to, and what the name of an ECR registry says. Pure tables and functions.
 * Sources: the endpoint rule sets and partition data that AWS publishes with its SDKs (botocore,
 * 2026-08), the host pattern of amazon-ecr-credential-helper 0.12.
 */
#ifndef SLIPWAY_BUILDER_AWS_ENDPOINT_H
#define SLIPWAY_BUILDER_AWS_ENDPOINT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

struct aws_partition {
	const char *id;            /* "aws", "aws-cn", ... : second field of an ARN */
	const char *suffix;        /* "amazonaws.com" */
	const char *dual_suffix;   /* "api.aws" */
	const char *global_region; /* where global services sign: "us-east-1" */
};

/* By the region's form; unknown regions are of partition aws. Never NULL. */
const struct aws_partition *aws_partition_of(const char *region);

enum aws_service { AWS_ECR, AWS_ECR_PUBLIC, AWS_STS, AWS_SSO, AWS_SSO_OIDC, AWS_KMS, AWS_SERVICES };

/* "ecr", "ecr_public", "sts", "sso", "sso_oidc", "kms": in AWS_ENDPOINT_URL_X (upper case) and in a
 * profile's services section. */
const char *aws_service_id(enum aws_service service);

struct aws_endpoint_params {
	const char *region; /* NULL = not known */
	bool fips, dual_stack;
	bool sts_global; /* AWS_STS_REGIONAL_ENDPOINTS=legacy: the old regions use one endpoint */
	const char *custom; /* the user's own URL, NULL = none */
};

struct aws_endpoint {
	const char *url; /* "https://HOST", no slash at the end */
	/*
	 * where the rule sets and the older endpoint list disagree: try it when the first does not
	 * exist; NULL = nowhere
	 */
	const char *other_url;
	const char *signing_region; /* scope of signatures */
	const char *signing_name;   /* likewise */
};

/* ERR_USAGE for a missing or malformed region, and for FIPS or dual stack with a custom URL. */
int aws_endpoint_find(enum aws_service service, const struct aws_endpoint_params *p,
                      struct arena *a, struct aws_endpoint *ret_endpoint, struct err *err) MUST_USE;

/* A region's name: letters, digits and '-', a host label. Everything else is refused before it
 * becomes part of a URL. */
bool aws_region_valid(const char *region);

/* What an ECR registry's host says. */
struct ecr_host {
	bool is_public;      /* public.ecr.aws: nothing below is set but region */
	const char *account; /* 12 digits */
	const char *region;
	bool fips;
};

/* False when the host (port ignored) is not one of ECR's. Strings live in the arena. */
bool ecr_host_parse(const char *host, struct arena *a, struct ecr_host *ret_host);

#endif
