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

# account: an aws, eksctl and helm with an account behind them.
account() {
	local tool
	mkdir -p bin account
	export FAKEACCOUNT=$WORK/account
	for tool in aws eksctl helm; do ln -s "$ROOT/tests/servers/fakeaccount" "bin/$tool"; done
}

# stand_ins: an ECR, a cluster and an account.
stand_ins() {
	self_signed "$HOST" api.ecr.us-west-2.amazonaws.com sts.us-west-2.amazonaws.com layers.us-west-2.amazonaws.com localhost
	cat >config.json <<-EOS
		{"s3_host": "layers.us-west-2.amazonaws.com", "users": {"AKIATESTUSER00000001": {"secret": "planted/Secret", "arn": "arn:aws:iam::123456789012:user/you"}}, "repositories": []}
	EOS
	unset "${!AWS_@}"
	export AWS_EC2_METADATA_DISABLED=true AWS_ACCESS_KEY_ID=AKIATESTUSER00000001 AWS_SECRET_ACCESS_KEY=planted/Secret
	start_fakeaws --cert cert.pem --key key.pem
	account
	echo "$URL" >account/ecr
	# Commands that reach ECR reach the stand-in.
	cat >bin/slipway <<-EOS
		#!/bin/bash
		case \$1 in
		push | doctor | deploy) exec "$SLIPWAY" "\$@" --ca "$WORK/cert.pem" --connect-to ":443:127.0.0.1:$HTTPS_PORT" ;;
		*) exec "$SLIPWAY" "\$@" ;;
		esac
	EOS
	export KUBECTL=$WORK/bin/kube FAKEKUBE=$WORK/kube
	mkdir kube
	# Whoever has no access to a cluster gets kubectl's own words.
	cat >bin/kube <<-EOS
		#!/bin/bash
		if ! grep -qs '"kubeconfig": \["' "$WORK/account/state.json"; then
			echo "The connection to the server localhost:8080 was refused - did you specify the right host or port?" >&2
			exit 1
		fi
		exec "$ROOT/tests/servers/fakekubectl" "\$@"
	EOS
	# The two questions of a person, which the stand-in for slipway's calls does not answer.
	cat >bin/kubectl <<-EOS
		#!/bin/bash
		echo "kubectl \$*" >>"$WORK/account/calls"
		case "\$1 \$2" in
		# As a server does that has Volcano's definitions: what they are called, and their short names.
		"delete vcjob" | "delete vj" | "delete jobs.batch.volcano.sh") python3 -c 'import json; p = "$WORK/kube/objects.json"; d = json.load(open(p))
		d = {k: v for k, v in d.items() if not k.startswith("jobs.batch.volcano.sh|")}; json.dump(d, open(p, "w"))' ;;
		*) echo "error: the server doesn't have a resource type \"\$2\"" >&2 && exit 1 ;;
		esac
	EOS
	chmod +x bin/*
}

@test "tutorial: from the empty account to both runs and back, with stand-ins for AWS and the cluster" {
	tree
	stand_ins
	marked | grep -v 'slipway-trainer train' >script
	[ "$(wc -l <script)" -ge 55 ]
	mkdir kinetics
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
		grep -qF "$call" account/calls
	done
	# The account is as it was, and what the file system was to be in is what the cluster brought.
	[ "$(json '[d[k] for k in ("clusters", "stacks", "buckets", "connections", "kubeconfig")]' <account/state.json)" = "[{}, {}, {}, [], []]" ]
	grep -q '^    subnet: subnet-0aaaaaaaaaaaaaaa1$' slipway.yaml
	grep -qF 'security_groups: [sg-0eeeeeeeeeeeeeee1, sg-0ccccccccccccccc1]' slipway.yaml
	run ! grep -r planted deploys account/calls deploy
}

@test "tutorial: the account refuses a command too few, one too many, and a wrong order" {
	tree
	account
	# Of slipway, only what makes the files that these commands read; a push makes the repository.
	cat >bin/slipway <<-EOS
		#!/bin/bash
		case \$1 in
		render) exec "$SLIPWAY" "\$@" >/dev/null ;;
		push) exec aws ecr create-repository --repository-name perceiver >/dev/null ;;
		esac
	EOS
	chmod +x bin/slipway
	mkdir kinetics
	marked "with stand-ins" | grep -v '^kubectl' >good
	grep -vE '^slipway (deploy|status|doctor|undeploy)' good >script
	cp slipway.yaml spec.yaml
	try() {
		rm -f account/state.json
		cp spec.yaml slipway.yaml
		PATH=$WORK/bin:$PATH run env -u AWS_REGION -u AWS_DEFAULT_REGION bash -euo pipefail "$1"
	}
	try script
	echo "$output"
	[ "$status" -eq 0 ]
	# What is changed, and what is said of it: four of them always, the rest as a series.
	local n=0 edit words
	while IFS='|' read -r edit words; do
		n=$((n + 1))
		((n <= 4)) || chosen "$edit" || continue
		sed -E "$edit" script >wrong
		run ! cmp -s script wrong
		try wrong
		echo "$edit: $status ${output##*$'\n'}"
		[ "$status" -ne 0 ]
		[[ $output == *"$words"* ]]
	done <<-'EOS'
		s/ --parameter-overrides Vpc=.*//|Parameters: ['Vpc'] must have values
		s/ --set pipeline.repository=false//|'perceiver' already exists
		/^VPC=/{h;d};/^eksctl create/{H;x}|unbound variable
		/^for bucket/,/^done/d|The bucket you tried to delete is not empty
		s/Vpc=\$VPC/Network=$VPC/|must have values
		s/CAPABILITY_NAMED_IAM/CAPABILITY_IAM/|Requires capabilities : [CAPABILITY_NAMED_IAM]
		s/--capabilities CAPABILITY_IAM//|Requires capabilities
		/^slipway push/a aws ecr create-repository --repository-name perceiver|RepositoryAlreadyExistsException
		/^eksctl create/d|No cluster found for name: perceiver
		/karpenter.yaml/d|NonExistentQueue
		/^CONNECTION=/,/^sed.*CONNECTION/d|Connection arn:aws:codeconnections
		/^aws s3 mb/d|The specified bucket does not exist
		/delete-.*Karpenter/d|DependencyViolation
		/^aws ecr delete/s/--force//|still contains images
		s/ --desired-value [0-9]*//|required: --desired-value
		s/--stack-name perceiver$//|required: --stack-name
		/^export AWS_REGION/d|You must specify a region
		s/list-service-quotas/list-quotas/|Invalid choice
		s/ --service-code ec2//|required: --service-code
		s/ --repo https[^ ]*//|repo volcano not found
		/^eksctl create/p|AlreadyExistsException
		s/^eksctl delete.*/&\n&/|No cluster found
	EOS
	[ "$n" -ge 20 ]
	# Before there is a cluster, helm and kubectl reach none.
	printf 'export AWS_REGION=us-west-2\n' >wrong
	grep '^helm' script >>wrong
	try wrong
	[[ $output == *"Kubernetes cluster unreachable"* ]]
}

@test "tutorial: quotas asked for are the vCPUs of all nodes of the job, and every amount adds up" {
	"$SLIPWAY" instances --output json >instances.json
	python3 - "$ROOT/docs/TUTORIAL.md" "$ROOT/slipway.yaml" instances.json <<'EOS'
import json, re, sys

text, instances = open(sys.argv[1]).read(), json.load(open(sys.argv[3]))
vcpus, nodes = {r["type"]: r["vcpu"] for r in instances}, int(re.search(r"^  nodes: (\d+)", open(sys.argv[2]).read(), re.M)[1])
table = re.findall(r"^\| (\S+) \| (\d+) \| (\d+) \| (L-\w+)[^|]*\| (?:(L-\w+))?", text, re.M)
assert len(table) == 3, table
asked = dict(re.findall(r"--quota-code (\S+) --desired-value (\d+)", text))
assert len(asked) == 4, asked
for name, each, all_nodes, on_demand, spot in table:
    assert vcpus[name] == int(each) and int(each) * nodes == int(all_nodes), name
    for code in (on_demand, spot):
        assert asked.pop(code, all_nodes) == all_nodes, code
assert not asked
money = {w.split(",")[0]: (e, float(h)) for w, e, h in re.findall(r"^\| ([^|]+) \| ([\d., ]+) \| ([\d.]+) \|$", text, re.M)}
for name in ("trn1.32xlarge", "g5g.xlarge"):
    assert abs(float(money[name][0]) * nodes - money[name][1]) < 0.005, name
control, node, gateway = map(float, money["EKS"][0].split(","))
idle, files = money["EKS"][1], money["FSx for Lustre"][1]
assert abs(control + 2 * node + gateway - idle) < 0.005 and abs(1200 * 0.14 / 730 - files) < 0.005
afternoon = 4 * (idle + files) + money["trn1.32xlarge"][1] + money["g5g.xlarge"][1]
assert f"about {afternoon:.0f} USD" in text, afternoon
assert f"{24 * idle:.0f} USD a day, and {24 * (idle + files):.0f}" in text.replace("\n", " "), (24 * idle, 24 * (idle + files))
EOS
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
