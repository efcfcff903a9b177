package history

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"github.com/tidwall/gjson"

	"appserver/core/pure/lineref"
	"appserver/protocol"
)

// None is a place that no item has.
const None = -1

// Item is an item of the history. Callers must not keep it across a call that adds items.
type Item struct {
	lineref.Ref
	ordinal int64
	// pair is the place of the output of a call, or of the call of an output, or None.
	pair   int32
	turnID string
	callID string
	role   role
	// decoded is set after the first attempt to decode the item, malformed if that failed.
	decoded, malformed bool
	// message is set for messages, ofUser for messages in the role of the user. Both are set for messages of other
	// agents.
	message, ofUser bool
	// reasoning is set for reasoning, encrypted for reasoning that only the provider can read.
	// raw is set for reasoning whose text came as the model wrote it, and not encrypted.
	reasoning, encrypted, raw bool
	// carrier is set for a call or a text whose provider marked it to carry reasoning back.
	carrier bool
	// native is set for an item that only the API of its provider knows, such as a web search.
	native bool
	// model is the index in History.models of the model that made a reasoning or native item.
	model  int32
	notice notice
	// summary is set for the summary of a compaction, ofPoint if it came with a trim point.
	summary, ofPoint bool
	// price is the cost of encrypted content, in the provider's tokens. It is an estimate until
	// reported is set.
	price    int32
	reported bool
	// replacedBy is set if the next request has another form of the item.
	replacedBy form
	// size is the length of the JSON in bytes, images the number of its images.
	size   int32
	images int32
	// userItemID is the id of the thread item that shows the item as a message of the user, or "".
	userItemID string
	visibility visibility
	item       protocol.ResponseItem
	about      *description // nil until it is needed
}

// role is the role of an item in a pair of a call and its output.
type role int

const (
	unpaired role = iota
	call
	output
)

// Protocol returns the item. An item that cannot be decoded is an Unknown. The decoded form stays
// in memory; [Item.Decode] does not keep it.
func (c *Item) Protocol() protocol.ResponseItem {
	item := c.Decode()
	if c.decoded {
		c.item, c.Raw = item, nil
	}
	return item
}

// Decode returns the item and keeps only the JSON in memory.
func (c *Item) Decode() protocol.ResponseItem {
	if c.item.ResponseItemVariant != nil {
		return c.item
	}
	var item protocol.ResponseItem
	raw, read := c.Payload()
	c.decoded, c.malformed = read, false
	if item.UnmarshalJSON(raw) != nil { // payloads are valid JSON
		item.ResponseItemVariant, c.malformed = &protocol.Unknown{Raw: raw}, true
	}
	return item
}

// Sent returns the item as the model receives it, with the text that an edit gave it. A message of another agent is one
// of the user.
func (c *Item) Sent() protocol.ResponseItem {
	if c.visibility.Text == nil {
		return protocol.PeerMessageForm(c.Protocol())
	}
	return WithText(c.Decode(), *c.visibility.Text)
}

// Text returns the text of the item that costs tokens: the one that an edit gave it, or its own. The
// decoded form does not stay in memory.
func (c *Item) Text() string {
	if c.visibility.Text != nil {
		return *c.visibility.Text
	}
	return ContentText(c.Decode())
}

// Peek returns JSON whose strings contain the text of the item. Line feeds between parts of the text are missing. It
// returns nil if the item has to be decoded. The JSON is valid until another item is read. It overrides Peek of the
// reference, whose JSON has the text before edits.
func (c *Item) Peek() []byte {
	if c.visibility.Text != nil || c.role == call { // a call is its name and its arguments
		return nil
	}
	return c.Ref.Peek()
}

// ID returns the id by which clients name the item: r and the ordinal of its line, and the position
// within a compacted line.
func (c *Item) ID() string {
	id := "r" + strconv.FormatInt(c.ordinal, 10)
	if c.Part >= 0 {
		id += "." + strconv.Itoa(int(c.Part))
	}
	return id
}

// Ordinal returns the ordinal of the item's line.
func (c *Item) Ordinal() int64 { return c.ordinal }

// TurnID returns the id of the item's turn, or "".
func (c *Item) TurnID() string { return c.turnID }

// CallID returns the id that a call and its output share, or "".
func (c *Item) CallID() string { return c.callID }

// Size returns the length of the item's JSON, in bytes.
func (c *Item) Size() int64 { return int64(c.size) }

// Pair returns the place of a call's output, or of an output's call, or None.
func (c *Item) Pair() int { return int(c.pair) }

// IsCall reports whether the item is a call of a tool.
func (c *Item) IsCall() bool { return c.role == call }

// IsOutput reports whether the item is the output of a tool.
func (c *Item) IsOutput() bool { return c.role == output }

// IsMessage reports whether the item is a message.
func (c *Item) IsMessage() bool { return c.message }

// IsSummary reports whether the item is the summary of a compaction or a trim.
func (c *Item) IsSummary() bool { return c.summary }

// IsTrimSummary reports whether the item is a summary that came with a trim point.
func (c *Item) IsTrimSummary() bool { return c.ofPoint }

// IsNotice reports whether this server wrote the message to inform the model: about the
// environment, the instructions, memories, the mode, or skills.
func (c *Item) IsNotice() bool { return c.notice != noNotice }

// IsPart reports whether the item is a part of a compacted line.
func (c *Item) IsPart() bool { return c.Part != lineref.Whole }

// InForm reports whether the next request uses this form of the item. It is false for the items
// before an encrypted compaction if that is sent, and for the compaction otherwise.
func (c *Item) InForm() bool { return c.replacedBy == noForm }

// IsUnsentCompaction reports whether the item belongs to an encrypted compaction that is not sent,
// because the next request has the originals.
func (c *Item) IsUnsentCompaction() bool { return c.replacedBy == originals }

// Hidden reports whether a compaction, a trim or a revert took the item out.
func (c *Item) Hidden() bool { return c.visibility.hidden }

// Deleted reports whether an edit deleted the item.
func (c *Item) Deleted() bool { return c.visibility.deleted }

// Excluded reports whether an edit excluded the item.
func (c *Item) Excluded() bool { return c.visibility.excluded }

// Noted reports whether an edit that saves tokens excluded the item: its placeholder has a note.
func (c *Item) Noted() bool { return c.visibility.excluded && c.visibility.PlaceholderNote != "" }

// Replaced reports whether an edit gave the item another text.
func (c *Item) Replaced() bool { return c.visibility.Text != nil }

// Pinned reports whether an edit pinned the item.
func (c *Item) Pinned() bool { return c.visibility.pinned }

// Listed reports whether clients see the item.
func (c *Item) Listed() bool {
	return !c.visibility.hidden && !c.visibility.deleted
}

// Kept reports whether the item is listed and not excluded. A kept item may still not fit the next
// request, see [History.NotSent].
func (c *Item) Kept() bool { return c.Listed() && !c.visibility.excluded }

// MaxTokens returns an upper bound of the item's cost before the scale, without counting: no text
// has more tokens than bytes.
func (c *Item) MaxTokens() int64 {
	bytes := int64(c.size) + int64(c.price) + int64(c.images)*imageTokens
	if c.visibility.Text != nil {
		bytes += int64(len(*c.visibility.Text))
	}
	return bytes + messageTokens
}

// SetRef replaces the reference to the item's payload.
func (c *Item) SetRef(ref lineref.Ref) { c.Ref = ref }

func (c *Item) isWellFormed() bool {
	if !c.decoded {
		c.Decode()
	}
	return !c.malformed
}

// endsAnswer reports whether the item ends the answer of a model.
func (c *Item) endsAnswer() bool { return c.role == output || c.ofUser || c.notice != noNotice }

var (
	// imageMark occurs at least once for each image of an item.
	imageMark = []byte(`"input_image"`)
	// echoMark occurs in items that go back to their provider with additional data.
	echoMark = []byte(`"provider_echo"`)
	// textOutputMark begins the text of an output. An output that is a text has no images.
	textOutputMark = []byte(`"output":"`)
	// nativeKinds are the items that only the API of their provider knows.
	nativeKinds = map[string]bool{
		WebSearchCall: true, "image_generation_call": true,
		"compaction": true, "compaction_summary": true, "context_compaction": true,
	}
)

// WebSearchCall is the type of the items by which a provider reports its searches.
const WebSearchCall = "web_search_call"

// classify sets the fields that depend on the item's JSON.
func (c *Item) classify() {
	kind := member(c.Raw, "type")
	fromPeer := kind == protocol.PeerMessageType
	c.role, c.pair, c.message = roleOf(kind), None, kind == "message" || fromPeer
	c.ofUser = fromPeer || c.message && member(c.Raw, "role") == protocol.RoleUser
	c.reasoning, c.native = kind == "reasoning", nativeKinds[kind]
	if encrypted := len(member(c.Raw, "encrypted_content")); encrypted > 0 && (c.reasoning || c.native) {
		c.encrypted, c.price = c.reasoning, estimateEncrypted(encrypted)
	}
	c.raw = c.reasoning && !c.encrypted && member(c.Raw, "content.0.text") != ""
	c.size = int32(min(len(c.Raw), math.MaxInt32))
	if c.role != unpaired {
		c.callID = member(c.Raw, "call_id")
	}
	c.scan()
}

// scan searches the JSON for members that few items have. Outputs are the largest items, so most of
// them are not searched.
func (c *Item) scan() {
	isOutput := c.role == output
	c.carrier = !isOutput && !c.ofUser && bytes.Contains(c.Raw, echoMark) &&
		member(c.Raw, "provider_echo.reasoning_member") != ""
	if !isOutput || !bytes.Contains(c.Raw[:min(len(c.Raw), 256)], textOutputMark) {
		c.images = int32(bytes.Count(c.Raw, imageMark))
	}
}

func roleOf(kind string) role {
	switch kind {
	case "function_call", "custom_tool_call", "local_shell_call":
		return call
	case "function_call_output", "custom_tool_call_output":
		return output
	}
	return unpaired
}

// member returns a text of a JSON object, or "".
func member(raw json.RawMessage, path string) string { return gjson.GetBytes(raw, path).Str }
