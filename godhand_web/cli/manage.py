"""`./godhand manage …`: Django's own commands, as the user that the web runs as."""

import os

from .place import ROOT, as_service, prepare, python


def main(arguments: list[str]) -> int:
    prepare()
    argv = as_service(python("manage.py", *arguments))
    os.chdir(ROOT)
    os.execvp(argv[0], argv)
