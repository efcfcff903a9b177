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

// ReviewTarget is what is reviewed: a variant, {"type": "uncommittedChanges"} and so on.
type ReviewTarget struct{ ReviewTargetVariant }

// ReviewTargetVariant is *ReviewUncommitted, *ReviewBranch, *ReviewCommit or
// *ReviewCustom.
type ReviewTargetVariant interface{ reviewTarget() }

// ReviewUncommitted is what is staged, unstaged and untracked.
type ReviewUncommitted struct{}

// ReviewBranch is what the current branch has beyond another one.
type ReviewBranch struct {
	Branch string `json:"branch"`
}

// ReviewCommit is what a commit changes. Title is its subject, for people.
type ReviewCommit struct {
	Sha   string  `json:"sha"`
	Title *string `json:"title,omitempty"`
}

// ReviewCustom is what the instructions say.
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
