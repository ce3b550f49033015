"""`python -m hardwon`."""

from hardwon.cli.app import main

main()
