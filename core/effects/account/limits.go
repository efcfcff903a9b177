package account

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"appserver/protocol"
)

const (
	// mainLimit is the limit whose headers have no further name.
	mainLimit = "codex"
	// maxLimits bounds the limits of a response.
	maxLimits = 16
	usedTail  = "-primary-used-percent"
)

// LimitsOf returns the limits that the headers of a response report.
func LimitsOf(h http.Header) (limits []protocol.RateLimitSnapshot) {
	names := []string{mainLimit}
	for name := range h {
		limit, found := strings.CutSuffix(strings.ToLower(name), usedTail)
		limit, prefixed := strings.CutPrefix(limit, "x-")
		if found && prefixed && limit != mainLimit {
			names = append(names, limit)
		}
	}
	slices.Sort(names[1:])
	for _, name := range names[:min(len(names), maxLimits)] {
		if l := limitOf(h, name); l.Primary != nil || l.Secondary != nil || l.Credits != nil {
			limits = append(limits, l)
		}
	}
	return limits
}

func limitOf(h http.Header, name string) protocol.RateLimitSnapshot {
	prefix := "X-" + name
	l := protocol.RateLimitSnapshot{LimitID: new(strings.ReplaceAll(shown(name), "-", "_")),
		LimitName: protocol.OrNil(shown(h.Get(prefix + "-limit-name"))),
		Primary:   windowOf(h, prefix+"-primary"), Secondary: windowOf(h, prefix+"-secondary")}
	has, known := truth(h.Get("X-Codex-Credits-Has-Credits"))
	unlimited, both := truth(h.Get("X-Codex-Credits-Unlimited"))
	if known && both {
		l.Credits = &protocol.CreditsSnapshot{HasCredits: has, Unlimited: unlimited,
			Balance: protocol.OrNil(shown(h.Get("X-Codex-Credits-Balance")))}
	}
	return l
}

func windowOf(h http.Header, prefix string) *protocol.RateLimitWindow {
	used, err := strconv.ParseFloat(h.Get(prefix+"-used-percent"), 64)
	minutes, reset := integer(h.Get(prefix+"-window-minutes")), integer(h.Get(prefix+"-reset-at"))
	if err != nil || used == 0 && (minutes == nil || *minutes == 0) && reset == nil {
		return nil
	}
	return &protocol.RateLimitWindow{UsedPercent: percent(used), WindowDurationMins: minutes, ResetsAt: reset}
}

// percent rounds to an integer between 0 and 100,000.
func percent(n float64) int32 {
	if !(n > 0) {
		return 0
	}
	return int32(math.Round(min(n, 100_000)))
}

func integer(text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

func truth(text string) (value, known bool) {
	switch strings.ToLower(text) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}
