"""What `bench chaos` does to an installation, and how it looks for damage. Needs Django to be set up."""

import os
import random
import signal
import sys
import time

from sandboxes import forking, lifecycle, reaper
from sandboxes.errors import SandboxError
from sandboxes.host import here
from sandboxes.models import Machine, Snapshot, State
from sandboxes.registry import kinds
from sandboxes.snapshots import Snapshots

MOST_MACHINES = 6
KILL_EVERY = 10
KILL_PAUSE = 15.0
"""Seconds between two kills at least: `up` takes a service that keeps dying for broken, and stops."""
SETTLED = (State.READY, State.STOPPED, State.DESTROYED, State.FAILED, State.LOST)


class Disorder:
    def __init__(self, dice: random.Random, *, quiet: bool) -> None:
        self.dice = dice
        self.quiet = quiet
        self.kills = 0
        self.killed_at = 0.0
        self.done: dict[str, int] = {}

    def run(self, operations: int) -> dict[str, float | int]:
        for number in range(operations):
            self.operate()
            if self.dice.randrange(KILL_EVERY) == 0:
                self.kill_worker()
            if not self.quiet and number % 20 == 19:
                print(f"{number + 1} operations, {self.kills} kills: {self.done}", file=sys.stderr, flush=True)
        self.settle()
        orphans, lies = self.orphans(), self.lies()
        for line in (*orphans, *lies):
            print(line, file=sys.stderr)
        return {"operations": operations, "kills": self.kills, "orphans": len(orphans), "lies": len(lies), **self.done}

    def operate(self) -> None:
        ready = list(Machine.objects.filter(state=State.READY))
        alive = Machine.objects.exclude(state__in=(State.DESTROYED, State.FAILED, State.LOST)).count()
        choices = ["create", "create", "fork"] if alive < MOST_MACHINES else ["destroy"]
        if ready:
            choices += ["exec", "exec", "snapshot", "restore", "destroy", "stop"]
        choice = self.dice.choice([*choices, "resume"])
        try:
            happened = getattr(self, f"do_{choice}")(ready)
        except SandboxError:
            choice, happened = f"{choice}_refused", True
        if happened:
            self.done[choice] = self.done.get(choice, 0) + 1
        time.sleep(self.dice.uniform(0.1, 1.2))

    def do_create(self, _ready: list[Machine]) -> bool:
        lifecycle.request_machine(owner(), image="desktop")
        return True

    def do_fork(self, _ready: list[Machine]) -> bool:
        snapshots = list(Snapshot.objects.all())
        if snapshots:
            forking.request_fork(self.dice.choice(snapshots), owner())
        return bool(snapshots)

    def do_exec(self, ready: list[Machine]) -> bool:
        result = lifecycle.attach(self.dice.choice(ready)).exec(["echo", "here"])
        return result.stdout == b"here\n"

    def do_snapshot(self, ready: list[Machine]) -> bool:
        forking.request_snapshot(self.dice.choice(ready), "chaos")
        return True

    def do_restore(self, ready: list[Machine]) -> bool:
        machine = self.dice.choice(ready)
        snapshot = Snapshot.objects.filter(machine=machine).first()
        if snapshot:
            forking.request_restore(machine, snapshot)
        return snapshot is not None

    def do_destroy(self, ready: list[Machine]) -> bool:
        candidates = ready or list(Machine.objects.filter(state=State.STOPPED))
        return bool(candidates) and lifecycle.request_destroy(self.dice.choice(candidates))

    def do_stop(self, ready: list[Machine]) -> bool:
        return forking.request_stop(self.dice.choice(ready))

    def do_resume(self, _ready: list[Machine]) -> bool:
        stopped = list(Machine.objects.filter(state=State.STOPPED))
        return bool(stopped) and forking.request_resume(self.dice.choice(stopped))

    def kill_worker(self) -> None:
        from godhand_web.cli import record
        from godhand_web.cli.processes import is_same

        found = record.read()
        if found is None:
            raise SystemExit("The installation has ended; nothing can be learnt from this.")
        pid, started = found["services"]["machines"]
        if time.monotonic() - self.killed_at > KILL_PAUSE and is_same(pid, started):
            os.kill(pid, signal.SIGKILL)
            self.kills += 1
            self.killed_at = time.monotonic()

    def settle(self) -> None:
        """Until every row says something final and claims what is there; the installation's reaper brings it there."""
        deadline = time.monotonic() + 300
        while self.unsettled() and time.monotonic() < deadline:
            time.sleep(1)

    def unsettled(self) -> bool:
        return Machine.objects.exclude(state__in=SETTLED).exists() or bool(self.orphans())

    def orphans(self) -> list[str]:
        return [f"orphan: {kind} {machine_id}" for kind, machine_id in reaper.unclaimed()]

    def lies(self) -> list[str]:
        return [line for machine in Machine.objects.all() if (line := self.lie(machine))]

    def lie(self, machine: Machine) -> str:
        sandbox = lifecycle.attach(machine)
        if machine.state == State.READY:
            try:
                true = sandbox.exec(["echo", "here"]).stdout == b"here\n"
            except SandboxError as error:
                return f"lie: {machine.pk} is said to be ready: {error}"
            return "" if true else f"lie: {machine.pk} is said to be ready"
        if machine.state == State.STOPPED:
            known = machine.made_from_id in Snapshots(here()).ids()
            return "" if known and not sandbox.alive() else f"lie: {machine.pk} is said to be stopped"
        if machine.state not in SETTLED:
            return f"lie: {machine.pk} is said to be {machine.state} and nobody works on it"
        on_host = any(handle["id"] == machine.pk for kind in kinds().values() for handle in kind.owned())
        return f"lie: {machine.pk} is said to be {machine.state} and is on the host" if on_host else ""


def owner() -> lifecycle.Person:
    from godhand_web.management.commands.loginlink import owner

    return owner()
