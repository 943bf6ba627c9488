"""Parts of a screen."""

from sandboxes.display.screen import Box, Screen

from .base import CannotCheck


def part_of(screen: Screen, region: Box | None) -> Screen:
    """All of it without a region. Raises CannotCheck for a region that is not wholly on the screen."""
    if region is None:
        return screen
    try:
        return screen.crop(*region)
    except ValueError as error:
        raise CannotCheck(str(error)) from None


def moved(box: Box, by: Box | None) -> Box:
    """A box of a part of the screen, as a box of the screen."""
    return box if by is None else box._replace(x=box.x + by.x, y=box.y + by.y)
