package core_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// contextEditText returns a context_edit line.
func contextEditText(p gjson.Result) string {
	text := words("context_edit", p.Get("revision").Raw, p.Get("op").Str, joined(p.Get("ids")), shortIf("", p.Get("text")))
	for _, member := range []string{"tokens", "target", "saved_tokens"} {
		if v := p.Get(member); v.Exists() {
			text = words(text, member+"="+v.Raw)
		}
	}
	for _, note := range p.Get("notes").Array() {
		text += "\n  note " + note.Str
	}
	if reason := p.Get("reason"); reason.Exists() {
		text += "\n  " + words("reason", reason.Str, p.Get("economy").Raw)
	}
	if client := p.Get("client_name"); client.Exists() {
		text = words(text, "by", client.Str)
	}
	for _, e := range p.Get("edits").Array() {
		text += "\n  " + contextEditText(e)
	}
	return text
}

func joined(list gjson.Result) string {
	var parts []string
	for _, v := range list.Array() {
		parts = append(parts, v.String())
	}
	return strings.Join(parts, ",")
}

// contextAnswerText returns an answer about the context, without what the system prompt and
// the tools cost; ok is false for other answers.
func contextAnswerText(p gjson.Result) (text string, ok bool) {
	if before := p.Get("before"); before.Exists() {
		text = fmt.Sprintf("before: %s; after: %s", sizeText(before), sizeText(p.Get("after")))
		for _, warning := range p.Get("warningDetails").Array() {
			text += "\n  " + words(warning.Get("code").Str+":", warning.Get("text").Str)
		}
		for _, c := range p.Get("changes").Array() {
			text += "\n  " + words(c.Get("id").Str, c.Get("was").Str, "->", c.Get("is").Str)
		}
		text += "\n  " + words("cache", p.Get("cache").Raw, "price", p.Get("netPrice").Raw)
		return text, true
	}
	if list := p.Get("suggestions"); list.Exists() {
		text = words("revision="+p.Get("revision").Raw, "expected="+p.Get("expectedRequests").Raw,
			"price", p.Get("netPrice").Raw, "goal", p.Get("goalReached").Raw)
		for _, g := range list.Array() {
			text += "\n  " + words(g.Get("id").Str, g.Get("risk").Str, "selected="+g.Get("selected").Raw,
				joined(g.Get("itemIds")), g.Get("netPrice").Raw) + "\n    " + g.Get("text").Str
		}
		return text, true
	}
	if !p.Get("revision").Exists() {
		return "", false
	}
	text = "revision=" + p.Get("revision").Raw
	if item := p.Get("item"); item.Exists() {
		return words(text, p.Get("reason.code").Str) + "\n  " + contextItemText(item) + "\n  " +
			p.Get("reason.text").Str + "\n  sent " + p.Get("sent").Raw + "\n  original " + p.Get("original").Raw, true
	}
	for _, member := range []string{"changed", "removed", "restored", "ignored", "total", "nextCursor"} {
		if v := p.Get(member); v.Exists() && v.Type != gjson.Null {
			text = words(text, member+"="+v.String())
		}
	}
	if applied := p.Get("applied"); applied.Exists() {
		text = words(text, "applied="+applied.Raw)
	}
	for _, member := range []string{"undone", "redone", "edit"} {
		switch e := p.Get(member); {
		case e.IsObject():
			text = words(text, member+": "+editText(e))
		case e.Type == gjson.Number:
			text = words(text, member+"="+e.Raw)
		}
	}
	if u := p.Get("usage"); u.Exists() {
		text += ", " + sizeText(u)
		if p.Get("@keys.#").Int() == 2 { // the answer to context/getUsage
			text += categoriesText(u)
		}
	}
	for _, i := range p.Get("items").Array() {
		text += "\n  " + contextItemText(i)
	}
	for _, e := range p.Get("edits").Array() {
		text += "\n  " + editText(e)
	}
	return text, true
}

// sizeText returns the included and the total size of the context.
func sizeText(u gjson.Result) string {
	return fmt.Sprintf("%s of %s tokens, %s of %s bytes",
		u.Get("includedTokens").Raw, u.Get("totalTokens").Raw, u.Get("includedBytes").Raw, u.Get("totalBytes").Raw)
}

func categoriesText(u gjson.Result) (text string) {
	text = ", window " + u.Get("modelContextWindow").Raw
	for _, c := range u.Get("byCategory").Array() {
		text += fmt.Sprintf("\n  %s %s: %s of %s tokens", c.Get("count").Raw, c.Get("category").Str,
			c.Get("includedTokens").Raw, c.Get("tokens").Raw)
	}
	return text
}

func contextItemText(i gjson.Result) string {
	text := words(i.Get("index").Raw, i.Get("id").Str, i.Get("category").Str)
	for _, member := range []string{"included", "inPrompt"} {
		if !i.Get(member).Bool() {
			text = words(text, "not", member)
		}
	}
	for _, member := range []string{"pinned", "replaced"} {
		if i.Get(member).Bool() {
			text = words(text, member)
		}
	}
	preview := []rune(i.Get("preview").Str)
	if len(preview) > 40 {
		preview = append(preview[:40], '…')
	}
	return words(text, i.Get("tokens").Raw, i.Get("turnId").Str, i.Get("toolName").Str, strconv.Quote(string(preview)))
}

func editText(e gjson.Result) string {
	text := fmt.Sprintf("%s %s of %s items, %s tokens saved", e.Get("revision").Raw, e.Get("op").Str, e.Get("count").Raw,
		e.Get("savedTokens").Raw)
	if e.Get("undone").Bool() {
		text += ", undone"
	}
	if client := e.Get("clientName"); client.Exists() {
		text += ", by " + client.Str
	}
	for _, c := range e.Get("items").Array() {
		text += "\n    " + words(c.Get("id").Str, c.Get("was").Str, "->", c.Get("is").Str)
	}
	return text
}

// trimPointText returns a trim point of the wire.
func trimPointText(p gjson.Result) string {
	return words("point", p.Get("id").Str, p.Get("reason").Str, "pruned="+p.Get("prunedMessageCount").Raw,
		joined(p.Get("prunedTurnIds")),
		"between", p.Get("beforeEntryId").String(), "and", p.Get("firstKeptItemId").String(),
		shortIf("summary=", p.Get("summary")))
}

// storedPointText returns a trim point of a line.
func storedPointText(p gjson.Result) string {
	text := words(p.Get("id").Str, p.Get("reason").Str, "revision="+p.Get("revision").Raw, "from="+p.Get("keep_from").Str,
		"boundary="+p.Get("boundary").Raw)
	if kept := joined(p.Get("kept")); kept != "" {
		text = words(text, "kept="+kept)
	}
	if saved := p.Get("saved_tokens"); saved.Exists() {
		text = words(text, "saved_tokens="+saved.Raw)
	}
	if rules := p.Get("rules"); rules.Exists() {
		text = words(text, "rules="+rules.Raw)
	}
	return words(text, shortIf("summary=", p.Get("summary")))
}

// cutNoticeText returns a notification about trim points and provider sessions.
func cutNoticeText(p gjson.Result) string {
	switch {
	case p.Get("trimPoint").Exists():
		return trimPointText(p.Get("trimPoint"))
	case p.Get("bootstrap").Exists():
		return words(p.Get("sessionId").Str, p.Get("bootstrap.kind").Str, joined(p.Get("bootstrap.turnIds")),
			shortIf("summary=", p.Get("bootstrap.summary")))
	}
	return words(p.Get("sessionId").Str, p.Get("trimPointId").Str, shortIf("", p.Get("summary")),
		durationText(p.Get("compactDurationMs")))
}

// draftText returns the draft of a compaction, with the losses of its summary.
func draftText(p gjson.Result) string {
	text := words("draft", p.Get("draftId").Str, p.Get("strategy").Str, "revision="+p.Get("revision").Raw,
		p.Get("tokensBefore").Raw, "to", p.Get("tokensAfter").Raw, "tokens",
		shortIf("warning=", p.Get("warning")))
	text += "\n  replaces " +
		words(joined(p.Get("replaces.itemIds")), "of", joined(p.Get("replaces.turnIds")), p.Get("replaces.messageCount").Raw,
			"messages")
	text += "\n  " + strconv.Quote(p.Get("summary").Str)
	return text + auditText(p, p.Get("lossDetails"))
}

// auditText prints the rules that a compaction adds, and its losses.
func auditText(p, losses gjson.Result) (text string) {
	p.Get("rulesAdded").ForEach(func(_, rule gjson.Result) bool {
		text += "\n  adds " + rule.Raw
		return true
	})
	losses.ForEach(func(_, loss gjson.Result) bool {
		text += "\n  loses " + words(loss.Get("kind").Str, loss.Get("text").Raw, "of", joined(loss.Get("itemIds")))
		return true
	})
	return text
}
