package protocol

import "encoding/json"

// GetAccountRateLimitsParams requests the limits of a ChatGPT account.
type GetAccountRateLimitsParams struct{}

// GetAccountRateLimitsResponse has the limits of a ChatGPT account.
type GetAccountRateLimitsResponse struct {
	// RateLimits is the limit codex, or the first one.
	RateLimits RateLimitSnapshot `json:"rateLimits"`
	// RateLimitsByLimitID has all limits.
	RateLimitsByLimitID map[string]RateLimitSnapshot `json:"rateLimitsByLimitId"`
	// OrdinaryUsageAllowed, RateLimitResetCredits, AccountID and RateLimitUpsell are always null.
	OrdinaryUsageAllowed  *bool           `json:"ordinaryUsageAllowed"`
	RateLimitResetCredits json.RawMessage `json:"rateLimitResetCredits"`
	AccountID             *string         `json:"accountId"`
	RateLimitUpsell       json.RawMessage `json:"rateLimitUpsell"`
}

// RateLimitSnapshot is a limit, as the provider has reported it last.
type RateLimitSnapshot struct {
	LimitID   *string          `json:"limitId"`
	LimitName *string          `json:"limitName"`
	Primary   *RateLimitWindow `json:"primary"`
	Secondary *RateLimitWindow `json:"secondary"`
	Credits   *CreditsSnapshot `json:"credits"`
	PlanType  *string          `json:"planType" oneof:"free go plus pro prolite promax team self_serve_business_prolite self_serve_business_usage_based business ent26 enterprise_cbp_automation enterprise_cbp_usage_based enterprise edu edu_plus edu_pro sci sci_plus unknown"`
	// RateLimitReachedType names the limit that is reached, or is null.
	RateLimitReachedType *string `json:"rateLimitReachedType" oneof:"rate_limit_reached workspace_owner_credits_depleted workspace_member_credits_depleted workspace_owner_usage_limit_reached workspace_member_usage_limit_reached"`
	// NormalModelSlug, IndividualLimit and SpendControlReached are always null.
	NormalModelSlug     *string         `json:"normalModelSlug"`
	IndividualLimit     json.RawMessage `json:"individualLimit"`
	SpendControlReached *bool           `json:"spendControlReached"`
}

// RateLimitWindow is the use within a time.
type RateLimitWindow struct {
	UsedPercent        int32  `json:"usedPercent"`
	WindowDurationMins *int64 `json:"windowDurationMins"`
	// ResetsAt is in Unix seconds.
	ResetsAt *int64 `json:"resetsAt"`
}

// CreditsSnapshot is the credit of the account.
type CreditsSnapshot struct {
	HasCredits bool    `json:"hasCredits"`
	Unlimited  bool    `json:"unlimited"`
	Balance    *string `json:"balance"`
}

// AccountRateLimitsUpdatedNotification has a limit that the provider reported with a response. Members that are null
// may be unknown.
type AccountRateLimitsUpdatedNotification struct {
	RateLimits RateLimitSnapshot `json:"rateLimits"`
}

// NotificationMethod returns "account/rateLimits/updated".
func (AccountRateLimitsUpdatedNotification) NotificationMethod() string {
	return "account/rateLimits/updated"
}
