"""What a backend is known not to do: its kind, the check, and why. A gap that passes fails."""

KNOWN_GAPS: dict[str, dict[str, str]] = {}
