package protocol

import "encoding/json"

// GetAccountParams requests the account of the user.
type GetAccountParams struct {
	// RefreshToken is set to refresh the tokens of a ChatGPT account first. Tokens of a client are not refreshed.
	RefreshToken bool `json:"refreshToken,omitempty"`
}

// GetAccountResponse has the account of the user.
type GetAccountResponse struct {
	// Account is null if the user is signed out, or if the login cannot be used.
	Account *Account `json:"account"`
	// UserID is the user of a ChatGPT account, or null.
	UserID *string `json:"userId"`
	// RequiresOpenaiAuth reports whether the provider of new threads needs an account.
	RequiresOpenaiAuth bool `json:"requiresOpenaiAuth"`
	// WorkspaceRouting is always null.
	WorkspaceRouting json.RawMessage `json:"workspaceRouting"`
}

// Account is the account of the user.
type Account struct {
	// Type is apiKey for a key, and chatgpt for a ChatGPT account, which has the other members.
	Type     string  `json:"type" oneof:"apiKey chatgpt"`
	Email    *string `json:"email,omitempty"`
	PlanType *string `json:"planType,omitempty" oneof:"free go plus pro prolite promax team self_serve_business_prolite self_serve_business_usage_based business ent26 enterprise_cbp_automation enterprise_cbp_usage_based enterprise edu edu_plus edu_pro sci sci_plus unknown"`
}

// GetAuthStatusParams requests the state of the login, in an older form.
type GetAuthStatusParams struct {
	// IncludeToken is set to get the key or the access token.
	IncludeToken *bool `json:"includeToken,omitempty"`
	// RefreshToken is set to refresh the tokens of a ChatGPT account first.
	RefreshToken *bool `json:"refreshToken,omitempty"`
}

// GetAuthStatusResponse has the state of the login.
type GetAuthStatusResponse struct {
	// AuthMethod is apikey, chatgpt or chatgptAuthTokens, or null if the user is signed out.
	AuthMethod *string `json:"authMethod"`
	// AuthToken is the key or the access token if the request asks for it, or null.
	AuthToken          *string `json:"authToken"`
	RequiresOpenaiAuth bool    `json:"requiresOpenaiAuth"`
}

// The types of logins.
const (
	LoginAPIKey       = "apiKey"
	LoginChatGPT      = "chatgpt"
	LoginDeviceCode   = "chatgptDeviceCode"
	LoginClientTokens = "chatgptAuthTokens"
)

// LoginAccountParams begins a login.
type LoginAccountParams struct {
	// Type selects the way: a key, a browser, a code for another device, or tokens of the client. The types amazonBedrock
	// and amazonBedrockAccessKeys are rejected.
	Type string `json:"type" oneof:"apiKey chatgpt chatgptDeviceCode chatgptAuthTokens amazonBedrock amazonBedrockAccessKeys"`
	// APIKey is the key of the type apiKey.
	APIKey *string `json:"apiKey,omitempty"`
	// AccessToken and ChatgptAccountID are of the type chatgptAuthTokens. ChatgptPlanType overrides the plan of the token.
	AccessToken      *string `json:"accessToken,omitempty"`
	ChatgptAccountID *string `json:"chatgptAccountId,omitempty"`
	ChatgptPlanType  *string `json:"chatgptPlanType,omitempty"`
	// AppBrand, CodexStreamlinedLogin and UseHostedLoginSuccessPage are of the type chatgpt, and have no effect.
	AppBrand                  *string `json:"appBrand,omitempty" oneof:"codex chatgpt"`
	CodexStreamlinedLogin     *bool   `json:"codexStreamlinedLogin,omitempty"`
	UseHostedLoginSuccessPage *bool   `json:"useHostedLoginSuccessPage,omitempty"`
}

// Check requires the members of the type.
func (p *LoginAccountParams) Check() error {
	for _, m := range []struct {
		name  string
		value *string
		of    string
	}{{"apiKey", p.APIKey, LoginAPIKey}, {"accessToken", p.AccessToken, LoginClientTokens},
		{"chatgptAccountId", p.ChatgptAccountID, LoginClientTokens}} {
		if p.Type == m.of && m.value == nil {
			return InvalidParams(m.name, "missing field `%s`", m.name)
		}
	}
	if p.Type == "amazonBedrock" || p.Type == "amazonBedrockAccessKeys" {
		return InvalidParams("type", "`type`: this program does not sign in at Amazon: set the key of a provider in its env_key")
	}
	return nil
}

// LoginAccountResponse describes a login. Logins of the types apiKey and chatgptAuthTokens are complete. For the others
// an account/login/completed notification follows with the same id.
type LoginAccountResponse struct {
	Type    string  `json:"type" oneof:"apiKey chatgpt chatgptDeviceCode chatgptAuthTokens"`
	LoginID *string `json:"loginId,omitempty"`
	// AuthURL is the address to open in a browser, for the type chatgpt.
	AuthURL *string `json:"authUrl,omitempty"`
	// VerificationURL is the address at which the user enters UserCode, for the type chatgptDeviceCode.
	VerificationURL *string `json:"verificationUrl,omitempty"`
	UserCode        *string `json:"userCode,omitempty"`
}

// CancelLoginAccountParams cancels a login that waits for the user.
type CancelLoginAccountParams struct {
	LoginID string `json:"loginId"`
}

// CancelLoginAccountResponse reports whether the login was waiting.
type CancelLoginAccountResponse struct {
	Status string `json:"status" oneof:"canceled notFound"`
}

// LogoutAccountParams removes the login.
type LogoutAccountParams struct{}

// AccountLoginCompletedNotification reports the end of a login.
type AccountLoginCompletedNotification struct {
	// LoginID is null for logins that are complete with their response.
	LoginID *string `json:"loginId"`
	Success bool    `json:"success"`
	// Error is the reason of a failure, or null.
	Error *string `json:"error"`
	// OnboardingEntrypoint is always null.
	OnboardingEntrypoint *string `json:"onboardingEntrypoint" oneof:"life_sciences"`
}

// NotificationMethod returns "account/login/completed".
func (AccountLoginCompletedNotification) NotificationMethod() string {
	return "account/login/completed"
}

// AccountUpdatedNotification reports that the user has signed in or out.
type AccountUpdatedNotification struct {
	// AuthMode is apikey, chatgpt or chatgptAuthTokens, or null if the user is signed out.
	AuthMode *string `json:"authMode" oneof:"apikey chatgpt chatgptAuthTokens"`
	// PlanType is the plan of a ChatGPT account, or null.
	PlanType *string `json:"planType" oneof:"free go plus pro prolite promax team self_serve_business_prolite self_serve_business_usage_based business ent26 enterprise_cbp_automation enterprise_cbp_usage_based enterprise edu edu_plus edu_pro sci sci_plus unknown"`
	// Reason is always null.
	Reason *string `json:"reason"`
}

// NotificationMethod returns "account/updated".
func (AccountUpdatedNotification) NotificationMethod() string { return "account/updated" }

// MethodClientTokens asks the client for other tokens of a ChatGPT account.
const MethodClientTokens = "account/chatgptAuthTokens/refresh"

// ChatgptAuthTokensRefreshParams asks the client that has given tokens for other ones.
type ChatgptAuthTokensRefreshParams struct {
	// Reason is unauthorized: the provider has rejected the tokens.
	Reason string `json:"reason" oneof:"unauthorized"`
	// PreviousAccountID is the workspace of the tokens, or null.
	PreviousAccountID *string `json:"previousAccountId"`
}

// ChatgptAuthTokensRefreshResponse has the tokens.
type ChatgptAuthTokensRefreshResponse struct {
	AccessToken      string  `json:"accessToken"`
	ChatgptAccountID string  `json:"chatgptAccountId"`
	ChatgptPlanType  *string `json:"chatgptPlanType,omitempty"`
}
