"""What can go wrong with a machine. Every message is a sentence that may be shown to a person.

SandboxError
├── Unavailable      this backend, image or tool cannot be used here; the sentence names the fix
│   ├── NotBuilt     the image has not been built on this host yet
│   └── DiskFull     the host has too little room left to save it
├── BuildFailed      an image could not be built
├── Gone             the machine is not there any more, or does not answer
│   └── Ended        its process has ended: nothing will ever answer
├── Refused          the machine answered and said no: bad token, bad request, unknown user
├── TimedOut         a command took longer than it was given; its whole process tree is dead
└── OutputLimit      a command or file gave more bytes than the caller allowed

Taken is no fault of the machine, so it is none of these: somebody else drives it now, and nothing was sent.

Missing files, directories in place of files and forbidden paths are Python's own FileNotFoundError,
IsADirectoryError and PermissionError. A program that is missing or fails is a result, not an error.
"""


class SandboxError(Exception):
    pass


class Unavailable(SandboxError):
    pass


class NotBuilt(Unavailable):
    pass


class DiskFull(Unavailable):
    def __init__(self) -> None:
        super().__init__(
            "No room for a snapshot, the host's disk is full: delete some, or traces in Settings → Space, or give "
            "GODHAND_HOME more room."
        )


class BuildFailed(SandboxError):
    pass


class Gone(SandboxError):
    pass


class Ended(Gone):
    pass


class Refused(SandboxError):
    pass


class TimedOut(SandboxError):
    pass


class OutputLimit(SandboxError):
    pass


class Taken(Exception):
    pass
