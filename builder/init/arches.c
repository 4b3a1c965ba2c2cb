/*
 * What the fleet's machines ask of an image.
 */
#include <string.h>

#include "builder/init/compose.h"
#include "karpenter/catalogue/catalogue.h"

static const struct instance *smallest(const char *target)
{
	const struct instance *best = NULL;

	for (size_t i = 0; i < n_instances; i++) {
		const struct instance *in = &instances[i];

		if (strcmp(in->target, target) == 0 && (best == NULL || in->vcpu < best->vcpu))
			best = in;
	}
	return best;
}

const char *init_smallest(const char *target)
{
	return smallest(target)->type;
}

/* PyTorch is made for one maker's devices and, as AWS ships it, for amd64. */
static int check_torch(const struct init_request *r, struct err *err)
{
	for (size_t i = 0; i < r->targets.n; i++) {
		const struct instance *in = smallest(r->targets.at[i]);

		if (in->accelerator != smallest(r->targets.at[0])->accelerator) {
			err_set(err, ERR_USAGE, "one image of PyTorch cannot serve both %s and %s",
			        r->targets.at[0], r->targets.at[i]);
			return err_hint(err, "make a folder for each: PyTorch for NVIDIA and for "
			                     "Trainium are different programs");
		}
		if (r->base == NULL && strcmp(in->arch, "amd64") != 0) {
			err_set(err, ERR_USAGE,
			        "AWS's images of PyTorch are for amd64, and %s is %s",
			        r->targets.at[i], in->arch);
			return err_hint(err, "name one that has it: --base IMAGE");
		}
	}
	return 0;
}

static bool wants(const struct init_request *r, const char *arch)
{
	if (r->targets.n == 0 && r->project->torch)
		return strcmp(arch, "amd64") == 0;
	if (r->targets.n == 0)
		return r->ci != NULL || r->project->crosses || strcmp(arch, r->host_arch) == 0;
	for (size_t i = 0; i < r->targets.n; i++)
		if (strcmp(smallest(r->targets.at[i])->arch, arch) == 0)
			return true;
	return false;
}

int init_arches(struct init_request *r, struct arena *a, struct err *err)
{
	static const char *const known[] = {"amd64", "arm64"};

	if (r->project->torch && check_torch(r, err) != 0)
		return -1;
	if (r->arches.n > 0)
		return 0;
	r->arches.at = arena_calloc(a, ARRAY_LEN(known), sizeof(*r->arches.at));
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (wants(r, known[i]))
			r->arches.at[r->arches.n++] = known[i];
	return 0;
}
