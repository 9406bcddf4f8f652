#!/usr/bin/env bash
# A Hearts bot that stays low: it passes its highest cards and plays its lowest legal one.
#
# It reads one JSON object per line on stdin and answers each request with one line on stdout.
# Each request carries all that the seat may know, so the bot remembers nothing between lines.
#
# Run it with `bash bot.sh`. It starts no other program: a fork per line would cost more than the play.
#
# There is no JSON parser here: the referee promises compact ASCII, `type` first, and plain values,
# `cards` and `legal` before anything nested. So the first "key": in a line is the one we mean.

LC_ALL=C
IFS=, # joins the cards of a pass

# The number after "key":, left in $REPLY.
number() {
    REPLY=${line#*"\"$1\":"}
    REPLY=${REPLY%%[!0-9]*}
}

# The cards of the list after "key":, quotes and all, left in the array `cards` in the order of the ranks given.
# Usage: cards_by_rank KEY RANK...
cards_by_rank() {
    local list=${line#*"\"$1\":["} rank rest
    list=${list%%]*}
    shift
    cards=()
    for rank; do
        rest=$list
        while [[ $rest == *"\"$rank"* ]]; do
            rest=${rest#*"\"$rank"}
            cards+=("\"$rank${rest:0:1}\"")
        done
    done
}

while IFS= read -r line; do
    case $line in
        '{"type":"start",'*)
            number id
            printf '{"type":"ready","id":%s,"name":"low-shell","version":"1","tables":64}\n' "$REPLY"
            ;;
        '{"type":"pass",'*)
            cards_by_rank cards A K Q J T 9 8 7 6 5 4 3 2
            number count
            passed="${cards[*]:0:REPLY}"
            number id
            printf '{"type":"pass","id":%s,"cards":[%s]}\n' "$REPLY" "$passed"
            ;;
        '{"type":"play",'*)
            cards_by_rank legal 2 3 4 5 6 7 8 9 T J Q K A
            number id
            printf '{"type":"play","id":%s,"card":%s}\n' "$REPLY" "${cards[0]}"
            ;;
    esac # notices, and types we do not know, get no answer
done
