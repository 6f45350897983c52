"""The definitions of columns of tables that are no quantities of the trace's own."""

from __future__ import annotations

from nsysan.report.elements import Term

COLUMN_TERMS = (
    Term("count", "Count", "How many of what the row names there were, over all that the table is about."),
    Term("names", "Names", "How many different kernels the row sums up."),
    Term("gpu_count", "GPUs", "On how many GPUs the kernel ran."),
    Term("lasts", "Lasts", "How long from its begin to its end."),
    Term("longest", "Longest", "The longest single one."),
    Term("worst_step", "Worst", "How long the longest steady step takes."),
    Term("most_on_gpu", "Most", "The largest share that a GPU has, and which it is where one alone has it."),
    Term("cause_time", "Lasts", "Time of the window in which the GPU idles by this cause."),
    Term(
        "stage_time",
        "Time of a stage",
        "Time of the GPU in the mean steady step that belongs to the stage, idle time included. Stages and what "
        "belongs to none add up to the step.",
    ),
    Term("report_number", "Report", "The number of the report the row is from, as the inputs are counted from 0 on."),
    Term("process", "Process", "The id that the operating system gave the process."),
    Term("cuda_id", "CUDA id", "The number by which the process itself knows the GPU."),
    Term(
        "launch_rate",
        "Launches",
        "Calls of the thread that launch kernels, graphs, copies or memsets, and how many of them there are a second.",
    ),
    Term("in_calls", "In calls", "Time that the thread spends inside such calls. Calls inside of calls count once."),
    Term("launching_calls", "Launching calls", "Calls that launched work on the device, and how long they take."),
    Term(
        "host_waits",
        "Waits for a device",
        "Waits of the host for the device: their number, and how much of them passes while it works, which costs "
        "nothing, and while it idles.",
    ),
    Term(
        "model_flop",
        "FLOP a token",
        "Operations that forward and backward of the model need a token, by either convention of attention.",
    ),
    Term("hfu", "HFU", "As MFU, with the operations of what is computed again in the backward."),
    Term(
        "mfu_of_measured", "MFU of measured", "As MFU and HFU, against the fastest product measured, not a data sheet."
    ),
    Term(
        "multiplying_rate",
        "Kernels that multiply",
        "FLOP of a step, with what is computed again, over the time of kernels that multiply matrices on each GPU.",
    ),
    Term("parallel_degree", "Degree", "How many ranks share tensors, stages, experts, sequences or the batch."),
    Term("layout_sends", "Sends a step", "Bytes that a GPU sends in a step, by the formulas of each kind of layout."),
    Term("layout_takes", "Takes", "What is sent, over the rates that links were measured to reach."),
    Term(
        "layout_holds",
        "Holds",
        "Weights, gradients and optimizer states at 16 bytes a parameter, and activations, by formula.",
    ),
    Term(
        "saves",
        "Saves",
        "The share of the cost that is won without this cause, were it the only one, and the price of that an hour.",
    ),
    Term("gap_count", "Gaps", "Stretches of the window in which a GPU idles: how many are so long, and their sum."),
    Term("times_as_long", "Times", "The median beside communication over the median alone."),
    Term("least_occupancy", "Least", "The least occupancy of any launch of the kernel."),
    Term("copied_bytes", "Bytes", "What all copies of the row moved together."),
    Term("file_size", "Size", "Bytes of the file that was read."),
    Term("capture", "Capture", "How long the profiler recorded."),
    Term("samples", "Samples", "How many samples tell of it, and their share of all samples of that kind."),
    Term("turns", "Turns", "How often the GPU ran the context, and for how long of that recorded work idled."),
    Term("pipeline_size", "Stages and steps", "The stages of the pipeline, and the steps that its figures sum up."),
    Term("log_lines", "Lines", "The line of the log that says so first, or how many lines tell of it."),
    Term(
        "logged_time", "Time in a log", "As the program printed it that did the work: its own clock, not the trace's."
    ),
    Term("mean_size", "Mean size", "Mean bytes of a copy."),
    Term("over_gpus", "Least and most", "The share of the GPU that has least, and of the one that has most."),
    Term("sampled", "Mean and most", "Over all samples of the counter."),
    Term("network_port", "Port", "The port of the network adapter, as the profiler numbers it."),
    Term(
        "logged_step",
        "Step in a log",
        "Median step as the log tells it, beside the traces' mean steady step. From line to line is the mean time "
        "between lines; a part of it may lie outside the log's own timer.",
    ),
    Term("logged_samples", "Samples a second", "Sequences or images a second, as the log counts them."),
    Term(
        "monitored",
        "Monitored",
        "Of the samples that a monitor took of the GPU: their number, the median clock at work, the highest "
        "temperature, and means of the rest. Time with any kernel is no evidence of MFU.",
    ),
    Term("scheduled", "Accounted", "As the scheduler accounts the job, not as the trace shows it."),
    Term("memory_share", "Of all", "The peak over all memory that the GPU has."),
    Term("memory_events", "Events", "Recorded allocations and frees, and what was in use after the last of them."),
    Term(
        "in_steady_steps",
        "In steady steps",
        "Summed over the steady steps of the device: calls, bytes, and how many steps hold any.",
    ),
    Term("fault_time", "They take", "Time of the GPU's page faults, summed."),
)
