// Package economy finds items of a history that the next requests can do without, and decides when it
// pays to take them out.
//
// # Findings
//
// [Find] names items with a reason, without a model:
//
//   - a read of a file that a later read repeats, or whose file was changed since;
//   - the output of a command that ran again, of a failed one that succeeded later, or the same output
//     as a later one;
//   - an image that an answer followed;
//   - an output that nothing used after the next few outputs;
//   - an output that a patch used, but no recent one;
//   - the reasoning of earlier turns.
//
// It never names messages, pinned items, items of the last turns, and items that the user brought back. It
// names no outputs that a later message quotes. With [Options].QuotesExpire, only recent quotes count. A call
// stays, so that the model sees what it did. Its output gets a placeholder with a note.
//
// # Price
//
// A request costs the tokens of its prompt. The provider reads the prefix that it has in its cache at a
// lower price, the cached price ratio. If an item goes, the prefix behind it leaves the cache and is read
// at the full price once. [Choose] selects the findings whose savings exceed that within the requests that
// the thread is expected to make. If the cache is cold, nothing leaves it, and all findings pay.
//
// # Decisions
//
// A thread is expected to make as many further requests as it has made. No better estimate is known for
// sessions whose lengths differ by powers of ten.
//
// Suggestions leave every quoted output. Automatic edits take out an output after its last quote is old,
// because the message still has the quote. In long sessions, quotes would keep most of the old outputs, and
// edits would save a third less.
//
// Calls of old patches are half of what remains in long sessions. They stay, because models imitate their
// own calls: a shortened patch in the history teaches them to write shortened patches.
//
// An edit at a warm cache may make the session dearer, if the session ends soon after. So the sum of such
// costs is bounded by what earlier edits have saved, and a hundredth of what the session has cost.
package economy
