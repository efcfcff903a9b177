// Package transcript has the turns of a thread and the items that clients see, and the form in which the
// rollout keeps them.
//
// # Turns
//
// A [Transcript] is built by the lines of a rollout. [Transcript.Started], [Transcript.Completed] and
// [Transcript.Aborted] apply the lines of a turn, [Transcript.ItemCompleted] and [Transcript.LegacyEvent] the
// lines of items. An item may join a turn that is not the last one. The event index, [Transcript.Events], has
// the begin and the end of each turn and each item in the order of their lines.
//
// # Items
//
// An item stays in the form of its line until a client needs it. If the line can be read again, the item never
// stays in memory. [EncodeItem] and [DecodeItem] convert between the wire's form and the rollout's, which the
// reference implementation defined. Files of older versions of it have no item_completed events. Their items come
// from other events; those without an id are numbered from 1.
//
// # Decisions
//
// Items that only the reference implementation makes are shown with their members renamed, so that its
// rollouts can be read completely.
//
// The event index has 16 bytes per entry, because a thread can have 100,000 items. An item is decoded for a
// page that has it.
package transcript
