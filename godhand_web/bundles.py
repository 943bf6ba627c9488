"""Many small style sheets and scripts, sent as one of each.

An address says what is in it and a hash of that, so every process that is asked can make it, and no browser asks twice.
"""

import gzip
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from posixpath import dirname, normpath
from typing import Literal
from urllib.parse import quote

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.templatetags.static import static
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from . import inlining

Kind = Literal["style.css", "script.js"]
MEDIA_TYPES: dict[Kind, str] = {"style.css": "text/css; charset=utf-8", "script.js": "text/javascript; charset=utf-8"}
SOURCE = re.compile(r"(?:css|js)/[\w/-]+\.(?:css|js)")
IMPORT = re.compile(r"""^import [^;]*?["'](\.[^"']+)["'];""", re.MULTILINE)
FOREVER = "public, max-age=31536000, immutable"
MOST = 200


@dataclass(frozen=True)
class Bundle:
    kind: Kind
    paths: tuple[str, ...]
    data: bytes

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()[:16]

    @cached_property
    def packed(self) -> bytes:
        return gzip.compress(self.data, 9, mtime=0)

    @property
    def address(self) -> str:
        return f"{reverse('bundle', args=[self.digest, self.kind])}?of={quote(','.join(self.paths), safe='/,')}"


@lru_cache(MOST)
def bundle(kind: Kind, paths: tuple[str, ...]) -> Bundle:
    """Raises ValueError when one of the paths is no source of ours, or cannot be put together with others."""
    if not paths or not all(map(SOURCE.fullmatch, paths)):
        raise ValueError(f"{paths} are no sources.")
    made: Callable[..., str] = _styles if kind == "style.css" else inlining.script
    try:
        return Bundle(kind, paths, made(*paths).encode())
    except OSError as error:
        raise ValueError(str(error)) from None


def _styles(*paths: str) -> str:
    return inlining.linked_style(*paths, address=static)


@lru_cache(MOST)
def imported(module: str) -> list[str]:
    """The module and, in turn, what it imports; as paths of static files."""
    found = [module]
    for path in found:
        file = inlining.STATIC / path
        text = file.read_text() if file.is_file() else ""
        names = [normpath(f"{dirname(path)}/{name}") for name in IMPORT.findall(text)]
        found += [name for name in dict.fromkeys(names) if name not in found]
    return found


@login_not_required
@require_safe
def show(request: HttpRequest, digest: str, file: str) -> HttpResponse:
    """With another hash than it has here, which comes from an older or newer page, nobody may keep it."""
    known = next((known for known in MEDIA_TYPES if known == file), None)
    if known is None:
        raise Http404
    try:
        found = bundle(known, tuple(request.GET.get("of", "").split(",")))
    except ValueError:
        raise Http404 from None
    packed = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(found.packed if packed else found.data, content_type=MEDIA_TYPES[known])
    response.headers["Cache-Control"] = FOREVER if digest == found.digest else "no-cache"
    patch_vary_headers(response, ["Accept-Encoding"])
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    return response
