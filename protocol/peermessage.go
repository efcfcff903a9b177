package protocol

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// PeerMessageType is the type of the response items with messages between agents.
const PeerMessageType = "agent_message"

// The kinds of a PeerMessage. A task starts a turn of its recipient, a note does not. An answer is the last message of
// an agent to the one that started it.
const (
	PeerTask   = "NEW_TASK"
	PeerNote   = "MESSAGE"
	PeerAnswer = "FINAL_ANSWER"
)

const (
	peerKind    = "Message Type: "
	peerPayload = "\nPayload:\n"

	// contentEncrypted is the type of a part whose text only a provider can read, or which is plain text.
	contentEncrypted = "encrypted_content"
	unreadableNote   = "[encrypted text, which only the provider of its author can read]"
)

// LinePeerDelivery is the type of a line with a PeerDelivery.
const LinePeerDelivery = "inter_agent_communication_metadata"

// PeerDelivery is the line before a PeerMessage in a rollout.
type PeerDelivery struct {
	// TriggerTurn is set if the message started a turn.
	TriggerTurn bool `json:"trigger_turn"`
}

// PeerAnswerHead begins the text of an answer.
const PeerAnswerHead = peerKind + PeerAnswer + "\n"

// PeerMessage is a message of an agent to another one. Rollouts have it as a response item. Models get it as a message
// of the user.
type PeerMessage struct {
	// ID is the id of the item. Author and Recipient are paths of agents.
	ID, Author, Recipient string
	// Kind is one of the kinds, and Payload what the author wrote.
	Kind, Payload string
	// TurnID is the turn of the recipient.
	TurnID string
}

type storedPeerMessage struct {
	Type      string           `json:"type"`
	ID        string           `json:"id,omitempty"`
	Author    string           `json:"author"`
	Recipient string           `json:"recipient"`
	Content   []storedPeerPart `json:"content"`
	TurnRef   *TurnRef         `json:"internal_chat_message_metadata_passthrough,omitempty"`
}

type storedPeerPart struct {
	Type      string  `json:"type"`
	Text      *string `json:"text,omitempty"`
	Encrypted *string `json:"encrypted_content,omitempty"`
}

// Item returns the item in the form of rollouts. The payload of a task or a note is a part of its own.
func (m *PeerMessage) Item() *Unknown {
	head := peerKind + m.Kind + "\nTask name: " + m.Recipient + "\nSender: " + m.Author + peerPayload
	stored := storedPeerMessage{Type: PeerMessageType, ID: m.ID, Author: m.Author, Recipient: m.Recipient,
		Content: []storedPeerPart{{Type: ContentInputText, Text: &head}}}
	if m.Kind == PeerAnswer {
		*stored.Content[0].Text += m.Payload
	} else {
		stored.Content = append(stored.Content, storedPeerPart{Type: contentEncrypted, Encrypted: &m.Payload})
	}
	if m.TurnID != "" {
		stored.TurnRef = &TurnRef{TurnID: m.TurnID}
	}
	raw, err := Marshal(stored)
	if err != nil {
		raw = nil // texts always encode
	}
	return &Unknown{Tag: PeerMessageType, Raw: raw}
}

// IsPeerMessage reports whether an item is a message between agents.
func IsPeerMessage(item ResponseItem) bool {
	other, ok := item.ResponseItemVariant.(*Unknown)
	return ok && other.Tag == PeerMessageType
}

// ReadPeerMessage returns the parts of a message between agents that people read. It returns false for other items.
func ReadPeerMessage(item ResponseItem) (m PeerMessage, ok bool) {
	if !IsPeerMessage(item) {
		return m, false
	}
	raw := item.ResponseItemVariant.(*Unknown).Raw
	in := gjson.GetManyBytes(raw, "id", "author", "recipient", "internal_chat_message_metadata_passthrough.turn_id")
	m.ID, m.Author, m.Recipient, m.TurnID = in[0].Str, in[1].Str, in[2].Str, in[3].Str
	head, payload, found := strings.Cut(JoinPeerText(item), peerPayload)
	if !found {
		head, payload = "", head
	}
	m.Payload = payload
	if kind, has := strings.CutPrefix(head, peerKind); has {
		m.Kind, _, _ = strings.Cut(kind, "\n")
	}
	return m, true
}

// PeerMessageForm returns a message between agents as the message of the user that models get, and other items
// unchanged.
func PeerMessageForm(item ResponseItem) ResponseItem {
	if !IsPeerMessage(item) {
		return item
	}
	content := []ContentItem{{Type: ContentInputText, Text: JoinPeerText(item)}}
	for _, part := range peerParts(item) {
		var image ContentItem
		if part.Get("type").Str == ContentInputImage && image.UnmarshalJSON([]byte(part.Raw)) == nil && image.Raw == nil {
			content = append(content, image)
		}
	}
	return ResponseItem{&Message{Role: RoleUser, Content: content}}
}

// JoinPeerText returns the text of a message between agents. A note stands for a part that cannot be read.
func JoinPeerText(item ResponseItem) string {
	var text strings.Builder
	for _, part := range peerParts(item) {
		switch part.Get("type").Str {
		case contentEncrypted:
			text.WriteString(readableText(part.Get("encrypted_content").Str))
		default:
			text.WriteString(part.Get("text").Str)
		}
	}
	return text.String()
}

func peerParts(item ResponseItem) []gjson.Result {
	if !IsPeerMessage(item) {
		return nil
	}
	content := gjson.GetBytes(item.ResponseItemVariant.(*Unknown).Raw, "content")
	if !content.IsArray() {
		return nil
	}
	return content.Array()
}

// minSealed is the minimum length of an encrypted text, in bytes. The smallest Fernet token is longer. A text of fewer
// bytes in the base64 alphabet is a word.
const minSealed = 64

// readableText returns a text that was written without encryption, as other providers than the vendor's do, or a note.
func readableText(text string) string {
	if isSealed(text) {
		return unreadableNote
	}
	return text
}

// isSealed reports whether a text is encrypted: base64 without white space, or bytes that are no text.
func isSealed(text string) bool {
	if strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || r < ' ' && !isWhite(r) }) {
		return true
	}
	if len(text) < minSealed {
		return false
	}
	plain := strings.TrimRight(text, "=")
	_, standard := base64.RawStdEncoding.DecodeString(plain)
	_, ofURLs := base64.RawURLEncoding.DecodeString(plain)
	return (standard == nil || ofURLs == nil) && !strings.ContainsAny(text, "\r\n") // the decoders skip line feeds
}

func isWhite(r rune) bool { return r == '\t' || r == '\n' || r == '\r' || r == '\f' }
