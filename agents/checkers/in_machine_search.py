"""Runs inside the machine: which of some texts has a pattern, or whether a file has it.

Standard library only. Reads a request as JSON, prints an answer as JSON: `problem` says what is wrong with the file,
`unable` why the question cannot be answered.
"""

import json
import os
import re
import resource
import stat
import sys
from typing import Any

MEMORY = 1 << 30
CPU_SECONDS = 5
AROUND = 80


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    request = json.load(sys.stdin)
    print(json.dumps(search_file(request) if "path" in request else search_texts(request)))


def search_texts(request: dict[str, Any]) -> dict[str, Any]:
    found = (index for index, text in enumerate(request["texts"]) if re.search(request["pattern"], text, re.MULTILINE))
    return {"index": next(found, None)}


def search_file(request: dict[str, Any]) -> dict[str, Any]:
    try:
        descriptor = os.open(request["path"], os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        return {"problem": f"{error.strerror}."}
    info = os.fstat(descriptor)
    if not stat.S_ISREG(info.st_mode):
        return {"problem": "It is not a regular file."}
    if info.st_size > request["limit"]:
        return {"unable": f"The file has {info.st_size} bytes; at most {request['limit']} are searched."}
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(request["limit"])
    try:
        content = data.decode(request["encoding"])
    except UnicodeError:
        return {"problem": f"It is not text in {request['encoding']}."}
    return search_content(content, request["pattern"] or re.escape(request["text"]))


def search_content(content: str, pattern: str) -> dict[str, Any]:
    match = re.search(pattern, content, re.MULTILINE)
    start = max(0, match.start() - AROUND) if match else 0
    return {"found": match is not None, "excerpt": content[start : start + 3 * AROUND], "size": len(content)}


if __name__ == "__main__":
    main()
