"""The event types of the world, in a fixed order (documents depend on it)."""

from brido.world.events.accidents import CRASH, FIRE
from brido.world.events.justice import COURT, PROTEST
from brido.world.events.model import EventType, Option
from brido.world.events.plans import COUNCIL, RESEARCH
from brido.world.events.prizes import AWARD, MATCH
from brido.world.events.relief import HEALTH, WEATHER
from brido.world.events.trade import BUSINESS, TRANSPORT

EVENTS: tuple[EventType, ...] = (
    COURT,
    CRASH,
    FIRE,
    PROTEST,
    BUSINESS,
    COUNCIL,
    RESEARCH,
    TRANSPORT,
    MATCH,
    WEATHER,
    AWARD,
    HEALTH,
)

__all__ = ["EVENTS", "EventType", "Option"]
