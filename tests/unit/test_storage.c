/* The rows of the storage drivers, and what deploys know of a file system by them. */
#include "tests/fleet_make.h"

#include "k8s/deploy/claim_cost.h"
#include "k8s/deploy/undeploy.h"
#include "k8s/storage/storage.h"

/* ---- rows ---- */

static bool says(const char *text)
{
	return text != NULL && text[0] != '\0';
}

static void rows_are_whole(void)
{
	for (size_t i = 0; i < n_storage_drivers; i++) {
		const struct storage_driver *d = storage_drivers[i];

		CHECK(says(d->name) && says(d->title) && says(d->label) && says(d->csi));
		CHECK(says(d->node->name) && d->node->cpu_milli > 0 && d->node->memory_mib > 0);
		CHECK(d->wanted != NULL && d->resolve != NULL);
		CHECK(d->render_driver != NULL && d->render_volume != NULL);
		CHECK(says(d->account) == says(d->namespace));
		CHECK(says(d->account) == says(d->policy));
		CHECK_STR(storage_fields.fields[i].key, d->name);
	}
}

static void rows_are_found(void)
{
	CHECK_STR(storage_driver_find("fsx.csi.aws.com")->name, "fsx");
	CHECK(storage_driver_find("ebs.csi.aws.com") == NULL);
	CHECK(storage_driver_find(NULL) == NULL);
}

/* ---- what it costs ---- */

#define CLAIM                                                                                      \
	"{\"kind\":\"PersistentVolumeClaim\",\"spec\":{\"resources\":{\"requests\":{"              \
	"\"storage\":\"1200Gi\"}}}}"
#define CLASS  "{\"kind\":\"StorageClass\",\"provisioner\":\"fsx.csi.aws.com\"}"
#define VOLUME "{\"kind\":\"PersistentVolume\",\"spec\":{\"csi\":{\"driver\":\"fsx.csi.aws.com\"}}}"

static const char *driver_of(const struct fleet *fleet, const char *owned)
{
	AUTO(json) cJSON *list = cJSON_Parse(owned);
	const struct storage_driver *driver = claim_driver(fleet, list);

	return driver != NULL ? driver->name : "none";
}

static void a_claim_outlives_its_section(void)
{
	AUTO(fleet_run) struct fleet_run f;
	struct fleet without = {0};

	CHECK_OK(fleet_run(&f, "tests/golden/fleet/all.yaml"), &f.err);
	CHECK_STR(driver_of(&f.spec->fleet, "[]"), "fsx");
	CHECK_STR(driver_of(&without, "[" CLAIM "," CLASS "]"), "fsx");
	CHECK_STR(driver_of(&without, "[" CLAIM "," VOLUME "]"), "fsx");
	CHECK_STR(driver_of(&without, "[" CLAIM ",7,{\"spec\":[]}]"), "none");
}

static void a_claim_has_the_price_of_its_driver(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO(json) cJSON *owned = cJSON_Parse("[" CLAIM "," CLASS "]");
	struct fleet fleet = {0};
	struct strmap map = {0};
	struct prices p;
	int64_t micros = -1;

	strmap_set(&map, &a, "efs-gib-month", "9");
	prices_of_map(&map, &a, &p);
	CHECK(!claim_cost(&fleet, &p, owned, &micros));
	strmap_set(&p.table, &a, "fsx-gib-month", "0.146");
	CHECK(claim_cost(&fleet, &p, owned, &micros));
	CHECK_INT(micros, 240000);
	CHECK(!claim_cost(&fleet, NULL, owned, &micros));
	CHECK(!claim_cost(&fleet, &p, NULL, &micros));
}

/* ---- what stays ---- */

struct fake {
	struct kubectl base;
	const char *volume; /* the claim's, as the cluster tells it */
};

static int64_t no_time(struct clock *c UNUSED)
{
	return 0;
}

static void no_sleep(struct clock *c UNUSED, int64_t ms UNUSED)
{
}

static struct clock quick = {no_time, no_sleep};

static int fake_call(struct kubectl *base, const char *const *args, const char *input UNUSED,
                     struct kubectl_reply *reply, struct err *err UNUSED)
{
	struct fake *f = (struct fake *)base;

	reply->status = 0;
	if (strcmp(args[0], "get") == 0 && strcmp(args[1], "persistentvolumes") == 0)
		strbuf_adds(&reply->out, f->volume);
	return 0;
}

/* What is left when the claim of that volume goes. */
static const char *left_of(const char *volume, struct arena *a)
{
	AUTO(json)
	cJSON *owned = cJSON_Parse("[{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\","
	                           "\"metadata\":{\"name\":\"c\",\"namespace\":\"n\"},"
	                           "\"spec\":{\"volumeName\":\"pv-1\"}}]");
	AUTO(strbuf) struct strbuf left = STRBUF_INIT(4096);
	struct fake f = {{.call = fake_call, .clock = &quick}, volume};
	struct undeploy_opts opts = {.gone = {.left = &left}};
	struct err err = {0};

	CHECK_OK(undeploy_run(&f.base, owned, &opts, &err), &err);
	return arena_strdup(a, strbuf_str(&left));
}

#define RETAINED(driver)                                                                           \
	"{\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"pv-1\"},\"spec\":{"               \
	"\"persistentVolumeReclaimPolicy\":\"Retain\",\"csi\":{\"driver\":\"" driver               \
	"\",\"volumeHandle\":\"fs-1\"}}}"

static void what_is_retained_has_its_command(void)
{
	AUTO(arena) struct arena a = {0};

	CHECK_STR(left_of(RETAINED("fsx.csi.aws.com"), &a),
	          "file system fs-1 (volume pv-1 is retained): "
	          "`aws fsx delete-file-system --file-system-id fs-1`\n");
	CHECK_STR(left_of(RETAINED("other.csi.example"), &a),
	          "file system fs-1 (volume pv-1 is retained)\n");
}

int main(void)
{
	TEST("storage: every driver says what it must, under its own key", rows_are_whole);
	TEST("storage: a driver is found by its CSI name", rows_are_found);
	TEST("storage: a claim's driver is known when the spec names none any more",
	     a_claim_outlives_its_section);
	TEST("storage: a claim costs what its driver costs", a_claim_has_the_price_of_its_driver);
	TEST("storage: a retained file system is told with the command that deletes it",
	     what_is_retained_has_its_command);
	return test_done();
}
