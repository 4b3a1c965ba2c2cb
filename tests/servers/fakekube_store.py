"""What fakekubectl's cluster holds, in $FAKEKUBE/objects.json: {KEY: {"live": OBJECT, "managers": {...}}}, and how an
object changes: each change is a new resourceVersion, a change of what is asked for a new generation."""
import json
import os
import time

from fakekube_kinds import key_of, kind_of

ROOT = os.environ["FAKEKUBE"]
ALWAYS = ("default", "kube-system", "kube-public", "kube-node-lease")  # namespaces that no file holds


class Refused(Exception):
    """What kubectl says on standard error, with its exit status."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.text, self.status = text, status


def path(name):
    return os.path.join(ROOT, name)


def load(name, default):
    try:
        with open(path(name), encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return default


def save(name, value):
    with open(path(name) + ".new", "w", encoding="utf-8") as f:
        f.write(json.dumps(value))
    os.rename(path(name) + ".new", path(name))


def words_of(name):
    """The words of a file of $FAKEKUBE; none when it is not there."""
    try:
        with open(path(name), encoding="utf-8") as f:
            return f.read().split()
    except FileNotFoundError:
        return []


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def copy_of(value):
    """A deep copy: of dicts, lists and what JSON has beside them."""
    if isinstance(value, dict):
        return {k: copy_of(v) for k, v in value.items()}
    return [copy_of(v) for v in value] if isinstance(value, list) else value


def merge(old, new):
    """A JSON merge patch: null takes a member away."""
    for k, v in new.items():
        if v is None:
            old.pop(k, None)
        elif isinstance(v, dict):
            if not isinstance(old.get(k), dict):
                old[k] = {}
            merge(old[k], v)
        else:
            old[k] = v


def asked(o):
    """What is asked for: all but metadata and status."""
    return {k: v for k, v in o.items() if k not in ("metadata", "status")}


class Cluster:
    """The objects as they are while one call is answered."""

    def __init__(self):
        self.objects = load("objects.json", {})
        self.version = self.saved = load("version", 0)
        self.half_done = False  # a call was refused after it had done something

    def save(self):
        """Writes what has changed since the last time."""
        if self.version != self.saved:
            save("version", self.version)
            save("objects.json", self.objects)
            self.saved = self.version

    def trial(self):
        """The same cluster, in which what is written does not last."""
        other = object.__new__(Cluster)
        other.objects = {k: dict(e) for k, e in self.objects.items()}
        other.version, other.saved, other.half_done = self.version, self.saved, False
        return other

    # ---- reading ----

    def live(self, key):
        entry = self.objects.get(key)
        return entry["live"] if entry else None

    def of(self, *resources):
        """The live objects of these resources, as the server lists them: by namespace and name."""
        found = [e["live"] for k, e in self.objects.items() if k.partition("|")[0] in resources]
        return sorted(found, key=lambda o: (o["metadata"].get("namespace", ""), o["metadata"]["name"]))

    def namespace(self, name):
        """The Namespace of this name; None when there is none."""
        if name in ALWAYS:
            return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "status": {"phase": "Active"}}
        return self.live(f"namespaces||{name}")

    def owned_by(self, o):
        """What an object owns, by uid."""
        uid = o["metadata"]["uid"]
        return [e["live"] for e in self.objects.values() if any(
            r.get("uid") == uid for r in e["live"]["metadata"].get("ownerReferences", ()))]

    # ---- writing ----

    def stamp(self, o):
        self.version += 1
        o["metadata"]["resourceVersion"] = str(self.version)

    def add(self, o, managers=None):
        """A new object, with what the server gives it."""
        meta = o["metadata"]
        self.stamp(o)
        meta["creationTimestamp"] = now()
        meta["uid"] = f"00000000-0000-4000-8000-{self.version:012}"
        meta.pop("generation", None)
        if kind_of(o).generations:
            meta["generation"] = 1
        if o["kind"] == "PersistentVolumeClaim":
            meta.setdefault("finalizers", ["kubernetes.io/pvc-protection"])
        if o["kind"] == "PersistentVolume":
            meta.setdefault("finalizers", ["kubernetes.io/pv-protection"])
        if o["kind"] == "Namespace":
            o["spec"] = {"finalizers": ["kubernetes"]} | o.get("spec", {})
            o["status"] = {"phase": "Active"}
            meta["labels"] = {"kubernetes.io/metadata.name": meta["name"]} | meta.get("labels", {})
        self.objects[key_of(o)] = {"live": o, "managers": managers or {}}
        return o

    def put(self, o, managers=None):
        """The object in place of the one there, which may be the same: then it is no change. Returns what is there."""
        entry = self.objects[key_of(o)]
        old, was = entry["live"], entry.get("managers", {})
        for name in ("uid", "creationTimestamp", "resourceVersion", "generation", "deletionTimestamp"):
            if name in old["metadata"]:
                o["metadata"][name] = old["metadata"][name]
        managers = was if managers is None else managers
        if o == old and managers == was:
            return old
        if "generation" in old["metadata"] and asked(o) != asked(old):
            o["metadata"]["generation"] = old["metadata"]["generation"] + 1
        self.stamp(o)
        entry["live"], entry["managers"] = o, managers
        return o

    def set_status(self, o, status):
        """What a controller reports; the same again is no change, and what a test set stays."""
        if self.objects[key_of(o)].get("held") or o.get("status") == status:
            return
        o["status"] = status
        self.stamp(o)

    def remove(self, o):
        self.version += 1
        self.objects.pop(key_of(o), None)

    def unfinalize(self, o, *names):
        """Takes finalizers away; the last one takes an object that is leaving with it."""
        kept = [f for f in o["metadata"].get("finalizers", ()) if f not in names]
        if kept != o["metadata"].get("finalizers", []):
            o["metadata"].pop("finalizers")
            if kept:
                o["metadata"]["finalizers"] = kept
            self.stamp(o)
        if not kept and "deletionTimestamp" in o["metadata"] and o["kind"] not in ("Pod", "Namespace"):
            self.remove(o)

    def delete(self, o, propagation="Background"):
        """Asks for an object's end. True when it is gone at once; else it is Terminating until its finalizers are served."""
        meta = o["metadata"]
        if propagation == "Foreground" and "foregroundDeletion" not in meta.get("finalizers", ()):
            meta["finalizers"] = meta.get("finalizers", []) + ["foregroundDeletion"]
        stays = meta.get("finalizers") or o["kind"] == "Namespace" or (o["kind"] == "Pod" and o["spec"].get("nodeName"))
        if not stays:
            self.remove(o)
            return True
        if "deletionTimestamp" not in meta:
            meta["deletionTimestamp"] = now()
            if o["kind"] == "Namespace":
                o["status"] = {"phase": "Terminating"}
            else:
                meta["deletionGracePeriodSeconds"] = o.get("spec", {}).get("terminationGracePeriodSeconds", 30) \
                    if o["kind"] == "Pod" else 0
            if "generation" in meta:
                meta["generation"] += 1
            self.stamp(o)
        return False


def meddle(cluster, changes):
    """What controllers or people do meanwhile: {KEY: members to merge, or null}. A status that is set stays."""
    for key, change in changes.items():
        o = cluster.live(key)
        if change is None and o:
            o["metadata"].pop("finalizers", None)
            cluster.remove(o)
        elif change is None:
            continue
        elif not o:
            cluster.add(copy_of(change))
        else:
            before = asked(copy_of(o))
            merge(o, change)
            cluster.stamp(o)
            if "generation" in o["metadata"] and asked(o) != before:
                o["metadata"]["generation"] += 1
        if change and "status" in change:
            cluster.objects[key]["held"] = True

