"""When something recurs: cron lines, plain words and single dates, in a time zone, back and forth."""

from .rule import Rule as Rule
from .rule import read as read
from .saying import say as say
