"""What the processes of `driver.py` begin with: all that they would import one by one."""

import os

import django
from anthropic import Anthropic

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
django.setup()

from agents import runner  # noqa: E402, F401
from agents.checkers import registry as checkers  # noqa: E402
from agents.providers import registry as providers  # noqa: E402
from agents.tools import registry as tools  # noqa: E402

Anthropic(api_key="nobody's").beta.messages  # noqa: B018
checkers.kinds(), providers.kinds(), tools.all_tools()
