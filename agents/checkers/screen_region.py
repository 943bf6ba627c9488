"""A part of the screen that looks like a stored picture."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from sandboxes.display.screen import Box, Screen

from .base import CannotCheck, Checker, Finding
from .options import Between, ReferenceName
from .references import Reference
from .scene import Scene
from .similarity import Match, Template, mask_of


@dataclass(frozen=True)
class ScreenRegion(Checker):
    """Like a reference picture, `match` percent or more, and at most `margin` pixels away from where it was there.

    `region` is a part of the reference; without it the one that was accepted with the picture. `excluded` areas, these
    and those accepted with the picture, do not count. Both are in the reference's pixels.
    """

    kind: ClassVar[str] = "screen_region"

    reference: ReferenceName
    match: Annotated[float, Between(1, 100)] = 95.0
    margin: Annotated[int, Between(0, 8192)] = 0
    region: Box | None = None
    excluded: tuple[Box, ...] = ()

    def expectation(self) -> str:
        return f"The screen is {self.match:g} % like the reference “{self.reference}”."

    def look(self, scene: Scene) -> Finding:
        reference = scene.reference(self.reference)
        region = self.region or reference.region
        template = self._template(reference, region)
        screen = scene.screen()
        near = self._near(region, screen)
        best = self._best(template, near, region, screen)
        percent = 100 * best.similarity
        place = Box(near.x + best.x, near.y + best.y, region.width, region.height)
        away = "" if place == region else f", {place.x - region.x:+d}, {place.y - region.y:+d} pixels away"
        good = percent >= self.match
        return self.found(good, f"It is {percent:.1f} % like it{away}.", region=place, similarity=best.similarity)

    def _template(self, reference: Reference, region: Box) -> Template:
        if not Box(0, 0, *reference.screen.size).contains(region):
            raise CannotCheck(f"The region is not on the reference picture “{self.reference}”.")
        counts = mask_of(region, self.excluded + reference.excluded)
        if not counts.any():
            raise CannotCheck("The excluded areas leave nothing to compare.")
        return Template(reference.screen.crop(*region).pixels, counts)

    def _near(self, region: Box, screen: Screen) -> Box:
        """The part of the screen in which it is looked for."""
        width, height = screen.size
        left, top = max(0, region.x - self.margin), max(0, region.y - self.margin)
        right = min(width, region.x + region.width + self.margin)
        bottom = min(height, region.y + region.height + self.margin)
        if right - left < region.width or bottom - top < region.height:
            raise CannotCheck(f"The region does not fit on the screen, which has {width}×{height} pixels.")
        return Box(left, top, right - left, bottom - top)

    def _best(self, template: Template, near: Box, region: Box, screen: Screen) -> Match:
        home_x = min(region.x - near.x, near.width - region.width)
        home_y = min(region.y - near.y, near.height - region.height)
        return template.best(screen.crop(*near).pixels, (home_x, home_y))
