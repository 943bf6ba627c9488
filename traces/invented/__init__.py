"""A made-up desktop, and what an agent does on it: for `generate.py`."""
