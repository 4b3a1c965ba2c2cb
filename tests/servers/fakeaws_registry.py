"""The registry half of ECR, with what it does beside the distribution specification."""
import base64
import binascii
import hashlib
import json
import re
import secrets

from fakeaws_blobs import Blobs, DIGEST, expired
from fakeaws_ecr import Repository, missing_repository
from fakeaws_schema import REPOSITORY
from fakeaws_world import Answer, PUBLIC_HOSTS, REGISTRY_HOST, errors

MANIFEST_LIMIT = 4194304
INDEXES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")
IMAGES = ("application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json")
ROUTES = [(re.compile(r"^/v2/(?P<name>.+?)/" + tail + "$"), what) for tail, what in (
    (r"blobs/uploads/?", "uploads"), (r"blobs/uploads/(?P<id>[0-9a-f-]{36})", "session"),
    (r"blobs/(?P<digest>[^/]+)", "blob"), (r"manifests/(?P<reference>[^/]+)", "manifest"),
    (r"tags/list", "tags"), (r"referrers/(?P<digest>[^/]+)", "referrers"))]


class Registry(Blobs):
    """Serves one request; `public` tells ECR Public from private ECR."""

    def __init__(self, world, handler):
        self.world, self.handler, self.public = world, handler, False
        self.token = None

    def host(self):
        """Which registry the Host header names: sets account, region and public."""
        name, any_host = self.handler.bare_host, self.world.get("any_host")
        found = REGISTRY_HOST.match(name)
        if found:
            self.account, self.region = found.groups()
        elif name in PUBLIC_HOSTS or any_host == "public":
            self.public, self.account, self.region = True, self.world.account, "public"
        elif any_host:
            self.account, self.region = self.world.account, self.world.region
        else:
            raise Answer(404, b"no registry of this name\n", {"Content-Type": "text/plain"})

    # ---- who is it ----

    def challenge(self):
        host = self.handler.headers.get("Host", "")
        if self.public:
            realm = f"{self.handler.scheme}://{host}/token/"
            text = f'Bearer realm="{realm}",service="public.ecr.aws",scope="aws"'
        else:
            text = f'Basic realm="https://{host}/",service="ecr.amazonaws.com"'
        return Answer(401, b"Not Authorized\n", {"WWW-Authenticate": text, "Content-Type": "text/plain; charset=utf-8"})

    def authenticate(self):
        value = self.handler.headers.get("Authorization", "")
        scheme, _, credential = value.partition(" ")
        if not value or (scheme.lower() == "basic" and self.public):
            raise self.challenge()
        if self.public:
            self.token = self.world.bearers.get(credential)
            if scheme.lower() != "bearer" or self.token is None or self.world.now() >= self.token["expires"]:
                raise Answer(400, b"")  # no challenge: aws/containers-roadmap#2835
        else:
            if scheme.lower() != "basic":
                raise self.challenge()
            self.token = known_token(self.world, credential)
            if self.token is None or self.token["region"] != self.region:
                raise Answer(400, b"")
        if self.token["key"]:
            self.handler.note(user=self.token["key"])
        if self.world.now() >= self.token["expires"]:
            raise expired()
        self.who = self.world.principal(self.token["key"]) if self.token["key"] else None

    # ---- what may it do ----

    def arn(self, name):
        return Repository(self.account, self.region, self.short(name), 0, {}).arn

    def short(self, name):
        """ECR Public puts the registry's alias before the repository's name."""
        alias = self.world.get("public_alias", default="a1b2c3d4") + "/"
        return name[len(alias):] if self.public and name.startswith(alias) else name

    def denial(self, action, name):
        """The text when the principal may not do this, or None."""
        service = "ecr-public" if self.public else "ecr"
        if self.who is None:
            pull = action in ("BatchGetImage", "GetDownloadUrlForLayer", "BatchCheckLayerAvailability")
            return None if pull and self.public else f"Nobody is not authorized to perform: {service}:{action}"
        why = self.world.refusal(self.who, f"{service}:{action}", self.arn(name))
        if why or self.who.account == self.account:
            return why
        repo = self.find(name)
        if repo is None or self.who.account not in repo.shared_with:
            return (f"User: {self.who.arn} is not authorized to perform: {service}:{action} on resource: "
                    f"{self.arn(name)} because no resource-based policy allows the {service}:{action} action")
        return None

    def allow(self, action, name):
        why = self.denial(action, name)
        if why:
            raise errors(403, "DENIED", why)

    def find(self, name):
        return self.world.repositories.get((self.account, self.region, self.short(name)))

    def repository(self, name):
        repo = self.find(name)
        if repo is None:
            raise errors(404, "NAME_UNKNOWN", missing_repository(self.short(name), self.account))
        return repo

    # ---- routing ----

    def serve(self, path):
        self.host()
        where, what = next(((m, w) for r, w in ROUTES for m in [r.match(path)] if m), (None, "base"))
        self.handler.note(op=what)
        fault = self.handler.before("registry", what, errors)
        self.authenticate()
        if what == "base":
            if path not in ("/v2/", "/v2"):
                raise errors(404, "NOT_FOUND", "no such thing here")
            return Answer(200, b"", {"Content-Type": "text/plain; charset=utf-8"})
        self.name = where["name"]
        if not re.fullmatch(REPOSITORY, self.name):
            raise errors(405, "NAME_INVALID", f"Invalid parameter at 'repositoryName' failed to satisfy constraint: "
                                              f"'must satisfy regular expression '{REPOSITORY}''")
        method = getattr(self, f"{self.handler.command.lower()}_{what}", None)
        if method is None:
            raise errors(405, "UNSUPPORTED", "The operation is unsupported.")
        answer = method(**{k: v for k, v in where.groupdict().items() if k != "name"})
        self.handler.after(fault, errors)
        return answer

    # ---- manifests ----

    def get_manifest(self, reference):
        with self.world.lock:
            self.allow("BatchGetImage", self.name)
            repo = self.repository(self.name)
            digest = repo.find(reference)
            if digest is None:
                raise errors(404, "MANIFEST_UNKNOWN", "Requested image not found")
            kind, data, _ = repo.manifests[digest]
        return Answer(200, data, {"Content-Type": kind, "Docker-Content-Digest": digest})

    head_manifest = get_manifest

    def delete_manifest(self, reference):
        with self.world.lock:
            self.allow("BatchDeleteImage", self.name)
            repo = self.repository(self.name)
            digest = repo.find(reference)
            if digest is None:
                raise errors(404, "MANIFEST_UNKNOWN", "Requested image not found")
            repo.tags = {t: d for t, d in repo.tags.items() if d != digest}
            if reference == digest:
                del repo.manifests[digest]
        return Answer(202, b"")

    def throttle(self):
        rate = self.world.get("putimage_per_second", default=0)
        now = self.world.now()
        self.world.put_times = [t for t in self.world.put_times if t > now - 1]
        if rate and len(self.world.put_times) >= rate:
            self.world.count("registry:throttled")
            raise errors(429, "TOOMANYREQUESTS", "Rate exceeded")
        self.world.put_times.append(now)

    def put_manifest(self, reference):
        data = self.handler.read_body()
        with self.world.lock:
            self.throttle()
            self.allow("PutImage", self.name)
            repo = self.repository(self.name)
            document = self.parsed(data)
            digest = "sha256:" + hashlib.sha256(data).hexdigest()
            by_digest = reference.startswith("sha256:")
            if by_digest and reference != digest:
                raise errors(400, "DIGEST_INVALID", "The image's digest does not match the one in the request")
            if not by_digest and not re.fullmatch(r"[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}", reference):
                raise errors(400, "TAG_INVALID", f"Invalid parameter at 'imageTag': '{reference}'")
            self.check_parts(repo, document)
            if not by_digest and reference in repo.tags and repo.immutable(reference):
                word = self.world.get("immutable_word", default="tag")
                raise errors(400, "TAG_INVALID", f"The image tag '{reference}' already exists in the '{repo.name}' "
                             f"repository and cannot be overwritten because the {word} is immutable.")
            limit = self.world.get("images_per_repository", default=100000)
            if digest not in repo.manifests and len(repo.manifests) >= limit:
                raise errors(403, "DENIED", f"The repository with name '{repo.name}' in registry with id "
                             f"'{repo.account}' already has the maximum allowed number of images which is '{limit}'")
            repo.manifests.setdefault(digest, (document["mediaType"], data, round(self.world.now(), 3)))
            if not by_digest:
                repo.tags[reference] = digest
            if repo.scan_on_push or self.world.get("scan", "always"):
                repo.scans.setdefault(digest, 0)
        headers = {"Docker-Content-Digest": digest, "Location": self.url(f"/v2/{self.name}/manifests/{digest}")}
        if "subject" in document:
            headers["OCI-Subject"] = document["subject"].get("digest", "")
        return Answer(201, b"", headers)

    def parsed(self, data):
        def refuse(why):
            return errors(405, "UNSUPPORTED", f"Invalid parameter at 'ImageManifest' failed to satisfy constraint: "
                                              f"'{why}'")
        if len(data) > MANIFEST_LIMIT:
            raise refuse(f"Member must have length less than or equal to {MANIFEST_LIMIT}")
        try:
            document = json.loads(data)
            kind = document["mediaType"]
            parts = document["manifests"] if kind in INDEXES else [document["config"]] + document["layers"]
            kinds = [kind, document.get("artifactType", "")] + [p["mediaType"] for p in parts]
            digests = [p["digest"] for p in parts]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise refuse("Invalid JSON syntax") from None
        if kind not in INDEXES + IMAGES or any(not isinstance(k, str) or ";" in k for k in kinds):
            raise refuse("Invalid JSON syntax")
        if self.handler.headers.get("Content-Type", "") != kind:
            raise refuse("Invalid JSON syntax")
        if any(not re.fullmatch(DIGEST, str(d)) for d in digests):
            raise refuse("Invalid JSON syntax")
        return document

    def check_parts(self, repo, document):
        tail = f"required for pushing image into repository with name '{repo.name}' in the registry with id " \
               f"'{repo.account}' do not exist"
        if document["mediaType"] in INDEXES:
            missing = [p["digest"] for p in document["manifests"] if p["digest"] not in repo.manifests]
            if missing:
                raise errors(400, "MANIFEST_BLOB_UNKNOWN", f"Images with digests '[{', '.join(missing)}]' {tail}")
            return
        parts = [document["config"]] + document["layers"]
        missing = [p["digest"] for p in parts if p["digest"] not in repo.blobs]
        if missing:
            raise errors(404, "BLOB_UNKNOWN", f"Layers with digests '[{', '.join(missing)}]' {tail}")
        for part in parts:
            if part.get("size") != repo.blobs[part["digest"]][1]:
                raise errors(400, "MANIFEST_INVALID", f"The size of '{part['digest']}' is not {part.get('size')}")

    # ---- lists ----

    def get_tags(self):
        if self.public:
            raise errors(404, "NOT_FOUND", "tags/list is not supported")
        with self.world.lock:
            self.allow("ListImages", self.name)
            repo = self.repository(self.name)
            tags = sorted(repo.tags)
        size = self.handler.query.get("n", "100")
        if not size.isdigit() or not 1 <= int(size) <= 1000:
            raise errors(400, "UNSUPPORTED", "Invalid parameter at 'maxResults' failed to satisfy constraint")
        last = self.handler.query.get("last", "")
        rest = [t for t in tags if t > last]
        page, headers = rest[:int(size)], {"Content-Type": "application/json"}
        if len(rest) > len(page):
            headers["Link"] = f'<{self.url(f"/v2/{self.name}/tags/list")}?n={size}&last={page[-1]}>; rel="next"'
        return Answer(200, json.dumps({"name": self.name, "tags": page}).encode(), headers)

    def get_referrers(self, digest):
        with self.world.lock:
            self.allow("BatchGetImage", self.name)
            found = []
            for key, (kind, data, _) in self.repository(self.name).manifests.items():
                document = json.loads(data)
                if (document.get("subject") or {}).get("digest") != digest:
                    continue
                entry = {"mediaType": kind, "digest": key, "size": len(data),
                         "artifactType": document.get("artifactType") or document.get("config", {}).get("mediaType")}
                if "annotations" in document:
                    entry["annotations"] = document["annotations"]
                found.append(entry)
        wanted, headers = self.handler.query.get("artifactType"), {"Content-Type": INDEXES[0]}
        if wanted:
            found = [e for e in found if e["artifactType"] == wanted]
            headers["OCI-Filters-Applied"] = "artifactType"
        index = {"schemaVersion": 2, "mediaType": INDEXES[0], "manifests": found}
        return Answer(200, json.dumps(index).encode(), headers)


def known_token(world, credential):
    """The token a Basic credential stands for; how its base64 was written does not matter."""
    try:
        plain = base64.b64decode(credential, validate=True)
    except (binascii.Error, ValueError):
        return None
    return world.tokens.get(base64.b64encode(plain).decode())


def bearer_token(world, handler):
    """ECR Public's token endpoint: anonymous for pulls, Basic AWS:password for more."""
    handler.note(op="BearerToken")
    value, key = handler.headers.get("Authorization", ""), None
    if value:
        token = known_token(world, value.partition(" ")[2])
        if token is None or token["region"] != "public" or world.now() >= token["expires"]:
            raise Answer(400, b"")
        key = token["key"]
        handler.note(user=key)
    bearer, seconds = secrets.token_urlsafe(96), world.get("bearer_seconds", default=43200)
    with world.lock:
        world.bearers[bearer] = {"expires": world.now() + seconds, "key": key, "region": "public"}
    return Answer(200, json.dumps({"token": bearer, "expires_in": seconds}).encode(),
                  {"Content-Type": "application/json"})
