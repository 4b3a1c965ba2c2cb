#!/usr/bin/env bats
# Signatures: ours before cosign, cosign's before us, and those of nobody. cosign comes from tests/judges.

load lib

setup() {
	common_setup
	start_registry
	unset COSIGN_PASSWORD
	make_tree tree
	make_spec slipway.yaml
	"$SLIPWAY" build --progress none -o image >/dev/null 2>&1
	new_key k
}
teardown() { [[ -z ${PIDS:-} ]] || common_teardown; }

# new_key NAME: NAME.pem and NAME.pub
new_key() {
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.pem" 2>/dev/null
	openssl pkey -in "$1.pem" -pubout -out "$1.pub"
}

# push NAME: the image in the repository NAME of the registry; sets REF and DIGEST.
push() {
	REF=$REG/$1:v1
	DIGEST=$("$SLIPWAY" push --progress none image "$REF" | digest_line)
}

sign() { "$SLIPWAY" sign --progress none "$@"; }
verify() { "$SLIPWAY" verify --progress none "$@"; }

cosign_needed() {
	judge_needed cosign
	COSIGN=$JUDGES/cosign
}

# Keyed and without a log: cosign asks for its mirror of roots otherwise.
cosign_verify() { "$COSIGN" verify --insecure-ignore-tlog=true --allow-insecure-registry "$@" 2>&1; }
cosign_sign() {
	COSIGN_PASSWORD=${PASSWORD:-} "$COSIGN" sign --yes --use-signing-config=false --tlog-upload=false \
		--allow-insecure-registry "$@" 2>&1
}
cosign_keys() { (cd "$1" && COSIGN_PASSWORD=pw "$COSIGN" generate-key-pair >/dev/null 2>&1); }

@test "sign: the key that signed is found again, in both forms, for the index and each platform" {
	push app
	sign --key k.pem --format bundle --format tag -a stage=release "$REF" >sign.out
	[ "$(head -n 1 sign.out | cut -d' ' -f 1-6)" = "6 signatures made, 0 already there," ]
	[ "$(tail -n 1 sign.out)" = "$DIGEST" ]
	verify --key k.pub --recursive -a stage=release "$REF" >verify.out
	[ "$(tail -n 1 verify.out)" = "$DIGEST" ]
	grep -q "^  bundle sha256:.*, stage=release$" verify.out
	grep -q "^  tag sha256:.*, as $REG/app, stage=release$" verify.out
	[ "$(grep -c '^covers linux/' verify.out)" = 2 ]
	# A second time there is nothing to do.
	sign --key k.pem --format bundle --format tag -a stage=release "$REF" | grep -q '^0 signatures made, 6 already there'
	# Another annotation, another platform, a private key in place of its public one.
	run ! verify --key k.pub -a stage=test "$REF"
	[ "$status" = 3 ]
	[[ $output == *"its annotation 'stage' is 'release' instead of 'test'"* ]]
	verify --key k.pem --platform linux/arm64 --output json "$REF" | json 'len(d["covers"])' | grep -qx 1
}

@test "sign: a key that has not signed, an image without signatures and one under another digest are refused" {
	push app
	new_key other
	run ! verify --key k.pub "$REF"
	[ "$status" = 3 ]
	[[ $output == *"$DIGEST is not signed"* ]]
	sign --key k.pem "$REF" >/dev/null
	run ! verify --key other.pub "$REF"
	[ "$status" = 3 ]
	[[ $output == *"it is signed by another key, which it calls"* ]]
	# Of two keys each has to have signed.
	run ! verify --key k.pub --key other.pub "$REF"
	sign --key other.pem "$REF" >/dev/null
	verify --key k.pub --key other.pub "$REF" >/dev/null
	echo changed >tree/share/a.txt
	"$SLIPWAY" build --progress none -o image >/dev/null 2>&1
	push app
	run ! verify --key k.pub "$REF"
	[[ $output == *"$DIGEST is not signed"* ]]
}

@test "sign: an image in a layout is signed there, and the signature goes when the image does" {
	sign --key k.pem --format bundle --format tag image >/dev/null
	verify --key k.pub --recursive image >verify.out
	grep -q '^  bundle' verify.out
	# The layout still has one image, whatever is attached to it.
	[ "$("$SLIPWAY" inspect image | head -n 1)" = "$(tail -n 1 verify.out)" ]
	sign --key k.pem image | grep -q '^0 signatures made'
	before=$(find image/blobs -type f | wc -l)
	echo changed >tree/share/a.txt
	"$SLIPWAY" build --progress none -o image >/dev/null 2>&1
	[ "$(json 'sum("dev.slipway.subject" in (m.get("annotations") or {}) for m in d["manifests"])' <image/index.json)" = 0 ]
	[ "$(find image/blobs -type f | wc -l)" -lt "$before" ]
	run ! verify --key k.pub image
}

@test "sign: keys of openssl and cosign are read, and others refused with what to do" {
	push app
	facts() { openssl genpkey -quiet -algorithm "$@" 2>/dev/null; }
	facts EC -pkeyopt ec_paramgen_curve:P-384 -out p384.pem
	facts RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.pem
	openssl ecparam -name prime256v1 -genkey -out old.pem 2>/dev/null
	openssl pkcs8 -topk8 -in k.pem -passout pass:secret -out sealed.pem
	for key in p384 rsa old; do
		sign --key $key.pem "$REF" >/dev/null
		openssl pkey -in $key.pem -pubout -out $key.pub
		verify --key $key.pub "$REF" >/dev/null
	done
	COSIGN_PASSWORD=secret sign --key sealed.pem "$REF" >/dev/null
	verify --key k.pub "$REF" >/dev/null
	SIGNER=$(cat k.pem) sign --key env://SIGNER "$REF" | grep -q '^0 signatures made'
	refused() {
		run ! sign --key "$1" "$REF"
		[[ $output == *"$2"* ]] || return 1
	}
	COSIGN_PASSWORD=wrong refused sealed.pem "the password is not the key's"
	refused sealed.pem 'there is no password'
	refused k.pub 'a public key, which signs nothing'
	refused absent.pem 'does not exist'
	refused env://NONE 'the variable NONE is not set'
	refused gcpkms://x 'no such kind of key'
	refused awskms://alias/x 'with three slashes'
	facts ED25519 -out ed.pem
	refused ed.pem 'not supported'
	facts RSA -pkeyopt rsa_keygen_bits:1024 -out small.pem
	refused small.pem 'not supported'
	openssl req -x509 -key k.pem -subj /CN=x -days 1 -out cert.pem 2>/dev/null
	refused cert.pem 'a certificate, not a key'
	cat k.pem rsa.pem >two.pem
	refused two.pem 'several keys'
	head -c 100 k.pem >cut.pem
	refused cut.pem 'no key in PEM form'
	refused tree 'Is a directory'
}

@test "sign: keys and passwords appear in no output, no argument, no child's environment" {
	openssl pkcs8 -topk8 -in k.pem -passout pass:hunter2secret -out sealed.pem
	need htpasswd
	htpasswd -Bbn u p >htpasswd
	start_registry "auth: {htpasswd: {realm: r, path: $PWD/htpasswd}}"
	mkdir -p bin "$DOCKER_CONFIG"
	export PATH=$PWD/bin:$PATH
	printf '#!/bin/sh\nenv >>"%s/helper.env"\nprintf %s\n' "$PWD" '{\"Username\":\"u\",\"Secret\":\"p\"}' >bin/docker-credential-test
	chmod +x bin/docker-credential-test
	printf '{"credsStore": "test"}' >"$DOCKER_CONFIG/config.json"
	push app
	rm -f helper.env
	COSIGN_PASSWORD=hunter2secret sign --key sealed.pem "$REF" >all.out 2>&1
	COSIGN_PASSWORD=hunter2wrong run ! sign --key sealed.pem "$REF"
	echo "$output" >>all.out
	SIGNER=$(cat k.pem) sign --key env://SIGNER --format tag "$REF" >>all.out 2>&1
	grep -q '^HOME=' helper.env
	cat helper.env >>all.out
	run ! grep -q 'hunter2' all.out
	run ! grep -qF "$(sed -n 2p k.pem)" all.out
}

@test "sign: every forged signature is refused, with its reason" {
	local n=0 forgery words
	push app
	echo changed >tree/share/a.txt
	"$SLIPWAY" build --progress none -o other >/dev/null 2>&1
	other=$("$SLIPWAY" push --progress none other "$REG/app:other" | digest_line)
	# Each takes the place of the one before: the list of referrers has one entry, the tag one signature.
	while IFS=$'\t' read -r forgery words; do
		"$ROOT/tests/servers/forge" "$REG/app" "$DIGEST" k.pem "$forgery" "$other"
		if [[ -z $words ]]; then
			verify --key k.pub "$REF" >/dev/null
			continue
		fi
		run verify --key k.pub "$REF"
		if [[ $status != 3 || $output != *"$words"* ]]; then
			echo "$forgery: status $status: $output"
			return 1
		fi
		n=$((n + 1))
	done < <("$ROOT/tests/servers/forge" --list)
	echo "$n forgeries"
	[ "$n" -ge 20 ]
}

@test "sign: lists that are not lists, and lists without end, are refused" {
	push app
	tag=${DIGEST/:/-}
	put() { curl -sSf -X PUT -H "Content-Type: $1" --data-binary "@$2" "http://$REG/v2/app/manifests/$3" -o /dev/null; }
	child=$("$SLIPWAY" inspect --output json "$REF" | json 'd["images"][0]["digest"]')
	curl -sSf -H "Accept: application/vnd.oci.image.manifest.v1+json" "http://$REG/v2/app/manifests/$child" -o child.json
	# The tag of the list has an image.
	put application/vnd.oci.image.manifest.v1+json child.json "$tag"
	run ! verify --key k.pub "$REF"
	[[ $output == *"it names no list of referrers"* ]]
	run ! sign --key k.pem "$REF"
	[[ $output == *"it names no list of referrers"* ]]
	# It answers with the image itself, as GitLab's registry did: then there is no list.
	"$SLIPWAY" inspect --raw "$REF" >root.json
	put application/vnd.oci.image.index.v1+json root.json "$tag"
	run ! verify --key k.pub "$REF"
	[[ $output == *"$DIGEST is not signed"* ]]
	sign --key k.pem "$REF" >/dev/null
	verify --key k.pub "$REF" >/dev/null
	# 10,000 entries.
	size=$(stat -c %s child.json)
	CHILD=$child SIZE=$size python3 -c '
import json, os
entry = {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": os.environ["CHILD"], "size": int(os.environ["SIZE"])}
print(json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [entry] * 10000}))' >many.json
	put application/vnd.oci.image.index.v1+json many.json "$tag"
	run ! verify --key k.pub "$REF"
	[[ $output == *"at most 4096"* ]]
}

@test "sign: five signers at once lose no signature where clients keep the list" {
	push app
	local i pids=()
	for i in 0 1 2 3 4; do new_key "s$i"; done
	for i in 0 1 2 3 4; do
		sign --key "s$i.pem" --format bundle --format tag "$REF" >"s$i.out" 2>&1 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i"; done
	for i in 0 1 2 3 4; do [ "$(verify --key "s$i.pub" "$REF" | grep -cE "^  (bundle|tag) ")" = 2 ]; done
}

@test "sign: a push signs as the spec says, before a tag names the image" {
	make_spec signed.yaml "repository: $REG/signed" 'sign: {key: k.pem, formats: [bundle, tag], annotations: {stage: release}}'
	"$SLIPWAY" build --progress none -f signed.yaml -o build/image >/dev/null 2>&1
	"$SLIPWAY" push --progress none -f signed.yaml >/dev/null
	verify --key k.pub --recursive -a stage=release "$REG/signed:v1" >verify.out
	[ "$(grep -cE '^  (bundle|tag) ' verify.out)" = 2 ]
	# A key that does not open leaves no tag.
	run ! "$SLIPWAY" build --progress none -f signed.yaml --set "image.repository=$REG/unsigned" --set image.sign.key=absent.pem -o x --push
	[[ $output == *"image.sign: key"* ]]
	run ! "$SLIPWAY" inspect "$REG/unsigned:v1"
	"$SLIPWAY" build --progress none -f signed.yaml --set "image.repository=$REG/built" -o x --push >/dev/null 2>&1
	verify --key k.pub "$REG/built:v1" >/dev/null
	# The path of a key is relative to the spec, and a spec is no place for the key itself.
	mkdir sub && cp -r signed.yaml k.pem build sub/
	rm k.pem
	"$SLIPWAY" push --progress none -f sub/signed.yaml build/image >/dev/null
	SECRET=$(cat sub/k.pem) run ! "$SLIPWAY" push --progress none -f signed.yaml --set 'image.sign.key=-----BEGIN PRIVATE KEY-----'
	[ "$status" = 3 ]
	[[ $output == *"a key itself, which belongs in no spec"* ]]
}

@test "sign: what is attached in a layout goes along with a push, and inspect shows it as a tree" {
	sign --key k.pem image >/dev/null
	push app
	verify --key k.pub --recursive "$REF" >/dev/null
	"$SLIPWAY" inspect --progress none --tree "$REF" >tree.out
	fingerprint=$(openssl pkey -pubin -in k.pub -outform DER | openssl dgst -sha256 -binary | base64)
	[ "$(grep -c "^  + sha256:.*sign/v1  key SHA256:$fingerprint\$" tree.out)" = 3 ]
	# A referrer of a referrer, as a signed document has.
	bundle=$("$SLIPWAY" inspect --tree --output json "$REF" | json 'd["attached"][0]["digest"]')
	"$SLIPWAY" inspect --tree --output json "$REF" | json 'd["images"][1]["attached"][0]["says"]' | grep -qx https://sigstore.dev/cosign/sign/v1
	"$ROOT/tests/servers/forge" "$REG/app" "$bundle" k.pem none
	"$SLIPWAY" inspect --tree "$REF" | grep -q '^    + sha256:'
	# And in the layout itself.
	"$SLIPWAY" inspect --tree image | grep -c '^  + ' | grep -qx 3
}

@test "sign: cosign accepts our bundle and our tag, by a PEM key and by its own encrypted one" {
	cosign_needed
	mkdir keys && cosign_keys keys
	push app
	sign --key k.pem -a stage=release "$REF" >/dev/null
	cosign_verify --key k.pub -a stage=release "$REF" | grep -q "$DIGEST"
	COSIGN_PASSWORD=pw sign --key keys/cosign.key "$REF" >/dev/null
	cosign_verify --key keys/cosign.pub "$REF" | grep -q "$DIGEST"
	# Each platform's manifest is signed as well.
	child=$("$SLIPWAY" inspect --output json "$REF" | json 'd["images"][1]["digest"]')
	cosign_verify --key k.pub "$REG/app@$child" | grep -q "$child"
	push tagged
	sign --key k.pem --format tag "$REF" >/dev/null
	COSIGN_PASSWORD=pw sign --key keys/cosign.key --format tag "$REF" >/dev/null
	for key in k.pub keys/cosign.pub; do
		cosign_verify --key "$key" --new-bundle-format=false "$REF" | grep -q "$DIGEST"
	done
}

@test "sign: what cosign signed is accepted, and its attestations and signatures by others are not" {
	cosign_needed
	mkdir keys other && cosign_keys keys && cosign_keys other
	push app
	PASSWORD=pw cosign_sign --key keys/cosign.key -a stage=release --recursive "$REF"
	verify --key keys/cosign.pub --recursive -a stage=release "$REF" >verify.out
	[ "$(tail -n 1 verify.out)" = "$DIGEST" ]
	run ! verify --key other/cosign.pub "$REF"
	[[ $output == *"it is signed by another key"* ]]
	# The older form.
	push tagged
	PASSWORD=pw cosign_sign --key keys/cosign.key --new-bundle-format=false "$REF"
	verify --key keys/cosign.pub "$REF" | grep -q '^  tag '
	run ! verify --key other/cosign.pub "$REF"
	# An attestation is not a signature, though cosign itself takes it for one.
	push attested
	echo '{"buildDefinition": {"buildType": "https://x"}, "runDetails": {"builder": {"id": "https://x"}}}' >provenance.json
	COSIGN_PASSWORD=pw "$COSIGN" attest --yes --use-signing-config=false --tlog-upload=false --allow-insecure-registry \
		--key keys/cosign.key --type slsaprovenance1 --predicate provenance.json "$REF" >/dev/null 2>&1
	cosign_verify --key keys/cosign.pub "$REF" >/dev/null
	run ! verify --key keys/cosign.pub "$REF"
	[ "$status" = 3 ]
	[[ $output == *"it says 'https://slsa.dev/provenance/v1'"* ]]
	# A signature of another image, carried over with the tag of this one.
	push victim
	echo changed >tree/share/a.txt
	"$SLIPWAY" build --progress none -o other-image >/dev/null 2>&1
	elsewhere=$("$SLIPWAY" push --progress none other-image "$REG/victim:other" | digest_line)
	PASSWORD=pw cosign_sign --key keys/cosign.key --new-bundle-format=false "$REG/victim:other"
	curl -sSf -H "Accept: application/vnd.oci.image.manifest.v1+json" "http://$REG/v2/victim/manifests/${elsewhere/:/-}.sig" -o sig.json
	curl -sSf -X PUT -H "Content-Type: application/vnd.oci.image.manifest.v1+json" --data-binary @sig.json \
		"http://$REG/v2/victim/manifests/${DIGEST/:/-}.sig" -o /dev/null
	run ! verify --key keys/cosign.pub "$REF"
	[[ $output == *"a signature of another image: $elsewhere"* ]]
}
