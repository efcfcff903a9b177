package slash

import (
	"strconv"
	"strings"

	"appserver/protocol"
)

// Command is a slash command and its method.
type Command struct {
	protocol.SlashCommand
	Method string
	// where explains the arguments in the usage.
	where string
	// params returns the params of the method, or false if the arguments are invalid.
	params func(threadID string, args []string) (params any, ok bool)
}

// nothing explains the usage of commands without arguments.
const nothing = "without arguments"

// Commands returns all slash commands, in the order of lists.
func Commands() []Command {
	return []Command{
		{command("clear [N]", "Trims all turns from the context, or all but the last N."),
			"thread/context/trim", "where N is the number of last turns to keep", trim},
		{command("compact", "Replaces the older turns by a summary."),
			"thread/compact/start", nothing,
			alone(func(id string) any { return &protocol.ThreadCompactStartParams{ThreadID: id} })},
		{command("new", "Archives the conversation and starts one with the same settings and no history."),
			"thread/archiveAndNew", nothing,
			alone(func(id string) any { return &protocol.ThreadArchiveAndNewParams{ThreadID: id} })},
		{command("prune CATEGORY", "Excludes all items of a category from the context."),
			"context/prune", "where CATEGORY is one of " + categories(), prune},
		{command("undo", "Undoes the last edit of the context."),
			"context/undo", nothing,
			alone(func(id string) any { return &protocol.ContextUndoParams{ContextRequest: request(id)} })},
		{command("restore", "Puts back everything that was taken out of the context."),
			"context/restore", nothing,
			alone(func(id string) any { return &protocol.ContextRestoreParams{ContextRequest: request(id)} })},
		duringTurn(Command{command("context", "Shows the cost of the context."),
			"context/getUsage", nothing, alone(func(id string) any { return &protocol.ContextGetUsageParams{ThreadID: id} })}),
	}
}

// List returns the commands in the form of the protocol.
func List() (list []protocol.SlashCommand) {
	for _, c := range Commands() {
		list = append(list, c.SlashCommand)
	}
	return list
}

func command(usage, description string) protocol.SlashCommand {
	name, _, _ := strings.Cut(usage, " ")
	return protocol.SlashCommand{Name: name, Usage: "/" + usage, Description: description}
}

func duringTurn(c Command) Command {
	c.AvailableDuringTurn = true
	return c
}

func request(id string) protocol.ContextRequest { return protocol.ContextRequest{ThreadID: id} }

// alone wraps the params of a command without arguments.
func alone(params func(threadID string) any) func(string, []string) (any, bool) {
	return func(id string, args []string) (any, bool) { return params(id), len(args) == 0 }
}

func trim(id string, args []string) (any, bool) {
	p := &protocol.ThreadContextTrimParams{ThreadID: id}
	if len(args) == 0 {
		return p, true
	}
	n, err := strconv.ParseUint(args[0], 10, 32)
	p.KeepLastNTurns = new(uint32(n))
	return p, err == nil && len(args) == 1
}

func prune(id string, args []string) (any, bool) {
	if len(args) != 1 {
		return nil, false
	}
	category, known := protocol.ContextCategoryOf(args[0])
	return &protocol.ContextPruneParams{
		ContextRequest: request(id),
		Prune:          protocol.Prune{Categories: []protocol.ContextCategory{category}},
	}, known
}

func categories() string {
	var list []string
	for _, c := range protocol.ContextCategories() {
		list = append(list, string(c))
	}
	return strings.Join(list, ", ")
}
