"""The ECR and ECR Public control planes: JSON 1.1 over POST /, every call signed."""
import base64
import fnmatch
import json
import re
import secrets
import uuid

import fakeaws_sigv4 as sigv4
from fakeaws_schema import SHAPES, check_shape
from fakeaws_world import Answer, domain, partition

PREFIXES = {"AmazonEC2ContainerRegistry_V20150921": "ecr", "SpencerFrontendService": "ecr-public"}
CODES = {"missing": "MissingAuthenticationTokenException", "incomplete": "IncompleteSignatureException",
         "unknown": "UnrecognizedClientException", "expired": "ExpiredTokenException",
         "skew": "InvalidSignatureException", "signature": "InvalidSignatureException"}


class Repository:
    """One repository: its settings, blobs, manifests and tags. The registry half works on it too."""

    def __init__(self, account, region, name, now, settings):
        self.account, self.region, self.name, self.created = account, region, name, now
        self.mutability = settings.get("imageTagMutability", "MUTABLE")
        self.filters = settings.get("imageTagMutabilityExclusionFilters", [])
        self.scan_on_push = settings.get("imageScanningConfiguration", {}).get("scanOnPush", False)
        self.encryption = settings.get("encryptionConfiguration", {"encryptionType": "AES256"})
        self.tags_of_repository = settings.get("tags", [])
        self.shared_with = settings.get("shared_with", [])
        self.lifecycle = None
        self.blobs = {}      # digest -> (file, size)
        self.manifests = {}  # digest -> (media type, bytes, pushed at)
        self.tags = {}       # tag -> digest
        self.scans = {}      # digest -> how often findings were asked for

    @property
    def arn(self):
        if self.region == "public":
            return f"arn:aws:ecr-public::{self.account}:repository/{self.name}"
        return f"arn:{partition(self.region)}:ecr:{self.region}:{self.account}:repository/{self.name}"

    def immutable(self, tag):
        listed = any(fnmatch.fnmatchcase(tag, f["filter"]) for f in self.filters)
        return {"IMMUTABLE": True, "IMMUTABLE_WITH_EXCLUSION": not listed,
                "MUTABLE_WITH_EXCLUSION": listed}.get(self.mutability, False)

    def find(self, reference):
        digest = reference if reference.startswith("sha256:") else self.tags.get(reference)
        return digest if digest in self.manifests else None

    def summary(self):
        return {"tags": dict(self.tags), "manifests": sorted(self.manifests), "blobs": sorted(self.blobs),
                "imageTagMutability": self.mutability, "scanOnPush": self.scan_on_push, "lifecycle": self.lifecycle,
                "encryption": self.encryption, "resource_tags": self.tags_of_repository}


def missing_repository(name, account):
    return f"The repository with name '{name}' does not exist in the registry with id '{account}'"


class Api:
    def __init__(self, world, handler, body, target):
        self.world, self.handler, self.body = world, handler, body
        prefix, _, self.operation = target.partition(".")
        self.service = PREFIXES.get(prefix)
        self.request_id = str(uuid.uuid4())

    def error(self, status, code, text):
        key = "Message" if self.world.get("capital_message") else "message"
        prefix = self.world.get("type_prefix", default="")  # such as "com.amazonaws.ecr#"
        return Answer(status, json.dumps({"__type": prefix + code, key: text}).encode(), self.headers())

    def headers(self):
        return {"Content-Type": "application/x-amz-json-1.1", "x-amzn-RequestId": self.request_id}

    def bad(self, field, constraint):
        return self.error(400, "InvalidParameterException",
                          f"Invalid parameter at '{field}' failed to satisfy constraint: '{constraint}'")

    def serve(self):
        self.handler.note(op=self.operation)
        fault = self.handler.before(self.service or "ecr", self.operation, self.error)
        name = "op_" + re.sub(r"(?<!^)(?=[A-Z])", "_", self.operation).lower()
        operation = getattr(self, name, None)
        if self.service is None or operation is None or (self.service, self.operation) not in SHAPES:
            raise self.error(400, "UnknownOperationException", "")
        if self.handler.headers.get("Content-Type", "").split(";")[0] != "application/x-amz-json-1.1":
            raise self.error(404, "UnknownOperationException", "Content-Type must be application/x-amz-json-1.1")
        with self.world.lock:
            self.region = self.expected_region()
            self.who = self.signer()
            self.input = self.parse()
            value = operation()
        self.handler.after(fault, self.error)
        return Answer(200, json.dumps(value).encode(), self.headers())

    def expected_region(self):
        if self.service == "ecr-public":
            return "us-east-1"
        found = re.search(r"(?:^|\.)ecr(?:-fips)?\.([a-z0-9-]+)\.", self.handler.bare_host)
        return found.group(1) if found else self.world.region

    def signer(self):
        try:
            return sigv4.verify(self.world, self.handler, self.body, self.service, self.region)
        except sigv4.Refusal as refusal:
            raise self.error(400, CODES[refusal.kind], refusal.text) from None

    def parse(self):
        try:
            value = json.loads(self.body)
        except ValueError:
            raise self.error(400, "SerializationException", "Start of structure or map found where not expected.") \
                from None
        problem = check_shape(SHAPES[self.service, self.operation], value, "")
        if problem and problem[0] == "type":
            raise self.error(400, "SerializationException", problem[2])
        if problem:
            raise self.bad(problem[1], problem[2])
        return value

    def page_start(self):
        token = self.input.get("nextToken") or "0"
        if not token.isdigit():
            raise self.bad("nextToken", "the token is none of ours")
        return int(token)

    def allow(self, action, resource="*"):
        refusal = self.world.refusal(self.who, f"{self.service}:{action}", resource)
        if refusal:
            raise self.error(400, "AccessDeniedException", refusal)

    @property
    def place(self):
        return "public" if self.service == "ecr-public" else self.region

    def arn_of(self, name, account):
        return Repository(account, self.place, name, 0, {}).arn

    def repository(self, action, name=None):
        """The repository a call is about, once the caller may do this to it."""
        name = name or self.input["repositoryName"]
        account = self.input.get("registryId", self.who.account)
        arn = self.arn_of(name, account)
        self.allow(action, arn)
        found = self.world.repositories.get((account, self.place, name))
        if account != self.who.account and (found is None or self.who.account not in found.shared_with):
            raise self.error(400, "AccessDeniedException",
                             f"User: {self.who.arn} is not authorized to perform: {self.service}:{action} on resource: "
                             f"{arn} because no resource-based policy allows the {self.service}:{action} action")
        if found is None:
            raise self.error(400, "RepositoryNotFoundException", missing_repository(name, account))
        return found

    # ---- tokens ----

    def op_get_authorization_token(self):
        self.allow("GetAuthorizationToken")
        if self.service == "ecr-public":
            refusal = self.world.refusal(self.who, "sts:GetServiceBearerToken", "*")
            if refusal:
                raise self.error(400, "AccessDeniedException", refusal)
        expires = self.world.now() + self.world.get("token_seconds", default=43200)
        password = self.world.get("password") or base64.b64encode(
            b'{"payload":"' + secrets.token_bytes(self.world.get("token_size", default=1800))).decode()
        token = base64.b64encode(f"AWS:{password}".encode()).decode()
        self.world.tokens[token] = {"region": self.place, "expires": expires, "key": self.who.key}
        data = {"authorizationToken": token, "expiresAt": round(expires, 3)}
        if self.service == "ecr-public":
            return {"authorizationData": data}
        accounts = self.input.get("registryIds", [self.who.account])
        return {"authorizationData": [
            {**data, "proxyEndpoint": f"https://{a}.dkr.ecr.{self.region}.{domain(self.region)}"} for a in accounts]}

    # ---- repositories ----

    def described(self, repo):
        if self.service == "ecr-public":
            alias = self.world.get("public_alias", default="a1b2c3d4")
            return {"repositoryArn": repo.arn, "registryId": repo.account, "repositoryName": repo.name,
                    "repositoryUri": f"public.ecr.aws/{alias}/{repo.name}", "createdAt": repo.created}
        value = {"repositoryArn": repo.arn, "registryId": repo.account, "repositoryName": repo.name,
                 "repositoryUri": f"{repo.account}.dkr.ecr.{repo.region}.{domain(repo.region)}/{repo.name}",
                 "createdAt": repo.created, "imageTagMutability": repo.mutability,
                 "imageScanningConfiguration": {"scanOnPush": repo.scan_on_push},
                 "encryptionConfiguration": repo.encryption}
        if repo.filters:
            value["imageTagMutabilityExclusionFilters"] = repo.filters
        return value

    def op_describe_repositories(self):
        names = self.input.get("repositoryNames")
        account = self.input.get("registryId", self.who.account)
        if names:
            return {"repositories": [self.described(self.repository("DescribeRepositories", n)) for n in names]}
        self.allow("DescribeRepositories", self.arn_of("*", account))
        mine = sorted(k for k in self.world.repositories if k[:2] == (account, self.place))
        start = self.page_start()
        size = self.input.get("maxResults", 100)
        value = {"repositories": [self.described(self.world.repositories[k]) for k in mine[start:start + size]]}
        if start + size < len(mine):
            value["nextToken"] = str(start + size)
        return value

    def op_create_repository(self):
        name, account = self.input["repositoryName"], self.input.get("registryId", self.who.account)
        arn = self.arn_of(name, account)
        self.allow("CreateRepository", arn)
        if self.input.get("tags"):
            self.allow("TagResource", arn)
        if account != self.who.account:
            raise self.error(400, "InvalidParameterException",
                             "Invalid parameter at 'registryId' failed to satisfy constraint: "
                             "'repositories can only be created in your own registry'")
        self.check_tags(self.input.get("tags", []))
        self.check_settings()
        limit = self.world.get("repository_limit", default=100000)
        key = (account, self.place, name)
        if key in self.world.repositories:
            raise self.error(400, "RepositoryAlreadyExistsException",
                             f"The repository with name '{name}' already exists in the registry with id '{account}'")
        if len(self.world.repositories) >= limit:
            raise self.error(400, "LimitExceededException", f"The registry with id '{account}' already has the "
                             f"maximum allowed number of repositories which is '{limit}'")
        repo = Repository(account, self.place, name, round(self.world.now(), 3), self.input)
        self.world.repositories[key] = repo
        more = {"catalogData": self.input.get("catalogData", {})} if self.service == "ecr-public" else {}
        return {"repository": self.described(repo), **more}

    def check_tags(self, tags):
        if len(tags) > 50:
            raise self.error(400, "TooManyTagsException", "Number of tags exceeds the limit of 50")
        keys = [t["Key"] for t in tags]
        if len(set(keys)) != len(keys):
            raise self.error(400, "InvalidTagParameterException", "Duplicate tag keys found. Please note that Tag "
                                                                  "keys are case insensitive.")
        for tag in tags:
            if not 1 <= len(tag["Key"]) <= 128 or len(tag["Value"]) > 256 or tag["Key"].lower().startswith("aws:"):
                raise self.error(400, "InvalidTagParameterException", f"Invalid tag key or value: {tag['Key']}")

    def check_settings(self):
        filters = self.input.get("imageTagMutabilityExclusionFilters")
        mode = self.input.get("imageTagMutability", "MUTABLE")
        if bool(filters) != mode.endswith("_WITH_EXCLUSION"):
            raise self.bad("imageTagMutabilityExclusionFilters",
                           "filters go with IMMUTABLE_WITH_EXCLUSION or MUTABLE_WITH_EXCLUSION, and only with those")
        encryption = self.input.get("encryptionConfiguration", {})
        if encryption.get("encryptionType") == "AES256" and "kmsKey" in encryption:
            raise self.bad("encryptionConfiguration", "kmsKey is only for KMS encryption")
        if encryption.get("kmsKey") in self.world.get("bad_kms_keys", default=[]):
            raise self.error(400, "KmsException", "The operation failed due to a KMS exception: NotFoundException")

    def op_put_lifecycle_policy(self):
        repo = self.repository("PutLifecyclePolicy")
        text = self.input["lifecyclePolicyText"]
        try:
            rules = json.loads(text)["rules"]
            ok = isinstance(rules, list) and rules and all(
                {"rulePriority", "selection", "action"} <= set(rule) for rule in rules)
        except (ValueError, KeyError, TypeError):
            ok = False
        if not ok:
            raise self.bad("LifecyclePolicyText", "Lifecycle policy validation failure: the text is no policy")
        repo.lifecycle = text
        return {"registryId": repo.account, "repositoryName": repo.name, "lifecyclePolicyText": text}

    def op_put_image_tag_mutability(self):
        repo = self.repository("PutImageTagMutability")
        self.check_settings()
        repo.mutability = self.input["imageTagMutability"]
        repo.filters = self.input.get("imageTagMutabilityExclusionFilters", [])
        more = {"imageTagMutabilityExclusionFilters": repo.filters} if repo.filters else {}
        return {"registryId": repo.account, "repositoryName": repo.name, "imageTagMutability": repo.mutability, **more}

    # ---- images ----

    def resolve(self, repo, image):
        """The digest an imageId names; raises ImageNotFoundException."""
        digest, tag = image.get("imageDigest"), image.get("imageTag")
        if digest is None and tag is None:
            raise self.bad("imageId", "imageDigest or imageTag must be given")
        found = repo.find(digest or tag)
        if found is None or (digest and tag and repo.tags.get(tag) != digest):
            shown = "{imageDigest:'%s', imageTag:'%s'}" % (digest or "null", tag or "null")
            raise self.error(400, "ImageNotFoundException", f"The image with imageId {shown} does not exist within "
                             f"the repository with name '{repo.name}' in the registry with id '{repo.account}'")
        return found

    def op_describe_images(self):
        repo = self.repository("DescribeImages")
        wanted = [self.resolve(repo, i) for i in self.input.get("imageIds", [])] or sorted(repo.manifests)
        details = []
        for digest in wanted:
            kind, data, pushed = repo.manifests[digest]
            document = json.loads(data)
            parts = document.get("layers", []) + ([document["config"]] if "config" in document else [])
            item = {"registryId": repo.account, "repositoryName": repo.name, "imageDigest": digest,
                    "imageSizeInBytes": sum(p.get("size", 0) for p in parts), "imagePushedAt": pushed,
                    "imageManifestMediaType": kind, "imageStatus": "ACTIVE"}
            tags = sorted(t for t, d in repo.tags.items() if d == digest)
            details.append({**item, **({"imageTags": tags} if tags else {})})
        return {"imageDetails": details}

    def op_batch_get_image(self):
        repo = self.repository("BatchGetImage")
        images, failures = [], []
        for image in self.input["imageIds"]:
            digest = repo.find(image.get("imageDigest") or image.get("imageTag", ""))
            if digest is None:
                failures.append({"imageId": image, "failureCode": "ImageNotFound",
                                 "failureReason": "Requested image not found"})
                continue
            kind, data, _ = repo.manifests[digest]
            images.append({"registryId": repo.account, "repositoryName": repo.name,
                           "imageId": {**image, "imageDigest": digest}, "imageManifest": data.decode(),
                           "imageManifestMediaType": kind})
        return {"images": images, "failures": failures}

    # ---- scans ----

    def scan_head(self, repo, digest, status):
        image = {"imageDigest": digest}
        if "imageTag" in self.input["imageId"]:
            image["imageTag"] = self.input["imageId"]["imageTag"]
        text = self.world.get("scan", "description", default=f"The scan is {status.lower()}.")
        return {"registryId": repo.account, "repositoryName": repo.name, "imageId": image,
                "imageScanStatus": {"status": status, "description": text}}

    def op_start_image_scan(self):
        repo = self.repository("StartImageScan")
        digest = self.resolve(repo, self.input["imageId"])
        if repo.scans.get(digest) is not None and self.world.get("scan", "once_a_day"):
            raise self.error(400, "LimitExceededException", "The scan quota per image has been exceeded. Wait and "
                                                            "try again.")
        repo.scans[digest] = 0
        return self.scan_head(repo, digest, "IN_PROGRESS")

    def op_describe_image_scan_findings(self):
        repo = self.repository("DescribeImageScanFindings")
        digest = self.resolve(repo, self.input["imageId"])
        if digest not in repo.scans:
            shown = "{imageDigest:'%s'}" % digest
            raise self.error(400, "ScanNotFoundException", f"Image scan does not exist for the image with {shown} in "
                             f"the repository with name '{repo.name}' in the registry with id '{repo.account}'")
        statuses = self.world.get("scan", "statuses", default=["COMPLETE"])
        if not self.input.get("nextToken"):
            repo.scans[digest] += 1
        status = statuses[min(max(repo.scans[digest], 1), len(statuses)) - 1]
        value = self.scan_head(repo, digest, status)
        if status not in ("COMPLETE", "ACTIVE"):
            return value
        findings = self.world.get("scan", "findings", default={})
        enhanced = bool(self.world.get("scan", "enhanced"))
        every = [self.finding(severity, n, enhanced) for severity, count in findings.items() for n in range(count)]
        start, size = self.page_start(), self.input.get("maxResults", 100)
        name = "enhancedFindings" if enhanced else "findings"
        value["imageScanFindings"] = {"imageScanCompletedAt": round(self.world.now(), 3),
                                      "vulnerabilitySourceUpdatedAt": round(self.world.now() - 3600, 3),
                                      "findingSeverityCounts": findings, name: every[start:start + size]}
        if start + size < len(every):
            value["nextToken"] = str(start + size)
        return value

    def finding(self, severity, number, enhanced):
        name = f"CVE-2026-{10000 + number}"
        if enhanced:
            return {"severity": severity, "title": f"{name} - libsample", "status": "ACTIVE", "score": 7.5,
                    "type": "PACKAGE_VULNERABILITY", "packageVulnerabilityDetails": {"vulnerabilityId": name}}
        return {"name": name, "severity": severity, "uri": f"https://example.invalid/{name}",
                "attributes": [{"key": "package_name", "value": "libsample"},
                               {"key": "package_version", "value": "1.0"}]}

    # ---- the registry's own settings ----

    def op_describe_registry(self):
        self.allow("DescribeRegistry")
        return {"registryId": self.who.account, "replicationConfiguration": {"rules": []}}

    def op_get_account_setting(self):
        self.allow("GetAccountSetting")
        settings = {"BLOB_MOUNTING": "DISABLED", "REGISTRY_POLICY_SCOPE": "V2", "BASIC_SCAN_TYPE_VERSION": "AWS_NATIVE"}
        settings.update(self.world.get("account_settings", default={}))
        if self.input["name"] not in settings:
            raise self.error(400, "ValidationException", "The account setting name is invalid.")
        return {"name": self.input["name"], "value": settings[self.input["name"]]}
