package server

import (
	"strings"

	"appserver/core/engine"
	"appserver/core/pure/slash"
	"appserver/protocol"
)

// SlashCommandList returns the slash commands.
func (h ServerHandlers) SlashCommandList(to protocol.Caller, _ *protocol.SlashCommandListParams) error {
	h.Outbox.Reply(to, protocol.SlashCommandListResponse(slash.List()))
	return nil
}

// SlashCommandParse returns the slash command of a text, or null if the text is not one.
func (h ServerHandlers) SlashCommandParse(to protocol.Caller, p *protocol.SlashCommandParseParams) error {
	var call *protocol.SlashCommandCall
	if typed, found := slash.Find(p.Text); found {
		if _, err := typed.Params(""); err != nil {
			return invalidSlashCommand("text", err)
		}
		call = new(typed.Call())
	}
	h.Outbox.Reply(to, protocol.SlashCommandParseResponse(call))
	return nil
}

// SlashCommandExecute serves the request of the method that a slash command names.
func (m Methods) SlashCommandExecute(to protocol.Caller, p *protocol.SlashCommandExecuteParams) error {
	typed, found := slash.Find(p.Text)
	if !found {
		return protocol.InvalidParams("text", "`text` is not a slash command; expected one of %s", usageList())
	}
	return m.execute(to, p.ThreadID, "text", typed, engine.Proxied{
		InTurn: typed.AvailableDuringTurn,
		Answer: func(result any, _ protocol.Turn) any { return slashResponse(typed, result) },
	})
}

// TurnStart starts a turn. A slash command is executed or rejected instead, as the client
// chose in initialize. It overrides TurnStart of the engine, which knows no slash commands.
func (m Methods) TurnStart(to protocol.Caller, p *protocol.TurnStartParams) error {
	client, _ := m.ServerHandlers.Outbox.Client(to.Conn)
	typed, found := slash.Find(onlyText(p.Input))
	switch {
	case client.SlashCommands == "" || !found:
		return m.Engine.TurnStart(to, p)
	case client.SlashCommands == protocol.SlashRefuse:
		return rejectSlashCommand(typed)
	}
	return m.execute(to, p.ThreadID, "input.0.text", typed, engine.Proxied{
		InTurn: typed.AvailableDuringTurn, TurnOf: p.ThreadID,
		Answer: func(result any, turn protocol.Turn) any {
			return protocol.TurnStartResponse{Turn: turn, SlashCommand: new(slashResponse(typed, result))}
		},
	})
}

// onlyText returns the text of an input that consists of one text, or else "".
func onlyText(input []protocol.UserInput) string {
	if len(input) != 1 {
		return ""
	}
	if in, ok := input[0].UserInputVariant.(*protocol.TextInput); ok {
		return in.Text
	}
	return ""
}

func rejectSlashCommand(typed slash.Typed) error {
	err := protocol.Refuse(
		protocol.KindSlashCommand,
		"%s is a slash command and is not sent to the model; run it with slashCommand/execute or call %s",
		typed.Usage,
		typed.Method,
	)
	err.Data.Field, err.Data.Method = "input.0.text", typed.Method
	return err
}

// execute serves the request of a slash command. field names the parameter with the text, for
// error messages.
func (m Methods) execute(
	to protocol.Caller,
	threadID, field string,
	typed slash.Typed,
	request engine.Proxied,
) error {
	params, err := typed.Params(threadID)
	if err != nil {
		return invalidSlashCommand(field, err)
	}
	raw, err := protocol.Marshal(params)
	if err != nil {
		return err
	}
	row := m.ServerHandlers.Outbox.methods[typed.Method]
	return m.Engine.Proxy(to, request, func() error { return row.Serve(m, to, raw) })
}

func slashResponse(typed slash.Typed, result any) protocol.SlashCommandExecuteResponse {
	return protocol.SlashCommandExecuteResponse{SlashCommandCall: typed.Call(), Result: result}
}

func invalidSlashCommand(field string, err error) error {
	return protocol.InvalidParams(field, "`%s`: %v", field, err)
}

func usageList() string {
	var list []string
	for _, c := range slash.List() {
		list = append(list, c.Usage)
	}
	return strings.Join(list, ", ")
}
