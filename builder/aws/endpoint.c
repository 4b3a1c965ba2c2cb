#include "builder/aws/endpoint.h"

#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"

/* ---- partitions ---- */

static const struct {
	const char *prefix; /* of the region */
	struct aws_partition partition;
} partitions[] = {
	{"cn-", {"aws-cn", "amazonaws.com.cn", "api.amazonwebservices.com.cn", "cn-northwest-1"}},
	{"us-gov-", {"aws-us-gov", "amazonaws.com", "api.aws", "us-gov-west-1"}},
	{"us-iso-", {"aws-iso", "c2s.ic.gov", "api.aws.ic.gov", "us-iso-east-1"}},
	{"us-isob-", {"aws-iso-b", "sc2s.sgov.gov", "api.aws.scloud", "us-isob-east-1"}},
	{"eu-isoe-", {"aws-iso-e", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk", "eu-isoe-west-1"}},
	{"us-isof-", {"aws-iso-f", "csp.hci.ic.gov", "api.aws.hci.ic.gov", "us-isof-south-1"}},
	{"eusc-", {"aws-eusc", "amazonaws.eu", "api.amazonwebservices.eu", "eusc-de-east-1"}},
	{"", {"aws", "amazonaws.com", "api.aws", "us-east-1"}},
};

const struct aws_partition *aws_partition_of(const char *region)
{
	size_t i = 0;

	while (!text_has_prefix(region, partitions[i].prefix))
		i++;
	return &partitions[i].partition;
}

bool aws_region_valid(const char *region)
{
	size_t len =
		strspn(region, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");

	return len > 0 && len <= 63 && region[len] == '\0' && region[0] != '-' &&
	       region[len - 1] != '-';
}

/* ---- endpoints ---- */

/* %R is the region, %S the partition's suffix, %D its dual-stack suffix. */
static const struct service {
	const char *id, *signing_name;
	const char *plain, *fips, *dual, *both;
	const char *other_fips; /* what the older endpoint list has instead, NULL = the same */
	bool gov_is_fips;       /* in us-gov the plain host is the FIPS one */
} services[AWS_SERVICES] = {
	[AWS_ECR] = {.id = "ecr",
                     .signing_name = "ecr",
                     .plain = "api.ecr.%R.%S",
                     .fips = "api.ecr-fips.%R.%S",
                     .dual = "ecr.%R.%D",
                     .both = "ecr-fips.%R.%D",
                     .other_fips = "ecr-fips.%R.%S"},
	[AWS_ECR_PUBLIC] = {.id = "ecr_public",
                            .signing_name = "ecr-public",
                            .plain = "api.ecr-public.%R.%S",
                            .fips = "api.ecr-public-fips.%R.%S",
                            .dual = "api.ecr-public.%R.%D",
                            .both = "api.ecr-public-fips.%R.%D"},
	[AWS_STS] = {.id = "sts",
                     .signing_name = "sts",
                     .plain = "sts.%R.%S",
                     .fips = "sts-fips.%R.%S",
                     .dual = "sts.%R.%D",
                     .both = "sts-fips.%R.%D",
                     .gov_is_fips = true},
	[AWS_SSO] = {.id = "sso",
                     .signing_name = "awsssoportal",
                     .plain = "portal.sso.%R.%S",
                     .fips = "portal.sso-fips.%R.%S",
                     .dual = "portal.sso.%R.%D",
                     .both = "portal.sso-fips.%R.%D",
                     .gov_is_fips = true},
	[AWS_SSO_OIDC] = {.id = "sso_oidc",
                          .signing_name = "sso-oauth",
                          .plain = "oidc.%R.%S",
                          .fips = "oidc-fips.%R.%S",
                          .dual = "oidc.%R.%D",
                          .both = "oidc-fips.%R.%D",
                          .gov_is_fips = true},
	[AWS_KMS] = {.id = "kms",
                     .signing_name = "kms",
                     .plain = "kms.%R.%S",
                     .fips = "kms-fips.%R.%S",
                     .dual = "kms.%R.%D",
                     .both = "kms-fips.%R.%D"},
};

const char *aws_service_id(enum aws_service service)
{
	return services[service].id;
}

static const char *fill_in_form(const char *form, const char *region, struct arena *a)
{
	const struct aws_partition *p = aws_partition_of(region);
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1024);

	strbuf_adds(&sb, "https://");
	for (; *form != '\0'; form++) {
		if (*form != '%') {
			strbuf_addc(&sb, *form);
			continue;
		}
		form++;
		strbuf_adds(&sb, *form == 'R' ? region : *form == 'S' ? p->suffix : p->dual_suffix);
	}
	return arena_strdup(a, strbuf_str(&sb));
}

static int custom_endpoint(const struct aws_endpoint_params *p, struct arena *a,
                           struct aws_endpoint *ret, struct err *err)
{
	if (p->fips || p->dual_stack) {
		err_set(err, ERR_USAGE, "%s cannot be used with a custom endpoint URL",
		        p->fips ? "AWS_USE_FIPS_ENDPOINT" : "AWS_USE_DUALSTACK_ENDPOINT");
		return err_hint(err, "unset one of the two");
	}
	size_t len = strlen(p->custom);

	while (len > 0 && p->custom[len - 1] == '/')
		len--;
	ret->url = arena_strndup(a, p->custom, len);
	return 0;
}

static bool is_legacy_sts_region(const char *region)
{
	static const char *const regions[] = {
		"ap-northeast-1", "ap-south-1",   "ap-southeast-1", "ap-southeast-2",
		"aws-global",     "ca-central-1", "eu-central-1",   "eu-north-1",
		"eu-west-1",      "eu-west-2",    "eu-west-3",      "sa-east-1",
		"us-east-1",      "us-east-2",    "us-west-1",      "us-west-2"};

	for (size_t i = 0; i < ARRAY_LEN(regions); i++)
		if (strcmp(regions[i], region) == 0)
			return true;
	return false;
}

static bool is_global_sts(enum aws_service service, const struct aws_endpoint_params *p)
{
	return service == AWS_STS && !p->fips && !p->dual_stack &&
	       (strcmp(p->region, "aws-global") == 0 ||
	        (p->sts_global && is_legacy_sts_region(p->region)));
}

/* The one endpoint each of ECR Public and STS that follows no pattern. */
static const char *special_form(enum aws_service service, const struct aws_endpoint_params *p)
{
	if (is_global_sts(service, p))
		return "sts.%S";
	if (service == AWS_ECR_PUBLIC && p->dual_stack && !p->fips &&
	    strcmp(aws_partition_of(p->region)->id, "aws") == 0)
		return "ecr-public.%R.%D";
	return NULL;
}

static int check_region(const struct aws_endpoint_params *p, struct err *err)
{
	if (p->custom == NULL && p->region == NULL) {
		err_set(err, ERR_USAGE, "no AWS region is set");
		return err_hint(err, "set AWS_REGION, or `region` in the profile");
	}
	if (p->region != NULL && !aws_region_valid(p->region))
		return err_set(err, ERR_USAGE, "'%.64s' is not an AWS region", p->region);
	return 0;
}

static void by_rules(enum aws_service service, const struct aws_endpoint_params *p, struct arena *a,
                     struct aws_endpoint *e)
{
	const struct service *s = &services[service];
	bool gov = strncmp(p->region, "us-gov-", 7) == 0;
	bool fips = p->fips && !(gov && s->gov_is_fips && !p->dual_stack);
	const char *form = special_form(service, p);

	if (is_global_sts(service, p))
		e->signing_region = "us-east-1";
	if (form == NULL && p->dual_stack)
		form = fips ? s->both : s->dual;
	if (form == NULL)
		form = fips ? s->fips : s->plain;
	e->url = fill_in_form(form, p->region, a);
	if (form == s->fips && s->other_fips != NULL)
		e->other_url = fill_in_form(s->other_fips, p->region, a);
}

int aws_endpoint_find(enum aws_service service, const struct aws_endpoint_params *p,
                      struct arena *a, struct aws_endpoint *ret_endpoint, struct err *err)
{
	struct aws_endpoint e = {.signing_name = services[service].signing_name,
	                         .signing_region = p->region != NULL ? p->region : ""};

	if (check_region(p, err) != 0)
		return -1;
	if (p->custom != NULL && custom_endpoint(p, a, &e, err) != 0)
		return -1;
	if (p->custom == NULL && p->region != NULL)
		by_rules(service, p, a, &e);
	*ret_endpoint = e;
	return 0;
}

/* ---- ECR's registry hosts ---- */

static bool known_suffix(const char *text)
{
	static const char *const suffixes[] = {
		"amazonaws.com",  "amazonaws.com.cn", "amazonaws.eu",
		"on.aws",         "c2s.ic.gov",       "sc2s.sgov.gov",
		"cloud.adc-e.uk", "csp.hci.ic.gov",   "on.amazonwebservices.com.cn"};

	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
		if (strcmp(suffixes[i], text) == 0)
			return true;
	return false;
}

/* Moves *at past `prefix` when it stands there. */
static bool skip_prefix(const char **at, const char *prefix)
{
	bool there = text_has_prefix(*at, prefix);

	*at += there ? strlen(prefix) : 0;
	return there;
}

bool ecr_host_parse(const char *host, struct arena *a, struct ecr_host *ret_host)
{
	const char *name = arena_strndup(a, host, strcspn(host, ":"));
	struct ecr_host h = {0};

	if (strcmp(name, "public.ecr.aws") == 0 || strcmp(name, "ecr-public.aws.com") == 0) {
		*ret_host = (struct ecr_host){.is_public = true, .region = "us-east-1"};
		return true;
	}
	if (strspn(name, "0123456789") != 12)
		return false;
	h.account = arena_strndup(a, name, 12);
	const char *at = name + 12;

	if (!skip_prefix(&at, ".dkr.ecr") && !skip_prefix(&at, ".dkr-ecr"))
		return false;
	h.fips = skip_prefix(&at, "-fips");
	if (!skip_prefix(&at, "."))
		return false;
	size_t len = strcspn(at, ".");

	h.region = arena_strndup(a, at, len);
	if (!aws_region_valid(h.region) || at[len] != '.' || !known_suffix(at + len + 1))
		return false;
	*ret_host = h;
	return true;
}
