#!/bin/sh
# Compares the slugs of all titles in tests.txt with the expected ones.
green=$(printf '\033[32m') red=$(printf '\033[31m') plain=$(printf '\033[0m')
failed=0 n=0
while IFS='|' read -r title want; do
    n=$((n + 1))
    got=$(printf '%s\n' "$title" | sh slug.sh)
    if [ "$got" = "$want" ]; then
        echo "${green}ok${plain}   $n $title -> $got"
    else
        echo "${red}FAIL${plain} $n $title -> $got, expected $want"
        failed=$((failed + 1))
    fi
done <tests.txt
echo "$n tests, $failed failed"
[ "$failed" = 0 ]
