// Package history keeps the input history of a thread's model, and the edits that decide what of it the
// model receives.
//
// # Items
//
// A [History] has every item that ever joined it: messages, reasoning, calls of tools and their outputs.
// Items are never removed. The index of an item is its place, which stays valid for the life of the
// history. Clients name an item by its id, which is made of the ordinal of its line in the rollout.
//
// An item is listed unless it is hidden or deleted. A listed item is kept unless it is excluded. The next
// request has the kept items that its recipient can read: [History.NotSent] gives the reason for any other
// item. Compactions, trims and reverts hide items; clients exclude, delete, pin and replace them. An include also
// brings back hidden and deleted items; [History.NotReturnable] gives the reason for those that stay out.
//
// A call and its output belong together. If the output is taken out, the prompt has a placeholder for it,
// because providers demand an output for each call. If the call is taken out, the output goes as well.
// Reasoning goes back only to the model that made it, together with the text or call that followed it.
//
// # Edits
//
// Every edit is a line of the rollout: context_edit, compacted or trim_point. [History.Plan] decides what an
// operation of a client changes, [History.Encode] makes the line, and [History.ApplyEdit] applies it, live
// and after a restart. The journal has the edits with their changes, so that each can be undone and redone.
// The revision counts them. A revert ends what can be undone. [History.PlanAll] joins several operations in
// one edit. [History.PathTo] returns the undos or redos that lead to the revision of an edit.
//
// # Trim points
//
// A trim point replaces all items before a boundary, except for retained ones, by an optional summary. A
// compaction is a trim point with a summary. [History.TrimPoints] returns those in force.
//
// # Tokens
//
// The cost of an item is counted on first use, by the [Tokenizer] of the options, and then kept. Counts are
// scaled to the reports of the provider. The cost of a request's other parts, its overhead, is a parameter.
//
// The usage is the sum of all costs. It is kept: an edit of a few items counts only these items and those that depend
// on them. After any other change, [History.Usage] counts all items.
//
// # Files
//
//   - history.go has the [History], item.go an item, and visibility.go the effect of edits on an item.
//   - join.go adds items and pairs calls with outputs. order.go has the order of the items, and those that are shown.
//   - line.go, edit.go and journal.go apply, undo and redo the lines of edits, and changes.go their changes of items.
//     compacted.go, trimpoint.go and revert.go have the edits that hide items.
//   - operation.go has the table of the operations of clients. Each has a file op*.go with its plan, its effect and
//     what a restore takes back.
//   - plan.go selects the items of an operation. preview.go and copy.go try operations.
//   - retain.go has the items that a trim keeps, savings.go the tokens that edits saved.
//   - sent.go, prompt.go, encrypted.go and notice.go decide what the next request has.
//   - content.go, describe.go, price.go and usage.go count its cost, tokens.go by script. scale.go and
//     calibrate.go scale counts to the reports of providers.
//   - view.go, readitem.go, reasons.go, notification.go and removed.go have what clients see.
//   - snapshot.go and snapshotitems.go store the state. projection.go rewrites the rollout for other programs.
//
// # Decisions
//
// An item stays JSON until a request needs it, and its JSON can stay in the rollout: a thread of 50 MB would
// need several times that memory otherwise.
//
// An encrypted compaction does not replace the items before it. Both are kept, because only the provider
// that made the compaction can read it, and the user may change the provider. [History.ChooseForms] decides.
//
// Going to a revision is a line for each undo or redo, not a line of its own: versions that do not know it
// replay those. A line with several edits has no such form, because each would need an undo of its own. Older
// versions count it as a revision that changes nothing.
//
// An item that a compaction or a trim took out returns to its place in the order, before the summary. The state is
// then that of an item which was pinned before the compaction and unpinned after it, so trims, snapshots, undo and
// readers without edits need nothing new. A place behind the summary would make the order a part of the edit. A
// copy at the end would have another id, and calls would need new ids of their own.
//
// A reader that ignores edits still has to send the same prompt. [History.Projection] rewrites the lines for
// it. The alternative, lines that such a reader understands, would lose undo.
package history
