"""What can go wrong with a trace. Every message is a sentence that may be shown to a person.

TraceError
├── Fenced      the writer has lost its right to this branch; nothing was written
├── Closed      the action has another fate already; nothing was written
├── DiskFull    there is no room left; nothing was half written
├── Damaged     a stored file is missing, or is not what its name says
├── Unreadable  written in a version of the format that is not known here
├── BadBundle   a file that was given is no bundle, or breaks a rule for them; nothing was taken in
├── NotPossible an export that cannot be made here, or of this
└── Cancelled   somebody stopped the job, or took it over; nothing is left of it
"""


class TraceError(Exception):
    pass


class Fenced(TraceError):
    pass


class Closed(TraceError):
    pass


class DiskFull(TraceError):
    pass


class Damaged(TraceError):
    pass


class Unreadable(TraceError):
    pass


class BadBundle(TraceError):
    pass


class NotPossible(TraceError):
    pass


class Cancelled(TraceError):
    pass
