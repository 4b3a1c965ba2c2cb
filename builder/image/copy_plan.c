/*
 * See copy_plan.h. Documents are found wave by wave: what a wave names is asked for together, for
 * every question to a registry takes a while. Sections: questions, answers, the order.
 */
#include "builder/image/copy_plan.h"

#include <pthread.h>
#include <string.h>

#include "base/pool.h"
#include "builder/oci/attached.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/referrers.h"

enum { DEPTH_MAX = 4, DOCUMENTS_MAX = 16384, DOCUMENT_BYTES_MAX = 256 << 20, PLAN_JOBS = 8 };

/* What is asked about each document: itself, its referrers, and each of cosign's tags. */
enum { ASK_DOCUMENT, ASK_REFERRERS, ASK_TAG, ASK_KINDS = ASK_TAG + ATTACHED_ENDINGS };

struct answer {
	struct arena arena;       /* each has its own: they come at the same time */
	struct descriptor *named; /* what it names: children, referrers, what has the tag */
	size_t n;
	const char *tag;
};

/* A document that was found. */
struct node {
	struct copy_document doc;
	int depth;
	bool ordered;
	struct answer answers[ASK_KINDS];
};

struct plan_search {
	struct store *store;
	VEC(struct node *) nodes; /* in the order in which they were found */
	size_t from;              /* the first of the wave */
	pthread_mutex_t lock;     /* of bytes */
	size_t bytes;
};

static int check_limits(struct plan_search *s, size_t more_bytes, struct err *err)
{
	pthread_mutex_lock(&s->lock);
	s->bytes += more_bytes;
	bool beyond = s->bytes > DOCUMENT_BYTES_MAX || s->nodes.n > DOCUMENTS_MAX;

	pthread_mutex_unlock(&s->lock);
	if (!beyond)
		return 0;
	return err_set(err, ERR_LIMIT, "the image has more than %d manifests, or %d MiB of them",
	               DOCUMENTS_MAX, DOCUMENT_BYTES_MAX >> 20);
}

/* ---- questions ---- */

static int parse_index(struct copy_document *doc, struct answer *answer, struct err *err)
{
	struct index index;

	if (index_parse(doc->bytes, (size_t)doc->desc.size, doc->desc.media_type, &answer->arena,
	                &index, err) != 0)
		return -1;
	answer->named = index.manifests;
	answer->n = index.n_manifests;
	return 0;
}

static int parse_manifest(struct copy_document *doc, struct answer *answer, struct err *err)
{
	struct manifest m;
	struct descriptor *blobs;

	if (manifest_parse(doc->bytes, (size_t)doc->desc.size, doc->desc.media_type, &answer->arena,
	                   &m, err) != 0)
		return -1;
	blobs = arena_calloc(&answer->arena, m.n_layers + 1, sizeof(*blobs));
	blobs[0] = m.config;
	for (size_t i = 0; i < m.n_layers; i++)
		blobs[i + 1] = m.layers[i];
	doc->blobs = blobs;
	doc->n_blobs = m.n_layers + 1;
	return 0;
}

static int ask_document(struct plan_search *s, struct node *node, struct answer *answer,
                        struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct copy_document *doc = &node->doc;

	if (store_read(s->store, &doc->desc, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	    check_limits(s, text.len, err) != 0)
		return -1;
	doc->bytes = arena_memdup(&answer->arena, strbuf_str(&text), text.len);
	return media_is_index(doc->desc.media_type) ? parse_index(doc, answer, err)
	                                            : parse_manifest(doc, answer, err);
}

static int ask_referrers(struct plan_search *s, struct node *node, struct answer *answer,
                         struct err *err)
{
	struct referrers list;

	if (store_referrers(s->store, &node->doc.desc.digest, NULL, &answer->arena, &list, err) !=
	    0)
		return -1;
	answer->named = list.at;
	answer->n = list.n;
	return 0;
}

/* What cosign keeps beside an image under tags made of its digest; nothing is kept about that. */
static int ask_tag(struct plan_search *s, struct node *node, struct answer *answer, struct err *err)
{
	const char *ending = attached_endings[answer - &node->answers[ASK_TAG]];
	char hex[DIGEST_HEX_MAX];
	struct err why = {0};

	if (node->doc.tag != NULL)
		return 0;
	answer->tag = arena_printf(&answer->arena, "sha256-%s%s",
	                           digest_hex(&node->doc.desc.digest, hex), ending);
	answer->named = arena_calloc(&answer->arena, 1, sizeof(*answer->named));
	answer->n = store_resolve(s->store, answer->tag, &answer->arena, answer->named, &why) == 0;
	if (answer->n == 1 || why.code == ERR_NOT_FOUND)
		return 0;
	*err = why;
	return err_wrap(err, "tag '%s'", answer->tag);
}

static int ask(void *ctx, size_t i, struct err *err)
{
	struct plan_search *s = ctx;
	struct node *node = s->nodes.at[s->from + i / ASK_KINDS];
	size_t kind = i % ASK_KINDS;
	struct answer *answer = &node->answers[kind];
	char digest[DIGEST_TEXT_MAX];
	int rc = kind == ASK_DOCUMENT    ? ask_document(s, node, answer, err)
	         : kind == ASK_REFERRERS ? ask_referrers(s, node, answer, err)
	                                 : ask_tag(s, node, answer, err);

	return rc == 0 ? 0
	               : err_wrap(err, "manifest %s", digest_text(&node->doc.desc.digest, digest));
}

/* ---- answers ---- */

static struct node *find_node(const struct plan_search *s, const struct digest *d)
{
	for (size_t i = 0; i < s->nodes.n; i++)
		if (digest_equal(&s->nodes.at[i]->doc.desc.digest, d))
			return s->nodes.at[i];
	return NULL;
}

static struct node *add_node(struct plan_search *s, const struct descriptor *desc, int depth)
{
	struct node *node = find_node(s, &desc->digest);

	if (node != NULL)
		return node;
	node = mem_zalloc(sizeof(*node));
	node->doc.desc = *desc;
	node->depth = depth;
	vec_push(&s->nodes, node);
	return node;
}

/* One document may be a child of an index and attached to another of its children. */
static int add_named(struct plan_search *s, const struct node *by, size_t kind, struct err *err)
{
	const struct answer *answer = &by->answers[kind];

	if (answer->n > 0 && by->depth == DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "its documents are nested too deeply");
	for (size_t i = 0; i < answer->n; i++) {
		struct node *node = add_node(s, &answer->named[i], by->depth + 1);

		node->doc.child |= kind == ASK_DOCUMENT;
		if (kind == ASK_REFERRERS && !node->doc.attached) {
			node->doc.attached = true;
			node->doc.subject = by->doc.desc.digest;
		}
		if (kind >= ASK_TAG)
			node->doc.tag = answer->tag;
		if (check_limits(s, 0, err) != 0)
			return -1;
	}
	return 0;
}

/* Asks about all documents that are not asked about yet, until there are none. */
static int search(struct plan_search *s, struct err *err)
{
	while (s->from < s->nodes.n) {
		size_t end = s->nodes.n;

		if (pool_run((end - s->from) * ASK_KINDS, PLAN_JOBS, ask, s, err) != 0)
			return -1;
		for (; s->from < end; s->from++)
			for (size_t kind = 0; kind < ASK_KINDS; kind++)
				if (add_named(s, s->nodes.at[s->from], kind, err) != 0)
					return -1;
	}
	return 0;
}

/* ---- the order ---- */

static void mark_inside(const struct plan_search *s, struct node *node)
{
	const struct answer *children = &node->answers[ASK_DOCUMENT];

	if (node->doc.inside)
		return;
	node->doc.inside = true;
	for (size_t i = 0; i < children->n; i++)
		mark_inside(s, find_node(s, &children->named[i].digest));
}

static void order(struct copy_plan *p, struct plan_search *s, struct node *node)
{
	if (node->ordered)
		return;
	node->ordered = true;
	for (size_t i = 0; i < node->answers[ASK_DOCUMENT].n; i++)
		order(p, s, find_node(s, &node->answers[ASK_DOCUMENT].named[i].digest));
	p->n_attached += node->doc.attached || node->doc.tag != NULL;
	vec_push(&p->documents, node->doc);
	for (size_t kind = ASK_REFERRERS; kind < ASK_KINDS; kind++)
		for (size_t i = 0; i < node->answers[kind].n; i++)
			order(p, s, find_node(s, &node->answers[kind].named[i].digest));
}

/* ---- all of it ---- */

static void free_nodes(struct copy_plan *p, struct plan_search *s)
{
	for (size_t i = 0; i < s->nodes.n; i++) {
		for (size_t kind = 0; kind < ASK_KINDS; kind++)
			arena_join(&p->arena, &s->nodes.at[i]->answers[kind].arena);
		free(s->nodes.at[i]);
	}
	vec_done(&s->nodes);
}

int copy_plan_make(struct copy_plan *p, struct store *store, const struct descriptor *root,
                   struct err *err)
{
	struct plan_search s = {.store = store};

	pthread_mutex_init(&s.lock, NULL);
	struct node *first = add_node(&s, root, 0);
	int rc = search(&s, err);

	if (rc == 0) {
		mark_inside(&s, first);
		order(p, &s, first);
	}
	free_nodes(p, &s);
	pthread_mutex_destroy(&s.lock);
	return rc;
}

void copy_plan_done(struct copy_plan *p)
{
	vec_done(&p->documents);
	arena_done(&p->arena);
}
