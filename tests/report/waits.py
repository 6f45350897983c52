"""What ranks and stages waited for each other, in runs made by hand."""

from __future__ import annotations

from nsysan.analysis.pipelines import PipelineRow, Pipelines
from nsysan.analysis.rank_waits import RankWait, RankWaits
from nsysan.analysis.step_waits import StepWaits, StepWaitsOfRank
from nsysan.model.results import Result

RANK_WAITS = RankWaits((RankWait(0, 1, 100_000_000), RankWait(1, 0, 20_000_000)), rank_waits_omitted_ns=0)
# 30 and 34 ms of 4 steps of 40 ms; two stages and four parts make 1 / 5
PIPELINES = Pipelines((PipelineRow((0, 1), 4, 4, (30_000_000, 34_000_000), 0.2, 0.2),), pipelines_omitted_count=1)
STEP_WAITS = StepWaits(
    (StepWaitsOfRank(0, "gpu0/p100", 4, 6e6, 3e6, 1e6), StepWaitsOfRank(1, "gpu1/p100", 4, 0, 3e6, 0))
)
WAITS: tuple[Result, ...] = (RANK_WAITS, PIPELINES, STEP_WAITS)
