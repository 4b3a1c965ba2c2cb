#!/usr/bin/env bats
# The pipeline's documents before those whom their authors trust: cfn-lint for templates, actionlint for GitHub's workflows,
# with shellcheck for what is in their steps. `make judges` brings both.

load lib

setup() {
	common_setup
	GOLDEN=$ROOT/tests/golden/fleet
}
teardown() { common_teardown; }

@test "cfn-lint: it has nothing against any template of any spec, and finds a break" {
	judge_needed cfn-lint
	local spec
	for spec in "$ROOT/slipway.yaml" "$GOLDEN"/*.yaml; do
		"$SLIPWAY" render -q -f "$spec" -o "out/$(basename "$spec" .yaml)" >/dev/null
	done
	# Many specs come to the same template.
	mapfile -t files < <(grep -rl AWSTemplateFormatVersion out | sort | xargs sha256sum | awk '!seen[$1]++ {print $2}')
	[ "${#files[@]}" -ge 12 ]
	sed 's/PipelineType/PipelineKind/' out/pipeline/80-pipeline/pipeline.yaml >broken.yaml
	run "$JUDGES/cfn-lint" -- "${files[@]}" broken.yaml
	echo "$output"
	[ "$(grep -c '^[EWI][0-9]' <<<"$output")" = 1 ]
	[[ $output == *"PipelineKind"*broken.yaml:* ]]
}

# workflow NAME EDIT ARGS...: the workflow of the golden pipeline with this edit and these overrides, in .github/workflows.
workflow() {
	local name=$1
	mkdir -p .github/workflows
	sed "$2" "$GOLDEN/pipeline.yaml" >"$name.yaml"
	"$SLIPWAY" render -q -f "$name.yaml" --only pipeline -o "out/$name" "${@:3}" >/dev/null
	cp "out/$name/80-pipeline/github-workflow.yaml" ".github/workflows/$name.yaml"
}

@test "actionlint: it has nothing against a workflow in a container, on runners, for ghcr.io and elsewhere, and against the setup action" {
	judge_needed actionlint
	need git
	need shellcheck
	git init -q .
	local runners='/^  a[mr][dm]64: {image/d'
	local elsewhere="$runners; /ecr:/d; /_role:/d; /signing_key:/d; s/sign: .*/sign: env:\/\/KEY/"
	workflow container ''
	workflow runners "$runners"
	workflow ghcr "$elsewhere; /deploy: true/d" --set image.repository=ghcr.io/org/app --set pipeline.repository=false
	workflow login "$elsewhere" --set image.repository=registry.example.com/team/app --set pipeline.repository=false
	grep -q 'container: ' .github/workflows/container.yaml
	grep -q 'shell: "*sudo ' .github/workflows/runners.yaml
	grep -q 'packages: write' .github/workflows/ghcr.yaml
	grep -q 'secrets.REGISTRY_PASSWORD' .github/workflows/login.yaml
	# The action, as somebody uses it who has copied the folder.
	mkdir -p .github/actions
	cp -r "$ROOT/docs/ci/setup" .github/actions/setup-slipway
	cat >.github/workflows/setup.yaml <<-'EOS'
		on: push
		jobs:
		  image:
		    runs-on: ubuntu-24.04
		    steps:
		      - uses: ./.github/actions/setup-slipway
		        with: {url: "https://example.com/releases", version: 0.1.0, sha256: "${{ vars.SLIPWAY_SHA256 }}"}
		      - run: slipway version
	EOS
	run "$JUDGES/actionlint"
	echo "$output"
	[ "$status" -eq 0 ]
	# It read them: each of these is found.
	local n=0 name edit words
	while IFS='|' read -r name edit words; do
		n=$((n + 1))
		cp ".github/workflows/$name.yaml" good
		sed "$edit" good >".github/workflows/$name.yaml"
		run ! cmp -s good ".github/workflows/$name.yaml"
		run "$JUDGES/actionlint"
		mv good ".github/workflows/$name.yaml"
		echo "$edit: $output"
		[ "$status" -eq 1 ]
		[[ $output == *"$words"* ]]
	done <<-'EOS'
		container|s/github\.sha/github.shaa/|property "shaa" is not defined
		runners|s/- build-amd64$/- build-x86/|needs job "build-x86" which does not exist
		login|s/secrets\.REGISTRY_PASSWORD/secret.REGISTRY_PASSWORD/|undefined variable "secret"
		ghcr|s/packages: write/packages: all/|permission
		setup|s/version: 0.1.0, //|missing input "version"
	EOS
	[ "$n" -eq 5 ]
	# What stands in the steps was read, too.
	cp .github/workflows/runners.yaml good
	# shellcheck disable=SC2016 # the step's own
	sed 's/DIGEST=$(cat "$CODEBUILD_SRC_DIR_Index\/digest")/DIGEST=`cat $CODEBUILD_SRC_DIR_Index\/digest`/' good >.github/workflows/runners.yaml
	run "$JUDGES/actionlint"
	[ "$status" -eq 1 ]
	[[ $output == *SC2086* ]]
}
