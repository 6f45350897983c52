"""What tables can lead to in the timeline: GPUs that have a lane there, and the longest run of a kernel."""

from __future__ import annotations

from nsysan.analysis.timeline import Timeline
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.report.elements import Place


def gpus_with_lane(run: Run) -> frozenset[str]:
    """The ids of the GPUs that the timeline shows; none where there is no timeline."""
    timeline = run.results.get(Timeline)
    return frozenset() if isinstance(timeline, Skipped) else frozenset(lane.id for lane in timeline.timeline.lanes)


def kernel_places(run: Run) -> dict[str, Place]:
    """By the hash of a kernel's name where its longest run is shown."""
    timeline = run.results.get(Timeline)
    if isinstance(timeline, Skipped):
        return {}
    return {
        place.name_hash: Place("kernel", place.gpu, place.start_ns, place.start_ns + place.duration_ns)
        for place in timeline.timeline.kernel_places
    }
