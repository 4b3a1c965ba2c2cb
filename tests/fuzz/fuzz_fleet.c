/* The fleet's sections, from text to manifests: what resolves without a problem must render, and the
 * folder's YAML must be made without harm. */
#include <stddef.h>
#include <stdint.h>

#include "builder/cli/renderers.h"
#include "builder/spec/spec.h"
#include "k8s/object/emit.h"
#include "k8s/resolve/resolve.h"
#include "k8s/view/explain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(const struct fleet *fleet)
{
	AUTO(k8s_output) struct k8s_output out = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(64 << 20);
	struct err err = {0};

	if (k8s_render(&renderers, fleet, NULL, &out, &err) != 0)
		__builtin_trap();
	k8s_stream(&out, K8S_YAML, (struct k8s_scope){.foreign = true}, &text);
	strbuf_reset(&text);
	explain_fleet(fleet, &text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	AUTO(diags) struct diags d = {0};
	struct err err = {0};
	struct yaml_node *root = NULL;
	struct spec spec = {0};
	struct fields_context c = {.arena = &a, .diags = &d};
	const char *architectures[] = {"amd64", "arm64"};
	struct fleet_image image = {
		.repository = "example.com/x", .tag = "v1", .architectures = {architectures, 2}};

	if (yaml_parse("fuzz.yaml", (const char *)data, size, &a, &root, &d, &err) != 0)
		return 0;
	fields_decode(&c, &spec_fields, root, "", &spec);
	struct fleet_names names = {
		.name = spec.name, .name_at = spec.name_at, .file = "fuzz.yaml"};

	if (!fleet_resolve(&spec.sections, &names, &image, &a, &d, &spec.fleet) || d.n_errors > 0 ||
	    !spec.sections.cluster.set)
		return 0;
	k8s_check(&renderers, &spec.fleet, &d);
	if (d.n_errors == 0)
		render(&spec.fleet);
	return 0;
}
