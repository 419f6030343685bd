"""A worker of its own process: labels as several people and prints each acknowledged token."""

from __future__ import annotations

import sys
from pathlib import Path

from evenhand.labelling import Store, read_campaign
from evenhand.labelling.errors import NotHeld


def main(folder: str, url: str, people: list[int]) -> None:
    """Vote until nothing is left; every form is sent twice, as after a lost answer."""
    store = Store(read_campaign(Path(folder)), url)
    busy = set(people)
    while busy:
        for person in sorted(busy):
            task = store.work.next(person)
            if task is None:
                busy.discard(person)
                continue
            for _ in range(2):
                try:
                    store.work.vote(person, task.token, {"abuse": "No"})
                except NotHeld:
                    break
            else:
                print(task.token, flush=True)
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], [int(part) for part in sys.argv[3].split(",")])
