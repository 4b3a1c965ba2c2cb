#include "base/net/http_ca.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/attr.h"

/* Where the file is that libcurl of Debian, which slipway is built with, reads by itself. */
#define CA_OF_DEBIAN "/etc/ssl/certs/ca-certificates.crt"

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

static const char *from_variables(void)
{
	static const char *const names[] = {"SLIPWAY_CA_BUNDLE", "AWS_CA_BUNDLE", "SSL_CERT_FILE"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (variable(names[i]) != NULL)
			return variable(names[i]);
	return NULL;
}

bool http_ca_is_set(void)
{
	return from_variables() != NULL;
}

const char *http_ca_file(const char *named)
{
	static const char *const places[] = {
		"/etc/pki/tls/certs/ca-bundle.crt", /* Fedora, RHEL, Amazon Linux */
		"/etc/ssl/ca-bundle.pem",           /* SUSE */
		"/etc/ssl/cert.pem",                /* Alpine */
	};

	if (named != NULL)
		return named;
	if (from_variables() != NULL)
		return from_variables();
	if (access(CA_OF_DEBIAN, R_OK) == 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (access(places[i], R_OK) == 0)
			return places[i];
	return variable("SLIPWAY_CA_DEFAULT");
}
