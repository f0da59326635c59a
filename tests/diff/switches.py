# SPDX-License-Identifier: GPL-2.0-only
"""The switches that are compared: how they start, take flows and count."""
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from generate import FENCE_FLOW, FENCE_PORT
from wire import WireError, in_netns, must

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
COUNTS = re.compile(r"ufid:([0-9a-f-]+), .*packets:(\d+), bytes:(\d+), used:[^,]*(?:, flags:([^,]+))?")
OVERLIMITS = re.compile(r", overlimits:(\d+)")


def ufid(number):
    return f"{number + 1:08x}-0000-0000-0000-000000000000"


Count = collections.namedtuple("Count", "packets bytes flags overlimits", defaults=(0, "", 0))


class Dpctl:
    """A switch that takes the words of ovs-dpctl."""

    command = []
    datapath = ""
    bulk_drops = False  # a file of flows can say that one has no actions
    name = ""

    def __init__(self, wire, side):
        self.wire = wire
        self.side = side
        with tempfile.NamedTemporaryFile(prefix="tcvs-diff.", delete=False) as file:
            self.file = file.name

    def run(self, verb, *words):
        return subprocess.run([*self.command, verb, *words], text=True, capture_output=True, check=False)

    def stop(self):
        os.unlink(self.file)

    def is_single(self, actions):
        return actions == "drop" and not self.bulk_drops

    def set_flows(self, texts):
        """texts: (match, actions) of each.  Returns what was said."""
        must(*self.command, self.verb("del-flows"), self.datapath)
        flows = [(f"ufid:{ufid(number)},{match}", actions) for number, (match, actions) in
                 enumerate([*texts, (FENCE_FLOW, str(FENCE_PORT))])]
        with open(self.file, "w", encoding="ascii") as file:
            file.writelines(f"{match} {actions}\n" for match, actions in flows if not self.is_single(actions))
        results = [self.run(self.verb("add-flows"), self.datapath, self.file)]
        results += [self.run(self.verb("add-flow"), self.datapath, match, "") for match, actions in flows if
                    self.is_single(actions)]
        return "".join(result.stdout + result.stderr for result in results).strip()

    def verb(self, verb):
        return verb

    def counts(self, number):
        """Of each flow, None for one that is not there."""
        result = must(*self.command, self.verb("dump-flows"), "-m", self.datapath)
        found = {}
        for line in result.splitlines():
            hit = COUNTS.search(line)
            if hit:
                over = OVERLIMITS.search(line)
                found[hit[1]] = Count(int(hit[2]), int(hit[3]), hit[4] or "", int(over[1]) if over else 0)
        return [found.get(ufid(i)) for i in range(number)]

    def spoken(self, match, actions):
        """The command that adds a flow, for people."""
        return f"{self.name} add-flow {self.datapath} '{match}' '{'' if actions == 'drop' else actions}'"


class Tcvs(Dpctl):
    bulk_drops = True
    name = "tcvsctl"

    def __init__(self, wire, side):
        super().__init__(wire, side)
        self.command = in_netns(wire.netns(side), os.environ.get("TCVSCTL", str(TOP / "build/tcvsctl")))
        self.datapath = f"{wire.tag}dp"

    def start(self):
        must(*self.command, "add-dp", self.datapath)
        for port in self.wire.ports:
            must(*self.command, "add-if", self.datapath, f"{self.wire.device(self.side, port)},port_no={port}")

    def stop(self):
        self.run("del-dp", self.datapath)
        super().stop()

    def spoken(self, match, actions):
        return f"{self.name} add-flow DP '{match}' '{actions}'"


class Module(Dpctl):
    """The kernel's Open vSwitch."""

    name = "ovs-dpctl"
    datapath = "diff0"

    def __init__(self, wire, side):
        super().__init__(wire, side)
        self.command = in_netns(wire.netns(side), "ovs-dpctl")

    def start(self):
        must(*self.command, "add-dp", self.datapath)
        for port in self.wire.ports:
            must(*self.command, "add-if", self.datapath, f"{self.wire.device(self.side, port)},port_no={port}")

    def stop(self):
        self.run("del-dp", self.datapath)
        super().stop()


class Userspace(Dpctl):
    """ovs-vswitchd with its own database and directories; no kernel module, no flows but ours."""

    name = "ovs-appctl dpctl/"
    datapath = "netdev@ovs-netdev"

    def __init__(self, wire, side):
        super().__init__(wire, side)
        self.dir = tempfile.mkdtemp(prefix="tcvs-diff.")
        self.env = {**os.environ, **{f"OVS_{kind}DIR": self.dir for kind in ("RUN", "LOG", "DB", "SYSCONF")}}
        self.command = ["ovs-appctl", "-t", f"{self.dir}/switch.ctl"]
        self.pids = []

    def verb(self, verb):
        return f"dpctl/{verb}"

    def daemon(self, program, *words):
        pid_file = f"{self.dir}/{program}.pid"
        must(*in_netns(self.wire.netns(self.side), program, *words, f"--pidfile={pid_file}", "--detach", "--no-chdir",
                       f"--log-file={self.dir}/{program}.log"), env=self.env)
        self.pids.append(int(pathlib.Path(pid_file).read_text(encoding="ascii")))

    def vsctl(self, *words):
        must("ovs-vsctl", f"--db=unix:{self.dir}/db.sock", "--timeout=20", *words, env=self.env)

    def start(self):
        schema = "/usr/share/openvswitch/vswitch.ovsschema"
        must("ovsdb-tool", "create", f"{self.dir}/conf.db", schema, env=self.env)
        self.daemon("ovsdb-server", f"{self.dir}/conf.db", f"--remote=punix:{self.dir}/db.sock",
                    f"--unixctl={self.dir}/db.ctl")
        # A limit of 0: a packet that no flow matches leaves none behind.  Two tags are matched only if it is said.
        self.vsctl("--no-wait", "--", "init", "--", "set", "Open_vSwitch", ".", "other_config:flow-limit=0",
                   "other_config:vlan-limit=2")
        self.daemon("ovs-vswitchd", f"unix:{self.dir}/db.sock", "--disable-system", f"--unixctl={self.dir}/switch.ctl")
        self.vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev", "fail_mode=secure")
        for port in self.wire.ports:
            self.vsctl("add-port", "br0", self.wire.device(self.side, port))
        # They would delete flows that no OpenFlow rule explains.
        must(*self.command, "revalidator/pause")
        self.check_numbers()
        self.wire.fences[self.side] = 2

    def check_numbers(self):
        shown = must(*self.command, "dpctl/show", self.datapath)
        for port in self.wire.ports:
            if f"port {port}: {self.wire.device(self.side, port)}\n" not in shown:
                raise WireError(f"port {port} has another number:\n{shown}")

    def stop(self):
        if os.environ.get("DIFF_KEEP"):
            shutil.copytree(self.dir, os.environ["DIFF_KEEP"], ignore=shutil.ignore_patterns("*.ctl", "*.sock", "br0.*"))
        for pid in reversed(self.pids):
            end_process(pid)
        shutil.rmtree(self.dir, ignore_errors=True)
        super().stop()

    def spoken(self, match, actions):
        return f"{self.name}add-flow '{match}' '{'' if actions == 'drop' else actions}'"


def end_process(pid):
    """Of a daemon, which is no child of ours."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for _ in range(100):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                return
            time.sleep(0.02)
