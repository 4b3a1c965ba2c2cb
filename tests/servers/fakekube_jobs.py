"""What the controllers of jobs do: Kubernetes', Volcano's, JobSet's and the MPI operator's. They make pods, are refused
some, and report what the pods report."""
from fakekube_admit import check_new
from fakekube_kinds import key_of, kind_of
from fakekube_store import Refused, copy_of, load, now, save, words_of

LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # of the names that the API server makes up


def suffix(number):
    """Five letters, others for each number."""
    text = ""
    for _ in range(5):
        number = (number * 7919 + 104729) % 14348907
        text += LETTERS[number % 27]
    return text


def event(cluster, about, reason, message, component):
    """A warning; the same again raises its count."""
    meta = about["metadata"]
    space = meta.get("namespace", "default")
    for o in cluster.of("events"):
        if (o["involvedObject"].get("uid"), o["reason"], o["message"]) == (meta.get("uid"), reason, message):
            o["count"] += 1
            o["lastTimestamp"] = now()
            cluster.stamp(o)
            return
    involved = {"kind": about["kind"], "apiVersion": about["apiVersion"], "name": meta["name"], "uid": meta.get("uid")}
    if "namespace" in meta:
        involved["namespace"] = space
    cluster.add({
        "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": reason, "message": message, "count": 1,
        "metadata": {"name": f"{meta['name']}.{cluster.version:016x}", "namespace": space},
        "firstTimestamp": now(), "lastTimestamp": now(), "involvedObject": involved,
        "source": {"component": component}, "reportingComponent": component})


def child(owner, api_version, kind, name, labels, annotations=None):
    """An object that another one owns."""
    meta = owner["metadata"]
    return {"apiVersion": api_version, "kind": kind, "metadata": {
        "name": name, "namespace": meta["namespace"], "labels": labels, "annotations": annotations or {},
        "ownerReferences": [{"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta["name"],
                             "uid": meta["uid"], "controller": True, "blockOwnerDeletion": True}]}}


def make_pod(cluster, owner, name, template, component, labels, finalizer=None):
    """Admitted, or an event of its owner; whether it was made."""
    meta = template.get("metadata", {})
    pod = child(owner, "v1", "Pod", name, meta.get("labels", {}) | labels, copy_of(meta.get("annotations", {})))
    pod["spec"] = copy_of(template["spec"])
    if finalizer:
        pod["metadata"]["finalizers"] = [finalizer]
    pod["status"] = {"phase": "Pending"}
    try:
        check_new(cluster, pod)
    except Refused as refused:
        why = refused.text.partition(": ")[2]
        event(cluster, owner, "FailedCreate", f"Error creating: {why}", component)
        return False
    cluster.add(pod)
    return True


def pods_of(cluster, owner):
    return [o for o in cluster.owned_by(owner) if o["kind"] == "Pod"]


def phases(pods):
    """{"Running": 2, ...}"""
    counted = {}
    for pod in pods:
        phase = pod.get("status", {}).get("phase", "Pending")
        counted[phase] = counted.get(phase, 0) + 1
    return counted


def condition(kind, reason="", message="", since=None):
    found = {"type": kind, "status": "True", "lastTransitionTime": since or now()}
    return found | ({"reason": reason} if reason else {}) | ({"message": message} if message else {})


def has_ended(o, *words):
    return any(c["type"] in words and c["status"] == "True" for c in o.get("status", {}).get("conditions", ()))


# ---- Kubernetes' ----

def indexed_pods(cluster, job):
    """Those that are missing; a failed one is not replaced."""
    spec, meta = job["spec"], job["metadata"]
    is_indexed = spec.get("completionMode") == "Indexed"
    there = pods_of(cluster, job)
    at = {p["metadata"]["labels"].get("batch.kubernetes.io/job-completion-index") for p in there} if is_indexed else set()
    wanted = min(spec.get("parallelism", 1), spec.get("completions", spec.get("parallelism", 1)))
    labels = {"batch.kubernetes.io/controller-uid": meta["uid"], "batch.kubernetes.io/job-name": meta["name"],
              "controller-uid": meta["uid"], "job-name": meta["name"]}
    todo = [str(i) for i in range(wanted) if str(i) not in at] if is_indexed else [None] * (wanted - len(there))
    for index in todo:
        extra = {"batch.kubernetes.io/job-completion-index": index} if is_indexed else {}
        stem = f"{meta['name']}-{index}" if is_indexed else meta["name"]
        if not make_pod(cluster, job, f"{stem}-{suffix(cluster.version)}", spec["template"], "job-controller",
                        labels | extra, "batch.kubernetes.io/job-tracking"):
            return


def job_status(cluster, job):
    counted, spec = phases(pods_of(cluster, job)), job["spec"]
    was = job.get("status", {})
    status = {"startTime": was.get("startTime", now()), "ready": counted.get("Running", 0), "terminating": 0}
    active = counted.get("Running", 0) + counted.get("Pending", 0)
    for name, n in (("active", active), ("succeeded", counted.get("Succeeded", 0)), ("failed", counted.get("Failed", 0))):
        if n:
            status[name] = n
    if counted.get("Succeeded", 0) >= spec.get("completions", spec.get("parallelism", 1)):
        status |= {"completionTime": now(), "conditions": [
            condition("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods"),
            condition("Complete", "CompletionsReached", "Reached expected number of succeeded pods")]}
    elif counted.get("Failed"):
        why = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
        status["conditions"] = [condition("FailureTarget", *why), condition("Failed", *why)]
    cluster.set_status(job, status)


def run_job(cluster, job):
    if has_ended(job, "Complete", "Failed") or job["spec"].get("suspend"):
        return
    indexed_pods(cluster, job)


# ---- Volcano's ----

def run_volcano(cluster, job):
    if job.get("status", {}).get("state", {}).get("phase") in ("Completed", "Failed"):
        return
    meta, there = job["metadata"], {p["metadata"]["name"] for p in pods_of(cluster, job)}
    for task in job["spec"]["tasks"]:
        for i in range(task["replicas"]):
            name = f"{meta['name']}-{task['name']}-{i}"
            labels = {"volcano.sh/job-name": meta["name"], "volcano.sh/task-spec": task["name"], "volcano.sh/task-index": str(i)}
            if name not in there and not make_pod(cluster, job, name, task["template"], "vc-controller-manager", labels):
                return


def volcano_status(cluster, job):
    counted, was = phases(pods_of(cluster, job)), job.get("status", {}).get("state", {})
    n = sum(t["replicas"] for t in job["spec"]["tasks"])
    phase, message = "Pending", ""
    if counted.get("Failed"):
        phase, message = "Failed", "BackoffLimitExceeded"
    elif counted.get("Succeeded", 0) >= n:
        phase = "Completed"
    elif counted.get("Running", 0) + counted.get("Succeeded", 0) >= job["spec"].get("minAvailable", n):
        phase = "Running"
    state = {"phase": phase, "lastTransitionTime": was.get("lastTransitionTime") if was.get("phase") == phase else now()}
    status = {"minAvailable": job["spec"].get("minAvailable", n), "state": state | ({"message": message} if message else {})}
    cluster.set_status(job, status | {k.lower(): v for k, v in counted.items()})


# ---- JobSet's ----

def run_jobset(cluster, jobset):
    if has_ended(jobset, "Completed", "Failed"):
        return
    name, there = jobset["metadata"]["name"], {o["metadata"]["name"] for o in cluster.owned_by(jobset)}
    for part in jobset["spec"]["replicatedJobs"]:
        for i in range(part.get("replicas", 1)):
            labels = {"jobset.sigs.k8s.io/jobset-name": name, "jobset.sigs.k8s.io/replicatedjob-name": part["name"],
                      "jobset.sigs.k8s.io/job-index": str(i)}
            at = f"{name}-{part['name']}-{i}"
            template = part["template"]
            if at not in there:
                job = child(jobset, "batch/v1", "Job", at, template.get("metadata", {}).get("labels", {}) | labels)
                job["spec"] = copy_of(template["spec"])
                marks = job["spec"]["template"].setdefault("metadata", {}).setdefault("labels", {})
                marks |= labels
                cluster.add(job)


def jobset_status(cluster, jobset):
    jobs = [o for o in cluster.owned_by(jobset) if o["kind"] == "Job"]
    status = {"restarts": 0, "replicatedJobsStatus": [
        {"name": part["name"], "active": len(jobs), "ready": len([j for j in jobs if j.get("status", {}).get("ready")]),
         "succeeded": len([j for j in jobs if has_ended(j, "Complete")]),
         "failed": len([j for j in jobs if has_ended(j, "Failed")]), "suspended": 0} for part in jobset["spec"]["replicatedJobs"]]}
    if any(has_ended(j, "Failed") for j in jobs):
        status |= {"terminalState": "Failed", "conditions": [condition("Failed", "FailedJobs", "jobset failed due to one or more job failures")]}
    elif jobs and all(has_ended(j, "Complete") for j in jobs):
        status |= {"terminalState": "Completed", "conditions": [condition("Completed", "AllJobsCompleted", "jobset completed successfully")]}
    cluster.set_status(jobset, status)


# ---- the MPI operator's ----

def run_mpi(cluster, job):
    if has_ended(job, "Succeeded", "Failed"):
        return
    name, there = job["metadata"]["name"], {o["metadata"]["name"] for o in cluster.owned_by(job)}
    roles = job["spec"]["mpiReplicaSpecs"]
    own = {"training.kubeflow.org/job-name": name, "training.kubeflow.org/operator-name": "mpi-operator"}
    for i in range(roles.get("Worker", {}).get("replicas", 0)):
        labels = own | {"training.kubeflow.org/job-role": "worker", "training.kubeflow.org/replica-index": str(i)}
        if f"{name}-worker-{i}" not in there and not make_pod(
                cluster, job, f"{name}-worker-{i}", roles["Worker"]["template"], "mpi-job-controller", labels):
            return
    if f"{name}-launcher" not in there:
        template = copy_of(roles["Launcher"]["template"])
        template.setdefault("metadata", {}).setdefault("labels", {}).update(own | {"training.kubeflow.org/job-role": "launcher"})
        launcher = child(job, "batch/v1", "Job", f"{name}-launcher", copy_of(template["metadata"]["labels"]))
        launcher["spec"] = {"template": template, "backoffLimit": 0, "parallelism": 1, "completions": 1}
        cluster.add(launcher)


def mpi_status(cluster, job):
    launchers = [o for o in cluster.owned_by(job) if o["kind"] == "Job"]
    found = [condition("Created", "MPIJobCreated")]
    if any(has_ended(j, "Complete") for j in launchers):
        found.append(condition("Succeeded", "MPIJobSucceeded"))
    elif any(has_ended(j, "Failed") for j in launchers):
        found.append(condition("Failed", "MPIJobFailed", "BackoffLimitExceeded"))
    elif any(j.get("status", {}).get("ready") for j in launchers):
        found.append(condition("Running", "MPIJobRunning"))
    was = {c["type"]: c for c in job.get("status", {}).get("conditions", ())}
    cluster.set_status(job, {"conditions": [was.get(c["type"], c) for c in found]})


# ---- which is whose ----

CONTROLLERS = (
    ("jobsets.jobset.x-k8s.io", run_jobset, jobset_status), ("mpijobs.kubeflow.org", run_mpi, mpi_status),
    ("jobs.batch.volcano.sh", run_volcano, volcano_status), ("jobs.batch", run_job, job_status),
)
NETTEST = {"Succeeded": "ends", "Failed": "fails", "Running": "runs"}


def is_leaving(o):
    return "deletionTimestamp" in o["metadata"]


def make_pods(cluster):
    for resource, run, _ in CONTROLLERS:
        for job in cluster.of(resource):
            if not is_leaving(job):
                run(cluster, job)


def report(cluster):
    """From the inside out: a JobSet reports what its Jobs do."""
    stuck = words_of("stuck")
    for resource, _, status in reversed(CONTROLLERS):
        for job in cluster.of(resource):
            if job["kind"] not in stuck and not is_leaving(job) and not has_ended(job, "Complete", "Completed", "Succeeded", "Failed"):
                status(cluster, job)


def top_of(cluster, o):
    """Up the owners: the object that somebody applied, and not a controller."""
    for ref in o["metadata"].get("ownerReferences", ()):
        for entry in cluster.objects.values():
            if entry["live"]["metadata"].get("uid") == ref.get("uid"):
                return top_of(cluster, entry["live"])
    return o


def fate_of(cluster, job, target):
    """What becomes of a job that is made on this target, decided once."""
    entry = cluster.objects[key_of(job)]
    if "fate" not in entry:
        component = job["metadata"].get("labels", {}).get("app.kubernetes.io/component")
        word = "ends" if kind_of(job).resource == "jobs.batch" else "runs"
        if kind_of(job).by == "mpi" and component != "jobs":
            word = NETTEST[load("nettest.json", "Succeeded")]
        elif component == "compile":
            word = load("compile.json", "ends")
        elif component in ("jobs", "scout"):
            word = of_capacity(target)
        entry["fate"] = word
        cluster.version += 1
    return entry["fate"]


def of_capacity(target):
    """$FAKEKUBE/capacity.json; a list is used up one by one."""
    fates = load("capacity.json", {})
    words = fates.get(target, "runs")
    if isinstance(words, list):
        if len(words) > 1:
            fates[target] = words[1:]
            save("capacity.json", fates)
        words = words[0]
    return words
