"""What a living metastore does to one request; apart from the client, so that thrift is loaded only to speak."""


class Refused(Exception):
    """The metastore answers others, and this one request failed; `reason` is one line."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
