"""Errors of the library as exceptions."""

from . import _capi
from ._capi import library


class Error(Exception):
    """What a call failed with.

    status: the exit code of the command line (1 guest, 2 usage, 3 device, 4 budget).
    detail: a number of LW_DETAIL_... in lanewise.h.
    """

    status = 0

    def __init__(self, message, detail=0):
        super().__init__(message)
        self.detail = detail


class GuestError(Error):
    """A kernel was at fault, or a program was rejected.

    result: of the launch that faulted, else None.
    diagnostics: of the program that was rejected, (line, column, message) each.
    """

    status = 1
    result = None
    diagnostics = ()


class UsageError(Error):
    """Wrong arguments, or host files that cannot be used."""

    status = 2


class DeviceError(Error):
    """No such device, a driver failure, a lost device."""

    status = 3


class BudgetError(Error):
    """Time or steps used up, or the launch was cancelled."""

    status = 4
    result = None


_KINDS = {kind.status: kind for kind in (GuestError, UsageError, DeviceError, BudgetError)}


def diagnostics():
    """What the last load or check of this thread found: (line, column, message) each."""
    found = []
    for index in range(library.lw_last_diagnostic_count()):
        d = _capi.Diagnostic()
        if library.lw_last_diagnostic(index, d) == 0:
            found.append((d.line, d.column, d.message.decode()))
    return found


def raise_error(status, message, detail, result=None):
    error = _KINDS[status](message.decode(), detail)
    if result is not None:
        error.result = result
    raise error


def check(status):
    """Raises what the status of the call just made says."""
    if status == 0:
        return
    error = _KINDS[status](library.lw_last_error().decode(), library.lw_last_detail())
    if status == GuestError.status:
        error.diagnostics = diagnostics()
    raise error
