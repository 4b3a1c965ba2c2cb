#!/usr/bin/env bats
# slipway-trainer on several ranks: Open MPI, MPICH, a rank that dies.

load trainer

# Both of one arithmetic: what differs is how clips are shared out.
SAME=(--max_steps 10 --preset seeds --attention_dropout 0)

# close_to ONE MANY: weights of the last step, equal up to rounding.
close_to() {
	python3 - "$1" "$2" <<-'PY'
		import json, struct, sys
		def read(folder):
		    b = open(folder + "/step-00000010/model.safetensors", "rb").read()
		    n, = struct.unpack("<Q", b[:8])
		    head = json.loads(b[8:8 + n])
		    head.pop("__metadata__", None)
		    return {k: struct.unpack("<%df" % ((v["data_offsets"][1] - v["data_offsets"][0]) // 4),
		                             b[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]])
		            for k, v in head.items()}
		one, many = read(sys.argv[1]), read(sys.argv[2])
		# AdamW turns rounding noise into moves of the size of lr where the gradient is nothing
		# but noise, so the mean tells and the largest is bounded by lr.
		worst = max(abs(a - b) for k in one for a, b in zip(one[k], many[k]))
		total = sum(abs(a - b) for k in one for a, b in zip(one[k], many[k]))
		mean = total / sum(len(v) for v in one.values())
		print(sys.argv[2], "mean", mean, "largest", worst)
		sys.exit(0 if mean < 1e-6 and worst < 2e-3 else 1)
	PY
}

# train_ranks N OUTPUT MPIRUN...: N ranks that share 8 clips a step.
train_ranks() {
	local n=$1 out=$2
	shift 2
	"$@" -n "$n" "$TRAINER" train "${TINY[@]}" "${SAME[@]}" --batch_size $((8 / n)) --output_dir "$out" --resume
}

# mpich: MPICH beside whatever is installed, in ./x; sets MPIEXEC. Not installed: it would become the default mpirun.
mpich() {
	unpack mpich libmpich12 hwloc-nox libslurm38 libmunge2
	library=$PWD/x/usr/lib/$(uname -m)-linux-gnu
	export LD_LIBRARY_PATH=$library
	MPIEXEC=x/usr/bin/mpiexec.hydra
	! ldd "$library/libmpich.so.12" "$MPIEXEC" | grep 'not found' || skip "libraries of MPICH are missing"
}

@test "ranks: 2 and 4 ranks of Open MPI train as 1 rank with the larger batch" {
	command -v mpirun >/dev/null || skip "mpirun is not installed"
	train one "${SAME[@]}" --batch_size 8 >/dev/null
	for n in 2 4; do
		train_ranks "$n" "ranks$n" mpirun --oversubscribe >log 2>&1
		grep "^$n ranks (Open MPI)" log
		close_to one "ranks$n"
	done
}

@test "ranks: 2 and 4 ranks of MPICH train as 1 rank with the larger batch" {
	mpich
	train one "${SAME[@]}" --batch_size 8 >/dev/null
	for n in 2 4; do
		train_ranks "$n" "ranks$n" "$MPIEXEC" >log 2>&1
		grep "^$n ranks (MPICH)" log
		close_to one "ranks$n"
	done
}

# train_pods N OUTPUT: N ranks that nobody started together, as the pods of a job are.
train_pods() {
	local n=$1 out=$2 rank pids=()
	for ((rank = n - 1; rank >= 0; rank--)); do
		env "NODE_RANK=$rank" "NNODES=$n" MASTER_ADDR=localhost "MASTER_PORT=$PORT" "$TRAINER" train "${TINY[@]}" \
			"${SAME[@]}" --batch_size $((8 / n)) --output_dir "$out" --join_timeout 30 >"log$rank" 2>&1 3>&- &
		pids+=($!)
	done
	for rank in "${pids[@]}"; do wait "$rank"; done
}

free_port() { PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'); }

@test "ranks: pods meet at rank 0 without mpirun and train as 1 rank with the larger batch" {
	mpich
	free_port
	train one "${SAME[@]}" --batch_size 8 >/dev/null
	for n in 2 4; do
		train_pods "$n" "pods$n"
		grep "^$n ranks (MPICH)" log0
		close_to one "pods$n"
	done
}

@test "ranks: a pod that does not come is named; one too many and strangers are turned away" {
	mpich
	free_port
	pod=(env MASTER_ADDR=localhost "MASTER_PORT=$PORT" NNODES=3 "$TRAINER" train "${TINY[@]}" --output_dir out --join_timeout 3)
	NODE_RANK=0 "${pod[@]}" >log0 2>&1 3>&- &
	first=$!
	NODE_RANK=1 "${pod[@]}" >log1 2>&1 3>&- &
	second=$!
	for _ in $(seq 50); do
		ss -Hltn "sport = :$PORT" | grep -q . && break
		sleep 0.1
	done
	sleep 0.5
	printf 'GET / HTTP/1.0\r\n\r\n' >"/dev/tcp/localhost/$PORT"
	NODE_RANK=1 run "${pod[@]}"
	[ "$status" -eq 76 ]
	[[ "$output" == *"rank 0 at localhost refused to let this rank join: rank 1 of 3 is not expected: there is one already"* ]]
	ends_with 76 wait "$first"
	grep "of 3 ranks, these did not come to port $PORT within 3 s: 2" log0
	wait "$second" && false
	NODE_RANK=2 run "${pod[@]}"
	[ "$status" -eq 76 ]
	[[ "$output" == *"no answer from rank 0 at localhost port $PORT for 3 s"* ]]
}

@test "ranks: with Open MPI alone, pods are told what they need" {
	[ -e "/usr/lib/$(uname -m)-linux-gnu/libmpi.so.40" ] || skip "Open MPI is not installed"
	[ ! -e "/usr/lib/$(uname -m)-linux-gnu/libmpich.so.12" ] || skip "MPICH is installed"
	NNODES=2 NODE_RANK=0 run train out
	[ "$status" -eq 1 ]
	[[ "$output" == *"started rank 0 of 2, but Open MPI sees 1"*"libmpich12"*"MASTER_ADDR"* ]]
}

@test "ranks: the number of ranks may change at a resume" {
	command -v mpirun >/dev/null || skip "mpirun is not installed"
	train one "${SAME[@]}" --batch_size 8 >/dev/null
	ends_with 75 train parts "${SAME[@]}" --batch_size 8 --stop_after 3
	train_ranks 4 parts mpirun --oversubscribe >log 2>&1
	grep 'resuming from parts/step-00000003' log
	close_to one parts
}

@test "ranks: a rank that is stopped or killed is named within a minute, and the job resumes" {
	command -v mpirun >/dev/null || skip "mpirun is not installed"
	for signal in STOP KILL; do
		mpirun --oversubscribe -n 2 "$TRAINER" train "${TINY[@]}" --max_steps 1000000 --num_epochs 100000 \
			--checkpoint_steps 20 --output_dir "$signal" --rank_timeout 5 --batch_size 1 >log 2>&1 3>&- &
		job=$!
		for _ in $(seq 200); do
			[ -e "$signal/latest" ] && break
			sleep 0.1
		done
		[ -e "$signal/latest" ]
		victim=$(pgrep -P "$job" -n)
		began=$SECONDS
		kill "-$signal" "$victim"
		status=0
		wait "$job" || status=$?
		kill -KILL "$victim" 2>/dev/null || true
		cat log
		[ "$status" -ne 0 ]
		[ $((SECONDS - began)) -lt 60 ]
		# mpirun sees a process that is gone before any rank can miss it.
		grep -Eq 'no answer for 5 s from rank 1|rank 1 with PID [0-9]+ on node .* exited on signal 9' log
		ends_with 75 train "$signal" --resume --batch_size 1 --max_steps 1000000 --num_epochs 100000 --stop_after 2
	done
}

@test "ranks: a connection that sends a byte now and then holds nobody up" {
	mpich
	free_port
	pod=(env MASTER_ADDR=localhost "MASTER_PORT=$PORT" NNODES=2 "$TRAINER" train "${TINY[@]}" --max_steps 2 --output_dir out
		--join_timeout 20)
	NODE_RANK=0 "${pod[@]}" >log0 2>&1 3>&- &
	first=$!
	for _ in $(seq 50); do
		ss -Hltn "sport = :$PORT" | grep -q . && break
		sleep 0.1
	done
	(for _ in $(seq 60); do printf s && sleep 1; done >"/dev/tcp/localhost/$PORT") 2>/dev/null 3>&- &
	drip=$!
	sleep 0.5
	NODE_RANK=1 "${pod[@]}"
	wait "$first"
	kill "$drip"
}
