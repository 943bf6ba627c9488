"""Runs the folder it lies in as a package, whatever it is called there: isolated Python looks for none by itself."""

# ruff: noqa: PTH120

import os
import sys

if __name__ == "__main__":
    home, package = os.path.split(os.path.dirname(__file__))
    sys.path.append(home)
    __import__(f"{package}.server", fromlist=["main"]).main()
