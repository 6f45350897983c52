"""What every GPU did when: a picture to move in, and the same as a table of even stretches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.steps_of_device import Step
from nsysan.analysis.timeline import Stretch, Timeline, TimelineLanes
from nsysan.model.idle import Cause
from nsysan.model.packing import pack
from nsysan.model.partition import Part
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_count, format_duration, format_fraction, format_timestamp
from nsysan.report import cells
from nsysan.report.causes import cause_fill, cause_term, explained_gpus, present_causes
from nsysan.report.elements import Cell, Column, Table, Term
from nsysan.report.extremes import alike
from nsysan.report.fills import PAINTS
from nsysan.report.lane_clocks import LaneClock, clock_sentences, lane_clocks
from nsysan.report.look_next import Lead, leads
from nsysan.report.partition import COMPUTE_PARTS, part_term
from nsysan.report.prose import paired, spelled
from nsysan.report.section import Layout, Section, Unanswered, View, unanswered
from nsysan.report.steps import steps_by_gpu
from nsysan.report.terms import TERMS
from nsysan.report.whereabouts import ranks_of_gpus

EVEN_FRAC = 0.05
"""Where shares of computing lie no further apart, none of the stretches is worth a name."""

MARKER_CHARACTERS = 60
"""So much of a step's marker the picture says."""


class Key(msgspec.Struct, frozen=True):
    """A part or cause as the figures under the picture name it; the script fills in how long it took."""

    column: str
    fill: str
    term: Term
    label: str


class TimelineView(View, frozen=True):
    """The picture's ``data`` as JSON, what it shows in words, and its table. ``left_out`` says what is not drawn.

    It also says which clocks the lanes are on. ``causes`` are what idle time is divided into, where that is known,
    ``leads`` the places that buttons lead to, ``picked`` what lanes that lie side by side are picked by: ranks or GPUs,
    None where there is a lane for each at once.
    """

    data: str
    spoken: str
    keys: tuple[Key, ...]
    causes: tuple[Key, ...]
    leads: tuple[Lead, ...]
    picked: str | None
    left_out: tuple[str, ...]
    table: Table


def _build(run: Run) -> TimelineView | Unanswered:
    result = run.results.get(Timeline)
    if isinstance(result, Skipped):
        return unanswered(result, "what the GPUs did when")
    timeline = result.timeline
    clocks = {gpu: clock for gpu, clock in lane_clocks(run).items() if gpu in {lane.id for lane in timeline.lanes}}
    heading = _heading(run, timeline)
    return TimelineView(
        data=_data(run, timeline),
        spoken=f"Timeline of {counted(len(timeline.lanes), 'GPU')}. {heading}. The table below tells the same.",
        keys=tuple(Key(part.value, part.value, part_term(part), spelled(part)) for part in Part),
        causes=_cause_keys(run),
        leads=tuple(lead for lead in leads(run) if lead.place.gpu in {lane.id for lane in timeline.lanes}),
        picked=_picked(run, timeline) if timeline.other_lanes else None,
        left_out=(*clock_sentences(clocks), *_left_out(timeline)),
        table=_table(timeline),
        heading=heading,
        context="Work stands on a line and idle hangs below it, by what the GPU waited for. Where a pixel holds many "
        "kernels, the height of each colour is its share.",
    )


def _data(run: Run, timeline: TimelineLanes) -> str:
    """What the script draws: the lanes with the steps of each GPU, and how columns are filled.

    What tables show needs not travel in the picture as well, and the lane of all GPUs is the sum of theirs.
    """
    is_whole = len(timeline.lanes) == timeline.gpu_count
    all_gpus = None if is_whole else timeline.all_gpus
    drawn = msgspec.to_builtins(replace(timeline, all_gpus=all_gpus, stretches=(), kernel_places=(), part_places=()))
    steps, clocks = steps_by_gpu(run), lane_clocks(run)
    markers: dict[str | None, int] = {None: 0}
    ranks = ranks_of_gpus(run)
    for lane in (*drawn["lanes"], *drawn["other_lanes"]):
        lane["rank"] = ranks.get(lane["id"])
        lane["has_own_clock"] = clocks.get(lane["id"]) is LaneClock.OWN
    for lane in drawn["lanes"]:
        lane["steps"] = _packed_steps(steps[lane["id"]].list, markers) if lane["id"] in steps else None
    fills = _fills(timeline)
    paints = {fill: PAINTS[fill] for fill in fills if fill is not None}
    return msgspec.json.encode({**drawn, "fills": fills, "paints": paints, "markers": list(markers)}).decode()


def _picked(run: Run, timeline: TimelineLanes) -> str:
    """What numbers all the lanes there are."""
    ranks = ranks_of_gpus(run)
    gpus = {lane.id for lane in timeline.lanes} | {lane.id for lane in timeline.other_lanes}
    return "ranks" if gpus <= ranks.keys() else "GPUs"


def _packed_steps(steps: Sequence[Step], markers: dict[str | None, int]) -> dict[str, object] | None:
    """When the first step begins; packed, of each the time since the begin before, its duration and its marker.

    ``markers`` numbers the names of markers, which the steps of all GPUs share.
    """
    if not steps:
        return None
    starts_ns = np.array([step.start_ns for step in steps])
    names = (None if step.marker is None else step.marker[:MARKER_CHARACTERS] for step in steps)
    marked = [markers.setdefault(name, len(markers)) for name in names]
    begun_ns = np.diff(starts_ns, prepend=starts_ns[0])
    numbers = np.column_stack((begun_ns, [step.duration_ns for step in steps], marked))
    return {"start_ns": steps[0].start_ns, "steps": pack(numbers.ravel())}


def _fills(timeline: TimelineLanes) -> list[str | None]:
    """The fill of each column; None for time outside of a window, which is left empty."""
    fills = {**{part.value: part.value for part in Part}, **{cause.value: cause_fill(cause) for cause in Cause}}
    return [fills.get(column) for column in timeline.columns]


def _cause_keys(run: Run) -> tuple[Key, ...]:
    """The causes that occur on any GPU."""
    gpu_time = run.results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        return ()
    present = present_causes([causes for _, causes in explained_gpus(gpu_time.gpus)])
    return tuple(Key(cause.value, cause_fill(cause), cause_term(cause), spelled(cause)) for cause in present)


def _heading(run: Run, timeline: TimelineLanes) -> str:
    """How much of the window's even stretches computing takes, and where least."""
    parts = (*COMPUTE_PARTS, Part.OPAQUE_GRAPH)
    shares = [(_share(stretch, parts), stretch) for stretch in timeline.stretches if stretch.time.window_ns]
    least, where = min(shares, key=lambda entry: entry[0])
    most = max(share for share, _ in shares)
    low, high = format_fraction(least), format_fraction(most)
    length = format_duration(where.end_ns - where.start_ns)
    reached = "" if len(shares) == len(timeline.stretches) else " that a window reaches into"
    span = high if low == high else paired(low, "to", high)
    takes = f"{_subject(run, timeline)} takes {span} of each {length}{reached}"
    if most - least <= EVEN_FRAC:
        return takes
    count = len(alike(least, [share for share, _ in shares], format_fraction))
    if count > 1:
        return f"{takes}, least in {format_count(count)} of {format_count(len(shares))}"
    return f"{takes}, least in the one from {format_timestamp(where.start_ns)} on"


def _subject(run: Run, timeline: TimelineLanes) -> str:
    """What the shares are of: computing, as far as it was recorded, and graphs that may have computed."""
    gpu_time = run.results.get(GpuTime)
    unseen = not isinstance(gpu_time, Skipped) and gpu_time.job.unseen_graph_launch_count
    graphs = " or an opaque graph" if any(stretch.time.opaque_graph_ns for stretch in timeline.stretches) else ""
    return f"{'Recorded computing' if unseen else 'Computing'}{graphs}"


def _share(stretch: Stretch, parts: Iterable[Part]) -> float:
    return sum(stretch.time.of(part) for part in parts) / stretch.time.window_ns


def _left_out(timeline: TimelineLanes) -> Iterator[str]:
    """Which GPUs have no lane, and which ranges are not drawn, in a sentence each."""
    count = len(timeline.lanes)
    if count < timeline.gpu_count:
        yield (
            f"{count} of {format_count(timeline.gpu_count)} GPUs have a lane: those between which the longest waits "
            "are, those of the longest gaps, those that compute least, the one that computes most and the one in the "
            "middle. The first lane is all of them, approximate within its even pieces."
        )
    if timeline.other_lanes:
        yield "Any others lie side by side once they are picked above the picture, without their streams and ranges."
    threads = [thread for lane in timeline.lanes for thread in lane.threads if thread.omitted_count]
    if threads:
        omitted_count = sum(thread.omitted_count for thread in threads)
        longest_ns = max(thread.complete_from_ns for thread in threads) - 1
        drawn = "drawn together: a low bar in a thread's row says how many lie in it."
        if any(not thread.bundle_count for thread in threads):
            drawn = "not drawn: where a thread's row is empty, some may have run."
        yield (
            f"{counted(omitted_count, 'range')} of threads, none longer than {format_duration(longest_ns)}, are {drawn}"
        )


def _table(timeline: TimelineLanes) -> Table:
    several = timeline.gpu_count > 1
    return Table(
        id="stretches",
        caption=f"The window in {len(timeline.stretches)} even stretches: the parts"
        f"{' over all GPUs' if several else ''} as shares of each",
        columns=(
            Column("Begins at", TERMS["session_time"], unit="ns"),
            Column("lasts", TERMS["lasts"], numeric=True, unit="ns"),
            *(Column(spelled(part), part_term(part), numeric=True, unit="fraction") for part in Part),
        ),
        rows=tuple(_row(stretch) for stretch in timeline.stretches),
        source="timeline.stretches[]",
        fold="even stretches",
    )


def _row(stretch: Stretch) -> tuple[Cell, ...]:
    window_ns = stretch.time.window_ns
    shares = (stretch.time.of(part) / window_ns for part in Part) if window_ns else (None for _ in Part)
    return (
        cells.moment(stretch.start_ns),
        cells.duration(stretch.end_ns - stretch.start_ns),
        *(cells.fraction(share, "no window") for share in shares),
    )


SECTION = Section("timeline", 45, "Timeline", "What the GPUs did when", _build, Layout.WIDE)
