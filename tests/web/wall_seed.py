"""Lays a picture of a machine out as the worker that goes round would. Run by `site.py`."""

import io
import sys

from PIL import Image

from sandboxes import thumbnails

if __name__ == "__main__":
    match sys.argv[1:]:
        case ["picture", machine_id, colour]:
            buffer = io.BytesIO()
            Image.new("RGB", (480, 300), colour).save(buffer, "WEBP")
            thumbnails.keep(machine_id, buffer.getvalue())
        case ["clear"]:
            thumbnails.clear()
