/*
 * The section `pipeline` of slipway.yaml as it was written: what pipeline_fields decodes into.
 * Texts are NULL, numbers 0 where the spec says nothing and there is no default. All memory lives
 * in the spec's arena.
 */
#ifndef SLIPWAY_PIPELINE_SECTIONS_H
#define SLIPWAY_PIPELINE_SECTIONS_H

#include "base/doc/fields.h"
#include "base/srcpos.h"
#include "base/strlist.h"

struct source_section {
	struct srcpos at;
	const char *connection; /* ARN of a CodeConnections connection */
	const char *repository; /* "org/name" */
	const char *branch;     /* default main */
};

/* One architecture's build machine. */
struct builder_section {
	struct srcpos at;
	const char *image;   /* CodeBuild's image; default: Amazon Linux of the architecture */
	const char *compute; /* BUILD_GENERAL1_... */
	const char *runner;  /* GitHub's runner label */
};

/* A program to fetch; url NULL = the key is not there. */
struct download_section {
	struct srcpos at;
	const char *url;           /* https:// or s3://, with ${arch} */
	const char *amd64, *arm64; /* SHA-256 in hexadecimal */
};

struct pipeline_section {
	struct srcpos at;
	bool set;
	const char *region; /* default: cluster.region, or that of the ECR repository */
	struct srcpos region_at;
	struct source_section source;
	struct builder_section amd64, arm64;
	struct download_section slipway, kubectl;
	struct strlist install; /* commands before anything else: toolchain, slipway */
	struct strlist test;    /* commands of every builder before it builds */
	struct strlist build;   /* commands that make what the layers pack */
	struct strlist options; /* of slipway's commands that reach the registry */
	struct strlist tags;    /* beside the commit's */
	const char *staging; /* repository that builds push to; default: image.repository-build */
	struct srcpos staging_at;
	const char *sign; /* the key that signs what passed; default: image.sign's */
	struct srcpos sign_at;
	bool signing_key;     /* the stack makes that key in KMS */
	bool repository;      /* the stack makes the ECR repositories */
	bool scan;            /* gate on ECR's findings */
	const char *severity; /* ... of this severity or worse */
	bool deploy, approval;
	struct srcpos deploy_at;
	bool cache;
	int64_t log_days;
	int64_t timeout_minutes;
	const char *topic;   /* SNS topic's ARN for notifications */
	const char *kms_key; /* ARN; of buckets and artifacts */
	bool github;         /* the GitHub Actions workflow too */
	const char *github_role;
	const char *github_release_role; /* of the job that signs and tags; default: github_role */
};

extern const struct field_table pipeline_fields;

#endif
