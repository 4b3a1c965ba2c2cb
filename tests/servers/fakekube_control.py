"""What the controllers do between two calls, instantly: one pass, from what is asked to what is reported. $FAKEKUBE/stuck
holds the kinds that stay as they are, $FAKEKUBE/slow those that take so many calls to leave: Job=3."""
from fakekube_jobs import event, is_leaving, make_pods, report
from fakekube_kinds import key_of, kind_of
from fakekube_nodes import consolidate, schedule, suits
from fakekube_store import words_of

FIRST = {"kube-root-ca.crt": "ConfigMap", "default": "ServiceAccount"}


# ---- namespaces ----

def run_namespaces(cluster):
    for space in cluster.of("namespaces"):
        name = space["metadata"]["name"]
        if not is_leaving(space):
            for own, kind in FIRST.items():
                if not cluster.live(f"{kind.lower()}s|{name}|{own}"):
                    cluster.add({"apiVersion": "v1", "kind": kind, "metadata": {"name": own, "namespace": name}})
            continue
        for key in [k for k in cluster.objects if k.split("|")[1] == name]:
            if key in cluster.objects and not is_leaving(cluster.live(key)):
                cluster.delete(cluster.live(key))


def end_namespaces(cluster):
    for space in cluster.of("namespaces"):
        if is_leaving(space) and not [k for k in cluster.objects if k.split("|")[1] == space["metadata"]["name"]]:
            cluster.remove(space)


# ---- owners ----

def collect_garbage(cluster):
    """What no living object owns any more; and what an object that goes in the foreground takes with it."""
    uids = {e["live"]["metadata"].get("uid") for e in cluster.objects.values()}
    for entry in list(cluster.objects.values()):
        o = entry["live"]
        owners = o["metadata"].get("ownerReferences")
        if owners and not is_leaving(o) and not any(r.get("uid") in uids for r in owners):
            cluster.delete(o)
        if is_leaving(o) and "foregroundDeletion" in o["metadata"].get("finalizers", ()):
            for other in cluster.owned_by(o):
                if not is_leaving(other):
                    cluster.delete(other, "Foreground" if kind_of(other).resource == "jobs.batch" else "Background")


def end_pods(cluster):
    """The kubelet ends what is leaving, and the controller of its Job has counted what has ended."""
    for pod in cluster.of("pods"):
        if is_leaving(pod) and not waits(cluster, pod):
            cluster.remove(pod)
        elif pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
            cluster.unfinalize(pod, "batch.kubernetes.io/job-tracking")


def waits(cluster, o):
    """Whether an object that is leaving stays for this pass."""
    if o["kind"] in words_of("stuck"):
        return True
    slow = dict(w.split("=") for w in words_of("slow"))
    entry = cluster.objects[key_of(o)]
    entry["passes"] = entry.get("passes", 0) + 1
    cluster.version += o["kind"] in slow
    return entry["passes"] < int(slow.get(o["kind"], 1))


def serve_finalizers(cluster):
    """Each by its controller."""
    for entry in list(cluster.objects.values()):
        o = entry["live"]
        if not is_leaving(o) or o["kind"] in ("Pod", "Namespace") or waits(cluster, o):
            continue
        for name, is_done in FINALIZERS:
            if name in o["metadata"].get("finalizers", ()) and is_done(cluster, o):
                cluster.unfinalize(o, name)


def is_unused(cluster, claim):
    name, space = claim["metadata"]["name"], claim["metadata"]["namespace"]
    return not any(p["metadata"].get("namespace") == space and any(
        v.get("persistentVolumeClaim", {}).get("claimName") == name for v in p.get("spec", {}).get("volumes", ()))
        for p in cluster.of("pods"))


FINALIZERS = (
    ("foregroundDeletion", lambda cluster, o: not cluster.owned_by(o)),
    ("kubernetes.io/pvc-protection", is_unused),
    ("kubernetes.io/pv-protection", lambda cluster, o: o.get("status", {}).get("phase") != "Bound"),
    ("karpenter.k8s.aws/termination", lambda cluster, o: not any(
        c.get("spec", {}).get("nodeClassRef", {}).get("name") == o["metadata"]["name"]
        for c in cluster.of("nodeclaims.karpenter.sh"))),
)


# ---- volumes ----

def bind(cluster, claim, volume):
    meta = claim["metadata"]
    claim["spec"]["volumeName"] = volume["metadata"]["name"]
    cluster.set_status(claim, {"phase": "Bound", "accessModes": claim["spec"].get("accessModes", []),
                               "capacity": volume["spec"].get("capacity", {})})
    volume["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "name": meta["name"],
                                  "namespace": meta["namespace"], "uid": meta.get("uid")}
    cluster.set_status(volume, {"phase": "Bound"})
    cluster.stamp(claim)


def volume_for(cluster, claim):
    """One that is there, or that the class's driver makes; None while it stays Pending."""
    spec, wanted = claim["spec"], claim["spec"].get("storageClassName", "")
    for volume in cluster.of("persistentvolumes"):
        ref = volume["spec"].get("claimRef", {})
        if volume.get("status", {}).get("phase") != "Bound" and (
                spec.get("volumeName") == volume["metadata"]["name"] or ref.get("name") == claim["metadata"]["name"] or
                not ref and "volumeName" not in spec and volume["spec"].get("storageClassName", "") == wanted):
            return volume
    if not wanted or "volumeName" in spec:
        return None
    model = cluster.live(f"storageclasses.storage.k8s.io||{wanted}")
    if not model:
        event(cluster, claim, "ProvisioningFailed", f'storageclass.storage.k8s.io "{wanted}" not found',
              "persistentvolume-controller")
        return None
    if model.get("volumeBindingMode") == "WaitForFirstConsumer" and is_unused(cluster, claim):
        return None
    return cluster.add({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"pvc-{claim['metadata']['uid']}"},
        "spec": {"capacity": spec["resources"]["requests"], "accessModes": spec.get("accessModes", []), "storageClassName": wanted,
                 "persistentVolumeReclaimPolicy": model.get("reclaimPolicy", "Delete"),
                 "csi": {"driver": model["provisioner"], "volumeHandle": "fs-0123456789abcdef0"}}})


def run_claims(cluster):
    for claim in cluster.of("persistentvolumeclaims"):
        if claim.get("status", {}).get("phase", "Pending") != "Pending" or is_leaving(claim):
            continue
        volume = None if "PersistentVolumeClaim" in words_of("stuck") else volume_for(cluster, claim)
        if volume:
            bind(cluster, claim, volume)
        else:
            cluster.set_status(claim, {"phase": "Pending"})


def run_volumes(cluster):
    for volume in cluster.of("persistentvolumes"):
        ref = volume["spec"].get("claimRef", {})
        if not volume.get("status"):
            cluster.set_status(volume, {"phase": "Available"})
        elif volume["status"]["phase"] == "Bound" and not cluster.live(
                f"persistentvolumeclaims|{ref.get('namespace')}|{ref.get('name')}"):
            cluster.set_status(volume, {"phase": "Released"})
            if volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
                cluster.delete(volume)
                cluster.unfinalize(volume, "kubernetes.io/pv-protection")


# ---- workloads of every node ----

def daemonset_status(cluster, o):
    n = len([node for node in cluster.of("nodes") if suits(node, o["spec"]["template"]["spec"])])
    status = {"currentNumberScheduled": n, "desiredNumberScheduled": n, "numberMisscheduled": 0, "numberReady": n,
              "observedGeneration": o["metadata"]["generation"]}
    return status | ({"numberAvailable": n, "updatedNumberScheduled": n} if n else {})


def deployment_status(_, o):
    n = o["spec"].get("replicas", 1)
    return {"observedGeneration": o["metadata"]["generation"]} | (
        {"replicas": n, "readyReplicas": n, "updatedReplicas": n, "availableReplicas": n} if n else {})


def true(*types):
    return {"conditions": [{"type": t, "status": "True", "message": ""} for t in types]}


def pool_status(cluster, o):
    name = o["spec"]["template"]["spec"].get("nodeClassRef", {}).get("name")
    if not cluster.live(f"ec2nodeclasses.karpenter.k8s.aws||{name}"):
        return {"conditions": [{"type": t, "status": "False", "reason": "NodeClassNotFound" if t != "Ready" else "UnhealthyDependents",
                                "message": "NodeClass not found on cluster" if t != "Ready" else "NodeClassReady=False"}
                               for t in ("NodeClassReady", "Ready")]}
    return true("ValidationSucceeded", "NodeClassReady", "Ready")


def class_status(cluster, o):
    if "karpenter.k8s.aws/termination" not in o["metadata"].get("finalizers", ()):
        o["metadata"]["finalizers"] = o["metadata"].get("finalizers", []) + ["karpenter.k8s.aws/termination"]
        cluster.stamp(o)
    return true("ValidationSucceeded", "SubnetsReady", "AMIsReady", "Ready")


STATUS = {"daemonsets.apps": daemonset_status, "deployments.apps": deployment_status,
          "nodepools.karpenter.sh": pool_status, "ec2nodeclasses.karpenter.k8s.aws": class_status}


def run_workloads(cluster):
    stuck = words_of("stuck")
    for resource, status_of in STATUS.items():
        for o in cluster.of(resource):
            if o["kind"] in stuck or is_leaving(o) or "held" in cluster.objects[key_of(o)]:
                continue
            status = status_of(cluster, o)
            was = o.get("status", {})
            # Conditions are as old as their last change.
            if not any(status.get(k) != was.get(k) for k in status):
                continue
            cluster.set_status(o, status)


def control(cluster):
    """One pass. Whoever asks next sees what came of it."""
    run_namespaces(cluster)
    collect_garbage(cluster)
    end_pods(cluster)
    consolidate(cluster)
    serve_finalizers(cluster)
    collect_garbage(cluster)
    run_volumes(cluster)
    end_namespaces(cluster)
    run_claims(cluster)
    make_pods(cluster)
    schedule(cluster)
    run_claims(cluster)
    report(cluster)
    run_workloads(cluster)

