#include "k8s/view/diagram.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/fleet/storage_driver.h"
#include "k8s/job/scheduler.h"
#include "k8s/view/svg.h"

/* The page: job at the left, targets in the middle, storage at the right. */
enum {
	WIDTH = 1240,
	MARGIN = 32,
	TOP = 104,
	JOB_WIDTH = 246,
	CARD_X = 340,
	CARD_WIDTH = 600,
	JOB_HEIGHT = 158,
	CARD_HEIGHT = 136,
	GAP = 40,
	STORAGE_X = 1000,
	STORAGE_WIDTH = WIDTH - STORAGE_X - MARGIN,
	DEVICE = 15,
	DEVICES_PER_ROW = 8
};

#define INK     "#1b2733"
#define SOFT    "#5a6b7b"
#define PAPER   "#f6f8fa"
#define EDGE    "#c3ccd5"
#define STORAGE "#1d5fa8"

static const struct svg_font title = {.size = 24, .colour = INK, .bold = true};
static const struct svg_font head = {.size = 16, .colour = INK, .bold = true};
static const struct svg_font plain = {.size = 13, .colour = INK};
static const struct svg_font soft = {.size = 12, .colour = SOFT};
static const struct svg_font right = {.size = 13, .colour = SOFT, .end = true};

static int card_y(size_t i)
{
	return TOP + (int)i * (CARD_HEIGHT + GAP);
}

static void join(struct strbuf *sb, const char *text)
{
	strbuf_addf(sb, "%s%s", sb->len > 0 ? ", " : "", text);
}

/* "Neuron plugin" */
static void join_made(struct strbuf *sb, const struct fleet_target *t, const char *what)
{
	join(sb, t->accelerator->maker);
	strbuf_addf(sb, " %s", what);
}

/* ---- a target ---- */

/* One square per device of a node; filled are those that a pod takes. */
static void draw_devices(const struct fleet_target *t, int x, int y, struct strbuf *sb)
{
	const char *colour = t->accelerator->colour;

	for (int64_t i = 0; i < t->shape->devices && i < 64; i++) {
		struct svg_box box = {x + (int)(i % DEVICES_PER_ROW) * (DEVICE + 3),
		                      y + (int)(i / DEVICES_PER_ROW) * (DEVICE + 3), DEVICE,
		                      DEVICE};

		svg_rect(sb, &box, 3, i < t->devices ? colour : "#ffffff", colour);
	}
}

static void draw_instances(const struct fleet_target *t, int x, int y, struct strbuf *sb)
{
	AUTO(strbuf) struct strbuf list = STRBUF_INIT(4096);

	for (size_t i = 0; i < t->n_instances; i++)
		join(&list, t->instances[i]->type);
	svg_text(sb, x, y, CARD_WIDTH - 200, &plain, strbuf_str(&list));
}

static void draw_nodes(const struct fleet_target *t, int x, int y, struct strbuf *sb)
{
	AUTO(strbuf) struct strbuf list = STRBUF_INIT(4096);

	for (size_t i = 0; i < t->n_capacity; i++)
		join(&list, t->capacity[i]);
	svg_textf(sb, x, y, CARD_WIDTH - 200, &soft,
	          "%s \xc2\xb7 %s \xc2\xb7 at most %lld nodes in %s", strbuf_str(&list), t->arch,
	          (long long)t->limit_nodes, t->zone != NULL ? t->zone : "any zone");
}

static void draw_pods(const struct fleet_target *t, int x, int y, struct strbuf *sb)
{
	AUTO(strbuf) struct strbuf efa = STRBUF_INIT(128);

	if (t->efa > 0)
		strbuf_addf(&efa, " \xc2\xb7 %lld EFA", (long long)t->efa);
	svg_textf(sb, x, y, CARD_WIDTH - 32, &plain,
	          "%lld pod%s, each %lld \xc3\x97 %s%s \xc2\xb7 %lld CPU \xc2\xb7 %lld GiB",
	          (long long)t->nodes, t->nodes == 1 ? "" : "s", (long long)t->devices, t->resource,
	          strbuf_str(&efa), (long long)(t->cpu_milli / 1000),
	          (long long)(t->memory_mib / 1024));
}

/* Who makes the devices something to ask for, and who is kept away. */
static void draw_offer(const struct fleet *fleet, const struct fleet_target *t, int x, int y,
                       struct strbuf *sb)
{
	AUTO(strbuf) struct strbuf list = STRBUF_INIT(4096);

	if (fleet_target_uses_dra(fleet, t))
		join(&list, "resource claims");
	else if (fleet->cluster->devices == DEVICES_NONE)
		join(&list, "the cluster's own plugin");
	else if (t->brings_plugin)
		join(&list, "the node's own plugin");
	else
		join_made(&list, t, "plugin");
	if (t->efa > 0 && fleet->cluster->devices != DEVICES_NONE)
		join(&list, "EFA plugin");
	if (t->gang_needs_scheduler)
		join_made(&list, t, "scheduler");
	svg_textf(sb, x, y, CARD_WIDTH - 32, &soft, "by %s%s%s", strbuf_str(&list),
	          t->n_taints > 0 ? " \xc2\xb7 tainted " : "",
	          t->n_taints > 0 ? t->taints[0].key : "");
}

static void draw_target(const struct fleet *fleet, size_t i, struct strbuf *sb)
{
	const struct fleet_target *t = &fleet->targets[i];
	int y = card_y(i), x = CARD_X + 20;
	struct svg_box card = {CARD_X, y, CARD_WIDTH, CARD_HEIGHT};
	struct svg_box band = {CARD_X, y, 6, CARD_HEIGHT};

	svg_rect(sb, &card, 8, PAPER, EDGE);
	svg_rect(sb, &band, 3, t->accelerator->colour, NULL);
	svg_textf(sb, x, y + 28, 300, &head, "%zu. %s", i + 1, t->name);
	svg_textf(sb, CARD_X + CARD_WIDTH - 16, y + 28, 200, &right, "weight %lld",
	          (long long)t->section->weight);
	draw_devices(t, CARD_X + CARD_WIDTH - 16 - DEVICES_PER_ROW * (DEVICE + 3), y + 42, sb);
	draw_instances(t, x, y + 52, sb);
	draw_nodes(t, x, y + 74, sb);
	draw_pods(t, x, y + 98, sb);
	draw_offer(fleet, t, x, y + 120, sb);
	if (i + 1 < fleet->n_targets) {
		AUTO(strbuf) struct strbuf d = STRBUF_INIT(128);

		strbuf_addf(&d, "M%d %dV%d", CARD_X + 60, y + CARD_HEIGHT,
		            y + CARD_HEIGHT + GAP - 1);
		svg_arrow(sb, strbuf_str(&d), SOFT, true);
		svg_text(sb, CARD_X + 74, y + CARD_HEIGHT + 25, 300, &soft,
		         "no capacity in time: the next one");
	}
}

/* ---- the job ---- */

static void draw_arrows(const struct fleet *fleet, int y, struct strbuf *sb)
{
	AUTO(strbuf) struct strbuf d = STRBUF_INIT(128);

	if (fleet->n_targets == 0)
		return;
	strbuf_addf(&d, "M%d %dH%d", MARGIN + JOB_WIDTH, y, CARD_X - 1);
	svg_arrow(sb, strbuf_str(&d), INK, false);
}

static void draw_job(const struct fleet *fleet, struct strbuf *sb)
{
	const struct job_section *job = fleet->job;
	struct svg_box box = {MARGIN, TOP, JOB_WIDTH, JOB_HEIGHT};
	int x = MARGIN + 18, room = JOB_WIDTH - 36;

	if (!job->set)
		return;
	const char *slash = strrchr(fleet->image, '/');

	svg_rect(sb, &box, 8, "#ffffff", INK);
	svg_text(sb, x, TOP + 28, room, &head, "one job");
	svg_text(sb, x, TOP + 52, room, &plain, slash != NULL ? slash + 1 : fleet->image);
	svg_text(sb, x, TOP + 74, room, &plain, fleet->scheduler->caption);
	svg_textf(sb, x, TOP + 98, room, &soft, "%lld restart%s, %lld s to checkpoint",
	          (long long)job->retries, job->retries == 1 ? "" : "s",
	          (long long)job->grace_seconds);
	svg_textf(sb, x, TOP + 118, room, &soft, "account %s", fleet->service_account);
	if (job->metrics_port > 0)
		svg_textf(sb, x, TOP + 138, room, &soft, "metrics at :%lld",
		          (long long)job->metrics_port);
	draw_arrows(fleet, TOP + CARD_HEIGHT / 2, sb);
}

/* ---- storage ---- */

static void draw_storage(const struct fleet *fleet, struct strbuf *sb)
{
	const struct fleet_storage *storage = &fleet->storage;
	int last = card_y(fleet->n_targets > 0 ? fleet->n_targets - 1 : 0) + CARD_HEIGHT;
	struct svg_box box = {STORAGE_X, TOP, STORAGE_WIDTH, last - TOP};
	int x = STORAGE_X + 18, room = STORAGE_WIDTH - 36;

	if (storage->driver == NULL)
		return;
	svg_rect(sb, &box, 8, "#eef4fb", STORAGE);
	svg_text(sb, x, TOP + 28, room, &head, storage->driver->title);
	svg_text(sb, x, TOP + 52, room, &plain, storage->about);
	svg_text(sb, x, TOP + 74, room, &soft,
	         storage->id != NULL ? storage->id : "made for the fleet");
	svg_textf(sb, x, TOP + 94, room, &soft, "at %s in every pod", storage->mount);
	if (storage->source != NULL)
		svg_textf(sb, x, TOP + 118, room, &soft, "linked to %s", storage->source);
	for (size_t i = 0; i < fleet->n_targets && fleet->job->set; i++) {
		int y = card_y(i) + CARD_HEIGHT / 2;

		svg_line(sb, CARD_X + CARD_WIDTH, y, STORAGE_X, y, STORAGE);
	}
}

/* ---- the page ---- */

static const char *metrics_of(const struct monitoring_section *m)
{
	if (m->container_insights)
		return "Container Insights";
	for (size_t i = 0; i < ACCELERATORS; i++)
		if (m->exporter[i])
			return "own exporters";
	return NULL;
}

static void draw_foot(const struct fleet *fleet, int y, struct strbuf *sb)
{
	const char *metrics = fleet->monitoring->set ? metrics_of(fleet->monitoring) : NULL;

	svg_textf(
		sb, MARGIN, y, WIDTH - 2 * MARGIN, &soft,
		"A filled square is a device that a pod takes, an empty one stays free. Nodes are "
		"made by Karpenter %s%s%s.",
		fleet->karpenter_version, metrics != NULL ? "; metrics by " : "",
		metrics != NULL ? metrics : "");
}

void diagram_svg(const struct fleet *fleet, struct strbuf *sb)
{
	size_t rows = fleet->n_targets > 0 ? fleet->n_targets : 1;
	int last = rows > 1 ? card_y(rows - 1) + CARD_HEIGHT : TOP + JOB_HEIGHT;
	int height = last + 64;

	svg_start(sb, WIDTH, height, fleet->name);
	svg_textf(sb, MARGIN, 48, WIDTH - 2 * MARGIN, &title, "%s on cluster %s", fleet->name,
	          fleet->cluster_name);
	svg_textf(sb, MARGIN, 74, WIDTH - 2 * MARGIN, &soft,
	          "EKS %s in %s%s%s. The job runs on the first target that has capacity.",
	          fleet->version, fleet->cluster->region, fleet->zone != NULL ? ", zone " : "",
	          fleet->zone != NULL ? fleet->zone : "");
	draw_job(fleet, sb);
	for (size_t i = 0; i < fleet->n_targets; i++)
		draw_target(fleet, i, sb);
	draw_storage(fleet, sb);
	draw_foot(fleet, height - 26, sb);
	svg_end(sb);
}
