/* Sections: findings of several platforms, text, JSON. */
#include "builder/cli/rebuild_report.h"

#include <string.h>

#include "base/attr.h"
#include "builder/check/diff.h"

/* ---- findings of several platforms ---- */

static bool same_text(const char *a, const char *b)
{
	return (a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_finding(const struct provenance_finding *x, const struct provenance_finding *y)
{
	return x->differs == y->differs && same_text(x->what, y->what) &&
	       same_text(x->stated, y->stated) && same_text(x->here, y->here) &&
	       same_text(x->remark, y->remark);
}

static bool has_finding(const struct provenance_findings *f, const struct provenance_finding *x)
{
	for (size_t i = 0; i < f->all.n; i++)
		if (same_finding(&f->all.at[i], x))
			return true;
	return false;
}

/* The platforms that a finding is about, each with a space behind it, "" when it is about all of
 * them; NULL when an earlier platform's turn has said it. */
static const char *whose(const struct rebuild_report *r, size_t platform,
                         const struct provenance_finding *x, struct arena *a)
{
	const char *text = "";
	char name[PLATFORM_TEXT_MAX];
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (!has_finding(&r->findings[i], x))
			continue;
		if (i < platform)
			return NULL;
		n++;
		text = arena_printf(a, "%s%s ", text,
		                    platform_text(&r->stated[i].provenance.platform, name));
	}
	return n == r->n ? "" : text;
}

typedef void say_finding(void *ctx, const char *platforms, const struct provenance_finding *x);

static void each_finding(const struct rebuild_report *r, bool differs, struct arena *a,
                         say_finding *say, void *ctx)
{
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->findings[i].all.n; k++) {
			const struct provenance_finding *x = &r->findings[i].all.at[k];
			const char *platforms = x->differs == differs ? whose(r, i, x, a) : NULL;

			if (platforms != NULL)
				say(ctx, platforms, x);
		}
}

static void count(void *ctx, const char *platforms, const struct provenance_finding *x)
{
	(void)platforms;
	(void)x;
	++*(size_t *)ctx;
}

size_t rebuild_differences(const struct rebuild_report *r)
{
	AUTO(arena) struct arena passing = {0};
	size_t n = 0;

	each_finding(r, true, &passing, count, &n);
	return n;
}

static const char *or_none(const char *text)
{
	return text != NULL ? text : "(none)";
}

/* ---- text ---- */

static void print_difference(void *ctx, const char *platforms, const struct provenance_finding *x)
{
	struct cli *cli = ctx;

	fprintf(cli->out, "input differs: %s%s\n  stated: %s\n  here:   %s\n", platforms, x->what,
	        or_none(x->stated), or_none(x->here));
}

static void print_remark(void *ctx, const char *platforms, const struct provenance_finding *x)
{
	struct cli *cli = ctx;

	fprintf(cli->out, "note: %s%s: %s\n", platforms, x->what, x->remark);
}

static void print_statements(struct cli *cli, const struct rebuild_report *r)
{
	const struct rebuild_request *q = r->request;
	char platform[PLATFORM_TEXT_MAX], carrier[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < r->n; i++)
		fprintf(cli->out, "statement of %s: %s\n",
		        platform_text(&r->stated[i].provenance.platform, platform),
		        digest_text(&r->stated[i].carrier, carrier));
	for (size_t i = 0; i < q->n_keys; i++)
		fprintf(cli->out, "  signed by %s key SHA256:%s\n", trust_key_kind(q->keys[i]),
		        trust_key_fingerprint(q->keys[i]));
	if (q->n_keys == 0)
		fprintf(cli->out, "  a claim: whoever may write to the repository can have written "
		                  "it; --key asks for a signature\n");
	fprintf(cli->out, "built by %s%s%s\n", r->stated[0].provenance.builder.builder,
	        r->stated[0].provenance.builder.invocation != NULL ? ", run " : "",
	        r->stated[0].provenance.builder.invocation != NULL
	                ? r->stated[0].provenance.builder.invocation
	                : "");
}

static void print_verdict(struct cli *cli, const struct rebuild_report *r)
{
	char digest[DIGEST_TEXT_MAX];

	if (r->equal)
		fprintf(cli->out, "equal: %s%zu manifest%s, %zu configuration%s, %zu layer%s\n",
		        r->with_index ? "index, " : "", r->n, r->n == 1 ? "" : "s", r->n,
		        r->n == 1 ? "" : "s", r->n_layers, r->n_layers == 1 ? "" : "s");
	if (r->equal && rebuild_differences(r) == 0)
		fprintf(cli->out, "proved: '%s' gives this image, bit by bit\n",
		        r->request->options->source);
	fprintf(cli->out, "%s\n", digest_text(&r->root.digest, digest));
}

static void print_text(struct cli *cli, const struct rebuild_report *r)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	print_statements(cli, r);
	if (rebuild_differences(r) == 0)
		fprintf(cli->out, "inputs: all %zu as stated\n", r->n_inputs);
	each_finding(r, true, &cli->arena, print_difference, cli);
	each_finding(r, false, &cli->arena, print_remark, cli);
	for (size_t i = 0; i < r->remarks.n; i++)
		fprintf(cli->out, "note: %s\n", r->remarks.at[i]);
	if (r->diff != NULL)
		diff_text(r->diff, &text);
	fputs(strbuf_str(&text), cli->out);
	print_verdict(cli, r);
}

/* ---- JSON ---- */

static void add_words(cJSON *array, const char *words)
{
	AUTO(arena) struct arena passing = {0};

	while (*words != '\0') {
		size_t n = strcspn(words, " ");

		json_push_string(array, arena_strndup(&passing, words, n));
		words += n + (words[n] == ' ');
	}
}

static cJSON *new_finding(cJSON *array, const char *platforms, const struct provenance_finding *x)
{
	cJSON *obj = cJSON_CreateObject();

	json_push(array, obj);
	if (platforms[0] != '\0')
		add_words(json_add_array(obj, "platforms"), platforms);
	json_add_string(obj, "input", x->what);
	return obj;
}

static void add_difference(void *ctx, const char *platforms, const struct provenance_finding *x)
{
	cJSON *obj = new_finding(ctx, platforms, x);

	json_add_string(obj, "stated", x->stated);
	json_add_string(obj, "here", x->here);
}

static void add_remark(void *ctx, const char *platforms, const struct provenance_finding *x)
{
	json_add_string(new_finding(ctx, platforms, x), "remark", x->remark);
}

static void add_statements(cJSON *doc, const struct rebuild_report *r)
{
	cJSON *array = json_add_array(doc, "statements"), *keys = json_add_array(doc, "keys");
	char platform[PLATFORM_TEXT_MAX], digest[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < r->n; i++) {
		const struct provenance *p = &r->stated[i].provenance;
		cJSON *obj = cJSON_CreateObject();

		json_push(array, obj);
		json_add_string(obj, "platform", platform_text(&p->platform, platform));
		json_add_string(obj, "manifest",
		                digest_text(&r->stated[i].manifest.digest, digest));
		json_add_string(obj, "statement", digest_text(&r->stated[i].carrier, digest));
		json_add_string(obj, "builder", p->builder.builder);
		json_add_string(obj, "invocation", p->builder.invocation);
	}
	for (size_t i = 0; i < r->request->n_keys; i++)
		json_push_string(keys, trust_key_fingerprint(r->request->keys[i]));
}

static void print_json(struct cli *cli, const struct rebuild_report *r)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	char digest[DIGEST_TEXT_MAX];

	json_add_string(doc, "digest", digest_text(&r->root.digest, digest));
	json_add_string(doc, "rebuilt", digest_text(&r->rebuilt, digest));
	json_add_bool(doc, "equal", r->equal);
	json_add_bool(doc, "proved", r->equal && rebuild_differences(r) == 0);
	json_add_bool(doc, "signed", r->request->n_keys > 0);
	add_statements(doc, r);
	each_finding(r, true, &cli->arena, add_difference, json_add_array(doc, "differences"));
	cJSON *remarks = json_add_array(doc, "remarks");

	each_finding(r, false, &cli->arena, add_remark, remarks);
	for (size_t i = 0; i < r->remarks.n; i++) {
		cJSON *obj = cJSON_CreateObject();

		json_add_string(obj, "remark", r->remarks.at[i]);
		json_push(remarks, obj);
	}
	if (r->diff != NULL)
		cJSON_AddItemToObject(doc, "diff", cJSON_Duplicate(r->diff, true));
	cli_print_json(cli, doc);
}

void rebuild_print(struct cli *cli, const struct rebuild_report *r)
{
	if (cli_json(cli))
		print_json(cli, r);
	else
		print_text(cli, r);
}

static void blame(void *ctx, const char *platforms, const struct provenance_finding *x)
{
	struct cli *cli = ctx;

	diags_add(&cli->diags, DIAG_ERROR, (struct srcpos){0},
	          "input differs: %s%s: stated %s, here %s", platforms, x->what, or_none(x->stated),
	          or_none(x->here));
}

void rebuild_blame(struct cli *cli, const struct rebuild_report *r)
{
	each_finding(r, true, &cli->arena, blame, cli);
}
