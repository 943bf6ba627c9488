"""{% bundle %} … {% endbundle %}: the style sheets in it become one, and so do the scripts. With DEBUG all stay."""

import re

from django import template
from django.conf import settings
from django.template.base import NodeList, Parser, Token
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from ..bundles import Kind, bundle, imported

register = template.Library()

STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)">\n?')
SCRIPT = re.compile(r'<script type="module" src="([^"]+)"></script>\n?')
TAGS: dict[Kind, str] = {
    "style.css": '<link rel="stylesheet" href="{}">',
    "script.js": '<script type="module" src="{}"></script>',
}


@register.tag("bundle")
def bundle_tag(parser: Parser, token: Token) -> template.Node:
    inner = parser.parse(("endbundle",))
    parser.delete_first_token()
    return BundleNode(inner)


class BundleNode(template.Node):
    def __init__(self, inner: NodeList) -> None:
        self.nodelist = inner

    def render(self, context: template.Context) -> SafeString:
        inner = self.nodelist.render(context)
        if settings.DEBUG:
            return inner
        styles, scripts = (tuple(map(_path, found.findall(inner))) for found in (STYLE, SCRIPT))
        rest = SCRIPT.sub("", STYLE.sub("", inner)).strip()
        return mark_safe(f"{_as_one('style.css', styles)}\n{_as_one('script.js', scripts)}\n{rest}")


def _path(address: str) -> str:
    return address.removeprefix(static(""))


def _as_one(kind: Kind, paths: tuple[str, ...]) -> SafeString:
    """What cannot be put together stays as it is; then all that scripts import is asked for at once."""
    if not paths:
        return SafeString()
    try:
        return format_html(TAGS[kind], bundle(kind, tuple(dict.fromkeys(paths))).address)
    except ValueError:
        early = dict.fromkeys(name for path in paths for name in imported(path)) if kind == "script.js" else ()
        preloads = format_html_join("\n", '<link rel="modulepreload" href="{}">', ((static(name),) for name in early))
        return preloads + format_html_join("\n", TAGS[kind], ((static(path),) for path in paths))
