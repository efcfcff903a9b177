package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"appserver/protocol"
)

// usage is the response of the backend.
type usage struct {
	Plan    loose[string]    `json:"plan_type"`
	Limit   usageLimit       `json:"rate_limit"`
	Credits loose[*credits]  `json:"credits"`
	Reached loose[reachedBy] `json:"rate_limit_reached_type"`
	More    loose[[]struct {
		Name    loose[string] `json:"limit_name"`
		Feature loose[string] `json:"metered_feature"`
		Limit   usageLimit    `json:"rate_limit"`
	}] `json:"additional_rate_limits"`
}

type usageLimit struct {
	Primary   loose[*usageWindow] `json:"primary_window"`
	Secondary loose[*usageWindow] `json:"secondary_window"`
}

type usageWindow struct {
	Used    float64 `json:"used_percent"`
	Seconds *int64  `json:"limit_window_seconds"`
	ResetAt *int64  `json:"reset_at"`
}

type credits struct {
	Has       bool          `json:"has_credits"`
	Unlimited bool          `json:"unlimited"`
	Balance   loose[string] `json:"balance"`
}

type reachedBy struct {
	Type loose[string] `json:"type"`
	Kind loose[string] `json:"kind"`
}

// reachedTypes are the words of RateLimitReachedType.
var reachedTypes = []string{"rate_limit_reached", "workspace_owner_credits_depleted",
	"workspace_member_credits_depleted", "workspace_owner_usage_limit_reached", "workspace_member_usage_limit_reached"}

// Usage requests the limits of a ChatGPT account from the vendor's backend.
func (a *Account) Usage(ctx context.Context) ([]protocol.RateLimitSnapshot, error) {
	base := a.backendURL()
	of := func(string) string { return base }
	g, err := a.Authorize(ctx, of, nil)
	switch {
	case err != nil:
		return nil, err
	case g == nil:
		return nil, signIn("the limits are those of an account")
	case g.login.Mode == APIKey:
		return nil, signIn("API keys have no limits to read, only ChatGPT accounts have")
	}
	w, err := a.requestUsage(ctx, g)
	if err == nil && w.status == http.StatusUnauthorized {
		if g, err = a.Authorize(ctx, of, g); err == nil && g != nil {
			w, err = a.requestUsage(ctx, g)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case w.status == http.StatusUnauthorized:
		return nil, signIn("the backend of the account rejects the login")
	case w.status != http.StatusOK:
		return nil, fmt.Errorf("the limits of the account cannot be read: the backend answered with the status %d", w.status)
	}
	var u usage
	if protocol.Unmarshal(w.body, &u) != nil {
		return nil, errors.New("the limits of the account cannot be read: the response of the backend is not JSON of the known form")
	}
	return u.limits(), nil
}

// backendURL returns the address of the backend.
func (a *Account) backendURL() string {
	base := strings.TrimRight(cmp.Or(a.Rules().Backend, defaultBackend), "/")
	if base == "https://chatgpt.com" || base == "https://chat.openai.com" {
		base += "/backend-api"
	}
	return base
}

func (a *Account) requestUsage(ctx context.Context, g *Grant) (*answer, error) {
	path := "/api/codex/usage"
	if strings.Contains(g.BaseURL, "/backend-api") {
		path = "/wham/usage"
	}
	return a.send(ctx, request{method: http.MethodGet, address: g.BaseURL + path, headers: g.Headers})
}

// limits returns the main limit first.
func (u *usage) limits() []protocol.RateLimitSnapshot {
	main := u.Limit.snapshot(mainLimit, "")
	if c := u.Credits.value; c != nil {
		main.Credits = &protocol.CreditsSnapshot{HasCredits: c.Has, Unlimited: c.Unlimited,
			Balance: protocol.OrNil(shown(c.Balance.value))}
	}
	if by := cmp.Or(u.Reached.value.Type.value, u.Reached.value.Kind.value); slices.Contains(reachedTypes, by) {
		main.RateLimitReachedType = &by
	}
	limits := []protocol.RateLimitSnapshot{main}
	for _, m := range u.More.value[:min(len(u.More.value), maxLimits)] {
		if id := cmp.Or(m.Feature.value, m.Name.value); id != "" {
			limits = append(limits, m.Limit.snapshot(shown(id), shown(m.Name.value)))
		}
	}
	for i := range limits {
		limits[i].PlanType = new(planOf(u.Plan.value))
	}
	return limits
}

func (l usageLimit) snapshot(id, name string) protocol.RateLimitSnapshot {
	return protocol.RateLimitSnapshot{LimitID: &id, LimitName: protocol.OrNil(name),
		Primary: l.Primary.value.window(), Secondary: l.Secondary.value.window()}
}

func (w *usageWindow) window() *protocol.RateLimitWindow {
	if w == nil {
		return nil
	}
	out := &protocol.RateLimitWindow{UsedPercent: percent(w.Used), ResetsAt: w.ResetAt}
	if w.Seconds != nil {
		out.WindowDurationMins = new((*w.Seconds + 59) / 60)
	}
	return out
}
