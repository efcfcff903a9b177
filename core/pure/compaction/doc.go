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
// user asked. [Rules.Accept] checks the answer of a model. [Rules.Audit] holds any summary against the facts of the
// span, adds the user's rules that it lacks, and lists what else it loses.
//
// Tokens are those of the next request as the provider would report them.
//
// # Decisions
//
// The messages of the user stay as far as there is room, because a summary loses the exact words of a rule.
// The first message stays before others: it usually has the task.
//
// Each compaction records the rules that its summary keeps, in the user's words. Rules that the next summary has in
// other words would be lost with the one after it, if only the text of a summary were read.
//
// A rule is added even if a summary has it in other words that the audit does not recognise: a rule that is there
// twice costs some tokens, a lost one the user's trust.
//
// A model's summary that is much shorter than the summary before it is added to it. A summary of a summary
// of a summary would have no content at the end.
package compaction
