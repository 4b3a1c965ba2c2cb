#include "pipeline/downloads.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/fleet/fields.h"

#define S3   "s3://"
#define ARCH "${arch}"

/* ---- as written ---- */

/* A word for a shell: nothing in it is special but the one variable, which is replaced. */
static const char *check_url(const char *text, const char **ret_hint)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789:/._-+~%";
	const char *at = text;

	*ret_hint = "https://HOST/slipway-VERSION-linux-${arch}.tar.gz, or s3://BUCKET/...";
	if (!text_has_prefix(text, "https://") && !text_has_prefix(text, S3))
		return "is not an https:// or s3:// URL";
	while (*at != '\0')
		if (text_has_prefix(at, ARCH))
			at += strlen(ARCH);
		else if (strchr(plain, *at) == NULL)
			return "is not an https:// or s3:// URL";
		else
			at++;
	return strlen(text) > 1024 || strchr(strstr(text, "//") + 2, '/') == NULL ? "names no file"
	                                                                          : NULL;
}

static const char *check_sha256(const char *text, const char **ret_hint)
{
	*ret_hint = "the 64 characters that sha256sum prints";
	return strlen(text) != 64 || strspn(text, "0123456789abcdef") != 64 ? "is not a SHA-256"
	                                                                    : NULL;
}

static const struct field rows[] = {
	FIELD_STRING(struct download_section, url, "url",
                     "Where it is, in HTTPS or S3; ${arch} is amd64 or arm64.",
                     .flags = FIELD_REQUIRED, .check = check_url),
	TEXT(struct download_section, amd64, "amd64", "SHA-256 of the file for amd64.",
             .check = check_sha256),
	TEXT(struct download_section, arm64, "arm64", "SHA-256 of the file for arm64.",
             .check = check_sha256),
};

const struct field_table download_fields =
	FIELD_TABLE(struct download_section, "download", rows,
                    "A program that builders fetch and hold against its checksum.", .has_pos = true,
                    .pos_offset = offsetof(struct download_section, at));

/* ---- which step needs what ---- */

enum download_form { FORM_TARBALL, FORM_PROGRAM };

static const struct {
	const char *name;
	size_t offset;
	enum download_form form;
	bool deploy_only;
} tools[DOWNLOADS] = {
	{"slipway", offsetof(struct pipeline_section, slipway), FORM_TARBALL, false},
	{"kubectl", offsetof(struct pipeline_section, kubectl), FORM_PROGRAM, true},
};

static const struct download_section *section_of(const struct pipeline_section *s, size_t i)
{
	return (const struct download_section *)((const char *)s + tools[i].offset);
}

static const char *sum_of(const struct download_section *d, const char *architecture)
{
	return strcmp(architecture, "arm64") == 0 ? d->arm64 : d->amd64;
}

static bool needed(const struct pipeline_section *s, const struct pipeline_step *step, size_t i)
{
	return section_of(s, i)->url != NULL &&
	       (!tools[i].deploy_only || step->kind == STEP_DEPLOY);
}

static bool installs(const struct pipeline_section *s, const char *word)
{
	for (size_t i = 0; i < s->install.n; i++)
		if (strstr(s->install.at[i], word) != NULL)
			return true;
	return false;
}

static void check_sums(const struct pipeline_section *s, const struct pipeline_facts *f, size_t i,
                       struct diags *d)
{
	const struct download_section *section = section_of(s, i);
	/* All but the builds run on the first architecture's machine. */
	size_t n = tools[i].deploy_only && f->architectures.n > 0 ? 1 : f->architectures.n;

	for (size_t k = 0; section->url != NULL && k < n; k++) {
		const char *architecture = f->architectures.at[k];

		if (sum_of(section, architecture) == NULL)
			diag_hint(d,
			          diags_add(d, DIAG_ERROR, section->at,
			                    "pipeline.%s has no checksum for %s", tools[i].name,
			                    architecture),
			          "write `%s: SHA256`; sha256sum prints it", architecture);
	}
}

void downloads_check(const struct pipeline_section *s, const struct pipeline_facts *f,
                     struct diags *d)
{
	for (size_t i = 0; i < DOWNLOADS; i++)
		check_sums(s, f, i, d);
	/* A section that is no mapping has been refused already. */
	if (s->source.repository != NULL && s->install.n == 0 && s->slipway.url == NULL)
		diag_hint(d,
		          diags_add(d, DIAG_ERROR, s->at,
		                    "nothing puts slipway on the builders: pipeline.slipway and "
		                    "pipeline.install are missing"),
		          "write `slipway: {url: URL, amd64: SHA256, arm64: SHA256}` with a "
		          "release's tarball, see docs/PIPELINE.md");
	if (s->github && s->slipway.url != NULL && text_has_prefix(s->slipway.url, S3))
		diag_hint(
			d,
			diags_add(d, DIAG_ERROR, s->slipway.at,
		                  "GitHub's jobs fetch slipway before they have access to AWS, and "
		                  "pipeline.slipway.url is in S3"),
			"use an https:// URL, for instance of the same bucket behind CloudFront");
	if (s->deploy && s->kubectl.url == NULL && !installs(s, "kubectl") &&
	    !installs(s, "kubernetes-client"))
		diag_hint(d,
		          diags_add(d, DIAG_ERROR, srcpos_or(s->deploy_at, s->at),
		                    "the step deploy calls kubectl, and nothing puts it on the "
		                    "builder"),
		          "write `kubectl: {url: "
		          "\"https://dl.k8s.io/release/VERSION/bin/linux/${arch}/kubectl\", amd64: "
		          "SHA256}`; in an image of yours that has it, `install: [command -v "
		          "kubectl]`");
}

/* ---- the commands ---- */

static const char *url_of(const struct download_section *d, const char *architecture,
                          struct arena *a)
{
	const char *rest = d->url, *text = "", *at;

	while ((at = strstr(rest, ARCH)) != NULL) {
		text = arena_printf(a, "%s%.*s%s", text, (int)(at - rest), rest, architecture);
		rest = at + strlen(ARCH);
	}
	return arena_printf(a, "%s%s", text, rest);
}

static void add(struct strlist *list, const char *text)
{
	list->at[list->n++] = text;
}

enum { COMMANDS_OF_ONE = 4 };

/* CodeBuild's own images and GitHub's runners have these programs; Debian's images have not. Nobody
 * is there to answer a package's questions. */
#define PACKAGE(program, package)                                                                  \
	"command -v " program " >/dev/null || { apt-get update && "                                \
	"DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "               \
	"ca-certificates " package "; }"

static const char download_curl[] = PACKAGE("curl", "curl");
const char download_aws[] = PACKAGE("aws", "awscli");

static void add_download(const struct pipeline_section *s, struct pipeline_step *step, size_t i,
                         struct arena *a)
{
	const struct download_section *d = section_of(s, i);
	const char *url = url_of(d, step->architecture, a), *name = tools[i].name;
	bool s3 = text_has_prefix(url, S3);

	add(&step->install, s3 ? download_aws : download_curl);
	add(&step->install,
	    s3 ? arena_printf(a, "aws s3 cp --only-show-errors %s /tmp/%s.download", url, name)
	       : arena_printf(a,
	                      "curl -fsSL --proto =https --retry 5 -o "
	                      "/tmp/%s.download %s",
	                      name, url));
	add(&step->install, arena_printf(a, "echo '%s  /tmp/%s.download' | sha256sum --check -",
	                                 sum_of(d, step->architecture), name));
	add(&step->install,
	    tools[i].form == FORM_PROGRAM
	            ? arena_printf(a, "install -m 0755 /tmp/%s.download /usr/local/bin/%s", name,
	                           name)
	            : arena_printf(a,
	                           "mkdir -p /opt/%s && tar -xzf /tmp/%s.download -C /opt/%s "
	                           "--strip-components=1 && ln -sf /opt/%s/bin/%s "
	                           "/usr/local/bin/%s",
	                           name, name, name, name, name, name));
}

void downloads_install(const struct pipeline_section *s, struct pipeline_step *step,
                       struct arena *a)
{
	step->install.at = arena_calloc(a, 1 + s->install.n + DOWNLOADS * COMMANDS_OF_ONE,
	                                sizeof(*step->install.at));
	/* It writes kubectl's access to the cluster, and kubectl asks it for each token. */
	if (step->kind == STEP_DEPLOY)
		add(&step->install, download_aws);
	for (size_t i = 0; i < DOWNLOADS; i++)
		if (needed(s, step, i))
			add_download(s, step, i, a);
	for (size_t i = 0; i < s->install.n; i++)
		add(&step->install, s->install.at[i]);
}

const char *download_object(const struct pipeline_section *s, const struct pipeline_step *step,
                            size_t i, struct arena *a)
{
	if (!needed(s, step, i) || !text_has_prefix(section_of(s, i)->url, S3))
		return NULL;
	return url_of(section_of(s, i), step->architecture, a) + strlen(S3);
}
