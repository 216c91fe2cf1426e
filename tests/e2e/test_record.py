# SPDX-License-Identifier: BSD-3-Clause
"""`tachograph record`: the command as if we were not there, and what it did in a file."""

import contextlib
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from socket import AF_UNIX, SOCK_SEQPACKET
from socket import socket as Socket

import pytest

from proxied import LONG, recorder_at, wait_gone

BURN = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done"

# half a second of CPU time, a part of it in a child that has ended; what the kernel says of both
BURNER = """
import os, resource, time
pid = os.fork()
while time.process_time() < 0.3: pass
if not pid: os._exit(0)
os.waitpid(pid, 0)
child = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.process_time() + child.ru_utime + child.ru_stime)
"""


@pytest.fixture
def record(place, exe, tmp_path):
    """Run a command in a folder of its own, recorded; what it did is in .spans() and .content()."""
    class Record:
        file = tmp_path / "run.tacho"

        def argv(self, *command, options=(), named=True):
            return [exe, "record", *(["-o", str(self.file)] if named else []), *options, "--", *command]

        def __call__(self, *command, options=(), named=True, **more):
            more = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": LONG, **more}
            return subprocess.run(self.argv(*command, options=options, named=named), **more)

        def start(self, *command, options=(), **more):
            more = {"cwd": tmp_path, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **more}
            return subprocess.Popen(self.argv(*command, options=options), **more)

        def content(self, file=None):
            out = tmp_path / "out.json"
            subprocess.run([exe, "export", file or self.file, "-o", out], check=True, timeout=LONG)
            return json.loads(out.read_text())

        def spans(self, kind):
            return [s for s in self.content()["spans"] if s["kind"] == kind]
    return Record()


def run_of(record):
    (run,) = record.spans("run")
    return run


def test_what_it_cost(record):
    result = record("sh", "-c", f"'{sys.executable}' -c '{BURNER}'; head -c 30000000 /dev/zero > data; sleep 0.5")
    assert result.returncode == 0
    told = float(result.stdout)
    run = run_of(record)
    assert (run["name"], run["status"], run["exact"]) == ("sh", "ok", True)
    assert 0.5 < run["wall_s"] < LONG
    assert told > 0.5 and told - 0.03 < run["cpu_s"] < told + 0.3  # what follows it costs some, too
    assert run["write_bytes"] >= 30000000
    lines = result.stderr.splitlines()
    assert re.match(r"sh: .* of \d+ cores? · peak ", lines[0])
    assert any("written 30" in line for line in lines) and str(record.file) in lines[-1]


@pytest.mark.parametrize("code", [0, 1, 7, 125, 255])
def test_exit_status(record, code):
    assert record("sh", "-c", f"exit {code}").returncode == code
    assert run_of(record)["status"] == ("error" if code else "ok")


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "INT"])
def test_death(record, name):
    """Who waits for us sees the same signal."""
    number = signal.Signals[f"SIG{name}"]
    assert record("sh", "-c", f"kill -{name} $$").returncode == -number
    assert run_of(record)["status"] == "died"


def test_what_cannot_be_run(record, tmp_path):
    assert record("no-such-command").returncode == 127
    assert record("/etc/passwd").returncode == 126
    assert record(options=["-i", "0"]).returncode == 125
    assert record("true", options=["-i", "nan"]).returncode == 125
    assert record().returncode == 125
    assert not record.file.exists()


def test_script_without_a_first_line(record, tmp_path):
    """As a shell runs it."""
    script = tmp_path / "plain script"
    script.write_text("echo $1 $0; exit 3\n")
    script.chmod(0o700)
    result = record(str(script), "a b")
    assert (result.stdout, result.returncode) == (f"a b {script}\n", 3)


def test_what_cannot_be_run_leaves_other_runs_alone(record, tmp_path):
    assert record("true").returncode == 0
    wrong = tmp_path / "wrong"
    wrong.write_text("#!/no/such/interpreter\n")
    wrong.chmod(0o700)
    assert record(str(wrong)).returncode == 127
    assert record.spans("run")[0]["name"] == "true"


def test_streams_and_descriptors_are_its_own(record, exe, tmp_path):
    script = "import os, sys; print(sys.stdin.read()[::-1], sorted(os.listdir('/proc/self/fd')), os.getcwd());" \
             "print(len(os.listdir('/proc/self/task')), os.umask(0), os.getpgrp() == os.getpgid(os.getppid()))"
    r, w = os.pipe()
    with os.fdopen(r), os.fdopen(w, "w"):
        plain = subprocess.run([sys.executable, "-c", script], input="abc", pass_fds=[w], cwd=tmp_path,
                               capture_output=True, text=True)
        ours = record(sys.executable, "-c", script, input="abc", pass_fds=[w])
    assert plain.stdout == ours.stdout and "cba" in ours.stdout


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_stay_closed(record, tmp_path, closed):
    script = 'ls -l /proc/self/fd > "$1"'

    def found(argv, name):
        subprocess.run(["sh", "-c", f"{shlex.join(argv)} {closed}"], cwd=tmp_path, timeout=LONG)
        return sorted(re.findall(r"(\d+) -> ", (tmp_path / name).read_text()), key=int)
    command = ("sh", "-c", script, "sh")
    plain = found([*command, "plain"], "plain")
    assert found(record.argv(*command, "ours"), "ours") == plain
    assert run_of(record)["status"] == "ok"


def test_signals_as_found(record):
    """Masks and dispositions are those that we were started with."""
    script = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status"

    def found(argv):
        return subprocess.run(["sh", "-c", 'trap "" USR1 HUP; exec "$@"', "sh", *argv], capture_output=True,
                              text=True, timeout=LONG).stdout
    assert found(record.argv("sh", "-c", script)) == found(["sh", "-c", script])


@pytest.mark.parametrize("name", ["TERM", "HUP", "INT", "USR1", "USR2"])
def test_signals_are_passed_on(record, name):
    process = record.start("sh", "-c", f"trap 'echo got {name}; exit 5' {name}; echo ready; "
                                       "while :; do sleep 0.05; done",
                           preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))  # as nohup has it not
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.Signals[f"SIG{name}"])
    out, _ = process.communicate(timeout=LONG)
    assert out == f"got {name}\n" and process.returncode == 5


def test_signal_of_the_command_to_its_group(record):
    """It has that already, and does not get it once more from us, who see that the sender is one of
    its own: it has to be there until we look."""
    script = "n=0; trap 'n=$((n+1))' USR1; sh -c 'trap : USR1; kill -USR1 0; sleep 0.5'; sleep 0.5; echo $n"
    result = record("setsid", "sh", "-c", script)
    assert result.returncode == 0 and result.stdout == "1\n"
    result = record("sh", "-c", script, start_new_session=True)
    assert result.stdout == "1\n"


class Terminal:
    """A shell with job control, as a person has one."""

    def __init__(self, cwd):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(cwd)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], {**os.environ, "PS1": "$ ", "TERM": "dumb"})
        self.seen = ""
        self.until("$ ")

    def until(self, text):
        end = time.monotonic() + LONG
        start = len(self.seen)
        while text not in self.seen[start:]:
            assert time.monotonic() < end, f"no {text!r} in {self.seen!r}"
            if select.select([self.fd], [], [], 0.1)[0]:
                self.seen += os.read(self.fd, 4096).decode(errors="replace")
        return self.seen[start:]

    def type(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        os.close(self.fd)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


@pytest.fixture
def terminal(place, tmp_path):
    one = Terminal(tmp_path)
    yield one
    one.close()


def test_terminal(record, terminal):
    """Ctrl-Z stops both, fg goes on, Ctrl-C ends both, and the shell says so."""
    line = shlex.join(record.argv("sh", "-c", "echo rea''dy; while :; do sleep 0.1; done"))
    terminal.type(line + "\n")
    terminal.until("ready")
    terminal.until(" core")  # a line of progress
    terminal.type("\x1a")
    terminal.until("Stopped")
    terminal.type("jobs; fg\n")
    terminal.until("Stopped")
    time.sleep(0.3)
    terminal.type("\x03")
    terminal.until("$ ")
    terminal.type("echo status $?\n")
    terminal.until("status 130")
    assert run_of(record)["status"] == "died"


def test_progress_has_the_stage(record, exe, terminal):
    line = shlex.join(record.argv(
        "sh", "-c", f"{exe} mark 'al ign'; head -c 300000000 /dev/zero > big; sleep 3"))
    terminal.type(line + "\n")
    terminal.until(" · al ign · ")
    terminal.until("peak")


def test_command_that_stops_itself(record, terminal):
    line = shlex.join(record.argv("sh", "-c", "kill -STOP $$; echo on''ward"))
    terminal.type(line + "\n")
    terminal.until("Stopped")
    terminal.type("fg\n")
    terminal.until("onward")


def test_no_terminal_and_no_input(record):
    result = record("sh", "-c", "tty; cat", stdin=subprocess.DEVNULL, start_new_session=True)
    assert result.returncode == 0 and "not a tty" in result.stdout and "\r" not in result.stderr


def test_killed_recorder_costs_nothing(record):
    process = record.start("sh", "-c", "echo $TACHOGRAPH_SOCKET; read go; echo done; exit 4", stdin=subprocess.PIPE)
    recorder = recorder_at(process.stdout.readline().strip())
    os.kill(recorder, signal.SIGKILL)
    wait_gone(recorder)
    time.sleep(0.5)
    out, err = process.communicate("go\n", timeout=LONG)
    assert (out, process.returncode) == ("done\n", 4)
    run = run_of(record)  # one, which a second recorder has gone on with
    assert run["status"] == "error" and run["wall_s"] > 0.5


def test_killed_front_costs_nothing(record, tmp_path):
    process = record.start("sh", "-c", "echo $$; sleep 1; echo alive > proof")
    command = int(process.stdout.readline())
    process.kill()
    process.wait(timeout=LONG)
    wait_gone(command)
    assert (tmp_path / "proof").read_text() == "alive\n"


@pytest.mark.parametrize("name", ["missing/run.tacho", "/proc/run.tacho"])
def test_nowhere_to_write(record, name):
    """One warning, and the work goes on."""
    result = record("sh", "-c", "echo work; exit 3", options=["-o", name], named=False)
    assert (result.stdout, result.returncode) == ("work\n", 3)
    (line,) = result.stderr.splitlines()
    assert line.startswith("tachograph: nothing is recorded: ") and name in line


def test_below_another(record, exe, tmp_path):
    """A record below a recording is a span of it; with a file of its own it is not."""
    other = tmp_path / "own.tacho"
    result = record("sh", "-c", f"'{exe}' record sh -c 'sleep 0.3; exit 2'; '{exe}' record -o '{other}' true")
    assert result.returncode == 0
    stages = record.spans("stage")
    assert [(s["name"], s["status"]) for s in stages] == [("sh", "error")]
    assert 0.3 < stages[0]["wall_s"] < run_of(record)["wall_s"]
    assert other.exists() and sorted(p.name for p in tmp_path.glob("*.tacho")) == ["own.tacho", "run.tacho"]


def test_what_is_left(record):
    """A daemon goes on, is named, and is waited for when that is wanted; the recorder ends."""
    result = record("sh", "-c", "sleep 300 >/dev/null 2>&1 & sleep 0.5; echo $TACHOGRAPH_SOCKET $!")
    socket, left = result.stdout.split()
    assert f"still running: sleep ({left})" in result.stderr
    os.kill(int(left), signal.SIGKILL)
    assert not is_recorded(socket)
    result = record("sh", "-c", "(sleep 0.5; echo late) & echo early", options=["--wait"])
    assert result.stdout == "early\nlate\n" and "still running" not in result.stderr


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_waiting_can_be_ended(record, name):
    """What is waited for is left alone; the exit status stays the command's."""
    process = record.start("sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $! $$; exit 7", options=["--wait"],
                           preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    left, command = map(int, process.stdout.readline().split())
    wait_gone(command)
    assert process.poll() is None
    process.send_signal(signal.Signals[f"SIG{name}"])
    _, err = process.communicate(timeout=LONG)
    os.kill(left, signal.SIGKILL)
    # it may not be sleep yet, but the shell that is about to become it
    assert process.returncode == 7 and re.search(rf"still running: (sleep|sh) \({left}\)", err), err


def is_recorded(socket):
    """Whether a recorder listens there now."""
    with contextlib.suppress(OSError), contextlib.closing(Socket(AF_UNIX, SOCK_SEQPACKET)) as s:
        s.connect(socket.split(":", 2)[2])
        return True
    return False


def test_secrets(record):
    """Command lines with what looks like a secret masked, or none; never the environment."""
    record("sh", "-c", "sleep 0.3", "--token=hunter2abc", env={**os.environ, "MY_SECRET": "swordfish99"})
    text = json.dumps(record.content())
    assert "hunter2abc" not in text and "swordfish99" not in text and "sleep 0.3" in text
    assert (record.file.stat().st_mode & 0o777) == 0o600
    record.file.unlink()
    record("sh", "-c", "sleep 0.3", options=["--no-args"])
    assert "sleep 0.3" not in json.dumps(record.content())


@pytest.mark.parametrize("env, part", [
    ({}, ""), ({"SLURM_JOB_ID": "77"}, "-77"),
    ({"SLURM_ARRAY_JOB_ID": "70", "SLURM_ARRAY_TASK_ID": "0", "SLURM_JOB_ID": "77"}, "-70_0"),
    ({"JOB_ID": "9", "SGE_TASK_ID": "undefined"}, "-9"), ({"LSB_JOBID": "5", "LSB_JOBINDEX": "0"}, "-5"),
    ({"PBS_JOBID": "4/x[1]", "PBS_ARRAY_INDEX": "1"}, "-4_x[1]_1")])
def test_name(record, tmp_path, env, part):
    base = {k: v for k, v in os.environ.items() if k != "TACHOGRAPH_DIR"}
    assert record("true", named=False, env={**base, **env}).returncode == 0
    (file,) = tmp_path.glob("*.tacho")
    host = os.uname().nodename.split(".")[0]
    assert re.fullmatch(re.escape(f"true-{host}{part}") + r"-\d{8}-\d{6}\.tacho", file.name)


def test_folder(record, tmp_path):
    folder = tmp_path / "recordings"
    folder.mkdir()
    assert record("true", named=False, env={**os.environ, "TACHOGRAPH_DIR": str(folder)}).returncode == 0
    assert len(list(folder.glob("true-*.tacho"))) == 1


def test_work_that_is_done_elsewhere(record, tmp_path):
    """Who only waits for another machine is told how to see what it does."""
    srun = tmp_path / "srun"
    srun.symlink_to("/bin/sleep")
    said = record("sh", "-c", "./srun 1.5; true").stderr
    assert "it waited for srun" in said and "examples/sbatch-array.sh" in said
    for name in ("docker", "ssh", "qsub"):
        (tmp_path / name).symlink_to("/bin/sleep")
        said = record("sh", "-c", f"./{name} 1.5; true").stderr
        assert f"it waited for {name}" in said and "examples/README.md" in said
    assert "waited" not in record("sh", "-c", "./srun 0.2; " + BURN).stderr
    assert "waited" not in record("sleep", "1").stderr


def test_repeats(record, exe, tmp_path):
    """Of what ran more than once under one name: how many, the median, the highest."""
    folder = tmp_path / "jobs"
    folder.mkdir()
    for i, seconds in enumerate((0.1, 0.3, 0.2)):
        assert record("sleep", str(seconds), named=False, options=["-o", folder / f"{i}.tacho"]).returncode == 0
    assert record("true", named=False, options=["-o", folder / "t.tacho"]).returncode == 0
    head = subprocess.run([exe, "show", folder], capture_output=True, text=True, timeout=LONG).stdout.splitlines()[-2]
    assert "requested" not in head
    assert record("sleep", "0.2", named=False, options=["-o", folder / "r.tacho", "--request", "cpus=2,time=10s"]).returncode == 0
    lines = subprocess.run([exe, "show", folder], capture_output=True, text=True, timeout=LONG).stdout.splitlines()
    assert "of requested" in lines[-2] and re.search(r"% +– +2(\.\d+)? %$", lines[-1]), lines[-1]
    (folder / "r.tacho").unlink()
    lines = subprocess.run([exe, "show", folder], capture_output=True, text=True, timeout=LONG).stdout.splitlines()
    assert len(lines) == 1 + 4 + 1 + 2
    name, n, median, unit, highest, unit2 = lines[-1].split()[:6]
    assert (name, n, unit, unit2) == ("sleep", "3", "ms", "ms")
    assert 200 <= float(median) < float(highest) and float(highest) >= 300


CSV = {"samples.csv", "spans.csv", "processes.csv", "events.csv", "metrics.csv"}


RESULTS = ["--report", "run.html", "--report", "run.ipynb", "--csv", "data"]
SAID = ["  report in run.html", "  report in run.ipynb", "  CSV files in data"]


def check_results(folder):
    """They are there, whole, and of this run."""
    page = (folder / "run.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>") and "<svg" in page
    assert json.loads((folder / "run.ipynb").read_text())["nbformat"] == 4
    assert {p.name for p in (folder / "data").iterdir()} == CSV
    assert len((folder / "data" / "spans.csv").read_text().splitlines()) == 2
    assert len((folder / "data" / "samples.csv").read_text().splitlines()) > 2


@pytest.mark.parametrize("end, code", [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", -signal.SIGTERM)])
def test_results(record, tmp_path, end, code):
    """Written when the command has ended, however it did."""
    result = record("sh", "-c", f"sleep 0.2; {end}", options=RESULTS)
    assert result.returncode == code and result.stderr.splitlines()[-3:] == SAID
    check_results(tmp_path)


def test_results_when_interrupted(record, terminal, tmp_path):
    line = shlex.join(record.argv("sh", "-c", "echo rea''dy; sleep 60", options=RESULTS))
    terminal.type(line + "\n")
    terminal.until("ready")
    terminal.until(" core")
    terminal.type("\x03")
    for said in SAID:
        terminal.until(said)
    terminal.type("echo status $?\n")
    terminal.until("status 130")
    check_results(tmp_path)


@pytest.mark.parametrize("options", [["--csv", "missing/data"], ["--csv", "/proc/data"], ["--csv", "file"], ["--csv", "file/data"],
                                     ["--report", "missing/x.html"], ["--report", "/proc/x.html"],
                                     ["--report", "folder.html"], ["--report", "file/x.ipynb"]])
def test_results_nowhere(record, tmp_path, options):
    """Said before, where that can be known, and after; and the work goes on, the rest is written."""
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder.html").mkdir()
    result = record("sh", "-c", "echo work >&2; exit 4", options=["-q", *options, "--report", "good.html"])
    before, after = result.stderr.split("work\n")
    assert result.returncode == 4 and after.count("\n") == 1
    assert options[1].startswith("/proc") or before.count("\n") == 1
    assert (tmp_path / "file").read_text() == "mine" and run_of(record)["status"] == "error"
    assert (tmp_path / "good.html").exists()


def test_results_of_nothing(record, exe, tmp_path):
    """One line of all that was asked for: nothing recorded, or a span of another recording."""
    result = record("sh", "-c", "exit 4", options=["-o", "missing/x.tacho", *RESULTS], named=False)
    assert result.returncode == 4 and "run.html, run.ipynb, data: not written" in result.stderr
    assert not (tmp_path / "data").exists() and not (tmp_path / "run.html").exists()
    result = record("sh", "-c", f"'{exe}' record {shlex.join(RESULTS)} sh -c 'exit 5'; echo $?", options=["-q"])
    assert result.stdout == "5\n" and result.stderr.count("\n") == 1
    assert "run.html, run.ipynb, data: not written, as this is a span" in result.stderr
    assert not (tmp_path / "data").exists() and not (tmp_path / "run.html").exists()


@pytest.mark.parametrize("name", ["x.txt", "html", ""])
def test_report_that_is_none(record, name):
    result = record("true", options=["--report", name])
    assert result.returncode == 125 and result.stderr.count("\n") == 1 and not record.file.exists()


def test_report_by_default(record, exe, tmp_path):
    """From the environment, of the outermost recording and in silence; a word for kernels is no name."""
    def run(value, *command, options=()):
        return record(*command, options=["-q", *options], env={**os.environ, "TACHOGRAPH_REPORT": value})
    result = run("mine.html", "sh", "-c", f"'{exe}' record sh -c 'ls mine.html'; exit 3")
    assert result.returncode == 3 and (tmp_path / "mine.html").exists()
    assert result.stderr.count("\n") == 1 and "No such file" in result.stderr
    (tmp_path / "mine.html").unlink()
    assert run("mine.html", "true", options=["--report", "other.html"]).stderr == ""
    assert (tmp_path / "other.html").exists() and not (tmp_path / "mine.html").exists()
    before = {p.name for p in tmp_path.iterdir()}
    for word in ("line", "jumper", "none", ""):
        assert run(word, "true").stderr == ""
    result = run("page", "true")
    assert result.returncode == 0 and "TACHOGRAPH_REPORT is ignored" in result.stderr and result.stderr.count("\n") == 1
    assert {p.name for p in tmp_path.iterdir()} == before


SLURM = {"SLURM_JOB_ID": "41", "SLURM_ARRAY_JOB_ID": "40", "SLURM_ARRAY_TASK_ID": "3", "SLURM_JOB_NAME": "align",
         "SLURM_JOB_PARTITION": "long", "SLURM_CPUS_PER_TASK": "8", "SLURM_CPUS_ON_NODE": "16", "SLURM_MEM_PER_NODE": "4096",
         "SLURM_JOB_START_TIME": "1000000", "SLURM_JOB_END_TIME": "1007200", "SLURM_GPUS_ON_NODE": "2",
         "SLURM_JOB_ACCOUNT": "unwanted"}
IN_STEP = {"SLURM_JOB_ID": "41", "SLURM_STEP_NUM_TASKS": "4", "SLURM_NTASKS": "4", "SLURM_CPUS_PER_TASK": "2",
           "SLURM_MEM_PER_CPU": "1024"}


@pytest.mark.parametrize("env, options, batch, requested", [
    (SLURM, [], {"system": "Slurm", "job": "40", "index": "3", "name": "align", "queue": "long"},
     {"cpus": 8, "memory_bytes": 4 << 30, "time_s": 7200, "gpus": 2}),
    (SLURM, ["--request", "cpus=2,mem=500M"], {"system": "Slurm", "job": "40", "index": "3", "name": "align",
                                               "queue": "long"},
     {"cpus": 2, "memory_bytes": 500 << 20, "time_s": 7200, "gpus": 2}),
    (IN_STEP, [], {"system": "Slurm", "job": "41"}, {"cpus": 2, "memory_bytes": 2 << 30}),
    ({"PBS_JOBID": "7.pbs", "NCPUS": "4", "PBS_WALLTIME": "60"}, [], {"system": "PBS", "job": "7.pbs"},
     {"cpus": 4, "time_s": 60}),
    ({"LSB_JOBID": "7", "LSB_JOBINDEX": "0", "LSB_DJOB_NUMPROC": "4"}, [], {"system": "LSF", "job": "7"}, {"cpus": 4}),
    ({"JOB_ID": "7", "SGE_TASK_ID": "2", "NSLOTS": "1"}, [], {"system": "Grid Engine", "job": "7", "index": "2"},
     {"cpus": 1}),
    ({"SLURM_JOB_ID": "41", "SLURM_CPUS_PER_TASK": "many", "SLURM_MEM_PER_NODE": "0"}, [],
     {"system": "Slurm", "job": "41"}, None),
    ({}, ["--request", "time=1-02:00:01,gpus=1"], None, {"time_s": 93601, "gpus": 1}),
])
def test_requested(record, env, options, batch, requested):
    """What is said of the job is recorded by name; nothing else of the environment is."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "PBS", "LSB", "SGE"))}
    result = record("sh", "-c", BURN, options=options, env={**clean, **env})
    attrs = run_of(record)["attrs"]
    assert attrs.get("batch") == batch and attrs.get("requested") == requested
    assert "unwanted" not in json.dumps(record.content())
    (line,) = re.findall(r"  of what was requested: (.*)", result.stderr) or [""]
    assert ("% of" in line) == bool(requested) and (" cores" in line) == ((requested or {}).get("cpus", 0) > 1)


@pytest.mark.parametrize("wrong", ["", "8", "cpus", "cpus=", "cpus=0", "cpus=x", "mem=1X", "mem=nan", "mem=inf", "time=1:2:3:4",
                                   "time=1y", "time=-1", "time=:", "cpus=1,", "cores=1"])
def test_request_that_is_wrong(record, wrong):
    result = record("true", options=["--request", wrong])
    assert result.returncode == 125 and result.stderr.count("\n") == 1 and not record.file.exists()


def test_request_of_a_span(record, exe):
    """What the job asked for is not what a span of it did."""
    record("sh", "-c", f"'{exe}' record true; '{exe}' record --request cpus=1 true", env={**os.environ, **SLURM})
    one, two = record.spans("stage")
    assert "requested" not in one["attrs"] and two["attrs"]["requested"] == {"cpus": 1}
    assert run_of(record)["attrs"]["requested"]["cpus"] == 8


def test_many_short_processes(record):
    """Each costs some tenths of a millisecond, and nearly none is ever seen: their sum is there."""
    script = "i=0; while [ $i -lt 10000 ]; do /bin/true; i=$((i+1)); done; times"
    result = record("sh", "-c", script)
    assert result.returncode == 0
    told = sum(int(m) * 60 + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", result.stdout))
    run = run_of(record)
    assert run["status"] == "ok" and run["cpu_s"] == pytest.approx(told, rel=0.1, abs=0.05)


def test_two_at_once(record, exe, tmp_path):
    """Into one file by name: the second has a file of its own."""
    both = [record.start("sleep", "1") for _ in range(2)]
    for process in both:
        _, err = process.communicate(timeout=LONG)
        assert process.returncode == 0
    assert len(list(tmp_path.glob("run*.tacho"))) == 2


@pytest.mark.parametrize("name", ["/dev/null", "fifo", "x" * 300])
def test_no_place_for_a_recording(record, exe, tmp_path, name):
    """One sentence that ends with the reason; no file of another name; the command is as without us."""
    os.mkfifo(tmp_path / "fifo")
    before = sorted(os.listdir("/dev"))
    done = subprocess.run([exe, "record", "-o", name, "sh", "-c", "exit 4"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=LONG)
    assert done.returncode == 4 and len(done.stderr.splitlines()) == 1
    assert "nothing is recorded: " in done.stderr
    assert done.stderr.rstrip().endswith(("it is no regular file", "File name too long"))
    assert sorted(os.listdir("/dev")) == before and os.listdir(tmp_path) == ["fifo"]


def attach(exe, pid, file, *options, **more):
    return subprocess.Popen([exe, "attach", str(pid), "-o", str(file), *options], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **more)


def wait_recorded(exe, file):
    """Until the file has a run, so that what comes now is in it."""
    end = time.monotonic() + LONG
    while not (file.exists() and "sh" in subprocess.run(
            [exe, "show", file, "--span", "kind=run"], capture_output=True, text=True, timeout=LONG).stdout):
        assert time.monotonic() < end
        time.sleep(0.1)


def test_attach(record, exe):
    """What runs already, from now on, with what it starts, until it ends."""
    with subprocess.Popen(["sh", "-c", "sleep 60 & read go; " + BURN + "; kill $!"], stdin=subprocess.PIPE) as process:
        one = attach(exe, process.pid, record.file)
        wait_recorded(exe, record.file)
        process.communicate(b"\n", timeout=LONG)
        _, err = one.communicate(timeout=LONG)
    assert one.returncode == 0 and err.startswith("sh: ")
    run = run_of(record)
    assert run["cpu_s"] > 0.1 and run["status"] == "unknown"
    assert {p["comm"] for p in record.content()["processes"]} >= {"sh", "sleep"}


def test_attach_to_a_long_command_line(record, exe):
    argv = ["sh", "-c", "read go; exit 6", *["word" * 200] * 200]
    with subprocess.Popen(argv, stdin=subprocess.PIPE) as process:
        one = attach(exe, process.pid, record.file)
        wait_recorded(exe, record.file)
        process.communicate(b"\n", timeout=LONG)
        _, err = one.communicate(timeout=LONG)
    assert one.returncode == 0 and err.startswith("sh: ")


@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_attach_ends_and_leaves_it_alone(record, exe, name):
    with subprocess.Popen(["sh", "-c", "read go; exit 6"], stdin=subprocess.PIPE) as process:
        one = attach(exe, process.pid, record.file, *RESULTS, cwd=record.file.parent)
        wait_recorded(exe, record.file)
        one.send_signal(signal.Signals[f"SIG{name}"])
        one.communicate(timeout=LONG)
        assert one.returncode == 0
        process.communicate(b"\n", timeout=LONG)
        assert process.returncode == 6
    assert run_of(record)["wall_s"] > 0
    check_results(record.file.parent)


@pytest.mark.parametrize("arguments", [[], ["x"], ["-1"], ["0"], ["1", "2"]])
def test_attach_to_what_is_no_process(exe, arguments):
    result = subprocess.run([exe, "attach", *arguments], capture_output=True, text=True, timeout=LONG)
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1


def test_attach_to_one_that_is_gone(exe, tmp_path):
    process = subprocess.run([exe, "attach", "4194303", "-o", tmp_path / "x"], capture_output=True, text=True)
    assert process.returncode == 1 and "no process 4194303" in process.stderr and not (tmp_path / "x").exists()
