/* The fleet: every complaint by its text, every manifest by its bytes, and 500 random specs.
 * BLESS=1 rewrites the goldens; SLIPWAY_RANDOM_DIR=DIR keeps what the random specs render, for the
 * validators. */
#include "builder/cli/renderers.h"
#include "tests/fleet_make.h"

#include <glob.h>

#include "k8s/fleet/overhead.h"
#include "k8s/fleet/storage_driver.h"
#include "k8s/view/explain.h"

static const struct k8s_scope everything = {.foreign = true};

/* ---- goldens ---- */

static void compare(const char *path, const struct strbuf *got)
{
	AUTO(strbuf) struct strbuf want = STRBUF_INIT(16 << 20);
	struct err err = {0};

	if (getenv("BLESS") != NULL)
		CHECK_OK(fs_write_file(path, strbuf_str(got), got->len, 0644, &err), &err);
	CHECK_OK(fs_read_file(path, 16 << 20, &want, &err), &err);
	if (strcmp(strbuf_str(got), strbuf_str(&want)) == 0)
		return;
	size_t at = 0, line = 1;

	for (; got->ptr != NULL && at < got->len && at < want.len && got->ptr[at] == want.ptr[at];
	     at++)
		line += got->ptr[at] == '\n';
	printf("# %s differs from line %zu on; BLESS=1 renews it\n", path, line);
	CHECK(!"equal to the golden file");
}

static void each(const char *dir, size_t least, void (*test)(const char *yaml))
{
	glob_t found;
	char *here = getcwd(NULL, 0);

	CHECK_INT(chdir(dir), 0);
	CHECK_INT(glob("*.yaml", 0, NULL, &found), 0);
	CHECK(found.gl_pathc >= least);
	for (size_t i = 0; i < found.gl_pathc; i++)
		test(found.gl_pathv[i]);
	globfree(&found);
	CHECK_INT(chdir(here), 0);
	free(here);
}

static void wrong_spec(const char *yaml)
{
	AUTO(fleet_run) struct fleet_run f;
	AUTO(strbuf) struct strbuf got = STRBUF_INIT(0);
	char expect[512];

	if (fleet_run(&f, yaml) == 0) {
		printf("# %s was accepted\n", yaml);
		CHECK(!"refused");
		return;
	}
	CHECK_INT(f.err.code, ERR_SPEC);
	snprintf(expect, sizeof(expect), "%.*s.expect", (int)(strlen(yaml) - 5), yaml);
	diags_text(&f.diags, false, &got);
	compare(expect, &got);
}

static void wrong_specs(void)
{
	each("tests/golden/fleet-errors", 60, wrong_spec);
}

static void rendered(const char *yaml)
{
	AUTO(fleet_run) struct fleet_run f;
	AUTO(strbuf) struct strbuf got = STRBUF_INIT(0);
	char expect[512];

	CHECK_OK(fleet_run(&f, yaml), &f.err);
	CHECK_INT(f.diags.n, 0);
	if (f.diags.n > 0)
		printf("# %s: %s\n", yaml, f.diags.at[0].message);
	snprintf(expect, sizeof(expect), "%.*s.out", (int)(strlen(yaml) - 5), yaml);
	k8s_stream(&f.out, K8S_YAML, everything, &got);
	compare(expect, &got);
}

static void rendered_specs(void)
{
	each("tests/golden/fleet", 13, rendered);
}

static void repository_spec(void)
{
	AUTO(fleet_run) struct fleet_run f;
	AUTO(strbuf) struct strbuf got = STRBUF_INIT(0), words = STRBUF_INIT(0);

	CHECK_OK(fleet_run(&f, "slipway.yaml"), &f.err);
	k8s_stream(&f.out, K8S_YAML, everything, &got);
	compare("tests/golden/fleet/repository.out", &got);
	if (f.spec != NULL)
		explain_fleet(&f.spec->fleet, &words);
	compare("tests/golden/fleet/repository.explain", &words);
}

/* ---- YAML and JSON say the same ---- */

static bool same_scalar(const cJSON *item, const struct yaml_node *node)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	if (cJSON_IsString(item))
		return strcmp(item->valuestring, node->text) == 0 &&
		       (node->quoted || (!yaml_is_null(node) && !yaml_is_bool_like(node) &&
		                         strspn(node->text, "0123456789.") != strlen(node->text)));
	json_print(item, &text);
	return !node->quoted && strcmp(strbuf_str(&text), node->text) == 0;
}

static bool same_tree(const cJSON *item, const struct yaml_node *node)
{
	const cJSON *child = item->child;

	if (cJSON_IsObject(item)) {
		bool same = node->kind == YAML_MAPPING;

		for (size_t i = 0; same && i < node->n_pairs; i++, child = child->next)
			same = child != NULL &&
			       strcmp(child->string, node->pairs[i].key->text) == 0 &&
			       same_tree(child, node->pairs[i].value);
		return same && child == NULL;
	}
	if (cJSON_IsArray(item)) {
		bool same = node->kind == YAML_SEQUENCE;

		for (size_t i = 0; same && i < node->n_items; i++, child = child->next)
			same = child != NULL && same_tree(child, node->items[i]);
		return same && child == NULL;
	}
	return node->kind == YAML_SCALAR && same_scalar(item, node);
}

/* The YAML of every document reads back as the tree it was made from. */
static bool reads_back(const struct k8s_output *out)
{
	bool same = true;

	for (size_t i = 0; i < out->n; i++)
		for (size_t k = 0; k < out->files[i].n; k++) {
			AUTO(arena) struct arena a = {0};
			AUTO(diags) struct diags d = {0};
			AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
			struct yaml_node *root = NULL;
			struct err err = {0};

			k8s_yaml(out->files[i].at[k].doc, out->notes, out->n_notes, &text);
			if (yaml_parse("x", text.ptr, text.len, &a, &root, &d, &err) != 0 ||
			    !same_tree(out->files[i].at[k].doc, root)) {
				printf("# %s/%s document %zu: %s\n", out->files[i].folder,
				       out->files[i].name, k + 1, d.n > 0 ? d.at[0].message : "");
				same = false;
			}
		}
	return same;
}

static void yaml_hard_texts(void)
{
	static const char *const texts[] = {"",
	                                    "yes",
	                                    "No",
	                                    "null",
	                                    "~",
	                                    "1",
	                                    "1.5",
	                                    "0x10",
	                                    "1e3",
	                                    "-",
	                                    "- a",
	                                    "a: b",
	                                    "a #b",
	                                    "#a",
	                                    "a:",
	                                    "\"q\"",
	                                    "'q'",
	                                    "a\\b",
	                                    "a\nb",
	                                    "a\nb\n",
	                                    " a\nb\n",
	                                    "a \nb\n",
	                                    "\n\n",
	                                    "a\n\n",
	                                    "{}",
	                                    "[a]",
	                                    "&a",
	                                    "*a",
	                                    "!a",
	                                    "|",
	                                    ">",
	                                    "%a",
	                                    "@a",
	                                    "`a`",
	                                    "2026-11-21",
	                                    "a\tb",
	                                    "\x7f",
	                                    "caf\xc3\xa9",
	                                    "12:30:00",
	                                    "=",
	                                    "<<",
	                                    "on",
	                                    "a,b",
	                                    "/x:y",
	                                    "-1",
	                                    "+1",
	                                    ".5",
	                                    "a\n b\n",
	                                    "x\n\ny\n",
	                                    "a\xc2\x85"
	                                    "b",
	                                    "\xe2\x80\xa8",
	                                    "\xef\xbb\xbf",
	                                    "\xc3\xa9\nb\n"};
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	AUTO(arena) struct arena a = {0};
	AUTO(diags) struct diags d = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct yaml_node *root = NULL;
	struct err err = {0};
	cJSON *list = json_add_array(json_add_object(doc, "m"), "l"),
	      *map = json_add_object(doc, "k");

	json_add_object(doc, "empty");
	json_push(list, cJSON_CreateArray());
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		json_push_string(list, texts[i]);
		json_add_string(map, texts[i][0] != '\0' ? texts[i] : "none", texts[i]);
	}
	json_push(list, cJSON_CreateNumber(7));
	json_push(list, cJSON_CreateTrue());
	k8s_yaml(doc, NULL, 0, &text);
	CHECK_OK(yaml_parse("x", text.ptr, text.len, &a, &root, &d, &err), &err);
	if (d.n > 0)
		printf("# %s\n", d.at[0].message);
	CHECK(root != NULL && same_tree(doc, root));
}

static void list_form(void)
{
	AUTO(fleet_run) struct fleet_run f;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(json) cJSON *doc = NULL;
	size_t objects = 0;

	CHECK_OK(fleet_run(&f, "tests/golden/fleet/all.yaml"), &f.err);
	k8s_stream(&f.out, K8S_LIST, (struct k8s_scope){0}, &text);
	CHECK_OK(json_parse("list", text.ptr, text.len, &doc, &f.err), &f.err);
	CHECK_STR(json_string(doc, "kind"), "List");
	for (size_t i = 0; i < f.out.n; i++)
		for (size_t k = 0; k < f.out.files[i].n; k++)
			objects += !f.out.files[i].at[k].foreign;
	CHECK(objects > 10);
	CHECK_INT(cJSON_GetArraySize(json_get(doc, "items")), objects);
}

static void only_some(void)
{
	AUTO(fleet_run) struct fleet_run f;
	AUTO(k8s_output) struct k8s_output some = {0};
	const char *names[] = {"karpenter"}, *wrong[] = {"karpentr"};

	CHECK_OK(fleet_run(&f, "tests/golden/fleet/all.yaml"), &f.err);
	CHECK_OK(k8s_render(&renderers, &f.spec->fleet, &(struct strlist){names, 1}, &some, &f.err),
	         &f.err);
	CHECK_INT(some.n, 4);
	CHECK_STR(some.files[0].folder, "10-karpenter");
	CHECK(k8s_render(&renderers, &f.spec->fleet, &(struct strlist){wrong, 1}, &some, &f.err) !=
	      0);
	CHECK_INT(f.err.code, ERR_USAGE);
	CHECK(strstr(f.err.hint, "Did you mean --only karpenter?") != NULL);
}

/* ---- random specs ---- */

/* A pod and the DaemonSets beside it fit every instance that has the devices. */
static bool pods_fit(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_targets; i++) {
		const struct fleet_target *t = &fleet->targets[i];
		int64_t cpu, memory;

		overhead_sum(fleet, t, &cpu, &memory);
		cpu += t->cpu_milli;
		memory += t->memory_mib + t->hugepages_mib;
		for (size_t k = 0; k < t->n_instances; k++)
			if (t->instances[k]->devices >= t->devices &&
			    (cpu > t->instances[k]->cpu_milli ||
			     memory > t->instances[k]->allocatable_mib ||
			     t->efa > t->instances[k]->efa || t->cpu_milli <= 0 ||
			     t->memory_mib <= 0)) {
				printf("# %s does not fit %s\n", t->name, t->instances[k]->type);
				return false;
			}
	}
	return true;
}

/* For the validators: the spec and what it renders. */
static void keep(const char *dir, uint64_t seed, const struct strbuf *spec,
                 const struct strbuf *rendered_text)
{
	char path[4200];
	struct err err = {0};

	CHECK_OK(fs_mkdirs(dir, &err), &err);
	snprintf(path, sizeof(path), "%s/%llu.yaml", dir, (unsigned long long)seed);
	CHECK_OK(fs_write_file(path, spec->ptr, spec->len, 0644, &err), &err);
	snprintf(path, sizeof(path), "%s/%llu.out", dir, (unsigned long long)seed);
	CHECK_OK(fs_write_file(path, strbuf_str(rendered_text), rendered_text->len, 0644, &err),
	         &err);
}

static void random_one(const char *path, uint64_t seed)
{
	AUTO(strbuf)
	struct strbuf spec = STRBUF_INIT(0), first = STRBUF_INIT(0), second = STRBUF_INIT(0);
	AUTO(fleet_run) struct fleet_run f = {0}, again = {0};
	struct err err = {0};

	random_spec(seed, &spec);
	CHECK_OK(fs_write_file(path, spec.ptr, spec.len, 0644, &err), &err);
	if (fleet_run(&f, path) != 0 || fleet_run(&again, path) != 0) {
		printf("# seed %llu: %s\n%s", (unsigned long long)seed,
		       f.diags.n > 0 ? f.diags.at[0].message : f.err.msg, spec.ptr);
		CHECK(!"a valid spec is rendered");
		return;
	}
	k8s_stream(&f.out, K8S_YAML, everything, &first);
	k8s_stream(&again.out, K8S_YAML, everything, &second);
	CHECK_STR(strbuf_str(&second), strbuf_str(&first));
	if (!reads_back(&f.out) || !pods_fit(&f.spec->fleet)) {
		printf("# seed %llu:\n%s", (unsigned long long)seed, spec.ptr);
		CHECK(!"sound");
	}
	if (getenv("SLIPWAY_RANDOM_DIR") != NULL)
		keep(getenv("SLIPWAY_RANDOM_DIR"), seed, &spec, &first);
}

static void random_specs(void)
{
	char dir[4096], path[4200];
	struct err err = {0};

	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/slipway.yaml", dir);
	for (uint64_t seed = 0; seed < 500; seed++)
		random_one(path, seed);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

/* ---- folders ---- */

static void put(const char *dir, const char *name, const char *text)
{
	char path[4200];
	struct err err = {0};

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	CHECK_OK(fs_write_file(path, text, strlen(text), 0644, &err), &err);
}

static bool there(const char *dir, const char *name)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return fs_exists(path);
}

static void folder_replaces_its_own(void)
{
	AUTO(fleet_run) struct fleet_run all, one;
	char dir[4096];
	struct err err = {0};

	test_tmpdir(dir);
	CHECK_OK(fleet_run(&all, "tests/golden/fleet/all.yaml"), &all.err);
	CHECK_OK(fleet_run(&one, "tests/golden/fleet/minimal.yaml"), &one.err);
	put(dir, "notes.txt", "mine");
	CHECK_OK(k8s_write_dir(&all.out, K8S_YAML, dir, &err), &err);
	CHECK(there(dir, "10-karpenter/trn1.yaml") && there(dir, "kustomization.yaml") &&
	      there(dir, "10-karpenter/kustomization.yaml"));
	put(dir, "10-karpenter/mine.yaml", "a: b\n");
	CHECK_OK(k8s_write_dir(&one.out, K8S_YAML, dir, &err), &err);
	CHECK(there(dir, "10-karpenter/p4d.yaml") && !there(dir, "10-karpenter/trn1.yaml"));
	CHECK(there(dir, "notes.txt") && there(dir, "10-karpenter/mine.yaml"));
	CHECK(!there(dir, "60-jobs"));
	CHECK_OK(k8s_write_dir(&one.out, K8S_JSON, dir, &err), &err);
	CHECK(there(dir, "10-karpenter/p4d.json") && !there(dir, "10-karpenter/p4d.yaml"));
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

static void folder_refuses_strangers(void)
{
	AUTO(fleet_run) struct fleet_run f;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(100);
	char dir[4096], path[4200];
	struct err err = {0};

	test_tmpdir(dir);
	CHECK_OK(fleet_run(&f, "tests/golden/fleet/minimal.yaml"), &f.err);
	put(dir, "kustomization.yaml", "mine\n");
	CHECK(k8s_write_dir(&f.out, K8S_YAML, dir, &err) != 0);
	CHECK_INT(err.code, ERR_CONFLICT);
	CHECK(!there(dir, "10-karpenter"));
	snprintf(path, sizeof(path), "%s/kustomization.yaml", dir);
	CHECK_OK(fs_read_file(path, 100, &text, &err), &err);
	CHECK_STR(strbuf_str(&text), "mine\n");
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

static void folder_list_leads_nowhere(void)
{
	AUTO(fleet_run) struct fleet_run f;
	char dir[4096], inner[4200];
	struct err err = {0};

	test_tmpdir(dir);
	snprintf(inner, sizeof(inner), "%s/out", dir);
	CHECK_OK(fs_mkdirs(inner, &err), &err);
	CHECK_OK(fleet_run(&f, "tests/golden/fleet/minimal.yaml"), &f.err);
	put(dir, "victim", "x");
	put(inner, ".slipway-files", "../victim\n/etc/hostname\n\n#x\n");
	CHECK_OK(k8s_write_dir(&f.out, K8S_YAML, inner, &err), &err);
	CHECK(there(dir, "victim"));
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

/* ---- the catalogue ---- */

static void catalogue(void)
{
	struct instance_filter efa = {.efa = true}, none = {.target = "m5"};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	for (size_t i = 0; i < n_instances; i++) {
		const struct instance *row = &instances[i];

		CHECK(instance_find(row->type) == row);
		CHECK(strncmp(row->type, row->family, strlen(row->family)) == 0 &&
		      row->type[strlen(row->family)] == '.');
		CHECK(row->devices > 0 && row->cpu_milli < row->vcpu * 1000 &&
		      row->allocatable_mib < row->memory_mib);
		CHECK((row->accelerator->kind == ACCELERATOR_NEURON) == (row->cores > 0));
		CHECK(row->efa > 0 || !row->rdma);
		/* A target has the accelerators of one maker. */
		CHECK(accelerator_of(row->target) == row->accelerator);
	}
	for (size_t i = 0; i < FLEET_TARGETS; i++)
		CHECK(accelerator_of(fleet_target_names[i]) != NULL);
	CHECK(fleet_target_names[FLEET_TARGETS] == NULL);
	for (size_t i = 0; i < ACCELERATORS; i++) {
		CHECK_INT(accelerators[i].kind, i);
		CHECK(accelerators[i].exporter.name != NULL);
		CHECK(accelerator_exporter_keys[i] != NULL);
		/* Either claims may be made for its devices, or the row says why not. */
		CHECK((accelerators[i].device_class == NULL) ==
		      (accelerators[i].no_claims != NULL));
		CHECK((accelerators[i].idle_alarm == NULL) ==
		      (accelerators[i].idle_metric == NULL));
	}
	CHECK_INT(instance_find("p4d.24xlarge")->efa, 4);
	CHECK_INT(instance_find("trn1.32xlarge")->cores, 32);
	CHECK_STR(instance_nearest("g5.4xlarg"), "g5.4xlarge");
	CHECK(instance_find("m5.large") == NULL);
	CHECK_INT(instances_text(&none, &text), 0);
	CHECK(instances_text(&efa, &text) > 10);
	CHECK(strstr(strbuf_str(&text), "g5g") == NULL);
}

/* Seven targets of one form are told once, and a weight alone is a number. */
static void schema_of_targets(void)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(json) cJSON *schema = fields_schema(&fleet_fields);
	const cJSON *target = json_get(json_get(schema, "properties"), "g5g");

	fields_markdown(&spec_fields, &text);
	CHECK(strstr(strbuf_str(&text), "\n## `fleet.<target>`\n") != NULL);
	CHECK(strstr(strbuf_str(&text), "## `fleet.g5g`") == NULL);
	CHECK_STR(json_string(json_get(target, "oneOf")->child, "type"), "integer");
}

static void never_chosen(void)
{
	AUTO(fleet_run) struct fleet_run f = {0};
	struct spec_set set = {"fleet.trn1.instances=[trn1.32xlarge, trn1.2xlarge]"};

	CHECK_OK(spec_load("tests/golden/fleet/trn1.yaml", &set, 1, &f.arena, &f.spec, &f.diags,
	                   &f.err),
	         &f.err);
	CHECK_INT(f.diags.n, 1);
	CHECK_INT(f.diags.at[0].severity, DIAG_WARNING);
	CHECK_STR(f.diags.at[0].message,
	          "fleet.trn1.instances: trn1.2xlarge is never chosen: a pod "
	          "requests 16 devices, but it has 1");
}

int main(void)
{
	TEST("fleet: every wrong spec has its exact message", wrong_specs);
	TEST("fleet: every spec renders to its golden bytes", rendered_specs);
	TEST("fleet: the repository's own spec renders to its golden bytes", repository_spec);
	TEST("fleet: 500 random specs render, read back, fit their nodes and are stable",
	     random_specs);
	TEST("yaml: texts that look like something else are read back as texts", yaml_hard_texts);
	TEST("render: a list holds every object for kubectl", list_form);
	TEST("render: --only renders one concern, and a wrong name is refused", only_some);
	TEST("render: a folder's own files are replaced, a stranger's stay",
	     folder_replaces_its_own);
	TEST("render: a stranger's file in the way is refused", folder_refuses_strangers);
	TEST("render: the list of own files leads nowhere else", folder_list_leads_nowhere);
	TEST("catalogue: rows are sound and found", catalogue);
	TEST("fleet: the reference tells the form of a target once", schema_of_targets);
	TEST("fleet: an instance that is never chosen is warned of", never_chosen);
	return test_done();
}
