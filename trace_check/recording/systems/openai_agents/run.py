"""An OpenAI Agents run that tells what it does: tools that speak, a scripted model, and the application around them.

Imported only where the framework is installed.
"""

# The framework is not installed where types are checked, so its classes are Any there.
# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

import copy
import json
import uuid
from dataclasses import dataclass
from typing import Any, Final

from agents import Agent, FunctionTool, RunHooks, Runner, RunState, set_tracing_disabled
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from trace_check.errors import RecordingError
from trace_check.recording import points
from trace_check.recording.branches import Branches
from trace_check.recording.log import EventLog, Operation
from trace_check.recording.nodes import Item, Layout, Progress, sealing
from trace_check.recording.probe import Probe
from trace_check.recording.scenarios import Answering, Forking
from trace_check.recording.system import Job
from trace_check.recording.systems.openai_agents.snapshots import Snapshot, Snapshots
from trace_check.recording.work import Work, told

__all__ = ["Application"]

_PARAMETERS: Final = {
    "type": "object",
    "properties": {"thread": {"type": "string"}, "gate": {"type": "string"}},
    "required": ["thread", "gate"],
    "additionalProperties": False,
}
_TURNS: Final = 200


@dataclass(frozen=True)
class _Call:
    """What one tool call does: the steps of a node from a gate, or its start, up to the next gate."""

    tool: str
    node: str
    items: tuple[Item, ...]

    @property
    def gate(self) -> str:
        """The gate that it has to be approved for, empty if there is none."""
        first = self.items[0].step
        return first.step if first.kind == "gate" else ""


class Application:
    """What an application does around the SDK: it keeps the state after every turn, and goes on from what it kept.

    Args:
        job: what this process is to do.
        layout: the program.
        log, work, probe: see :class:`trace_check.recording.system.System`.
        branches: which snapshot belongs to which branch.
        snapshots: the snapshots kept.
    """

    def __init__(
        self,
        job: Job,
        layout: Layout,
        log: EventLog,
        work: Work,
        probe: Probe,
        branches: Branches,
        snapshots: Snapshots,
    ) -> None:
        set_tracing_disabled(True)
        self._job = job
        self._layout = layout
        self._log = log
        self._work = work
        self._probe = probe
        self._branches = branches
        self._snapshots = snapshots
        self._line: list[Snapshot] = []
        self._layers = [[call for node in layer for call in _calls(node)] for layer in layout.layers]
        self._agent = Agent(
            name="recorded",
            tools=[self._tool(call) for layer in self._layers for call in layer],
            model=ScriptedModel([ModelStep.respond(self._respond)] * _TURNS),
        )
        self._context: dict[str, Any] = {"outcomes": {}, "runs": {}, "answers": {}}

    async def act(self) -> None:
        """Take the job's action."""
        action = self._job.action
        if isinstance(action, Forking):
            raise RecordingError("a RunState declares no forks", "leave the fork out of the scenario")
        state = await self._load()
        if isinstance(action, Answering):
            operation = self._log.begin(
                "answer",
                thread=action.thread,
                gate=action.gate,
                delivery=action.delivery,
                value=action.value,
            )
            operation.end(accepted=self._approve(state, action))
        if self._line and self._line[-1].final:
            return
        await self._run(state)

    # -- reading, and the answer

    async def _load(self) -> Any:
        """Read the snapshot to go on from, the newest if none is named; None where none is kept."""
        token, layout = self._job.token, self._layout
        if token is not None:
            self._line = self._snapshots.line(token)
            self._log.branch = self._enter(token)
        operations = {thread: self._log.begin("loaded", thread=thread) for thread in layout.threads}
        try:
            names = self._snapshots.names()
            name = token or (names[-1] if names else None)
            self._line = self._snapshots.line(name)
            state = None
            if self._line:
                self._context = copy.deepcopy(self._line[-1].context)
                state = await RunState.from_json(
                    self._agent, self._line[-1].state, context_override=self._context
                )
        except Exception as error:
            for operation in operations.values():
                operation.refuse("load", error=type(error).__name__)
            raise
        if token is None and name is not None:
            self._log.branch = self._branches.of(name)
        for thread, operation in operations.items():
            ids = sealing(layout, self._told(), thread)
            operation.end(branch=self._log.branch, checkpoint=ids[-1] if ids else None, index=len(ids))
        self._probe.reach(points.LOADED)
        return state

    def _enter(self, name: str) -> str:
        """The branch on which a run goes on from a snapshot: a new one, unless it is its branch's newest."""
        branch = self._branches.of(name)
        if self._branches.heads(self._snapshots.names())[branch] == name:
            return branch
        told = self._told()
        sealed = {thread: sealing(self._layout, told, thread) for thread in self._layout.threads}
        child = self._branches.fork_unasked(self._log, branch, name, sealed)
        for thread, gate in self._line[-1].waiting().values():
            # Where a gate waits, the new line begins with it waiting.
            ids = sealed[thread]
            newest = ids[-1] if ids else None
            self._log.emit(
                "loaded", thread=thread, branch=child, checkpoint=newest, index=len(ids), inferred=True
            )
            self._log.begin("parked", thread=thread, branch=child, gate=gate, inferred=True).end()
        return child

    def _approve(self, state: Any, answering: Answering) -> bool:
        """Approve the call that waits for this answer; False if there is none."""
        for item in state.get_interruptions() if state is not None else []:
            given = json.loads(item.raw_item.arguments)
            if (given["thread"], given["gate"]) == (answering.thread, answering.gate):
                self._context["answers"].setdefault(answering.thread, {})[answering.gate] = answering.value
                state.approve(item)
                return True
        return False

    # -- running

    async def _run(self, state: Any) -> None:
        """Go on turn by turn, and keep the state after each, until the run ends or waits."""
        while True:
            result = await self._turn(state)
            self._keep(result)
            if result.final_output is not None:
                self._complete()
                return
            if result.interruptions:
                return
            state = result.to_state()

    async def _turn(self, state: Any) -> Any:
        """One turn: what the state or the model asks for is done, and the run is stopped behind it."""
        stopping = _Stopping()
        if state is None:
            result = Runner.run_streamed(self._agent, "go", hooks=stopping, context=self._context)
        else:
            result = Runner.run_streamed(self._agent, state, hooks=stopping)
        stopping.result = result
        async for _ in result.stream_events():
            pass
        return result

    def _keep(self, result: Any) -> None:
        """Keep the state as the next snapshot."""
        layout, log = self._layout, self._log
        parent = self._line[-1] if self._line else None
        snapshot = Snapshot(
            name=self._snapshots.new_name(),
            parent=parent.name if parent is not None else None,
            final=result.final_output is not None,
            # What JSON doesn't take ends the process here, before anything is durable.
            state=json.loads(json.dumps(result.to_state().to_json())),
        )
        self._branches.note(snapshot.name, log.branch)
        now, before = snapshot.progress(), parent.progress() if parent is not None else None
        operations: list[Operation] = []
        after: list[str] = []
        for thread in layout.threads:
            ids = sealing(layout, self._told(), thread)
            for unit in layout.sealed_by(now, before, thread):
                self._probe.reach(points.committing(unit.name))
                operations.append(
                    log.begin(
                        "committed",
                        thread=thread,
                        checkpoint=snapshot.name,
                        parent=ids[-1] if ids else None,
                        next=layout.after(unit),
                        **layout.sealed(now, unit, thread),
                    )
                )
                after.append(points.committed(unit.name))
        waited = parent.waiting() if parent is not None else {}
        for call, (thread, gate) in snapshot.waiting().items():
            if call not in waited:
                self._probe.reach(points.parking(gate))
                operations.append(log.begin("parked", thread=thread, gate=gate))
                after.append(points.parked(gate))
        self._snapshots.write(snapshot)
        for operation in operations:
            operation.end()
        self._line.append(snapshot)
        for point in after:
            self._probe.reach(point)

    def _complete(self) -> None:
        """Say of each instance what its last step gave."""
        for thread in self._layout.threads:
            last = [item for node in self._layout.nodes() for item in node.items if item.thread == thread][-1]
            outcome = self._context["outcomes"][thread][last.step.step]
            self._log.emit("completed", thread=thread, outcome=told(outcome))

    def _told(self) -> list[tuple[str, Progress]]:
        return [(snapshot.name, snapshot.progress()) for snapshot in self._line]

    # -- the model and the tools

    def _respond(self, call: Any) -> list[Any]:
        """The model: it asks for the first calls that have no output yet, those of one layer together."""
        done = set()
        if not isinstance(call.input, str):
            names = {
                item["call_id"]: item["name"] for item in call.input if item.get("type") == "function_call"
            }
            done = {
                names[item["call_id"]] for item in call.input if item.get("type") == "function_call_output"
            }
        for layer in self._layers:
            wanted: dict[str, _Call] = {}
            for call_ in layer:
                if call_.tool not in done:
                    wanted.setdefault(call_.node, call_)
            if wanted:
                return [
                    function_call(
                        one.tool,
                        {"thread": one.items[0].thread, "gate": one.gate},
                        call_id=f"call_{uuid.uuid4().hex}",
                    )
                    for one in wanted.values()
                ]
        return [assistant_message("done")]

    def _tool(self, call: _Call) -> Any:
        """A tool; it needs approval where a gate comes first."""

        async def invoke(context: Any, arguments: str) -> str:
            return await self._do(call, context)

        return FunctionTool(
            name=call.tool,
            description="One part of a recorded program.",
            params_json_schema=_PARAMETERS,
            on_invoke_tool=invoke,
            needs_approval=bool(call.gate),
        )

    async def _do(self, call: _Call, context: Any) -> str:
        """The code of a tool: its steps one after another."""
        kept = context.context
        outcome: Any = None
        for item in call.items:
            step, thread = item.step, item.thread
            own = kept["outcomes"].get(thread, {})
            before = {s: o for s, o in own.items() if self._unit_of(s) != item.unit}
            before |= self._layout.before(step.step, own)
            if step.kind == "gate":
                answer = kept["answers"][thread][step.step]
                outcome = await self._work.passed_async(step.step, answer, thread=thread)
            elif step.kind == "effect":
                key = f"{context.tool_call_id}:{step.step}"
                outcome = await self._work.fire_async(step.step, key, before, thread)
            else:
                outcome = self._work.compute(step.step, before, thread=thread)
            kept["outcomes"].setdefault(thread, {})[step.step] = outcome
        runs = kept["runs"].setdefault(call.node, {})
        node = next(node for node in self._layout.nodes() if node.name == call.node)
        left = {item.mark for item in node.items[node.items.index(call.items[-1]) + 1 :]}
        for mark in dict.fromkeys(item.mark for item in call.items):
            if mark not in left:
                runs[mark] = runs.get(mark, 0) + 1
        return str(outcome)

    def _unit_of(self, step: str) -> str:
        return next(unit.name for unit in self._layout.program if any(s.step == step for s in unit.steps))


class _Stopping(RunHooks):
    """Asks a streamed run to stop behind the turn in which its model or a tool is first called."""

    def __init__(self) -> None:
        self.result: Any = None

    async def on_llm_start(self, *_: Any, **__: Any) -> None:
        self.result.cancel(mode="after_turn")

    async def on_tool_start(self, *_: Any, **__: Any) -> None:
        self.result.cancel(mode="after_turn")


def _calls(node: Any) -> list[_Call]:
    """The tool calls that a node takes."""
    pieces: list[list[Item]] = []
    for item in node.items:
        if not pieces or item.step.kind == "gate":
            pieces.append([])
        pieces[-1].append(item)
    return [
        _Call(node.name if len(pieces) == 1 else f"{node.name}-{number}", node.name, tuple(piece))
        for number, piece in enumerate(pieces, 1)
    ]
