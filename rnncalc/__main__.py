"""`python -m rnncalc`."""

from rnncalc.cli import main

main()
