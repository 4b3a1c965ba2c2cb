#include "builder/cli/environment.h"

#include <stdbool.h>

#include "base/attr.h"

struct variable {
	const char *name;
	const char *meaning; /* a sentence without its full stop */
};

struct variable_group {
	const char *title;
	const char *about; /* NULL = the title says all */
	const struct variable *at;
	size_t n;
	bool in_man; /* the others are read in the page */
};

static const struct variable own[] = {
	{"SLIPWAY_CACHE_MAX", "How large the build cache may grow, as in 20GiB (default: 10GiB)"},
	{"SLIPWAY_CA_BUNDLE", "Certificates to trust, a PEM file; before all others but --ca"},
	{"SLIPWAY_CA_DEFAULT", "Certificates to trust on a machine that has none of its own, a PEM "
                               "file; a release's launcher sets it"},
	{"SLIPWAY_PROGRAM", "Set by a release's launcher: its own path"},
	{"SLIPWAY_RELEASES", "Where releases live, for `version --check`"},
	{"SLIPWAY_ARCH", "Set for the command of `image.build`, for `verify --run-build`: the "
                         "architecture that is built"},
	{"COSIGN_PASSWORD",
         "The password of an encrypted signing key; taken out of the environment "
         "at once"},
	{"KUBECTL", "The kubectl to call (default: kubectl on PATH)"},
};
static const struct variable common[] = {
	{"SOURCE_DATE_EPOCH", "The time that an image states, in seconds since 1970"},
	{"XDG_CACHE_HOME", "The build cache is in slipway/ below it (default: ~/.cache)"},
	{"HOME", "Where ~ is"},
	{"TMPDIR", "Where temporary files go (default: /tmp)"},
	{"PATH", "Where git, kubectl, docker's helpers and the commands of builds are found"},
	{"NO_COLOR", "If it is not empty, nothing is coloured (no-color.org)"},
	{"TERM", "`dumb` means no colours"},
	{"SSL_CERT_FILE", "Certificates to trust, a PEM file"},
	{"HTTPS_PROXY", "The proxy for https, as curl reads it; ALL_PROXY for both"},
	{"http_proxy", "The proxy for http, in small letters alone, as curl reads it"},
	{"NO_PROXY", "Hosts without a proxy, as curl reads it"},
};
static const struct variable registries[] = {
	{"REGISTRY_AUTH_FILE", "Credentials for registries, in docker's form"},
	{"DOCKER_CONFIG", "The folder of docker's config.json (default: ~/.docker)"},
	{"XDG_RUNTIME_DIR", "podman's credentials are in containers/auth.json below it"},
};
static const struct variable aws[] = {
	{"AWS_ACCESS_KEY_ID", "Credentials: the key's name"},
	{"AWS_SECRET_ACCESS_KEY", "Credentials: the key"},
	{"AWS_SESSION_TOKEN", "Credentials: the session, for temporary ones"},
	{"AWS_SECURITY_TOKEN", "The former name of AWS_SESSION_TOKEN"},
	{"AWS_CREDENTIAL_EXPIRATION", "When they end"},
	{"AWS_ACCOUNT_ID", "The account they belong to"},
	{"AWS_PROFILE", "The profile; --profile goes before it"},
	{"AWS_DEFAULT_PROFILE", "The same, when AWS_PROFILE is not set"},
	{"AWS_REGION", "The region"},
	{"AWS_DEFAULT_REGION", "The same, when AWS_REGION is not set"},
	{"AWS_CONFIG_FILE", "The configuration (default: ~/.aws/config)"},
	{"AWS_SHARED_CREDENTIALS_FILE", "The credentials (default: ~/.aws/credentials)"},
	{"AWS_CA_BUNDLE", "Certificates to trust, a PEM file"},
	{"AWS_ROLE_ARN", "The role for a web identity"},
	{"AWS_ROLE_SESSION_NAME", "The name of that role's session"},
	{"AWS_WEB_IDENTITY_TOKEN_FILE", "The web identity's token"},
	{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "Where ECS gives credentials"},
	{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "Where EKS gives credentials"},
	{"AWS_CONTAINER_AUTHORIZATION_TOKEN", "What is shown there"},
	{"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "A file with what is shown there"},
	{"AWS_EC2_METADATA_DISABLED", "`true`: the metadata service is not asked"},
	{"AWS_EC2_METADATA_SERVICE_ENDPOINT", "Where it is"},
	{"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "IPv4 or IPv6"},
	{"AWS_EC2_METADATA_V1_DISABLED", "`true`: only its second version is asked"},
	{"AWS_METADATA_SERVICE_TIMEOUT", "Seconds for its answer"},
	{"AWS_METADATA_SERVICE_NUM_ATTEMPTS", "How often it is asked"},
	{"AWS_LOGIN_CACHE_DIRECTORY", "Where `aws login` keeps its tokens"},
	{"AWS_ENDPOINT_URL", "Another address for every service; AWS_ENDPOINT_URL_SERVICE for one"},
	{"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "`true`: those addresses are not used"},
	{"AWS_USE_FIPS_ENDPOINT", "`true`: addresses with FIPS"},
	{"AWS_USE_DUALSTACK_ENDPOINT", "`true`: addresses with IPv6"},
	{"AWS_STS_REGIONAL_ENDPOINTS", "`legacy` or `regional`"},
	{"AWS_RETRY_MODE", "`standard`, `adaptive` or `legacy`"},
	{"AWS_MAX_ATTEMPTS", "Tries of one request"},
	{"AWS_DISABLE_CLOCK_SKEW_CORRECTION", "`true`: a wrong clock is not made up for"},
};
static const struct variable ci[] = {
	{"CODEBUILD_BUILD_ARN", "AWS CodeBuild: the run"},
	{"CODEBUILD_SOURCE_REPO_URL", "AWS CodeBuild: the source"},
	{"CODEBUILD_WEBHOOK_HEAD_REF", "AWS CodeBuild: the branch or tag"},
	{"CODEBUILD_RESOLVED_SOURCE_VERSION", "AWS CodeBuild: the commit"},
	{"CODEBUILD_SRC_DIR", "AWS CodeBuild: the source's folder; set by `pipeline run`"},
	{"GITHUB_ACTIONS", "GitHub Actions"},
	{"GITHUB_SERVER_URL", "GitHub Actions: the server"},
	{"GITHUB_REPOSITORY", "GitHub Actions: the source"},
	{"GITHUB_RUN_ID", "GitHub Actions: the run"},
	{"GITHUB_RUN_ATTEMPT", "GitHub Actions: which try of it"},
	{"GITHUB_REF", "GitHub Actions: the branch or tag"},
	{"GITHUB_SHA", "GitHub Actions: the commit"},
	{"RUNNER_ENVIRONMENT", "GitHub Actions: whose runner"},
	{"GITLAB_CI", "GitLab CI"},
	{"CI_PROJECT_URL", "GitLab CI: the source"},
	{"CI_RUNNER_ID", "GitLab CI: the runner"},
	{"CI_JOB_URL", "GitLab CI: the run"},
	{"CI_COMMIT_REF_NAME", "GitLab CI: the branch or tag"},
	{"CI_COMMIT_SHA", "GitLab CI: the commit"},
	{"JENKINS_URL", "Jenkins: the server"},
	{"BUILD_URL", "Jenkins: the run"},
	{"GIT_URL", "Jenkins: the source"},
	{"GIT_BRANCH", "Jenkins: the branch"},
	{"GIT_COMMIT", "Jenkins: the commit"},
};

#define GROUP(title, about, rows, in_man)                                                          \
	{                                                                                          \
		title, about, rows, ARRAY_LEN(rows), in_man                                        \
	}

static const struct variable_group groups[] = {
	GROUP("slipway's own", NULL, own, true),
	GROUP("Of the system", NULL, common, true),
	GROUP("Registries", "The first of these files that is there is read; ECR needs none.",
              registries, true),
	GROUP("AWS", "As the AWS CLI reads them.", aws, false),
	GROUP("CI", "What `image.provenance` states of the machine that built.", ci, false),
};

void environment_markdown(struct strbuf *sb)
{
	strbuf_adds(sb,
	            "# Environment variables\n\n"
	            "Generated by `slipway help environment`; do not edit.\n\n"
	            "What stands on the command line goes before a variable, and a variable before "
	            "a file. An empty\nvariable counts as one that is not set. A spec reads others "
	            "with `${env:NAME}`; kubectl, git and\ndocker's helpers, which slipway calls, "
	            "read their own.\n");
	for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
		const struct variable_group *g = &groups[i];

		strbuf_addf(sb, "\n## %s\n\n", g->title);
		if (g->about != NULL)
			strbuf_addf(sb, "%s\n\n", g->about);
		strbuf_adds(sb, "| Variable | |\n|---|---|\n");
		for (size_t k = 0; k < g->n; k++)
			strbuf_addf(sb, "| `%s` | %s |\n", g->at[k].name, g->at[k].meaning);
	}
}

void environment_man(struct strbuf *sb)
{
	strbuf_adds(sb, ".SH ENVIRONMENT\n");
	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		for (size_t k = 0; groups[i].in_man && k < groups[i].n; k++)
			strbuf_addf(sb, ".TP\n.B %s\n%s\n", groups[i].at[k].name,
			            groups[i].at[k].meaning);
	strbuf_adds(sb, ".PP\nThose of AWS and of CI systems: `slipway help environment`.\n");
}
