"""How each system is spoken to: one room (a sub-package) a system, and what the rooms share.

A room holds everything that nestsync knows about a system and is found by its folder's name; nothing
outside the room names it. Adding a system adds a room here and a dialect under `core`, and nothing else.
"""

from nestsync.catalogs.registry import Room, register, room, systems

__all__ = ["Room", "register", "room", "systems"]
