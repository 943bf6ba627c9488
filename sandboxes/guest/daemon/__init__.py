"""The daemon inside every machine: commands, shells and files for whoever knows the machine's token.

Standard library only, because it is copied into the image. Three kinds of process: the server (one thread per
connection), a single-threaded nursery that only forks, and workers that act as the machine's users.
`docs/guest.md` is the contract.
"""

# pathlib, contextlib and argparse would cost every machine some 20 ms each when it boots.
