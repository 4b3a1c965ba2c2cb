#!/usr/bin/env bats
# Vulnerabilities in databases that are files. The judges: dpkg and PyPA's packaging for versions, and a table of verdicts.
# shellcheck disable=SC2016,SC2154 # JavaScript has $; run sets stderr

load lib
setup() { common_setup; }
teardown() { common_teardown; }

scan() { "$SLIPWAY" scan --progress none "$@"; }

# root NAME/VERSION[/SOURCE_LINE]...: an image of a Debian 12 root in which dpkg has these packages.
root() {
	local package name version source
	rm -rf root image
	mkdir -p root/etc root/var/lib/dpkg
	printf 'ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n' >root/etc/os-release
	for package; do
		IFS=/ read -r name version source <<<"$package"
		printf 'Package: %s\nStatus: install ok installed\nArchitecture: amd64\nVersion: %s\n' "$name" "$version"
		[[ -z $source ]] || printf 'Source: %s\n' "$source"
		echo
	done >root/var/lib/dpkg/status
	pack
}

# The folder root as an image.
pack() {
	printf 'apiVersion: slipway/v1\nname: sample\nimage:\n  platforms: [linux/amd64]\n  layers: [{files: [{from: root/, to: /}]}]\n' >slipway.yaml
	"$SLIPWAY" build --progress none --no-check -o image >/dev/null
}

# tracker FILE: Debian's tracker of lines "SOURCE CVE SUITE STATUS FIXED|- URGENCY" on standard input.
tracker() {
	python3 - "$1" 3<&0 <<-'PY'
		import json, os, sys
		db = {}
		for line in os.fdopen(3):
		    source, cve, suite, status, fixed, urgency = line.split(maxsplit=5)
		    it = db.setdefault(source, {}).setdefault(cve, {"description": "d", "scope": "remote", "releases": {}})
		    it["releases"][suite] = {"status": status, "repositories": {suite: "0"}, "urgency": urgency.strip(),
		                             **({} if fixed == "-" else {"fixed_version": fixed})}
		json.dump(db, open(sys.argv[1], "w"))
	PY
}

# found JSON: "NAME SEVERITY PACKAGE" of each finding that counts.
found() { json '"\n".join(" ".join((f["name"], f["severity"], f["package"])) for i in d["images"] for f in i["findings"] if "waived" not in f)' <"$1"; }

@test "scan: the table, the JSON and the exit status are those of ECR's scan" {
	root libssl3/3.0.1-1/openssl gone/1-1
	tracker db.json <<-'X'
		openssl CVE-2026-1 bookworm resolved 3.0.2-1 high
		openssl CVE-2026-2 bookworm open - not yet assigned
		openssl CVE-2026-3 bookworm resolved 3.0.1-1 high
		gone CVE-2026-4 trixie open - high
	X
	run --separate-stderr scan --db db.json image
	[ "$status" = 3 ]
	grep -q ' linux/amd64: 1 HIGH, 1 UNDEFINED$' <<<"$output"
	grep -qx '  HIGH          CVE-2026-1           libssl3 3.0.1-1, fixed in 3.0.2-1' <<<"$output"
	grep -qx '  UNDEFINED     CVE-2026-2           libssl3 3.0.1-1' <<<"$output"
	grep -qx 'slipway: error: 1 finding of severity HIGH or worse' <<<"$stderr"
	run scan --db db.json --output json --severity critical image
	[ "$status" = 0 ]
	echo "$output" >out.json
	[ "$(found out.json)" = $'CVE-2026-1 HIGH libssl3\nCVE-2026-2 UNDEFINED libssl3' ]
	[ "$(json 'd["databases"][0]["kind"], d["databases"][0]["records"], d["refused"], d["threshold"]' <out.json)" = "('Debian security tracker', 2, 0, 'CRITICAL')" ]
	[ "$(json 'd["images"][0]["counts"]' <out.json)" = "{'HIGH': 1, 'UNDEFINED': 1}" ]
}

@test "scan: versions are ordered as dpkg orders them" {
	need dpkg
	python3 - "$(series 1500)" <<-'PY'
		import random, sys
		random.seed(3)
		parts = ["0", "1", "2", "10", "00", "9", "a", "rc", "~", "~~", "+", ".", "-", "+b1", "+deb12u1", "~bpo12", "Z"]
		def version():
		    v = "1" + "".join(random.choice(parts) for _ in range(random.randrange(6)))
		    return (f"{random.randrange(3)}:" if random.random() < .2 else "") + (v[:-1] if v.endswith("-") else v)
		with open("pairs", "w") as out:
		    for i in range(int(sys.argv[1])):
		        a = version()
		        b = a + random.choice(parts[:6] + parts[11:12] + parts[13:16]) if random.random() < .3 else version()
		        print(f"p{i} {a} {b}", file=out)
	PY
	while read -r name a b; do
		dpkg --compare-versions "$a" lt "$b" 2>/dev/null && echo "CVE-1 HIGH $name"
	done <pairs | sort >expected
	mapfile -t packages < <(sed 's|^\([^ ]*\) \([^ ]*\) .*|\1/\2|' pairs)
	root "${packages[@]}"
	sed 's/^\([^ ]*\) [^ ]* \(.*\)/\1 CVE-1 bookworm resolved \2 high/' pairs | tracker db.json
	run ! scan --db db.json --output json image
	scan --db db.json --output json image 2>/dev/null >out.json || true
	found out.json | sort | diff expected -
	[ "$(wc -l <expected)" -gt 20 ]
}

@test "scan: versions of Python packages are ordered as PyPA's own code orders them" {
	python3 -c 'import packaging.version' 2>/dev/null || python3 -c 'import pip._vendor.packaging.version' 2>/dev/null || skip "python3-pip is not installed"
	python3 - "$(series 4000)" <<-'PY'
		import json, os, random, sys
		try:
		    from packaging.version import Version
		except ImportError:
		    from pip._vendor.packaging.version import Version
		random.seed(4)
		def version():
		    c = random.choice
		    return (c(["", "", "", "1!"]) + ".".join(c("0 0 1 2 10".split()) for _ in range(random.randint(1, 4))) +
		            c(["", "", "a1", "b2", "rc1", ".alpha1", "_beta", "-c3", "preview2"]) +
		            c(["", "", ".post1", "-1", "r2", "post"]) + c(["", "", ".dev1", "dev"]) + c(["", "", "+l.1", "+abc", "+1.2"]))
		os.makedirs("osv")
		expected = []
		for i in range(int(sys.argv[1])):
		    a, b = version(), version()
		    os.makedirs(f"root/usr/lib/python3/site-packages/p{i}-1.dist-info")
		    with open(f"root/usr/lib/python3/site-packages/p{i}-1.dist-info/METADATA", "w") as out:
		        out.write(f"Metadata-Version: 2.1\nName: P_{i}\nVersion: {a}\n")
		    kind, hit = random.choice([("fixed", Version(a) < Version(b)), ("last_affected", Version(a) <= Version(b))])
		    json.dump({"id": f"PYSEC-{i}", "modified": "2026-03-01T00:00:00Z", "affected": [{
		        "package": {"ecosystem": "PyPI", "name": f"p.{i}"},
		        "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {kind: b}]}]}]}, open(f"osv/{i}.json", "w"))
		    if hit:
		        expected.append(f"PYSEC-{i} UNDEFINED p-{i}")
		print(*sorted(expected), sep="\n", file=open("expected", "w"))
	PY
	pack
	scan --db osv --output json image >out.json
	found out.json | LC_ALL=C sort >got
	LC_ALL=C sort expected | diff - got
	[ "$(json 'd["databases"][0]["modified"]' <out.json)" = 2026-03-01T00:00:00Z ]
}

# judged TYPE ECOSYSTEM QUALIFIERS: the pairs of `pairs` (NAME, VERSION, FIXED, 1 if it is older), as packages of a document.
judged() {
	python3 - "$@" <<-'PY'
		import json, os, sys
		from urllib.parse import quote
		kind, ecosystem, distro = sys.argv[1:]
		os.makedirs("osv")
		components, expected = [], []
		for line in open("pairs"):
		    name, version, fixed, older = line.split()
		    components.append({"type": "library", "name": name, "purl": f"pkg:{kind}/{name}@{quote(version)}{distro}"})
		    json.dump({"id": f"X-{name}", "modified": "2026-03-01T00:00:00Z", "affected": [{
		        "package": {"ecosystem": ecosystem, "name": name},
		        "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": fixed}]}]}]}, open(f"osv/{name}.json", "w"))
		    if older == "1":
		        expected.append(f"X-{name} UNDEFINED {name}")
		json.dump({"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components}, open("bom.json", "w"))
		print(*sorted(expected), sep="\n", file=open("expected", "w"))
	PY
	root
	attach_bom
	scan --db osv --output json image >out.json
	found out.json | LC_ALL=C sort >got
	LC_ALL=C sort expected | diff - got
	[ "$(wc -l <expected)" -gt 20 ]
}

# attach_bom: bom.json becomes the document that is attached to the image.
attach_bom() {
	python3 - <<-'PY'
		import hashlib, json
		def put(data):
		    digest = hashlib.sha256(data).hexdigest()
		    open("image/blobs/sha256/" + digest, "wb").write(data)
		    return {"digest": "sha256:" + digest, "size": len(data)}
		index = json.load(open("image/index.json"))
		root = json.load(open("image/blobs/sha256/" + index["manifests"][0]["digest"][7:]))
		subject = root["manifests"][0]
		kind, manifest = "application/vnd.cyclonedx+json", "application/vnd.oci.image.manifest.v1+json"
		doc = {"schemaVersion": 2, "mediaType": manifest, "artifactType": kind,
		       "config": {"mediaType": "application/vnd.oci.empty.v1+json", **put(b"{}")},
		       "layers": [{"mediaType": kind, **put(open("bom.json", "rb").read())}], "subject": subject}
		index["manifests"].append({"mediaType": manifest, **put(json.dumps(doc).encode()), "artifactType": kind,
		                           "annotations": {"dev.slipway.subject": subject["digest"]}})
		json.dump(index, open("image/index.json", "w"))
	PY
}

@test "scan: versions are ordered as rpm orders them" {
	need rpm
	python3 - "$(series 1500)" <<-'PY' >versions
		import random, sys
		random.seed(5)
		parts = ["0", "1", "2", "10", "00", "9", "a", "rc", "~", "~~", "^", "^git", ".", "_", "+", "Z", ".01", "fc"]
		for i in range(int(sys.argv[1])):
		    def version():
		        part = lambda: "1" + "".join(random.choice(parts) for _ in range(random.randrange(5)))
		        return part() + "-" + part()
		    a = version()
		    print(f"p{i}", a, a[:-1] + random.choice("0129a") if random.random() < .3 else version())
	PY
	# rpm judges in one go: Lua's rpm.vercmp compares whole versions with their release.
	{
		echo '%{lua:'
		sed 's/^\([^ ]*\) \([^ ]*\) \([^ ]*\)$/print("\1 \2 \3 " .. (rpm.vercmp("\2", "\3") < 0 and 1 or 0) .. "\\n")/' versions
		echo '}'
	} >macro
	rpm --eval "$(cat macro)" | grep -E '^p[0-9]+ ' >pairs
	[ "$(wc -l <pairs)" = "$(wc -l <versions)" ]
	judged rpm/almalinux AlmaLinux:9 '?distro=almalinux-9.4'
}

@test "scan: versions are ordered as npm orders them" {
	need node
	for SEMVER in /usr/share/nodejs/semver /usr/lib/node_modules/npm/node_modules/semver ''; do
		[ ! -e "$SEMVER" ] || break
	done
	[ -n "$SEMVER" ] || skip "node-semver is not installed"
	SEMVER=$SEMVER node -e '
		const semver = require(process.env.SEMVER);
		let seed = 6;
		const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
		const pre = ["", "", "-0", "-1", "-alpha", "-alpha.1", "-alpha.beta", "-beta.2", "-beta.11", "-rc.1", "-rc.1+b", "+b"];
		const version = () => [0, 1, 2].map(() => [0, 1, 2, 10][random(4)]).join(".") + pre[random(pre.length)];
		for (let i = 0; i < Number(process.argv[1]); i++) {
			const a = version(), b = version();
			console.log(`p${i} ${a} ${b} ${semver.lt(a, b) ? 1 : 0}`);
		}' "$(series 1500)" >pairs
	judged npm npm ''
}

@test "scan: a dump of OSV is the same as a zip archive, a folder, a list, lines, and compressed" {
	root libssl3/3.0.1-1/openssl
	mkdir osv
	for i in 1 2 3; do
		printf '{"id": "DEBIAN-CVE-2026-%s", "modified": "2026-0%s-01T00:00:00Z", "affected": [{"package": {"ecosystem": "Debian:12", "name": "openssl"}, "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "3.0.%s-1"}]}], "ecosystem_specific": {"urgency": "high"}}]}\n' "$i" "$i" "$i" >"osv/$i.json"
	done
	cat osv/*.json >lines.json
	python3 - <<-'PY'
		import zipfile
		records = [l for l in open("lines.json")]
		open("list.json", "w").write("[" + ",".join(records) + "]")
		with zipfile.ZipFile("all.zip", "w", zipfile.ZIP_DEFLATED) as z:
		    for i, r in enumerate(records):
		        z.writestr(f"{i}.json", r)
		    z.writestr("README", "no record")
	PY
	gzip -k lines.json && xz -k list.json
	for db in osv lines.json list.json all.zip lines.json.gz list.json.xz; do
		run scan --db "$db" --severity critical image
		[ "$status" = 0 ]
		[ "${lines[0]}" = "$db: OSV, 3 records, as of 2026-03-01T00:00:00Z" ]
		printf '%s\n' "${lines[@]:1}" >"got.$db"
		cmp got.osv "got.$db"
	done
	grep -q 'CVE-2026-2 .*fixed in 3.0.2-1' got.osv
	[ "$(wc -l <got.osv)" = 3 ]
}

@test "scan: two databases are one answer, and the severity comes from the one that rates" {
	root libssl3/3.0.1-1/openssl
	echo 'openssl CVE-2026-1 bookworm resolved 3.0.2-1 not yet assigned' | tracker db.json
	echo '{"id": "CVE-2026-1", "modified": "2026-01-01T00:00:00Z", "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}], "affected": [{"package": {"ecosystem": "Debian:12", "name": "openssl"}, "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]}]}' >osv.json
	run --separate-stderr "$SLIPWAY" scan --db db.json image
	[ "$status" = 0 ]
	grep -q '^1 finding is UNDEFINED: no database rates it' <<<"$stderr"
	run scan --db db.json --db osv.json image
	[ "$status" = 3 ]
	grep -qx '  CRITICAL      CVE-2026-1           libssl3 3.0.1-1, fixed in 3.0.2-1' <<<"$output"
}

@test "scan: what no database covers is an error, not an image without findings" {
	root libssl3/3.0.1-1/openssl
	echo 'openssl CVE-2026-1 trixie open - high' | tracker db.json
	run scan --db db.json image
	[ "$status" = 1 ]
	grep -q "no database says anything of Debian bookworm (1 package, as pkg:deb/debian/libssl3@3.0.1-1" <<<"$output"
	grep -q 'hint: .*--db' <<<"$output"
	run scan --db db.json --allow-unjudged --output json image
	[ "$status" = 0 ]
	grep -q 'no database says anything of Debian bookworm' <<<"$output"
	# A release without a number is judged by the one that the user names.
	printf 'ID=debian\n' >root/etc/os-release
	rm -rf image && pack
	echo 'openssl CVE-2026-1 sid open - high' | tracker db.json
	run scan --db db.json image
	[ "$status" = 1 ]
	grep -q 'of deb of debian' <<<"$output"
	run scan --db db.json --suite sid image
	[ "$status" = 3 ]
	# Nor is a database that was never fetched.
	run scan --db nowhere.json image
	[ "$status" = 1 ]
	grep -q "database 'nowhere.json'" <<<"$output"
	: >empty.json
	run scan --db empty.json image
	[ "$status" = 1 ]
	grep -q "database 'empty.json': there is no record in it" <<<"$output"
}

@test "scan: the attached document is asked, for it knows what the layers do not show" {
	need gcc
	echo 'int main(void) { return 0; }' | gcc -x c - -o app
	printf 'apiVersion: slipway/v1\nname: sample\nimage:\n  platforms: [linux/amd64]\n  sbom: {formats: [cyclonedx]}\n  layers: [{files: [{from: app, to: /app}], closure: [app]}]\n' >slipway.yaml
	"$SLIPWAY" build --progress none --no-check -o image >/dev/null
	# This machine may be any Debian.
	local release
	release=$(sed -n "s/^VERSION_CODENAME=//p" /etc/os-release)
	release=${release:-sid}
	echo "glibc CVE-2026-1 $release open - high" | tracker db.json
	run scan --db db.json --suite "$release" image
	[ "$status" = 3 ]
	grep -q 'HIGH *CVE-2026-1 *libc6 ' <<<"$output"
	run scan --db db.json --read image
	[ "$status" = 0 ]
	grep -q 'no findings' <<<"$output"
}

@test "scan: a waiver is shown with its reason, and one that waives nothing is said" {
	root libssl3/3.0.1-1/openssl
	printf '%s\n' 'openssl CVE-2026-1 bookworm open - high' 'openssl CVE-2026-2 bookworm open - low' | tracker db.json
	cat >vex.json <<-'X'
		{"@context": "https://openvex.dev/ns/v0.2.0", "@id": "https://example.com/vex/1", "author": "team", "version": 1,
		 "timestamp": "2026-01-01T00:00:00Z",
		 "statements": [
		  {"vulnerability": {"name": "CVE-2026-1"}, "products": [{"@id": "pkg:deb/debian/libssl3"}],
		   "status": "not_affected", "justification": "vulnerable_code_not_in_execute_path", "impact_statement": "no TLS here"},
		  {"vulnerability": {"name": "CVE-2020-9"}, "products": [{"@id": "pkg:deb/debian/libssl3"}], "status": "fixed"}]}
	X
	run --separate-stderr "$SLIPWAY" scan --db db.json --vex vex.json image
	[ "$status" = 0 ]
	grep -qx '  waived        CVE-2026-1           libssl3 3.0.1-1: not_affected: vulnerable_code_not_in_execute_path: no TLS here' <<<"$output"
	grep -q ' linux/amd64: 1 LOW$' <<<"$output"
	grep -q '^vex.json:6:3: CVE-2020-9: it waives nothing that was found$' <<<"$stderr"
	sed -i 's/"fixed"/"perhaps"/' vex.json
	run scan --db db.json --vex vex.json image
	[ "$status" = 1 ]
	grep -q '^vex.json:6:[0-9]*: error: .*the status has to be' <<<"$output"
}

@test "scan: options of one scan are refused with the other" {
	root libssl3/1
	for option in '--vex x' '--suite sid' --read --allow-unjudged; do
		# shellcheck disable=SC2086
		run scan $option image
		[ "$status" = 2 ]
		grep -q 'needs --db' <<<"$output"
	done
	run scan --db x --start image
	[ "$status" = 2 ]
}

@test "scan: a database of 60 MB needs no more memory than its largest package" {
	root libssl3/3.0.1-1/openssl
	python3 - <<-'PY'
		import json
		entry = {"description": "d" * 200, "scope": "remote", "releases": {s: {"status": "resolved", "repositories": {s: "1.0-1"},
		         "fixed_version": "1.0-1", "urgency": "not yet assigned"} for s in ("bookworm", "bullseye", "sid", "trixie")}}
		db = {f"source{i}": {f"CVE-2026-{k}": entry for k in range(40)} for i in range(2000)}
		db["openssl"] = {"CVE-2026-1": {"releases": {"bookworm": {"status": "open", "urgency": "high"}}}}
		json.dump(db, open("db.json", "w"))
	PY
	[ "$(stat -c %s db.json)" -gt 50000000 ]
	run python3 - "$SLIPWAY" <<-'PY'
		import resource, subprocess, sys
		status = subprocess.run([sys.argv[1], "scan", "--progress", "none", "--db", "db.json", "image"], stdout=open("out", "w")).returncode
		print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, status)
		sys.exit(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > 40 << 10 or status != 3)
	PY
	echo "$output"
	[ "$status" = 0 ]
}

@test "scan: files made to do harm are refused at once" {
	root libssl3/3.0.1-1/openssl
	python3 - <<-'PY'
		import gzip, zipfile
		with zipfile.ZipFile("zeros.zip", "w", zipfile.ZIP_DEFLATED) as z:
		    z.writestr("1.json", b" " * (100 << 20))
		with gzip.open("deep.json.gz", "wb") as out:
		    out.write(b'{"a":' + b"[" * (1 << 20))
		with gzip.open("values.json.gz", "wb") as out:
		    out.write(b'{"a":{"b":[' + b"0," * (20 << 20) + b"0]}}")
		with gzip.open("string.json.gz", "wb") as out:
		    out.write(b'{"a":{"b":"' + b"x" * (100 << 20))
		open("cut.zip", "wb").write(open("zeros.zip", "rb").read()[:1000])
		open("nul.json", "wb").write(b'{"a":{"b":{}}}\0')
		open("zip.json", "wb").write(b"PK\3\4 not really")
	PY
	for db in zeros.zip deep.json.gz values.json.gz string.json.gz cut.zip nul.json zip.json /dev/zero; do
		run bash -c 'ulimit -v 700000; timeout 20 "$0" scan --progress none --db "$1" image' "$SLIPWAY" "$db"
		echo "$db: $output"
		[ "$status" = 1 ]
		grep -q "database '$db'" <<<"$output"
	done
}
