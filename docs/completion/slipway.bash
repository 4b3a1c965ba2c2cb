# bash completion for slipway: source <(slipway completion bash)
_slipway_files() {
	compopt -o filenames
	mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}
_slipway_words() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}
_slipway_init() {
	case "$prev" in
	--kind) _slipway_words "c c++ go rust python pytorch"; return;;
	--image) return;;
	--fleet) _slipway_words "trn1 trn2 p4d p5 g5 g6 g5g"; return;;
	--ci) _slipway_words "codebuild github gitlab jenkins buildkite"; return;;
	--dir) _slipway_files -d; return;;
	--name) return;;
	--program) return;;
	--platform) return;;
	--base) return;;
	--region) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--kind --image --fleet --ci --dir --name --program --platform --base --region --dry-run --help --output --progress --quiet --verbose "
	fi
}
_slipway_build() {
	case "$prev" in
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--dest|-o) _slipway_files -d; return;;
	--format) _slipway_words "oci oci-archive docker-archive"; return;;
	--tag|-t) return;;
	--label) return;;
	--annotation) return;;
	--env) return;;
	--platform) return;;
	--result-file) _slipway_files -f; return;;
	--jobs|-j) return;;
	--digest-file) _slipway_files -f; return;;
	--metadata-file) _slipway_files -f; return;;
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--file --set --dest --format --tag --label --annotation --env --platform --no-check --no-cache --sparse --locked --dry-run --push --push-by-digest --no-sign --result-file --jobs --digest-file --metadata-file --create-repository --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	else
		_slipway_files -f
	fi
}
_slipway_push() {
	case "$prev" in
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--tag|-t) return;;
	--jobs|-j) return;;
	--digest-file) _slipway_files -f; return;;
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--file --set --tag --by-digest --jobs --digest-file --create-repository --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	else
		_slipway_files -f
	fi
}
_slipway_copy() {
	case "$prev" in
	--platform) return;;
	--jobs|-j) return;;
	--digest-file) _slipway_files -f; return;;
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--platform --all-tags --jobs --digest-file --create-repository --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	else
		_slipway_files -f
	fi
}
_slipway_sign() {
	case "$prev" in
	--key|-k) _slipway_files -f; return;;
	--format) return;;
	--annotation|-a) return;;
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--key --format --annotation --provenance --sbom --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	else
		_slipway_files -f
	fi
}
_slipway_inspect() {
	case "$prev" in
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--raw --tree --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	else
		_slipway_files -f
	fi
}
_slipway_verify() {
	case "$prev" in
	--off) return;;
	--provided) return;;
	--allow) return;;
	--platform) return;;
	--jobs|-j) return;;
	--max-unpacked) return;;
	--key|-k) return;;
	--annotation|-a) return;;
	--trust) _slipway_files -f; return;;
	--source) _slipway_files -d; return;;
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--label) return;;
	--image-annotation) return;;
	--env) return;;
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--off --provided --allow --platform --jobs --max-unpacked --key --annotation --recursive --sbom --trust --rebuild --source --file --run-build --set --label --image-annotation --env --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	else
		_slipway_files -f
	fi
}
_slipway_diff() {
	case "$prev" in
	--max-unpacked) return;;
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--exit-code --bytes --max-unpacked --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	else
		_slipway_files -f
	fi
}
_slipway_sbom() {
	case "$prev" in
	--format) _slipway_words "spdx cyclonedx"; return;;
	--platform) return;;
	--key|-k) return;;
	--max-unpacked) return;;
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--format --platform --key --read --files --max-unpacked --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	else
		_slipway_files -f
	fi
}
_slipway_scan() {
	case "$prev" in
	--severity) _slipway_words "critical high medium low informational undefined"; return;;
	--db) return;;
	--vex) return;;
	--suite) return;;
	--key|-k) return;;
	--max-unpacked) return;;
	--timeout) return;;
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--severity --db --vex --suite --key --allow-unjudged --read --max-unpacked --timeout --start --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	else
		_slipway_files -f
	fi
}
_slipway_iam() {
	case "$prev" in
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--ecr-region) return;;
	--key|-k) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--file --set --ecr-region --key --help --output --progress --quiet --verbose "
	else
		_slipway_words "push pull create scan sign verify"
	fi
}
_slipway_schema() {
	case "$prev" in
	--format) _slipway_words "json markdown"; return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--format --help --output --progress --quiet --verbose "
	else
		_slipway_words "init build push copy sign neff inspect verify diff scan index status version"
	fi
}
_slipway_render() {
	case "$prev" in
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--dest|-o) _slipway_files -d; return;;
	--format) _slipway_words "yaml json list"; return;;
	--job) return;;
	--only) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--file --set --dest --format --job --only --help --output --progress --quiet --verbose "
	fi
}
_slipway_explain() {
	case "$prev" in
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--file --set --help --output --progress --quiet --verbose "
	else
		_slipway_words "trn1 trn2 p4d p5 g5 g6 g5g"
	fi
}
_slipway_instances() {
	case "$prev" in
	--target) return;;
	--arch) _slipway_words "amd64 arm64"; return;;
	--device) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--target --arch --device --efa --help --output --progress --quiet --verbose "
	fi
}
_slipway_diagram() {
	case "$prev" in
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--dest|-o) _slipway_files -f; return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--file --set --dest --help --output --progress --quiet --verbose "
	fi
}
_slipway_nettest() {
	case "$prev" in
	--target) return;;
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--context) return;;
	--kubeconfig) _slipway_files -f; return;;
	--timeout) return;;
	--instance) return;;
	--floor) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--target --file --set --context --kubeconfig --timeout --instance --floor --allow-tcp --keep --help --output --progress --quiet --verbose "
	elif [[ " ${COMP_WORDS[*]:2:COMP_CWORD-2} " =~ \ (run|parse)\  ]]; then
		_slipway_files -f
	else
		_slipway_words "run parse"
	fi
}
_slipway_neff() {
	case "$prev" in
	--module) return;;
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--module --allow-none --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	elif [[ " ${COMP_WORDS[*]:2:COMP_CWORD-2} " =~ \ (push|pull|list)\  ]]; then
		_slipway_files -f
	else
		_slipway_words "push pull list"
	fi
}
_slipway_deploy() {
	case "$prev" in
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--context) return;;
	--kubeconfig) _slipway_files -f; return;;
	--timeout) return;;
	--job) return;;
	--image-digest) return;;
	--dry-run) _slipway_words "client server"; return;;
	--interval) return;;
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--file --set --context --kubeconfig --timeout --job --image-digest --dry-run --diff --force-conflicts --keep-trying --no-failover --wait --no-wait --in-cluster --job-only --interval --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	fi
}
_slipway_rollback() {
	case "$prev" in
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--context) return;;
	--kubeconfig) _slipway_files -f; return;;
	--timeout) return;;
	--to) return;;
	--interval) return;;
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--file --set --context --kubeconfig --timeout --to --list --diff --wait --no-wait --interval --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	fi
}
_slipway_undeploy() {
	case "$prev" in
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--context) return;;
	--kubeconfig) _slipway_files -f; return;;
	--timeout) return;;
	--prices) _slipway_files -f; return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--file --set --context --kubeconfig --timeout --prices --keep-data --force-finalizers --yes --help --output --progress --quiet --verbose "
	fi
}
_slipway_status() {
	case "$prev" in
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--context) return;;
	--kubeconfig) _slipway_files -f; return;;
	--timeout) return;;
	--prices) _slipway_files -f; return;;
	--interval) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--file --set --context --kubeconfig --timeout --prices --watch --interval --help --output --progress --quiet --verbose "
	fi
}
_slipway_logs() {
	case "$prev" in
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--context) return;;
	--kubeconfig) _slipway_files -f; return;;
	--timeout) return;;
	--rank) return;;
	--since) return;;
	--tail) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--file --set --context --kubeconfig --timeout --rank --follow --since --tail --previous --help --output --progress --quiet --verbose "
	fi
}
_slipway_rbac() {
	case "$prev" in
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--subject) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--file --set --subject --help --output --progress --quiet --verbose "
	else
		_slipway_words "deploy undeploy status logs"
	fi
}
_slipway_index() {
	case "$prev" in
	--tag|-t) return;;
	--digest-file) _slipway_files -f; return;;
	--key|-k) _slipway_files -f; return;;
	--format) return;;
	--annotation|-a) return;;
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--tag --digest-file --key --format --annotation --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	elif [[ " ${COMP_WORDS[*]:2:COMP_CWORD-2} " =~ \ (create)\  ]]; then
		_slipway_files -f
	else
		_slipway_words "create"
	fi
}
_slipway_pipeline() {
	case "$prev" in
	--file|-f) _slipway_files -f; return;;
	--set) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--file --set --local --install --deploy --dry-run --help --output --progress --quiet --verbose "
	else
		_slipway_words "run"
	fi
}
_slipway_doctor() {
	case "$prev" in
	--registry) return;;
	--ca) _slipway_files -f; return;;
	--username|-u) return;;
	--retries) return;;
	--profile) return;;
	--ecr-region) return;;
	--connect-to) return;;
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--registry --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress --quiet --verbose "
	fi
}
_slipway_completion() {
	case "$prev" in
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--help --output --progress --quiet --verbose "
	else
		_slipway_words "bash zsh fish"
	fi
}
_slipway_version() {
	case "$prev" in
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--check --help --output --progress --quiet --verbose "
	fi
}
_slipway_help() {
	case "$prev" in
	--output) _slipway_words "text json"; return;;
	--progress) _slipway_words "auto tty plain json none"; return;;
	esac
	if [[ $cur == -* ]]; then
		_slipway_words "--man --help --output --progress --quiet --verbose "
	else
		_slipway_words "init build push copy sign inspect verify diff sbom scan iam schema render explain instances diagram nettest neff deploy rollback undeploy status logs rbac index pipeline doctor completion version help"
	fi
}
_slipway() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	COMPREPLY=()
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	if ((COMP_CWORD == 1)); then
		_slipway_words "init build push copy sign inspect verify diff sbom scan iam schema render explain instances diagram nettest neff deploy rollback undeploy status logs rbac index pipeline doctor completion version help --help --version"
		return
	fi
	case "${COMP_WORDS[1]}" in
	init) _slipway_init;;
	build) _slipway_build;;
	push) _slipway_push;;
	copy) _slipway_copy;;
	sign) _slipway_sign;;
	inspect) _slipway_inspect;;
	verify) _slipway_verify;;
	diff) _slipway_diff;;
	sbom) _slipway_sbom;;
	scan) _slipway_scan;;
	iam) _slipway_iam;;
	schema) _slipway_schema;;
	render) _slipway_render;;
	explain) _slipway_explain;;
	instances) _slipway_instances;;
	diagram) _slipway_diagram;;
	nettest) _slipway_nettest;;
	neff) _slipway_neff;;
	deploy) _slipway_deploy;;
	rollback) _slipway_rollback;;
	undeploy) _slipway_undeploy;;
	status) _slipway_status;;
	logs) _slipway_logs;;
	rbac) _slipway_rbac;;
	index) _slipway_index;;
	pipeline) _slipway_pipeline;;
	doctor) _slipway_doctor;;
	completion) _slipway_completion;;
	version) _slipway_version;;
	help) _slipway_help;;
	esac
}
complete -F _slipway slipway
