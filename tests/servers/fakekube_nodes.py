"""What Karpenter, the scheduler and the kubelets do: nodes for pods that wait, and what becomes of the pods on them."""
from fakekube_jobs import child, event, fate_of, is_leaving, suffix, top_of
from fakekube_store import now

POOL = "karpenter.sh/nodepool"
CROWDED = "0/2 nodes are available: 2 node(s) had untolerated taint(s)."
NO_CAPACITY = ("creating instance, InsufficientInstanceCapacity: We currently do not have sufficient capacity in the "
               "Availability Zone you requested")
FINALIZER = "karpenter.sh/termination"
LACKING = ("none", "silent", "boot")


def value_of(pool, label, default):
    """What a pool's requirements say of a label."""
    for r in pool["spec"]["template"]["spec"].get("requirements", ()):
        if r["key"] == label and r.get("operator") == "In":
            return r["values"][0]
    return default


def labels_of(pool):
    name = pool["metadata"]["name"]
    labels = dict(pool["spec"]["template"].get("metadata", {}).get("labels", {}))
    for label, default in (("node.kubernetes.io/instance-type", "m5.large"), ("topology.kubernetes.io/zone", "us-west-2a"),
                           ("karpenter.sh/capacity-type", "on-demand"), ("kubernetes.io/arch", "amd64")):
        labels.setdefault(label, value_of(pool, label, default))
    return labels | {POOL: name, "kubernetes.io/os": "linux"}


def make_claim(cluster, pool, conditions, node=None):
    meta = pool["metadata"]
    claim = child({"metadata": meta | {"namespace": ""}, "apiVersion": pool["apiVersion"], "kind": "NodePool"},
                  "karpenter.sh/v1", "NodeClaim", f"{meta['name']}-{suffix(cluster.version)}", labels_of(pool))
    del claim["metadata"]["namespace"]
    claim["metadata"]["finalizers"] = [FINALIZER]
    claim["spec"] = {"nodeClassRef": pool["spec"]["template"]["spec"].get("nodeClassRef", {})}
    claim["status"] = {"conditions": [{"type": t, "status": s, "message": m} for t, s, m in conditions]}
    if node:
        claim["status"]["nodeName"] = node
    return cluster.add(claim)


def make_node(cluster, pool):
    """A node of the pool without a pod of a job; a new one with its claim when there is none."""
    taken = {p["spec"].get("nodeName") for p in cluster.of("pods")}
    nodes = {n["metadata"]["name"]: n for n in cluster.of("nodes")}
    name, i = "ip-10-0-0-0", 0
    while name in taken or name in nodes and nodes[name]["metadata"].get("labels", {}).get(POOL) != pool["metadata"]["name"]:
        i += 1
        name = f"ip-10-0-0-{i}"
    if name not in nodes:
        make_claim(cluster, pool, [(t, "True", "") for t in ("Launched", "Registered", "Initialized", "Ready")], name)
        cluster.add({"apiVersion": "v1", "kind": "Node",
                     "metadata": {"name": name, "labels": labels_of(pool), "finalizers": [FINALIZER]},
                     "spec": {"taints": pool["spec"]["template"]["spec"].get("taints", [])},
                     "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    return name


# ---- which node takes which pod ----

def matches(node, term):
    labels = node["metadata"].get("labels", {})
    for e in term.get("matchExpressions", ()):
        value = labels.get(e["key"])
        if {"In": value in e.get("values", ()), "NotIn": value not in e.get("values", ()), "Exists": value is not None,
                "DoesNotExist": value is None}.get(e["operator"], True) is False:
            return False
    return True


def tolerates(spec, taint):
    return any((not t.get("key") or t["key"] == taint["key"]) and t.get("effect") in (None, "", taint["effect"]) and (
        t.get("operator") == "Exists" or t.get("value", "") == taint.get("value", "")) for t in spec.get("tolerations", ()))


def suits(node, spec):
    """Whether a node may take a pod of this spec."""
    labels = node["metadata"].get("labels", {})
    terms = spec.get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {}).get(
        "nodeSelectorTerms", [{}])
    return all(labels.get(k) == v for k, v in spec.get("nodeSelector", {}).items()) and any(matches(node, t) for t in terms) and \
        all(tolerates(spec, t) for t in node.get("spec", {}).get("taints", ()) if t["effect"] != "PreferNoSchedule")


# ---- what kubelets report ----

def containers(pod, state, ready=False, restarts=0):
    return [{"name": c["name"], "image": c["image"], "ready": ready, "restartCount": restarts, "state": state}
            for c in pod["spec"].get("containers", ())]


def ready_conditions(pod, value):
    return [{"type": t, "status": value} for t in ("Ready", "ContainersReady")] + [
        {"type": t, "status": "True"} for t in ("PodScheduled", "Initialized")]


def started(pod, word):
    """The status of a pod that has a node."""
    if word == "image":
        return {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}], "containerStatuses": containers(
            pod, {"waiting": {"reason": "ErrImagePull", "message": "manifest unknown"}})}
    if word == "fails":
        ended = {"terminated": {"exitCode": 137, "reason": "OOMKilled", "startedAt": now(), "finishedAt": now()}}
        return {"phase": "Failed", "conditions": ready_conditions(pod, "False"), "containerStatuses": containers(pod, ended)}
    if word == "ends":
        ended = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now(), "finishedAt": now()}}
        return {"phase": "Succeeded", "conditions": ready_conditions(pod, "False"), "containerStatuses": containers(pod, ended)}
    return {"phase": "Running", "startTime": now(), "conditions": ready_conditions(pod, "True"),
            "containerStatuses": containers(pod, {"running": {"startedAt": now()}}, True)}


# ---- the scheduler ----

def unplaced(cluster, pod, message):
    since = next((c["lastTransitionTime"] for c in pod.get("status", {}).get("conditions", ())), now())
    cluster.set_status(pod, {"phase": "Pending", "conditions": [{
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message, "lastTransitionTime": since}]})


def lacks_claim(cluster, pod):
    """What the scheduler says of a volume that is not there; None when all are."""
    for volume in pod["spec"].get("volumes", ()):
        if "persistentVolumeClaim" not in volume:
            continue
        name = volume["persistentVolumeClaim"]["claimName"]
        claim = cluster.live(f"persistentvolumeclaims|{pod['metadata']['namespace']}|{name}")
        if not claim:
            return f'0/2 nodes are available: persistentvolumeclaim "{name}" not found. not found'
        if claim.get("status", {}).get("phase") != "Bound":
            return "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"
    return None


def tell_capacity(cluster, pool, word):
    """Once a pass for all the pods that wait for the pool."""
    name = pool["metadata"]["name"]
    if word == "none":
        claim = {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": f"{name}-x7k2p", "uid": name}}
        event(cluster, claim, "InsufficientCapacityError", f"NodeClaim {name}-x7k2p event: {NO_CAPACITY}", "karpenter")
    elif word == "boot" and not [c for c in cluster.of("nodeclaims.karpenter.sh") if c["metadata"]["labels"][POOL] == name]:
        make_claim(cluster, pool, [("Launched", "True", ""), ("Registered", "Unknown", "Node not registered with cluster")])


def place(cluster, pod, told):
    """A pod without a node gets one, or is told why not."""
    why = lacks_claim(cluster, pod)
    name = pod["spec"].get("nodeSelector", {}).get(POOL)
    pool = cluster.live(f"nodepools.karpenter.sh||{name}") if name else None
    if why or name and not pool:
        unplaced(cluster, pod, why or CROWDED)
        return
    job = top_of(cluster, pod)
    word = fate_of(cluster, job, (name or job["metadata"]["name"]).rpartition("-")[2]) if job is not pod else "runs"
    if word == "half":
        last = max(p["metadata"]["name"] for p in cluster.owned_by(job) if p["kind"] == "Pod")
        word = "silent" if pod["metadata"]["name"] == last else "runs"
    if word in LACKING and not pool:
        word = "runs"  # a launcher needs no node of the pool
    if word in LACKING:
        unplaced(cluster, pod, CROWDED)
        if name not in told:
            told.add(name)
            tell_capacity(cluster, pool, word)
        return
    ordinary = [n["metadata"]["name"] for n in cluster.of("nodes") if suits(n, pod["spec"])]
    pod["spec"]["nodeName"] = make_node(cluster, pool) if pool else (ordinary or ["ordinary"])[0]
    cluster.set_status(pod, started(pod, word))
    cluster.stamp(pod)


def schedule(cluster):
    told = set()
    for pod in cluster.of("pods"):
        if not is_leaving(pod) and not pod.get("spec", {}).get("nodeName") and "held" not in cluster.objects[
                f"pods|{pod['metadata'].get('namespace', '')}|{pod['metadata']['name']}"] and pod.get("spec", {}).get("containers"):
            place(cluster, pod, told)


# ---- Karpenter ----

def consolidate(cluster):
    """Claims that no pod needs any more go, with their nodes."""
    pods = cluster.of("pods")
    wanted = {p.get("spec", {}).get("nodeSelector", {}).get(POOL) for p in pods}
    for claim in cluster.of("nodeclaims.karpenter.sh"):
        if FINALIZER in claim["metadata"].get("finalizers", ()) and not is_leaving(claim) and \
                claim["metadata"]["labels"][POOL] not in wanted:
            cluster.delete(claim)
        if is_leaving(claim):
            end_node(cluster, claim.get("status", {}).get("nodeName"))
            cluster.unfinalize(claim, FINALIZER)


def end_node(cluster, name):
    for pod in cluster.of("pods"):
        if name and pod.get("spec", {}).get("nodeName") == name:
            cluster.remove(pod)
    node = cluster.live(f"nodes||{name}")
    if node:
        cluster.remove(node)
