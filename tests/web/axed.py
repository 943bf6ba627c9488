"""The pages that axe looks at in a real Chromium, by the names of their addresses."""

import re

from django.urls import Resolver404, resolve

from . import test_accounts_in_browser as accounts
from . import test_branches_in_browser as branches
from . import test_compare_in_browser as compare
from . import test_exports_in_browser as exports
from . import test_link_pages_in_browser as links
from . import test_pages_in_browser as pages
from . import test_shares_in_browser as shares
from . import test_tasks_in_browser as tasks
from . import test_trace_page_in_browser as traces

ADDRESSES = (
    *(*pages.PAGES.values(), *pages.GREETINGS, *accounts.PAGES.values(), accounts.LINK, *tasks.PAGES.values()),
    *(*traces.PAGES, traces.LIST, *compare.PAGES, *branches.PAGES, *exports.PAGES, *shares.PAGES, *shares.SHARED),
    *links.OWN,
)


def name_of(address: str) -> str:
    path = re.sub(r"\{.+?\}", "1", address.partition("?")[0])
    try:
        return resolve(path).url_name or ""
    except Resolver404:
        return ""


AXED = {name_of(address) for address in ADDRESSES}
