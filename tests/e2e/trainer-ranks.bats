#!/usr/bin/env bats
# slipway-trainer on several ranks: Open MPI, MPICH, a rank that dies.

load trainer

# Long series run whole in `make test-long`, and a tenth of them here, as in lib.bash.
series() { if [[ -n ${SLIPWAY_TEST_LONG:-} ]]; then echo "$1"; else echo $((($1 + 9) / 10)); fi; }

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
	pod=(env MASTER_ADDR=localhost "MASTER_PORT=$PORT" NNODES=3 "$TRAINER" train "${TINY[@]}" --output_dir out)
	NODE_RANK=0 "${pod[@]}" --join_timeout 6 >log0 2>&1 3>&- &
	first=$!
	# It waits for longer, or it would be named as gone.
	NODE_RANK=1 "${pod[@]}" --join_timeout 30 >log1 2>&1 3>&- &
	second=$!
	for _ in $(seq 50); do
		ss -Hltn "sport = :$PORT" | grep -q . && break
		sleep 0.1
	done
	sleep 1
	printf 'GET / HTTP/1.0\r\n\r\n' >"/dev/tcp/localhost/$PORT"
	NODE_RANK=1 run "${pod[@]}" --join_timeout 6
	[ "$status" -eq 1 ]
	[[ "$output" == *"rank 0 at localhost refused to let this rank join: rank 1 of 3 is not expected: there is one already"* ]]
	ends_with 76 wait "$first"
	cat log0
	grep "of 3 ranks, these did not come to port $PORT within 6 s: 2" log0
	wait "$second" && false
	NODE_RANK=2 run "${pod[@]}" --join_timeout 3
	[ "$status" -eq 76 ]
	[[ "$output" == *"no answer from rank 0 at localhost port $PORT for 3 s"* ]]
}

@test "ranks: with Open MPI alone, pods are told what they need" {
	[ -e "/usr/lib/$(uname -m)-linux-gnu/libmpi.so.40" ] || skip "Open MPI is not installed"
	[ ! -e "/usr/lib/$(uname -m)-linux-gnu/libmpich.so.12" ] || skip "MPICH is installed"
	NNODES=2 NODE_RANK=0 run train out
	[ "$status" -eq 1 ]
	[[ "$output" == *"started rank 0 of 2 without mpirun, and Open MPI cannot join ranks that way"*"libmpich12"*"MASTER_ADDR"* ]]
}

@test "ranks: the number of ranks may change at a resume" {
	command -v mpirun >/dev/null || skip "mpirun is not installed"
	train one "${SAME[@]}" --batch_size 8 >/dev/null
	ends_with 75 train parts "${SAME[@]}" --batch_size 8 --stop_after 3
	train_ranks 4 parts mpirun --oversubscribe >log 2>&1
	grep 'resuming from parts/step-00000003' log
	close_to one parts
}

# Ranks that a failed test leaves: those whose folder is this test's.
teardown() {
	local pid
	for pid in $(pgrep -f "slipway-trainer train "); do
		[ "$(readlink "/proc/$pid/cwd")" != "$BATS_TEST_TMPDIR" ] || kill -KILL "$pid"
	done
}

# launched LAUNCHER N COMMAND...: as N ranks, beginning with the last; each rank's status goes to ./ended.
launched() {
	local launcher=$1 n=$2 rank pids=()
	shift 2
	case $launcher in
	openmpi) mpirun --oversubscribe -n "$n" "$@" ;;
	# Without its clean-up it would kill all ranks before one could say which was the first.
	mpich) "$MPIEXEC" -disable-auto-cleanup -n "$n" "$@" ;;
	pods)
		for ((rank = n - 1; rank >= 0; rank--)); do
			env "NODE_RANK=$rank" "NNODES=$n" MASTER_ADDR=localhost "MASTER_PORT=$PORT" SLIPWAY_RUN_TOKEN=run-7 "$@" &
			pids+=($!)
		done
		for rank in "${pids[@]}"; do
			status=0
			wait "$rank" || status=$?
			echo "$status" >>ended
		done
		;;
	esac
}

# pid_of RANK OUTPUT: the trainer that is this rank of the run with this --output_dir.
pid_of() {
	local pid
	for pid in $(pgrep -f "slipway-trainer train .*--output_dir $2( |\$)"); do
		! tr '\0' '\n' <"/proc/$pid/environ" | grep -Eqx "(OMPI_COMM_WORLD_RANK|PMI_RANK|NODE_RANK)=$1" || echo "$pid"
	done
}

# slowed PID: to a tenth, until it ends.
slowed() {
	while kill -STOP "$1" && sleep 0.45 && kill -CONT "$1" && sleep 0.05; do :; done 2>/dev/null
}

# hurt LAUNCHER N RANK HOW SECONDS: a run whose rank is hurt is ended with the rank named in the log, by time stamps
# within SECONDS, and can be resumed.
hurt() {
	local launcher=$1 n=$2 rank=$3 how=$4 limit=$5 out=hurt-$1-$2-$3-$4 timeout=4 began job victim words slow=
	echo "--- $*"
	[ "$how" != SLOW ] || timeout=12
	: >ended
	launched "$launcher" "$n" "$TRAINER" train "${TINY[@]}" --max_steps 1000000 --num_epochs 100000 --checkpoint_steps 20 \
		--rank_timeout "$timeout" --batch_size 1 --join_timeout 30 --output_dir "$out" >log 2>&1 3>&- &
	job=$!
	for _ in $(seq 300); do
		[ ! -e "$out/latest" ] || break
		sleep 0.1
	done
	victim=$(pid_of "$rank" "$out")
	[ -n "$victim" ]
	began=$(date +%s)
	case $how in
	SLOW) slowed "$victim" 3>&- & slow=$! ;;
	*) kill "-$how" "$victim" ;;
	esac
	# A launcher waits for a stopped process, too.
	for _ in $(seq 600); do
		[ "$(pgrep -cf "slipway-trainer train .*--output_dir $out( |\$)")" -gt "$([ "$how" = STOP ] && echo 1 || echo 0)" ] || break
		sleep 0.1
	done
	kill -KILL "$victim" 2>/dev/null || true
	wait "$job" || true
	[ -z "$slow" ] || kill "$slow" 2>/dev/null || true
	cat log
	case $how in
	KILL) words='has gone' ;;
	STOP) words='has given no sign' ;;
	SLOW) words='is slow' ;;
	esac
	python3 - "$began" "$limit" "rank $rank (" "$words" <<-'PY'
		import calendar, sys, time
		began, limit, rank, words = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
		named = [line for line in open("log") if rank in line and words in line and line[10:11] == "T"]
		after = calendar.timegm(time.strptime(named[0][:20], "%Y-%m-%dT%H:%M:%SZ")) - began
		print("named after", after, "s")
		sys.exit(not 0 <= after <= limit)
	PY
	# The ranks that were left, where no launcher speaks for them.
	[ "$launcher" != pods ] || [ "$(grep -cx 76 ended)" -ge $((n - 1)) ]
	ends_with 75 train "$out" --resume --batch_size 1 --max_steps 1000000 --num_epochs 100000 --stop_after 2
}

@test "ranks: a rank that is killed, stopped or slowed is named in the log, and the job resumes" {
	mpich
	free_port
	hurt pods 2 0 KILL 2
	hurt pods 4 1 STOP 4
	hurt mpich 2 1 KILL 2
	[ -n "${SLIPWAY_TEST_LONG:-}" ] || return 0
	for n in 2 4; do
		for launcher in pods mpich; do
			for rank in 0 1; do
				hurt "$launcher" "$n" "$rank" KILL 2
				hurt "$launcher" "$n" "$rank" STOP 4
				hurt "$launcher" "$n" "$rank" SLOW 30
			done
		done
	done
}

@test "ranks: the same under Open MPI" {
	command -v mpirun >/dev/null || skip "mpirun is not installed"
	hurt openmpi 2 0 KILL 2
	hurt openmpi 2 1 STOP 4
	[ -n "${SLIPWAY_TEST_LONG:-}" ] || return 0
	for n in 2 4; do
		for rank in 0 1; do
			hurt openmpi "$n" "$rank" KILL 2
			hurt openmpi "$n" "$rank" STOP 4
			hurt openmpi "$n" "$rank" SLOW 30
		done
	done
}

# listening: until rank 0 is at its port.
listening() {
	for _ in $(seq 100); do
		ss -Hltn "sport = :$PORT" | grep -q . && return 0
		sleep 0.1
	done
	return 1
}

@test "ranks: strangers, silent, garbled or replayed, keep no rank from joining, and are counted" {
	mpich
	free_port
	n=$(series 100)
	pod=(env MASTER_ADDR=localhost "MASTER_PORT=$PORT" NNODES=2 SLIPWAY_RUN_TOKEN=a-secret "$TRAINER" train "${TINY[@]}"
		--max_steps 2 --output_dir out --join_timeout 100)
	NODE_RANK=0 "${pod[@]}" >log0 2>&1 3>&- &
	first=$!
	listening
	# What a rank answers to a challenge is recorded, and told to rank 0 again and again.
	python3 - "$PORT" "$n" "${pod[@]}" <<-'PY' 3>&- &
		import os, socket, subprocess, sys, time
		port, n, pod = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
		listener = socket.create_server(("127.0.0.1", 0))
		away = [a.replace("MASTER_ADDR=localhost", "MASTER_ADDR=127.0.0.1").replace(
		    "MASTER_PORT=%d" % port, "MASTER_PORT=%d" % listener.getsockname()[1]) for a in pod]
		rank = subprocess.Popen(away, env={**os.environ, "NODE_RANK": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		peer, _ = listener.accept()
		peer.sendall(b"slipway-ranks 1 " + b"0" * 32 + b"\n")
		answer = peer.recv(4096)
		rank.kill()
		held = []
		for i in range(n):
		    for say in (None, b"GET / HTTP/1.0\r\n\r\n", answer):
		        s = socket.create_connection(("127.0.0.1", port))
		        if say is not None:
		            s.recv(4096)
		            s.sendall(say)
		        held.append(s)
		open("strangers", "w").write("there")
		time.sleep(90)
	PY
	strangers=$!
	for _ in $(seq 100); do
		[ ! -e strangers ] || break
		sleep 0.1
	done
	if [ -n "${SLIPWAY_TEST_LONG:-}" ]; then sleep 60; else sleep 6; fi
	NODE_RANK=1 "${pod[@]}"
	wait "$first"
	kill "$strangers"
	cat log0
	grep "all 2 ranks have come; connections turned away: $n silent, $n garbled, $n without proof" log0
	run ! grep -r a-secret log0
}

@test "ranks: a rank of another run is refused; without a library of MPI nobody is waited for" {
	mpich
	free_port
	pod=("$TRAINER" train "${TINY[@]}" --max_steps 2 --output_dir out --join_timeout 60)
	export MASTER_ADDR=localhost MASTER_PORT=$PORT NNODES=2
	NODE_RANK=0 SLIPWAY_RUN_TOKEN=this "${pod[@]}" >log0 2>&1 3>&- &
	first=$!
	listening
	NODE_RANK=1 SLIPWAY_RUN_TOKEN=that run "${pod[@]}"
	[ "$status" -eq 1 ]
	[[ "$output" == *"refused to let this rank join: it is of another run: the tokens differ"* ]]
	NODE_RANK=1 SLIPWAY_RUN_TOKEN=this "${pod[@]}"
	wait "$first"
	grep 'all 2 ranks have come; connections turned away: 1 without proof' log0
	began=$SECONDS
	NODE_RANK=0 run "${pod[@]}" --mpi_library libnone.so
	[ "$status" -eq 1 ]
	[[ "$output" == *"no MPI library could be loaded (libnone.so)"* ]]
	[ $((SECONDS - began)) -lt 5 ]
}

@test "ranks: SIGTERM ends the wait for other ranks" {
	mpich
	free_port
	for rank in 0 1; do
		NODE_RANK=$rank MASTER_ADDR=localhost MASTER_PORT=$PORT NNODES=3 "$TRAINER" train "${TINY[@]}" --output_dir out \
			--join_timeout 60 >"log$rank" 2>&1 3>&- &
		waiting=$!
		sleep 1
		kill -TERM "$waiting"
		began=$SECONDS
		ends_with 75 wait "$waiting"
		[ $((SECONDS - began)) -lt 3 ]
		grep interrupted "log$rank"
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
