"""Every threshold that the diagnosis and what it rests on compares with, each with where it comes from.

``docs/diagnosis.md`` has the same as a table. Those called proposals are nobody's figure but ours. How much those of
idle time matter was measured on nine real exports with ten devices, as the share of a device's idle time that goes to
another cause, at most. Bounds on what a result lists, and on what is looked at to keep time and memory bounded, stand
where they bound: they decide nothing. So do those by which clocks are aligned and ranks paired.
"""

from nsysan.model.units import NS_PER_MS, NS_PER_US

# the verdict, and when a loss is said

MATERIAL_FRAC = 0.02
"""Of a step: what wins less is said as information, and makes no headline. From nsysan's design."""
NAMED_FRAC = 0.01
"""Of a step: a smaller loss is no finding; the walk still has its share. Proposal: a healthy run idles for as much."""
CRITICAL_FRAC = 0.10
"""Of a step: what wins more is critical. Proposal: the size of the regressions that teams stop a job for."""
BUSY_FRAC = 0.90
"""Of a step: a GPU that computes for so much of it is computing, not waiting (TraceML issue 212)."""
MOSTLY_FRAC = 0.5
"""More than half, where a sentence says "mostly". By the word."""
ONE_DEVICE_FACTOR = 2
"""A loss is one device's where it loses so many times what the median of the others does. Proposal."""
PERSISTENT_FRAC = 2 / 3
"""Of the steps, or of collectives to which any rank is late: what is one rank's so often is not so by chance, for
ranks that take turns have their even share, half at most (TraceML issue 374: 25 % of four ranks, against 100 %)."""
MOST_WAITING_FRAC = 0.9
"""Of what ranks wait for each other: the collectives with most that together hold so much are what lateness is about;
to the rest any rank comes last by a little. Proposal."""
SHORT_GAP_NS = NS_PER_MS
"""A shorter gap is a launch that comes late, a longer one a host busy with something else. Proposal."""

# computing

NON_GEMM_FRAC = 0.30
"""Of compute kernels' time: more in kernels that neither multiply nor attend is worth fusing. Proposal."""
SHORT_KERNEL_NS = 10 * NS_PER_US
"""A kernel this short is over before the next launch call returns (nsys-ai's book of root causes)."""
FEWEST_MODEL_KERNELS = 100
"""So many that multiply show a model where there are no steps: fewer are a trial of one product. Proposal."""
MEMORY_BOUND_FRAC = 0.6
"""Of the memory's bandwidth: kernels that move more are bound by it (the rule of Nsight Compute's speed of light)."""
ABOVE_MEASURED_FACTOR = 1.03
"""So many times a measured ceiling is no rate: shapes and kernels, or ceiling and GPU, do not belong together.
Proposal."""
ABOVE_POSSIBLE_FACTOR = 1.02
"""Likewise of a data sheet's peak, which allows for the boost clock's rounding. Proposal."""
ENOUGH_MEASURED_FRAC = 0.5
"""Of the products' time: so much must be held against measurements before they tell how fast a step computes.
Proposal."""
UNCLASSIFIED_FRAC = 0.01
"""Of kernel time: more in kernels of no known class is said. As NAMED_FRAC."""
UNCLASSIFIED_WARNED_FRAC = 0.5
"""Of kernel time: so much in kernels of no known class is a warning, for it may well communicate. As MOSTLY_FRAC."""

# a rank that is late, and why

LATE_EXPLAINED_FRAC = 0.1
"""Of how late a rank is: what it does longer by less does not explain it. Proposal."""
SLOWER_FACTOR = 1.02
"""Kernels that take so many times those of others are slower: equal GPUs differ by less. Proposal."""
ALIKE_FRAC = 0.05
"""Of a ratio of kernels: those within so much of it are slower by that one ratio. Proposal: what memory bounds
follows the clock less."""
ALIKE_TIME_FRAC = 0.9
"""Of the time of kernels: so much of it slower by one ratio is a clock, and not what single kernels do. Proposal."""
MORE_WORK_FACTOR = 1.05
"""A rank that sends so many times the bytes, or runs so many times the kernels, has more work. Proposal."""
FEWEST_SHARED_KERNELS = 3
"""So many kernels must ranks have in common before their ratio tells of the GPU, and not of one kernel. Proposal."""
ROTATING_FRAC = 0.05
"""Of a step: ranks that take turns being late are said from so much exposed waiting on. Proposal."""
LOW_CLOCK_FACTOR = 1.05
"""A GPU is slow where the others' clock is so many times its own: equal GPUs at work differ by less (Azure's thermal
case has 1.35). Proposal."""
LOW_CLOCK_WARNED_FACTOR = 1.1
"""A clock lower by so much is a warning. As CRITICAL_FRAC: it costs as much of the computing."""
CLOCK_EXPLAINS_FRAC = 0.05
"""A ratio of clocks explains one of kernels that is so near. As ALIKE_FRAC."""
SAMPLED_BUSY_FRAC = 0.5
"""A sample counts as one of a working GPU from so much activity on: clocks fall while there is nothing to do.
Proposal."""
SAMPLE_GAP_FACTOR = 3
"""Samples so many times their usual distance apart have a gap between them, as of a monitor restarted. Proposal."""

# communication

ADVISED_FRAC = 0.10
"""Of exposed communication: transfers with less are no reason for advice about their kind. Proposal."""
SLOW_LINK_FRAC = 0.7
"""Of a measured curve: collectives that reach less have a slow link or a wrong transport. Proposal."""
ABOVE_CURVE_FACTOR = 1.05
"""Transfers so many times faster than their ceiling show that it is too low. Proposal."""
SAME_STREAM_FRAC = 0.5
"""Of the time of communication kernels: on the stream that computes; one stray kernel says nothing (nsys-ai 134)."""
SLOWED_FACTOR = 1.15
"""Beside communication: kernels that take so many times longer contend with it (nccl issue 1433); proposal."""
FEWEST_COMPARED_KERNELS = 3
"""So many must have run beside communication, and so many alone, to be compared. Proposal."""
BESIDE_FRAC = 0.5
"""A kernel ran beside communication where so much of it did; alone where none did; else it tells neither. As
MOSTLY_FRAC."""
STEADY_FRAC = 0.25
"""Kernels that vary by more of their median alone are not alike, whatever their grid: products of other depth.
Proposal."""
UNSTEADY_FRAC = 0.5
"""Beside communication they may vary more: by how long, and with what, they share the GPU. Proposal."""
AT_ONCE_NS = 5 * NS_PER_US
"""What begins so soon after something has ended may have waited for it. Proposal."""
SHORTEST_DELAY_NS = 10 * NS_PER_US
"""Any work needs a few microseconds from its call to its begin. Proposal."""
EVEN_BUBBLE_FRAC = 0.02
"""Of a step: a bubble that is larger than the schedule's by no more needs no other reason. As MATERIAL_FRAC."""
TIE_NS = 20 * NS_PER_US
"""Ends on one clock differ by 10 to 20 us: no claim about who came first is finer. From nsysan's design."""
PURPOSE_FRAC = 0.9
"""Of a communicator's operations: from so many on they are what it is for. Proposal."""
USUAL_NODE_GPUS = 8
"""GPUs of one usual node, and of one NVLink domain (DGX and HGX boards)."""
MOST_NODE_GPUS = 16
"""The most GPUs of a usual node: two boards of eight (DGX-2)."""
SLOW_NVLINK_FRAC = 0.25
"""Of NVLink's bandwidth by the data sheet: a large collective that reaches less goes another way. Proposal: PCIe 5.0
carries a seventh of it."""
LARGE_COLLECTIVE_BYTES = 64 * 1024 * 1024
"""Smaller ones are bound by latency, and say nothing of a link. Proposal."""
ROUNDING_FACTOR = 1.005
"""A busbw above its link by less is what its log rounds to. Proposal."""

# memory and copies

SAVED_BYTES = 64 * 1024 * 1024
"""To the host in one step: far above what is read back to be logged, far below the states of a model. Proposal."""
SAVING_FRAC = 0.5
"""Of the steps: what as many or more of them copy to the host is part of a step, as offloading is. Proposal."""
REPEATED_RUN_KERNELS = 4
"""A run of so many kernels that are among those of the forward in the same order is no accident. Proposal."""
REPEATED_RUN_NAMES = 3
"""Of such a run: of so many names. Proposal."""

# scheduling

FEWEST_PAUSES = 3
"""Two pauses have one distance, which is always the same. By arithmetic."""
SHORTEST_PERIOD_STEPS = 2
"""Ranks that pause in every step have no period. By arithmetic."""
PERIOD_TOLERANCE_FRAC = 0.25
"""Of a period in steps: pauses whose distances differ by no more come periodically (260 to 280 in marin 9205)."""
CONTEXT_FRAC = 0.02
"""Of the window: a process that was not recorded held the GPU for so much of it. As MATERIAL_FRAC."""
FEWEST_REBUILDING_STEPS = 3
"""Of fewer steps nothing tells what is made once from what is made in each. As FEWEST_PAUSES."""
FEWEST_TURNS = 5
"""So many gaps of a GPU must be equally long before that is no chance. Proposal."""
EQUAL_TURNS_FRAC = 0.05
"""Gaps are equally long that differ by no more from their middle. Proposal."""

# idle time by cause: 20 us to 10 or 50 moves 2.5 % of idle time (on nine of the devices 0.6 %); 100 us to 50 or 200,
# 0.3 %; the restart's 1 ms to 0.5 or 2, 2.7 %; the library's 10 ms to 100, nothing, but to 1 ms 13 % on the one export
# in which a library begins 2.5 ms before it frees

HANDOVER_NS = 20 * NS_PER_US
"""The longest that work usually takes to start once its call has returned, and a thread to go on after a wait. From
nsysan's design."""
LONG_CALL_NS = 100 * NS_PER_US
"""A launch, an asynchronous copy or a question about code that takes longer holds the thread up. From nsysan's
design."""
LONGEST_RESTART_NS = NS_PER_MS
"""The longest refill that still counts as the cost of the synchronisation before it. From nsysan's design."""
LIBRARY_START_NS = 10 * NS_PER_MS
"""A freeing call this close to a load of code on its thread is part of a library's start, which takes such a while
(measured on real exports)."""
LOADER_GAP_NS = NS_PER_MS
"""Waiting of the thread is waiting for data only in gaps at least this long. From nsysan's design."""
BATCH_BYTES = 4_096
"""The least that a copy to the device must bring to count as a batch. From nsysan's design."""

# which steps are steady, and where start-up ends

DISTURBED_FRAC = 0.02
"""A step that loses more of its time to loading code, or to the profiler, is none of the steady state. As
MATERIAL_FRAC."""
WARM_UP_FACTOR = 1.5
"""A first step that takes so many medians is still warming up. Proposal."""
SLOW_STEP_FACTOR = 1.2
"""A step that takes so many medians is a slow one. Proposal."""
START_UP_KERNEL_FRAC = 0.01
"""A function with so much of the kernel time belongs to what is repeated. From nsysan's design."""
START_UP_WORK_FRAC = 0.5
"""What holds more of the kernel time is no start-up: a single step, and a sweep, run each function a first time. As
MOSTLY_FRAC."""
FEWEST_BURSTS = 3
"""Two bursts of an optimizer have one distance, which is always the same. As FEWEST_PAUSES."""
SIMILAR_BURST_FRAC = 0.05
"""Of the kernels of a burst: those that differ by no more are of one optimizer. Proposal."""

# what was recorded, and how far it can be trusted

OPAQUE_FRAC = 0.02
"""Of the window: from so much on, whole graphs leave open how busy computing was. As MATERIAL_FRAC."""
UNRESOLVED_FRAC = 0.02
"""Of the window: from so much on, communication not taken apart leaves open how much of it is waiting. As
MATERIAL_FRAC."""
MISSING_FRAC = 0.02
"""Of the records: with more missing, figures are bounds. As MATERIAL_FRAC."""
DOUBTED_PAIRS_FRAC = 0.05
"""Of GPU work: so much without a call, or begun before it, is no accident of the recording. Proposal."""
REPEATED_ROWS_FRAC = 0.01
"""Of the records: so many repeated rows are no accident, and counts and totals are off by them. As NAMED_FRAC."""
HOLLOW_FRAC = 0.9
"""Of a window: one gap that holds so much leaves shares of the window with nothing to say of the rest. Proposal."""
SAME_JOB_FRAC = 0.95
"""Of the kernels: so many must have the name that another recording has in their place, or it is another job.
Proposal."""
SURE_STAGE_FRAC = 0.9
"""A stage is sure where ranges tell so much of it. Proposal."""
UNSURE_STAGE_FRAC = 0.5
"""It is unsure where the order of launch alone tells so much. As MOSTLY_FRAC."""

# logs beside the trace

LOG_AGREES_FRAC = 0.05
"""Of a step, or of an efficiency: a log and a trace that differ by no more agree. Proposal."""
LOG_APART_FACTOR = 1.1
"""From so many times the log's step on, gaps of the trace are more the profiler's than the job's. Proposal."""
LOG_UNIT_DECADES = 3
"""Steps so many powers of ten apart are in other units: s, ms and us. By arithmetic."""
LOG_UNIT_TOLERANCE_DECADES = 0.15
"""A factor of 1.4, for the profiler may slow the run besides. Proposal."""
FINE_CLOCK_COUNT = 50
"""Of what times of day are rounded to: what lies between two lines is told to 2 % from so many on. By arithmetic."""
ENOUGH_CLOCK_COUNT = 20
"""Likewise, to 5 %: for all lines together. By arithmetic."""
UNACCOUNTED_FRAC = 0.05
"""Of the time from step to step: less is what writing the log itself may take (marin issue 9205 has 9.7 %).
Proposal."""
