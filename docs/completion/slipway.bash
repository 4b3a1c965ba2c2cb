# bash completion for slipway: source <(slipway completion bash)
_slipway_build() {
	case "$prev" in
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--dest|-o) COMPREPLY=($(compgen -d -- "$cur")); return;;
	--format) COMPREPLY=($(compgen -W "oci oci-archive docker-archive " -- "$cur")); return;;
	--tag|-t) COMPREPLY=(); return;;
	--label) COMPREPLY=(); return;;
	--annotation) COMPREPLY=(); return;;
	--env) COMPREPLY=(); return;;
	--platform) COMPREPLY=(); return;;
	--result-file) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--jobs|-j) COMPREPLY=(); return;;
	--digest-file) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--metadata-file) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--ca) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--username|-u) COMPREPLY=(); return;;
	--retries) COMPREPLY=(); return;;
	--profile) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--connect-to) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--file --set --dest --format --tag --label --annotation --env --platform --no-check --no-cache --sparse --locked --dry-run --push --push-by-digest --no-sign --result-file --jobs --digest-file --metadata-file --create-repository --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_push() {
	case "$prev" in
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--tag|-t) COMPREPLY=(); return;;
	--jobs|-j) COMPREPLY=(); return;;
	--digest-file) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--ca) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--username|-u) COMPREPLY=(); return;;
	--retries) COMPREPLY=(); return;;
	--profile) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--connect-to) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--file --set --tag --by-digest --jobs --digest-file --create-repository --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_copy() {
	case "$prev" in
	--platform) COMPREPLY=(); return;;
	--jobs|-j) COMPREPLY=(); return;;
	--digest-file) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--ca) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--username|-u) COMPREPLY=(); return;;
	--retries) COMPREPLY=(); return;;
	--profile) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--connect-to) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--platform --all-tags --jobs --digest-file --create-repository --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_sign() {
	case "$prev" in
	--key|-k) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--format) COMPREPLY=(); return;;
	--annotation|-a) COMPREPLY=(); return;;
	--ca) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--username|-u) COMPREPLY=(); return;;
	--retries) COMPREPLY=(); return;;
	--profile) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--connect-to) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--key --format --annotation --provenance --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_inspect() {
	case "$prev" in
	--ca) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--username|-u) COMPREPLY=(); return;;
	--retries) COMPREPLY=(); return;;
	--profile) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--connect-to) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--raw --tree --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_verify() {
	case "$prev" in
	--off) COMPREPLY=(); return;;
	--provided) COMPREPLY=(); return;;
	--allow) COMPREPLY=(); return;;
	--platform) COMPREPLY=(); return;;
	--jobs|-j) COMPREPLY=(); return;;
	--max-unpacked) COMPREPLY=(); return;;
	--key|-k) COMPREPLY=(); return;;
	--annotation|-a) COMPREPLY=(); return;;
	--trust) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--source) COMPREPLY=($(compgen -d -- "$cur")); return;;
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--label) COMPREPLY=(); return;;
	--image-annotation) COMPREPLY=(); return;;
	--env) COMPREPLY=(); return;;
	--ca) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--username|-u) COMPREPLY=(); return;;
	--retries) COMPREPLY=(); return;;
	--profile) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--connect-to) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--off --provided --allow --platform --jobs --max-unpacked --key --annotation --recursive --trust --rebuild --source --file --run-build --set --label --image-annotation --env --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_diff() {
	case "$prev" in
	--max-unpacked) COMPREPLY=(); return;;
	--ca) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--username|-u) COMPREPLY=(); return;;
	--retries) COMPREPLY=(); return;;
	--profile) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--connect-to) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--exit-code --bytes --max-unpacked --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_sbom() {
	case "$prev" in
	--format) COMPREPLY=($(compgen -W "spdx cyclonedx " -- "$cur")); return;;
	--platform) COMPREPLY=(); return;;
	--max-unpacked) COMPREPLY=(); return;;
	--ca) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--username|-u) COMPREPLY=(); return;;
	--retries) COMPREPLY=(); return;;
	--profile) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--connect-to) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--format --platform --read --files --max-unpacked --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_scan() {
	case "$prev" in
	--severity) COMPREPLY=($(compgen -W "critical high medium low informational undefined " -- "$cur")); return;;
	--db) COMPREPLY=(); return;;
	--vex) COMPREPLY=(); return;;
	--suite) COMPREPLY=(); return;;
	--max-unpacked) COMPREPLY=(); return;;
	--timeout) COMPREPLY=(); return;;
	--ca) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--username|-u) COMPREPLY=(); return;;
	--retries) COMPREPLY=(); return;;
	--profile) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--connect-to) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--severity --db --vex --suite --allow-unjudged --read --max-unpacked --timeout --start --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_iam() {
	case "$prev" in
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--key|-k) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--file --set --ecr-region --key --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -W "push pull create scan sign verify " -- "$cur"))
	fi
}
_slipway_schema() {
	case "$prev" in
	--format) COMPREPLY=($(compgen -W "json markdown " -- "$cur")); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--format --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_render() {
	case "$prev" in
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--dest|-o) COMPREPLY=($(compgen -d -- "$cur")); return;;
	--format) COMPREPLY=($(compgen -W "yaml json list " -- "$cur")); return;;
	--job) COMPREPLY=(); return;;
	--only) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--file --set --dest --format --job --only --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_explain() {
	case "$prev" in
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--file --set --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -W "trn1 trn2 p4d p5 g5 g6 g5g " -- "$cur"))
	fi
}
_slipway_instances() {
	case "$prev" in
	--target) COMPREPLY=(); return;;
	--arch) COMPREPLY=($(compgen -W "amd64 arm64 " -- "$cur")); return;;
	--device) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--target --arch --device --efa --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_diagram() {
	case "$prev" in
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--dest|-o) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--file --set --dest --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_nettest() {
	case "$prev" in
	--target) COMPREPLY=(); return;;
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--context) COMPREPLY=(); return;;
	--kubeconfig) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--timeout) COMPREPLY=(); return;;
	--instance) COMPREPLY=(); return;;
	--floor) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--target --file --set --context --kubeconfig --timeout --instance --floor --allow-tcp --keep --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -W "parse run " -- "$cur"))
	fi
}
_slipway_deploy() {
	case "$prev" in
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--context) COMPREPLY=(); return;;
	--kubeconfig) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--timeout) COMPREPLY=(); return;;
	--job) COMPREPLY=(); return;;
	--image-digest) COMPREPLY=(); return;;
	--dry-run) COMPREPLY=($(compgen -W "client server " -- "$cur")); return;;
	--interval) COMPREPLY=(); return;;
	--ca) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--username|-u) COMPREPLY=(); return;;
	--retries) COMPREPLY=(); return;;
	--profile) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--connect-to) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--file --set --context --kubeconfig --timeout --job --image-digest --dry-run --diff --force-conflicts --keep-trying --no-failover --wait --no-wait --in-cluster --job-only --interval --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_rollback() {
	case "$prev" in
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--context) COMPREPLY=(); return;;
	--kubeconfig) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--timeout) COMPREPLY=(); return;;
	--to) COMPREPLY=(); return;;
	--interval) COMPREPLY=(); return;;
	--ca) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--username|-u) COMPREPLY=(); return;;
	--retries) COMPREPLY=(); return;;
	--profile) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--connect-to) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--file --set --context --kubeconfig --timeout --to --list --diff --wait --no-wait --interval --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_undeploy() {
	case "$prev" in
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--context) COMPREPLY=(); return;;
	--kubeconfig) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--timeout) COMPREPLY=(); return;;
	--prices) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--file --set --context --kubeconfig --timeout --prices --keep-data --force-finalizers --yes --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_status() {
	case "$prev" in
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--context) COMPREPLY=(); return;;
	--kubeconfig) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--timeout) COMPREPLY=(); return;;
	--prices) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--interval) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--file --set --context --kubeconfig --timeout --prices --watch --interval --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_logs() {
	case "$prev" in
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--context) COMPREPLY=(); return;;
	--kubeconfig) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--timeout) COMPREPLY=(); return;;
	--rank) COMPREPLY=(); return;;
	--since) COMPREPLY=(); return;;
	--tail) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--file --set --context --kubeconfig --timeout --rank --follow --since --tail --previous --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_rbac() {
	case "$prev" in
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--subject) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--file --set --subject --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -W "deploy undeploy status logs " -- "$cur"))
	fi
}
_slipway_index() {
	case "$prev" in
	--tag|-t) COMPREPLY=(); return;;
	--digest-file) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--key|-k) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--format) COMPREPLY=(); return;;
	--annotation|-a) COMPREPLY=(); return;;
	--ca) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--username|-u) COMPREPLY=(); return;;
	--retries) COMPREPLY=(); return;;
	--profile) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--connect-to) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--tag --digest-file --key --format --annotation --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -W "create " -- "$cur"))
	fi
}
_slipway_pipeline() {
	case "$prev" in
	--file|-f) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--set) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--file --set --local --install --deploy --dry-run --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -W "run " -- "$cur"))
	fi
}
_slipway_doctor() {
	case "$prev" in
	--registry) COMPREPLY=(); return;;
	--ca) COMPREPLY=($(compgen -f -- "$cur")); return;;
	--username|-u) COMPREPLY=(); return;;
	--retries) COMPREPLY=(); return;;
	--profile) COMPREPLY=(); return;;
	--ecr-region) COMPREPLY=(); return;;
	--connect-to) COMPREPLY=(); return;;
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--registry --insecure --ca --username --password-stdin --retries --profile --ecr-region --connect-to --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_completion() {
	case "$prev" in
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -W "bash zsh fish " -- "$cur"))
	fi
}
_slipway_version() {
	case "$prev" in
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway_help() {
	case "$prev" in
	--output) COMPREPLY=($(compgen -W "text json " -- "$cur")); return;;
	--progress) COMPREPLY=($(compgen -W "auto tty plain json none " -- "$cur")); return;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "--man --help --output --progress " -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
_slipway() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "build push copy sign inspect verify diff sbom scan iam schema render explain instances diagram nettest deploy rollback undeploy status logs rbac index pipeline doctor completion version help " -- "$cur"))
		return
	fi
	case "${COMP_WORDS[1]}" in
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
complete -o filenames -F _slipway slipway
