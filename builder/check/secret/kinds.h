/*
 * Every kind of secret once: its id, how bad one is, and what a report calls it. What proves a
 * kind is an error; what may be public by design, or is locked by a password, is a warning.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SECRET_KINDS_H
#define SLIPWAY_BUILDER_CHECK_SECRET_KINDS_H

#include "base/diag.h"

#define SECRET_KIND_TABLE(KIND)                                                                    \
	KIND(AWS, DIAG_ERROR, "an AWS secret access key")                                          \
	KIND(PRIVATE_KEY, DIAG_ERROR, "a private key")                                             \
	KIND(ENCRYPTED_KEY, DIAG_WARNING, "a private key that a password locks")                   \
	KIND(PKCS12, DIAG_WARNING, "a PKCS#12 file with a private key that a password locks")      \
	KIND(JAVA_KEYS, DIAG_WARNING, "a Java key store with a private key")                       \
	KIND(KEYTAB, DIAG_ERROR, "a Kerberos keytab")                                              \
	KIND(GITHUB, DIAG_ERROR, "a GitHub token")                                                 \
	KIND(GITLAB, DIAG_ERROR, "a GitLab token")                                                 \
	KIND(ATLASSIAN, DIAG_ERROR, "an Atlassian token")                                          \
	KIND(SLACK, DIAG_ERROR, "a Slack token")                                                   \
	KIND(SLACK_HOOK, DIAG_ERROR, "a Slack webhook's address")                                  \
	KIND(STRIPE, DIAG_ERROR, "a Stripe key")                                                   \
	KIND(SHOPIFY, DIAG_ERROR, "a Shopify token")                                               \
	KIND(SENDGRID, DIAG_ERROR, "a SendGrid key")                                               \
	KIND(GOOGLE, DIAG_ERROR, "a Google OAuth secret or token")                                 \
	KIND(GOOGLE_API, DIAG_WARNING, "a Google API key")                                         \
	KIND(AZURE, DIAG_ERROR, "an Azure account key")                                            \
	KIND(VAULT, DIAG_ERROR, "a Vault token")                                                   \
	KIND(TERRAFORM, DIAG_ERROR, "a Terraform Cloud token")                                     \
	KIND(PULUMI, DIAG_ERROR, "a Pulumi token")                                                 \
	KIND(DIGITALOCEAN, DIAG_ERROR, "a DigitalOcean token")                                     \
	KIND(DATABRICKS, DIAG_ERROR, "a Databricks token")                                         \
	KIND(HUGGING_FACE, DIAG_ERROR, "a Hugging Face token")                                     \
	KIND(OPENAI, DIAG_ERROR, "an OpenAI key")                                                  \
	KIND(ANTHROPIC, DIAG_ERROR, "an Anthropic key")                                            \
	KIND(INFERENCE, DIAG_ERROR, "a key of an inference service")                               \
	KIND(NVIDIA, DIAG_ERROR, "an NVIDIA API key")                                              \
	KIND(NPM, DIAG_ERROR, "an npm token")                                                      \
	KIND(PYPI, DIAG_ERROR, "a PyPI token")                                                     \
	KIND(RUBYGEMS, DIAG_ERROR, "a RubyGems key")                                               \
	KIND(DOCKER_HUB, DIAG_ERROR, "a Docker Hub token")                                         \
	KIND(ARTIFACTORY, DIAG_ERROR, "an Artifactory token")                                      \
	KIND(GRAFANA, DIAG_ERROR, "a Grafana token")                                               \
	KIND(NEW_RELIC, DIAG_ERROR, "a New Relic key")                                             \
	KIND(SENTRY, DIAG_ERROR, "a Sentry token")                                                 \
	KIND(WORKPLACE, DIAG_ERROR, "a token of a hosted service")                                 \
	KIND(TAILSCALE, DIAG_ERROR, "a Tailscale key")                                             \
	KIND(WIREGUARD, DIAG_ERROR, "a WireGuard private key")                                     \
	KIND(AGE, DIAG_ERROR, "an age secret key")                                                 \
	KIND(JWT, DIAG_WARNING, "a JSON Web Token")                                                \
	KIND(NETRC, DIAG_ERROR, "a .netrc file with a password")                                   \
	KIND(PGPASS, DIAG_ERROR, "a .pgpass file with a password")                                 \
	KIND(DOCKER, DIAG_ERROR, "registry credentials of Docker or Podman")                       \
	KIND(NPMRC, DIAG_ERROR, "a token or password of npm or Yarn")                              \
	KIND(PYPIRC, DIAG_ERROR, "a .pypirc file with a password")                                 \
	KIND(PACKAGES, DIAG_ERROR, "credentials of a package manager")                             \
	KIND(URL_PASSWORD, DIAG_ERROR, "a URL with a password")                                    \
	KIND(DATABASE, DIAG_ERROR, "a database client's password")                                 \
	KIND(CLOUD, DIAG_ERROR, "credentials of a cloud's or service's command-line program")      \
	KIND(KUBECONFIG, DIAG_ERROR, "a kubeconfig file with credentials")                         \
	KIND(PASSWORD_HASH, DIAG_WARNING, "a password's hash")                                     \
	KIND(ENV_FILE, DIAG_WARNING, "a .env file with a value that its name calls a secret")

#define SECRET_KIND_ID(id, severity, text) SECRET_##id,
enum secret_kind {
	SECRET_KIND_TABLE(SECRET_KIND_ID) /* SECRET_AWS, and so on */
	SECRET_KINDS
};
#undef SECRET_KIND_ID

/* "a private key", ... */
const char *secret_text(enum secret_kind kind);

enum diag_severity secret_severity(enum secret_kind kind);

#endif
