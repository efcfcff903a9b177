package protocol

// LineEncryptedRefused is the type of a line with an EncryptedRefused. The reference implementation
// skips it.
const LineEncryptedRefused = "encrypted_refused"

// EncryptedRefused states that a provider could not read the encrypted content of the lines before
// it. That content is not sent to the provider any more.
type EncryptedRefused struct {
	Provider string `json:"provider"`
	// Reason is the message of the provider.
	Reason string `json:"reason,omitempty"`
}
