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
  install: ['slipway version && { test -n "\$KUBECTL" || command -v kubectl; }']
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
	REG=123456789012.dkr.ecr.us-west-2.amazonaws.com
	local_spec 'sign: release.pem' 'staging: team/app' 'signing_key: true'
	run "$SLIPWAY" render
	[ "$status" -eq 3 ]
	[[ $output == *"slipway.yaml:"*"pipeline in AWS has no such key to sign with"*"awskms:///alias/NAME"* ]]
	[[ $output == *"no key is named by one"* ]]
	[[ $output == *"pipeline.staging is image.repository itself"* ]]
	local_spec 'sign: "-----BEGIN PRIVATE KEY-----"' 'staging: "a b"'
	run "$SLIPWAY" render
	[ "$status" -eq 3 ]
	[[ $output == *"is a key itself, which belongs in no spec"* ]]
	[[ $output == *"is not a repository"* ]]
}

# ---- the documents, held against what AWS and GitHub say of them ----

# checked COMMAND...: status 77 of a checker means that what it reads by is not here.
checked() {
	run "$@"
	echo "$output" | tail -n 20
	[ "$status" -ne 77 ] || skip "${output##*$'\n'}"
	[ "$status" -eq 0 ]
}

# documents: every spec's documents as JSON in out/SPEC; the templates among them are in TEMPLATES.
documents() {
	local spec
	for spec in "$ROOT/slipway.yaml" "$ROOT"/tests/golden/fleet/*.yaml; do
		"$SLIPWAY" render -f "$spec" --format json -o "out/$(basename "$spec" .yaml)" >/dev/null
	done
	mapfile -t TEMPLATES < <(grep -rl AWSTemplateFormatVersion out)
	[ "${#TEMPLATES[@]}" -ge 27 ]
}

@test "pipeline: every template of every spec is what CloudFormation takes" {
	need npm
	documents
	checked "$ROOT/tests/pipeline/install-npm"
	checked "$ROOT/tests/pipeline/check-template" "${TEMPLATES[@]}"
	[[ $output == *"${#TEMPLATES[@]} templates, 0 problems"* ]]
	# Small enough to be deployed without a bucket (CloudFormation's limit on a template's body).
	for spec in "$ROOT/slipway.yaml" "$PIPELINE"; do
		"$SLIPWAY" render -f "$spec" --only pipeline -o yaml >/dev/null
		[ "$(wc -c <yaml/80-pipeline/pipeline.yaml)" -lt 51200 ]
	done
}

@test "pipeline: the checkers of templates and policies find each of sixty breaks" {
	need npm
	checked "$ROOT/tests/pipeline/install-npm"
	"$SLIPWAY" render -f "$PIPELINE" --only pipeline --format json -o out >/dev/null
	checked "$ROOT/tests/pipeline/check-test" out/80-pipeline/pipeline.json
	[ "${output%% *}" -ge 60 ]
}

@test "pipeline: nothing is allowed on * but what AWS allows only there, in no template and by no policy of iam" {
	documents
	for purpose in push pull create scan sign verify; do
		"$SLIPWAY" iam "$purpose" 123456789012.dkr.ecr.us-west-2.amazonaws.com/team/app >"iam-$purpose.json"
		[[ $purpose =~ scan|sign ]] || "$SLIPWAY" iam "$purpose" public.ecr.aws/team/app >"public-$purpose.json"
	done
	run "$ROOT/tests/pipeline/check-policies" --complete "${TEMPLATES[@]}" iam-*.json public-*.json
	echo "$output" | tail -n 20
	[ "$status" -eq 0 ]
	[ "$(grep -oE '[0-9]+ policies' <<<"$output" | cut -d' ' -f1)" -ge 130 ]
	# The trust that the documents tell to give to GitHub's role.
	awk '/^```json$/ {on = 1; next} /^```$/ {on = 0} on' "$ROOT/docs/PIPELINE.md" >trust.json
	"$ROOT/tests/pipeline/check-policies" trust.json
	sed 's/StringEquals/StringLike/; s/:ref:refs.*"$/:*"/' trust.json >loose.json
	run "$ROOT/tests/pipeline/check-policies" loose.json
	[ "$status" -eq 1 ]
	sed 's/"Resource": "arn:[^"]*"/"Resource": "*"/' iam-push.json >planted.json
	run "$ROOT/tests/pipeline/check-policies" planted.json
	[ "$status" -eq 1 ]
	[[ $output == *"ecr:PutImage is allowed on *"* ]]
}

@test "pipeline: each role has what its step needs, and not what another step does" {
	"$SLIPWAY" render -f "$PIPELINE" --only pipeline --format json -o out >/dev/null
	python3 - out/80-pipeline/pipeline.json <<'EOS'
import json, sys

resources = json.load(open(sys.argv[1]))["Resources"]
roles = {n: r["Properties"] for n, r in resources.items() if r["Type"] == "AWS::IAM::Role"}
assert len(roles) == 7, sorted(roles)
allowed = {n: {a for s in r["Policies"][0]["PolicyDocument"]["Statement"] for a in s["Action"]} for n, r in roles.items()}
# Each role is one project's alone, reads the source and what it is given, and writes what it makes.
def objects(role, sid):
    return [r["Fn::Sub"].split("/", 1)[1] for s in roles[role]["Policies"][0]["PolicyDocument"]["Statement"] if s["Sid"] == sid for r in s["Resource"]]
steps = {"BuildAmd64": [], "BuildArm64": [], "Index": ["BuildAmd64", "BuildArm64"], "Check": ["Index"], "Release": ["Check"], "Deploy": ["Release"]}
for step, inputs in steps.items():
    assert objects(step + "Role", "Inputs") == [f"perceiver/{a}/*" for a in ["Source", *inputs]], step
    assert objects(step + "Role", "Output") == ([] if step == "Deploy" else [f"perceiver/{step}/*"]), step
    source = roles[step + "Role"]["AssumeRolePolicyDocument"]["Statement"][0]["Condition"]["StringEquals"]["aws:SourceArn"]["Fn::Sub"]
    assert source.endswith(":project/" + resources[step]["Properties"]["Name"]), source
for name in ("build-amd64", "build-arm64"):
    role = name.title().replace("-", "") + "Role"
    assert objects(role, "CacheRead") == objects(role, "CacheWrite") == [name + "/*"], role
assert roles["PipelineRole"]["AssumeRolePolicyDocument"]["Statement"][0]["Condition"]["StringEquals"]["aws:SourceArn"]["Fn::Sub"].endswith(":perceiver")
# Only the release writes where tags are, and only it signs.
to = "arn:aws:ecr:us-west-2:123456789012:repository/team/perceiver"
written = {n: {s["Resource"] for s in r["Policies"][0]["PolicyDocument"]["Statement"] if "ecr:PutImage" in s["Action"]} for n, r in roles.items()}
assert written == {"BuildAmd64Role": {to + "-build"}, "BuildArm64Role": {to + "-build"}, "IndexRole": {to + "-build"}, "ReleaseRole": {to},
                   "CheckRole": set(), "DeployRole": set(), "PipelineRole": set()}, written
assert [n for n, a in allowed.items() if "kms:Sign" in a] == ["ReleaseRole"]
key = resources["SigningKey"]["Properties"]
assert key["KeyUsage"] == "SIGN_VERIFY" and resources["SigningKey"]["DeletionPolicy"] == "Retain"
signers = [s["Principal"] for s in key["KeyPolicy"]["Statement"] if "kms:Sign" in s["Action"]]
assert signers == [{"AWS": {"Fn::GetAtt": ["ReleaseRole", "Arn"]}}], signers
assert resources["SigningAlias"]["Properties"]["AliasName"] == "alias/perceiver-release"
assert "eks:DescribeCluster" in allowed["DeployRole"] and "eks:DescribeCluster" not in allowed["CheckRole"]
assert "ecr:DescribeImageScanFindings" in allowed["CheckRole"] - allowed["IndexRole"]
assert "codebuild:StartBuild" in allowed["PipelineRole"] and not any(a.startswith("ecr:") for a in allowed["PipelineRole"])
for name, r in resources.items():
    p = r["Properties"]
    if r["Type"] == "AWS::S3::Bucket":
        assert all(p["PublicAccessBlockConfiguration"].values()) and p["BucketEncryption"], name
        assert p["LifecycleConfiguration"]["Rules"][0]["ExpirationInDays"], name
    if r["Type"] == "AWS::Logs::LogGroup":
        assert p["RetentionInDays"] == 30
    if r["Type"] == "AWS::CodeBuild::Project":
        assert p["EncryptionKey"] and p["LogsConfig"]["CloudWatchLogs"]["GroupName"]["Ref"] == name + "Logs"
        assert ("Cache" in p) == name.startswith("Build"), name
repository = resources["Repository"]["Properties"]
assert repository["ImageTagMutability"].startswith("IMMUTABLE") and repository["ImageScanningConfiguration"]["ScanOnPush"]
assert json.loads(repository["LifecyclePolicy"]["LifecyclePolicyText"])["rules"]
assert resources["Pipeline"]["Properties"]["ArtifactStore"]["EncryptionKey"]["Type"] == "KMS"
stages = [s["Name"] for s in resources["Pipeline"]["Properties"]["Stages"]]
assert stages == ["Source", "Build", "Index", "Check", "Release", "Approve", "Deploy"], stages
types = [a["Name"] for a in resources["Pipeline"]["Properties"]["Stages"][1]["Actions"]]
assert types == ["BuildAmd64", "BuildArm64"] and not any("RunOrder" in a for s in resources["Pipeline"]["Properties"]["Stages"] for a in s["Actions"])
EOS
}

@test "pipeline: a step may read the release of its own architecture, where that is in S3" {
	"$SLIPWAY" render -f "$ROOT/tests/golden/fleet/pipeline-plain.yaml" --only pipeline --format json -o out >/dev/null
	python3 - out/80-pipeline/pipeline.json <<'EOS'
import json, sys

resources = json.load(open(sys.argv[1]))["Resources"]
for step, arch in {"BuildAmd64": "amd64", "BuildArm64": "arm64", "Index": "amd64", "Check": "amd64", "Release": "amd64"}.items():
    statements = resources[step + "Role"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]
    (own,) = [s for s in statements if s["Sid"] == "Programs"]
    assert own["Action"] == ["s3:GetObject"], own
    assert own["Resource"] == [{"Fn::Sub": f"arn:${{AWS::Partition}}:s3:::org-tools/slipway-0.1.0-linux-{arch}.tar.gz"}], own
EOS
}

@test "pipeline: a deploy that holds the image against trust may read what it asks for, and no more" {
	mkdir -p trusting
	cp -r "$(dirname "$PIPELINE")/." trusting
	cat >>"trusting/$(basename "$PIPELINE")" <<-'EOS'
		trust:
		- keys: [awskms:///alias/perceiver-release, release.pub]
		  provenance: {builder: 'arn:aws:codebuild:*', keys: [awskms:///1234]}
		  vulnerabilities: {severity: high}
	EOS
	for file in "$PIPELINE" "trusting/$(basename "$PIPELINE")"; do
		"$SLIPWAY" render -f "$file" --only pipeline --format json -o out >/dev/null
		json '{s["Sid"]: s["Action"] for s in d["Resources"]["DeployRole"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]}' <out/80-pipeline/pipeline.json >>allowed
		rm -r out
	done
	python3 - allowed <<'EOS'
import ast, sys

plain, trusting = map(ast.literal_eval, open(sys.argv[1]))
more = {sid: actions for sid, actions in trusting.items() if sid not in plain}
assert more == {
    "Token": ["ecr:GetAuthorizationToken"],
    "Pull": ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
    "Findings": ["ecr:DescribeImageScanFindings"],
    "VerifyingKey1": ["kms:GetPublicKey"],
    "VerifyingKey2": ["kms:GetPublicKey"],
}, more
EOS
}

@test "pipeline: buildspecs and workflow are what CodeBuild and GitHub read, and the template holds the same" {
	for spec in "$ROOT/slipway.yaml" "$PIPELINE" "$ROOT/tests/golden/fleet/pipeline-plain.yaml"; do
		"$SLIPWAY" render -f "$spec" --only pipeline --format json -o "out/$(basename "$spec" .yaml)" >/dev/null
	done
	checked "$ROOT/tests/pipeline/check-buildspec" out/*/80-pipeline/buildspec-*.json
	for break in 's/"0.2"/"0.3"/' 's/"commands"/"command"/' 's/"on-failure": *"ABORT"/"on-failure": "STOP"/' 's/"shell"/"shel"/' \
		's/"privileged-mode": *false/"privileged-mode": true/' 's/"type": *"ARM_CONTAINER"/"type": "ARM"/' 's/"Index"/"BuildArm64"/'; do
		sed "$break" out/pipeline/80-pipeline/buildspec-batch.json >broken-batch.json
		sed "$break" out/pipeline/80-pipeline/buildspec-index.json >broken-step.json
		run "$ROOT/tests/pipeline/check-buildspec" broken-batch.json broken-step.json
		echo "$break: $output"
		[ "$status" -eq 1 ]
	done
	python3 - out/*/80-pipeline <<'EOS'
import json, sys, yaml

for folder in sys.argv[1:]:
    resources = json.load(open(folder + "/pipeline.json"))["Resources"]
    for name, r in resources.items():
        if r["Type"] == "AWS::CodeBuild::Project":
            step = r["Properties"]["LogsConfig"]["CloudWatchLogs"]["GroupName"]["Ref"]
            own = resources[step]["Properties"]["LogGroupName"].split("/")[-1]
            short = next(s for s in ("build-amd64", "build-arm64", "index", "check", "release", "deploy") if own.endswith("-" + s))
            assert yaml.safe_load(r["Properties"]["Source"]["BuildSpec"]) == json.load(open(f"{folder}/buildspec-{short}.json"))
EOS
	need npm
	checked "$ROOT/tests/pipeline/install-npm"
	workflow=out/pipeline/80-pipeline/github-workflow.json broken=()
	checked "$ROOT/tests/pipeline/check-workflow" "$workflow"
	for break in 's/"runs-on"/"run-on"/' 's/"contents": *"read"/"contents": "admin"/' 's/@11bd[0-9a-f]*/@v4/' 's/"id-token"/"packages-all"/' \
		's/"timeout-minutes": *60/"timeout-minutes": true/' 's/"needs"/"need"/' 's/^\( *\)"build-arm64": {/\1"build-riscv": {/'; do
		broken+=("broken-${#broken[@]}.json")
		sed "$break" "$workflow" >"${broken[-1]}"
	done
	run "$ROOT/tests/pipeline/check-workflow" "${broken[@]}"
	echo "$output"
	[ "$status" -eq 1 ]
	for break in "${broken[@]}"; do [[ $output == *"$break: "* ]]; done
}

@test "pipeline: moto makes the stacks, with what they name, and takes them away" {
	need moto_server
	need aws
	for name in pipeline pipeline-plain; do
		"$SLIPWAY" render -f "$ROOT/tests/golden/fleet/$name.yaml" --format json -o "out/$name" >/dev/null
	done
	unset "${!AWS_@}"
	export AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=y AWS_DEFAULT_REGION=us-west-2 AWS_PAGER='' AWS_EC2_METADATA_DISABLED=true
	port=$((20000 + RANDOM % 20000))
	moto_server -H 127.0.0.1 -p "$port" >moto.log 2>&1 3>&- &
	PIDS+=($!)
	for ((i = 0; i < 150; i++)); do
		curl -sf -o /dev/null "http://127.0.0.1:$port/moto-api/" && break
		sleep 0.2
	done
	moto() { aws --endpoint-url "http://127.0.0.1:$port" --output text "$@"; }
	for name in pipeline/80-pipeline/pipeline pipeline-plain/80-pipeline/pipeline pipeline/01-account/karpenter; do
		"$ROOT/tests/pipeline/for-moto" "out/$name.json" >template.json
		moto cloudformation create-stack --stack-name stack --capabilities CAPABILITY_NAMED_IAM --template-body file://template.json
		[ "$(moto cloudformation describe-stacks --stack-name stack --query 'Stacks[0].StackStatus')" = CREATE_COMPLETE ]
		moto cloudformation list-stack-resources --stack-name stack --query 'StackResourceSummaries[].[LogicalResourceId]' | sort >made
		diff <(json '"\n".join(sorted(d["Resources"]))' <template.json) made
		case $name in
		pipeline/80*)
			# What the substitutions came to.
			role=$(moto iam list-roles --query 'Roles[].[RoleName]' | grep CheckRole)
			bucket=$(moto s3api list-buckets --query 'Buckets[].[Name]' | grep -i artifacts)
			moto --output json iam get-role-policy --role-name "$role" --policy-name check >policy.json
			grep -qF "arn:aws:s3:::$bucket/perceiver/Check/*" policy.json
			run ! grep -qF 'Fn::' policy.json
			[[ $(moto ecr describe-repositories --query 'repositories[].[repositoryName]' | sort | tr '\n' ' ') == "team/perceiver team/perceiver-build " ]]
			[ "$(moto logs describe-log-groups --query 'length(logGroups[?retentionInDays==`30`])')" = 6 ]
			moto s3api get-bucket-encryption --bucket "$bucket" | grep -q aws:kms
			;;
		esac
		moto cloudformation delete-stack --stack-name stack
		run moto cloudformation describe-stacks --stack-name stack
		[[ $output == *"does not exist"* || $output == *DELETE_COMPLETE* ]]
		[ -z "$(moto iam list-roles --query 'Roles[].[RoleName]' | grep -E 'CheckRole|Karpenter' || true)" ]
	done
}

# ---- from commit to cluster ----

# fleet_spec: local_spec with a cluster to deploy to; kubectl and aws are stand-ins.
fleet_spec() {
	local_spec 'deploy: true' "$@"
	sed -i 's/^  platforms:/  tags: [latest]\n&/' slipway.yaml
	cat >>slipway.yaml <<-EOS
		cluster: {name: sample, region: us-west-2, zone: us-west-2d}
		fleet:
		  g5g: {weight: 20}
		job: {nodes: 1, command: [/opt/note]}
	EOS
	printf '%s\n' bin kube registry registry.yml docker-registry.log cache home s3 out calls log documents >.gitignore
	mkdir -p bin kube s3
	ln -s "$SLIPWAY" bin/slipway
	# s3 cp between a bucket, which is the folder s3/, and here; and the cluster's access.
	cat >bin/aws <<-EOS
		#!/bin/bash
		set -euo pipefail
		echo "\$*" >>"$WORK/calls"
		[[ \$1 != eks ]] || exit 0
		[[ "\$1 \$2" == "s3 cp" ]]
		shift 2
		[[ \$1 != --recursive ]] || shift
		from=\${1/#s3:\/\//$WORK/s3/} to=\${2/#s3:\/\//$WORK/s3/}
		mkdir -p "\$(dirname "\$to")"
		cp -r "\$from" "\$to"
	EOS
	chmod +x bin/aws
	export KUBECTL=$ROOT/tests/servers/fakekubectl FAKEKUBE=$WORK/kube PATH=$WORK/bin:$PATH
}

@test "pipeline: a local run goes on to deploy the digest that passed, when it is asked to" {
	start_registry
	need git
	fleet_spec
	git init -q .
	run --separate-stderr "$SLIPWAY" pipeline run --local
	echo "$stderr"
	[ "$status" -eq 0 ]
	[[ $output == *"deploy       skipped; --deploy runs it"* ]]
	[ ! -e kube/objects.json ]
	run --separate-stderr "$SLIPWAY" pipeline run --local --deploy
	echo "$stderr"
	[ "$status" -eq 0 ]
	digest=${lines[-1]}
	grep -qx 'eks update-kubeconfig --name sample --region us-west-2' calls
	# The job that the cluster got names this digest and no tag.
	run bash -c 'grep -oE "\"image\": \"[^\"]*team/app[^\"]*" kube/objects.json | grep -oE "@.*" | sort -u'
	[ "$output" = "@$digest" ]
}

@test "pipeline: what passed is signed before a tag names it, and builds set no tag" {
	start_registry
	need git
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$WORK/release.pem" 2>/dev/null
	openssl pkey -in "$WORK/release.pem" -pubout -out release.pub
	local_spec "sign: $WORK/release.pem"
	sed -i 's/^  platforms:/  provenance: true\n  sbom: true\n&/' slipway.yaml
	printf '%s\n' release.pem registry registry.yml docker-registry.log cache home >.gitignore
	git init -q . && git add slipway.yaml .gitignore && git -c user.name=t -c user.email=t@t commit -qm one
	# A signature that fails leaves the image without a name.
	run "$SLIPWAY" pipeline run --local --set "pipeline.sign=$WORK/missing.pem"
	[ "$status" -eq 1 ]
	[[ $output == *"step 'release'"* ]]
	run curl -s "http://$REG/v2/team/app/tags/list"
	[[ $output != *latest* ]]
	rm -r registry/docker/registry/v2/repositories
	run --separate-stderr "$SLIPWAY" pipeline run --local
	echo "$stderr"
	[ "$status" -eq 0 ]
	digest=${lines[-1]}
	# What builds, joins and checks writes names of no image, and signs nothing.
	run ! grep -E "(build|index|verify|copy).*team/app:|slipway sign" <<<"$(sed '/step release/,$d' <<<"$stderr")"
	[[ $stderr == *"slipway sign --key "*"slipway copy \"$REG/team/app@\$DIGEST\" \"$REG/team/app:\$TAG\""* ]]
	"$SLIPWAY" verify --insecure --progress none --recursive --key release.pub "$REG/team/app:latest" | tail -n 1 | grep -qx "$digest"
	run curl -s "http://$REG/v2/team/app-build/tags/list"
	[[ $output != *latest* && $output != *"$(git rev-parse HEAD | cut -c 1-12)"* ]]
	# The documents went along, and the image can be built again from the commit.
	"$SLIPWAY" sbom --insecure --progress none --platform linux/arm64 "$REG/team/app:latest" | grep -q SPDXRef-DOCUMENT
	"$SLIPWAY" verify --insecure --progress none --rebuild --run-build "$REG/team/app:latest" | grep -q "^proved: "
	# image.sign serves as well, and the builds do not use it.
	sed -i "/^  sign:/d; s|^  platforms:|  sign: {key: $WORK/release.pem, annotations: {stage: release}}\n&|" slipway.yaml
	run "$SLIPWAY" pipeline run --dry-run
	[[ $output == *"slipway sign --key '$WORK/release.pem' --annotation 'stage=release'"* ]]
	[ "$(grep -c -- --no-sign <<<"$output")" -eq 2 ]
}

@test "pipeline: an image that fails the check is not deployed" {
	start_registry
	need git
	fleet_spec
	git init -q .
	cp "$SLIPWAY" program # an x86 program in the arm64 image
	sed -i 's|from: "out/${arch}/note"|from: program|; s|to: /opt/note|to: /opt/program|' slipway.yaml
	run "$SLIPWAY" pipeline run --local --deploy
	[ "$status" -eq 1 ]
	[ ! -e kube/objects.json ]
	[ ! -e calls ]
}

@test "pipeline: what is rendered does the same as the local run: as CodePipeline, as a batch, on GitHub" {
	start_registry
	need git
	fleet_spec 'github: true'
	git init -q . && git add slipway.yaml .gitignore && git -c user.name=t -c user.email=t@t commit -qm one
	commit=$(git rev-parse HEAD)
	digest=$("$SLIPWAY" pipeline run --local 2>log | tail -n 1)
	[[ $digest == sha256:* ]]
	"$SLIPWAY" render --only pipeline --format json -o documents >/dev/null
	git clone -q . tree
	for kind in codepipeline batch github; do
		rm -rf registry/docker/registry/v2/repositories kube/objects.json s3/*
		# Each starts with an empty machine.
		JOB_PATH=$PATH XDG_CACHE_HOME=$WORK/cache-$kind run "$ROOT/tests/pipeline/run-as" $kind documents/80-pipeline tree "$commit"
		[ "$status" -ne 77 ] || skip "$output"
		echo "$kind: $output"
		[ "$status" -eq 0 ]
		[ "${lines[-1]}" = "$digest" ]
		for tag in latest "${commit:0:12}"; do
			[[ $(root_of --insecure "$REG/team/app:$tag") == *"${digest:0:19}"* ]]
		done
		# A batch has no approval, so it ends before the cluster.
		if [ $kind = batch ]; then [ ! -e kube/objects.json ]; else grep -qF "@$digest" kube/objects.json; fi
	done
}

@test "pipeline: against ECR: two builders, one index, the scan's gate, with no more than the rendered roles allow" {
	host=123456789012.dkr.ecr.us-west-2.amazonaws.com
	self_signed "$host" api.ecr.us-west-2.amazonaws.com layers.us-west-2.amazonaws.com localhost
	unset "${!AWS_@}"
	export AWS_EC2_METADATA_DISABLED=true AWS_ACCESS_KEY_ID=AKIATESTUSER00000001 AWS_SECRET_ACCESS_KEY=planted/Secret
	mkdir tree && cd tree
	REG=$host
	local_spec
	sed -i '/options:/d' slipway.yaml
	"$SLIPWAY" render --only pipeline --format json -o ../documents >/dev/null
	# The registry's statements of a step's role, which name it by ARN.
	python3 - ../documents/80-pipeline/pipeline.json >../config.json <<'EOS'
import json, sys
resources = json.load(open(sys.argv[1]))["Resources"]
def role(*names):
    return {"Version": "2012-10-17", "Statement": [
        s for n in names for s in resources[n]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"] if s["Action"][0].startswith("ecr:")]}

def user(name, policy):
    return {"secret": "planted/Secret", "arn": "arn:aws:iam::123456789012:user/" + name, "policy": policy}

# In a local run one user stands for all machines: what each of them may do. Then each step has its own.
roles = {"build": "BuildAmd64Role", "index": "IndexRole", "check": "CheckRole", "release": "ReleaseRole"}
users = {"AKIATESTUSER00000001": user("ci", role(*roles.values()))}
users.update({f"AKIATESTUSER0000{i:04}": user(n, role(r)) for i, (n, r) in enumerate(roles.items(), 2)})
repository = resources["Repository"]["Properties"]
print(json.dumps({
    "s3_host": "layers.us-west-2.amazonaws.com", "users": users,
    "repositories": [{"name": repository["RepositoryName"], "region": "us-west-2",
                      "imageTagMutability": repository["ImageTagMutability"],
                      "imageTagMutabilityExclusionFilters": [{"filterType": "WILDCARD", "filter": f["ImageTagMutabilityExclusionFilterValue"]}
                                                             for f in repository["ImageTagMutabilityExclusionFilters"]]},
                     {"name": resources["StagingRepository"]["Properties"]["RepositoryName"], "region": "us-west-2"}],
    "scan": {"always": True, "statuses": ["PENDING", "COMPLETE"], "findings": {"HIGH": 1, "LOW": 3}}}))
EOS
	cd ..
	start_fakeaws --cert cert.pem --key key.pem
	options="pipeline.options=[--ca=$WORK/cert.pem,'--connect-to=:443:127.0.0.1:$HTTPS_PORT']"
	# HIGH findings, and HIGH is what stops it: no tag.
	run "$SLIPWAY" pipeline run --local -f tree/slipway.yaml --set "$options" --set pipeline.severity=HIGH
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"2 findings of severity HIGH or worse"*"step 'check'"* ]]
	repository='d["repositories"]["123456789012/us-west-2/team/app"]'
	[ "$(state "$repository['tags']")" = '{}' ]
	[ "$(state "d['repositories']['123456789012/us-west-2/team/app-build']['tags']")" = '{}' ]
	# CRITICAL ones would, and there are none.
	run --separate-stderr "$SLIPWAY" pipeline run --local -f tree/slipway.yaml --set "$options"
	echo "$stderr"
	[ "$status" -eq 0 ]
	digest=${lines[-1]}
	[ "$(state "set($repository['tags'].values())")" = "{'$digest'}" ]
	[ "$(state "sorted($repository['tags'])")" = "['000000000000', 'latest']" ]
	# A second run finds the commit's tag where it belongs, though it may not move.
	[ "$("$SLIPWAY" pipeline run --local -f tree/slipway.yaml --set "$options" 2>/dev/null | tail -n 1)" = "$digest" ]
	# Each step with its own role's permissions and no others.
	git init -q tree && git -C tree add . && git -C tree -c user.name=t -c user.email=t@t commit -qm one
	commit=$(git -C tree rev-parse HEAD)
	"$SLIPWAY" render -f tree/slipway.yaml --set "$options" --only pipeline --format json -o own >/dev/null
	mkdir bin
	cat >bin/slipway <<-EOS
		#!/bin/bash
		declare -A users=([build]=2 [index]=3 [verify]=4 [scan]=4 [copy]=5)
		export AWS_ACCESS_KEY_ID=AKIATESTUSER0000000\${users[\$1]}
		exec "$SLIPWAY" "\$@"
	EOS
	chmod +x bin/slipway
	JOB_PATH=$WORK/bin:$PATH run "$ROOT/tests/pipeline/run-as" codepipeline own/80-pipeline tree "$commit"
	[ "$status" -ne 77 ] || skip "$output"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(state "sorted($repository['tags'])")" = "['000000000000', '${commit:0:12}', 'latest']" ] ||
		[ "$(state "sorted($repository['tags'])")" = "['${commit:0:12}', '000000000000', 'latest']" ]
	# Who builds cannot write where tags are.
	run env AWS_ACCESS_KEY_ID=AKIATESTUSER00000002 "$SLIPWAY" copy --ca "$WORK/cert.pem" --connect-to ":443:127.0.0.1:$HTTPS_PORT" \
		"$host/team/app-build@$digest" "$host/team/app:mine"
	echo "$output"
	[ "$status" -eq 4 ]
	run ! grep -rl planted "$WORK" --include='*.out' --include='*.log'
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

@test "pipeline: on a fresh CodeBuild machine as root, and on a runner with sudo, slipway is fetched, verified, logged in and used" {
	[ "$EUID" -eq 0 ] || skip "a root of its own needs root"
	need git && need htpasswd && need setpriv
	unshare -m true 2>/dev/null || skip "no mount namespaces here"
	printf 'robot:%s\n' "$(htpasswd -nbB robot planted-token | cut -d: -f2)" >htpasswd
	start_registry "auth: {htpasswd: {realm: test, path: $WORK/htpasswd}}"
	local_spec 'github: true'
	# A release on a server of its own; one program stands for both machines.
	make_certificate
	mkdir -p www top/bin && cp "$SLIPWAY" top/bin/slipway
	tar -czf www/slipway-9-linux-amd64.tar.gz --transform 's|^top|slipway-9-linux-amd64|' top
	cp www/slipway-9-linux-amd64.tar.gz www/slipway-9-linux-arm64.tar.gz
	port=$((20000 + RANDOM % 20000))
	(cd www && exec openssl s_server -accept "127.0.0.1:$port" -WWW -cert ../cert.pem -key ../key.pem >/dev/null 2>&1 3>&-) &
	PIDS+=($!)
	sum=$(sha256sum <www/slipway-9-linux-amd64.tar.gz | cut -d ' ' -f 1)
	sed -i "s|^  install: .*|  slipway: {url: \"https://localhost:$port/slipway-9-linux-\${arch}.tar.gz\", amd64: $sum, arm64: $sum}\n  install: [\"touch of-root\"]|" slipway.yaml
	sed -i 's|"mkdir -p out|"test -e of-root \&\& echo >>of-root \&\& ! env \| grep -q planted", &|' slipway.yaml
	printf '%s\n' '*' '!slipway.yaml' '!.gitignore' >.gitignore
	git init -q . && git add slipway.yaml .gitignore && git -c user.name=t -c user.email=t@t commit -qm one
	"$SLIPWAY" render --only pipeline --format json -o documents >/dev/null
	git clone -q . tree
	chmod 755 .
	# A machine: nothing of ours in /opt and /usr/local/bin, and the server's authority among the known ones.
	fresh() {
		# shellcheck disable=SC2016 # the inner shell's
		unshare -m bash -euc '
			mount --make-rprivate /
			mount -t tmpfs none /opt
			mkdir -p /tmp/slipway-cache && mount -t tmpfs -o mode=1777 none /tmp/slipway-cache
			mount -t tmpfs -o mode=755 none /usr/local/bin
			mount --bind "$1" /etc/ssl/certs/ca-certificates.crt
			shift
			exec "$@"' fresh "$WORK/ca.pem" env -u DOCKER_CONFIG -u XDG_CACHE_HOME \
			JOB_PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
	}
	mkdir runner && chown 1000 runner
	run fresh RUNNER_UID=1000 HOME="$WORK/runner" SECRETS='{"REGISTRY_USERNAME": "robot", "REGISTRY_PASSWORD": "planted-token"}' \
		"$ROOT/tests/pipeline/run-as" github documents/80-pipeline tree "$(git rev-parse HEAD)"
	echo "$output"
	[ "$status" -eq 0 ]
	digest=${lines[-1]}
	[[ $digest == sha256:* && $output != *planted* ]]
	curl -sf -u robot:planted-token -o /dev/null "http://$REG/v2/team/app/manifests/latest" -H 'Accept: application/vnd.oci.image.index.v1+json'
	# CodeBuild's steps are root's; the login is the project's.
	rm -r registry/docker/registry/v2/repositories
	mkdir -p root/.docker
	printf '{"auths": {"%s": {"auth": "%s"}}}' "$REG" "$(printf 'robot:planted-token' | base64 -w 0)" >root/.docker/config.json
	run fresh HOME="$WORK/root" "$ROOT/tests/pipeline/run-as" codepipeline documents/80-pipeline tree "$(git rev-parse HEAD)"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "$digest" ]
	# A file that is another ends the run before it is unpacked; without a name nobody is logged in.
	printf x >>www/slipway-9-linux-amd64.tar.gz
	run fresh HOME="$WORK/root" "$ROOT/tests/pipeline/run-as" codepipeline documents/80-pipeline tree "$(git rev-parse HEAD)"
	[ "$status" -eq 1 ]
	[[ $output == *"/tmp/slipway.download: FAILED"* && $output != *"slipway build"* ]]
}
