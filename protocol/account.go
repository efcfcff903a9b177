package protocol

import "encoding/json"

// GetAccountParams requests the account of the user.
type GetAccountParams struct {
	// RefreshToken has no effect: there are no tokens.
	RefreshToken bool `json:"refreshToken,omitempty"`
}

// GetAccountResponse reports that no user is logged in: the keys of providers are configured, and no
// method needs an account. Account, UserID and WorkspaceRouting are always null.
type GetAccountResponse struct {
	Account            json.RawMessage `json:"account"`
	UserID             *string         `json:"userId"`
	RequiresOpenaiAuth bool            `json:"requiresOpenaiAuth"`
	WorkspaceRouting   json.RawMessage `json:"workspaceRouting"`
}

// GetAuthStatusParams requests the state of the login, in an older form. The members have no
// effect.
type GetAuthStatusParams struct {
	IncludeToken *bool `json:"includeToken,omitempty"`
	RefreshToken *bool `json:"refreshToken,omitempty"`
}

// GetAuthStatusResponse reports that no user is logged in, and that no login is necessary. AuthMethod
// and AuthToken are always null.
type GetAuthStatusResponse struct {
	AuthMethod         *string `json:"authMethod"`
	AuthToken          *string `json:"authToken"`
	RequiresOpenaiAuth bool    `json:"requiresOpenaiAuth"`
}
