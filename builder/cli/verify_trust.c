#include "builder/cli/verify_trust.h"

#include <string.h>

#include "builder/cli/spec_option.h"
#include "builder/cli/trust_gate.h"

static int check_arguments(const struct spec *spec, const char *image, struct arena *a,
                           struct err *err)
{
	struct ref ref;

	if (spec->n_trust == 0) {
		err_set(err, ERR_USAGE, "'%s' has no `trust`", spec->file);
		return err_hint(err, "Add rules, as in trust: {keys: [release.pub]}; docs/TRUST.md "
		                     "describes them.");
	}
	if (ref_parse(image, a, &ref, err) != 0)
		return -1;
	if (ref.kind == REF_REGISTRY)
		return 0;
	err_set(err, ERR_USAGE,
	        "--trust looks at an image in a registry, from which a cluster "
	        "would pull it");
	return err_hint(err, "Push it, or check its signature alone with --key.");
}

static void tell(struct cli *cli, const struct gate_verdict *v, cJSON *doc)
{
	if (cli_json(cli)) {
		cli_print_json(cli, doc);
		return;
	}
	if (v->n_refusals > 0)
		return;
	fprintf(cli->out, "%zu rule%s met:", v->n_rules, v->n_rules == 1 ? " is" : "s are");
	for (size_t i = 0; i < v->has.n; i++)
		fprintf(cli->out, "%s %s", i > 0 ? "," : "", v->has.at[i]);
	fprintf(cli->out, "\n%s\n", strchr(v->pinned, '@') + 1);
}

int verify_trust(struct cli *cli, const char *spec_file, const struct remote *remote,
                 const char *image, struct err *err)
{
	const struct spec_options from = {.file = spec_file};
	AUTO(trust_gate) struct trust_gate gate = {0};
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	struct gate_verdict verdict;
	struct spec *spec;

	if (spec_from_options(cli, &from, &spec, err) != 0 ||
	    check_arguments(spec, image, &cli->arena, err) != 0)
		return -1;
	trust_gate_init(&gate, cli, spec, remote);
	if (trust_gate_look(&gate, image, json_add_array(doc, "trust"), &verdict, err) != 0)
		return -1;
	tell(cli, &verdict, doc);
	return trust_gate_verdict(&gate, err);
}
