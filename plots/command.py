"""The command line that all figures share."""

import argparse
import sqlite3
import sys

from data import Missing


def run(main, name, sentence, suite):
    """Parses the arguments and draws. Exit code 2 and one line on stderr if something is missing."""
    parser = argparse.ArgumentParser(description=sentence)
    parser.add_argument("--db", dest="database", default="loopbrick.db", help="loopbrick's results; only read")
    parser.add_argument("--out", dest="out_dir", default=".", help=f"folder for {name}.png, .svg and .csv")
    parser.add_argument("--machine", help="machine id (default: any)")
    parser.add_argument("--campaign", type=int, help="campaign id (default: the newest that compared most layers)")
    parser.add_argument("--suite", default=suite, help=f"default: {suite}")
    parser.add_argument("--minibatch", type=int, help="default: the smallest in the campaign")
    arguments = vars(parser.parse_args())
    try:
        main(**arguments)
    except Missing as reason:
        sys.exit(fail(name, reason))
    except (sqlite3.Error, OSError) as reason:
        sys.exit(fail(name, f"{arguments['database']}: {reason}"))


def fail(name, reason):
    print(f"{name}: {reason}", file=sys.stderr)
    return 2
