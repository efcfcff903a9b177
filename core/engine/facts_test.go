package engine_test

import (
	"math/rand/v2"

	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// factsOf returns the facts in a thread's rollout, or none.
func factsOf(disk rollout.FS, thread string) map[string]bool {
	facts := map[string]bool{}
	store := rollout.NewStore(disk, home)
	path, err := store.Find(thread)
	if err != nil {
		return facts
	}
	contents, err := store.Read(path)
	if err != nil {
		return facts
	}
	for _, line := range contents.Lines {
		facts[factOf(line)] = true
	}
	return facts
}

func factOf(line protocol.RolloutLine) string {
	switch line.Type {
	case protocol.LineSessionMeta:
		return "begun"
	case protocol.LineContextEdit, protocol.LineTrimPoint:
		return revisionFact(gjson.GetBytes(line.Payload, "revision").Int())
	case protocol.LineCompacted:
		return revisionFact(gjson.GetBytes(line.Payload, "trim_point.revision").Int())
	}
	member := func(path string) string { return gjson.GetBytes(line.Payload, path).Str }
	switch member("type") {
	case protocol.EventTaskStarted:
		return "begin of turn " + member("turn_id")
	case protocol.EventTaskComplete, protocol.EventTurnAborted:
		return "end of turn " + member("turn_id")
	case protocol.EventItemCompleted:
		return "item " + member("item.id")
	case protocol.EventRolledBack:
		return revisionFact(gjson.GetBytes(line.Payload, "revision").Int())
	case protocol.EventNameUpdated:
		return "name " + member("thread_name")
	}
	return ""
}

// worstCrash returns the state after a crash that loses everything that a crash can lose.
func worstCrash(mem *faultfs.Mem) *faultfs.Mem { return mem.CrashClone(rand.New(unlucky{})) }

// unlucky draws 0 from any range.
type unlucky struct{}

// Uint64 returns a number that is small in its upper half, so that no range rejects it, and 0 in
// the lower.
func (unlucky) Uint64() uint64 { return 1000 << 32 }
