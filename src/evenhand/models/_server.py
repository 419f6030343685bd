"""One request to a server and what its answer means: scores, a refused text, or an error for all.

A 400 (413, 422) is about the text unless it says that the key or the attribute is wrong, and so is
a 500 or a time-out that stays while the server answers others. A batch that is refused is asked for
text by text. What a server says is shown without the texts it was asked for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from evenhand.core.errors import BadInput, EvenhandError
from evenhand.models._address import KEY, Address
from evenhand.models._dialect import Dialect, message_of, parsed
from evenhand.models._http import Line, Reply, Unanswered
from evenhand.models._refusals import Refused, without_text

_ABOUT_TEXT = (400, 413, 422)

Answers = dict[str, float | Refused]


@dataclass(frozen=True)
class Server:
    """A server, its dialect, and the attribute it is asked for."""

    dialect: Dialect
    address: Address
    attribute: str

    @property
    def name(self) -> str:
        """Kind and URL, without the key."""
        return f"{self.dialect.kind}:{self.address.url}"

    def ask(self, line: Line, texts: list[str]) -> Answers:
        """A score or a refusal for each of the texts of one batch."""
        to = self.address
        body = json.dumps(self.dialect.body(texts, self.attribute, to)).encode()
        try:
            reply = line.post(self.dialect.path(to), self.dialect.headers(to), body)
        except Unanswered as error:
            if not error.one:
                raise
            why = str(error)
        else:
            if reply.status == 200:
                content = parsed(reply.body, self.name)
                read = self.dialect.read(content, len(texts), self.attribute, self.name)
                return dict(zip(texts, read, strict=True))
            why = self._refusal(reply, texts)
        if len(texts) == 1:
            return {texts[0]: Refused(without_text(why, texts[0]))}
        return {text: self.ask(line, [text])[text] for text in texts}

    def _refusal(self, reply: Reply, texts: list[str]) -> str:
        """Why a text is refused; raises where the reason is not the text."""
        said = self.address.hide(message_of(reply.body))
        status = self.address.hide(f"{reply.status} {reply.reason}")
        shown = said
        for text in texts:
            shown = without_text(shown, text)
        if reply.status in (401, 403) or "api key not valid" in said.casefold():
            raise EvenhandError(
                f"{self.name}: the server does not let us in: {shown or status}. Set the key in "
                f"{KEY}"
            )
        if reply.status not in _ABOUT_TEXT:
            raise BadInput(
                f"{self.name}: the server answered {status}{f' ({shown})' if shown else ''}; "
                f"expected one that speaks {self.dialect.kind}'s format at this URL"
            )
        others = self.dialect.refused_attribute(said)
        if others:
            raise BadInput(f"{self.name}: no attribute {self.attribute!r}; {others}")
        return said or f"the server answered {status}"
