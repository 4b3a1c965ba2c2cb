#compdef slipway
_slipway() {
	if ((CURRENT == 2)); then
		local -a names=(
			'init:Write a slipway.yaml for the program in a folder'
			'build:Build the spec'\''s image for every platform into an OCI layout'
			'push:Push a built image to a registry'
			'copy:Copy an image with its signatures, SBOMs and provenance, digest kept'
			'sign:Sign an image in a registry or a layout with a key'
			'inspect:Show the contents of an image in a registry, layout or archive'
			'verify:Check every byte of an image and reject what would fail on a node'
			'diff:Show which files and settings differ between two images'
			'sbom:Print what is in an image, as SPDX or CycloneDX'
			'scan:Show the vulnerabilities of an image, and fail on severe ones'
			'iam:Print the least IAM policy for a repository in Amazon ECR'
			'schema:Print the JSON Schema of slipway.yaml, or of a command'\''s JSON output'
			'render:Render the fleet'\''s manifests'
			'explain:Explain what a target gets, and why'
			'instances:List the instance types of the fleet'\''s targets'
			'diagram:Draw the fleet as SVG'
			'nettest:Run an NCCL all-reduce test over EFA, or judge the log of one'
			'neff:Attach modules compiled for Trainium to an image, or fetch them'
			'deploy:Deploy the fleet and one job to a cluster'
			'rollback:Bring a former run of the fleet'\''s job back'
			'undeploy:Delete the fleet from a cluster, so that it costs nothing'
			'status:Show the state and the cost of the fleet in a cluster'
			'logs:Show the logs of the job'\''s ranks, merged by time'
			'rbac:Print the least roles for the commands that use a cluster'
			'index:Join what several machines built into one multi-arch image'
			'pipeline:Run the pipeline'\''s commands on this machine, before AWS does'
			'doctor:Check this machine for builds and pushes'
			'completion:Print a tab completion script'
			'version:Show the version and the layer formats'
			'help:Explain slipway or one of its commands'
		)
		_describe command names
		return
	fi
	shift words
	((CURRENT--))
	case ${words[1]} in
	init) _arguments -s \
		'--kind=[What the folder holds; without it init asks, and proposes what it sees]:KIND:(c c++ go rust python pytorch)' \
		'--image=[Where the image is pushed; the tag is v1 unless it is named]:HOST/NAME\[\:TAG\]:' \
		'*--fleet=[Also describe a fleet of these machines on EKS, the first choice first]:TARGET,...:(trn1 trn2 p4d p5 g5 g6 g5g)' \
		'--ci=[Also describe a pipeline\: codebuild and github in the spec, for gitlab, jenkins and buildkite in the file that they read]:SERVICE:(codebuild github gitlab jenkins buildkite)' \
		'--dir=[The folder]:DIR:_files -/' \
		'--name=[Name of the job, instead of the program'\''s]:NAME:' \
		'--program=[What the build makes, or the script that is started]:FILE:' \
		'*--platform=[Platform of the image, instead of those that the fleet has]:OS/ARCH:' \
		'--base=[python, pytorch\: the image with the interpreter]:IMAGE:' \
		'--region=[AWS region of the fleet, instead of the repository'\''s or us-west-2]:REGION:' \
		'--dry-run[Print the files, write none]' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:';;
	build) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'-f+[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in image.tags=\[v2\]]:PATH=VALUE:' \
		'--dest=[Where the image goes\: an OCI layout folder, or a file for archives]:DIR:_files -/' \
		'-o+[Where the image goes\: an OCI layout folder, or a file for archives]:DIR:_files -/' \
		'--format=[Format of the image]:oci|oci-archive|docker-archive:(oci oci-archive docker-archive)' \
		'*--tag=[Tag the image so, in place of the spec'\''s tags (and repository)]:\[NAME\:\]TAG:' \
		'*-t+[Tag the image so, in place of the spec'\''s tags (and repository)]:\[NAME\:\]TAG:' \
		'*--label=[Set a label, over the spec'\''s]:KEY=VALUE:' \
		'*--annotation=[Set an annotation, over the spec'\''s]:KEY=VALUE:' \
		'*--env=[Set an environment variable of the image, over the spec'\''s]:NAME=VALUE:' \
		'*--platform=[Build only this platform of the spec]:OS/ARCH:' \
		'--no-check[Skip the image check]' \
		'--no-cache[Neither read nor write the build cache]' \
		'--sparse[Leave base layers out of the layout; push mounts or copies them; implies --no-check]' \
		'--locked[Take base digests from slipway.lock only, and never write it]' \
		'--dry-run[Print the plan and stop]' \
		'--push[Push the image to the spec'\''s repository\: layers while others are packed, tags last]' \
		'--push-by-digest[Then push each platform'\''s manifest, without index and tags, for `slipway index create` to join]' \
		'--no-sign[Do not sign what is pushed, though the spec has image.sign]' \
		'--result-file=[With --push-by-digest\: write the result file that `slipway index create` reads]:FILE:_files' \
		'--jobs=[Threads for compression and connections (default\: all CPUs)]:N:' \
		'-j+[Threads for compression and connections (default\: all CPUs)]:N:' \
		'--digest-file=[Write the index digest to this file]:FILE:_files' \
		'--metadata-file=[Write digests, sizes and layers as JSON]:FILE:_files' \
		'--create-repository[Create the repository in ECR if it does not exist]' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:_files';;
	push) _arguments -s \
		'--file=[The spec that names repository and tags]:FILE:_files' \
		'-f+[The spec that names repository and tags]:FILE:_files' \
		'*--set=[Override one value of the spec]:PATH=VALUE:' \
		'*--tag=[Push under this tag instead of the reference'\''s or the spec'\''s]:TAG:' \
		'*-t+[Push under this tag instead of the reference'\''s or the spec'\''s]:TAG:' \
		'--by-digest[Set no tag\: only the digest names the image]' \
		'--jobs=[Blobs at a time (default 4)]:N:' \
		'-j+[Blobs at a time (default 4)]:N:' \
		'--digest-file=[Write the digest to this file]:FILE:_files' \
		'--create-repository[Create the repository in ECR if it does not exist]' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:_files';;
	copy) _arguments -s \
		'--platform=[Copy the image of this platform alone, which has a digest of its own]:OS/ARCH:' \
		'--all-tags[Copy every tag of the source, each under its name]' \
		'--jobs=[Blobs at a time (default 8)]:N:' \
		'-j+[Blobs at a time (default 8)]:N:' \
		'--digest-file=[Write the digest to this file]:FILE:_files' \
		'--create-repository[Create the repository in ECR if it does not exist]' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:_files';;
	sign) _arguments -s \
		'--key=[Sign with this private key\: a file, env\://VARIABLE or awskms\:///alias/NAME]:KEY:_files' \
		'-k+[Sign with this private key\: a file, env\://VARIABLE or awskms\:///alias/NAME]:KEY:_files' \
		'*--format=[How it is written\: as a referrer (bundle, the default), under the older tag sha256-HEX.sig; repeat for both]:bundle|tag:' \
		'*--annotation=[What the signature says besides the image'\''s digest]:NAME=VALUE:' \
		'*-a+[What the signature says besides the image'\''s digest]:NAME=VALUE:' \
		'--provenance[Sign the attached statements of how it was built, too]' \
		'--sbom[Sign the attached bills of materials, too]' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:_files';;
	inspect) _arguments -s \
		'--raw[Print the root manifest'\''s exact bytes]' \
		'--tree[Show what is attached to the image and to each platform'\''s, too\: SBOMs, provenance, signatures and the keys that they call theirs]' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:_files';;
	verify) _arguments -s \
		'*--off=[Turn a rule off by its name]:RULE:' \
		'*--provided=[A shared library that the node provides]:SONAME:' \
		'*--allow=[A finding that is meant to be there; PATH may be a glob]:RULE\:PATH\[@DIGEST\]:' \
		'--platform=[Check only this platform]:OS/ARCH:' \
		'--jobs=[Threads (default\: all CPUs)]:N:' \
		'-j+[Threads (default\: all CPUs)]:N:' \
		'--max-unpacked=[Most bytes that the layers may unpack to (default\: by their size)]:SIZE:' \
		'*--key=[Check instead that this key has signed the image (with --rebuild\: its provenance)\: a public key'\''s file, env\://VARIABLE or awskms\:///alias/NAME; of several each has to have]:KEY:' \
		'*-k+[Check instead that this key has signed the image (with --rebuild\: its provenance)\: a public key'\''s file, env\://VARIABLE or awskms\:///alias/NAME; of several each has to have]:KEY:' \
		'*--annotation=[With --key\: what the signature has to say besides the digest]:NAME=VALUE:' \
		'*-a+[With --key\: what the signature has to say besides the digest]:NAME=VALUE:' \
		'--recursive[With --key\: each platform'\''s manifest has to be signed, too]' \
		'--sbom[With --key\: each platform has to have a bill of materials that the key has signed, too]' \
		'--trust=[Check instead that the image has all that `trust` of this spec asks for, as deploy does]:FILE:_files' \
		'--rebuild[Check instead that the source gives this image, bit by bit, as its provenance says]' \
		'--source=[With --rebuild\: the folder that it was built in, or a copy (default\: this one); nothing in it is changed]:DIR:_files -/' \
		'--file=[With --rebuild\: the spec, from --source (default\: as the statement names it)]:FILE:_files' \
		'-f+[With --rebuild\: the spec, from --source (default\: as the statement names it)]:FILE:_files' \
		'--run-build[With --rebuild\: run the commands of pipeline.build first, in a copy of the source]' \
		'*--set=[With --rebuild\: what `build --set` was given]:PATH=VALUE:' \
		'*--label=[With --rebuild\: what `build --label` was given]:KEY=VALUE:' \
		'*--image-annotation=[With --rebuild\: what `build --annotation` was given]:KEY=VALUE:' \
		'*--env=[With --rebuild\: what `build --env` was given]:NAME=VALUE:' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:_files';;
	diff) _arguments -s \
		'--exit-code[Exit 1 when the images differ]' \
		'--bytes[Find the first byte that differs, of each document and each layer]' \
		'--max-unpacked=[Most bytes that the layers may unpack to (default\: by their size)]:SIZE:' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:_files';;
	sbom) _arguments -s \
		'--format=[Form of the document\: SPDX 2.3 or CycloneDX 1.6]:spdx|cyclonedx:(spdx cyclonedx)' \
		'--platform=[Which image of an index; this machine'\''s otherwise]:OS/ARCH:' \
		'*--key=[Only a document that this key has signed\: a public key'\''s file, env\://VARIABLE or awskms\:///alias/NAME; of several each has to have]:KEY:' \
		'*-k+[Only a document that this key has signed\: a public key'\''s file, env\://VARIABLE or awskms\:///alias/NAME; of several each has to have]:KEY:' \
		'--read[Make it from the image'\''s layers, even if one is attached]' \
		'--files[List every file with its SHA-256; implies --read]' \
		'--max-unpacked=[Most bytes that the layers may unpack to (default\: by their size)]:SIZE:' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:_files';;
	scan) _arguments -s \
		'--severity=[Fail when there is a finding of this severity or worse]:LEVEL:(critical high medium low informational undefined)' \
		'*--db=[Look in this database instead of asking ECR; may be repeated]:FILE:' \
		'*--vex=[With --db\: OpenVEX document whose statements waive findings]:FILE:' \
		'--suite=[With --db\: release of Debian packages that name none, as sid]:NAME:' \
		'*--key=[With --db\: judge by a bill of materials that this key has signed\: a public key'\''s file, env\://VARIABLE or awskms\:///alias/NAME; of several each has to have]:KEY:' \
		'*-k+[With --db\: judge by a bill of materials that this key has signed\: a public key'\''s file, env\://VARIABLE or awskms\:///alias/NAME; of several each has to have]:KEY:' \
		'--allow-unjudged[With --db\: go on where no database covers a package]' \
		'--read[With --db\: read the layers, even if a bill of materials is attached]' \
		'--max-unpacked=[Most bytes that the layers may unpack to (default\: by their size)]:SIZE:' \
		'--timeout=[How long to wait for ECR'\''s scan (default 600)]:SECONDS:' \
		'--start[Start a scan of ECR'\''s instead of waiting for the one on push]' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:_files';;
	iam) _arguments -s \
		'--file=[The spec that names the repository]:FILE:_files' \
		'-f+[The spec that names the repository]:FILE:_files' \
		'*--set=[Override one value of the spec]:PATH=VALUE:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--key=[sign, verify\: the key in KMS, instead of the spec'\''s; verify takes several]:awskms\:///KEY:' \
		'*-k+[sign, verify\: the key in KMS, instead of the spec'\''s; verify takes several]:awskms\:///KEY:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:(push pull create scan sign verify)';;
	schema) _arguments -s \
		'--format=[Print a JSON Schema, or a reference in Markdown]:json|markdown:(json markdown)' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:(init build push copy sign neff inspect verify diff scan index status version)';;
	render) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'-f+[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--dest=[Write to this folder, one folder per concern, instead of standard output]:DIR:_files -/' \
		'-o+[Write to this folder, one folder per concern, instead of standard output]:DIR:_files -/' \
		'--format=[Format of the manifests]:yaml|json|list:(yaml json list)' \
		'--job=[Target whose job is printed\: the first, a named one, or all]:TARGET|all:' \
		'*--only=[Only this concern\: cluster, account, namespace, trust, karpenter, devices, storage, monitoring, scheduler, jobs, nettest or pipeline]:NAME:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:';;
	explain) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'-f+[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec]:PATH=VALUE:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:(trn1 trn2 p4d p5 g5 g6 g5g)';;
	instances) _arguments -s \
		'--target=[Only this target or family, as in trn1 or p4de]:NAME:' \
		'--arch=[Only this architecture]:amd64|arm64:(amd64 arm64)' \
		'--device=[Only this accelerator, as in a100]:NAME:' \
		'--efa[Only types with EFA]' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:';;
	diagram) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'-f+[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--dest=[Write the diagram to this file instead of standard output]:FILE:_files' \
		'-o+[Write the diagram to this file instead of standard output]:FILE:_files' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:';;
	nettest) _arguments -s \
		'--target=[Run on this target (default\: the first by weight), and judge by its floor, from the spec or its instance type]:NAME:' \
		'--file=[The spec]:FILE:_files' \
		'-f+[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--context=[kubeconfig context to use]:NAME:' \
		'--kubeconfig=[kubeconfig file to use]:FILE:_files' \
		'--timeout=[Longest time to wait (default 1800)]:SECONDS:' \
		'--instance=[Judge by this instance type'\''s network, as in p4d.24xlarge]:TYPE:' \
		'--floor=[Bus bandwidth to reach at the largest size, in GB/s]:GB/S:' \
		'--allow-tcp[Accept a run that did not use EFA]' \
		'--keep[Leave the test and its pods in the cluster]' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'1:argument:(run parse)' '*:argument:_files';;
	neff) _arguments -s \
		'*--module=[Only this module, as in MODULE_1f0c...+9ab2...; may be repeated]:KEY:' \
		'--allow-none[pull\: an image without modules is no error]' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'1:argument:(push pull list)' '*:argument:_files';;
	deploy) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'-f+[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--context=[kubeconfig context to use]:NAME:' \
		'--kubeconfig=[kubeconfig file to use]:FILE:_files' \
		'--timeout=[Longest time to wait (default 1800)]:SECONDS:' \
		'--job=[Target to run on (default\: the one whose job is in the cluster, else the highest weight)]:TARGET:' \
		'--image-digest=[Deploy this image digest instead of resolving the tag at the registry]:DIGEST:' \
		'--dry-run=[Change nothing\: show the plan, or have the API server validate every object]:client|server:(client server)' \
		'--diff[Change nothing\: show each field that would change; exit status 1 if there are any]' \
		'--force-conflicts[Take over fields that another field manager owns]' \
		'--keep-trying[When no target has capacity, pause and try all of them again, without limit]' \
		'--no-failover[Stay on the first target, even without capacity]' \
		'--wait[Wait until the job has ended; exit status 8 if it failed]' \
		'--no-wait[Return when the job is created, without waiting for its pods]' \
		'--in-cluster[Let a Job in the cluster place and watch the training job; return at once]' \
		'--job-only[Deploy the job only\: pools, plugins and storage are already deployed]' \
		'--interval=[Least time between two looks at the cluster; the time between polls where it cannot be watched]:DURATION:' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:';;
	rollback) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'-f+[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--context=[kubeconfig context to use]:NAME:' \
		'--kubeconfig=[kubeconfig file to use]:FILE:_files' \
		'--timeout=[Longest time to wait (default 1800)]:SECONDS:' \
		'--to=[The run to bring back (default\: the one before that in the cluster)]:RUN:' \
		'--list[Change nothing\: list the runs that can be brought back]' \
		'--diff[Change nothing\: show each field that would change; exit status 1 if there are any]' \
		'--wait[Wait until the job has ended; exit status 8 if it failed]' \
		'--no-wait[Return when the job is created, without waiting for its pods]' \
		'--interval=[Time between polls of the cluster, as in 30s]:DURATION:' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:';;
	undeploy) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'-f+[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--context=[kubeconfig context to use]:NAME:' \
		'--kubeconfig=[kubeconfig file to use]:FILE:_files' \
		'--timeout=[Longest time to wait (default 1800)]:SECONDS:' \
		'--prices=[Prices by instance type, in YAML or CSV, to compute the cost]:FILE:_files' \
		'--keep-data[Keep the file system, its claim and its driver]' \
		'--force-finalizers[After --timeout, remove the finalizers of what is still there]' \
		'--yes[Delete; without it, show what would be deleted]' \
		'-y[Delete; without it, show what would be deleted]' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:';;
	status) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'-f+[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--context=[kubeconfig context to use]:NAME:' \
		'--kubeconfig=[kubeconfig file to use]:FILE:_files' \
		'--timeout=[Longest time to wait (default 1800)]:SECONDS:' \
		'--prices=[Prices by instance type, in YAML or CSV, to compute the cost]:FILE:_files' \
		'--watch[Repeat until the job has ended; without a terminal print changes only]' \
		'-w[Repeat until the job has ended; without a terminal print changes only]' \
		'--interval=[Time between updates with --watch (default 10)]:SECONDS:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:';;
	logs) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'-f+[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec, as in job.nodes=4]:PATH=VALUE:' \
		'--context=[kubeconfig context to use]:NAME:' \
		'--kubeconfig=[kubeconfig file to use]:FILE:_files' \
		'--timeout=[Longest time to wait (default 1800)]:SECONDS:' \
		'--rank=[Only this rank'\''s pod]:N:' \
		'--follow[Follow the logs while pods run]' \
		'-F[Follow the logs while pods run]' \
		'--since=[Only lines newer than this, as in 90s, 10m or 2h]:DURATION:' \
		'--tail=[Only the last lines of each rank]:LINES:' \
		'--previous[Logs of the containers before their last restart]' \
		'-p[Logs of the containers before their last restart]' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:';;
	rbac) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'-f+[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec]:PATH=VALUE:' \
		'--subject=[Bind the roles to user\:NAME, group\:NAME or serviceaccount\:NAMESPACE/NAME]:KIND\:NAME:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:(deploy undeploy status logs)';;
	index) _arguments -s \
		'*--tag=[Set this tag in addition to the reference'\''s own]:TAG:' \
		'*-t+[Set this tag in addition to the reference'\''s own]:TAG:' \
		'--digest-file=[Write the index digest to this file]:FILE:_files' \
		'--key=[Sign with this private key\: a file, env\://VARIABLE or awskms\:///alias/NAME]:KEY:_files' \
		'-k+[Sign with this private key\: a file, env\://VARIABLE or awskms\:///alias/NAME]:KEY:_files' \
		'*--format=[How it is written\: as a referrer (bundle, the default), under the older tag sha256-HEX.sig; repeat for both]:bundle|tag:' \
		'*--annotation=[What the signature says besides the image'\''s digest]:NAME=VALUE:' \
		'*-a+[What the signature says besides the image'\''s digest]:NAME=VALUE:' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'1:argument:(create)' '*:argument:_files';;
	pipeline) _arguments -s \
		'--file=[The spec]:FILE:_files' \
		'-f+[The spec]:FILE:_files' \
		'*--set=[Override one value of the spec]:PATH=VALUE:' \
		'--local[Run the steps on this machine, each in a fresh copy of the source tree]' \
		'--install[Also run the install commands]' \
		'--deploy[Also run the deploy step, as if it were approved]' \
		'--dry-run[Print the commands and stop]' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:(run)';;
	doctor) _arguments -s \
		'--registry=[Try to reach this registry with its credentials]:HOST\[/NAME\]:' \
		'--insecure[Use plain HTTP for the registries of this command]' \
		'--ca=[Trust the certificates in this PEM file]:FILE:_files' \
		'--username=[User name for the registry]:NAME:' \
		'-u+[User name for the registry]:NAME:' \
		'--password-stdin[Read the password from standard input]' \
		'--retries=[Retries per request; 0 = none]:N:' \
		'--profile=[The AWS profile for ECR, instead of AWS_PROFILE]:NAME:' \
		'--ecr-region=[Treat the registry as ECR in this region, under its own name]:REGION:' \
		'*--connect-to=[Connect to TO\:PORT instead, as curl does; certificates are checked for HOST]:HOST\:PORT\:TO\:PORT:' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:';;
	completion) _arguments -s \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:(bash zsh fish)';;
	version) _arguments -s \
		'--check[Ask whether there is a newer release; exit with 1 if there is]' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:';;
	help) _arguments -s \
		'--man[Print a man page (troff) instead]' \
		'--help[Show this help and exit]' \
		'-h[Show this help and exit]' \
		'--output=[Format of the result on standard output]:text|json:(text json)' \
		'--progress=[How progress is shown on standard error]:auto|tty|plain|json|none:(auto tty plain json none)' \
		'--quiet[Show results and errors alone\: no progress, no warnings, no notes]' \
		'-q[Show results and errors alone\: no progress, no warnings, no notes]' \
		'--verbose[Show each request to a server and each call of kubectl too]' \
		'-v[Show each request to a server and each call of kubectl too]' \
		'*:argument:(init build push copy sign inspect verify diff sbom scan iam schema render explain instances diagram nettest neff deploy rollback undeploy status logs rbac index pipeline doctor completion version help)';;
	esac
}
if [[ $funcstack[1] == _slipway ]]; then
	_slipway "$@"
else
	compdef _slipway slipway
fi
