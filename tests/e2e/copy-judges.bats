#!/usr/bin/env bats
# What slipway attaches and copies, before those who read it elsewhere: oras, crane's library and cosign, on a registry
# that leaves the list of referrers to its clients and on one that keeps it. They come from tests/judges.

load lib

setup() {
	common_setup
	judge_needed crane crane-referrers oras olareg cosign
	make_tree tree
	# crane reads no zstd.
	make_spec slipway.yaml 'sbom: true' 'provenance: true' 'compression: gzip'
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out k.pem 2>/dev/null
	openssl pkey -in k.pem -pubout -out k.pub
	DIGEST=$("$SLIPWAY" build --progress none --no-check -o image | digest_line)
	"$SLIPWAY" sign --progress none --key k.pem --format bundle --format tag image >/dev/null
	mapfile -t IMAGES < <(json '"\n".join([d["digest"]] + [i["digest"] for i in d["images"]])' < <("$SLIPWAY" inspect --output json image))
	attached_here image >expected
}
teardown() { [[ -z ${PIDS+set} ]] || common_teardown; }

copy() { "$SLIPWAY" copy --progress none "$@" | digest_line; }

# attached_here LAYOUT: subject, digest and type of each referrer, as a layout's own entries say.
attached_here() {
	json '"\n".join(sorted(" ".join([m["annotations"]["dev.slipway.subject"], m["digest"], m["artifactType"]])
		for m in d["manifests"] if "dev.slipway.subject" in m.get("annotations", {}) and "artifactType" in m))' <"$1/index.json"
}

# by_oras REPOSITORY, by_crane REPOSITORY: the same as they list it.
by_oras() {
	local image
	for image in "${IMAGES[@]}"; do
		"$JUDGES/oras" discover --plain-http --depth 1 --format json "$1@$image" |
			SUBJECT=$image json '"\n".join(" ".join([__import__("os").environ["SUBJECT"], r["digest"], r["artifactType"]]) for r in d["referrers"])'
	done | sort
}
by_crane() {
	local image
	for image in "${IMAGES[@]}"; do "$JUDGES/crane-referrers" "$1@$image" | sed "s/^/$image /"; done | sort
}

# judged REFERENCE: everything is there, and every judge sees it.
judged() {
	local repository=${1%:*} image
	[[ $("$JUDGES/crane" digest --insecure "$1") == "$DIGEST" ]]
	"$JUDGES/crane" validate --insecure --remote "$1" >/dev/null
	diff expected <(by_oras "$repository")
	diff expected <(by_crane "$repository")
	for image in "${IMAGES[@]}"; do
		"$JUDGES/crane" manifest --insecure "$repository:${image/:/-}.sig" | cmp - "$image.sig"
		"$JUDGES/cosign" verify --key k.pub --insecure-ignore-tlog=true --allow-insecure-registry "$repository@$image" >/dev/null 2>&1
		"$JUDGES/cosign" verify --key k.pub --insecure-ignore-tlog=true --allow-insecure-registry --new-bundle-format=false \
			"$repository@$image" >/dev/null 2>&1
	done
}

# lists_itself REPOSITORY: whether the registry has the referrers API.
lists_itself() { curl -fsS -o /dev/null "http://${1%%/*}/v2/${1#*/}/referrers/$DIGEST" 2>/dev/null; }

@test "copy: from registry to registry, layout, archive and back, every judge sees all that is attached" {
	[[ $(wc -l <expected) == 9 ]]
	start_registry
	kept=$REG
	start_olareg
	listed=$REG
	"$SLIPWAY" push --progress none image "$kept/team/app:v1" >/dev/null
	for image in "${IMAGES[@]}"; do curl -fsS -H 'Accept: application/vnd.oci.image.manifest.v1+json' \
		"http://$kept/v2/team/app/manifests/${image/:/-}.sig" >"$image.sig"; done
	judged "$kept/team/app:v1"
	run ! lists_itself "$kept/team/app"
	copy "$kept/team/app:v1" "$listed/team/app:v1"
	judged "$listed/team/app:v1"
	lists_itself "$listed/team/app"
	# Where the registry keeps the list, nobody keeps another.
	run ! grep -qE '^sha256-[0-9a-f]{64}$' <("$JUDGES/crane" ls --insecure "$listed/team/app")
	copy "$listed/team/app:v1" oci:there:v1
	diff expected <(attached_here there)
	copy oci:there:v1 there.tar
	copy there.tar "$kept/back/app:v1"
	judged "$kept/back/app:v1"
	copy there.tar "$listed/back/app:v1"
	judged "$listed/back/app:v1"
}

@test "copy: oras copies ours with what is attached, and we copy what oras attached" {
	start_registry
	kept=$REG
	start_olareg
	"$SLIPWAY" push --progress none image "$kept/team/app:v1" >/dev/null
	# oras follows the referrers of what it is asked to copy, not those of its platforms. One at a time: the registry may
	# lose one of two that come at once.
	for image in "${IMAGES[@]}"; do
		"$JUDGES/oras" cp -r --concurrency 1 --no-tty --from-plain-http --to-plain-http "$kept/team/app@$image" "$REG/theirs/app" >/dev/null
	done
	diff expected <(by_oras "$REG/theirs/app")
	printf 'report\n' >report.txt
	"$JUDGES/oras" attach --no-tty --plain-http --artifact-type application/vnd.example.report "$kept/team/app@${IMAGES[1]}" report.txt:text/plain >/dev/null
	copy "$kept/team/app:v1" "$REG/ours/app:v1"
	(($(by_crane "$REG/ours/app" | wc -l) == 10))
	by_crane "$REG/ours/app" | grep -q "^${IMAGES[1]} sha256:.* application/vnd.example.report$"
	"$JUDGES/oras" pull --no-tty --plain-http -o pulled \
		"$REG/ours/app@$(by_crane "$REG/ours/app" | awk '/example.report/ { print $2 }')" >/dev/null
	cmp pulled/report.txt report.txt
}
