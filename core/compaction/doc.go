// Package compaction decides which items of a history a compaction replaces, and by what text.
//
// # Plan
//
// A [Context] is a history with the facts of the thread on which a plan depends. It makes a [Plan]: the first
// item that stays, and earlier messages of the user that stay word for word. All other items before it go,
// except for the items that every trim retains. [Context.ToTarget] plans for a number of tokens, [Context.Whole]
// and [Context.Keeping] for a number of turns.
//
// # Text
//
// [Context.Span] returns the items that a plan replaces. A summary of them is made by a model from
// [Context.Transcript], or without a model: [Rules.Extract] collects facts, [Rules.Requests] lists what the
// user asked. [Rules.Accept] checks the answer of a model, and [Rules.AddConstraints] adds the user's rules
// that it does not mention.
//
// Tokens are those of the next request as the provider would report them.
//
// # Decisions
//
// The messages of the user stay as far as there is room, because a summary loses the exact words of a rule.
// The first message stays before others: it usually has the task.
//
// A model's summary that is much shorter than the summary before it is added to it. A summary of a summary
// of a summary would have no content at the end.
package compaction
