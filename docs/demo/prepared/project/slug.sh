#!/bin/sh
# Reads titles, one on each line, and prints a slug for each.
tr 'A-Z' 'a-z' |
    sed -e 's/[^a-z0-9][^a-z0-9]*/-/g' -e 's/^-//' -e 's/-$//'
