"""Many small files are sent as one, under a name that says what is in it."""

import gzip
import re

import pytest
from django.conf import LazySettings
from django.template import Context, Template
from django.test import Client

from godhand_web.bundles import bundle

STYLES = '<link rel="stylesheet" href="/static/css/fonts.css">\n<link rel="stylesheet" href="/static/css/base.css">'
SCRIPTS = (
    '<script type="module" src="/static/js/pages/shell.js"></script>'
    '<script type="module" src="/static/js/pages/live.js"></script>'
)


def bundled(html: str) -> str:
    return Template("{% load bundling %}{% bundle %}" + html + "{% endbundle %}").render(Context())


def test_it_makes_one_of_many() -> None:
    page = bundled(f"{STYLES}<meta name=robots>{SCRIPTS}")
    assert page.count("<link") == page.count("<script") == page.count("<meta name=robots>") == 1
    assert "?of=css/fonts.css,css/base.css" in page
    assert "?of=js/pages/shell.js,js/pages/live.js" in page


def test_it_leaves_everything_alone_while_developing(settings: LazySettings) -> None:
    settings.DEBUG = True
    assert bundled(STYLES + SCRIPTS) == STYLES + SCRIPTS


def test_what_it_names_may_be_kept_forever(client: Client) -> None:
    found = re.search(r'href="([^"]+)"', bundled(STYLES))
    assert found
    plain = client.get(found[1])
    packed = client.get(found[1], headers={"Accept-Encoding": "gzip, br"})
    assert "immutable" in plain.headers["Cache-Control"]
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert b'url("/static/vendor/inter-5.3.0/' in plain.content


def test_a_page_of_another_version_gets_what_there_is_and_keeps_it_not(client: Client) -> None:
    response = client.get("/assets/0000000000000000/style.css?of=css/tokens.css")
    assert (response.status_code, response.headers["Cache-Control"]) == (200, "no-cache")


WRONG = (
    "style.css?of=css/../../godhand_web/settings.py",
    "style.css?of=css/none.css",
    "style.css",
    "other?of=css/base.css",
)


@pytest.mark.parametrize("wrong", WRONG)
def test_it_reads_nothing_but_sources(client: Client, wrong: str) -> None:
    assert client.get(f"/assets/0/{wrong}").status_code == 404


def test_scripts_that_cannot_be_one_are_asked_for_at_once() -> None:
    page = bundled('<script type="module" src="/static/js/pages/machine.js"></script>')
    assert page.count('<script type="module" src="/static/js/pages/machine.js"></script>') == 1
    assert page.count('rel="modulepreload"') > 20
    assert "novnc" in page


def test_a_shared_module_is_there_once() -> None:
    text = bundle("script.js", ("js/pages/shell.js", "js/pages/trace.js")).data.decode()
    assert text.count('modules["js/parts/toasts.js"] = ') == 1


def test_it_styles_no_whole_page_by_what_is_somewhere_in_it(settings: LazySettings) -> None:
    """A browser would look at every element again, whenever any of them changes."""
    whole = re.compile(r"(?:^|[\s,}])(?:html|body|main|\.shell|\.page)[\w.-]*:has\(", re.MULTILINE)
    sheets = (settings.BASE_DIR / "static/css").glob("*.css")
    assert [sheet.name for sheet in sheets if whole.search(sheet.read_text())] == []
