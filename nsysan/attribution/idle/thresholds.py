"""The thresholds of the rules on idle time, all in one place.

How much they matter was measured on nine real exports with ten devices, as the share of a device's idle time that goes
to another cause, at most: 20 us to 10 or 50, 2.5 % (on nine of the devices 0.6 %); 100 us to 50 or 200, 0.3 %; the
restart's 1 ms to 0.5 or 2, 2.7 %; the library's 10 ms to 100, nothing, but to 1 ms 13 % on the one export in which a
library begins 2.5 ms before it frees.
"""

from nsysan.model.units import NS_PER_MS, NS_PER_US

HANDOVER_NS = 20 * NS_PER_US
"""The longest that work usually takes to start once its call has returned, and a thread to go on after a wait."""
LONG_CALL_NS = 100 * NS_PER_US
"""A launch, an asynchronous copy or a question about code that takes longer holds the thread up."""
LONGEST_RESTART_NS = NS_PER_MS
"""The longest refill that still counts as the cost of the synchronisation before it."""
LIBRARY_START_NS = 10 * NS_PER_MS
"""A freeing call this close to a load of code on its thread is part of a library's start, which takes such a while."""
LOADER_GAP_NS = NS_PER_MS
"""Waiting of the thread is waiting for data only in gaps at least this long."""
BATCH_BYTES = 4_096
"""The least that a copy to the device must bring to count as a batch."""
