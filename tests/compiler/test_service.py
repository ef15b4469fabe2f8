"""The compiler process: crashes, hangs, threads, forks, Ctrl-C. The compiler itself is a stub."""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pykern.compiler.progress import Progress
from pykern.compiler.service import Service
from pykern.data.artifact import Artifact
from pykern.data.source import (
    ArraySpec,
    Builtin,
    Constant,
    FunctionSource,
    KernelSource,
    LaunchSpec,
    Parameter,
    ScalarSpec,
    StaticSpec,
)
from pykern.environment.settings import Settings
from pykern.errors import CompilerCrash, KernelError, KernelTypeError, LaunchError, PassError

ROOT = Path(__file__).resolve().parents[2]
STUB = Path(__file__).with_name("service_stub.py")
PROGRAM = """
import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""
posix = pytest.mark.skipif(os.name != "posix", reason="signals and forks are POSIX's")
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def command(*mode: str) -> list[str]:
    return [sys.executable, "-I", "-X", "faulthandler", "-c", PROGRAM, str(ROOT), str(STUB), *mode]


def kernel(name: str, text: str = "", value: object = 1) -> KernelSource:
    text = (
        text or f'@pk.kernel\ndef {name}(x, a):\n    """Says \\"hi\\"."""\n    x[pk.index()] = pk.sqrt(a)\n'
    )
    captures = (("pk.sqrt", Builtin("sqrt")), ("N", Constant(value)))
    parameters = (
        Parameter("x", ArraySpec("f32", (None, 3))),
        Parameter("a", ScalarSpec("float")),
        Parameter("n", StaticSpec((1.5, float("inf"), "it's", None))),
    )
    return KernelSource(FunctionSource(name, "/src/heat.py", 10, text, captures), parameters, LaunchSpec(1))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(cache_dir=str(tmp_path / "cache"), compile_timeout=20.0)


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    with Service(command(), chosen=settings) as made:
        yield made


def pid(artifact: Artifact) -> int:
    return artifact.resources["pid"]  # type: ignore[return-value]


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def running(process: int) -> bool:
    """False for a zombie as well: an orphan is its new parent's to reap, however slowly that does so."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_compiles_in_one_other_process(service: Service):
    first, second = service.compile(kernel("a")), service.compile(kernel("b"))
    assert (first.kernel, first.target, first.binary) == ("a", "llvm", b"\x7fELF")
    assert pid(first) == pid(second) == service.worker_pid != os.getpid()


def test_stages_on_demand(service: Service):
    assert service.compile(kernel("a")).stages == ()
    assert [stage.name for stage in service.compile(kernel("a"), keep_stages=True).stages] == ["kern"]


def test_large_messages_pass_the_pipes(service: Service):
    text = "def large(): pass\n" + "#" * 3_000_000 + "end"
    assert service.compile(kernel("large", text)).resources["text"] == text[::-1]


def test_start_returns_at_once(settings: Settings):
    with Service(command("slow-start"), chosen=settings) as service:
        service.start()
        started = time.perf_counter()
        service.start()
        assert time.perf_counter() - started < 1.0  # it takes 1.5 s to be ready
        assert service.worker_pid == pid(service.compile(kernel("a")))


# Errors of the compiler


def test_errors_keep_their_class_place_and_text(service: Service):
    with pytest.raises(KernelTypeError) as caught:
        service.compile(kernel("type_error"))
    assert (caught.value.span.line, caught.value.hint) == (3, "cast")
    assert "x = y + 1" in str(caught.value) and "note: made here" in str(caught.value)
    assert service.compile(kernel("a"))


def test_errors_known_only_over_there_come_as_their_base(service: Service):
    with pytest.raises(LaunchError, match="only here") as caught:
        service.compile(kernel("private_error"))
    assert type(caught.value) is LaunchError and caught.value.code == "PK099"


def test_unexpected_errors_bring_their_traceback(service: Service):
    with pytest.raises(PassError, match="ZeroDivisionError: a fault of ours") as caught:
        service.compile(kernel("raises"))
    assert "service_stub.py" in str(caught.value) and "Traceback" in str(caught.value)
    with pytest.raises(PassError, match="this stays here"):
        service.compile(kernel("unpicklable"))
    before = service.worker_pid
    assert pid(service.compile(kernel("a"))) == before  # none of these ended the process


def test_a_source_that_does_not_pickle_here_or_there(service: Service, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(KernelTypeError, match="cannot be passed to the compiler") as caught:
        service.compile(kernel("a", value=lambda: 0))
    assert caught.value.span.text == "def a(x, a):"
    module = types.ModuleType("only_in_this_process")
    exec("class Value: pass", module.__dict__)
    monkeypatch.setitem(sys.modules, "only_in_this_process", module)
    with pytest.raises(PassError, match="only_in_this_process"):
        service.compile(kernel("a", value=module.Value()))
    assert service.compile(kernel("a"))


def test_prints_do_not_disturb(service: Service, capfd: pytest.CaptureFixture[str]):
    assert service.compile(kernel("prints")).resources["stdin"] == ""
    assert service.compile(kernel("a"))
    service.close()
    out, err = capfd.readouterr()
    assert out == "" and "a word from a pass" in err and "from C" in err


@pytest.mark.parametrize(
    ("mode", "error", "text"),
    [
        ("no-import", PassError, "No module named 'mlir'"),
        ("no-library", PassError, "libLLVM.so"),
        ("dies", CompilerCrash, "before it could compile anything.*LLVM ERROR: bad start"),
    ],
)
def test_a_compiler_that_does_not_start(settings: Settings, mode: str, error: type[KernelError], text: str):
    with Service(command(mode), chosen=settings) as service:
        for _ in range(2):
            with pytest.raises(error, match=f"(?s){text}"):
                service.compile(kernel("a"))


def test_a_command_that_is_not_there(settings: Settings):
    with (
        Service(["/no/such/python"], chosen=settings) as service,
        pytest.raises(CompilerCrash, match="did not start"),
    ):
        service.compile(kernel("a"))


# Crashes


@posix
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("abort", "SIGABRT"), ("abort", "Assertion `idx < size()' failed."), ("abort", "service_stub.py"),
        ("segfault", "SIGSEGV"), ("leave", "exit status 1"), ("killed", "died of SIGKILL (Killed) twice"),
    ],
)  # fmt: skip
def test_a_crash_is_an_error_at_the_kernel_and_life_goes_on(service: Service, name: str, words: str):
    before = pid(service.compile(kernel("a")))
    with pytest.raises(CompilerCrash) as caught:
        service.compile(kernel(name))
    text = str(caught.value)
    assert words in text
    assert f'File "/src/heat.py", line 11 in {name}' in text and f"def {name}(x, a):" in text
    assert caught.value.reproducer in text
    assert pid(service.compile(kernel("a"))) != before


@posix
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mlir_segfault", "SIGSEGV"), ("mlir_segfault", "missing `LLVMTranslationDialectInterface`"),
        ("mlir_abort", "SIGABRT"), ("mlir_abort", "operation destroyed but still has uses"),
    ],
)  # fmt: skip
def test_crashes_of_mlir_itself(service: Service, name: str, words: str):
    with pytest.raises(CompilerCrash) as caught:
        service.compile(kernel(name))
    assert words in str(caught.value)
    assert "worker.py" not in str(caught.value)
    assert service.compile(kernel("a"))


@posix
def test_what_the_compiler_dies_of_is_tried_with_fewer_optimisations(service: Service):
    made = service.compile(kernel("optimised_abort"))
    assert made.kernel == "optimised_abort"
    (remark,) = made.remarks
    assert "fewer optimisations" in remark.text and "SIGABRT" in remark.text
    assert (remark.file, remark.line) == ("/src/heat.py", 11)
    assert Path(remark.text.rpartition("report it: ")[2]).exists()  # the crash can still be shown
    assert pid(service.compile(kernel("a"))) == pid(made)
    assert service.compile(kernel("optimised_abort")).remarks  # it is no kernel that cannot be compiled


def test_a_second_crash_is_the_error(service: Service):
    with pytest.raises(CompilerCrash, match="SIGABRT"):
        service.compile(kernel("abort"))
    assert service.worker_pid is None


def test_a_kernel_that_crashed_is_not_tried_again(service: Service):
    with pytest.raises(CompilerCrash) as first:
        service.compile(kernel("abort"))
    other = pid(service.compile(kernel("a")))
    for _ in range(3):
        with pytest.raises(CompilerCrash) as again:
            service.compile(kernel("abort"))
        assert again.value is not first.value and str(again.value) == str(first.value)
        assert again.value.reproducer == first.value.reproducer
        assert len(again.traceback) < 8
    assert service.worker_pid == other
    with pytest.raises(CompilerCrash):
        service.compile(kernel("abort", value=2))  # another kernel: tried
    assert service.worker_pid != other


def killer(service: Service, stop: threading.Event, most: int) -> tuple[threading.Thread, list[int]]:
    """A thread that kills up to so many compiler processes while they work, and which they were."""
    killed: list[int] = []

    def kill() -> None:
        while len(killed) < most and not stop.wait(0.05):
            running = service.worker_pid
            if running is not None and running not in killed:
                os.kill(running, signal.SIGKILL)
                killed.append(running)

    thread = threading.Thread(target=kill)
    return thread, killed


@posix
def test_one_that_was_killed_from_outside_is_tried_again(service: Service):
    assert service.compile(kernel("a"))
    for name in ("slow", "slow_too"):
        stop = threading.Event()
        thread, killed = killer(service, stop, 1)
        thread.start()
        assert pid(service.compile(kernel(name))) not in killed
        stop.set()
        thread.join()
        assert len(killed) == 1


@posix
def test_one_that_is_killed_again_is_told(service: Service):
    for _ in range(2):  # it is nobody's fault: the same kernel is tried the next time, too
        stop = threading.Event()
        thread, killed = killer(service, stop, 2)
        assert service.compile(kernel("a"))
        thread.start()
        with pytest.raises(CompilerCrash, match="SIGKILL") as caught:
            service.compile(kernel("hang"))
        stop.set()
        thread.join()
        assert len(killed) == 2
        assert "twice" in str(caught.value) and "too little memory" in str(caught.value)


@posix
def test_one_that_is_killed_while_it_starts_is_replaced(settings: Settings):
    with Service(command("slow-start"), chosen=settings) as service:
        stop = threading.Event()
        thread, killed = killer(service, stop, 1)
        thread.start()
        assert pid(service.compile(kernel("a"))) not in killed
        stop.set()
        thread.join()
        assert len(killed) == 1
    with Service(command("slow-start"), chosen=settings) as service:
        stop = threading.Event()
        thread, killed = killer(service, stop, 2)
        thread.start()
        with pytest.raises(CompilerCrash, match=r"twice died of SIGKILL .*before it could compile anything"):
            service.compile(kernel("a"))
        stop.set()
        thread.join()
        assert len(killed) == 2


@posix
def test_a_service_that_is_closed_starts_nothing_again(service: Service):
    assert service.compile(kernel("a"))
    timer = threading.Timer(0.2, service.close)
    timer.start()
    with pytest.raises(CompilerCrash, match="SIGKILL"):
        service.compile(kernel("hang"))
    timer.join()
    assert service.worker_pid is None


@posix
def test_killed_between_requests_is_not_noticed(service: Service):
    for pause in [0.0, 0.1]:
        before = pid(service.compile(kernel("a")))
        os.kill(before, signal.SIGKILL)
        time.sleep(pause)
        assert pid(service.compile(kernel("b"))) != before


def test_an_idle_process_ends_and_is_replaced(settings: Settings):
    with Service(command("idle"), chosen=settings) as service:
        before = pid(service.compile(kernel("a")))
        assert within(5, lambda: service.worker_pid is None)
        assert pid(service.compile(kernel("a"))) != before


@posix
@pytest.mark.parametrize("name", ["hang", "spin"])
def test_a_hang_is_stopped(settings: Settings, name: str):
    with Service(command(), chosen=replace(settings, compile_timeout=0.7)) as service:
        before = pid(service.compile(kernel("a")))
        started = time.monotonic()
        with pytest.raises(CompilerCrash, match=r"stopped after 0\.7 s") as caught:
            service.compile(kernel(name))
        assert time.monotonic() - started < 20  # 1000 s otherwise
        assert not alive(before)
        assert "service_stub.py" in str(caught.value)  # where it hung
        with pytest.raises(CompilerCrash):
            service.compile(kernel(name))
        assert service.compile(kernel("a"))


@linux
def test_what_the_compiler_started_ends_with_it(service: Service):
    service.compile(kernel("a"))
    started = time.monotonic()
    with pytest.raises(CompilerCrash):
        service.compile(kernel("spawns"))
    assert time.monotonic() - started < 20  # waits for no output of theirs (1000 s)
    assert service.compile(kernel("a"))


# Reproducers


@pytest.mark.parametrize("value", [1, True, float("nan"), -0.0, (1, ('a\\\'"""', None))])
def test_the_reproducer_holds_the_very_kernel(
    service: Service, value: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    source = kernel("leave", value=value)
    with pytest.raises(CompilerCrash) as caught:
        service.compile(source)
    seen = []

    def compile_source(given: KernelSource) -> Artifact:
        seen.append(given)
        return Artifact("", "", "", "pk_run", b"123")

    driver = types.ModuleType("pykern.compiler.driver")
    driver.compile_source = compile_source  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pykern.compiler.driver", driver)
    runpy.run_path(caught.value.reproducer, run_name="__main__")
    assert [repr(given) for given in seen] == [repr(source)]
    assert "without a crash: pk_run 3 bytes" in capsys.readouterr().out
    text = Path(caught.value.reproducer).read_text()
    assert "exit status 1" in text and "/src/heat.py" in text and "pickle" not in text


@posix
def test_reproducers_find_a_place_and_do_not_pile_up(settings: Settings, tmp_path: Path, monkeypatch):
    from pykern.compiler.reproducer import write_reproducer

    paths = {write_reproducer(kernel("k", value=n), "died", [], settings) for n in range(40)}
    assert len(paths) == 40
    directory = Path(settings.cache_dir) / "crashes"
    assert len(list(directory.iterdir())) == 32
    assert directory.stat().st_mode & 0o777 == 0o700
    os.chmod(settings.cache_dir, 0o777)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = write_reproducer(kernel("k"), "died", [], settings)
    assert path is not None and Path(path).parent.parent == tmp_path
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert write_reproducer(kernel("k"), "died", [], settings) is None


# Threads


def test_many_threads(service: Service):
    results: dict[int, Artifact] = {}
    threads = [
        threading.Thread(target=lambda n=n: results.update({n: service.compile(kernel(f"k{n}"))}))
        for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert {n: artifact.kernel for n, artifact in results.items()} == {n: f"k{n}" for n in range(16)}
    assert len({pid(artifact) for artifact in results.values()}) == 1


def test_threads_share_one_compile(service: Service):
    service.compile(kernel("a"))
    results: list[Artifact] = []
    threads = [
        threading.Thread(target=lambda: results.append(service.compile(kernel("slow")))) for _ in range(8)
    ]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(results) == 8 and all(result is results[0] for result in results)
    assert time.monotonic() - started < 2.0  # 8 x 0.3 s otherwise


@posix
def test_threads_share_a_crash(service: Service):
    service.compile(kernel("a"))
    errors: list[CompilerCrash] = []

    def ask() -> None:
        try:
            service.compile(kernel("abort"))
        except CompilerCrash as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(errors) == 6 == len({id(error) for error in errors})
    assert len({error.reproducer for error in errors}) == 1


def test_the_process_outlives_the_thread_that_asked_first(service: Service):
    thread = threading.Thread(target=service.start)
    thread.start()
    thread.join()
    first = pid(service.compile(kernel("a")))
    time.sleep(0.1)
    assert pid(service.compile(kernel("b"))) == first


# In place


def test_live_passes_and_the_setting_compile_in_place(settings: Settings):
    calls = []

    def compile(source: KernelSource, **options: object) -> Artifact:
        calls.append(options)
        return Artifact("", source.function.name, "", "", b"")

    def custom(module: object) -> None: ...

    with Service(["/no/such/python"], lambda: compile, settings) as service:
        assert service.compile(kernel("a"), passes=(custom,)).kernel == "a"
    with Service(None, lambda: compile, replace(settings, compiler="inprocess")) as service:
        service.start()
        assert service.compile(kernel("b"), keep_stages=True).kernel == "b"
        assert service.worker_pid is None
    assert calls == [{"keep_stages": False, "passes": (custom,)}, {"keep_stages": True}]


# Progress


def test_tells_once_what_takes_long(
    service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], settings: Settings
):
    monkeypatch.setattr("pykern.compiler.progress._PATIENCE", 0.1)
    monkeypatch.setattr(Progress, "told", False)
    service.compile(kernel("slow"))
    service.compile(kernel("slow", value=2))
    err = capsys.readouterr().err
    assert (
        err.startswith("pykern: compiling slow for llvm ... ")
        and err.endswith(" s\n")
        and err.count("\n") == 1
    )
    monkeypatch.setattr(Progress, "told", False)
    with Service(command(), chosen=replace(settings, quiet=True)) as silent:
        silent.compile(kernel("slow"))
    with Service(command(), chosen=replace(settings, quiet=True, log=frozenset({"compile"}))) as chatty:
        chatty.compile(kernel("a"))
    assert capsys.readouterr().err.startswith("pykern: compiled a for llvm in ")


# Leaks


@linux
def test_nothing_leaks(service: Service):
    def state() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    service.compile(kernel("a"))
    before = state()
    for number in range(100):
        service.compile(kernel("a", value=number))
    assert state() == before
    for number in range(5):
        with pytest.raises(CompilerCrash):
            service.compile(kernel("leave", value=number))
        service.compile(kernel("a"))
    assert within(3, lambda: state() == before), (state(), before)
    last = service.worker_pid
    service.close()
    assert within(3, lambda: state() == (before[0] - 3, before[1] - 2)), (state(), before)
    assert not alive(last)  # neither running nor a zombie


# Other processes

SCRIPT = """
import os, signal, sys, threading, time
sys.path[:0] = [{root!r}, {here!r}]
from test_service import Service, Settings, command, kernel, pid
service = Service(command(), chosen=Settings(cache_dir={cache!r}, compile_timeout=20.0, quiet=True))
"""


def run(tmp_path: Path, body: str, **options: object) -> subprocess.Popen[str]:
    start = SCRIPT.format(root=str(ROOT), here=str(STUB.parent), cache=str(tmp_path / "cache"))
    return subprocess.Popen(
        [sys.executable, "-u", "-c", start + textwrap.dedent(body)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


@posix
def test_ctrl_c_while_waiting(tmp_path: Path):
    program = run(
        tmp_path,
        """
        first = pid(service.compile(kernel("a")))
        print("waiting", flush=True)
        try:
            service.compile(kernel("hang"))
        except KeyboardInterrupt:
            pass
        second = service.compile(kernel("b"))
        print(second.kernel, pid(second) != first)
        """,
        start_new_session=True,
    )
    assert program.stdout.readline() == "waiting\n"
    time.sleep(0.2)
    os.killpg(program.pid, signal.SIGINT)  # as a terminal does
    out, err = program.communicate(timeout=60)
    assert (out, err, program.returncode) == ("b True\n", "", 0)


@posix
def test_ctrl_c_elsewhere_does_not_touch_the_compiler(tmp_path: Path):
    program = run(
        tmp_path,
        """
        first = pid(service.compile(kernel("a")))
        try:
            print(first, flush=True)  # the signal may come at once
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
        print(pid(service.compile(kernel("b"))) == first)
        """,
        start_new_session=True,
    )
    worker = int(program.stdout.readline())
    os.killpg(program.pid, signal.SIGINT)
    os.kill(worker, signal.SIGINT)
    out, err = program.communicate(timeout=60)
    assert (out, err) == ("True\n", "")


@posix
def test_the_end_of_the_program_is_the_end_of_the_compiler(tmp_path: Path):
    program = run(
        tmp_path,
        """
        print(pid(service.compile(kernel("a"))), flush=True)
        threading.Thread(target=service.compile, args=(kernel("hang"),), daemon=True).start()
        time.sleep(0.2)
        print(time.time(), flush=True)
        """,
    )
    out, _ = program.communicate(timeout=60)
    ended = time.time()
    worker, last = out.split()
    assert not alive(int(worker))
    assert ended - float(last) < 1.0 and program.returncode == 0


@linux
@pytest.mark.parametrize("name", ["a", "hang", "spin"])
def test_a_killed_program_leaves_no_compiler(tmp_path: Path, name: str):
    program = run(
        tmp_path,
        f"""
        print(pid(service.compile(kernel("first"))), flush=True)
        service.compile(kernel({name!r}))
        time.sleep(100)
        """,
    )
    worker = int(program.stdout.readline())
    time.sleep(0.2)
    program.kill()
    program.communicate(timeout=60)
    assert within(3, lambda: not running(worker))


others_warn = pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called:RuntimeWarning")
"""JAX does, where another test of this process has imported it."""


@posix
@others_warn
def test_a_fork_starts_its_own_compiler(service: Service):
    parents = pid(service.compile(kernel("a")))
    hold = threading.Thread(target=service.compile, args=(kernel("slow"),))
    hold.start()  # the child is forked while a lock is held and an answer is on its way
    time.sleep(0.05)
    end, start = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            own = pid(service.compile(kernel("b")))
            os.write(start, f"{own} {own != parents} {alive(parents)}".encode())
            service.close()
            status = 0 if not alive(own) else 2
        finally:
            os._exit(status)
    os.close(start)
    assert os.waitpid(child, 0)[1] == 0
    said = os.read(end, 1000).decode().split()
    os.close(end)
    assert said[1:] == ["True", "True"]
    hold.join(10)
    assert pid(service.compile(kernel("c"))) == parents


@posix
@others_warn
def test_a_fork_that_stays_does_not_keep_the_pipes(service: Service):
    parents = pid(service.compile(kernel("a")))
    child = os.fork()
    if child == 0:
        try:
            time.sleep(30)
        finally:
            os._exit(0)
    try:
        worker = service._worker
        assert worker is not None and worker._process is not None
        worker._process.stdin.close()  # as the end of the parent would
        assert within(3, lambda: not alive(parents))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


# The real command line


def test_the_real_worker_ignores_what_lies_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Files of the user's that are called as modules of the standard library, of MLIR or of pykern."""
    from pykern.environment import bootstrap

    for name in ["types.py", "pickle.py", "mlir.py", "llvmlite.py", "pykern.py", "sitecustomize.py"]:
        (tmp_path / name).write_text("raise SystemExit('shadowed')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), ".", *sys.path])
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    program = bootstrap._PROGRAM.replace(
        "import_module(module).main()\n",
        "import pykern, mlir, types; print(types.__file__, mlir.__file__ or mlir.__path__, pykern.__path__)",
    )
    monkeypatch.setattr(bootstrap, "_PROGRAM", program)
    done = subprocess.run(
        bootstrap.worker_command("pykern.compiler.worker"), capture_output=True, text=True, timeout=20
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) not in done.stdout
    assert str(ROOT / "pykern") in done.stdout
    assert str(tmp_path) not in bootstrap.search_path()


def test_the_real_worker_compiles(settings: Settings):
    before = set(sys.modules)
    with Service(chosen=settings) as service:
        artifact = service.compile(kernel("fill", "def fill(x, a):\n    x[0, 0] = a\n"))
    assert artifact.kernel == "fill"
    assert artifact.binary
    assert not {name for name in set(sys.modules) - before if name.split(".")[0] == "mlir"}


def test_a_limit_of_threads_is_told(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with Service(command(), chosen=settings) as service:
        with monkeypatch.context() as limited:
            limited.setattr(threading.Thread, "start", refuse)
            service.start()  # nobody waits for it yet
            with pytest.raises(
                CompilerCrash, match=r"did not start, to compile `a` .* can't start new thread"
            ):
                service.compile(kernel("a"))
        assert service.compile(kernel("a"))


def test_a_limit_of_threads_that_is_met_later(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name != "pykern-compiler":
            raise RuntimeError("can't start new thread")
        start(thread)

    with Service(command(), chosen=settings) as service:
        with monkeypatch.context() as limited:
            limited.setattr(threading.Thread, "start", refuse)
            with pytest.raises(
                CompilerCrash, match=r"(?s)the program cannot listen to it: can't start new thread"
            ):
                service.compile(kernel("a"))
        assert service.compile(kernel("a"))
