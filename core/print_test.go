package core_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/protocol"
)

// This file writes outputs in the short form of scripts: one line for each rollout
// line, message and effect, in the order in which they take effect.

func printOutput(b *strings.Builder, out core.Output) {
	for _, line := range out.Lines {
		fmt.Fprintf(b, "line %d %s\n", *line.Ordinal, lineText(line))
	}
	if out.Sync {
		b.WriteString("sync\n")
	}
	if out.Archive {
		b.WriteString("archive\n")
	}
	for _, m := range out.Messages {
		fmt.Fprintln(b, messageText(m))
	}
	for _, e := range out.Effects {
		fmt.Fprintln(b, effectText(e))
	}
}

// words joins what is there.
func words(parts ...string) string {
	var there []string
	for _, p := range parts {
		if p != "" {
			there = append(there, p)
		}
	}
	return strings.Join(there, " ")
}

// short returns a text in quotes, cut after 60 characters.
func short(text string) string {
	if r := []rune(text); len(r) > 60 {
		text = string(r[:60]) + "…"
	}
	return strconv.Quote(text)
}

// shortIf abbreviates a JSON string. It returns "" if it is absent or null.
func shortIf(label string, v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return label + short(v.Str)
}

func lineText(line protocol.RolloutLine) string {
	p := gjson.ParseBytes(line.Payload)
	switch line.Type {
	case protocol.LineSessionMeta:
		return words("session_meta", p.Get("id").Str, p.Get("history_mode").Str)
	case protocol.LineTurnContext:
		return words("turn_context", p.Get("model").Str, p.Get("cwd").Str, p.Get("approval_policy").String(),
			p.Get("sandbox_policy.type").Str, p.Get("effort").Str)
	case protocol.LineResponseItem:
		return promptItemText(line.Payload)
	case protocol.LineEventMsg:
		return eventText(p)
	case protocol.LineContextEdit:
		return contextEditText(p)
	case protocol.LineTrimPoint:
		return words("trim_point", storedPointText(p))
	case protocol.LineCompacted:
		return words("compacted", p.Get("strategy").Str, short(p.Get("message").Str), storedPointText(p.Get("trim_point")))
	case protocol.LineCheckpoint:
		return words("checkpoint", checkpointText(p))
	case protocol.LineWorktreeChanges:
		return words("worktree_changes", p.Get("id").Str, changesText(p))
	case protocol.LineTurnWaiting:
		return words(line.Type, p.Get("turn_id").Str, p.Get("call_id").Str, shortIf("denied=", p.Get("denied.output")))
	case protocol.LineMemoryMode:
		return words(line.Type, p.Get("mode").Str)
	case protocol.LineProviderSession:
		return words("provider_session", p.Get("id").Str, p.Get("bootstrap").Str)
	}
	return line.Type
}

func eventText(p gjson.Result) string {
	kind := p.Get("type").Str
	switch kind {
	case protocol.EventItemCompleted:
		return words(kind, p.Get("item.type").Str, p.Get("item.id").Str)
	case protocol.EventTokenCount:
		return words(kind, "last="+p.Get("info.last_token_usage.total_tokens").Raw, "total="+
			p.Get("info.total_token_usage.total_tokens").Raw, p.Get("request.kind").Str, shortIf("error=", p.Get("request.error")))
	case protocol.EventTaskComplete:
		return words(kind, p.Get("turn_id").Str, shortIf("", p.Get("last_agent_message")),
			shortIf("error=", p.Get("error.message")), p.Get("error.codex_error_info").Raw)
	}
	return words(kind, p.Get("turn_id").Str, shortIf("", p.Get("message")), shortIf("", p.Get("text")),
		shortIf("", p.Get("thread_name")))
}

// contextText returns the places of changed context items, and the first place of new ones.
func contextText(c core.ContextChanged) string {
	text := fmt.Sprintf("context items from %d on", c.Added)
	if len(c.Places) > 0 {
		text += fmt.Sprintf(", changed %v", c.Places)
	}
	if c.All {
		text += ", all"
	}
	return text
}

// promptItemText returns an item of the model's history.
func promptItemText(raw json.RawMessage) string {
	p := gjson.ParseBytes(raw)
	text := words(p.Get("type").Str, p.Get("role").Str, p.Get("call_id").Str, p.Get("name").Str)
	for _, part := range append(p.Get("content").Array(), p.Get("summary").Array()...) {
		text = words(text, shortIf("", part.Get("text")), shortIf("image=", part.Get("image_url")),
			shortIf("detail=", part.Get("detail")))
	}
	for _, part := range p.Get("output").Array() {
		text = words(text, shortIf("image=", part.Get("image_url")))
	}
	return words(text, shortIf("", p.Get("arguments")), shortIf("", p.Get("input")), shortIf("", p.Get("output")))
}

func messageText(m core.Message) string {
	switch m := m.(type) {
	case core.Reply:
		return fmt.Sprintf("reply %d %s", m.To.Request, resultText(m.Result))
	case core.Refusal:
		return fmt.Sprintf("refuse %d %d %s %s", m.To.Request, m.Err.Code, m.Err.Data.Kind, strconv.Quote(m.Err.Message))
	case core.Request:
		p := gjson.Parse(encode(m.Params))
		if m.Method == protocol.MethodToolCall || m.Method == protocol.MethodUserInput {
			return words("ask", strconv.FormatUint(m.ID, 10), m.Method, p.Get("callId").Str, p.Get("namespace").Str,
				p.Get("tool").Str, p.Get("arguments").Raw,
				p.Get("itemId").Str, p.Get("questions.#.id").Raw, p.Get("questions.#.isOther").Raw, p.Get("isBlocking").Raw)
		}
		return words("ask", strconv.FormatUint(m.ID, 10), m.Method, p.Get("itemId").Str, shortIf("", p.Get("message")),
			p.Get("_meta.tool_params").Raw, p.Get("requestedSchema.required").Raw, short(p.Get("command").Str),
			shortIf("reason=", p.Get("reason")))
	case core.ContextChanged:
		return contextText(m)
	case core.Notice:
		return words("notify", m.NotificationMethod(), noticeText(gjson.Parse(encode(m.Notification))))
	}
	return fmt.Sprintf("%T", m)
}

func resultText(result any) string {
	p := gjson.Parse(encode(result))
	switch {
	case p.Get("undoCheckpointId").Exists():
		return revertText(p)
	case p.Get("data.0.changedFiles").Exists():
		return checkpointsText(p)
	case p.Get("restoredTurnIds").Exists():
		return words("restored", p.Get("restoredTurnIds").Raw) + ", " + threadText(p)
	case p.Get("thread").Exists():
		return threadText(p)
	case p.Get("turn").Exists():
		return words("turn", p.Get("turn.id").Str, p.Get("turn.status").Str)
	case p.Get("turnId").Exists():
		return words("turn", p.Get("turnId").Str)
	case p.Get("draftId").Exists():
		return draftText(p)
	case p.Get("trimPoint").Exists():
		return words(trimPointText(p.Get("trimPoint")), shortIf("session=", p.Get("sessionId")))
	}
	if text, ok := contextAnswerText(p); ok {
		return text
	}
	if p.Get("activeRealtimeSessionAtPageStart").Exists() {
		return timelineText(p)
	}
	return p.Raw
}

// threadText returns a thread with its turns and their items below it.
func threadText(p gjson.Result) string {
	t := p.Get("thread")
	text := words("thread", t.Get("id").Str, statusText(t.Get("status")), shortIf("name=", t.Get("name")),
		short(t.Get("preview").Str), p.Get("model").Str, p.Get("approvalPolicy").String())
	if git := t.Get("gitInfo"); git.IsObject() {
		text = words(text, shortIf("sha=", git.Get("sha")), shortIf("branch=", git.Get("branch")),
			shortIf("origin=", git.Get("originUrl")))
	}
	for _, turn := range t.Get("turns").Array() {
		text += "\n  " + turnText(turn)
		for _, item := range turn.Get("items").Array() {
			text += "\n    " + itemText(item)
		}
	}
	return text
}

func statusText(s gjson.Result) string {
	text := s.Get("type").Str
	for _, flag := range s.Get("activeFlags").Array() {
		text = words(text, flag.Str)
	}
	return text
}

func turnText(t gjson.Result) string {
	return words("turn", t.Get("id").Str, t.Get("status").Str, durationText(t.Get("durationMs")),
		shortIf("error=", t.Get("error.message")), t.Get("error.codexErrorInfo").Raw)
}

func durationText(ms gjson.Result) string {
	if ms.Type != gjson.Number {
		return ""
	}
	return ms.Raw + "ms"
}

func itemText(i gjson.Result) string {
	text := words(i.Get("type").Str, i.Get("id").Str, shortIf("", i.Get("text")), shortIf("", i.Get("command")),
		i.Get("cwd").Str, i.Get("status").Str, i.Get("source").Str)
	for _, part := range append(i.Get("summary").Array(), i.Get("content").Array()...) {
		text = words(text, shortIf("", part), shortIf("", part.Get("text")), shortIf("image=", part.Get("url")),
			shortIf("path=", part.Get("path")))
	}
	if i.Get("type").Str == "imageView" {
		text = words(text, i.Get("path").Str)
	}
	for _, change := range i.Get("changes").Array() {
		text = words(text, change.Get("path").Str, change.Get("kind.type").Str, shortIf("to ", change.Get("kind.move_path")),
			shortIf("", change.Get("diff")))
	}
	if i.Get("type").Str == "mcpToolCall" {
		text = words(text, i.Get("server").Str+"/"+i.Get("tool").Str, i.Get("arguments").Raw, i.Get("result.content").Raw,
			i.Get("result.structuredContent").Raw, shortIf("error=", i.Get("error.message")), durationText(i.Get("durationMs")))
	}
	if code := i.Get("exitCode"); code.Type == gjson.Number {
		text = words(text, "exit="+code.Raw)
	}
	return words(text, shortIf("", i.Get("aggregatedOutput")))
}

// noticeText returns the part of a notification that scripts show.
func noticeText(p gjson.Result) string {
	switch {
	case p.Get("trimPoint").Exists(), p.Get("trimPointId").Exists(), p.Get("sessionId").Exists():
		return cutNoticeText(p)
	case p.Get("item").Exists():
		return itemText(p.Get("item"))
	case p.Get("stdin").Exists():
		return words(p.Get("turnId").Str, p.Get("itemId").Str, p.Get("processId").Str, strconv.Quote(p.Get("stdin").Str))
	case p.Get("delta").Exists():
		return words(p.Get("itemId").Str, short(p.Get("delta").Str))
	case p.Get("status").Exists():
		return statusText(p.Get("status"))
	case p.Get("newTokenCount").Exists():
		return words(p.Get("turnId").Str, p.Get("strategy").Str, p.Get("oldTokenCount").Raw, "to", p.Get("newTokenCount").Raw,
			"tokens") + auditText(p, p.Get("losses"))
	case p.Get("tokenUsage").Exists():
		return words("last="+p.Get("tokenUsage.last.totalTokens").Raw, "total="+p.Get("tokenUsage.total.totalTokens").Raw)
	case p.Get("error").Exists():
		retry := ""
		if p.Get("willRetry").Bool() {
			retry = "retry"
		}
		return words(short(p.Get("error.message").Str), p.Get("error.codexErrorInfo").Raw,
			shortIf("details=", p.Get("error.additionalDetails")), retry)
	case p.Get("turn").Exists():
		text := turnText(p.Get("turn"))
		for _, item := range p.Get("turn.items").Array() {
			text = words(text, "["+itemText(item)+"]")
		}
		if diff := p.Get("metadata.diff"); diff.Exists() {
			text = words(text, diff.Get("files.#").Raw, "files")
		}
		return text
	case p.Get("stored").Exists():
		return words(p.Get("repoKey").Str, p.Get("stored").Raw)
	case p.Get("diff").Exists():
		return words(p.Get("turnId").Str, short(p.Get("diff").Str))
	case p.Get("plan").Exists():
		text := shortIf("", p.Get("explanation"))
		for _, s := range p.Get("plan").Array() {
			text = words(text, s.Get("status").Str+":"+s.Get("step").Str)
		}
		return text
	}
	return words(shortIf("", p.Get("message")), shortIf("", p.Get("threadName")), p.Get("requestId").Raw,
		p.Get("thread.id").Str)
}

func effectText(e core.Effect) string {
	switch e := e.(type) {
	case core.ModelRequest:
		text := fmt.Sprintf("sample %d, %d items", e.ID, len(e.Prompt.Items))
		return text
	case core.RunTool:
		text := fmt.Sprintf("run %d %q in %s, %v, %s", e.ID, e.Command.Argv, e.Command.Cwd, e.Command.Timeout,
			e.Command.Sandbox.Stored().Type)
		text += [...]string{"", ", confined to reading", ", reading unconfined"}[e.Command.Access]
		if e.Command.Stays {
			text += fmt.Sprintf(", stays, tty %v", e.Command.TTY)
		}
		return words(text, trackText(e.Track))
	case core.WriteStdin:
		return words(fmt.Sprintf("type %d on %d: %q", e.ID, e.Command, e.Text), trackText(e.Track))
	case core.PlanPatch:
		return fmt.Sprintf("plan patch %d in %q of %q, %s", e.ID, e.Dir, e.Root, short(e.Text))
	case core.WritePatch:
		text := fmt.Sprintf("write %d in %s:", e.ID, e.Dir)
		for _, f := range e.Files {
			text = words(text, f.Path)
		}
		return words(text, trackText(e.Track))
	case core.CallTool:
		return fmt.Sprintf("call %d %s/%s %s", e.ID, e.Server, e.Tool, e.Arguments)
	case core.AwaitTools:
		return fmt.Sprintf("await tools %d", e.ID)
	case core.AnswerServer:
		return words(fmt.Sprintf("answer question %d %s", e.Question, e.Answer.Action), string(e.Answer.Content))
	case core.ReadImage:
		return fmt.Sprintf("read image %d, %s, confined %v", e.ID, e.Path, e.Confined)
	case core.Timer:
		if e.Spread {
			return fmt.Sprintf("timer %d, about %v", e.ID, e.Delay)
		}
		return fmt.Sprintf("timer %d, %v", e.ID, e.Delay)
	case core.Cancel:
		return fmt.Sprintf("cancel %d", e.ID)
	case core.CaptureTree:
		return fmt.Sprintf("capture %d of %s for %s", e.ID, e.Dir, e.Turn)
	case core.DeleteCheckpoints:
		return "forget " + pointsText(e.Points)
	case core.CopyCheckpoints:
		text := "copy " + pointsText(e.Points)
		for _, c := range e.Changes {
			text += fmt.Sprintf(", %d files of %s", len(c.Changes), c.ID)
		}
		return text
	case core.Recall:
		return fmt.Sprintf("recall %d of %s, %d of %s", e.ID, e.Cwd, e.Limit, short(e.Query))
	case core.Remember:
		text := fmt.Sprintf("remember %d of %s, by model %v", e.ID, e.Cwd, e.ByModel)
		for _, span := range e.Spans {
			text += fmt.Sprintf(", %s %v %s", span.TurnID, span.IDs, short(span.Request))
		}
		return text
	case core.RecordName:
		return fmt.Sprintf("record name %q", e.Name)
	}
	return fmt.Sprintf("%T", e)
}
