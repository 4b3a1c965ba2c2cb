"""Server-side apply as the API server does it: who set which field, whose values conflict, and what goes when its
manager no longer names it. A manager's fields are a tree of names, {"f:spec": {...}}, {} at the leaves; the items of a
list that has keys are named {"name":"x"} by them."""
import json

from fakekube_store import copy_of

# The keys of lists whose items are merged one by one; all other lists are one value. (OpenAPI, x-kubernetes-list-map-keys)
LIST_KEYS = {
    "containers": ("name",), "initContainers": ("name",), "volumes": ("name",), "env": ("name",),
    "volumeMounts": ("mountPath",), "imagePullSecrets": ("name",), "conditions": ("type",), "replicatedJobs": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"), "resourceClaims": ("name",),
    "ports": ("containerPort", "port", "protocol"), "ownerReferences": ("uid",),
}
SETS = ("finalizers",)
ATOMIC_MAPS = ("selector", "nodeSelector", "labelSelector", "nodeClassRef", "resourceFieldRef", "fieldRef")
NOT_OWNED = ("apiVersion", "kind")
NOT_OWNED_META = ("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
                  "deletionGracePeriodSeconds", "managedFields")


def item_key(name, item):
    """The name of a list's item; None when the list is one value."""
    if name in SETS:
        return json.dumps(item)
    if not isinstance(item, dict) or name not in LIST_KEYS:
        return None
    found = {k: item[k] for k in LIST_KEYS[name] if k in item}
    if name == "ports" and found:
        found.setdefault("protocol", "TCP")
    return json.dumps(found, sort_keys=True, separators=(",", ":")) if found else None


def parts(name, value):
    """The members of a map or a list with keys, each with its name; None for one value."""
    if isinstance(value, dict) and value and name not in ATOMIC_MAPS:
        return [("f:" + k, k, v) for k, v in value.items()]
    if isinstance(value, list) and value:
        keys = [item_key(name, item) for item in value]
        if None not in keys:
            return [("k:" + k, None, v) for k, v in zip(keys, value)]
    return None


def fields(name, value):
    """The tree of all that a value sets."""
    members = parts(name, value)
    if members is None:
        return {}
    return {path: fields(k, v) | ({".": {}} if k is None else {}) for path, k, v in members}


def fields_of(o):
    """Those of an object that a manager can own."""
    meta = {k: v for k, v in o.get("metadata", {}).items() if k not in NOT_OWNED_META}
    body = {k: v for k, v in o.items() if k not in NOT_OWNED + ("metadata", "status")}
    return fields("", body | ({"metadata": meta} if meta else {}))


# ---- trees ----

def minus(tree, other):
    """What is in the first and not in the other."""
    kept = {}
    for k, v in tree.items():
        if k not in other:
            kept[k] = v
            continue
        rest = minus(v, other[k])
        if rest:
            kept[k] = rest
    return kept


def common(a, b):
    """What is in both."""
    return {k: common(a[k], b[k]) for k in a if k in b and (not a[k] or not b[k] or common(a[k], b[k]))}


def leaves(tree, before=""):
    """Paths as conflicts name them: .spec.template.spec.containers[name="x"].image"""
    for k, v in tree.items():
        if k == ".":
            continue
        step = "." + k[2:] if k[:2] == "f:" else "[" + ",".join(
            f"{n}={json.dumps(x)}" for n, x in json.loads(k[2:]).items()) + "]"
        if v and set(v) != {"."}:
            yield from leaves(v, before + step)
        else:
            yield before + step


def differ(name, old, new):
    """The tree of what the new value sets otherwise than the old one does."""
    if old == new:
        return {}
    mine, theirs = parts(name, new), parts(name, old)
    if mine is None or theirs is None:
        return None  # all of it
    had = {path: v for path, _, v in theirs}
    tree = {}
    for path, k, v in mine:
        if path not in had:
            tree[path] = fields(k, v)
            continue
        below = differ(k, had[path], v)
        if below is None:
            tree[path] = {}
        elif below:
            tree[path] = below
    return tree


# ---- values ----

def merged(name, old, new):
    """The old value with what the new one sets."""
    mine, theirs = parts(name, new), parts(name, old)
    if mine is None or theirs is None:
        return copy_of(old if new == {} and isinstance(old, dict) and name not in ATOMIC_MAPS else new)
    if isinstance(new, dict):
        return copy_of(old) | {k: merged(k, old[k], v) if k in old else copy_of(v) for k, v in new.items()}
    had = {path: v for path, _, v in theirs}
    asked = {path: v for path, _, v in mine}
    kept = [merged("", v, asked[path]) if path in asked else copy_of(v) for path, v in had.items()]
    return kept + [copy_of(v) for path, v in asked.items() if path not in had]


def prune(name, value, tree):
    """Takes the leaves of a tree out of a value; True when nothing is left of it."""
    if not tree:
        return True
    if isinstance(value, dict):
        for path, below in tree.items():
            k = path[2:]
            if k in value and prune(k, value[k], below):
                del value[k]
        return not value
    if isinstance(value, list):
        kept = []
        for item in value:
            below = tree.get("k:" + str(item_key(name, item)))
            if below is None or not ("." in below or prune("", item, below)):
                kept.append(item)
        value[:] = kept
    return not value


# ---- managers ----

def conflicts(managers, manager, changed, force):
    """[(manager, tree)]: whose fields the change would take; with force they are taken."""
    found = []
    for name, theirs in managers.items():
        if name == manager:
            continue
        both = common(changed, theirs["fields"])
        if both and not force:
            found.append((theirs, both))
        elif both:
            theirs["fields"] = minus(theirs["fields"], both)
    return found


def tell_conflicts(found):
    """As kubectl prints them, the first lines."""
    n = sum(len(list(leaves(tree))) for _, tree in found)
    text = f"error: Apply failed with {n} conflict{'s' if n > 1 else ''}: "
    rows = []
    for theirs, tree in found:
        who = json.dumps(theirs["manager"])
        if theirs["operation"] == "Update":
            who += f" using {theirs['apiVersion']}"
        paths = list(leaves(tree))
        rows.append(f"conflict with {who}: {paths[0]}" if len(paths) == 1 else
                    f"conflicts with {who}:\n" + "\n".join(f"- {p}" for p in paths))
    return text + "\n".join(rows)


def record(managers, manager, operation, o, tree):
    """Who owns what from now on; a manager without fields is none."""
    name = f"{manager}/{operation}"
    managers[name] = {"manager": manager, "operation": operation, "apiVersion": o["apiVersion"], "fields": tree}
    for k in [k for k, v in managers.items() if not v["fields"]]:
        del managers[k]


def apply_to(old, managers, wanted, manager, force):
    """(object, managers, conflicts) of applying to what is there; old None = it is not there yet."""
    managers, tree, name = copy_of(managers), fields_of(wanted), f"{manager}/Apply"
    if old is None:
        record(managers, manager, "Apply", wanted, tree)
        return copy_of(wanted), managers, []
    body = {k: v for k, v in wanted.items() if k != "status"}
    body["metadata"] = {k: v for k, v in wanted["metadata"].items() if k not in NOT_OWNED_META}
    found = conflicts(managers, name, differ("", old, body) or {}, force)
    if found:
        return old, managers, found
    new = merged("", old, body)
    dropped = minus(managers.get(name, {"fields": {}})["fields"], tree)
    for other, theirs in managers.items():
        if other != name:
            dropped = minus(dropped, theirs["fields"])
    if dropped:
        prune("", new, dropped)
    record(managers, manager, "Apply", wanted, tree)
    return new, managers, []


def updated(old, managers, new, manager):
    """The managers after a write that is no apply: what it changed is its own."""
    managers = copy_of(managers)
    changed = fields_of(new) if old is None else differ("", clean(old), clean(new)) or {}
    gone = minus(fields_of(old), fields_of(new)) if old else {}
    for theirs in managers.values():
        theirs["fields"] = minus(theirs["fields"], changed)
        theirs["fields"] = minus(theirs["fields"], gone)
    mine = managers.get(f"{manager}/Update", {"fields": {}})["fields"]
    if changed or mine:
        record(managers, manager, "Update", new, joined(mine, changed))
    return managers


def clean(o):
    """Without what no manager owns."""
    kept = {k: v for k, v in o.items() if k not in NOT_OWNED + ("status",)}
    kept["metadata"] = {k: v for k, v in o["metadata"].items() if k not in NOT_OWNED_META}
    return kept


def joined(a, b):
    """What is in either."""
    return a | {k: joined(a[k], v) if k in a else v for k, v in b.items()}
