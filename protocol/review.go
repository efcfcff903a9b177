package protocol

import "github.com/tidwall/gjson"

// ReviewStartParams begins a turn that reviews changes. Delivery is inline, the default,
// or detached, which reviews in a fork of the thread.
type ReviewStartParams struct {
	ThreadID string       `json:"threadId"`
	Target   ReviewTarget `json:"target"`
	Delivery *string      `json:"delivery,omitempty" oneof:"inline detached"`
}

// DeliveryDetached has the review made in a thread of its own.
const DeliveryDetached = "detached"

// ReviewStartResponse is the turn that began, and the thread that it is of.
type ReviewStartResponse struct {
	Turn           Turn   `json:"turn"`
	ReviewThreadID string `json:"reviewThreadId"`
}

// ReviewTarget is the target of a review: a variant, {"type": "uncommittedChanges"} and so on.
type ReviewTarget struct{ ReviewTargetVariant }

// ReviewTargetVariant is *ReviewUncommitted, *ReviewBranch, *ReviewCommit or
// *ReviewCustom.
type ReviewTargetVariant interface{ reviewTarget() }

// ReviewUncommitted selects staged, unstaged and untracked changes.
type ReviewUncommitted struct{}

// ReviewBranch selects the changes of the current branch relative to another one.
type ReviewBranch struct {
	Branch string `json:"branch"`
}

// ReviewCommit selects the changes of a commit. Title is its subject, for people.
type ReviewCommit struct {
	Sha   string  `json:"sha"`
	Title *string `json:"title,omitempty"`
}

// ReviewCustom selects the target by instructions.
type ReviewCustom struct {
	Instructions string `json:"instructions"`
}

func (*ReviewUncommitted) reviewTarget() {}
func (*ReviewBranch) reviewTarget()      {}
func (*ReviewCommit) reviewTarget()      {}
func (*ReviewCustom) reviewTarget()      {}

var reviewTargets = newVariants("type",
	variantRow[ReviewTargetVariant]{"uncommittedChanges", &ReviewUncommitted{}},
	variantRow[ReviewTargetVariant]{"baseBranch", &ReviewBranch{}},
	variantRow[ReviewTargetVariant]{"commit", &ReviewCommit{}},
	variantRow[ReviewTargetVariant]{"custom", &ReviewCustom{}},
)

// MarshalJSON writes the variant with its type.
func (t ReviewTarget) MarshalJSON() ([]byte, error) {
	return reviewTargets.encode(t.ReviewTargetVariant)
}

// UnmarshalJSON accepts the known variants only.
func (t *ReviewTarget) UnmarshalJSON(b []byte) error { return t.decodeParams(gjson.ParseBytes(b)) }

func (t *ReviewTarget) decodeParams(in gjson.Result) error {
	v, err := reviewTargets.strict(in)
	t.ReviewTargetVariant = v
	return err
}
