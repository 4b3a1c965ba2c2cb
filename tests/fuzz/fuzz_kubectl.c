/*
 * Any words of kubectl: the input's documents are its outputs in turn; one that starts with '!' is an error message
 * with exit status 1. All that reads a cluster reads them.
 */
#include "base/strbuf.h"
#include "builder/spec/spec.h"
#include "k8s/deploy/collect.h"
#include "k8s/deploy/lease.h"
#include "k8s/resolve/resolve.h"
#include "tests/fuzz/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char spec_text[] = "apiVersion: slipway/v1\nname: fuzz\n"
				"image: {layers: [{files: [{from: x, to: /x}]}]}\n"
				"cluster: {name: c, region: us-west-2, zone: us-west-2d, karpenter: v1}\n"
				"fleet: {g5: {weight: 2}, g5g: {weight: 1}}\n"
				"job: {nodes: 2, scheduler: jobset, args: [train]}\n";

struct fake {
	struct kubectl base;
	struct parts parts;
};

static int fake_call(struct kubectl *k, const char *const *args, const char *input,
                     struct kubectl_reply *reply, struct err *err)
{
	struct fake *f = (struct fake *)(void *)k;
	struct part part = parts_next(&f->parts);

	(void)args, (void)input, (void)err;
	reply->status = part.len > 0 && part.text[0] == '!';
	strbuf_add(reply->status != 0 ? &reply->err_text : &reply->out, part.text, part.len);
	return 0;
}

static int64_t now_ms(struct clock *c)
{
	(void)c;
	return 1700000000000;
}

static void no_sleep(struct clock *c, int64_t ms)
{
	(void)c, (void)ms;
}

static bool load_fleet(struct arena *a, struct spec *spec)
{
	AUTO(diags) struct diags d = {0};
	struct yaml_node *root = NULL;
	struct fields_context c = {.arena = a, .diags = &d};
	const char *architectures[] = {"amd64", "arm64"};
	struct fleet_image image = {.repository = "example.com/x",
	                            .tag = "v1",
	                            .architectures = {architectures, 2}};
	struct err err = {0};

	if (yaml_parse("fuzz.yaml", spec_text, sizeof(spec_text) - 1, a, &root, &d, &err) != 0)
		return false;
	fields_decode(&c, &spec_fields, root, "", spec);
	struct fleet_names names = {.name = spec->name, .name_at = spec->name_at, .file = "fuzz.yaml"};

	return fleet_resolve(&spec->sections, &names, &image, a, &d, &spec->fleet) &&
	       d.n_errors == 0;
}

static void read_status(struct fake *f, const struct fleet *fleet, struct arena *a)
{
	AUTO(snapshot) struct snapshot shot = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(8 << 20);
	struct status status;
	struct err err = {0};

	if (snapshot_take(&f->base, fleet, a, &shot, &err) != 0)
		return;
	const struct status_input in = {.fleet = fleet,
	                                .resources = shot.resources,
	                                .owned = shot.owned,
	                                .nodes = shot.nodes,
	                                .pods = shot.pods,
	                                .log = strbuf_str(&shot.log),
	                                .log_head = strbuf_str(&shot.head),
	                                .now_ms = 1700000000000};

	status_read(&in, a, &status);
	status_text(&status, &text);
	status_brief(&status, &text);
	cJSON_Delete(status_json(&status));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	struct clock clock = {now_ms, no_sleep};
	struct fake fake = {.base = {fake_call, &clock, NULL, 1},
	                    .parts = {(const char *)data, size}};
	struct spec spec = {0};
	struct kubectl_versions versions;
	struct err err = {0};

	if (!load_fleet(&a, &spec))
		abort();
	read_status(&fake, &spec.fleet, &a);
	fake.parts = (struct parts){(const char *)data, size};
	(void)kubectl_versions(&fake.base, &versions, &err);
	fake.parts = (struct parts){(const char *)data, size};
	read_status(&fake, &spec.fleet, &a);
	AUTO_FREE char *words = mem_strndup(size > 0 ? (const char *)data : "", size);

	(void)kubectl_advice(words, &err);
	return 0;
}
