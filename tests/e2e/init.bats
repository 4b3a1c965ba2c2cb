#!/usr/bin/env bats
# `slipway init`: what it writes is built, checked and started, by the commands that it prints.
# shellcheck disable=SC2016,SC2030,SC2031 # $(NNODES) is Kubernetes', and a test's PATH is its own

load lib

setup() { common_setup; }
teardown() {
	if [[ -d ${WORK:-}/podman ]]; then podman_here rm --all --force --time 0 >/dev/null 2>&1 || true; fi
	common_teardown
}

REPOSITORY=123456789012.dkr.ecr.us-west-2.amazonaws.com/team/app

# steps FILE: the commands that were printed, without those that need a registry.
steps() { sed -n '/^Next:$/,$ {/^  [^ ]/p}' "$1" | grep -v '^  slipway push$'; }

# follow ARGS...: init, and then every step as it stands.
follow() {
	mkdir -p bin
	ln -sf "$SLIPWAY" bin/slipway
	"$SLIPWAY" init "$@" >printed
	cat printed
	steps printed >script
	[ -s script ]
	PATH=$WORK/bin:$PATH bash -euxo pipefail script >report 2>&1 || { cat report && return 1; }
	cat report
	run ! grep -E '(error|warning): ' report
}

# started WANT ARGS...: the image of build/image, in a container.
started() {
	containers_needed
	local want=$1 image
	shift
	image=$(podman_here pull --quiet "oci:$WORK/build/image")
	[ "$(podman_run "$image" "$@")" = "$want" ]
}

# python_base: a base image with the Python of this machine, in the folder base.
python_base() {
	local version
	version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	# A stand-in for the gigabytes that PyTorch is: it starts the script with what it was told.
	printf '#!/usr/bin/python3\nimport runpy, sys\nprint(*sys.argv[1:-1])\nrunpy.run_path(sys.argv[-1], run_name="__main__")\n' >torchrun
	cat >base.yaml <<-END
		apiVersion: slipway/v1
		name: base
		image:
		  platforms: [linux/amd64]
		  compression: none
		  env: {PATH: /usr/bin}
		  check: {off: [no-entrypoint]}
		  layers:
		    - closure: [{path: /usr/bin/python3, plugins: ["/usr/lib/python$version/lib-dynload/*.so"]}]
		      files:
		        - {from: /usr/bin/python3, to: /usr/bin/python3, follow: true}
		        - {from: /usr/lib/python$version, to: /usr/lib/python$version, include: ["*.py", "encodings/*.py", "importlib/*.py", "collections/*.py", "re/*.py"]}
		        - {from: torchrun, to: /usr/bin/torchrun, mode: 0755}
	END
	"$SLIPWAY" build -f base.yaml -o base --no-check -q >/dev/null
}

@test "init: a C program is built by its Makefile and starts" {
	need gcc
	printf '#include <stdio.h>\nint main(void) { puts("from C"); return 0; }\n' >tool.c
	printf 'tool: tool.c\n\tcc -o tool tool.c\n' >Makefile
	follow --kind c --program tool
	started "from C"
}

@test "init: a C++ program is built by CMake, or by the compiler alone, and starts" {
	need g++
	printf '#include <iostream>\nint main() { std::cout << "from C++\\n"; }\n' >main.cc
	if command -v cmake >/dev/null && [[ -n ${SLIPWAY_TEST_LONG:-} ]]; then
		printf 'cmake_minimum_required(VERSION 3.10)\nproject(x CXX)\nadd_executable(hello main.cc)\n' >CMakeLists.txt
	fi
	follow --kind c++
	started "from C++"
}

@test "init: a Go program is compiled for every platform and starts" {
	GO=$(command -v go || command -v /usr/local/go/bin/go) || skip "Go is not installed"
	export GOCACHE=$ROOT/${BUILD:-build}/sysroot-programs/go-cache GOTOOLCHAIN=local PATH=${GO%/*}:$PATH
	printf 'module example.com/team/tool\n\ngo 1.19\n' >go.mod
	printf 'package main\n\nfunc main() { print("from Go\\n") }\n' >main.go
	# Each platform compiles Go's own library once.
	local one=(--platform linux/amd64) n=1
	[[ -z ${SLIPWAY_TEST_LONG:-} ]] || one=() n=2
	follow --kind go "${one[@]}"
	[ "$("$SLIPWAY" inspect --output json build/image | json 'len(d["images"])')" = "$n" ]
	containers_needed
	image=$(podman_here pull --quiet "oci:$WORK/build/image")
	[ "$(podman_run "$image" 2>&1)" = "from Go" ]
}

@test "init: a Rust program is built by Cargo and starts" {
	[[ ! -d /root/.rustup || -n ${RUSTUP_HOME:-} ]] || export RUSTUP_HOME=/root/.rustup
	CARGO=$(command -v cargo || command -v /root/.cargo/bin/cargo) || skip "Rust is not installed"
	export PATH=${CARGO%/*}:$PATH
	mkdir src
	printf '[package]\nname = "my_tool"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
	printf 'fn main() { println!("from Rust"); }\n' >src/main.rs
	follow --kind rust
	started "from Rust"
	grep -qx "name: my-tool" slipway.yaml
}

@test "init: a Python program has its packages, and starts on its base" {
	python3 -m pip --version >/dev/null 2>&1 || skip "pip is not installed"
	python_base
	# A package of a local index: nothing is asked of the network.
	mkdir -p wheels
	python3 -c 'import sys, zipfile
with zipfile.ZipFile("wheels/colours-1-py3-none-any.whl", "w") as z:
    z.writestr("colours.py", "NAME = \"green\"\n")
    z.writestr("colours-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: colours\nVersion: 1\n")
    z.writestr("colours-1.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr("colours-1.dist-info/RECORD", "")'
	echo colours >requirements.txt
	printf 'import colours\nprint("from Python,", colours.NAME)\n' >main.py
	export PIP_NO_INDEX=1 PIP_FIND_LINKS=$WORK/wheels PIP_DISABLE_PIP_VERSION_CHECK=1
	mkdir -p own
	printf '#!/bin/sh\nexec /usr/bin/python3 "$@"\n' >own/python3 && chmod +x own/python3
	PATH=$WORK/own:$PATH follow --kind python --base oci:base:latest --platform linux/amd64
	started "from Python, green"
}

# AWS's images of PyTorch are gigabytes; a small image stands in for one, with a torchrun that says how it was called.
@test "init: a PyTorch job starts its script by torchrun, on the base that is named" {
	python_base
	echo 'print("one step of training")' >train.py
	follow --kind pytorch --base oci:base:latest --image "$REPOSITORY" --fleet p4d,g5
	started $'--standalone --nproc-per-node=auto\none step of training'
	"$SLIPWAY" render | grep -qF -- '- "--nnodes=$(NNODES)"'
}

@test "init: every kind has a spec that renders on every machine of the fleet" {
	local kind target targets
	targets=$(python3 -c 'import json, sys; print(*json.load(open(sys.argv[1]))["$defs"]["fleet"]["properties"])' "$ROOT/docs/slipway.schema.json" 2>/dev/null || true)
	[[ -n $targets ]] || targets="trn1 trn2 p4d p5 g5 g6 g5g"
	series=0
	for kind in c c++ go rust python pytorch; do
		for target in trn1 trn2 p4d p5 g5 g6 g5g g5,g5g,trn1; do
			[[ -n ${SLIPWAY_TEST_LONG:-} || $kind == go || $target == g5 ]] || continue
			[[ $kind != pytorch || $target != *g5g* ]] || continue
			rm -rf one && mkdir one
			"$SLIPWAY" init --dir one --kind "$kind" --image "$REPOSITORY" --fleet "$target" --ci codebuild >/dev/null
			"$SLIPWAY" render -f one/slipway.yaml -o one/deploy >out 2>&1 || { cat out && return 1; }
			run ! grep -E '(error|warning): ' out
			[ -s one/deploy/80-pipeline/pipeline.yaml ]
			series=$((series + 1))
		done
	done
	[ "$series" -ge 12 ]
}

@test "init: the spec is what the schema beside it says, and its first line names it" {
	"$SLIPWAY" init --kind python --image ghcr.io/team/app --fleet g5 --ci github >/dev/null
	[ "$(head -n 1 slipway.yaml)" = "# yaml-language-server: \$schema=build/slipway.schema.json" ]
	cmp build/slipway.schema.json <("$SLIPWAY" schema)
	python3 -c 'import json, yaml, jsonschema
with open("slipway.yaml") as spec, open("build/slipway.schema.json") as schema:
    jsonschema.Draft202012Validator(json.load(schema)).validate(yaml.safe_load(spec))'
	"$SLIPWAY" pipeline run --dry-run >dry
	grep -q 'slipway build' dry
	"$SLIPWAY" render --only pipeline -o deploy >/dev/null
	[ -s deploy/80-pipeline/github-workflow.yaml ]
}

# block NAME: a file of docs/CI.md.
block() { awk -v mark="<!-- $1 -->" '$0 == mark {m = 1} /^```/ {if (on) exit; if (m) {on = 1; next}} on' "$ROOT/docs/CI.md"; }

@test "init: the files for GitLab, Buildkite and Jenkins are those of docs/CI.md, with the commands of the build" {
	local ci file
	echo "a==1" >requirements.txt
	for ci in gitlab:.gitlab-ci.yml buildkite:.buildkite/pipeline.yml jenkins:Jenkinsfile; do
		file=${ci#*:} ci=${ci%%:*}
		rm -rf slipway.yaml
		"$SLIPWAY" init --kind python --image registry.example.com/team/app --ci "$ci" >printed
		[ "$(grep -cE 'pip install|python3-pip' "$file")" -ge 1 ]
		diff <(grep -vE 'pip install|python3-pip' "$file" | sed 's/slipway-[0-9.]*-linux/slipway-0.1.0-linux/') <(block "$ci")
		git init -q . && bash -euo pipefail <(steps printed | grep 'git add')
	done
	[ "$(cat .gitignore)" = /build/ ]
}

@test "init: nothing is replaced: with one file in the way, none is written" {
	echo mine >Jenkinsfile
	run "$SLIPWAY" init --kind c --image ghcr.io/team/app --ci jenkins
	[ "$status" -eq 1 ]
	[[ $output == *"'Jenkinsfile' is there already"*--dry-run* ]]
	[ ! -e slipway.yaml ] && [ ! -e build ] && [ ! -e .gitignore ]
	[ "$(cat Jenkinsfile)" = mine ]
	"$SLIPWAY" init --kind c --dry-run >out
	grep -q '^==> slipway.yaml <==$' out
	[ ! -e slipway.yaml ]
}

@test "init: sources below src, a name with a blank, a project's own name: what is printed builds" {
	need gcc
	local folder
	for folder in csrc "with space" project; do mkdir -p "$folder/src"; done
	echo 'int main(void) { return 0; }' | tee csrc/src/main.c "with space/a b.c" >project/a.c
	printf 'project(hello C)\nadd_executable(${PROJECT_NAME} a.c)\n' >project/CMakeLists.txt
	printf '[package]\nname="tight"\n' >Cargo.toml
	for folder in csrc "with space"; do
		(cd "$folder" && "$SLIPWAY" init --kind c --platform "linux/$(dpkg --print-architecture)" >printed &&
			steps printed | sed "s|^  slipway|$SLIPWAY|" >script && bash -eu script >/dev/null 2>&1 &&
			"$SLIPWAY" verify -q build/image >/dev/null)
	done
	"$SLIPWAY" init --kind c --dir project --dry-run | grep -qx 'name: hello'
	"$SLIPWAY" init --kind rust --dry-run | grep -qx 'name: tight'
}

@test "init: what is no file is neither replaced nor waited for" {
	local name
	for name in link folder pipe; do mkdir "$name"; done
	ln -s nowhere link/.gitignore
	mkdir folder/.gitignore
	mkfifo pipe/.gitignore
	for name in link folder pipe; do
		run -1 timeout 20 "$SLIPWAY" init --kind c --dir "$name"
		[[ $output == *"$name/.gitignore' is there already, and is no file"*hint:* ]]
		[ ! -e "$name/slipway.yaml" ]
	done
	[ "$(readlink link/.gitignore)" = nowhere ]
	# A link to nothing where the spec would be is in the way, too.
	mkdir spec && ln -s nowhere spec/slipway.yaml
	run -1 "$SLIPWAY" init --kind c --dir spec
	[[ $output == *"is there already, and init replaces nothing"* ]]
	[ ! -e spec/nowhere ]
}

@test "init: killed at any instant it leaves no spec, or a whole one, and the next run succeeds" {
	local i whole=0 arguments=(init --dir one --kind c --name app --program app --image ghcr.io/team/app --ci gitlab)
	mkdir one && "$SLIPWAY" "${arguments[@]}" >/dev/null && mv one want
	for i in $(seq 1 "$([[ -n ${SLIPWAY_TEST_LONG:-} ]] && echo 60 || echo 8)"); do
		rm -rf one && mkdir one
		killed_after "0.0$((i * 13 % 100))" "$SLIPWAY" "${arguments[@]}"
		if [ -e one/slipway.yaml ]; then whole=$((whole + 1)); else "$SLIPWAY" "${arguments[@]}" >/dev/null; fi
		diff -r --exclude '.tmp-*' want one
	done
	echo "$whole were done before they were killed"
}

@test "init: on a terminal it asks, proposes what it sees, and asks again for what it cannot take" {
	need script
	mkdir src
	echo 'fn main() {}' >src/main.rs
	printf '[package]\nname = "tool"\n' >Cargo.toml
	printf '\nghcr.io/UPPER\nghcr.io/team/tool:v2\ng5,g55\ng5\nnone\ngithub\n' | timeout 60 script -qec "$SLIPWAY init" /dev/null >said
	cat said
	grep -q 'pytorch \[rust\]: ' said
	grep -q "'g55' is not a target" said
	grep -q "'none' is none of these" said
	grep -qx 'name: tool' slipway.yaml
	grep -qx '  tags: \[v2\]' slipway.yaml
	grep -q '^  g5: ' slipway.yaml
	grep -qx '  github: true' slipway.yaml
	# Without an answer nothing is written.
	rm slipway.yaml
	printf 'c\n\004' | timeout 60 script -qec "$SLIPWAY init" /dev/null >said || true
	[ ! -e slipway.yaml ]
}

@test "init: where nobody can answer it names the options, and JSON is what its schema says" {
	printf 'module example.com/x\n' >go.mod
	: >main.go
	run "$SLIPWAY" init </dev/null
	[ "$status" -eq 2 ]
	[[ $output == *"--kind go"*"--image HOST/NAME"*"--fleet"*"--ci"* ]]
	"$SLIPWAY" init --kind go --dry-run --output json >dry.json
	"$SLIPWAY" init --kind go --output json >done.json
	"$SLIPWAY" schema init >schema.json
	python3 -c 'import json, jsonschema
for name in "dry.json", "done.json":
    with open("schema.json") as schema, open(name) as document:
        jsonschema.Draft202012Validator(json.load(schema)).validate(json.load(document))'
	[ "$(json '[f["path"] for f in d["files"]][-1], d["files"][-1]["state"]' <done.json)" = "('slipway.yaml', 'created')" ]
	[ "$(json 'd["files"][-1]["text"]' <dry.json)" = "$(cat slipway.yaml)" ]
}

# refused STATUS PATTERN ARGS...
refused() {
	run "$SLIPWAY" init --dry-run "${@:3}"
	echo "status $status: $output"
	[ "$status" -eq "$1" ] && [[ $output == *"$2"* && $output == *hint:* ]]
}

@test "init: options that cannot be are refused, each with the next step" {
	refused 2 "did you mean --kind=go?" --kind goo
	refused 2 "did you mean --fleet=g5?" --kind c --image a/b --fleet g55
	refused 2 "needs --image" --kind c --fleet g5
	refused 2 "needs --image" --kind c --ci github
	refused 2 "is not where an image is pushed" --kind c --image oci:x
	refused 2 "pushes to Amazon ECR" --kind c --image ghcr.io/a/b --ci codebuild
	refused 2 "cannot serve both p4d and trn1" --kind pytorch --image a/b --fleet p4d,trn1
	refused 2 "AWS's images of PyTorch are for amd64" --kind pytorch --image a/b --fleet g5g
	refused 2 "is not a valid name" --kind c --name Upper
	refused 2 "is not the name of a program" --kind c --program a/b
	refused 2 "is not the name of a program" --kind python --program '../x.py'
	refused 1 "there is no folder" --kind c --dir nowhere
	refused 2 "is packed without one" --kind c --base a/b
	refused 2 "init knows no builder for 'linux/s390x'" --kind c --platform linux/s390x
	refused 2 "is not an AWS region" --kind c --region 'here;there'
	refused 2 "is named twice" --kind c --image a/b --fleet g5,g5
}
