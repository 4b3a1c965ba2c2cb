"""Blobs of the registry half: uploads as ECR takes them, mounts, and downloads by way of S3."""
import hashlib
import os
import re
import secrets
import uuid

from fakeaws_ecr import Repository
from fakeaws_world import Answer, Close, errors

DIGEST = r"sha256:[0-9a-f]{64}"
EXPIRED = "Your authorization token has expired. Reauthenticate and try again."


def expired():
    return errors(403, "DENIED", EXPIRED)


class Upload:
    def __init__(self, repo, path):
        self.repo, self.path, self.received, self.state = repo, path, 0, secrets.token_urlsafe(48)
        self.digest = hashlib.sha256()


class Blobs:
    """The part of a registry request that is about blobs; fakeaws_registry.Registry is the rest."""

    # ---- blobs ----

    def head_blob(self, digest):
        with self.world.lock:
            self.allow("BatchCheckLayerAvailability", self.name)
            found = self.repository(self.name).blobs.get(digest)
        if found is None:
            raise errors(404, "BLOB_UNKNOWN", "blob unknown to registry")
        return Answer(200, b"", {"Content-Length": str(found[1]), "Docker-Content-Digest": digest,
                                 "Content-Type": "application/octet-stream"})

    def get_blob(self, digest):
        """A pre-signed URL of S3; there an Authorization header is one too many."""
        with self.world.lock:
            self.allow("GetDownloadUrlForLayer", self.name)
            found = self.repository(self.name).blobs.get(digest)
            if found is None:
                raise errors(404, "BLOB_UNKNOWN", "blob unknown to registry")
            signature = secrets.token_hex(32)
            self.world.s3[signature] = (found, self.world.now() + 3600)
        host = self.world.get("s3_host") or f"localhost:{self.handler.server.server_address[1]}"
        return Answer(307, b"", {"Location": f"{self.handler.scheme}://{host}/s3/{secrets.token_hex(8)}/{digest}"
                                 f"?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=3600&X-Amz-SignedHeaders=host"
                                 f"&X-Amz-Signature={signature}"})

    # ---- uploads ----

    def put_on_template(self):
        """Create on push: only where a template's prefix (or ROOT) matches."""
        for prefix in self.world.get("create_on_push", default=[]):
            if prefix == "ROOT" or self.name.startswith(prefix + "/"):
                repo = Repository(self.account, self.region, self.name, round(self.world.now(), 3), {})
                self.world.repositories[repo.account, repo.region, repo.name] = repo
                return

    def post_uploads(self):
        self.handler.read_body()
        with self.world.lock:
            why = self.denial("InitiateLayerUpload", self.name)
            if why:
                if self.world.get("upload_denied", default="403") == "eof":
                    raise Close
                raise errors(403, "DENIED", why)
            if self.find(self.name) is None:
                self.put_on_template()
            if self.find(self.name) is None and self.world.get("upload_missing_repository", default="404") == "eof":
                raise Close
            repo = self.repository(self.name)
            mount, source = self.handler.query.get("mount"), self.handler.query.get("from")
            if mount and source and self.mounted(repo, mount, source):
                return Answer(201, b"", {"Location": self.url(f"/v2/{self.name}/blobs/{mount}"),
                                         "Docker-Content-Digest": mount})
            key = str(uuid.uuid4())
            upload = Upload(repo, os.path.join(self.world.folder, key))
            self.world.uploads[key] = upload
        return Answer(202, b"", {"Location": self.session_url(key, upload), "Range": "0-0",
                                 "Docker-Upload-UUID": key})

    def mounted(self, repo, digest, source_name):
        if self.public or self.world.get("account_settings", "BLOB_MOUNTING", default="DISABLED") != "ENABLED":
            return False
        source = self.find(source_name)
        if source is None or digest not in source.blobs or source.encryption != repo.encryption:
            return False
        if self.denial("GetDownloadUrlForLayer", source_name):
            return False
        if not any(digest in data.decode() for _, data, _ in source.manifests.values()):
            return False
        repo.blobs[digest] = source.blobs[digest]
        return True

    def url(self, path):
        if self.world.get("location") == "relative":
            return path
        return f"{self.handler.scheme}://{self.handler.headers.get('Host')}{path}"

    def session_url(self, key, upload):
        return self.url(f"/v2/{self.name}/blobs/uploads/{key}?_state={upload.state}")

    def session(self, key):
        upload = self.world.uploads.get(key)
        if upload is None or upload.repo is not self.find(self.name) or \
                self.handler.query.get("_state") != upload.state:
            raise errors(404, "BLOB_UPLOAD_UNKNOWN", f"The upload with id '{key}' does not exist")
        return upload

    def first_byte(self, missing):
        """Where the client says its bytes begin; `missing` when it does not say."""
        value = self.handler.headers.get("Content-Range")
        if value is None:
            return missing
        found = re.fullmatch(r"(\d+)-(\d+)", value)
        if not found:
            raise errors(416, "BLOB_UPLOAD_INVALID", "Content-Range is no range of the form first-last")
        return int(found[1])

    def receive(self, upload, restarts):
        """Takes the body into the session. What comes after the first chunk is swallowed without a word."""
        first = self.first_byte(0 if restarts else upload.received)
        if first != upload.received and (first == 0 or upload.received == 0):
            self.handler.drain()
            raise errors(416, "BLOB_UPLOAD_INVALID", f"First byte of the layer part is {first} instead of "
                                                     f"{upload.received}")
        keep = upload.received == 0
        with open(upload.path, "ab") as file:
            for piece in self.handler.pieces():
                if keep:
                    file.write(piece)
                    upload.digest.update(piece)
                    upload.received += len(piece)
                self.grow(len(piece))
        if self.world.now() >= self.token["expires"]:
            raise expired()

    def grow(self, size):
        """Counts upload bytes; the token dies when the configured number has come in, once."""
        with self.world.lock:
            self.world.upload_bytes += size
            limit = self.world.get("expire_token_after_bytes", default=0)
            if not limit or self.world.upload_bytes < limit:
                return
            self.world.config["expire_token_after_bytes"] = 0
            self.token["expires"] = 0
        if self.world.get("expire_mode", default="end") == "cut":
            self.handler.close_connection = True
            raise expired()

    def patch_session(self, id):
        with self.world.lock:
            self.allow("UploadLayerPart", self.name)
            upload = self.session(id)
        self.receive(upload, False)
        return Answer(201, b"", {"Location": self.session_url(id, upload), "Docker-Upload-UUID": id,
                                 "Range": f"0-{max(upload.received - 1, 0)}"})

    def get_session(self, id):
        with self.world.lock:
            self.allow("UploadLayerPart", self.name)
            upload = self.session(id)
        return Answer(204, b"", {"Location": self.session_url(id, upload), "Docker-Upload-UUID": id,
                                 "Range": f"0-{max(upload.received - 1, 0)}"})

    def delete_session(self, id):
        with self.world.lock:
            self.session(id)
            os.unlink(self.world.uploads.pop(id).path)
        return Answer(204, b"")

    def put_session(self, id):
        with self.world.lock:
            self.allow("CompleteLayerUpload", self.name)
            upload, wanted = self.session(id), self.handler.query.get("digest", "")
            if not re.fullmatch(DIGEST, wanted):
                raise errors(400, "DIGEST_INVALID", "digest is missing or no sha256 digest")
            if self.handler.body_expected():
                self.allow("UploadLayerPart", self.name)
        if self.handler.body_expected():
            self.receive(upload, True)
        with self.world.lock:
            if self.world.now() >= self.token["expires"]:
                raise expired()
            if upload.received == 0:
                raise errors(400, "BLOB_UPLOAD_INVALID", f"The upload with id '{id}' has no layer parts")
            digest = "sha256:" + upload.digest.hexdigest()
            if digest != wanted:
                raise errors(400, "DIGEST_INVALID", f"The layer's digest '{digest}' is not the given '{wanted}'")
            self.world.uploads.pop(id, None)
            upload.repo.blobs[digest] = (upload.path, upload.received)
        return Answer(201, b"", {"Location": self.url(f"/v2/{self.name}/blobs/{digest}"),
                                 "Docker-Content-Digest": digest})


def s3_object(world, handler):
    """What a pre-signed URL leads to."""
    def refuse(status, code, text):
        return Answer(status, f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{text}'
                              f"</Message></Error>".encode(), {"Content-Type": "application/xml"})
    handler.note(op="GetObject")
    if handler.headers.get("Authorization"):
        raise refuse(400, "InvalidArgument", "Only one auth mechanism allowed; only the X-Amz-Algorithm query "
                                             "parameter, Signature query string parameter or the Authorization header "
                                             "should be specified")
    found, expires = world.s3.get(handler.query.get("X-Amz-Signature", ""), (None, 0))
    if found is None or handler.command not in ("GET", "HEAD"):
        raise refuse(403, "SignatureDoesNotMatch", "The request signature we calculated does not match")
    if world.now() >= expires:
        raise refuse(403, "AccessDenied", "Request has expired")
    with open(found[0], "rb") as file:
        data = file.read()
    wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range", ""))
    if not wanted:
        return Answer(200, data, {"Content-Type": "application/octet-stream", "Accept-Ranges": "bytes"})
    first, last = int(wanted[1]), min(int(wanted[2] or len(data) - 1), len(data) - 1)
    if first > last:
        raise refuse(416, "InvalidRange", "The requested range is not satisfiable")
    return Answer(206, data[first:last + 1], {"Content-Range": f"bytes {first}-{last}/{len(data)}"})
