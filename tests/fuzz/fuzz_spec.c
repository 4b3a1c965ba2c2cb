/* Any bytes as a spec: YAML, the field tables, the fleet and pipeline they make, --set, the
 * diagnostics' text, the plan. */
#include <stdint.h>

#include "builder/spec/spec.h"
#include "builder/spec/spec_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	AUTO(diags) struct diags d = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(16 << 20);
	struct fields_context c = {.arena = &a, .diags = &d, .expand = variables_load};
	struct spec spec = {.file = "f", .dir = "d"};
	struct yaml_node *root = NULL;
	struct plan *plan = NULL;
	struct err err = {0};

	if (size > 64 << 10)
		return 0;
	if (yaml_parse("f", (const char *)data, size, &a, &root, &d, &err) == 0) {
		fields_decode(&c, &spec_fields, root, "", &spec);
		spec_resolve_fleet(&spec, "f", &a, &d);
		spec_resolve_pipeline(&spec, &(struct spec_origin){.file = "f"}, &a, &d);
		if (d.n_errors == 0 && plan_make(&spec, NULL, 0, &a, &plan, &d, &err) == 0)
			plan_text(plan, &text);
		if (yaml_set(root, arena_strndup(&a, (const char *)data, size), &a, &d, &err) ==
		    0) {
			spec = (struct spec){.file = "f", .dir = "d"};
			fields_decode(&c, &spec_fields, root, "", &spec);
		}
	}
	diags_sort(&d);
	diags_text(&d, false, &text);
	return 0;
}
