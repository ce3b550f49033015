"""One process of a crowd on one bank: admits and reads until it is told to stop, or is killed.

Usage: python crowd.py BANK NAME SECONDS DONE. Every admission that was committed appends its number to DONE.
"""

import sys
import time
from pathlib import Path

from tests.memory.banks import item

from hardwon.memory.bank.place import open_bank
from hardwon.memory.bank.retrieval import Index, Limits, Query
from hardwon.memory.bank.store import Episode, Use


def main(place: str, name: str, seconds: float, done: Path) -> None:
    end = time.monotonic() + seconds
    bank = open_bank(place)
    number = sum(1 for _ in done.read_text().splitlines()) if done.exists() else 0
    while time.monotonic() < end:
        title = f"{name} {number}"
        items = [item(f"{title} {part}", f"graph {part}") for part in ("first", "second")]
        bank.admit(Episode(name, title, "arm", 0, True, 1), items, [Use(items[0].id, True, 1, 0.5)])
        with done.open("a") as file:
            file.write(f"{number}\n")
        number += 1
        if number % 5 == 0:
            Index(bank, bank.head()).search(Query("graph first"), Limits(floor=0.0))
    bank.close()


main(sys.argv[1], sys.argv[2], float(sys.argv[3]), Path(sys.argv[4]))
