/*
 * The two interfaces by which the registry client knows ECR: credentials, and what its failures
 * mean. ECR answers some failures by closing the connection, and most others without naming the
 * IAM action that is missing: this is where they get their cause and the next step.
 */
#include <string.h>

#include "builder/aws/ecr_registry_internal.h"
#include "builder/aws/sts.h"

/* ---- credentials ---- */

static int provider_get(struct credential_provider *p, const char *host, bool renew,
                        struct credential *ret, struct err *err)
{
	return ecr_registry_get(((struct ecr_provider *)p)->owner, host, renew, ret, err);
}

static bool provider_is_plain(struct credential_provider *p, const char *host)
{
	AUTO(arena) struct arena a = {0};
	struct ecr_host h;

	return ecr_registry_host(((struct ecr_provider *)p)->owner, host, &a, &h) && !h.is_public;
}

struct credential_provider *ecr_registry_credentials(struct ecr_registry *e)
{
	return &e->provider.provider;
}

struct registry_advisor *ecr_registry_advisor(struct ecr_registry *e)
{
	return &e->advisor.advisor;
}

/* ---- failures ---- */

struct failure {
	struct ecr_registry *owner;
	const struct ecr_host *host;
	const char *repository;
	enum registry_step step;
	struct arena *arena;
};

/*
 * IAM actions behind each step (ECR user guide, "Required IAM permissions for pushing an image").
 */
static const char *const actions[] = {
	[REGISTRY_HEAD_BLOB] = "ecr:BatchCheckLayerAvailability",
	[REGISTRY_GET_BLOB] = "ecr:GetDownloadUrlForLayer",
	[REGISTRY_OPEN_UPLOAD] = "ecr:InitiateLayerUpload",
	[REGISTRY_PUT_BLOB] = "ecr:UploadLayerPart and ecr:CompleteLayerUpload",
	[REGISTRY_HEAD_MANIFEST] = "ecr:BatchGetImage",
	[REGISTRY_GET_MANIFEST] = "ecr:BatchGetImage",
	[REGISTRY_PUT_MANIFEST] = "ecr:PutImage",
};

static const char *action_of(const struct failure *f)
{
	const enum registry_step step = f->step;

	/* ECR Public's have the same names in a service of its own. */
	if (f->host->is_public)
		return "ecr-public's actions for a push";
	return step < ARRAY_LEN(actions) && actions[step] != NULL ? actions[step] : "ecr:*";
}

/* Who we are, for a person who has to grant something; "" when STS does not say. */
static const char *principal(struct ecr_registry *e, const char *region, struct arena *a)
{
	AUTO(aws_credentials) struct aws_credentials c = {0};
	struct sts_identity identity;
	struct err ignored = {0};

	/* A password that was typed in, or docker's, is somebody else's. */
	if (!e->bought)
		return "the owner of this password";
	if (aws_session_credentials(e->opts.session, region, false, &c, &ignored) != 0 ||
	    sts_get_caller_identity(aws_session_client(e->opts.session), region, &c, a, &identity,
	                            &ignored) != 0)
		return "this principal";
	return identity.arn;
}

static int missing_repository(const struct failure *f, struct err *err)
{
	err_set(err, ERR_NOT_FOUND, "the repository '%s' does not exist in registry %s, region %s",
	        f->repository,
	        f->host->is_public         ? "public.ecr.aws"
	        : f->host->account != NULL ? f->host->account
	                                   : "of this account",
	        f->host->region);
	err->hint[0] = '\0';
	return err_hint(err, "check the name and the region; to create it: `slipway push "
	                     "--create-repository`, or image.ecr.create in the spec");
}

static int missing_action(const struct failure *f, const char *action, const char *who,
                          struct err *err)
{
	err->code = ERR_DENIED;
	err->hint[0] = '\0';
	return err_hint(err,
	                "allow %.100s on repository '%.100s' to %.200s; `slipway iam push` "
	                "prints the whole policy",
	                action, f->repository, who);
}

/*
 * The connection ended where ECR should have opened an upload: it does so for a missing repository
 * and for a missing permission. True when the cause is certain; a permission is guessed at last,
 * for a bad network cuts connections too.
 */
static bool explain_cut(const struct failure *f, bool last, struct err *err)
{
	struct ecr_repository repository;
	struct err why = {0};
	int status = ecr_describe_repository(f->owner->opts.session, f->host, f->repository,
	                                     f->arena, &repository, &why);

	if (status != 0 && why.code == ERR_NOT_FOUND) {
		missing_repository(f, err);
		return true;
	}
	/* "Empty reply": closed without a word, not reset, slow or unreachable. */
	if (!last || strstr(err->msg, "mpty reply") == NULL ||
	    (status != 0 && why.code == ERR_NETWORK))
		return false;
	err_set(err, ERR_DENIED,
	        "ECR repeatedly closed the connection instead of starting an upload to '%s'; most "
	        "likely the permission is missing%s",
	        f->repository, status == 0 ? "" : ", or the repository does not exist");
	missing_action(f, action_of(f), principal(f->owner, f->host->region, f->arena), err);
	return true;
}

static void explain_denied(const struct failure *f, struct err *err)
{
	const char *action = aws_failure_word(err->msg, "authorized to perform: ", f->arena);
	const char *who = aws_failure_word(err->msg, "User: ", f->arena);

	if (strstr(err->msg, "expired") != NULL)
		return;
	missing_action(f, action[0] != '\0' ? action : action_of(f),
	               who[0] != '\0' ? who : principal(f->owner, f->host->region, f->arena), err);
}

static void set_hint(struct err *err, const char *hint)
{
	err->hint[0] = '\0';
	err_hint(err, "%s", hint);
}

static void explain_status(const struct failure *f, struct err *err)
{
	if (strstr(err->msg, "NAME_UNKNOWN") != NULL)
		missing_repository(f, err);
	else if (strstr(err->msg, "TAG_INVALID") != NULL)
		set_hint(err, "the repository's tags are immutable: push under a new tag (--tag)");
	else if (err->http_status == 403 || err->http_status == 401)
		explain_denied(f, err);
	else if (err->http_status == 405)
		set_hint(err, "ECR takes plain OCI and Docker manifests only: no artifactType, no "
		              "media type with parameters, at least one layer");
	else if (err->http_status == 400 && strstr(err->msg, "answered 400 ") == NULL)
		set_hint(err, "ECR answers this way when the token is for another region: is the "
		              "registry's name right?");
}

static bool explain(struct registry_advisor *advisor, const struct registry *r,
                    enum registry_step step, bool last, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	struct ecr_host host;
	const struct failure f = {.owner = ((struct ecr_advisor *)advisor)->owner,
	                          .host = &host,
	                          .repository = registry_repository(r),
	                          .step = step,
	                          .arena = &a};

	if (f.owner->opts.session == NULL ||
	    !ecr_registry_host(f.owner, registry_host(r), &a, &host))
		return false;
	if (err->http_status != 0)
		explain_status(&f, err);
	else if (step == REGISTRY_OPEN_UPLOAD && err->code == ERR_NETWORK)
		return explain_cut(&f, last, err);
	return false;
}

void ecr_registry_wire(struct ecr_registry *e)
{
	e->provider = (struct ecr_provider){
		.provider = {.get = provider_get, .is_plain = provider_is_plain}, .owner = e};
	e->advisor = (struct ecr_advisor){.advisor = {.explain = explain}, .owner = e};
}
