"""What compiled code needs of the process, and processes that fork."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from pykern.runtime import cpu_table


def test_threads_that_launch_first_at_once_share_one_table(monkeypatch):
    monkeypatch.setattr(cpu_table, "_table", [])
    made = cpu_table._made

    def slowly():
        time.sleep(0.05)
        return made()

    monkeypatch.setattr(cpu_table, "_made", slowly)
    found = []
    threads = [threading.Thread(target=lambda: found.append(cpu_table.table())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(map(id, found))) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_that_was_forked_launches_with_threads_of_its_own(tmp_path):
    program = tmp_path / "forks.py"
    program.write_text(
        textwrap.dedent(
            """
            import os, signal
            import numpy as np
            import pykern as pk

            @pk.kernel
            def k(x, a):
                i = pk.index()
                x[i] = x[i] * a + pk.sin(x[i])

            def launched(dtype):
                x = np.ones(1 << 20, dtype)
                k(x, dtype(2), ndrange=x.size)
                return x

            pk.set_num_threads(2)
            first = launched(np.float32)
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                same = np.array_equal(first, launched(np.float32))
                launched(np.float64)  # compiled by a process of the child's
                os._exit(0 if same else 1)
            assert os.waitpid(child, 0)[1] == 0
            assert np.array_equal(first, launched(np.float32))
            """
        )
    )
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
