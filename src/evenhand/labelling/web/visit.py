"""Coming and going: the front page, joining by an invite, signing in and out."""

from __future__ import annotations

from evenhand.labelling.person import Person
from evenhand.labelling.web.asking import Ask, Reply, home, opened, to


def front(ask: Ask) -> Reply:
    """What the campaign is about, and a field for a code; who is in goes on."""
    return to(home(ask.person)) if ask.person else ask.page("front.html", code="")


def invited(ask: Ask) -> Reply:
    """The page behind an invite link; loading it joins nobody."""
    return to(home(ask.person)) if ask.person else ask.page("front.html", code=ask.path["code"])


def join(ask: Ask) -> Reply:
    """A new person by a code."""
    if ask.person:
        return to(home(ask.person))
    return _welcome(ask, ask.site.store.people.join(ask.one("code"), ask.language))


def sign_in_page(ask: Ask) -> Reply:
    """For those who have chosen a password."""
    return to(home(ask.person)) if ask.person else ask.page("sign_in.html")


def sign_in(ask: Ask) -> Reply:
    """Somebody comes back."""
    person = ask.site.store.people.sign_in(ask.one("name").strip(), ask.one("password"))
    return _welcome(ask, person)


def owner_page(ask: Ask) -> Reply:
    """The page behind the owner's link; only its button uses the link up."""
    return ask.page("owner_link.html", link=ask.path["link"])


def owner(ask: Ask) -> Reply:
    """The owner signs in, once for a link."""
    return _welcome(ask, ask.site.store.sessions.redeem(ask.one("link")))


def sign_out(ask: Ask) -> Reply:
    """Sign out, on the server too."""
    ask.site.store.sessions.close(ask.token)
    return Reply("", 303, headers={"Location": "/"}, cookie="")


def sign_out_everywhere(ask: Ask) -> Reply:
    """End every session of this person, such as one on a phone that was lost."""
    ask.site.store.sessions.close_all(ask.me.id)
    return Reply("", 303, headers={"Location": "/"}, cookie="")


def _welcome(ask: Ask, person: Person) -> Reply:
    """A session with a token nobody knew before; one of somebody else in this browser ends."""
    if ask.person:
        ask.site.store.sessions.close(ask.token)
    return opened(ask, person, home(person))
