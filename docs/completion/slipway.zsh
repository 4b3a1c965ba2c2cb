#compdef slipway
_slipway() {
	if ((CURRENT == 2)); then
		local -a names=(
			'build:Build the spec'\''s image for every platform into an OCI layout'
			'push:Push a built image to a registry'
			'inspect:Show what an image in a registry, layout or archive holds'
			'verify:Check every byte of an image and refuse what breaks on a node'
			'diff:Show which files and settings differ between two images'
			'scan:Show what Amazon ECR'\''s scanner found in an image, and fail on what is severe'
			'iam:Print the least IAM policy for a repository in Amazon ECR'
			'schema:Print the JSON Schema of slipway.yaml'
			'render:Render the fleet'\''s manifests'
			'explain:Tell in words what a target gets, and why'
			'instances:List the instance types of the fleet'\''s targets'
			'diagram:Draw the fleet as SVG'
			'nettest:Judge the log of an NCCL all-reduce over EFA'
			'deploy:Bring the fleet and one job into a cluster'
			'undeploy:Take the fleet out of a cluster, so that it costs nothing'
			'status:Show what the fleet in a cluster does, and what it costs'
			'logs:Show the logs of the job'\''s ranks, merged by time'
			'index:Join what several machines built into one multi-arch image'
			'pipeline:Try the pipeline'\''s own commands on this machine, before AWS sees them'
			'doctor:Show what this machine offers to builds and pushes'
			'completion:Print a tab completion script'
			'version:Show the version and the layer formats'
			'help:Explain slipway or one of its commands'
		)
		_describe command names
		return
	fi
	case ${words[2]} in
	build) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in image.tags=\[v2\]]:PATH=VALUE:' \
		'--dest=[Where the image goes\: an OCI layout folder, or a file for archives]:DIR:_files' \
		'--format=[Form of the image]:oci|oci-archive|docker-archive:(oci oci-archive docker-archive )' \
		'*--platform=[Build only this platform of the spec]:OS/ARCH:' \
		'--no-check[Skip the image check]' \
		'--no-cache[Neither read nor write the build cache]' \
		'--sparse[Leave base layers out of the layout; push mounts or copies them; implies --no-check]' \
		'--locked[Take base digests from slipway.lock only, and never write it]' \
		'--dry-run[Print the plan and stop]' \
		'--push[Push the image to the spec'\''s repository afterwards]' \
		'--push-by-digest[Push the platforms'\'' manifests afterwards, without index and tags\: a part of an image that `slipway index create` completes]' \
		'--result-file=[With --push-by-digest\: write what `slipway index create` reads]:FILE:_files' \
		'--jobs=[Threads for compression and connections (default\: all CPUs)]:N:' \
		'--digest-file=[Write the index digest to this file]:FILE:_files' \
		'--metadata-file=[Write digests, sizes and layers as JSON]:FILE:_files' \
		'--create-repository[Create the repository in ECR if it does not exist]' \
		'--insecure[Speak plain http to the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Tries per request after the first (default 5)]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[The registry is ECR in this region, under a name of its own]:REGION:' \
		'*--connect-to=[Connect there instead, as curl does; names are checked as ever]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	push) _arguments -s \
		'--file=[The spec that names repository and tags]:FILE:_files' \
		'*--set=[Override one value of the spec]:PATH=VALUE:' \
		'*--tag=[Push under this tag instead of the reference'\''s or the spec'\''s]:TAG:' \
		'--by-digest[Set no tag\: the image is reached by digest]' \
		'--jobs=[Blobs at a time (default 4)]:N:' \
		'--digest-file=[Write the digest to this file]:FILE:_files' \
		'--create-repository[Create the repository in ECR if it does not exist]' \
		'--insecure[Speak plain http to the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Tries per request after the first (default 5)]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[The registry is ECR in this region, under a name of its own]:REGION:' \
		'*--connect-to=[Connect there instead, as curl does; names are checked as ever]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	inspect) _arguments -s \
		'--raw[Print the root manifest'\''s exact bytes]' \
		'--insecure[Speak plain http to the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Tries per request after the first (default 5)]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[The registry is ECR in this region, under a name of its own]:REGION:' \
		'*--connect-to=[Connect there instead, as curl does; names are checked as ever]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	verify) _arguments -s \
		'*--off=[Turn a rule off by its name]:RULE:' \
		'*--provided=[A shared library that the node brings]:SONAME:' \
		'--platform=[Check only this platform]:OS/ARCH:' \
		'--jobs=[Threads (default\: all CPUs)]:N:' \
		'--insecure[Speak plain http to the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Tries per request after the first (default 5)]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[The registry is ECR in this region, under a name of its own]:REGION:' \
		'*--connect-to=[Connect there instead, as curl does; names are checked as ever]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	diff) _arguments -s \
		'--exit-code[Exit 1 when the images differ]' \
		'--insecure[Speak plain http to the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Tries per request after the first (default 5)]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[The registry is ECR in this region, under a name of its own]:REGION:' \
		'*--connect-to=[Connect there instead, as curl does; names are checked as ever]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	scan) _arguments -s \
		'--severity=[Fail when there is a finding of this severity or worse]:LEVEL:(critical high medium low informational undefined )' \
		'--timeout=[How long to wait for the scan (default 600)]:SECONDS:' \
		'--start[Start a scan instead of waiting for the one on push]' \
		'--insecure[Speak plain http to the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Tries per request after the first (default 5)]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[The registry is ECR in this region, under a name of its own]:REGION:' \
		'*--connect-to=[Connect there instead, as curl does; names are checked as ever]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	iam) _arguments -s \
		'--file=[The spec that names the repository]:FILE:_files' \
		'*--set=[Override one value of the spec]:PATH=VALUE:' \
		'--ecr-region=[The registry is ECR in this region, under a name of its own]:REGION:' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:(push pull create scan )';;
	schema) _arguments -s \
		'--format=[JSON Schema, or a reference in Markdown]:json|markdown:(json markdown )' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	render) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--dest=[Write a folder per concern here, instead of everything on standard output]:DIR:_files' \
		'--format=[Form of the manifests]:yaml|json|list:(yaml json list )' \
		'--job=[Whose job goes to standard output\: of the first target, of another, of all]:TARGET|all:' \
		'*--only=[Only this concern\: cluster, account, namespace, karpenter, devices, storage, monitoring, scheduler, jobs, nettest or pipeline]:NAME:' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	explain) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec]:PATH=VALUE:' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:(trn1 trn2 p4d p5 g5 g6 g5g )';;
	instances) _arguments -s \
		'--target=[Only this target or family, as in trn1 or p4de]:NAME:' \
		'--arch=[Only this architecture]:amd64|arm64:(amd64 arm64 )' \
		'--device=[Only this accelerator, as in a100]:NAME:' \
		'--efa[Only types with EFA]' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	diagram) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--dest=[Write the picture here, not to standard output]:FILE:_files' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	nettest) _arguments -s \
		'--target=[Judge by the floor that the spec or the target'\''s instance gives]:NAME:' \
		'--file=[The spec, for --target]:FILE:_files' \
		'--instance=[Judge by this type'\''s network, as in p4d.24xlarge]:TYPE:' \
		'--floor=[Bus bandwidth to be reached at the largest size]:GB/S:' \
		'--allow-tcp[Let a run pass that did not use EFA]' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:(parse )';;
	deploy) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--context=[kubectl'\''s context]:NAME:' \
		'--kubeconfig=[kubectl'\''s configuration]:FILE:_files' \
		'--timeout=[Longest wait for what was asked for (default 1800)]:SECONDS:' \
		'--job=[Whose job runs\: by default the one that is there, else the first by weight]:TARGET:' \
		'--image-digest=[The image'\''s digest, instead of asking the registry for its tag'\''s]:DIGEST:' \
		'--dry-run=[Change nothing\: show the plan, or let the cluster check every object]:client|server:(client server )' \
		'--diff[Change nothing\: show field by field what would change; status 1 if anything would]' \
		'--force-conflicts[Take fields that another field manager has set]' \
		'--insecure[Speak plain http to the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Tries per request after the first (default 5)]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[The registry is ECR in this region, under a name of its own]:REGION:' \
		'*--connect-to=[Connect there instead, as curl does; names are checked as ever]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	undeploy) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--context=[kubectl'\''s context]:NAME:' \
		'--kubeconfig=[kubectl'\''s configuration]:FILE:_files' \
		'--timeout=[Longest wait for what was asked for (default 1800)]:SECONDS:' \
		'--prices=[Prices by instance type, in YAML or CSV\: what status calls cost]:FILE:_files' \
		'--keep-data[Leave the file system, its claim and its driver]' \
		'--yes[Delete; without it, what would go is shown]' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	status) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--context=[kubectl'\''s context]:NAME:' \
		'--kubeconfig=[kubectl'\''s configuration]:FILE:_files' \
		'--timeout=[Longest wait for what was asked for (default 1800)]:SECONDS:' \
		'--prices=[Prices by instance type, in YAML or CSV\: what status calls cost]:FILE:_files' \
		'--watch[Go on until the job has ended; off a terminal\: changes only]' \
		'--interval=[Time between looks with --watch (default 10)]:SECONDS:' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	logs) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--context=[kubectl'\''s context]:NAME:' \
		'--kubeconfig=[kubectl'\''s configuration]:FILE:_files' \
		'--timeout=[Longest wait for what was asked for (default 1800)]:SECONDS:' \
		'--rank=[Only this rank'\''s pod]:N:' \
		'--follow[Go on while pods run]' \
		'--since=[Only lines younger than, as in 90s, 10m or 2h]:DURATION:' \
		'--tail=[Only the last lines of each rank]:LINES:' \
		'--previous[Of the containers that ran before a restart]' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	index) _arguments -s \
		'*--tag=[Set this tag, beside the reference'\''s own]:TAG:' \
		'--digest-file=[Write the index digest to this file]:FILE:_files' \
		'--insecure[Speak plain http to the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Tries per request after the first (default 5)]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[The registry is ECR in this region, under a name of its own]:REGION:' \
		'*--connect-to=[Connect there instead, as curl does; names are checked as ever]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:(create )';;
	pipeline) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec]:PATH=VALUE:' \
		'--local[Run the steps here, each in a fresh copy of the tree]' \
		'--install[Run the install commands too]' \
		'--deploy[Go on to deploy, as if it were approved]' \
		'--dry-run[Print the commands and stop]' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:(run )';;
	doctor) _arguments -s \
		'--registry=[Try to reach this registry with its credentials]:HOST\[/NAME\]:' \
		'--insecure[Speak plain http to the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Tries per request after the first (default 5)]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[The registry is ECR in this region, under a name of its own]:REGION:' \
		'*--connect-to=[Connect there instead, as curl does; names are checked as ever]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	completion) _arguments -s \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:(bash zsh fish )';;
	version) _arguments -s \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	help) _arguments -s \
		'--man[Print a man page (troff) instead]' \
		'--help[Show this help and exit]' \
		'--output=[Form of the result on standard output]:text|json:(text json )' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none )' \
		'*:argument:_files';;
	esac
}
compdef _slipway slipway
