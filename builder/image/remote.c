#include "builder/image/remote.h"

#include "base/mem.h"
#include "base/net/http_ca.h"
#include "base/net/http_trace.h"

static bool is_ecr(const struct remote_opts *o)
{
	struct ecr_host h;

	return o->ecr_region != NULL || (o->host != NULL && ecr_host_parse(o->host, o->arena, &h));
}

/* The settings first: the profile may name the certificates that the transport trusts. */
static int open_transport(const struct remote_opts *o, struct remote *r, struct err *err)
{
	const struct aws_settings_opts wanted = {.profile = o->profile};
	struct aws_settings settings = {0};
	struct http_curl_opts http = {.ca_file = o->ca_file, .connect_to = o->connect_to};

	r->aws = mem_zalloc(sizeof(*r->aws));
	r->aws->outside = aws_outside_real();
	r->aws->outside.progress = o->progress;
	r->aws->outside.prompt = o->prompt;
	bool usable = aws_settings_load(&r->aws->outside, &wanted, &settings, &r->aws->err) == 0;

	/* The profile's certificates are for AWS, and for a command that speaks to it. */
	if (http.ca_file == NULL && is_ecr(o) && !http_ca_is_set()) {
		http.ca_file = settings.ca_bundle;
		http.ca_file_later = true;
	}
	int status = http_curl_open(&http, &r->transport, err);

	if (status == 0)
		r->transport = http_trace(r->transport, o->progress);
	r->aws->outside.http = r->transport;
	if (usable && status == 0)
		r->aws->session = aws_session_new(&r->aws->outside, &settings);
	aws_settings_done(&settings);
	return status;
}

/* Docker's configuration, before it ECR for its own hosts, before that what was typed in. */
static int open_credentials(const struct remote_opts *o, struct remote *r, struct err *err)
{
	struct ecr_registry_opts opts = {.session = r->aws->session,
	                                 .session_err = &r->aws->err,
	                                 .progress = o->progress,
	                                 .alias_host = o->ecr_region != NULL ? o->host : NULL,
	                                 .alias_region = o->ecr_region};

	if (credentials_docker(&opts.others, err) != 0)
		return -1;
	r->aws->ecr = ecr_registry_new(&opts);
	r->credentials = ecr_registry_credentials(r->aws->ecr);
	if (o->username != NULL)
		r->credentials = credentials_for_host(
			o->host, credentials_fixed(o->username, o->password), r->credentials);
	return 0;
}

int remote_open(const struct remote_opts *o, struct remote *ret_remote, struct err *err)
{
	struct remote r = {.progress = o->progress,
	                   .arena = o->arena,
	                   .typed = o->username != NULL,
	                   .insecure = o->insecure,
	                   .jobs = o->jobs,
	                   .retries = o->retries};

	if (open_transport(o, &r, err) != 0 || open_credentials(o, &r, err) != 0) {
		remote_done(&r);
		return -1;
	}
	*ret_remote = r;
	return 0;
}

void remote_done(struct remote *r)
{
	if (r->credentials != NULL && r->credentials->close != NULL)
		r->credentials->close(r->credentials);
	if (r->aws != NULL) {
		ecr_registry_free(r->aws->ecr);
		aws_session_free(r->aws->session);
	}
	http_close(r->transport);
	free(r->aws);
	*r = (struct remote){0};
}

int remote_registry(const struct remote *r, const struct ref *ref, struct registry **ret_registry,
                    struct err *err)
{
	const struct registry_opts opts = {.transport = r->transport,
	                                   .credentials = r->credentials,
	                                   .advisor = ecr_registry_advisor(r->aws->ecr),
	                                   .progress = r->progress,
	                                   .insecure = r->insecure,
	                                   .retries = r->retries,
	                                   .jobs = r->jobs};

	return registry_open(ref, &opts, ret_registry, err);
}
