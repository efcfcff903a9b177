package account

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"appserver/protocol"
)

// claims are the facts of a token about the account. The signature is not checked: the issuer's server sent it.
type claims struct {
	email, plan, user, account string
	fedramp                    bool
	// expires is the end of the token, or zero if it is unknown.
	expires time.Time
}

// loose is a member that is ignored if it has another type.
type loose[T any] struct{ value T }

// UnmarshalJSON never fails.
func (l *loose[T]) UnmarshalJSON(text []byte) error {
	var value T
	if protocol.Unmarshal(text, &value) == nil {
		l.value = value
	}
	return nil
}

// readClaims returns the claims of a token, or none if it is no JWT.
func readClaims(token string) (c claims) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return c
	}
	var t struct {
		Email   loose[string]  `json:"email"`
		Expires loose[float64] `json:"exp"`
		Profile struct {
			Email loose[string] `json:"email"`
		} `json:"https://api.openai.com/profile"`
		Auth struct {
			Plan    loose[string] `json:"chatgpt_plan_type"`
			User    loose[string] `json:"chatgpt_user_id"`
			ID      loose[string] `json:"user_id"`
			Account loose[string] `json:"chatgpt_account_id"`
			Fedramp loose[bool]   `json:"chatgpt_account_is_fedramp"`
		} `json:"https://api.openai.com/auth"`
	}
	if protocol.Unmarshal(text, &t) != nil {
		return c
	}
	c = claims{email: cmp.Or(t.Email.value, t.Profile.Email.value), plan: t.Auth.Plan.value,
		user: cmp.Or(t.Auth.User.value, t.Auth.ID.value), account: t.Auth.Account.value, fedramp: t.Auth.Fedramp.value}
	if seconds := t.Expires.value; seconds > 0 && seconds < maxSeconds {
		c.expires = time.Unix(int64(seconds), 0)
	}
	return c
}

// maxSeconds is the beginning of the year 10000, in seconds since 1970.
const maxSeconds = 253_402_300_800

// plans are the words of PlanType, by those of tokens.
var plans = []string{"free", "go", "plus", "pro", "prolite", "promax", "team", "self_serve_business_prolite",
	"self_serve_business_usage_based", "business", "ent26", "enterprise_cbp_automation", "enterprise_cbp_usage_based",
	"enterprise", "edu", "edu_plus", "edu_pro", "sci", "sci_plus"}

// planOf returns the word of PlanType for one of a token.
func planOf(word string) string {
	word = strings.ToLower(word)
	switch word {
	case "hc":
		return "enterprise"
	case "education":
		return "edu"
	}
	if slices.Contains(plans, word) {
		return word
	}
	return "unknown"
}

// Holder describes the owner of a ChatGPT account.
type Holder struct {
	// Email and User are "" if they are unknown. Plan is a word of PlanType.
	Email, User, Plan string
}

// Holder returns the owner of the tokens.
func (l *Login) Holder() Holder {
	c := readClaims(l.Tokens.ID)
	return Holder{Email: c.email, User: c.user, Plan: planOf(cmp.Or(l.plan, c.plan))}
}

// workspace returns the workspace that the tokens are for, or "".
func (l *Login) workspace() string {
	if l.Mode == ClientTokens {
		return l.Tokens.AccountID // the client names it
	}
	return cmp.Or(readClaims(l.Tokens.ID).account, l.Tokens.AccountID)
}

// isOfSameUser reports whether two logins are of one sign-in, as far as it is known.
func (l *Login) isOfSameUser(other *Login) bool {
	if other == nil || l.Mode != other.Mode {
		return false
	}
	if l.Tokens.Owner != "" && other.Tokens.Owner != "" {
		return l.Tokens.Owner == other.Tokens.Owner
	}
	return l.Tokens.AccountID == other.Tokens.AccountID
}

// staleAge is the age after which tokens without a known end are refreshed.
const staleAge = 8 * 24 * time.Hour

// leeway is the time before its end at which an access token is refreshed.
const leeway = 30 * time.Second

// isStale reports whether tokens are refreshed before the next request.
func (l *Login) isStale(now time.Time) bool {
	if l.Mode != ChatGPT {
		return false
	}
	if end := readClaims(l.Tokens.Access).expires; !end.IsZero() {
		return !now.Add(leeway).Before(end)
	}
	return !l.Refreshed.IsZero() && now.Sub(l.Refreshed) > staleAge
}

// isOver reports whether the access token is known to have ended.
func (l *Login) isOver(now time.Time) bool {
	end := readClaims(l.Tokens.Access).expires
	return !end.IsZero() && !now.Before(end)
}
