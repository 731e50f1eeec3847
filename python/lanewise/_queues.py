"""Queues and events: work that runs while the caller goes on."""

import ctypes as c

from . import _args, _capi
from ._capi import library
from ._errors import check
from ._objects import _finish, _Handle, _made, _options, _pack


class Event(_Handle):
    """Work that was put into a queue."""

    _release = library.lw_event_release

    def __init__(self, handle, keepers=(), data=None, raised=None):
        super().__init__(handle)
        self._keepers, self._data, self._raised = keepers, data, raised

    def __repr__(self):
        return f"<lanewise.Event, {'done' if self.done() else 'not done'}>"

    def done(self, timeout=0.0):
        """Whether the work has ended, after at most so many seconds."""
        ended = c.c_int()
        check(library.lw_event_wait_for(self._handle, timeout, ended))
        return bool(ended.value)

    def wait(self):
        """Waits for the work. The Result of a launch, the bytes of a read, None of anything else;
        errors are those that the call itself would have raised."""
        out = c.c_void_p()
        status = library.lw_event_wait(self._handle, c.byref(out))
        self._keepers = ()
        result = _finish(status, out)
        if self._raised:
            raise self._raised[0]
        return result if self._data is None else bytes(self._data)

    @property
    def times_ns(self):
        """When the work began and ended, in nanoseconds as time.monotonic_ns() counts; waits for it."""
        began, ended = c.c_uint64(), c.c_uint64()
        check(library.lw_event_times(self._handle, began, ended))
        return began.value, ended.value


class Queue(_Handle):
    """First in, first out, with a thread of its own; Device.queue makes one.

    As a context manager it waits for its work at the end of the block."""

    _release = library.lw_queue_release

    def __init__(self, device):
        super().__init__(_made(library.lw_queue_create, device._handle))
        self._device = device
        self._unfinished = []  # events whose memory the library still needs

    def __repr__(self):
        unfinished = sum(not event.done() for event in self._unfinished)
        return f"<lanewise.Queue, {unfinished} not done>"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.finish()

    def _put(self, call, *arguments, keepers=(), data=None, raised=None):
        event = Event(_made(call, self._handle, *arguments), keepers, data, raised)
        self._unfinished = [e for e in self._unfinished if not e.done()] + [event]
        return event

    def launch(self, kernel, grid, block, *args, shared=0, memcheck="alloc", wave="auto",
               timeout=0.0, policies=None, cancel=None):  # fmt: skip
        """As Kernel.launch, but returns the Event at once."""
        options = _options(grid, block, shared, memcheck, wave, timeout, policies, cancel)
        packed, keepers = _pack(args, kernel.params, host=False)
        return self._put(
            library.lw_queue_launch, kernel._handle, options, packed, len(args),
            keepers=(kernel, keepers, cancel),
        )  # fmt: skip

    def write(self, buffer, data, offset=0):
        """Copies an array to a buffer; the array may change as soon as this returns."""
        address, size, keeper, _ = _args.pin(data)
        return self._put(
            library.lw_queue_write, buffer._handle, offset, address, size, keepers=(buffer, keeper)
        )

    def read(self, buffer, size=None, offset=0):
        """Bytes of a buffer, by Event.wait(); all from `offset` on when no size is given."""
        size = len(buffer) - offset if size is None else size
        if size < 0 or offset < 0:
            raise ValueError("offset and size are at least 0")
        out = bytearray(size)
        event = self.read_into(buffer, out, offset)
        event._data = out
        return event

    def read_into(self, buffer, data, offset=0):
        """Fills an array, which must not be used before the event."""
        address, size, keeper, read_only = _args.pin(data)
        if read_only:
            raise ValueError("the array cannot be written")
        return self._put(
            library.lw_queue_read, buffer._handle, offset, address, size, keepers=(buffer, keeper)
        )

    def call(self, function):
        """Calls a function without arguments on the queue's thread. It may put work in, but not
        wait for the queue. What it raises comes out of Event.wait()."""
        raised = []

        def run(_):
            try:
                function()
            except BaseException as error:  # ctypes would print it and go on
                raised.append(error)

        callback = _capi.QueueCallback(run)
        return self._put(
            library.lw_queue_call, callback, None, keepers=(callback,), raised=raised
        )

    def after(self, event):
        """Later work begins when the event, of any queue, has happened."""
        check(library.lw_queue_wait_event(self._handle, event._handle))

    def finish(self):
        """Waits until everything that was put in is done."""
        check(library.lw_queue_finish(self._handle))
        self._unfinished = []
