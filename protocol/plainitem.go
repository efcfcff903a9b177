package protocol

import "github.com/tidwall/gjson"

// plainVariant is a variant of ResponseItem that is read without reflection.
type plainVariant interface {
	ResponseItemVariant
	// plainMember returns a pointer to the field of a member, or nil.
	plainMember(name string) any
}

// plainItem decodes a message, a call or an output that has known members only. It returns false for other items,
// which the table of variants decodes. b is valid JSON.
func plainItem(b []byte) (ResponseItemVariant, bool) {
	if len(b) == 0 || b[0] != '{' {
		return nil, false
	}
	var v plainVariant
	switch gjson.GetBytes(b, "type").Str {
	case "message":
		v = &Message{Content: []ContentItem{}}
	case "function_call":
		v = &FunctionCall{}
	case "function_call_output":
		v = &FunctionCallOutput{}
	default:
		return nil, false
	}
	for name, value := range Members(b) {
		if name != "type" && !readPlain(v.plainMember(name), value) {
			return nil, false
		}
	}
	return v, true
}

// readPlain reads a value into a field. It returns false if Unmarshal has to read it.
func readPlain(field any, value []byte) (ok bool) {
	switch f := field.(type) {
	case *string:
		*f, ok = plainText(value)
	case *ToolOutput:
		ok = f.UnmarshalJSON(value) == nil
	case **TurnRef:
		*f = nil
		ok = Unmarshal(value, f) == nil
	case *[]ContentItem:
		*f, ok = plainParts(value)
	}
	return ok
}

func plainParts(value []byte) (parts []ContentItem, ok bool) {
	parts = []ContentItem{}
	if value[0] != '[' {
		return nil, false
	}
	for element := range Elements(value) {
		var part ContentItem
		if part.UnmarshalJSON(element) != nil {
			return nil, false
		}
		parts = append(parts, part)
	}
	return parts, true
}

func (m *Message) plainMember(name string) any {
	switch name {
	case "id":
		return &m.ID
	case "role":
		return &m.Role
	case "content":
		return &m.Content
	case "phase":
		return &m.Phase
	case "internal_chat_message_metadata_passthrough":
		return &m.TurnRef
	}
	return nil
}

func (c *FunctionCall) plainMember(name string) any {
	switch name {
	case "id":
		return &c.ID
	case "name":
		return &c.Name
	case "namespace":
		return &c.Namespace
	case "arguments":
		return &c.Arguments
	case "call_id":
		return &c.CallID
	case "internal_chat_message_metadata_passthrough":
		return &c.TurnRef
	}
	return nil
}

func (o *FunctionCallOutput) plainMember(name string) any {
	switch name {
	case "id":
		return &o.ID
	case "call_id":
		return &o.CallID
	case "output":
		return &o.Output
	case "internal_chat_message_metadata_passthrough":
		return &o.TurnRef
	}
	return nil
}
