/* See copy.h. Sections: what is missing, blobs, documents, what is attached. */
#include "builder/image/copy.h"

#include <pthread.h>

#include "base/pool.h"

enum { COPY_JOBS = 8 };

struct copy_run {
	const struct copy_opts *opts;
	struct copy_plan plan;
	bool *present; /* a flag for each document */
	VEC(const struct descriptor *) blobs;
	struct copy_result result;
	pthread_mutex_t lock; /* of result, while blobs are sent */
};

static unsigned jobs_of(const struct copy_run *run)
{
	return run->opts->jobs != 0 ? run->opts->jobs : COPY_JOBS;
}

/* ---- what is missing ---- */

/* Part of the image itself, when that is there. */
static bool is_left_out(const struct copy_run *run, const struct copy_document *doc)
{
	return run->opts->attached_only && doc->inside;
}

static int look(void *ctx, size_t i, struct err *err)
{
	struct copy_run *run = ctx;
	const struct copy_document *doc = &run->plan.documents.at[i];

	(void)err;
	run->present[i] = is_left_out(run, doc) ||
	                  (doc->n_blobs > 0 && run->opts->to->has(run->opts->to, doc));
	return 0;
}

static bool is_listed(const struct copy_run *run, const struct digest *d)
{
	for (size_t i = 0; i < run->blobs.n; i++)
		if (digest_equal(&run->blobs.at[i]->digest, d))
			return true;
	return false;
}

/* The largest first: it takes longest, and must not start last. */
static int by_size(const void *a, const void *b)
{
	int64_t left = (*(const struct descriptor *const *)a)->size,
		right = (*(const struct descriptor *const *)b)->size;

	return (left < right) - (left > right);
}

static int find_missing(struct copy_run *run, struct err *err)
{
	size_t n = run->plan.documents.n;

	run->present = arena_calloc(&run->plan.arena, n, sizeof(*run->present));
	if (pool_run(n, jobs_of(run), look, run, err) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct copy_document *doc = &run->plan.documents.at[i];

		for (size_t k = 0; k < doc->n_blobs; k++) {
			if (is_listed(run, &doc->blobs[k].digest))
				continue;
			if (run->present[i])
				run->result.n_existed++;
			else
				vec_push(&run->blobs, &doc->blobs[k]);
		}
	}
	if (run->blobs.n > 1)
		qsort(run->blobs.at, run->blobs.n, sizeof(*run->blobs.at), by_size);
	return 0;
}

/* ---- blobs ---- */

static int send_blob(void *ctx, size_t i, struct err *err)
{
	struct copy_run *run = ctx;
	const struct copy_blob blob = {run->blobs.at[i], run->opts->from, run->opts->mount_from};
	char digest[DIGEST_TEXT_MAX];
	enum blob_outcome outcome;

	if (run->opts->to->put_blob(run->opts->to, &blob, &outcome, err) != 0)
		return err_wrap(err, "blob %s", digest_text(&blob.desc->digest, digest));
	pthread_mutex_lock(&run->lock);
	run->result.n_existed += outcome == BLOB_EXISTED;
	run->result.n_mounted += outcome == BLOB_MOUNTED;
	run->result.n_uploaded += outcome == BLOB_UPLOADED;
	run->result.bytes_uploaded += outcome == BLOB_UPLOADED ? blob.desc->size : 0;
	pthread_mutex_unlock(&run->lock);
	return 0;
}

/* ---- documents ---- */

static bool is_root(const struct copy_run *run, const struct copy_document *doc)
{
	return digest_equal(&doc->desc.digest, &run->opts->root->digest);
}

/* Where nothing is attached that needs it before, its first tag brings the root. */
static bool comes_by_tag(const struct copy_run *run, const struct copy_document *doc)
{
	return run->opts->to->tag_puts && run->opts->tags.n > 0 && run->plan.n_attached == 0 &&
	       is_root(run, doc);
}

/* *ret_existed: it was there, under its digest. */
static int put_document(struct copy_run *run, const struct copy_document *doc, bool *ret_existed,
                        struct err *err)
{
	struct copy_place *to = run->opts->to;

	if (!comes_by_tag(run, doc))
		return to->put_document(to, doc, ret_existed, err);
	*ret_existed = to->has(to, doc);
	return 0;
}

static int put_documents(struct copy_run *run, struct err *err)
{
	struct copy_place *to = run->opts->to;

	for (size_t i = 0; i < run->plan.documents.n; i++) {
		const struct copy_document *doc = &run->plan.documents.at[i];
		bool existed = run->present[i];

		/* One that is attached comes later, but if an index names it, too. */
		if (!existed && (!doc->attached || doc->child) &&
		    put_document(run, doc, &existed, err) != 0)
			return -1;
		run->result.n_manifests_put += !existed;
		if (doc->tag != NULL && to->tag(to, doc->tag, doc, err) != 0)
			return err_wrap(err, "tag '%s'", doc->tag);
	}
	return 0;
}

/* ---- what is attached ---- */

/* The documents in groups of one subject each. */
struct groups {
	struct copy_run *run;
	struct copy_attached *at;
	size_t n;
};

static struct copy_attached *group_of(struct groups *groups, const struct copy_document *doc)
{
	for (size_t i = 0; i < groups->n; i++)
		if (digest_equal(groups->at[i].subject, &doc->subject))
			return &groups->at[i];
	groups->at[groups->n] = (struct copy_attached){.subject = &doc->subject};
	return &groups->at[groups->n++];
}

/* Counted first, so that all groups are parts of one array. */
static void make_groups(struct groups *groups)
{
	struct copy_plan *plan = &groups->run->plan;
	size_t room = plan->n_attached + 1;
	const struct copy_document **next =
		arena_calloc(&plan->arena, room, sizeof(const struct copy_document *));

	groups->at = arena_calloc(&plan->arena, room, sizeof(*groups->at));
	for (size_t i = 0; i < plan->documents.n; i++)
		if (plan->documents.at[i].attached)
			group_of(groups, &plan->documents.at[i])->n++;
	for (size_t i = 0; i < groups->n; i++) {
		groups->at[i].documents = next;
		next += groups->at[i].n;
		groups->at[i].n = 0;
	}
	for (size_t i = 0; i < plan->documents.n; i++) {
		const struct copy_document *doc = &plan->documents.at[i];
		struct copy_attached *group = doc->attached ? group_of(groups, doc) : NULL;

		if (group != NULL)
			group->documents[group->n++] = doc;
	}
}

static int put_group(void *ctx, size_t i, struct err *err)
{
	const struct groups *groups = ctx;
	struct copy_place *to = groups->run->opts->to;

	return to->put_attached(to, &groups->at[i], err);
}

/* What is there, too: a list of referrers may lack it. */
static int put_attached(struct copy_run *run, struct err *err)
{
	struct groups groups = {.run = run};
	unsigned most = run->opts->to->attach_jobs;

	make_groups(&groups);
	return pool_run(groups.n, most != 0 ? most : jobs_of(run), put_group, &groups, err);
}

static int put_tags(struct copy_run *run, struct err *err)
{
	const struct copy_document *root = run->plan.documents.at;

	while (!is_root(run, root))
		root++;
	for (size_t i = 0; i < run->opts->tags.n; i++)
		if (run->opts->to->tag(run->opts->to, run->opts->tags.at[i], root, err) != 0)
			return err_wrap(err, "tag '%s'", run->opts->tags.at[i]);
	return 0;
}

static int run_copy(struct copy_run *run, struct err *err)
{
	if (copy_plan_make(&run->plan, run->opts->from, run->opts->root, err) != 0 ||
	    find_missing(run, err) != 0 ||
	    pool_run_from_both_ends(run->blobs.n, jobs_of(run), send_blob, run, err) != 0 ||
	    put_documents(run, err) != 0 || put_attached(run, err) != 0)
		return -1;
	return put_tags(run, err);
}

static void add_result(struct copy_result *sum, const struct copy_run *run)
{
	sum->n_uploaded += run->result.n_uploaded;
	sum->n_mounted += run->result.n_mounted;
	sum->n_existed += run->result.n_existed;
	sum->bytes_uploaded += run->result.bytes_uploaded;
	sum->n_manifests_put += run->result.n_manifests_put;
	sum->n_attached += run->plan.n_attached;
}

int copy_image(const struct copy_opts *opts, struct copy_result *result, struct err *err)
{
	struct copy_run run = {.opts = opts};

	pthread_mutex_init(&run.lock, NULL);
	int rc = run_copy(&run, err);

	if (rc == 0)
		add_result(result, &run);
	pthread_mutex_destroy(&run.lock);
	vec_done(&run.blobs);
	copy_plan_done(&run.plan);
	return rc;
}
