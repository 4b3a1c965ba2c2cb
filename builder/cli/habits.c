/*
 * The commands and options of other tools that people type here at first; what to write instead.
 */
#include "builder/cli/habits.h"

#include <string.h>

#include "base/attr.h"

static const struct {
	const char *word, *instead;
} habits[] = {
	{"-v", "write `slipway version`; to see each request, `slipway COMMAND --verbose`"},
	{"-V", "write `slipway version`"},
	{"login", "slipway reads what `docker login` and podman leave; docs/HOWTO.md has a login "
                  "without them"},
	{"logout", "slipway keeps no login: remove docker's or podman's"},
	{"pull", "write `slipway copy HOST/NAME:TAG oci:DIR`"},
	{"tag", "write `slipway copy HOST/NAME:TAG HOST/NAME:OTHER`"},
	{"retag", "write `slipway copy HOST/NAME:TAG HOST/NAME:OTHER`"},
	{"promote", "write `slipway copy HOST/NAME:TAG HOST/NAME:OTHER`"},
	{"save", "write `slipway copy build/image FILE.tar`"},
	{"load", "write `slipway build --format docker-archive`, and load that file"},
	{"export", "write `slipway copy build/image FILE.tar`"},
	{"run", "slipway starts no container: `podman run oci:build/image`; `slipway deploy` runs "
                "the job on a cluster"},
	{"exec", "slipway enters no container: `kubectl exec`"},
	{"images", "write `slipway inspect build/image`"},
	{"ls", "write `slipway inspect REF`"},
	{"show", "write `slipway inspect REF`"},
	{"manifest", "write `slipway inspect REF`, or `slipway index create` to join several"},
	{"ps", "write `slipway status`"},
	{"get", "write `slipway status`"},
	{"check", "`slipway build` checks what it builds, `slipway verify REF` any image"},
	{"lint", "`slipway build --dry-run` checks the spec, `slipway verify REF` an image"},
	{"validate", "`slipway build --dry-run` checks the spec, `slipway verify REF` an image"},
	{"test", "`slipway build` checks what it builds, `slipway verify REF` any image"},
	{"plan", "write `slipway deploy --diff`"},
	{"template", "write `slipway render`"},
	{"generate", "write `slipway render`, or `slipway init` for a spec"},
	{"apply", "write `slipway deploy`"},
	{"up", "write `slipway deploy`"},
	{"install", "write `slipway deploy`"},
	{"upgrade", "write `slipway deploy`"},
	{"down", "write `slipway undeploy`"},
	{"delete", "write `slipway undeploy`"},
	{"destroy", "write `slipway undeploy`"},
	{"uninstall", "write `slipway undeploy`"},
	{"new", "write `slipway init`"},
	{"create", "write `slipway init`"},
	{"attest", "write `slipway sign --sbom --provenance --key KEY REF`"},
	{"trivy", "write `slipway scan REF`"},
	{"--build-arg",
         "there is no Dockerfile: write ${env:NAME} in the spec, or --set PATH=VALUE"},
	{"--password", "other users of the machine would see it: --password-stdin <FILE"},
	{"--target", "name the target alone, as in `slipway explain g5`; deploy: --job g5"},
	{"--json", "write --output json"},
	{"--yaml", "results are text or JSON: --output json"},
	{"--force", "each check that can be passed over has an option of its own: see --help"},
	{"--tls-verify", "write --insecure for a registry without TLS, or --ca FILE"},
	{"--skip-tls-verify", "write --insecure for a registry without TLS, or --ca FILE"},
	{"--debug", "write --verbose"},
	{"--silent", "write --quiet"},
	{"--config", "the spec is --file; docker's file is named by DOCKER_CONFIG"},
	{"--dockerfile", "there is no Dockerfile: the spec is --file"},
	{"--context", "commands that reach a cluster have it; a build's folder is the spec's own"},
	{"--load", "write --format docker-archive, and load that file"},
	{"--rm", "a build leaves no container: leave it out"},
	{"--squash", "`layers:` in the spec say what a layer is"},
	{"--secret", "nothing is run inside an image, so nothing there needs a secret"},
	{"--no-push", "a build pushes with --push alone: leave it out"},
};

const char *habit_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(habits); i++)
		if (strcmp(habits[i].word, word) == 0)
			return habits[i].instead;
	return NULL;
}
