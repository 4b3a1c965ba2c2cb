/*
 * Any texts as what a base brings where a layer asks for run-time data: passwd and group, into which
 * accounts are merged, and certificates, of which a bundle is made. What was made is stable: made
 * again from itself it is the same.
 */
#include "builder/layer/source/certificates.h"
#include "builder/layer/source/source_accounts.h"
#include "tests/fuzz/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *text_of(struct part part, struct arena *a)
{
	char *text = arena_strndup(a, part.text, part.len);

	/* As whoever reads the base's makes sure of. */
	return strlen(text) == part.len ? text : "";
}

static void merge_accounts(struct parts *parts, struct arena *a)
{
	static const char *further[] = {"video", "app"};
	struct layer_user users[] = {
		{.name = "app", .uid = 1000, .gid = -1, .shell = "/bin/sh", .groups = {further, 2}},
		{.name = "web", .uid = 33, .gid = 1000, .shell = "/bin/sh", .comment = "Web"}};
	struct layer_group groups[] = {{.name = "video", .gid = 44}};
	const struct layer_accounts want = {
		.users = users, .n_users = 2, .groups = groups, .n_groups = 1};
	AUTO(diags) struct diags d = {0};
	struct accounts_text base = {0}, once, twice;

	for (size_t i = 0; i < 2; i++)
		users[i].at = (struct srcpos){"f", 1, 1};
	groups[0].at = users[0].at;
	base.passwd = text_of(parts_next(parts), a);
	base.group = text_of(parts_next(parts), a);
	accounts_write(&want, &base, "data", a, &d, &once);
	if (d.n_errors > 0)
		return;
	accounts_write(&want, &once, "data", a, &d, &twice);
	if (d.n_errors > 0 || strcmp(once.passwd, twice.passwd) != 0 ||
	    strcmp(once.group, twice.group) != 0)
		BUG("merged again the accounts are others:\n%s%s\n%s%s", once.passwd, once.group,
		    twice.passwd, twice.group);
}

/* The bundle of a text; empty when something is wrong with it. */
static void bundle(const char *bytes, size_t len, bool own, struct strbuf *pem)
{
	AUTO(diags) struct diags d = {0};
	const struct certificates_text text = {
		.name = "fuzz", .layer = "data", .bytes = bytes, .len = len, .own = own};
	struct certificates c = {0};

	certificates_add(&c, &text, &d);
	if (d.n_errors == 0)
		certificates_pem(&c, pem);
	certificates_done(&c);
}

static void bundle_certificates(struct part part)
{
	AUTO(strbuf) struct strbuf once = STRBUF_INIT(0), twice = STRBUF_INIT(0);

	bundle(part.text, part.len, true, &once);
	bundle(strbuf_str(&once), once.len, false, &twice);
	if (strcmp(strbuf_str(&once), strbuf_str(&twice)) != 0)
		BUG("a bundle of a bundle is another");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	struct parts parts = {(const char *)data, size};

	merge_accounts(&parts, &a);
	bundle_certificates(parts_next(&parts));
	return 0;
}
