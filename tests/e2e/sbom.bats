#!/usr/bin/env bats
# What is in an image, and how it was built: documents that are attached, judged by others.

load lib
setup() {
	common_setup
	make_tree tree
}
teardown() { common_teardown; }

SCHEMAS=${SLIPWAY_SHARED:-$ROOT/../shared}/data/supply-chain

build() { "$SLIPWAY" build --progress none "$@"; }
sbom() { "$SLIPWAY" sbom --progress none "$@"; }
judge() { "$ROOT/tests/e2e/sbom-judge" "$1" "$SCHEMAS"; }

# spec LINES...: a spec of one platform with these lines below image:.
spec() {
	{
		printf 'apiVersion: slipway/v1\nname: sample\nimage:\n  platforms: [linux/amd64]\n'
		printf '  %s\n' "$@"
	} >slipway.yaml
}

# attached LAYOUT TYPE: the documents of this type, one a line.
attached() {
	python3 - "$@" <<-'PY'
		import json, sys
		blob = lambda d: open(f"{sys.argv[1]}/blobs/sha256/{d['digest'][7:]}").read()
		for entry in json.load(open(sys.argv[1] + "/index.json"))["manifests"]:
		    manifest = json.loads(blob(entry))
		    if manifest.get("artifactType") == sys.argv[2]:
		        print(blob(manifest["layers"][0]).rstrip("\n"))
	PY
}

program() {
	need gcc
	echo 'int main(void) { return 0; }' | gcc -x c - -x none -Wl,--no-as-needed -lm -o app
}

# packages DIR: three packages, installed in a root as dpkg does it, one of them removed but for its configuration.
packages() {
	need dpkg-deb
	local name
	for name in alpha beta-tool gamma; do
		mkdir -p "deb/$name/DEBIAN" "deb/$name/usr/lib" "deb/$name/etc"
		printf 'Package: %s\nVersion: 1:1.0~rc1+b2\nArchitecture: amd64\nMaintainer: A B <a@example.com>\nSource: src-%s (0.9)\nDescription: x\n' \
			"$name" "$name" >"deb/$name/DEBIAN/control"
		echo "$name" >"deb/$name/etc/$name.conf"
		echo "/etc/$name.conf" >"deb/$name/DEBIAN/conffiles"
		cp app "deb/$name/usr/lib/lib$name.so"
		dpkg-deb --root-owner-group --build "deb/$name" "$name.deb" >/dev/null
	done
	mkdir -p "$1/var/lib/dpkg/updates" "$1/var/lib/dpkg/info" "$1/var/log"
	touch "$1/var/lib/dpkg/status" "$1/var/lib/dpkg/available"
	dpkg --root="$PWD/$1" --force-not-root --force-script-chrootless --log=dpkg.log -i ./*.deb >/dev/null 2>&1
	dpkg --root="$PWD/$1" --force-not-root --force-script-chrootless --log=dpkg.log -r gamma >/dev/null 2>&1
}

# held ROOT DOCUMENT: the packages of the document are those that dpkg-query tells of the root, none more, none less.
held() {
	dpkg-query --admindir="$1/var/lib/dpkg" -W -f='${db:Status-Abbrev} ${Package} ${Version} ${Architecture}\n' |
		sed -n 's/^i. *//p' | sort >expected
	python3 - "$2" >found <<-'PY'
		import json, sys
		from urllib.parse import unquote
		for p in json.load(open(sys.argv[1]))["packages"]:
		    for r in p.get("externalRefs", []):
		        if r["referenceLocator"].startswith("pkg:deb/"):
		            name, rest = r["referenceLocator"].split("/")[2].split("@")
		            version, qualifiers = rest.split("?")
		            print(unquote(name), unquote(version), dict(q.split("=") for q in qualifiers.split("&"))["arch"])
	PY
	LC_ALL=C sort -o found found && LC_ALL=C sort -o expected expected
	[ -s expected ]
	diff expected found
}

@test "sbom: the closure of a program names the packages that its libraries are from" {
	program
	spec 'sbom: true' 'layers: [{files: [{from: app, to: /usr/bin/app}], closure: [app]}]'
	build >/dev/null
	sbom build/image >spdx.json
	sbom --format cyclonedx build/image >cyclonedx.json
	judge spdx.json >spdx
	judge cyclonedx.json >cyclonedx
	# Both say the same.
	cmp spdx cyclonedx
	libc=$(dpkg-query -W -f='${Version}' libc6:amd64 | sed 's/+/%2B/g')
	grep -q "^pkg:deb/[a-z]*/libc6@$libc?arch=amd64&distro=.*&upstream=glibc$" spdx
	grep -qx 'LINK app libc6' spdx
}

@test "sbom: a second build, elsewhere and later, gives the same bytes" {
	program
	spec 'sbom: {files: true, in_image: true}' 'provenance: true' 'layers: [{files: [{from: app, to: /usr/bin/app}], closure: [app]}]'
	build >/dev/null
	mkdir -p other/deeper && cp -a app slipway.yaml other/deeper/
	(cd other/deeper && umask 077 && TZ=Asia/Tokyo build --no-cache >/dev/null)
	for type in spdx+json vnd.cyclonedx+json vnd.in-toto+json; do
		attached build/image "application/$type" >a
		attached other/deeper/build/image "application/$type" >b
		[ -s a ]
		cmp a b
	done
	diff -r build/image/blobs other/deeper/build/image/blobs
}

@test "sbom: a later build into the same layout replaces what it says" {
	spec 'sbom: true' 'provenance: true' 'layers: [{files: [{from: tree, to: /opt}]}]'
	build >/dev/null
	GITLAB_CI=true CI_PROJECT_URL=https://gitlab.example.com/a CI_RUNNER_ID=1 CI_JOB_URL=https://gitlab.example.com/a/-/jobs/1 \
		build --set 'image.repository=r.example.com/renamed' >/dev/null
	[ "$(attached build/image application/spdx+json | json 'd["packages"][0]["name"]')" = r.example.com/renamed ]
	[ "$(attached build/image application/vnd.in-toto+json | json 'd["predicate"]["runDetails"]["builder"]["id"]')" = \
		https://gitlab.example.com/a/-/runners/1 ]
}

@test "sbom: the packages of a root are dpkg's, by what was packed and by what is read back" {
	program
	packages root
	spec 'sbom: true' 'layers: [{files: [{from: root/, to: /}]}]'
	build --no-check >/dev/null
	sbom build/image >packed.json
	sbom --read build/image >read.json
	judge packed.json >packed
	held root packed.json
	held root read.json
	# The only difference is the image's name.
	sed 's,"sample,"image,g; s,pkg:oci/sample,pkg:oci/image,' packed.json | cmp - read.json
	grep -q 'upstream=src-alpha%400.9$' packed
}

@test "sbom: members of packages, files of this machine and a base are told apart" {
	program
	packages root
	spec 'sbom: {files: true}' 'layers: [{files: [{from: root/, to: /}]}]'
	build --no-check -o base >/dev/null
	spec 'base: oci:base' 'sbom: {files: true}' \
		'layers: [{name: top, files: [{from: app, to: /usr/bin/app}, {from: tree/share, to: /usr/lib/libalpha.so}], deb: [gamma.deb], closure: [app]}]'
	sed -i 's,tree/share,tree/share/a.txt,' slipway.yaml
	build --no-check >/dev/null
	sbom build/image >doc.json
	judge doc.json >list
	grep -q '^pkg:deb/debian/alpha@' list
	grep -q '^pkg:deb/debian/gamma@1:1.0~rc1%2Bb2?arch=amd64&upstream=src-gamma%400.9$' list
	grep -q '^pkg:oci/base@sha256' list
	grep -qx 'LINK beta-tool libc6' list
	python3 - <<-'PY'
		import hashlib, json
		doc = json.load(open("doc.json"))
		files = {f["SPDXID"]: f for f in doc["files"]}
		names = {p["SPDXID"]: p for p in doc["packages"]}
		of = {}
		for r in doc["relationships"]:
		    if r["relatedSpdxElement"] in files:
		        of.setdefault(files[r["relatedSpdxElement"]]["fileName"], []).append(names[r["spdxElementId"]])
		by = {f["fileName"]: f for f in files.values()}
		sha = lambda path: hashlib.sha256(open(path, "rb").read()).hexdigest()
		# Replaced by the upper layer, and no longer the package's.
		assert by["./usr/lib/libalpha.so"]["checksums"][0]["checksumValue"] == sha("tree/share/a.txt")
		assert [p.get("comment") for p in of["./usr/lib/libalpha.so"]] == ["layer 'top'"]
		assert [p.get("comment") or p["name"] for p in of["./usr/lib/libbeta-tool.so"]] == ["layer of the base image", "beta-tool"]
		assert [p.get("comment") or p["name"] for p in of["./usr/lib/libgamma.so"]] == ["layer 'top'", "gamma"]
		assert by["./usr/bin/app"]["checksums"][0]["checksumValue"] == sha("app")
		assert by["./usr/bin/app"]["comment"] == "from app"
	PY
	# What is known of the base comes from the cache the second time.
	sed -i 's/{files: true}/true/' slipway.yaml
	build --no-check -o first >/dev/null
	build --no-check -o second >/dev/null
	build --no-check --no-cache -o third >/dev/null
	for other in second third; do cmp <(sbom first) <(sbom $other); done
}

@test "sbom: split and shared layers hold the files that the document says" {
	need bsdtar
	{
		printf 'apiVersion: slipway/v1\nname: sample\nimage:\n  sbom: {files: true, formats: [spdx]}\n'
		# shellcheck disable=SC2016 # slipway's variable
		printf '  layers: [{files: [{from: tree, to: /opt}, {from: "only-${arch}", to: /opt/only}], split: 1MiB}]\n'
	} >slipway.yaml
	mkdir tree/x tree/y tree/z
	for dir in x y z; do head -c 700000 /dev/urandom >tree/$dir/$dir; done
	echo amd64 >only-amd64
	echo arm64 >only-arm64
	build --no-check >/dev/null
	for arch in amd64 arm64; do
		sbom --platform linux/$arch build/image >doc.json
		judge doc.json >/dev/null
		python3 - <<-'PY' >expected
			import json
			doc = json.load(open("doc.json"))
			names = {p["SPDXID"]: p["name"] for p in doc["packages"] if "Layer" in p["SPDXID"]}
			files = {f["SPDXID"]: f["fileName"] for f in doc["files"]}
			for r in doc["relationships"]:
			    if r["relatedSpdxElement"] in files:
			        print(names[r["spdxElementId"]][7:], files[r["relatedSpdxElement"]][2:])
		PY
		[ "$(cut -d ' ' -f 1 expected | sort -u | wc -l)" -ge 3 ]
		while read -r blob path; do bsdtar -tf "build/image/blobs/sha256/$blob" | grep -qx "$path"; done <expected
	done
	[ -z "$(attached build/image application/vnd.cyclonedx+json)" ]
}

@test "sbom: in the image itself, as scanners read it" {
	program
	need umoci
	spec 'compression: gzip' 'sbom: {in_image: true, attach: false}' 'layers: [{files: [{from: app, to: /usr/bin/app}], closure: [app]}]'
	build >/dev/null
	mkdir out
	umoci unpack --rootless --image build/image:latest out >/dev/null 2>&1
	grep -qx "Version: $(dpkg-query -W -f='${Version}' libc6:amd64)" out/rootfs/var/lib/dpkg/status.d/libc6
	grep -qx 'Source: glibc' out/rootfs/var/lib/dpkg/status.d/libc6
	. /etc/os-release
	grep -qx "ID=$ID" out/rootfs/etc/os-release
	[ -z "$(attached build/image application/spdx+json)" ]
	sbom build/image >doc.json
	judge doc.json | grep -q '^pkg:deb/.*/libc6@'
	build --set 'image.sbom={files: true, in_image: true}' >/dev/null
	sbom build/image | json '[f["checksums"][0]["checksumValue"] for f in d["files"] if f["fileName"] == "./etc/os-release"][0]' >sum
	sha256sum <out/rootfs/etc/os-release | cut -d ' ' -f 1 | cmp - sum
}

@test "sbom: an arm64 image names what its libraries were made from, too" {
	[ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] || skip "no arm64 libraries"
	need aarch64-linux-gnu-gcc
	echo 'int main(void) { return 0; }' | aarch64-linux-gnu-gcc -x c - -o app
	spec 'sbom: true' 'layers: [{files: [{from: app, to: /usr/bin/app}], closure: [app]}]'
	build --set 'image.platforms=[linux/arm64]' >/dev/null
	sbom build/image >doc.json
	judge doc.json | grep -q '^pkg:deb/[a-z]*/libc6-arm64-cross@.*&upstream=glibc%40'
}

@test "sbom: documents go to the registry before the tag, and come back byte for byte" {
	start_registry
	make_spec slipway.yaml "repository: $REG/team/app" 'sbom: true' 'provenance: true'
	build >said
	grep -qx 'attached to each image: spdx, cyclonedx, provenance' said
	"$SLIPWAY" push --progress none build/image "$REG/team/app:v1" >said
	grep -qx '6 attached documents sent along' said
	for arch in amd64 arm64; do
		for format in spdx cyclonedx; do
			cmp <(sbom --format $format --platform linux/$arch build/image) \
				<(sbom --format $format --platform linux/$arch "$REG/team/app:v1")
		done
	done
	# The lists of both platforms' referrers; the tag is last.
	grep 'http.request.method=PUT' "$REGLOG" | grep -o 'manifests/[^" ]*' | sort -u >puts
	[ "$(grep -c sha256- puts)" -eq 2 ]
	[ "$(grep 'http.request.method=PUT' "$REGLOG" | grep -o 'manifests/[^" ]*' | tail -1)" = manifests/v1 ]
	# The index names images alone.
	run "$SLIPWAY" inspect --raw --progress none "$REG/team/app:v1"
	[[ $output != *unknown* && $output != *artifactType* ]]
	# Again: nothing is sent twice.
	"$SLIPWAY" push --progress none --output json build/image "$REG/team/app:v1" | json 'd["blobs_uploaded"], d["manifests_put"]' | grep -qx '(0, 0)'
}

@test "sbom: what is attached and is no such document is refused" {
	spec 'layers: [{files: [{from: tree, to: /opt}]}]'
	build >/dev/null
	python3 - <<-'PY'
		import hashlib, json
		def put(data):
		    data = data if isinstance(data, bytes) else json.dumps(data).encode()
		    digest = hashlib.sha256(data).hexdigest()
		    open("build/image/blobs/sha256/" + digest, "wb").write(data)
		    return {"digest": "sha256:" + digest, "size": len(data)}
		index = json.load(open("build/image/index.json"))
		root = json.load(open("build/image/blobs/sha256/" + index["manifests"][0]["digest"][7:]))
		image = {k: root["manifests"][0][k] for k in ("mediaType", "digest", "size")}
		empty = {"mediaType": "application/vnd.oci.empty.v1+json", **put(b"{}")}
		layer = {"mediaType": "application/spdx+json", **put({"bomFormat": "CycloneDX"})}
		manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		            "artifactType": "application/spdx+json", "config": empty, "layers": [layer], "subject": image}
		index["manifests"].append({"mediaType": manifest["mediaType"], "artifactType": manifest["artifactType"],
		                           **put(manifest), "annotations": {"dev.slipway.subject": image["digest"]}})
		json.dump(index, open("build/image/index.json", "w"))
	PY
	run sbom build/image:latest
	[ "$status" -ne 0 ]
	[[ $output == *"attached document"*"not a document of the form spdx"* ]]
	sbom --read build/image:latest | judge /dev/stdin >/dev/null
}

@test "provenance: says what was built from what, and holds no secret" {
	program
	packages root
	git init -q . && git -c user.name=n -c user.email=e@example.com commit -q --allow-empty -m x
	# shellcheck disable=SC2016 # slipway's variable
	spec 'repository: r.example.com/app' 'provenance: true' 'env: {KEY: "${env:PLANTED}"}' 'check: {off: [secret]}' \
		'layers: [{name: top, files: [{from: app, to: /usr/bin/app}], deb: [alpha.deb], closure: [app]}]'
	PLANTED=planted-secret GITHUB_ACTIONS=true GITHUB_SERVER_URL=https://u:planted-secret@github.com GITHUB_REPOSITORY=a/b \
		GITHUB_RUN_ID=7 GITHUB_RUN_ATTEMPT=1 GITHUB_TOKEN=planted-secret RUNNER_ENVIRONMENT=github-hosted \
		"$SLIPWAY" build --progress none --no-check --set image.labels.x=planted-secret >/dev/null
	attached build/image application/vnd.in-toto+json >statement
	run ! grep planted statement
	[ "$(json 'd["subject"][0]["digest"]["sha256"]' <statement)" = \
		"$("$SLIPWAY" inspect --progress none --output json build/image:latest | json 'd["images"][0]["digest"][7:]')" ]
	[ "$(json 'd["predicate"]["runDetails"]["metadata"]["invocationId"]' <statement)" = https://github.com/a/b/actions/runs/7/attempts/1 ]
	[ "$(json '[i["digest"]["gitCommit"] for i in d["predicate"]["buildDefinition"]["resolvedDependencies"] if i["name"] == "source"][0]' <statement)" = "$(git rev-parse HEAD)" ]
	[ "$(json '[i["digest"]["sha256"] for i in d["predicate"]["buildDefinition"]["resolvedDependencies"] if i["name"] == "alpha.deb"][0]' <statement)" = "$(sha256sum <alpha.deb | cut -d ' ' -f 1)" ]
	[ "$(json 'd["predicate"]["buildDefinition"]["externalParameters"]["spec"]["digest"]["sha256"]' <statement)" = "$(sha256sum <slipway.yaml | cut -d ' ' -f 1)" ]
	[ "$(json 'd["predicate"]["buildDefinition"]["externalParameters"]["overrides"]' <statement)" = "['image.labels.x']" ]
	json '[i for i in d["predicate"]["buildDefinition"]["resolvedDependencies"] if i.get("uri", "").startswith("pkg:deb/") and i["name"] == "libc6"][0]' <statement >/dev/null
}

# debian ROOT [PACKAGE...]: a Debian system that apt puts together from the archives that this machine uses.
debian() {
	local root=$1
	shift
	[ "$EUID" -eq 0 ] || skip "a Debian system is put together by root alone"
	need mmdebstrap
	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format 'deb $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' \
		"Architecture: $(dpkg --print-architecture)" | sort -u >archives.list
	[ -s archives.list ] || skip "apt has no list of Debian's packages: apt-get update"
	local uri codename
	read -r _ uri codename _ <archives.list
	curl -fsI -m 60 "${uri%/}/dists/$codename/InRelease" >/dev/null || skip "the archive $uri does not answer"
	codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	mmdebstrap --quiet --mode=root --variant="${VARIANT:-essential}" --include="$(IFS=, && echo "$*")" "$codename" root.tar archives.list
	mkdir "$root" && tar -C "$root" --exclude='./dev/*' -xf root.tar
}

# twice INPUT...: builds here, and again where the inputs are elsewhere, at another time; the layouts' index.json, which names
# image and documents by digest, has the same bytes.
twice() {
	build --no-check >/dev/null
	mkdir -p other/deeper && cp slipway.yaml other/deeper && mv "$@" other/deeper
	(cd other/deeper && umask 027 && TZ=Asia/Tokyo build --no-check --no-cache >/dev/null)
	cmp build/image/index.json other/deeper/build/image/index.json
	(cd other/deeper && mv "$@" ../..)
}

# judged: the attached documents of both forms validate and say the same; read.json is read from the layers.
judged() {
	sbom build/image >packed.json
	sbom --format cyclonedx build/image >packed-cyclonedx.json
	judge packed.json >spdx
	judge packed-cyclonedx.json >cyclonedx
	cmp spdx cyclonedx
	sbom --read build/image >read.json
	judge read.json >/dev/null
}

@test "sbom: Python on a base of Debian: dpkg's packages and pip's, to the last one" {
	debian root python3
	spec 'layers: [{files: [{from: root/, to: /}]}]'
	"$SLIPWAY" build --progress none --no-check -o base >/dev/null
	curl -fsI -m 60 https://pypi.org/simple/six/ >/dev/null || skip "PyPI does not answer"
	/usr/bin/python3 -m pip install --quiet --no-deps --no-compile --target wheels six==1.16.0 packaging==24.0
	spec 'base: oci:base' 'sbom: true' 'layers: [{files: [{from: wheels/, to: /usr/local/lib/python3/dist-packages}]}]'
	twice base wheels
	judged
	for document in packed.json read.json; do
		held root "$document"
		json '"\n".join(sorted(r["referenceLocator"] for p in d["packages"] for r in p.get("externalRefs", []) if r["referenceLocator"].startswith("pkg:pypi/")))' <"$document" >pypi
		[ "$(cat pypi)" = "pkg:pypi/packaging@24.0"$'\n'"pkg:pypi/six@1.16.0" ]
	done
}

@test "sbom: a Debian system of 400 packages is dpkg's to the last one" {
	[ -n "${SLIPWAY_TEST_LONG:-}" ] || skip "puts 400 packages together: in the long run alone"
	VARIANT=buildd debian root python3 gnome-icon-theme libgtk-3-0 ffmpeg git openjdk-17-jre-headless
	spec 'sbom: true' 'layers: [{files: [{from: root/, to: /}]}]'
	twice root
	judged
	held root packed.json
	[ "$(wc -l <expected)" -ge 400 ]
	held root read.json
}

@test "sbom: syft finds the same packages in an image from scratch" {
	local syft=$ROOT/${BUILD:-build}/judges/syft
	if [[ ! -x $syft ]]; then
		[[ ${SLIPWAY_TEST_REQUIRE:-} != *syft* ]]
		skip "syft is not built: tests/judges/build build/judges syft"
	fi
	program
	packages root
	spec 'sbom: {in_image: true}' 'layers: [{deb: [alpha.deb, gamma.deb], files: [{from: app, to: /usr/bin/app}], closure: [app]}]'
	build --no-check --format oci-archive -o image.tar >/dev/null
	SYFT_CHECK_FOR_APP_UPDATE=false "$syft" scan --quiet oci-archive:image.tar -o json >syft.json
	# An epoch's colon may be encoded or not.
	json '"\n".join(a["purl"].replace("%3A", ":") for a in d["artifacts"])' <syft.json | LC_ALL=C sort >found
	sbom image.tar | json '"\n".join(r["referenceLocator"] for p in d["packages"] for r in p.get("externalRefs", []) if r["referenceLocator"].startswith("pkg:deb/"))' |
		LC_ALL=C sort >expected
	[ "$(wc -l <expected)" -ge 3 ]
	diff expected found
	[ "$(json 'd["distro"]["id"]' <syft.json)" = "$(sed -n 's/^ID=//p' /etc/os-release)" ]
}

# rpm_root DIR LINE...: packages of rpm, one a line "NAME VERSION RELEASE EPOCH|-", built and installed by rpm itself.
rpm_root() {
	need rpmbuild
	local root=$PWD/$1 line name version release epoch
	shift
	for line; do
		read -r name version release epoch <<<"$line"
		{
			printf 'Name: %s\nVersion: %s\nRelease: %s\nSummary: x\nLicense: MIT\nVendor: Some One\n' "$name" "$version" "$release"
			[[ $epoch == - ]] || printf 'Epoch: %s\n' "$epoch"
			printf '%%description\nx\n%%install\nmkdir -p %%{buildroot}/usr/bin\ncp %s/app %%{buildroot}/usr/bin/%s\n%%files\n/usr/bin/%s\n' "$PWD" "$name" "$name"
		} >"$name.spec"
		rpmbuild --quiet --define "_topdir $PWD/rpmbuild" --define '_build_id_links none' -bb "$name.spec" >/dev/null
	done
	mkdir -p "$root/etc"
	printf 'ID="amzn"\nVERSION_ID="2023"\n' >"$root/etc/os-release"
	rpm --root "$root" --dbpath /var/lib/rpm --initdb 2>/dev/null
	rpm --root "$root" --dbpath /var/lib/rpm -i --nodeps rpmbuild/RPMS/*/*.rpm 2>/dev/null
}

@test "sbom: packages of rpm's SQLite database are those that rpm lists, and their files are theirs" {
	[ "$EUID" -eq 0 ] || skip "rpm installs into another root as root alone"
	program
	rpm_root root 'one 1.0 3.amzn2023 -' 'two-tools 2.5~rc1^git1 1 2' 'three 1.0+x 4 0'
	spec 'sbom: true' 'layers: [{files: [{from: root/, to: /}]}]'
	build --no-check >/dev/null
	sbom build/image >spdx.json
	judge spdx.json >listed
	sbom --read build/image >read.json
	judge read.json >/dev/null
	rpm --root "$PWD/root" --dbpath /var/lib/rpm -qa --qf '%{NAME} %{VERSION}-%{RELEASE} %{ARCH} %|EPOCH?{%{EPOCH}}:{0}| %{SOURCERPM}\n' 2>/dev/null | LC_ALL=C sort >expected
	[ "$(wc -l <expected)" = 3 ]
	for document in spdx.json read.json; do
		run ! grep -q 'Not complete' "$document"
		python3 - "$document" <<-'PY' | LC_ALL=C sort | diff expected -
			import json, sys
			from urllib.parse import unquote
			for p in json.load(open(sys.argv[1]))["packages"]:
			    for r in p.get("externalRefs", []):
			        if r["referenceLocator"].startswith("pkg:rpm/amzn/"):
			            path, query = r["referenceLocator"].split("?")
			            name, version = path.split("/")[2].split("@")
			            q = {k: unquote(v) for k, v in (i.split("=") for i in query.split("&"))}
			            assert q["distro"] == "amzn-2023"
			            print(name, unquote(version), q["arch"], q.get("epoch", "0"), q["upstream"])
		PY
	done
	# The program of a package is no ELF file of its own.
	run ! grep -qx 'LINK two-tools.*' <(grep -v two-tools listed)
	[ "$(grep -c '"packageFileName":"/usr/bin/' spdx.json)" = 0 ]
	# What rpm has not yet put into its database, and a database that is none, are said.
	echo log >root/var/lib/rpm/rpmdb.sqlite-wal
	build --no-check >/dev/null
	sbom build/image | grep -q 'Not complete: .*rpmdb.sqlite-wal: packages that rpm wrote last are in its log'
	: >root/var/lib/rpm/rpmdb.sqlite-wal
	head -c 5000 root/var/lib/rpm/rpmdb.sqlite >cut && cp cut root/var/lib/rpm/rpmdb.sqlite
	build --no-check >/dev/null
	sbom build/image | grep -q 'Not complete: /var/lib/rpm/rpmdb.sqlite: '
}
