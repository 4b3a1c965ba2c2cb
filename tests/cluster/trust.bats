#!/usr/bin/env bats
# The policies that `slipway render` makes of `trust`, as a real API server takes them: Kyverno's and policy-controller's
# definitions are there, and no controller acts on them.

load lib
setup() {
	plane_setup
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out k.pem 2>/dev/null
	openssl pkey -in k.pem -pubout -out k.pub
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out p384.pem 2>/dev/null
	openssl pkey -in p384.pem -pubout -out p384.pub
	spec job
	cat >>slipway.yaml <<-'YAML'
		trust:
		  - keys: [k.pub]
		    policies: [kyverno, kyverno-clusterpolicy, policy-controller]
		  - images: [registry.example.com/team/*, debian]
		    keys: [p384.pub, awskms:///alias/release]
		    annotations: {stage: release}
		    provenance: {builder: "https://ci.example.com/*", keys: [k.pub]}
		    policies: [kyverno, kyverno-clusterpolicy, policy-controller]
	YAML
	"$SLIPWAY" render --only trust --format list >policies.json
}
teardown() {
	kubectl delete -f policies.json --ignore-not-found >/dev/null 2>&1
	plane_teardown
}

@test "trust: the server takes every policy, unknown fields refused" {
	kubectl apply --server-side --validate=strict -f policies.json >said
	cat said
	[ "$(grep -c '^imagevalidatingpolicy.policies.kyverno.io/' said)" -eq 2 ]
	[ "$(grep -c '^clusterpolicy.kyverno.io/' said)" -eq 2 ]
	[ "$(grep -c '^clusterimagepolicy.policy.sigstore.dev/' said)" -eq 4 ]
	[ "$(wc -l <said)" -eq 8 ]
	# What it keeps is what was rendered.
	kubectl get imagevalidatingpolicies.policies.kyverno.io "$FLEET-trust-2" -o json >kept.json
	[ "$(json 'd["spec"]["attestors"][0]["cosign"]["key"]["hashAlgorithm"]' <kept.json)" = sha384 ]
	[ "$(json 'len(d["spec"]["validations"])' <kept.json)" -eq 4 ]
}

@test "trust: a policy with a field that does not exist, or of another type, is refused" {
	local change
	for change in s/insecureIgnoreTlog/insecureIgnoreLog/ s/publicKeys/publicKey/ s/signatureFormat/signatureForm/ \
		's/"verifyDigest": true/"verifyDigest": "yes"/' 's/"mutateDigest": false/"mutateDigest": []/' s/matchImageReferences/matchImages/ \
		s/predicateType\"/predicate\"/; do
		sed "$change" policies.json >broken.json
		run ! cmp policies.json broken.json
		run kubectl apply --server-side --validate=strict --dry-run=server -f broken.json
		[ "$status" -ne 0 ] || { echo "$change: $output" && return 1; }
	done
}

@test "trust: the namespace asks policy-controller to look at its pods, and deploy applies no policy" {
	"$SLIPWAY" render --only namespace | grep -qx '    policy.sigstore.dev/include: "true"'
	run deploy --dry-run=client --retries 0
	[[ $output != *Policy* ]]
	[ "$(kubectl get clusterpolicies.kyverno.io,imagevalidatingpolicies.policies.kyverno.io -l slipway/owner="$FLEET" -o name)" = "" ]
}
