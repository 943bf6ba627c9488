"""A worker that is told to stop works no further: between two of its own acts it lets a branch go, for the next one."""

from threading import Event

LEAVES = "This worker stops; another one goes on."

begun = Event()
