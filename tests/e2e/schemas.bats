#!/usr/bin/env bats
# What --output json prints is what `slipway schema COMMAND` says.

load lib
setup() {
	common_setup
	make_tree tree
}
teardown() { common_teardown; }

# judge COMMAND FILE: the document keeps to the schema of the command.
judge() {
	[ -s "$2" ]
	"$SLIPWAY" schema "$1" >schema.json
	python3 - "$2" <<-'END'
		import json, sys, jsonschema
		with open("schema.json") as file: schema = json.load(file)
		with open(sys.argv[1]) as file: document = json.load(file)
		jsonschema.Draft202012Validator.check_schema(schema)
		jsonschema.Draft202012Validator(schema).validate(document)
	END
}

# keeps COMMAND ARGUMENTS...: it runs, and its document keeps to its schema.
keeps() {
	"$SLIPWAY" "$@" --output json -q >document.json
	judge "$1" document.json
}

@test "schemas: build, inspect, verify, diff and version print what their schemas say" {
	make_spec slipway.yaml 'sbom: true'
	keeps build -o one
	keeps build -o one --dry-run
	keeps inspect oci:one
	keeps inspect --tree oci:one
	keeps verify oci:one
	echo more >>tree/share/a.txt
	"$SLIPWAY" build -q -o two
	keeps diff oci:one oci:two
	keeps diff oci:one oci:one
	keeps version
}

@test "schemas: init and neff print what their schemas say" {
	mkdir new
	keeps init --kind go --dir new --image registry.example.com/team/app --ci github --dry-run
	keeps init --kind go --dir new
	make_spec slipway.yaml 'check: {off: [no-entrypoint]}'
	"$SLIPWAY" build -q -o image >/dev/null
	local module=made/neuronxcc-2.16.372.0/MODULE_0123+ab
	mkdir -p "$module"
	echo compiled >"$module/model.neff"
	: >"$module/model.done"
	keeps neff push made image
	keeps neff pull image fetched
	keeps neff list image
	[ "$(json 'len(d["modules"])' <document.json)" = 1 ]
}

@test "schemas: push, copy, sign, verify --key and index print what their schemas say" {
	start_faultreg
	make_spec slipway.yaml "repository: $REG/team/sample" 'check: {off: [no-entrypoint]}'
	openssl ecparam -name prime256v1 -genkey -noout 2>/dev/null | openssl pkcs8 -topk8 -nocrypt -out key.pem
	openssl pkey -in key.pem -pubout -out key.pub
	keeps build -o image --push --insecure
	keeps push image --insecure
	keeps copy oci:image "oci:copied"
	keeps sign --key key.pem oci:copied
	keeps inspect --tree oci:copied
	keeps verify --key key.pub oci:copied
	"$SLIPWAY" build -q --insecure --push-by-digest --result-file part.json >/dev/null
	"$SLIPWAY" index create --insecure --output json -q "$REG/team/sample:joined" part.json >document.json
	judge index document.json
}

@test "schemas: a failed command's document keeps to the schema, too" {
	"$SLIPWAY" build --output json -q >document.json 2>/dev/null || true
	judge build document.json
	make_spec slipway.yaml 'tagz: [x]'
	"$SLIPWAY" build --output json -q >document.json 2>/dev/null || true
	judge build document.json
}

@test "schemas: a status keeps to its schema, and a member more does not" {
	# The golden file has words where times differ.
	sed 's/: AGE\b/: 7/' "$ROOT/tests/golden/deploy/status-running.json" >status.json
	judge status status.json
	json '__import__("json").dumps({**d, "more": 1})' <status.json >more.json
	run ! judge status more.json
}

@test "schemas: a scan's document keeps to its schema, whether it finds something or not" {
	mkdir -p tree/etc tree/var/lib/dpkg
	printf 'ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n' >tree/etc/os-release
	printf 'Package: gone\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1-1\n' >tree/var/lib/dpkg/status
	printf 'apiVersion: slipway/v1\nname: sample\nimage:\n  platforms: [linux/amd64]\n  layers: [{files: [{from: tree/, to: /}]}]\n' >slipway.yaml
	"$SLIPWAY" build -q --no-check -o image >/dev/null
	for package in gone other; do
		printf '{"%s": {"CVE-2026-1": {"description": "d", "scope": "remote", "releases": {"bookworm": {"status": "open", "repositories": {"bookworm": "0"}, "urgency": "high"}}}}}' \
			"$package" >db.json
		"$SLIPWAY" scan --db db.json --output json -q image >document.json || [ $? = 3 ]
		judge scan document.json
		json 'sum(len(i["findings"]) for i in d["images"])' <document.json >>found
	done
	[ "$(tr '\n' ' ' <found)" = "1 0 " ]
}

@test "schemas: each that the program has is held against documents here" {
	run -2 "$SLIPWAY" schema logs
	for command in $(sed -n 's/.*these commands have one: //p' <<<"$output" | tr -d ,); do
		grep -qE "^	?[^#]*(keeps|judge) $command( |$)" "$BATS_TEST_FILENAME"
	done
}

@test "schemas: a command without a schema is refused with those that have one" {
	run -2 "$SLIPWAY" schema logs
	[[ $output == *"build, push"* ]]
}
