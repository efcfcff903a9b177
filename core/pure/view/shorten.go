package view

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"appserver/platform/excerpt"
	"appserver/protocol"
)

// cutter cuts texts to a number of characters, and notes that it did.
type cutter struct {
	limit int
	cut   bool
}

// shortItem returns an item whose texts have at most limit characters and an ellipsis, and whether one
// was cut. It does not change the given item. The output of a command keeps its end, which has the
// errors; other texts keep their beginning. Data of images and sounds that exceeds the limit becomes
// empty. Ids, paths and items of unknown types stay whole.
func shortItem(item protocol.ThreadItem, limit int) (short protocol.ThreadItem, truncated bool) {
	c := &cutter{limit: limit}
	if variant := c.variant(item.ThreadItemVariant); c.cut {
		item.ThreadItemVariant = variant
	}
	return item, c.cut
}

func (c *cutter) variant(variant protocol.ThreadItemVariant) protocol.ThreadItemVariant {
	switch v := variant.(type) {
	case *protocol.UserMessageItem:
		short := *v
		short.Content = each(v.Content, c.input)
		return &short
	case *protocol.AgentMessageItem:
		short := *v
		short.Text = c.head(v.Text)
		return &short
	case *protocol.PlanItem:
		short := *v
		short.Text = c.head(v.Text)
		return &short
	case *protocol.ReasoningItem:
		short := *v
		short.Summary, short.Content = each(v.Summary, c.head), each(v.Content, c.head)
		return &short
	case *protocol.EnteredReviewModeItem:
		short := *v
		short.Review = c.head(v.Review)
		return &short
	case *protocol.ExitedReviewModeItem:
		short := *v
		short.Review = c.head(v.Review)
		return &short
	}
	return c.call(variant)
}

// call cuts the texts of a call of a tool.
func (c *cutter) call(variant protocol.ThreadItemVariant) protocol.ThreadItemVariant {
	switch v := variant.(type) {
	case *protocol.CommandExecutionItem:
		return c.command(v)
	case *protocol.FileChangeItem:
		short := *v
		short.Changes = each(v.Changes, func(change protocol.FileUpdateChange) protocol.FileUpdateChange {
			change.Diff = c.head(change.Diff)
			return change
		})
		return &short
	case *protocol.McpToolCallItem:
		return c.serverCall(v)
	case *protocol.DynamicToolCallItem:
		short := *v
		short.Arguments = c.json(v.Arguments)
		short.ContentItems = each(v.ContentItems, c.clientContent)
		return &short
	case *protocol.WebSearchItem:
		return c.webSearch(v)
	case *protocol.CollabAgentToolCallItem:
		short := *v
		short.Prompt = c.optional(v.Prompt)
		return &short
	}
	return variant
}

func (c *cutter) command(v *protocol.CommandExecutionItem) *protocol.CommandExecutionItem {
	short := *v
	short.Command = c.head(v.Command)
	short.CommandActions = each(v.CommandActions, func(action protocol.CommandAction) protocol.CommandAction {
		action.Command, action.Query = c.head(action.Command), c.optional(action.Query)
		return action
	})
	if v.AggregatedOutput != nil {
		short.AggregatedOutput = new(c.tail(*v.AggregatedOutput))
	}
	return &short
}

func (c *cutter) webSearch(v *protocol.WebSearchItem) *protocol.WebSearchItem {
	short := *v
	short.Query, short.Results = c.head(v.Query), each(v.Results, c.json)
	if v.Action != nil {
		action := *v.Action
		action.Query, action.Pattern = c.optional(action.Query), c.optional(action.Pattern)
		action.Queries = each(action.Queries, c.head)
		short.Action = &action
	}
	return &short
}

func (c *cutter) clientContent(content protocol.DynamicToolContent) protocol.DynamicToolContent {
	switch v := content.DynamicToolContentVariant.(type) {
	case *protocol.DynamicToolText:
		return protocol.DynamicToolContent{DynamicToolContentVariant: &protocol.DynamicToolText{Text: c.head(v.Text)}}
	case *protocol.DynamicToolImage:
		short := *v
		short.ImageURL = c.dataURL(v.ImageURL)
		return protocol.DynamicToolContent{DynamicToolContentVariant: &short}
	}
	return content
}

func (c *cutter) serverCall(v *protocol.McpToolCallItem) *protocol.McpToolCallItem {
	short := *v
	short.Arguments = c.json(v.Arguments)
	if v.Result != nil {
		result := *v.Result
		result.Content = each(result.Content, c.content)
		result.StructuredContent, result.Meta = c.json(result.StructuredContent), c.json(result.Meta)
		short.Result = &result
	}
	if v.Error != nil {
		short.Error = &protocol.McpToolCallError{Message: c.head(v.Error.Message)}
	}
	return &short
}

// content cuts an element of a result. A text stays a text. A long element of another type becomes a
// text with the beginning of its JSON.
func (c *cutter) content(raw json.RawMessage) json.RawMessage {
	if utf8.RuneCount(raw) <= c.limit {
		return raw
	}
	var element struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if protocol.Unmarshal(raw, &element) != nil || element.Type != "text" {
		element.Type, element.Text = "text", string(raw)
	}
	element.Text = c.head(element.Text)
	short, err := protocol.Marshal(element)
	if err != nil {
		return raw
	}
	return short
}

// json returns a value, or a string with the beginning of its JSON.
func (c *cutter) json(raw json.RawMessage) json.RawMessage {
	if utf8.RuneCount(raw) <= c.limit {
		return raw
	}
	short, err := protocol.Marshal(c.head(string(raw)))
	if err != nil {
		return raw
	}
	return short
}

func (c *cutter) input(in protocol.UserInput) protocol.UserInput {
	switch v := in.UserInputVariant.(type) {
	case *protocol.TextInput:
		short := *v
		if short.Text = c.head(v.Text); short.Text != v.Text {
			short.TextElements = []protocol.TextElement{} // they may be in the part that is missing
		}
		return protocol.UserInput{UserInputVariant: &short}
	case *protocol.ImageInput:
		short := *v
		short.URL = c.dataURL(v.URL)
		return protocol.UserInput{UserInputVariant: &short}
	case *protocol.AudioInput:
		short := *v
		short.URL = c.dataURL(v.URL)
		return protocol.UserInput{UserInputVariant: &short}
	}
	return in
}

// dataURL returns a URL, or an empty one if it has long data. A part of an image or of a sound would
// not be valid.
func (c *cutter) dataURL(url string) string {
	if len(url) <= c.limit || !strings.HasPrefix(url, "data:") {
		return url
	}
	c.cut = true
	return "data:,"
}

func (c *cutter) head(text string) string {
	short := excerpt.FirstRunes(text, c.limit)
	c.cut = c.cut || short != text
	return short
}

func (c *cutter) optional(text *string) *string {
	if text == nil {
		return nil
	}
	return new(c.head(*text))
}

func (c *cutter) tail(text string) string {
	short := excerpt.LastRunes(text, c.limit)
	c.cut = c.cut || short != text
	return short
}

// each returns the results of a function for each value of a list. A nil list stays nil.
func each[T any](list []T, change func(T) T) []T {
	if list == nil {
		return nil
	}
	changed := make([]T, len(list))
	for i, v := range list {
		changed[i] = change(v)
	}
	return changed
}
