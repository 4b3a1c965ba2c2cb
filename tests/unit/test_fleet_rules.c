/* What EKS, EC2 and Karpenter ask of a fleet, and what its manifests make of it. */
#include "base/timestamp.h"
#include "k8s/fleet/eks_versions.h"
#include "k8s/fleet/grammar.h"
#include "k8s/fleet/regions.h"
#include "tests/render_make.h"

/* ---- EKS's calendar ---- */

static const char *remark(int minor, enum eks_support support, const char *day, struct arena *a)
{
	struct eks_remark said;
	int64_t ms;

	CHECK(timestamp_iso8601(day, &ms));
	if (!eks_version_remark(minor, support, ms, a, &said))
		return "";
	return arena_printf(a, "%s; %s", said.text, said.hint);
}

static void support_ends(void)
{
	AUTO(arena) struct arena a = {0};

	CHECK_STR(remark(34, SUPPORT_STANDARD, "2026-10-02T23:59:59Z", &a), "");
	CHECK_STR(remark(34, SUPPORT_STANDARD, "2026-10-03T00:00:00Z", &a),
	          "Kubernetes 1.34 leaves EKS's standard support on 2026-12-02, in 60 days; "
	          "upgrade, and write version: \"1.35\"; from that day EKS upgrades the cluster "
	          "when it sees fit");
	CHECK_STR(remark(34, SUPPORT_STANDARD, "2026-12-01T12:00:00Z", &a),
	          "Kubernetes 1.34 leaves EKS's standard support on 2026-12-02, in 1 day; "
	          "upgrade, and write version: \"1.35\"; from that day EKS upgrades the cluster "
	          "when it sees fit");
	CHECK_STR(remark(33, SUPPORT_STANDARD, "2026-11-22T00:00:00Z", &a),
	          "Kubernetes 1.33 left EKS's standard support on 2026-07-29; upgrade, and write "
	          "version: \"1.35\"; from that day EKS upgrades the cluster when it sees fit");
	CHECK_STR(remark(28, SUPPORT_EXTENDED, "2026-11-22T00:00:00Z", &a),
	          "EKS no longer runs Kubernetes 1.28; upgrade, and write version: \"1.35\"; EKS "
	          "has upgraded such clusters");
	CHECK(strstr(remark(35, SUPPORT_STANDARD, "2027-03-01T00:00:00Z", &a),
	             "in 26 days; plan "
	             "the upgrade to 1.36") != NULL);
	CHECK_STR(remark(40, SUPPORT_STANDARD, "2030-01-01T00:00:00Z", &a), "");
}

static void extended_support_is_paid_for(void)
{
	AUTO(arena) struct arena a = {0};

	CHECK(strstr(remark(34, SUPPORT_EXTENDED, "2026-11-22T00:00:00Z", &a),
	             "costs 0.60 instead of 0.10 USD") != NULL);
	CHECK_STR(remark(34, SUPPORT_EXTENDED, "2026-12-02T00:00:00Z", &a), "");
	CHECK(strstr(remark(31, SUPPORT_EXTENDED, "2026-11-22T00:00:00Z", &a),
	             "leaves EKS's extended support on 2026-11-26, in 4 days") != NULL);
}

static void the_cluster_says_its_support(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "p4d", "job.nodes=2");
	CHECK(holds(&f, f.out.files[0].at[0].doc, "\"version\":\"1.35\""));
	CHECK(holds(&f, f.out.files[0].at[0].doc,
	            "\"upgradePolicy\":{\"supportType\":\"STANDARD\"}"));
	fleet_run_done(&f);
	RENDER(&f, "p4d", "cluster.support=extended");
	CHECK(holds(&f, f.out.files[0].at[0].doc, "\"supportType\":\"EXTENDED\""));
}

static void the_control_planes_zones_exist(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "g5", "cluster.region=ca-central-1", "cluster.zone=ca-central-1a");
	CHECK_STR(f.spec->fleet.zones.at[1], "ca-central-1b");
	fleet_run_done(&f);
	RENDER(&f, "g5", "cluster.region=ca-central-1", "cluster.zone=ca-central-1d");
	CHECK_STR(f.spec->fleet.zones.at[1], "ca-central-1a");
	CHECK(!region_has_zone("ca-central-1", "ca-central-1c"));
	CHECK(region_zones("us-west-3") == NULL);
}

/* ---- nodes ---- */

static void nodes_are_in_private_subnets(void)
{
	static const char *const tags = "\"subnetSelectorTerms\":[{\"tags\":{\"karpenter.sh/"
					"discovery\":\"perceiver\",\"kubernetes.io/role/"
					"internal-elb\":\"*\"}}]";
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "all", "job.nodes=2");
	CHECK(holds(&f, find(&f, "EC2NodeClass", "p4d"), tags));
	CHECK(holds(&f, find(&f, "EC2NodeClass", "trn1"), tags));
	fleet_run_done(&f);
	RENDER(&f, "karpenter-v1alpha5", "cluster.namespace=x");
	CHECK(holds(&f, find(&f, "AWSNodeTemplate", "p4d"),
	            "\"kubernetes.io/role/internal-elb\":\"*\""));
	fleet_run_done(&f);
	RENDER(&f, "all", "cluster.subnets={example.com/tier: nodes}");
	CHECK(holds(&f, find(&f, "EC2NodeClass", "p4d"), "\"example.com/tier\":\"nodes\""));
	CHECK(!holds(&f, find(&f, "EC2NodeClass", "p4d"), "internal-elb"));
	fleet_run_done(&f);
	RENDER(&f, "all", "cluster.subnets={}");
	CHECK(!holds(&f, find(&f, "EC2NodeClass", "p4d"), "internal-elb"));
}

static void old_karpenter_gets_no_new_fields(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "karpenter-v1beta1", "cluster.karpenter=0.33", "cluster.version=1.28");
	CHECK(find(&f, "NodePool", "p4d") != NULL);
	CHECK(!holds(&f, find(&f, "NodePool", "p4d"), "budgets"));
	CHECK(!holds(&f, find(&f, "EC2NodeClass", "p4d"), "instanceStorePolicy"));
	fleet_run_done(&f);
	RENDER(&f, "karpenter-v1beta1", "cluster.karpenter=0.34", "cluster.version=1.29");
	CHECK(holds(&f, find(&f, "NodePool", "p4d"), "budgets"));
	CHECK(holds(&f, find(&f, "EC2NodeClass", "p4d"), "instanceStorePolicy"));
}

static void throughput_brings_iops(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "p4d", "fleet.p4d.volume={size: 200Gi, throughput: 1000}");
	CHECK(holds(&f, find(&f, "EC2NodeClass", "p4d"), "\"iops\":4000"));
	fleet_run_done(&f);
	RENDER(&f, "p4d", "fleet.p4d.volume={size: 200Gi, throughput: 750}");
	CHECK(!holds(&f, find(&f, "EC2NodeClass", "p4d"), "\"iops\""));
}

/* Does the pool of a golden spec pull in parallel? */
#define PULLS(f, spec, pool, ...)                                                                  \
	(fleet_run_done(f), render_with((f), (spec), (const char *[]){__VA_ARGS__, NULL}),         \
	 holds((f), find((f), "EC2NodeClass", (pool)), "FastImagePull: true"))

static void render_with(struct fleet_run *f, const char *spec, const char *const *assignments)
{
	size_t n = 0;

	while (assignments[n] != NULL)
		n++;
	render(f, spec, assignments, n);
}

static void nodes_pull_in_parallel_where_they_can(void)
{
	AUTO(fleet_run) struct fleet_run f = {0};

	CHECK(PULLS(&f, "p4d", "p4d", "fleet.p4d.ami=al2023@latest"));
	CHECK(PULLS(&f, "p4d", "p4d", "fleet.p4d.ami=al2023@v20250821"));
	CHECK(!PULLS(&f, "p4d", "p4d", "fleet.p4d.ami=al2023@v20250715"));
	CHECK(!PULLS(&f, "p4d", "p4d", "fleet.p4d.ami={id: ami-0123456789abcdef0}"));
	CHECK(PULLS(&f, "p4d", "p4d", "fleet.p4d.ami={id: ami-0123456789abcdef0}",
	            "fleet.p4d.pull=parallel"));
	CHECK(!PULLS(&f, "p4d", "p4d", "fleet.p4d.pull=serial"));
	CHECK(!PULLS(&f, "bottlerocket", "p4d", "fleet.p4d.ami=bottlerocket@v1.43.0"));
	CHECK(!holds(&f, find(&f, "EC2NodeClass", "p4d"), "userData"));
	CHECK(!PULLS(&f, "bottlerocket", "p4d", "fleet.p4d.ami=bottlerocket@v1.44.0"));
	CHECK(holds(&f, find(&f, "EC2NodeClass", "p4d"), "parallel-pull-unpack"));
}

/* Instances with disks of their own have the images there. */
static void a_volume_keeps_up_with_the_pull(void)
{
	AUTO(fleet_run) struct fleet_run f = {0};

	CHECK(PULLS(&f, "g5g", "g5g", "fleet.g5g={pull: auto}"));
	CHECK(holds(&f, find(&f, "EC2NodeClass", "g5g"), "\"iops\":4000,\"throughput\":1000"));
	CHECK(PULLS(&f, "g5g", "g5g", "fleet.g5g={volume: {size: 200Gi, iops: 3200}}"));
	CHECK(holds(&f, find(&f, "EC2NodeClass", "g5g"), "\"iops\":3200,\"throughput\":800"));
	CHECK(!PULLS(&f, "g5g", "g5g", "fleet.g5g={volume: {size: 200Gi, throughput: 250}}"));
	CHECK(PULLS(&f, "p4d", "p4d", "fleet.p4d.volume={size: 200Gi}"));
	CHECK(!holds(&f, find(&f, "EC2NodeClass", "p4d"), "\"throughput\""));
}

static void karpenter_may_use_the_volumes_keys(void)
{
	AUTO(fleet_run) struct fleet_run f;
	const cJSON *account;

	RENDER(&f, "p4d", "job.nodes=2");
	CHECK(!holds(&f, f.out.files[1].at[0].doc, "kms:"));
	fleet_run_done(&f);
	RENDER(&f, "all",
	       "fleet.p4d.volume={kms_key: \"arn:aws:kms:us-west-2:123456789012:key/abc\"}",
	       "fleet.g5.volume={kms_key: \"arn:aws:kms:us-west-2:123456789012:key/abc\"}",
	       "fleet.g5g.volume={kms_key: \"arn:aws:kms:us-west-2:123456789012:alias/disks\"}");
	account = f.out.files[1].at[0].doc;
	CHECK(holds(&f, account, "\"Resource\":\"arn:aws:kms:us-west-2:123456789012:key/abc\""));
	CHECK(holds(&f, account, "\"kms:GrantIsForAWSResource\":\"true\""));
	CHECK(holds(&f, account, "\"kms:ResourceAliases\":[\"alias/disks\"]"));
	CHECK(holds(&f, account, "\"Sid\":\"GrantKey2\""));
	CHECK(!holds(&f, account, "\"Sid\":\"GrantKey3\""));
}

static void a_pool_holds_the_network_test(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "all", "job.network_test={nodes: 10}");
	CHECK(holds(&f, find(&f, "NodePool", "p4d"), "\"nodes\":\"10\""));
	CHECK(holds(&f, find(&f, "NodePool", "g5g"), "\"nodes\":\"8\""));
}

static void add_ons_get_their_charts_memory(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "all", "job.nodes=2");
	CHECK(holds(&f, find(&f, "Deployment", "fsx-csi-controller"),
	            "\"limits\":{\"memory\":\"256Mi\"}"));
	CHECK(holds(&f, find(&f, "Deployment", "fsx-csi-controller"),
	            "\"limits\":{\"memory\":\"128Mi\"}"));
	CHECK(holds(&f, find(&f, "DaemonSet", "aws-efa"),
	            "\"requests\":{\"cpu\":\"10m\",\"memory\":\"20Mi\"},\"limits\":{\"memory\":"
	            "\"128Mi\"}"));
}

/* ---- objects ---- */

static void no_twins(const cJSON *object)
{
	for (const cJSON *item = object->child; item != NULL; item = item->next) {
		for (const cJSON *other = item->next; other != NULL && cJSON_IsObject(object);
		     other = other->next) {
			CHECK(strcmp(item->string, other->string) != 0);
			if (strcmp(item->string, other->string) == 0)
				printf("# twice: %s\n", item->string);
		}
		no_twins(item);
	}
}

static void no_key_is_there_twice(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "all", "cluster.tags={Name: mine, team: vision}",
	       "fleet.p4d.labels={nvidia.com/gpu.present: \"yes\"}",
	       "job.annotations={karpenter.sh/do-not-disrupt: \"false\"}",
	       "cluster.annotations={prometheus.io/scrape: \"false\"}",
	       "monitoring={gpu: true, trainer: true}", "cluster.labels={team: vision}");
	for (size_t i = 0; i < f.out.n; i++)
		for (size_t k = 0; k < f.out.files[i].n; k++)
			no_twins(f.out.files[i].at[k].doc);
	CHECK(holds(&f, find(&f, "EC2NodeClass", "p4d"), "\"Name\":\"mine\""));
	CHECK(holds(&f, find(&f, "NodePool", "p4d"), "\"nvidia.com/gpu.present\":\"yes\""));
	CHECK(holds(&f, find(&f, "Job", "perceiver-p4d"),
	            "\"karpenter.sh/do-not-disrupt\":\"false\""));
}

static void the_namespace_enforces(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "p4d", "job.nodes=2");
	CHECK(!holds(&f, find(&f, "Namespace", ""), "pod-security"));
	fleet_run_done(&f);
	RENDER(&f, "p4d", "cluster.pod_security=baseline");
	CHECK(holds(&f, find(&f, "Namespace", ""),
	            "\"pod-security.kubernetes.io/enforce\":\"baseline\""));
}

/* ---- the job ---- */

static void sockets_are_no_way_out(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "all", "job.nodes=2");
	CHECK(holds(&f, find(&f, "Job", "perceiver-p4d"),
	            "{\"name\":\"NCCL_NET\",\"value\":\"AWS Libfabric\"}"));
	CHECK(holds(&f, find(&f, "Job", "perceiver-trn1"),
	            "{\"name\":\"FI_PROVIDER\",\"value\":\"efa\"}"));
	CHECK(!holds(&f, find(&f, "Job", "perceiver-trn1"), "NCCL_NET"));
	CHECK(!holds(&f, find(&f, "Job", "perceiver-g5g"), "NCCL_NET"));
	CHECK(!holds(&f, find(&f, "MPIJob", "perceiver-p4d-nettest"), "NCCL_NET"));
	fleet_run_done(&f);
	RENDER(&f, "all", "fleet.p4d.env={NCCL_NET: Socket}");
	CHECK(holds(&f, find(&f, "Job", "perceiver-p4d"),
	            "{\"name\":\"NCCL_NET\",\"value\":\"Socket\"}"));
	CHECK(!holds(&f, find(&f, "Job", "perceiver-p4d"), "AWS Libfabric"));
	fleet_run_done(&f);
	RENDER(&f, "all", "job.nodes=1");
	CHECK(!holds(&f, find(&f, "Job", "perceiver-p4d"), "NCCL_NET"));
}

static void a_process_per_logical_core(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "outlook", "job.nodes=2");
	CHECK(holds(&f, find(&f, "Job", "perceiver-trn2"),
	            "{\"name\":\"NPROC_PER_NODE\",\"value\":\"64\"}"));
	fleet_run_done(&f);
	RENDER(&f, "trn1", "job.nodes=2");
	CHECK(holds(&f, find(&f, "Job", "perceiver-trn1"),
	            "{\"name\":\"NPROC_PER_NODE\",\"value\":\"32\"}"));
}

static void the_network_test_wants_its_name(void)
{
	AUTO(fleet_run) struct fleet_run f = {0};
	AUTO(k8s_output) struct k8s_output plain = {0}, named = {0};
	const char *names[] = {"nettest"};

	CHECK_OK(fleet_run(&f, "tests/golden/fleet/all.yaml"), &f.err);
	CHECK_OK(k8s_render(&renderers, &f.spec->fleet, NULL, &plain, &f.err), &f.err);
	CHECK(plain.n > 10);
	for (size_t i = 0; i < plain.n; i++)
		CHECK(strcmp(plain.files[i].folder, "70-nettest") != 0);
	CHECK_OK(
		k8s_render(&renderers, &f.spec->fleet, &(struct strlist){names, 1}, &named, &f.err),
		&f.err);
	CHECK_INT(named.n, 2);
	CHECK_STR(named.files[0].name, "p4d.yaml");
	CHECK_STR(named.files[1].name, "g5.yaml");
}

static void texts_are_read_by_the_server(void)
{
	/* U+0080, U+009F, U+FFFE, U+FFFF; a byte that is not UTF-8. */
	static const char *const unread[] = {"\x7f",         "a\xc2\x80",    "\xc2\x9f b",
	                                     "\xef\xbf\xbe", "\xef\xbf\xbf", "\xff"};
	static const char *const read[] = {"", "\t\n\r\x1b\x01", "\xc2\x85\xc2\xa0", "\xef\xbf\xbd",
	                                   "\xf0\x9f\x9a\xa2"};
	const char *hint;

	for (size_t i = 0; i < ARRAY_LEN(unread); i++) {
		CHECK(check_text(unread[i], &hint) != NULL);
		CHECK(check_annotation_value(unread[i], &hint) != NULL);
		CHECK(check_tag_value(unread[i], &hint) != NULL);
		CHECK(check_tag_key(unread[i], &hint) != NULL);
	}
	for (size_t i = 0; i < ARRAY_LEN(read); i++) {
		CHECK(check_text(read[i], &hint) == NULL);
		CHECK(check_annotation_value(read[i], &hint) == NULL);
	}
	CHECK(check_tag_value("a\tb", &hint) != NULL);
	CHECK(check_tag_value("us-west: a/b+c=d@e _.-", &hint) == NULL);
}

/* ---- references to images ---- */

#define TEN     "abcdefghij"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define ZEROS   "0000000000000000"

static void kubelets_read_the_image(void)
{
	static const char *const good[] = {"a",
	                                   "a/b:V1",
	                                   "quay.io/a.b/c__d/e--f:1.2_x",
	                                   "localhost:5000/x",
	                                   "[::1]:5000/x:y",
	                                   "x:tag@sha256:" ZEROS ZEROS ZEROS ZEROS,
	                                   "a.b/" HUNDRED HUNDRED TEN TEN TEN TEN TEN "b",
	                                   "a/b:" HUNDRED TEN TEN "12345678"};
	static const char *const bad[] = {"",
	                                  "/",
	                                  ":",
	                                  "@",
	                                  "a:",
	                                  ":a",
	                                  "a@",
	                                  "@a",
	                                  "/a",
	                                  "a/",
	                                  "a//b",
	                                  "a:b:c",
	                                  "a-/b",
	                                  "-a",
	                                  "a/.b",
	                                  "UPPER/x",
	                                  "h.io/A/b",
	                                  "https://h.io/a",
	                                  "a b",
	                                  "a@sha256:12",
	                                  "h.io/",
	                                  "h.io:/",
	                                  "a.b/" HUNDRED HUNDRED TEN TEN TEN TEN TEN "bc",
	                                  "a/b:" HUNDRED TEN TEN "123456789"};
	const char *hint;

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (check_image_ref(good[i], &hint) != NULL)
			CHECK_STR(good[i], "an image reference");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (check_image_ref(bad[i], &hint) == NULL)
			CHECK_STR(bad[i], "not an image reference");
	CHECK(check_image_ref("a.b/" HUNDRED HUNDRED HUNDRED, &hint) != NULL);
	CHECK_STR(hint, "HOST/NAME has at most 255 characters");
	CHECK(check_image_ref("h.io/Train:1", &hint) != NULL);
	CHECK(strstr(hint, "lower case") != NULL);
}

/* ---- slipway's own trainer ---- */

/* Each: what the spec sets, and what is added to the words of g5, which has 8 GPUs, and of trn1, with 32 cores. */
#define COMPILER "fleet.trn1.compiler={image: \"h.io/compiler:1\", slipway: \"h.io/slipway:1\"}"
#define CORES    "--device neuron --local_ranks 32 --cache_dir /neff"
static const struct {
	const char *set[4], *g5, *trn1;
} trainers[] = {
	{{COMPILER, "job.command=[/usr/bin/slipway-trainer]"},
         "--device cuda --local_ranks 8",
         CORES},
	{{COMPILER, "job.command=[slipway-trainer, eval]", "job.args=[]"},
         "--device cuda --local_ranks 8",
         CORES},
	{{COMPILER, "image.entrypoint=[/usr/bin/slipway-trainer]"},
         "--device cuda --local_ranks 8",
         CORES},
	{{COMPILER, "job.command=[slipway-trainer]", "fleet.g5.args=[--device=cpu]"},
         "",
         CORES},
	{{COMPILER, "job.command=[slipway-trainer]", "fleet.g5.args=[--local-ranks, '2']"},
         "--device cuda",
         CORES},
	{{COMPILER, "job.command=[slipway-trainer]", "fleet.g5.instances=[g5.xlarge]"},
         "--device cuda",
         CORES},
	{{COMPILER, "job.command=[slipway-trainer]", "job.scheduler=mpi"},
         "--device cuda",
         "--device neuron --cache_dir /neff"},
	{{COMPILER, "job.command=[slipway-trainer]", "fleet.trn1.args=[--cache-dir, /mine]"},
         "--device cuda --local_ranks 8",
         "--device neuron --local_ranks 32"},
	{{"job.command=[slipway-trainer]", "fleet.trn1.args=[--device, cpu]"},
         "--device cuda --local_ranks 8",
         ""},
	{{"job.command=[slipway-trainer]", "job.args=[probe]"}, "", ""},
	{{"job.command=[slipway-trainer]", "job.args=[]"},
         "",
         ""}, /* the words of the image's cmd */
	{{"job.command=[/usr/bin/torchrun]"}, "", ""},
	{{"job.command=[/opt/my-slipway-trainer]"}, "", ""},
	{{NULL}, "", ""}, /* an image whose program is not known */
};

static void add_words(struct strbuf *sb, const struct strlist *words)
{
	for (size_t i = 0; i < words->n; i++)
		strbuf_addf(sb, "%s%s", sb->len > 0 ? " " : "", words->at[i]);
}

static void knows_its_own_trainer(void)
{
	for (size_t i = 0; i < ARRAY_LEN(trainers); i++) {
		AUTO(fleet_run) struct fleet_run f;
		AUTO(strbuf) struct strbuf g5 = STRBUF_INIT(0), trn1 = STRBUF_INIT(0);

		CHECK_OK(fleet_run_with(&f, "tests/golden/fleet/scheduler-job.yaml",
		                        trainers[i].set),
		         &f.err);
		if (f.spec == NULL)
			continue;
		for (size_t k = 0; k < f.spec->fleet.n_targets; k++) {
			const struct fleet_target *t = &f.spec->fleet.targets[k];

			add_words(strcmp(t->name, "trn1") == 0 ? &trn1 : &g5, &t->trainer_args);
		}
		CHECK_STR(strbuf_str(&g5), trainers[i].g5);
		CHECK_STR(strbuf_str(&trn1), trainers[i].trn1);
	}
}

/* ---- what is compiled ahead ---- */

#define TRAINER "job.command=[slipway-trainer]"

/* Each: what the spec sets, and what is said of it. */
static const struct {
	const char *set[4], *says;
} compilers[] = {
	{{TRAINER}, "fleet.trn1: slipway-trainer runs on Neuron devices what was compiled for it"},
	{{TRAINER, "fleet.trn1.compiler={image: \"h.io/c:1\"}"}, "no place for what it compiles"},
	{{TRAINER, COMPILER, "fleet.g5.compiler=\"h.io/c:1\""},
         "NVIDIA devices run nothing that is compiled ahead"},
	{{"job.command=[torchrun]", COMPILER}, "does not run slipway-trainer train"},
	{{TRAINER, "fleet.trn1.compiler={slipway: \"h.io/s:1\"}"}, "compiler: it names no image"},
	{{TRAINER, "fleet.trn1.compiler={image: \"h.io/c:1\", compiled: true}"},
         "no image compiles"},
	{{TRAINER, "fleet.trn1.compiler={compiled: true, command: [x]}"}, "nothing to run"},
};

static void asks_who_compiles(void)
{
	for (size_t i = 0; i < ARRAY_LEN(compilers); i++) {
		AUTO(fleet_run) struct fleet_run f;
		bool said = false;

		CHECK(fleet_run_with(&f, "tests/golden/fleet/scheduler-job.yaml",
		                     compilers[i].set) != 0);
		for (size_t k = 0; k < f.diags.n; k++)
			said = said || strstr(f.diags.at[k].message, compilers[i].says) != NULL;
		if (!said)
			CHECK_STR(f.diags.n > 0 ? f.diags.at[0].message : "", compilers[i].says);
	}
}

int main(void)
{
	TEST("support: the end of a version's standard support is told 60 days before",
	     support_ends);
	TEST("support: what extended support costs is told before, and not after",
	     extended_support_is_paid_for);
	TEST("cluster: standard support, unless the spec pays for more",
	     the_cluster_says_its_support);
	TEST("cluster: the second zone of the control plane exists",
	     the_control_planes_zones_exist);
	TEST("pools: nodes are in private subnets, or where the spec says",
	     nodes_are_in_private_subnets);
	TEST("pools: Karpenter before 0.34 gets no budgets and no instance store policy",
	     old_karpenter_gets_no_new_fields);
	TEST("pools: gp3 gets the IOPS that its throughput needs", throughput_brings_iops);
	TEST("pools: nodes pull images in parallel where their machine image can",
	     nodes_pull_in_parallel_where_they_can);
	TEST("pools: the root volume keeps up with a parallel pull, or the pull is serial",
	     a_volume_keeps_up_with_the_pull);
	TEST("account: Karpenter may use the keys of the nodes' volumes",
	     karpenter_may_use_the_volumes_keys);
	TEST("pools: the limits leave room for the network test", a_pool_holds_the_network_test);
	TEST("plugins: no memory limit is below the chart's", add_ons_get_their_charts_memory);
	TEST("objects: no key is there twice, the spec's own wins", no_key_is_there_twice);
	TEST("namespace: it enforces the level that the spec names", the_namespace_enforces);
	TEST("jobs: without EFA a job of several nodes ends, and does not fall back to sockets",
	     sockets_are_no_way_out);
	TEST("jobs: a process per core that a process sees", a_process_per_logical_core);
	TEST("nettest: it is rendered by its name alone", the_network_test_wants_its_name);
	TEST("texts: what the API server does not read is refused, what JSON escapes is not",
	     texts_are_read_by_the_server);
	TEST("images: a reference that no kubelet can read is refused", kubelets_read_the_image);
	TEST("fleet: GPUs are for slipway's own trainer, a rank for each, unless its words say "
	     "otherwise",
	     knows_its_own_trainer);
	TEST("fleet: who compiles for devices that run nothing else is asked, and where it is kept",
	     asks_who_compiles);
	return test_done();
}
