#!/usr/bin/env bats
# What the documents tell people to type works, as far as a machine without AWS can go; what they link to is there.

load lib

setup() { common_setup; }
teardown() { common_teardown; }

HOST=123456789012.dkr.ecr.us-west-2.amazonaws.com

# marked [MARK]: the lines of the tutorial's blocks that follow a mark, in order.
marked() {
	awk -v mark="${1:-}" '/^<!-- (runs anywhere|with stand-ins) -->$/ {m = mark == "" || index($0, mark)}
		/^```sh$/ && m {on = 1; next} /^```$/ {on = 0; m = 0} on' "$ROOT/docs/TUTORIAL.md"
}

# tree: what somebody has who has built it.
tree() {
	local arch
	for arch in amd64 arm64; do
		[ -e "$ROOT/build/$arch/slipway-trainer" ] || skip "the trainer is not built"
		mkdir -p "build/$arch"
		cp "$ROOT/build/$arch/slipway-trainer" "build/$arch/"
		[ -e "$ROOT/build/sysroot-mpi-$arch/.complete" ] || skip "the root of MPICH's packages is not made"
		ln -s "$ROOT/build/sysroot-mpi-$arch" build/
	done
	cp "$ROOT/slipway.yaml" "$ROOT/LICENSE" .
	mkdir bin
}

@test "tutorial: what runs anywhere runs, in order" {
	tree
	ln -s "$SLIPWAY" bin/slipway
	marked "runs anywhere" >script
	[ "$(wc -l <script)" -ge 12 ]
	PATH=$WORK/bin:$PATH run bash -euxo pipefail script
	echo "$output"
	[ "$status" -eq 0 ]
	[ -e deploy/80-pipeline/pipeline.yaml ]
	[ -e try/step-00000020/model.safetensors ]
}

# stand_ins: an ECR, a cluster, and an aws, eksctl and helm that look at what they are given and note it in calls.
stand_ins() {
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -keyout key.pem -out cert.pem 2>/dev/null \
		-addext "subjectAltName=DNS:$HOST,DNS:api.ecr.us-west-2.amazonaws.com,DNS:sts.us-west-2.amazonaws.com,DNS:layers.us-west-2.amazonaws.com,DNS:localhost"
	cat >config.json <<-EOS
		{"s3_host": "layers.us-west-2.amazonaws.com", "users": {"AKIATESTUSER00000001": {"secret": "planted/Secret", "arn": "arn:aws:iam::123456789012:user/you"}}, "repositories": []}
	EOS
	unset "${!AWS_@}"
	export AWS_EC2_METADATA_DISABLED=true AWS_ACCESS_KEY_ID=AKIATESTUSER00000001 AWS_SECRET_ACCESS_KEY=planted/Secret
	export AWS_REGION=us-west-2
	start_fakeaws --cert cert.pem --key key.pem
	# Commands that reach ECR reach the stand-in.
	cat >bin/slipway <<-EOS
		#!/bin/bash
		case \$1 in
		push | doctor | deploy) exec "$SLIPWAY" "\$@" --ca "$WORK/cert.pem" --connect-to ":443:127.0.0.1:$HTTPS_PORT" ;;
		*) exec "$SLIPWAY" "\$@" ;;
		esac
	EOS
	for tool in aws eksctl helm; do
		cat >"bin/$tool" <<-EOS
			#!/bin/bash
			echo "$tool \$*" >>"$WORK/calls"
			# A file that it is to read must be there and be what it is for.
			while ((\$#)); do
				case \$1 in
				-f) grep -q '^kind: ClusterConfig' "\$2" || exit 1 ;;
				--template-file) grep -q '^AWSTemplateFormatVersion' "\$2" || exit 1 ;;
				esac
				shift
			done
		EOS
	done
	export KUBECTL=$ROOT/tests/servers/fakekubectl FAKEKUBE=$WORK/kube
	mkdir kube
	# The two questions of a person, which the stand-in for slipway's calls does not answer.
	cat >bin/kubectl <<-EOS
		#!/bin/bash
		echo "kubectl \$*" >>"$WORK/calls"
		case \$1 in
		delete) python3 -c 'import json; p = "$WORK/kube/objects.json"; d = json.load(open(p))
		d = {k: v for k, v in d.items() if not k.startswith("jobs.batch.volcano.sh|")}; json.dump(d, open(p, "w"))' ;;
		esac
	EOS
	chmod +x bin/*
}

@test "tutorial: from the empty account to both runs and back, with stand-ins for AWS and the cluster" {
	tree
	stand_ins
	marked | grep -v 'slipway-trainer train' >script
	[ "$(wc -l <script)" -ge 35 ]
	# What is in the cluster after each run.
	# shellcheck disable=SC2016 # the script expands it
	sed -i -E 's/^(slipway deploy --job (trn1|g5g))$/\1 | tee -a deploys; cp kube\/objects.json after-\2.json/' script
	PATH=$WORK/bin:$PATH run bash -euxo pipefail script
	echo "$output"
	[ "$status" -eq 0 ]
	digest=$("$SLIPWAY" inspect oci:build/image | head -n 1)
	[ "$(state 'd["repositories"]["123456789012/us-west-2/perceiver"]["tags"]["v1"]')" = "$digest" ]
	for target in trn1 g5g; do
		[ "$(json '[k.split("|")[2] for k in d if k.startswith("jobs.batch.volcano.sh|")]' <"after-$target.json")" = "['perceiver-$target']" ]
		grep -qF "@$digest" "after-$target.json"
	done
	[[ $(<deploys) == *"nothing to do: the cluster matches the spec"* ]]
	# In the end nothing of it is left, and every tool was asked.
	[ "$(json '[k for k in d if k.startswith(("nodepools", "jobs", "daemonsets"))]' <kube/objects.json)" = "[]" ]
	for call in "eksctl create cluster" "eksctl delete cluster" "helm upgrade --install karpenter" "aws s3 sync" "aws cloudformation delete-stack"; do
		grep -qF "$call" calls
	done
	run ! grep -r planted deploys calls deploy
}

@test "tutorial: make deploy DRY_RUN=server asks the cluster and changes nothing, make deploy deploys" {
	cp "$ROOT/slipway.yaml" "$ROOT/Makefile" .
	export KUBECTL=$ROOT/tests/servers/fakekubectl FAKEKUBE=$WORK/kube
	mkdir -p kube build
	ln -s "$SLIPWAY" build/slipway
	digest=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
	deploy() { make -s -o build/slipway "$@" ARGS="--image-digest $digest" 2>&1; }
	run deploy deploy DRY_RUN=server JOB=trn1
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"would run trn1"* ]]
	grep -q -- '--dry-run=server' kube/calls
	[ ! -e kube/objects.json ] || [ "$(json 'len(d)' <kube/objects.json)" = 0 ]
	rm kube/calls
	run make -s -o build/slipway deploy DRY_RUN=client
	[ "$status" -eq 0 ]
	[ ! -e kube/calls ]
	run deploy deploy JOB=g5g
	[ "$status" -eq 0 ]
	[[ $output == *"job g5g: "*"@$digest"* ]]
	run make -s -o build/slipway undeploy
	[[ $output == *"nothing was deleted"* ]]
	run make -s -o build/slipway undeploy YES=1
	[ "$status" -eq 0 ]
	grep -qF 'make deploy DRY_RUN=server' "$ROOT/docs/DEPLOY.md"
}

@test "documents: every command of slipway's in them exists, with its options" {
	grep -hoE '^(\$ )?slipway [a-z]+.*' "$ROOT/docs/TUTORIAL.md" "$ROOT/docs/PIPELINE.md" | sed 's/^\$ //' >lines
	[ "$(wc -l <lines)" -ge 20 ]
	while read -r _ command rest; do
		"$SLIPWAY" "$command" --help >help 2>/dev/null || { echo "no command: $command"; return 1; }
		for option in $(grep -oE -- ' --[a-z-]+' <<<" ${rest%%#*}"); do
			grep -q -- "$option" help || { echo "$command has no $option"; return 1; }
		done
	done <lines
}

@test "documents: every error that the code or a golden file knows has its entry" {
	run "$ROOT/tests/lint/error-pages"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "documents: a message, a table's row and a code without an entry are found, and pages out of date" {
	mkdir -p copy/tests/lint copy/base copy/builder copy/k8s
	cp -r "$ROOT/docs" copy/ && cp -r "$ROOT/tests/golden" copy/tests/ && cp "$ROOT/tests/lint/error-pages" copy/tests/lint/
	cp "$ROOT/base/err.c" copy/base/ && cp -r "$ROOT"/builder/{registry,aws,check} copy/builder/
	cp -r "$ROOT/k8s/deploy" copy/k8s/
	copy/tests/lint/error-pages
	missing() {
		run copy/tests/lint/error-pages
		echo "$output"
		[ "$status" -eq 1 ]
		[[ $output == *"$1"* ]]
	}
	echo "slipway: error: the moon is in the wrong phase" >copy/tests/golden/ecr/moon
	missing "no entry for: the moon"
	rm copy/tests/golden/ecr/moon
	sed -i 's/^> the AWS profile .*//' copy/docs/errors/aws.md
	missing "unknown-profile"
	cp "$ROOT/docs/errors/aws.md" copy/docs/errors/
	sed -i 's/{"http2: client connection lost"/{"http9: gone"/' copy/k8s/deploy/advice.c
	missing "no entry names: http9: gone"
	cp "$ROOT/k8s/deploy/advice.c" copy/k8s/deploy/
	sed -i 's/= "interrupted"/= "abducted"/' copy/base/err.c
	missing '`abducted`'
	cp "$ROOT/base/err.c" copy/base/
	printf '\n## Another\n' >>copy/docs/errors/registry.md
	missing "README.md is not what --write makes"
	copy/tests/lint/error-pages --write
	printf 'x.yaml:1:1: error: a new problem\n' >copy/tests/golden/spec/x.expect
	missing "spec.md is not what --write makes"
	rm copy/tests/golden/spec/x.expect
	printf '\n## Bare\n> a message without a word of advice\n' >>copy/docs/errors/registry.md
	missing "an entry without advice: Bare"
}

@test "documents: every link leads to a file that is there, and to a heading in it" {
	python3 - "$ROOT" <<'EOS'
import glob, os, re, sys

root, wrong, n = sys.argv[1], [], 0

def text(path):
    return re.sub(r"^```.*?^```$", "", open(path, encoding="utf-8").read(), flags=re.S | re.M)

def anchors(path):
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text(path), re.M)}

for path in [root + "/README.md", root + "/CONTRIBUTING.md", *glob.glob(root + "/docs/**/*.md", recursive=True)]:
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text(path))):
        if re.match(r"[a-z]+:", target):
            continue
        n += 1
        file, _, heading = target.partition("#")
        to = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not os.path.exists(to) or heading and heading not in anchors(to):
            wrong.append(f"{path}: {target}")
print("\n".join(wrong))
assert n > 100 and not wrong, (n, len(wrong))
EOS
}
