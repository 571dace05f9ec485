"""The event types of the world, in a fixed order (documents depend on it)."""

from brido.corpus.world.events import law, life, work
from brido.corpus.world.events.model import EventType, Option

EVENTS: tuple[EventType, ...] = (*law.EVENTS, *work.EVENTS, *life.EVENTS)

__all__ = ["EVENTS", "EventType", "Option"]
