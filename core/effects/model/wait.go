package model

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"appserver/platform/pattern"
	"appserver/protocol"
)

// waitMembers are the members of an error that name a delay, without case, "_" and "-", and the unit of
// their numbers.
var waitMembers = map[string]time.Duration{
	"retryafter": time.Second, "retryafterseconds": time.Second, "retryaftersecs": time.Second,
	"retrydelay": time.Second, "retryin": time.Second, "retryinseconds": time.Second,
	"retryafterms": time.Millisecond, "retryaftermillis": time.Millisecond, "retryaftermilliseconds": time.Millisecond,
	"retryinms": time.Millisecond, "retrydelayms": time.Millisecond,
}

// resetMembers are the members that name the end of a limit: a delay, or a time if the unit is 0.
var resetMembers = map[string]time.Duration{
	"resetsinseconds": time.Second, "resetinseconds": time.Second, "resetafter": time.Second,
	"resetsat": 0, "resetat": 0, "retryat": 0, "xratelimitreset": 0, "ratelimitreset": 0,
}

// namedWait finds the delay that the body of an error names.
type namedWait struct {
	now time.Time
	// retry is the longest delay of a member about the retry, reset of one about the end of a limit.
	retry, reset time.Duration
}

// waitOf returns the delay that an error names, or 0. A delay for the retry has precedence over the end
// of a limit, and members over words. value is the decoded body, or nil.
func waitOf(value any, text string, now time.Time) time.Duration {
	w := namedWait{now: now}
	w.read(value, textDepth)
	return cmp.Or(w.retry, waitInWords(text, now), w.reset)
}

// read reads the members of a value, and of a document in a text, as gateways pass on errors.
func (w *namedWait) read(value any, depth int) {
	if depth == 0 {
		return
	}
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			w.read(element, depth-1)
		}
	case map[string]any:
		for name, member := range v {
			w.member(name, member)
			w.read(member, depth-1)
		}
	case string:
		var inner any
		if strings.HasPrefix(v, "{") && protocol.Unmarshal([]byte(v), &inner) == nil {
			w.read(inner, depth-1)
		}
	}
}

func (w *namedWait) member(name string, value any) {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	if unit, known := waitMembers[name]; known {
		w.retry = max(w.retry, delayOf(value, unit, w.now))
	}
	if unit, known := resetMembers[name]; known {
		w.reset = max(w.reset, delayOf(value, unit, w.now))
	}
}

// delayOf returns the delay of a member: a number, a duration such as "6m30s", a time, or the object that
// google.protobuf.Duration becomes. Numbers without a unit are times.
func delayOf(value any, unit time.Duration, now time.Time) time.Duration {
	switch v := value.(type) {
	case float64:
		return delayOfNumber(v, unit, now)
	case string:
		text := strings.TrimSpace(v)
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return delayOfNumber(n, unit, now)
		}
		return cmp.Or(leadingDuration(text), untilTime(text, now))
	case map[string]any:
		seconds, _ := v["seconds"].(float64)
		nanos, _ := v["nanos"].(float64)
		return duration(seconds+nanos/1e9, time.Second)
	}
	return 0
}

// epochMillis is the least number that is a Unix time in milliseconds. In seconds it is the year 5138.
const epochMillis = 1e11

func delayOfNumber(n float64, unit time.Duration, now time.Time) time.Duration {
	switch {
	case unit != 0:
		return duration(n, unit)
	case n >= epochMillis:
		return duration(n-float64(now.UnixMilli()), time.Millisecond)
	}
	return duration(n-float64(now.Unix()), time.Second)
}

// untilTime returns the delay until a time with a zone, or 0.
func untilTime(text string, now time.Time) time.Duration {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = http.ParseTime(text)
	}
	if err != nil {
		return 0
	}
	return max(0, at.Sub(now))
}

var (
	// asksToWait finds the words before a delay. The first group is present if the delay may lack its unit, as in the
	// header Retry-After. "connection reset after 30s" asks for nothing.
	asksToWait = pattern.New(`(?i)\b(?:(retry[-_ ]?after)|try(?:ing)? again|retry(?:ing)?|retry[-_ ]?(?:in|delay)|wait|` +
		`resets|(?:will|limit|quota) reset|come back|available)\b(?:[\s:="'~\\]|\b(?:in|after|for|at|on|until|again|about|another|around|` +
		`approximately|least|up to)\b)*`)
	// zonedTime is a time of RFC 3339.
	zonedTime = pattern.New(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)`)
	// amount is a number with a unit at the start of a text.
	amount = pattern.New(`^[\s,]*(?:and\s+)?(\d+(?:\.\d+)?)\s*([a-zA-Z]+)`)
	// bareAmount is a number without a unit that ends a sentence or a value.
	bareAmount = pattern.New(`^(\d+(?:\.\d+)?)\s*(?:$|[.,;)"'}\]\\])`)
)

// asksTried bounds the places of a text that are examined.
const asksTried = 16

// waitInWords returns the delay that a text asks for, as in "try again in 6m30s", or 0.
func waitInWords(text string, now time.Time) time.Duration {
	for _, at := range asksToWait().FindAllStringSubmatchIndex(text, asksTried) {
		rest := text[at[1]:]
		wait := cmp.Or(untilTime(zonedTime().FindString(rest), now), leadingDuration(rest))
		if number := bareAmount().FindStringSubmatch(rest); wait == 0 && at[2] >= 0 && number != nil {
			wait = delayOf(number[1], time.Second, now)
		}
		if wait > 0 {
			return wait
		}
	}
	return 0
}

// units are the units of durations in texts.
var units = []struct {
	names string
	unit  time.Duration
}{
	{"ms msec msecs millisecond milliseconds", time.Millisecond},
	{"s sec secs second seconds", time.Second},
	{"m min mins minute minutes", time.Minute},
	{"h hr hrs hour hours", time.Hour},
	{"d day days", 24 * time.Hour},
}

func unitOf(name string) time.Duration {
	for _, u := range units {
		for _, known := range strings.Fields(u.names) {
			if strings.EqualFold(known, name) {
				return u.unit
			}
		}
	}
	return 0
}

// leadingDuration returns the sum of the numbers with units that a text begins with, or 0.
func leadingDuration(text string) (sum time.Duration) {
	for range units {
		found := amount().FindStringSubmatch(text)
		if found == nil {
			break
		}
		unit := unitOf(found[2])
		if unit == 0 {
			break
		}
		n, _ := strconv.ParseFloat(found[1], 64)
		sum = max(sum, sum+duration(n, unit)) // an overflow is negative
		text = text[len(found[0]):]
	}
	return sum
}
