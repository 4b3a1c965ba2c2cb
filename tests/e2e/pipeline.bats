#!/usr/bin/env bats
# The pipeline: its template, its buildspecs, and the local run of the same commands.

load lib

setup() {
	common_setup
	PIPELINE=$ROOT/tests/golden/fleet/pipeline.yaml
	# What a developer's git would add to the copies of the tree.
	export GIT_CONFIG_GLOBAL=/dev/null
}
teardown() { common_teardown; }

# local_spec [LINE...]: two platforms, each made by the build command; further lines below pipeline:.
local_spec() {
	cat >slipway.yaml <<EOS
apiVersion: slipway/v1
name: sample
image:
  repository: $REG/team/app
  platforms: [linux/amd64, linux/arm64]
  layers:
    - name: program
      share: false
      files: [{from: "out/\${arch}/note", to: /opt/note}]
pipeline:
  source: {connection: "arn:aws:codeconnections:us-west-2:123456789012:connection/1", repository: org/app}
  region: us-west-2
  options: [--insecure]
  tags: [latest]
  test: ["test ! -e out"]
  build: ["mkdir -p out/\$SLIPWAY_ARCH", "echo made for \$SLIPWAY_ARCH >out/\$SLIPWAY_ARCH/note"]
EOS
	(($# == 0)) || printf '  %s\n' "$@" >>slipway.yaml
}

@test "pipeline: a local run builds on two machines, joins, checks and tags" {
	need git
	start_registry
	local_spec
	git init -q . && git add slipway.yaml && git -c user.name=t -c user.email=t@t commit -qm one
	commit=$(git rev-parse HEAD)
	run --separate-stderr "$SLIPWAY" pipeline run --local
	[ "$status" -eq 0 ]
	digest=${lines[-1]}
	[[ $digest == sha256:* ]]
	[[ $stderr == *"+ slipway build -f slipway.yaml --platform linux/arm64"* ]]
	[ "$(root_of --insecure "$REG/team/app:latest")" = "$(root_of --insecure "$REG/team/app:${commit:0:12}")" ]
	curl -sSf -o index -D headers -H 'Accept: application/vnd.oci.image.index.v1+json' "http://$REG/v2/team/app/manifests/latest"
	grep -qi "docker-content-digest: $digest" headers
	[ "$(json '[m["platform"]["architecture"] for m in d["manifests"]]' <index)" = "['amd64', 'arm64']" ]
	[ ! -e out ] # the steps worked in copies
	# The same image as one machine makes.
	mkdir -p out/amd64 out/arm64
	for arch in amd64 arm64; do echo "made for $arch" >out/$arch/note; done
	[ "$("$SLIPWAY" build --progress none | digest_line)" = "$digest" ]
	run bash -c "ls -d \"\${TMPDIR:-/tmp}\"/slipway-pipeline-* 2>/dev/null | xargs -r grep -rl $digest"
	[ -z "$output" ] # nothing is left behind
}

@test "pipeline: a step sees only what git would check out, and the artifacts named" {
	need git
	start_registry
	local_spec
	printf 'secret\n' >ignored && printf 'ignored\n' >.gitignore
	git init -q .
	"$SLIPWAY" pipeline run --local --set 'pipeline.test=["test ! -e ignored && test -e slipway.yaml && test -e .gitignore"]' >/dev/null
	run "$SLIPWAY" pipeline run --local --set 'pipeline.test=[test -e ignored]'
	[ "$status" -eq 1 ]
	[[ $output == *"step 'build-amd64': a command ended with exit status 1"* ]]
}

@test "pipeline: a failing command stops the run, and no tag is set" {
	start_registry
	local_spec
	run "$SLIPWAY" pipeline run --local --set 'pipeline.build=["exit 7"]'
	[ "$status" -eq 1 ]
	[[ $output == *"exit status 7"* ]]
	run curl -s "http://$REG/v2/team/app/tags/list"
	[[ $output != *latest* ]]
}

@test "pipeline: an image that fails the check gets no tag" {
	start_registry
	local_spec
	# An x86 program in the arm64 image.
	cp "$SLIPWAY" program
	sed -i 's|from: "out/${arch}/note"|from: program|; s|to: /opt/note|to: /opt/program|' slipway.yaml
	run "$SLIPWAY" pipeline run --local
	[ "$status" -eq 1 ]
	run curl -s "http://$REG/v2/team/app/tags/list"
	[[ $output != *latest* ]]
}

@test "pipeline: overrides go on to the steps, quoted" {
	REG=localhost:1
	local_spec
	run "$SLIPWAY" pipeline run --dry-run --set "image.labels.note=it's \$(here)"
	[ "$status" -eq 0 ]
	[[ $output == *"--set 'image.labels.note=it'\\''s \$(here)'"* ]]
}

@test "pipeline: without a pipeline, and without --local, it says what to do" {
	REG=localhost:1
	local_spec
	run "$SLIPWAY" pipeline run
	[ "$status" -eq 2 ]
	[[ $output == *"--local"* ]]
	make_spec none.yaml
	run "$SLIPWAY" pipeline run --local -f none.yaml
	[ "$status" -eq 2 ]
	run "$SLIPWAY" pipeline walk --local
	[ "$status" -eq 2 ]
}

@test "pipeline: problems are told with their place" {
	REG=localhost:1
	local_spec 'deploy: true'
	sed -i '/share: false/d; /region:/d' slipway.yaml
	run "$SLIPWAY" render
	[ "$status" -eq 3 ]
	[[ $output == *"layer 'program' shares files between platforms"*"share: false"* ]]
	[[ $output == *"no cluster to deploy to"* ]]
	[[ $output == *"pipeline.region is missing"* ]]
}

@test "pipeline: template, buildspecs and workflow are what AWS and GitHub take" {
	for spec in pipeline pipeline-plain; do
		"$SLIPWAY" render -f "$ROOT/tests/golden/fleet/$spec.yaml" --only pipeline --format json -o "out/$spec" >/dev/null
	done
	files=(out/*/80-pipeline/*.json)
	[ "${#files[@]}" -ge 13 ]
	run "$ROOT/tests/k8s/validate" --foreign "${files[@]}"
	[ "$status" -ne 77 ] || skip "$output"
	echo "$output"
	[ "$status" -eq 0 ]
	sed 's/"PipelineType"/"PipelineKind"/' out/pipeline/80-pipeline/pipeline.json >broken.json
	run "$ROOT/tests/k8s/validate" --foreign broken.json
	[ "$status" -eq 1 ]
}

@test "pipeline: nothing is allowed on * but what AWS allows only there" {
	"$SLIPWAY" render -f "$PIPELINE" --only pipeline --format json -o out >/dev/null
	python3 - out/80-pipeline/pipeline.json <<'EOS'
import json, sys

# Service authorization reference: this action has no resource type.
ONLY_STAR = {"ecr:GetAuthorizationToken"}
resources = json.load(open(sys.argv[1]))["Resources"]
roles = {n: r["Properties"] for n, r in resources.items() if r["Type"] == "AWS::IAM::Role"}
assert len(roles) == 6, sorted(roles)
for name, role in roles.items():
    assert role["AssumeRolePolicyDocument"]["Statement"][0]["Condition"], name
    for statement in role["Policies"][0]["PolicyDocument"]["Statement"]:
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        assert not any("*" in action for action in actions), (name, actions)
        if statement["Resource"] in ("*", ["*"]):
            assert set(actions) <= ONLY_STAR, (name, actions)
allowed = {n: {a for s in r["Policies"][0]["PolicyDocument"]["Statement"] for a in s["Action"]} for n, r in roles.items()}
assert "ecr:PutImage" in allowed["BuildAmd64Role"] and "ecr:PutImage" not in allowed["DeployRole"]
assert "eks:DescribeCluster" in allowed["DeployRole"] and "eks:DescribeCluster" not in allowed["CheckRole"]
assert "ecr:DescribeImageScanFindings" in allowed["CheckRole"]
for name, r in resources.items():
    p = r["Properties"]
    if r["Type"] == "AWS::CodeBuild::Project":
        assert p["Environment"]["PrivilegedMode"] is False, name
        arm = "aarch64" in p["Environment"]["Image"] or name == "BuildArm64"
        assert p["Environment"]["Type"] == ("ARM_CONTAINER" if arm else "LINUX_CONTAINER"), name
    if r["Type"] == "AWS::S3::Bucket":
        assert all(p["PublicAccessBlockConfiguration"].values()) and p["BucketEncryption"], name
    if r["Type"] == "AWS::Logs::LogGroup":
        assert p["RetentionInDays"] == 30
known = set(resources) | {"AWS::AccountId"}
def refs(node):
    if isinstance(node, dict):
        if set(node) == {"Ref"}: assert node["Ref"] in known, node
        if set(node) == {"Fn::GetAtt"}: assert node["Fn::GetAtt"][0] in known, node
        for v in node.values(): refs(v)
    elif isinstance(node, list):
        for v in node: refs(v)
refs(resources)
EOS
}

@test "pipeline: Ctrl-C stops the run and leaves nothing behind" {
	start_registry
	need git
	local_spec
	mkdir tmp
	git init -q .
	printf '%s\n' tmp log registry >.gitignore
	# shellcheck disable=SC2016 # the step expands it
	TMPDIR=$WORK/tmp setsid "$SLIPWAY" pipeline run --local --set 'pipeline.build=["echo go >'"$WORK"'/started; sleep 30"]' \
		>log 2>&1 3>&- &
	wait_for started
	group=$(ps -o pgid= -p "$(pgrep -n -f "$WORK/started")" | tr -d ' ')
	kill -INT -- "-$group"
	wait $! && return 1
	[ -z "$(ls tmp)" ]
}
