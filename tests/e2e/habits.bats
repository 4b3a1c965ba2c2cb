#!/usr/bin/env bats
# What users of docker do by habit: naming images, tags and labels on the command line, archives, several images.
# shellcheck disable=SC2016,SC2030,SC2031 # ${...} is the spec's, and a test's PATH is its own

load lib
setup() {
	common_setup
	make_tree tree
	make_spec slipway.yaml
}
teardown() { common_teardown; }

build() { "$SLIPWAY" build --progress none "$@"; }
push() { "$SLIPWAY" push --progress none --insecure "$@"; }
tags() { json '" ".join(m["annotations"]["org.opencontainers.image.ref.name"] for m in d["manifests"])' <"$1/index.json"; }
config() { "$SLIPWAY" inspect --progress none --output json "$1" | json 'd["images"][0]["config"].get("config", {}).get('"'$2'"')'; }

# refused STATUS PATTERN... -- COMMAND...: the command fails so, and says each pattern.
refused() {
	local want=$1 patterns=()
	shift
	while [[ $1 != -- ]]; do patterns+=("$1") && shift; done
	shift
	run "$@"
	echo "status $status: $output"
	[ "$status" -eq "$want" ] || return 1
	local pattern
	for pattern in "${patterns[@]}"; do [[ $output == *"$pattern"* ]] || return 1; done
}

several() {
	cat >slipway.yaml <<-'YAML'
		apiVersion: slipway/v1
		name: sample
		images:
		  train:
		    repository: registry.example.com/team/train
		    tags: [t1]
		    layers: [{files: [{from: tree, to: /opt/train}]}]
		  serve:
		    tags: [s1]
		    layers: [{files: [{from: tree, to: /opt/serve}]}]
	YAML
}

commit() { git -c user.email=a@b -c user.name=c "$@" >/dev/null; }

# ---- names on the command line ----

@test "habits: build -t takes a tag, or repository and tag, in place of the spec's" {
	build -t v7 --tag v8 >/dev/null
	[ "$(tags build/image)" = "v7 v8" ]
	build -t registry.example.com/team/app:v9 --output json >out.json
	[ "$(json 'd["references"]' <out.json)" = "['oci:build/image:v9']" ]
	run build -t team/app
	[[ $output == *"slipway push oci:build/image:latest team/app:latest"* ]]
}

@test "habits: labels, annotations and variables of the command line go over the spec's" {
	make_spec slipway.yaml 'labels: {a: "1", b: "1"}' 'env: {A: "1"}'
	build --label b=2 --label c.d=e=f --annotation org.example=x --env A= --env 'B=${arch}' >/dev/null
	[ "$(config build/image Labels)" = "{'a': '1', 'b': '2', 'c.d': 'e=f'}" ]
	[ "$(config build/image Env)" = "['A=', 'B=amd64']" ]
	[ "$("$SLIPWAY" inspect --progress none --output json build/image | json 'd["annotations"]["org.example"]')" = x ]
	# The same content, whether it stands in the spec or on the command line.
	one=$(build --label b=2 | digest_line)
	[ "$(build --set image.labels.b=\"2\" | digest_line)" = "$one" ]
}

@test "habits: a wrong option is named, with what to write" {
	refused 2 "--tag UPPER:tag" "lower case" -- build -t UPPER:tag
	refused 2 "--tag .x" "a tag has letters" -- build -t .x
	refused 2 "--tag a/b:1/c" -- build -t a/b:1/c
	refused 2 "a second repository" "slipway push DIR team/b:1" -- build -t team/a:1 -t team/b:1
	refused 2 "'b' is not an image of slipway.yaml" "each tag has a --tag of its own" -- build -t a b
	refused 2 "'.' is not an image of slipway.yaml" "leave '.' out" -- build -t app:v1 .
	refused 2 "--env SECRET has no value" "NAME=VALUE" -- build --env SECRET
	refused 3 "--env 1A:1:1: error: image.env: '1A' is not the name" -- build --env 1A=x
	refused 3 '--label a:1:1: error: unknown variable ${nope}' -- build --label 'a=${nope}'
	[ ! -e build ]
}

# ---- tags of a layout ----

@test "habits: a build replaces the tags of its own earlier builds and leaves others" {
	build -t foreign --set name=other >/dev/null
	build -t v1 -t v2 >/dev/null
	[ "$(tags build/image)" = "foreign v1 v2" ]
	build -t v3 >/dev/null
	[ "$(tags build/image)" = "foreign v3" ]
	refused 1 "has no image named 'v1'" "build/image:foreign, build/image:v3" -- \
		"$SLIPWAY" verify --progress none oci:build/image:v1
}

@test "habits: DIR, DIR:TAG and oci:DIR:TAG name the same image everywhere" {
	digest=$(build -o 'my images/one' | digest_line)
	for ref in 'my images/one' 'my images/one:v1' 'oci:my images/one:v1' "./my images/one@$digest"; do
		[ "$(root_of "$ref")" = "$digest" ]
		[ "$("$SLIPWAY" verify --progress none "$ref" | digest_line)" = "$digest" ]
		"$SLIPWAY" diff --progress none --exit-code "$ref" 'oci:my images/one'
	done
}

@test "habits: what a build says is next works as it stands" {
	start_faultreg
	make_spec slipway.yaml "repository: $REG/team/app"
	build -o "an image's folder" >out
	next=$(sed -n 's/^to push it: //p' out)
	[[ $next == "slipway push "* ]]
	PATH=$(dirname "$SLIPWAY"):$PATH
	pushed=$(bash -c "$next --progress none --insecure" | digest_line)
	[ "$pushed" = "$(digest_line <out)" ]
	[ "$(root_of --insecure "$REG/team/app:v1")" = "$pushed" ]
	named=$(grep '^oci:' out)
	[ "$(root_of "$named")" = "$pushed" ]
}

# ---- paths and archives ----

@test "habits: a folder that exists is a path, and what is neither is read both ways" {
	mkdir debian
	refused 1 "the folder 'debian' is not an image layout" "docker.io/NAME" -- "$SLIPWAY" inspect --progress none debian:12
	refused 1 "the folder 'tree' is not an image layout" -- push tree registry.example.com/a:v1
	refused 1 "there is no file or folder 'image.tar'" -- "$SLIPWAY" verify --progress none image.tar
	refused 1 "'nowhere' is not a path here" "no image of slipway.yaml" -- push nowhere registry.example.com/a:v1
	refused 1 "'nowhere' is not a path here" -- push nowhere
	refused 1 "there is no such layout or archive" "slipway build" -- push registry.example.com/a:v1
	# Nobody listens there: the name is read as one of Docker Hub only because no such folder is here.
	refused 5 "no file or folder 'team/app', and as 'docker.io/team/app'" -- \
		"$SLIPWAY" inspect --progress none --retries 1 --connect-to registry-1.docker.io:443:127.0.0.1:1 team/app
	build -o team/app >/dev/null
	"$SLIPWAY" inspect --progress none team/app
}

@test "habits: push takes layouts, oci-archives and docker-archives by their content" {
	start_faultreg
	digest=$(build -o layout | digest_line)
	build --format oci-archive -o one.image >/dev/null
	build --format docker-archive --platform linux/amd64 -o two.image >/dev/null
	gzip -k two.image
	[ "$(push layout "$REG/a:v1" | digest_line)" = "$digest" ]
	[ "$(push one.image "$REG/b:v1" | digest_line)" = "$digest" ]
	[ "$(push one.image:v1 "$REG/b:v2" | digest_line)" = "$digest" ]
	plain=$(push two.image "$REG/c:v1" | digest_line)
	[ "$(push docker-archive:two.image "$REG/c:v2" | digest_line)" = "$plain" ]
	[ "$(push two.image.gz "$REG/c:v3" | digest_line)" = "$plain" ]
	"$SLIPWAY" verify --progress none --insecure "$REG/c:v3"
	[ "$(ls -d /tmp/slipway-push-* 2>/dev/null)" = "" ] || [ -n "${TMPDIR:-}" ]
	refused 1 "neither an OCI archive nor a docker archive" -- \
		bash -c 'tar -cf other.tar tree && "$0" push --progress none other.tar "$1/d:v1"' "$SLIPWAY" "$REG"
	refused 1 "is not a readable tar file" -- push slipway.yaml "$REG/d:v1"
	refused 1 "'two.image' has no image named 'v2'" "docker-archive:two.image:sample:v1" -- push two.image:v2 "$REG/d:v1"
}

@test "habits: an archive that podman saved is verified and pushed" {
	need podman
	start_faultreg
	build --format docker-archive --platform linux/amd64 -o image.tar >/dev/null
	local store=(podman --storage-driver vfs --root "$WORK/podman" --runroot "$WORK/podman-run")
	env -u DOCKER_CONFIG "${store[@]}" load -i image.tar || skip "podman cannot load here"
	env -u DOCKER_CONFIG "${store[@]}" save --format docker-archive -o saved.tar localhost/sample:v1
	"$SLIPWAY" verify --progress none saved.tar
	push saved.tar "$REG/app:v1"
	"$SLIPWAY" diff --progress none --insecure --exit-code image.tar "$REG/app:v1"
}

@test "habits: a docker archive that lies about its layers is refused" {
	build --format docker-archive --platform linux/amd64 -o image.tar >/dev/null
	python3 - <<-'PYTHON'
		data = bytearray(open("image.tar", "rb").read())
		at = data.index(b"echo hello")
		data[at:at + 4] = b"ECHO"
		open("changed.tar", "wb").write(data)
	PYTHON
	refused 3 "the content's digest is sha256" -- "$SLIPWAY" verify --progress none changed.tar
	start_faultreg
	refused 1 "sha256" -- push changed.tar "$REG/app:v1"
	[ "$(uploads)" -eq 0 ]
}

# ---- health check ----

@test "habits: a health check is Docker's, replaces the base's, and says that Kubernetes ignores it" {
	make_spec slipway.yaml 'healthcheck: {test: [CMD, /opt/sample/bin/run], interval: 1m30s, start_period: 500ms, retries: 2}'
	run build -o base
	[ "$status" -eq 0 ]
	[[ $output == *"slipway.yaml:5:16: warning:"*"Kubernetes ignores it"* ]]
	[ "$(config base Healthcheck)" = "{'Test': ['CMD', '/opt/sample/bin/run'], 'Interval': 90000000000, 'StartPeriod': 500000000, 'Retries': 2}" ]
	make_spec slipway.yaml 'base: oci:base'
	build -o kept >/dev/null
	[ "$(config kept Healthcheck)" = "$(config base Healthcheck)" ]
	make_spec slipway.yaml 'base: oci:base' 'healthcheck: {test: curl -f localhost}'
	build -o shell >/dev/null
	[ "$(config shell Healthcheck)" = "{'Test': ['CMD-SHELL', 'curl -f localhost']}" ]
	make_spec slipway.yaml 'base: oci:base' 'healthcheck: {test: [NONE]}'
	build -o none >/dev/null
	[ "$(config none Healthcheck)" = "{'Test': ['NONE']}" ]
	refused 3 "'30' is not a duration" "as in 30s" -- build --set image.healthcheck.interval=30
}

# ---- git ----

@test "habits: git's description and commit are variables, and a dirty tree is marked" {
	need git
	make_spec slipway.yaml 'labels: {commit: "${git:commit}"}' 'env: {VERSION: "${git:describe}"}'
	sed -i 's/tags: \[v1\]/tags: ["${git:describe}", "r-${git:describe}"]/' slipway.yaml
	refused 3 'slipway.yaml:4:10: error: ${git:describe}' "not a git repository" "clone" -- build
	git init -q . && git add slipway.yaml tree && commit commit -qm one
	hash=$(git rev-parse HEAD)
	build >/dev/null
	[ "$(tags build/image)" = "${hash:0:12} r-${hash:0:12}" ]
	[ "$(config build/image Labels)" = "{'commit': '$hash'}" ]
	commit tag 'v1.2+rc/3'
	run build --dry-run
	[[ $output == *"tags v1.2-rc-3, r-v1.2-rc-3"* ]]
	[[ $output == *'${git:commit} is '"$hash"* ]]
	echo changed >>tree/share/a.txt
	build >/dev/null
	[ "$(tags build/image)" = "v1.2-rc-3-dirty r-v1.2-rc-3-dirty" ]
	[ "$(config build/image Labels)" = "{'commit': '$hash-dirty'}" ]
	[ "$(config build/image Env)" = "['VERSION=v1.2-rc-3-dirty']" ]
	[ "$(build --set 'image.tags=[x-${git:describe}]' --dry-run | sed -n 's/^tags //p')" = x-v1.2-rc-3-dirty ]
	# However much has changed.
	mkdir many && seq -f many/a-file-whose-name-is-rather-long-%03g 200 | xargs touch && git add many
	[ "$(build --set 'image.tags=[x-${git:describe}]' --dry-run | sed -n 's/^tags //p')" = x-v1.2-rc-3-dirty ]
}

@test "habits: git is asked once, runs nothing of the checkout, and its absence is said" {
	need git
	make_spec slipway.yaml 'labels: {a: "${git:describe}", b: "${git:describe}", c: "${git:commit}"}'
	git init -q . && git add slipway.yaml && commit commit -qm one
	mkdir bin
	cat >bin/git <<-SH
		#!/bin/sh
		echo "\$@" >>$WORK/asked
		exec $(command -v git) "\$@"
	SH
	chmod +x bin/git
	printf '#!/bin/sh\ntouch %s/ran\n' "$WORK" >hook && chmod +x hook
	git config core.fsmonitor "$WORK/hook"
	git config core.pager "$WORK/hook"
	before=$(cksum .git/index)
	touch -d 2001-01-01 slipway.yaml
	PATH=$WORK/bin:$PATH build --dry-run >/dev/null
	[ "$(wc -l <asked)" -eq 3 ]
	[ "$(grep -c ' status ' asked)" -eq 1 ]
	[ ! -e ran ]
	[ "$(cksum .git/index)" = "$before" ]
	mkdir empty
	refused 3 "program 'git' is not installed" "install git" -- env PATH="$WORK/empty" "$SLIPWAY" build --dry-run
	# Somebody else's repository: git's own refusal, and its remedy.
	if [ "$EUID" -eq 0 ]; then
		chown -R 12345 .git slipway.yaml && chown 12345 .
		refused 3 "dubious ownership" "safe.directory" -- build --dry-run
	fi
}

# ---- several images ----

@test "habits: one spec holds several images, each built into a folder of its name" {
	several
	build >out
	[ "$(tags build/image/train) $(tags build/image/serve)" = "t1 s1" ]
	grep -q '^oci:build/image/serve:s1$' out
	train=$(root_of build/image/train) serve=$(root_of build/image/serve)
	[ "$train" != "$serve" ]
	rm -r build
	[ "$(build serve -o out.d | digest_line)" = "$serve" ]
	[ "$(ls out.d)" = serve ]
	[ "$(build --output json | json '[b["image"] for b in d["builds"]]')" = "['train', 'serve']" ]
	[ "$(build train --output json | json 'd["digest"]')" = "$train" ]
	[ "$(build --set 'images.train.tags=[x]' --dry-run train | sed -n 's/^tags //p')" = x ]
	build serve --format oci-archive -o serve.tar >/dev/null
	[ "$(root_of serve.tar)" = "$serve" ]
}

@test "habits: mistakes with several images name the images" {
	several
	refused 2 "'trian' is not an image of slipway.yaml" "write train or serve" -- build trian
	refused 2 "2 images cannot have one repository" "slipway build NAME" -- build -t team/app:v1
	refused 2 "an archive is for one image" "slipway build train" -- build --format oci-archive -o x.tar
	refused 2 "--digest-file is for one image" -- build --digest-file digest
	refused 3 "--set image.tags:1:1: error: both 'image' and 'images' are written" -- build --set 'image.tags=[v2]'
	printf 'job: {image: serv}\n' >>slipway.yaml
	refused 3 "slipway.yaml:11:14: error: job.image: 'serv' is not among images" "train or serve" -- build
	[ ! -e build ]
}

@test "habits: push sends one of several images by its name, or all" {
	start_faultreg
	several
	sed -i "s#registry.example.com/team/train#$REG/train#; s#tags: \[s1\]#repository: $REG/serve\n    tags: [s1]#" slipway.yaml
	build >/dev/null
	mkdir serve # the files of an image may lie in a folder of its name
	push serve
	[ "$(root_of --insecure "$REG/serve:s1")" = "$(root_of build/image/serve)" ]
	run "$SLIPWAY" inspect --progress none --insecure "$REG/train:t1"
	[ "$status" -ne 0 ]
	push --output json >out.json
	[ "$(json '[p["repository"].split("/")[1] for p in d["pushes"]]' <out.json)" = "['train', 'serve']" ]
	[ "$(root_of --insecure "$REG/train:t1")" = "$(root_of build/image/train)" ]
	push train "$REG/elsewhere:v1"
	[ "$(root_of --insecure "$REG/elsewhere:v1")" = "$(root_of build/image/train)" ]
	refused 2 "which one is 'build/image/train'" "slipway push NAME" -- push build/image/train
}

@test "habits: the job runs the image that it names, and a pipeline builds it" {
	cp "$ROOT/tests/golden/fleet/pipeline.yaml" one.yaml
	python3 - <<-'PYTHON'
		lines, inside, out = open("one.yaml").read().splitlines(), False, []
		for line in lines:
		    if line == "image:":
		        out += ["images:", "  serve:", "    layers: [{files: [{directory: /x}]}]", "  main:"]
		        inside = True
		        continue
		    inside = inside and (line.startswith(" ") or not line)
		    out.append("  " + line if inside and line else line.replace("job: {", "job: {image: main, "))
		open("several.yaml", "w").write("\n".join(out) + "\n")
	PYTHON
	for name in one several; do
		{ "$SLIPWAY" render -f $name.yaml && "$SLIPWAY" render --only pipeline -f $name.yaml; } >$name.out
	done
	grep -q 'slipway build main -f several.yaml --platform' several.out
	# Only lines of the spec and the image's name differ.
	sed -i -E 's/(one|several)\.yaml(:[0-9]+)?/FILE/g; s/  # FILE job.image$//; s/slipway build main/slipway build/' one.out several.out
	diff one.out several.out
	"$SLIPWAY" explain -f several.yaml >/dev/null
	sed -i 's/image: main, //' several.yaml
	refused 3 "job: which of the images does it run?" "serve or main" -- "$SLIPWAY" render -f several.yaml
}

# ---- the lock file ----

@test "habits: a new lock file is announced and explains itself; one serves all images" {
	build -o base --platform linux/amd64 --set 'image.platforms=[linux/amd64]' >/dev/null
	several
	sed -i 's#layers:#platforms: [linux/amd64]\n    base: oci:base\n    layers:#' slipway.yaml
	run build train
	[[ $output == *"slipway.lock is new"*"commit it"* ]]
	[[ $(json 'd["comment"]' <slipway.lock) == *"--locked"* ]]
	cp slipway.lock before
	run build
	[[ $output != *"is new"* ]]
	cmp slipway.lock before
	build --locked >/dev/null
}
