package protocol

// LineEncryptedRefused is the type of a line with an EncryptedRefused. The reference implementation passes over it.
const LineEncryptedRefused = "encrypted_refused"

// EncryptedRefused states that a provider could not read the encrypted content of the lines before it. That content is
// not sent to the provider any more. Reason is in the provider's words.
type EncryptedRefused struct {
	Provider string `json:"provider"`
	Reason   string `json:"reason,omitempty"`
}
